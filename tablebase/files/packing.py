"""Words packed by zstd, on all cores: what goes to disk, and how it is told to be whole.

zstd releases the interpreter's lock, so threads pack and unpack side by side, and every
frame has a checksum, so a damaged one is found when it is read: in the file zstd's own, of
its content; in groups, which only a build reads again, a CRC-32 of the packed bytes. `_Tools`
says how each is packed.

A plane is packed in chunks of 32,768 words. Groups of blocks end where they
like, so a group gives some whole chunks and a *fragment* of the chunk at
either end; the fragments of a chunk are joined when all groups are there:

    chunks      |        0        |        1        |        2        |
    groups      | group 0 |        group 1        |     group 2       |
                 fragment   fragment  whole   fragment  fragm.  whole
"""

from __future__ import annotations

import hashlib
import threading
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import zstandard

from retro.errors import ChecksumError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Packer = zstandard.ZstdCompressor

CHUNK_WORDS = 32_768
LEVEL = 1
VALUES = 2  # planes of values, win and loss; those of numbers follow
FRAME_WORDS = 1 << 15  # of what only a build reads again: unpacked at once


class _Tools(threading.local):
    """What a thread packs and unpacks frames with: made once, not for every frame.

    Frames of temporary groups have no checksum of zstd's, which is one of what they unpack to,
    ten times as much as there is to read. Longer matches are found as well as at level 1, sooner;
    and what is left of a frame is kept as it is (target length): a fifth more to read, packed and
    unpacked a tenth to a fifth sooner. Planes of numbers are packed 3 % smaller at a third of the
    speed: only the file has them so.
    """

    def __init__(self) -> None:
        self.unpacker = zstandard.ZstdDecompressor()
        self.aside = np.empty(FRAME_WORDS, np.uint64)  # a frame of which not all is wanted
        self.values = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        frames = zstandard.ZstdCompressionParameters
        numbers = frames(
            strategy=zstandard.STRATEGY_GREEDY,
            search_log=2,
            min_match=6,
            window_log=18,
            hash_log=15,
            chain_log=15,
            write_checksum=True,
        )
        groups = frames(
            strategy=zstandard.STRATEGY_FAST,
            min_match=7,
            window_log=18,
            hash_log=14,
            target_length=1,
            write_checksum=False,
        )
        self.numbers = zstandard.ZstdCompressor(compression_params=numbers)
        self.groups = zstandard.ZstdCompressor(compression_params=groups)


_tools = _Tools()


def pack(words: Words, packer: Packer | None = None) -> bytes:
    """Words as one zstd frame."""
    return (packer or _tools.values).compress(np.ascontiguousarray(words, "<u8").data)


def write_framed(file: BinaryIO, planes: Words, name: str) -> None:
    """Write planes so that any stretch of them can be read again without the rest.

    Frames of `FRAME_WORDS` words of one plane after another, the last one shorter, an empty one
    for zeros; then their sizes and CRC-32s, the CRC-32 of the name and of these, and their number:

        | frame | frame | ... | sizes | CRC-32s | CRC-32 of all | number |      4 bytes each
    """
    sizes, sums = [], []
    for plane in planes:
        for begin in range(0, len(plane), FRAME_WORDS):
            words = np.ascontiguousarray(plane[begin : begin + FRAME_WORDS], "<u8")
            # Zeros are seldom: most frames show within a few words that they are none.
            is_zero = not (words[:32].any() or words.any())
            frame = b"" if is_zero else _tools.groups.compress(words.data)
            file.write(frame)
            sizes.append(len(frame))
            sums.append(zlib.crc32(frame))
    table = np.array([sizes, sums], "<u4").tobytes()
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
        file.seek(max(0, size - 8 * number - 8))
        content = file.read().rjust(8 * number + 8, b"\0")
        table, ends = content[:-8], np.frombuffer(content[-8:], "<u4")
        sizes, sums = np.frombuffer(table, "<u4").astype(np.int64).reshape(2, number)
        wanted = [_list_checksum(name, table), number]
        if ends.tolist() != wanted or sizes.sum() + len(content) != size:
            raise ChecksumError(f"{what} is damaged: its list of frames is not there")
        self._sizes, self._sums = sizes.tolist(), sums.tolist()
        self._places = (np.cumsum(sizes) - sizes).tolist()

    def fill(self, plane: int, wanted: Sequence[tuple[int, int, int]], to: Words) -> None:
        """Fill `to` in place with stretches of a plane: (first word, word after, place in `to`).

        They come in order, so that each frame is unpacked once: in its place if all of it is
        wanted there, else aside.
        """
        aside, have = _tools.aside, -1
        for begin, end, place in wanted:
            for frame in range(begin // FRAME_WORDS, -(-end // FRAME_WORDS)):
                first = frame * FRAME_WORDS
                last = min(self._words, first + FRAME_WORDS)
                low, high = max(begin, first), min(end, last)
                there = to[place + low - begin : place + high - begin]
                if (low, high) == (first, last):
                    self._unpack(plane * self._frames + frame, there)
                    continue
                if frame != have:
                    self._unpack(plane * self._frames + frame, aside[: last - first])
                    have = frame
                there[:] = aside[low - first : high - first]

    def _unpack(self, number: int, to: Words) -> None:
        size = self._sizes[number]
        if not size:
            to[:] = 0
            return
        self._file.seek(self._places[number])
        frame = self._file.read(size)
        if zlib.crc32(frame) != self._sums[number]:
            raise ChecksumError(f"{self._what} is damaged: a frame does not have its checksum")
        _unpack_into(frame, self._what, to)


def unpack(frame: bytes, what: str, words: int | None = None) -> Words:
    """The words of a frame: so many, or at most a chunk. `what` names it should it be damaged.

    The size is looked at before anything is unpacked.
    """
    try:
        size = zstandard.frame_content_size(frame)
        if size != 8 * words if words is not None else not 0 <= size <= 8 * CHUNK_WORDS:
            raise ValueError(f"a frame says that it holds {size:,} bytes")
        content = _tools.unpacker.decompress(frame, max_output_size=size, allow_extra_data=False)
        return np.frombuffer(content, "<u8")
    except (zstandard.ZstdError, ValueError) as error:
        raise ChecksumError(f"{what} is damaged: {error}") from None


def _unpack_into(frame: bytes, what: str, to: Words) -> None:
    """Unpack a frame of just as many words as there is room for, in place."""
    room = to.data.cast("B")
    try:
        size = zstandard.frame_content_size(frame)
        found = _tools.unpacker.stream_reader(frame).readinto(room) if size == len(room) else 0
        if found != len(room):
            raise ValueError(f"a frame of {size:,} bytes gives {found:,} of {len(room):,}")
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
    return _digest(planes) if planes.any() else _digest_of_zeros(*planes.shape)


def _digest(planes: Words) -> bytes:
    sha = hashlib.sha256()
    for plane in planes:
        sha.update(np.ascontiguousarray(plane, "<u8").data)
    return sha.digest()


@lru_cache
def _digest_of_zeros(planes: int, words: int) -> bytes:
    return _digest(np.zeros((planes, words), np.uint64))


def pack_chunk(number: int, planes: Words, chunk_words: int, packer: Packer | None = None) -> Chunk:
    """Pack one chunk, the last one filled up with zeros to the full length as HDF5 wants it.

    All planes by one packer, if one is given.
    """
    missing = chunk_words - planes.shape[1]
    full = np.pad(planes, ((0, 0), (0, missing))) if missing else planes
    usual = [_tools.values] * VALUES + [_tools.numbers] * (len(full) - VALUES)
    frames = tuple(
        pack(plane, packer or own) if plane.any() else b""
        for plane, own in zip(full, usual, strict=True)
    )
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
