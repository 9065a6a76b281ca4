"""Words packed by zstd, on all cores: what goes to disk, and how it is told to be whole.

zstd releases the interpreter's lock, and a frame carries a checksum of its
content, so threads pack and unpack side by side and a damaged frame is found
when it is read. Level 1: the others gain a tenth at a sixth of the speed (see `format`).

A plane is packed in chunks of 32,768 words. Groups of blocks end where they
like, so a group gives some whole chunks and a *fragment* of the chunk at
either end; the fragments of a chunk are joined when all groups are there:

    chunks      |        0        |        1        |        2        |
    groups      | group 0 |        group 1        |     group 2       |
                 fragment   fragment  whole   fragment  fragm.  whole
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import zstandard

from retro.errors import ChecksumError
from tablebase.format import CHUNK_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, BinaryIO

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

LEVEL = 1
AT_ONCE = 1 << 17  # words that are handed to zstd in one call


def pack(words: Words) -> bytes:
    """Words as one zstd frame."""
    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    return packer.compress(np.ascontiguousarray(words, "<u8").data)


def pack_pieces(file: BinaryIO, pieces: Sequence[Words]) -> None:
    """Write several arrays, one after another, as one frame; none of them is copied."""
    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    stream = packer.compressobj(size=sum(piece.nbytes for piece in pieces))
    for piece in pieces:
        for begin in range(0, len(piece), AT_ONCE):
            part = np.ascontiguousarray(piece[begin : begin + AT_ONCE], "<u8")
            file.write(stream.compress(part.data))
    file.write(stream.flush())


class PieceReader:
    """Reads what `pack_pieces` wrote, array by array.

    Large arrays that come and go would make the process grow beyond what the
    layers take, so words are unpacked right where they belong.
    """

    def __init__(self, file: BinaryIO, what: str) -> None:
        self._stream = zstandard.ZstdDecompressor().stream_reader(file)
        self._what = what

    def fill(self, piece: Words) -> None:
        """Fill an array in place with the next words."""
        room = memoryview(piece.view(np.uint8))  # type: ignore[arg-type]
        while room:
            number = self._read(self._stream.readinto, room)
            if not number:
                raise self._other_length()
            room = room[number:]

    def end(self) -> None:
        """All was read, and the frame has its checksum."""
        if self._read(self._stream.read, 1):
            raise self._other_length()

    def _read(self, read: Callable[[Any], Any], argument: Any) -> Any:
        try:
            return read(argument)
        except zstandard.ZstdError as error:
            raise ChecksumError(f"{self._what} is damaged: {error}") from None

    def _other_length(self) -> ChecksumError:
        return ChecksumError(f"{self._what} is damaged: it has another length")


def unpack(frame: bytes, what: str) -> Words:
    """The words of a frame. `what` names it should it be damaged."""
    try:
        content = zstandard.ZstdDecompressor().decompress(frame)
        return np.frombuffer(content, "<u8")
    except (zstandard.ZstdError, ValueError) as error:
        raise ChecksumError(f"{what} is damaged: {error}") from None


class Chunk(NamedTuple):
    """A packed chunk of both planes; an empty frame stands for zeros."""

    number: int
    frames: tuple[bytes, bytes]  # win, loss
    digest: bytes


class Fragment(NamedTuple):
    """Some words of a chunk that other groups complete."""

    begin: int  # words, in the layer
    planes: Words  # [2, word]


def digest_chunk(planes: Words) -> bytes:
    """SHA-256 of the words of both planes of a chunk."""
    sha = hashlib.sha256()
    for plane in planes:
        sha.update(np.ascontiguousarray(plane, "<u8").data)
    return sha.digest()


def pack_chunk(number: int, planes: Words, chunk_words: int) -> Chunk:
    """Pack one chunk, the last one filled up with zeros to the full length as HDF5 wants it."""
    missing = chunk_words - planes.shape[1]
    full = np.pad(planes, ((0, 0), (0, missing))) if missing else planes
    win, loss = (pack(plane) if plane.any() else b"" for plane in full)
    return Chunk(number, (win, loss), digest_chunk(planes))


def pack_group(begin: int, planes: Words) -> tuple[list[Chunk], list[Fragment]]:
    """The whole chunks of a group whose first word is the layer's word `begin`, and the rest."""
    chunks: list[Chunk] = []
    fragments: list[Fragment] = []
    end = begin + planes.shape[1]
    for number in range(begin // CHUNK_WORDS, -(-end // CHUNK_WORDS)):
        low, high = max(begin, number * CHUNK_WORDS), min(end, (number + 1) * CHUNK_WORDS)
        part = planes[:, low - begin : high - begin]
        if high - low == CHUNK_WORDS:
            chunks.append(pack_chunk(number, part, CHUNK_WORDS))
        elif high > low:
            fragments.append(Fragment(low, part.copy()))
    return chunks, fragments


class ChunkJoiner:
    """Joins the fragments of chunks as they come. Not for several threads at once."""

    def __init__(self, words: int) -> None:
        self._words = words  # of the layer
        self._waiting: dict[int, list[Fragment]] = {}

    def add(self, fragments: list[Fragment]) -> list[tuple[int, Words]]:
        """Take fragments; give the number and the planes of every chunk that they complete."""
        complete = []
        for fragment in fragments:
            number = fragment.begin // CHUNK_WORDS
            parts = self._waiting.setdefault(number, [])
            parts.append(fragment)
            wanted = min(CHUNK_WORDS, self._words - number * CHUNK_WORDS)
            if sum(part.planes.shape[1] for part in parts) == wanted:
                parts = sorted(self._waiting.pop(number), key=lambda part: part.begin)
                planes = np.concatenate([part.planes for part in parts], axis=1)
                complete.append((number, planes))
        return complete
