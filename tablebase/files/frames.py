"""Arrays as checked frames: packed by zstd on all cores, and told to be whole when they are read.

zstd releases the interpreter's lock, so threads pack and unpack side by side. How an array becomes
a frame (`Packing`) depends on who reads it again:

    VALUES, NUMBERS    planes of a table; zstd's own checksum, of the content
    Packing(3, ...)    arrays of a table of keys, as HDF5's filters shuffle, zstd and fletcher32
                       would make them: HDF5 needs a plugin for zstd that takes more room than all
                       the rest of an installation, so frames are made and read here, and handed to
                       HDF5 as they are; with the plugin, h5py alone reads the arrays
    BUILT, SHUFFLED    what only a build reads again, packed for speed; checked by its file

A file of a build (`FrameWriter`, `FrameReader`) is frames one after another and a list of them:

    | frame | frame | ... | sizes, CRC-32s: 4 bytes each | text | SHA-256 | their numbers: 2 x 4 |

The SHA-256 is that of the file's name and of all from the sizes to the text, so a file that was
torn, exchanged or renamed is found out at once, and a damaged frame when it is read. The text is
JSON: what arrays the frames make, and whatever else the writer tells.
"""

from __future__ import annotations

import hashlib
import json
import threading
import zlib
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import zstandard

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import BinaryIO

    from numpy.typing import NDArray

    Items = NDArray[Any]

FRAME_BYTES = 1 << 18  # of an array, packed and unpacked at once
CHECKSUM_BYTES = 4
MODULUS = 65535
TAIL = 32 + 8  # bytes: a SHA-256, and two numbers


class Packing(NamedTuple):
    """How an array becomes a frame; HDF5 is told of the first three."""

    level: int = 1
    shuffle: bool = False  # first bytes of all items together, then second bytes, and so on
    fletcher: bool = False  # HDF5's checksum of the frame, behind it
    checksum: bool = False  # zstd's own, of the content
    settings: tuple[tuple[str, int], ...] = ()  # of zstd, instead of those of a level


VALUES = Packing(checksum=True)
# 3 % smaller at a third of the speed: only the file has them so.
NUMBERS = VALUES._replace(
    settings=(
        ("strategy", zstandard.STRATEGY_GREEDY), ("search_log", 2), ("min_match", 6),
        ("window_log", 18), ("hash_log", 15), ("chain_log", 15),
    )
)  # fmt: skip
# Longer matches are found as well as at level 1, sooner; and what is left of a frame is kept as it
# is (target length): a fifth more to read, packed and unpacked a tenth to a fifth sooner.
BUILT = Packing(
    settings=(
        ("strategy", zstandard.STRATEGY_FAST), ("min_match", 7), ("window_log", 18),
        ("hash_log", 14), ("target_length", 1),
    )
)  # fmt: skip
# Sorted keys have the same high bytes for long: shuffled, they are packed 1.7 times and unpacked
# 1.35 times as fast, to 0.85 of the size.
SHUFFLED = Packing(shuffle=True)


class _Tools(threading.local):
    """What a thread packs and unpacks frames with: made once, not for every frame."""

    def __init__(self) -> None:
        self.unpacker = zstandard.ZstdDecompressor()
        self.aside = np.empty(FRAME_BYTES, np.uint8)  # a frame of which not all is wanted
        self._packers: dict[Packing, zstandard.ZstdCompressor] = {}

    def packer(self, packing: Packing) -> zstandard.ZstdCompressor:
        if packing not in self._packers:
            self._packers[packing] = make_packer(packing)
        return self._packers[packing]


def make_packer(packing: Packing) -> zstandard.ZstdCompressor:
    """Whatever packs so; not for several threads at once."""
    if not packing.settings:
        return zstandard.ZstdCompressor(level=packing.level, write_checksum=packing.checksum)
    settings = {**dict(packing.settings), "write_checksum": packing.checksum}
    parameters = zstandard.ZstdCompressionParameters(**settings)
    return zstandard.ZstdCompressor(compression_params=parameters)


_tools = _Tools()


def pack(items: Items, packing: Packing = VALUES) -> bytes:
    """An array as a frame.

    >>> frame = pack(np.arange(3, dtype="<u8"), Packing(3, shuffle=True, fletcher=True))
    >>> unpack(frame, np.empty(3, "<u8"), Packing(3, shuffle=True, fletcher=True))
    array([0, 1, 2], dtype=uint64)
    """
    content = np.ascontiguousarray(items, items.dtype.newbyteorder("<"))
    if packing.shuffle:
        content = _shuffled(content)
    frame = _tools.packer(packing).compress(content.data)
    return frame + fletcher32(frame) if packing.fletcher else frame


def unpack(frame: bytes, to: Items, packing: Packing = VALUES) -> Items:
    """Fill a whole array in place with what a frame holds, which must be just as much.

    `ValueError` if the frame is damaged; its size is looked at before anything is unpacked.
    `opening.reading` adds which file it was.
    """
    if packing.fletcher:
        frame, checksum = frame[:-CHECKSUM_BYTES], frame[-CHECKSUM_BYTES:]
        if fletcher32(frame) != checksum:
            raise ValueError("a chunk does not have its checksum")
    planes = np.empty((to.itemsize, len(to)), np.uint8) if packing.shuffle else to
    room = planes.reshape(-1).view(np.uint8)
    try:
        size = zstandard.frame_content_size(frame)
        if size != len(room):
            raise ValueError(f"a frame of {size:,} bytes is not one of {len(room):,}")
        if packing.checksum:  # a stream would not miss a checksum that is cut off
            content = _tools.unpacker.decompress(frame, size, allow_extra_data=False)
            found = len(content)
            room[:] = np.frombuffer(content, np.uint8)
        else:
            found = _tools.unpacker.stream_reader(frame).readinto(room.data) if size else 0
    except zstandard.ZstdError as error:
        raise ValueError(f"a frame is damaged: {error}") from None
    if found != size:
        raise ValueError(f"a frame of {size:,} bytes ends after {found:,}")
    if packing.shuffle:
        bytes_of = to.view(np.uint8).reshape(-1, to.itemsize)
        for number in range(to.itemsize):
            bytes_of[:, number] = planes[number]
    return to


def _shuffled(items: Items) -> NDArray[np.uint8]:
    """All first bytes of some items, then all second ones, and so on, [byte, item].

    >>> _shuffled(np.array([1, 0x0203], "<u8"))[:3].tolist()
    [[1, 3], [0, 2], [0, 0]]
    """
    bytes_of = items.view(np.uint8).reshape(-1, items.itemsize)
    planes = np.empty((items.itemsize, len(items)), np.uint8)
    for number in range(items.itemsize):  # twice as fast as transposing at once
        planes[number] = bytes_of[:, number]
    return planes


def fletcher32(content: bytes) -> bytes:
    """HDF5's checksum: two sums of 16-bit big-endian words, modulo 65535.

    >>> fletcher32(b"abcd").hex()
    'c6c42926'
    """
    words = np.frombuffer(content + b"\0" * (len(content) % 2), ">u2").astype(np.uint64)
    weights = np.arange(len(words), 0, -1, dtype=np.uint64)
    sums = int(words.sum()) % MODULUS, int((words * weights % MODULUS).sum()) % MODULUS
    if words.any():  # HDF5 folds carries back in, so that a sum of 0 is written as 65535
        sums = sums[0] or MODULUS, sums[1] or MODULUS
    return (sums[1] << 16 | sums[0]).to_bytes(4, "little")


# Files of frames.


class FrameWriter:
    """Writes a file of frames under a name that it will have. Not for several threads at once.

    What stays in memory is not worth packing.
    """

    def __init__(self, file: BinaryIO, name: str, *, packs: bool = True) -> None:
        self._file, self._name, self._packs = file, name, packs
        self._places = [0]
        self._sums: list[int] = []
        self._arrays: list[tuple[int, int]] = []
        self._packed: list[int] = []  # the numbers of frames that came packed

    def add(self, items: Items, packing: Packing = BUILT) -> None:
        """Write an array, frame by frame; nothing for a frame of zeros."""
        self._arrays.append((len(self._sums), items.nbytes))
        step = FRAME_BYTES // items.itemsize
        for begin in range(0, len(items), step):
            part = items[begin : begin + step]
            # Zeros are seldom: most frames show within a few items that they are none.
            is_zero = not (part[:32].any() or part.any())
            if is_zero:
                self._write(b"")
            else:
                self._write(pack(part, packing) if self._packs else part.tobytes())

    def add_frames(self, frames: Iterable[bytes]) -> None:
        """Write frames that are packed already."""
        for frame in frames:
            self._packed.append(len(self._sums))
            self._write(frame)

    def _write(self, frame: bytes) -> None:
        self._file.write(frame)
        self._places.append(self._places[-1] + len(frame))
        self._sums.append(zlib.crc32(frame))

    def frame(self, number: int) -> bytes:
        """One of the frames that came packed."""
        begin, end = self._places[self._packed[number] :][:2]
        self._file.seek(begin)
        found = self._file.read(end - begin)
        self._file.seek(0, 2)
        return found

    def finish(self, said: Mapping[str, object]) -> None:
        """Write the list, and what else the file tells."""
        text = json.dumps({"arrays": self._arrays, "packs": self._packs, **said}).encode()
        table = np.array([np.diff(self._places), self._sums], "<u4").tobytes()
        numbers = np.array([len(self._sums), len(text)], "<u4").tobytes()
        self._file.write(table + text + _digest(self._name, table + text) + numbers)


def _digest(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + content).digest()


class FrameReader:
    """Reads what a `FrameWriter` of the same name wrote; `ValueError` for anything else."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL))
        tail = file.read().rjust(TAIL, b"\0")
        number, length = np.frombuffer(tail[-8:], "<u4").tolist()
        begin = size - TAIL - length - 8 * number
        if begin < 0:
            raise ValueError("its list of frames is not there")
        file.seek(begin)
        content = file.read(8 * number + length)
        if _digest(name, content) != tail[:-8]:
            raise ValueError("its list of frames is not there, or is that of another file")
        sizes, sums = np.frombuffer(content, "<u4", 2 * number).reshape(2, number).astype(np.int64)
        if sizes.sum() != begin:
            raise ValueError("its frames have another length")
        self._sizes, self._sums = sizes.tolist(), sums.tolist()
        self._places = (np.cumsum(sizes) - sizes).tolist()
        self.said: dict[str, Any] = json.loads(content[8 * number :])
        self._arrays: list[tuple[int, int]] = self.said.pop("arrays")
        self._packs: bool = self.said.pop("packs")

    @cached_property
    def _packed(self) -> list[int]:
        """The numbers of frames that came packed: those that make no array."""
        arrays = (range(at, at - (-nbytes // FRAME_BYTES)) for at, nbytes in self._arrays)
        return sorted(set(range(len(self._sizes))).difference(*arrays))

    def check(self) -> None:
        """Read all frames."""
        for number in range(len(self._sizes)):
            self._read(number)

    def frame(self, number: int) -> bytes:
        """One of the frames that came packed."""
        return self._read(self._packed[number])

    def _read(self, number: int) -> bytes:
        self._file.seek(self._places[number])
        found = self._file.read(self._sizes[number])
        if zlib.crc32(found) != self._sums[number]:
            raise ValueError("a frame does not have its checksum")
        return found

    def fill(self, number: int, to: Items, packing: Packing = BUILT) -> Items:
        """Fill an array in place with that of a number, which must have its length."""
        if self._arrays[number][1] != to.nbytes:
            raise ValueError("an array has another length")
        return self.fill_some(number, [(0, len(to), 0)], to, packing)

    def fill_some(
        self,
        number: int,
        wanted: Iterable[tuple[int, int, int]],
        to: Items,
        packing: Packing = BUILT,
    ) -> Items:
        """Fill `to` in place with stretches of an array: (first item, item after, place in `to`).

        They come in order, so that each frame is unpacked once: in its place if all of it is
        wanted there, else aside.
        """
        at, length = self._arrays[number]
        length, step = length // to.itemsize, FRAME_BYTES // to.itemsize
        aside, have = _tools.aside.view(to.dtype), -1
        for begin, end, place in wanted:
            for frame in range(begin // step, -(-end // step)):
                first, last = frame * step, min(length, (frame + 1) * step)
                low, high = max(begin, first), min(end, last)
                there = to[place + low - begin : place + high - begin]
                if (low, high) == (first, last):
                    self._unpack(at + frame, there, packing)
                    continue
                if frame != have:
                    self._unpack(at + frame, aside[: last - first], packing)
                    have = frame
                there[:] = aside[low - first : high - first]
        return to

    def array(self, number: int, dtype: str, packing: Packing = BUILT) -> Items:
        """A whole array."""
        to = np.empty(self._arrays[number][1] // np.dtype(dtype).itemsize, dtype)
        return self.fill(number, to, packing)

    def _unpack(self, number: int, to: Items, packing: Packing) -> None:
        frame = self._read(number)
        if frame and self._packs:
            unpack(frame, to, packing)
        else:
            to[:] = np.frombuffer(frame, to.dtype) if frame else 0
