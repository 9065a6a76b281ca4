"""Arrays packed one after another as one zstd frame: what a build writes to read it again.

    | head | where groups end | keys or values |      one frame, with a checksum at its end

Nothing is copied on the way: arrays are packed where they are, and unpacked where they belong.
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
AT_ONCE = 1 << 17  # words that are handed to zstd in one call


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

    def _read(self, read: Callable[[Asked], Got], argument: Asked) -> Got:
        try:
            return read(argument)
        except zstandard.ZstdError as error:
            raise ChecksumError(f"{self._what} is damaged: {error}") from None

    def _other_length(self) -> ChecksumError:
        return ChecksumError(f"{self._what} is damaged: it has another length")
