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
import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import zstandard

from retro.errors import ChecksumError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

CHUNK_WORDS = 32_768
LEVEL = 1
FRAME_WORDS = 1 << 15  # of what only a build reads again: unpacked at once


def pack(words: Words) -> bytes:
    """Words as one zstd frame."""
    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    return packer.compress(np.ascontiguousarray(words, "<u8").data)


def write_framed(file: BinaryIO, planes: Words, name: str) -> None:
    """Write planes so that any stretch of them can be read again without the rest.

    Frames of `FRAME_WORDS` words of one plane after another, the last one shorter, an empty one
    for zeros; then their sizes, the CRC-32 of the name and of these, and their number:

        | frame | frame | ... | sizes: 4 bytes each | CRC-32: 4 bytes | number: 4 bytes |
    """
    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    sizes = []
    for plane in planes:
        for begin in range(0, len(plane), FRAME_WORDS):
            words = np.ascontiguousarray(plane[begin : begin + FRAME_WORDS], "<u8")
            frame = packer.compress(words.data) if words.any() else b""
            file.write(frame)
            sizes.append(len(frame))
    table = np.array(sizes, "<u4").tobytes()
    ends = np.array([_list_checksum(name, table), len(sizes)], "<u4")
    file.write(table + ends.tobytes())


def _list_checksum(name: str, table: bytes) -> int:
    """Tells a list of frames from another, and from that of a file of another name."""
    return zlib.crc32(table, zlib.crc32(name.encode()))


class FramedReader:
    """Reads stretches of what `write_framed` wrote: planes of so many words each.

    `what` names the file should it be damaged, `name` is what it was written as.
    """

    def __init__(self, file: BinaryIO, shape: tuple[int, int], what: str, name: str) -> None:
        planes, words = shape
        self._file, self._words, self._what = file, words, what
        self._frames = -(-words // FRAME_WORDS)  # of a plane
        number = planes * self._frames
        size = file.seek(0, 2)
        file.seek(max(0, size - 4 * number - 8))
        content = file.read().rjust(4 * number + 8, b"\0")
        table, ends = content[:-8], np.frombuffer(content[-8:], "<u4")
        sizes = np.frombuffer(table, "<u4").astype(np.int64)
        wanted = [_list_checksum(name, table), number]
        if ends.tolist() != wanted or sizes.sum() + len(content) != size:
            raise ChecksumError(f"{what} is damaged: its list of frames is not there")
        self._sizes, self._places = sizes, np.cumsum(sizes) - sizes

    def fill(self, plane: int, wanted: Sequence[tuple[int, int, int]], to: Words) -> None:
        """Fill `to` in place with stretches of a plane: (first word, word after, place in `to`).

        They come in order, so that each frame is unpacked once.
        """
        have, words = -1, None
        for begin, end, place in wanted:
            for frame in range(begin // FRAME_WORDS, -(-end // FRAME_WORDS)):
                if frame != have:
                    have, words = frame, self._unpack(plane * self._frames + frame)
                first = frame * FRAME_WORDS
                low, high = max(begin, first), min(end, first + FRAME_WORDS)
                there = slice(place + low - begin, place + high - begin)
                to[there] = 0 if words is None else words[low - first : high - first]

    def _unpack(self, frame: int) -> Words | None:
        size = int(self._sizes[frame])
        if not size:
            return None
        self._file.seek(int(self._places[frame]))
        first = frame % self._frames * FRAME_WORDS
        length = min(FRAME_WORDS, self._words - first)
        return unpack(self._file.read(size), self._what, length)


def unpack(frame: bytes, what: str, words: int | None = None) -> Words:
    """The words of a frame: so many, or at most a chunk. `what` names it should it be damaged.

    The size is looked at before anything is unpacked.
    """
    try:
        size = zstandard.frame_content_size(frame)
        if size != 8 * words if words is not None else not 0 <= size <= 8 * CHUNK_WORDS:
            raise ValueError(f"a frame says that it holds {size:,} bytes")
        content = zstandard.ZstdDecompressor().decompress(
            frame, max_output_size=size, allow_extra_data=False
        )
        return np.frombuffer(content, "<u8")
    except (zstandard.ZstdError, ValueError) as error:
        raise ChecksumError(f"{what} is damaged: {error}") from None


class Chunk(NamedTuple):
    """A packed chunk of all planes; an empty frame stands for zeros."""

    number: int
    frames: tuple[bytes, ...]  # of each plane
    digest: bytes


class Fragment(NamedTuple):
    """Some words of a chunk that other groups complete."""

    begin: int  # words, in the layer
    planes: Words  # [plane, word]


def digest_chunk(planes: Words) -> bytes:
    """SHA-256 of the words of all planes of a chunk."""
    sha = hashlib.sha256()
    for plane in planes:
        sha.update(np.ascontiguousarray(plane, "<u8").data)
    return sha.digest()


def pack_chunk(number: int, planes: Words, chunk_words: int) -> Chunk:
    """Pack one chunk, the last one filled up with zeros to the full length as HDF5 wants it."""
    missing = chunk_words - planes.shape[1]
    full = np.pad(planes, ((0, 0), (0, missing))) if missing else planes
    frames = tuple(pack(plane) if plane.any() else b"" for plane in full)
    return Chunk(number, frames, digest_chunk(planes))


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

    def rest(self) -> list[Fragment]:
        """The fragments that still wait for others."""
        return [fragment for parts in self._waiting.values() for fragment in parts]
