"""Arrays packed one after another as one zstd frame: what a build writes to read it again.

    | head | where groups end | keys or values |      one frame, with a checksum at its end

Words are shuffled, some at a time: all their first bytes, then all second bytes, and so on. Sorted
keys have the same high bytes for long, so they are packed 1.7 times and unpacked 1.35 times as
fast, to 0.85 of the size. Arrays are packed where they are, and unpacked where they belong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
import zstandard

from retro.errors import ChecksumError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

Asked = TypeVar("Asked")
Got = TypeVar("Got")

LEVEL = 1  # the next ones gain little at several times the cost
AT_ONCE = 1 << 17  # words that are shuffled and handed to zstd in one call
WORD_BYTES = 8


def pack_pieces(file: BinaryIO, pieces: Sequence[Words]) -> None:
    """Write several arrays, one after another, as one frame; none of them is copied whole."""
    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    stream = packer.compressobj(size=sum(piece.nbytes for piece in pieces))
    for piece in pieces:
        for begin in range(0, len(piece), AT_ONCE):
            part = np.ascontiguousarray(piece[begin : begin + AT_ONCE], "<u8")
            file.write(stream.compress(_shuffled(part).data))
    file.write(stream.flush())


class PieceReader:
    """Reads what `pack_pieces` wrote, array by array, each of the length that it had.

    Large arrays that come and go would make the process grow beyond what the
    layers take, so words are unpacked right where they belong.
    """

    def __init__(self, file: BinaryIO, what: str) -> None:
        self._stream = zstandard.ZstdDecompressor().stream_reader(file)
        self._what = what

    def fill(self, piece: Words) -> None:
        """Fill an array in place with the next words."""
        for begin in range(0, len(piece), AT_ONCE):
            part = piece[begin : begin + AT_ONCE]
            planes = np.empty((WORD_BYTES, len(part)), np.uint8)
            room = memoryview(planes.reshape(-1))  # type: ignore[arg-type]
            while room:
                number = self._read(self._stream.readinto, room)
                if not number:
                    raise self._other_length()
                room = room[number:]
            _put(planes, part)

    def end(self) -> None:
        """All was read, and the frame has its checksum."""
        if self._read(self._stream.read, 1):
            raise self._other_length()

    def _read(self, read: Callable[[Asked], Got], argument: Asked) -> Got:
        try:
            return read(argument)
        except zstandard.ZstdError as error:
            raise ChecksumError(f"{self._what} is damaged: {error}") from None

    def _other_length(self) -> ChecksumError:
        return ChecksumError(f"{self._what} is damaged: it has another length")


def _shuffled(words: Words) -> NDArray[np.uint8]:
    """All first bytes of some words, then all second ones, and so on, [byte, word].

    >>> _shuffled(np.array([1, 0x0203], "<u8"))[:3].tolist()
    [[1, 3], [0, 2], [0, 0]]
    """
    bytes_of = words.view(np.uint8).reshape(-1, WORD_BYTES)
    planes = np.empty((WORD_BYTES, len(words)), np.uint8)
    for number in range(WORD_BYTES):  # twice as fast as transposing at once
        planes[number] = bytes_of[:, number]
    return planes


def _put(planes: NDArray[np.uint8], words: Words) -> None:
    """Put words together again, right where they belong: the converse of `_shuffled`."""
    bytes_of = words.view(np.uint8).reshape(-1, WORD_BYTES)
    for number in range(WORD_BYTES):
        bytes_of[:, number] = planes[number]
