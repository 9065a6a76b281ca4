"""Arrays in chunks, packed as HDF5's filters shuffle, zstd and fletcher32 would, but here.

HDF5 needs a plugin for zstd that takes more room than all the rest of an installation. The
chunks are therefore made and read by this module and handed to HDF5 as they are; the
data set names the filters, so whoever has the plugin reads the arrays with h5py alone.

    items      a0 a1 a2 a3 b0 b1 b2 b3 ...      little-endian
    shuffle    a0 b0 ... a1 b1 ... a2 b2 ...    first bytes together, then second bytes, ...
    zstd       one frame
    fletcher   frame and four bytes of checksum
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import zstandard

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHECKSUM_BYTES = 4
MODULUS = 65535


def pack_chunk(items: NDArray[np.generic], length: int, *, level: int, shuffle: bool) -> bytes:
    """A chunk of `length` items, filled up with zeros.

    >>> packed = pack_chunk(np.arange(3, dtype="<u8"), 4, level=3, shuffle=True)
    >>> unpack_chunk(packed, np.dtype("<u8"), 4, shuffle=True)
    array([0, 1, 2, 0], dtype=uint64)
    """
    whole = np.zeros(length, items.dtype)
    whole[: len(items)] = items
    content = whole.view(np.uint8)
    if shuffle:
        content = np.ascontiguousarray(content.reshape(length, -1).T)
    frame = zstandard.ZstdCompressor(level=level).compress(content.tobytes())
    return frame + fletcher32(frame)


def unpack_chunk(
    packed: bytes, dtype: np.dtype[np.generic], length: int, *, shuffle: bool
) -> NDArray[Any]:
    """The items of a chunk; `ValueError` if it is damaged, or larger than it says.

    `hdf5.reading` adds which file it was.
    """
    frame, checksum = packed[:-CHECKSUM_BYTES], packed[-CHECKSUM_BYTES:]
    if fletcher32(frame) != checksum:
        raise ValueError("a chunk does not have its checksum")
    wanted = length * dtype.itemsize
    try:
        if zstandard.frame_content_size(frame) != wanted:
            raise ValueError("a chunk does not have its size")
        content = zstandard.ZstdDecompressor().decompress(
            frame, max_output_size=wanted, allow_extra_data=False
        )
    except zstandard.ZstdError as error:
        raise ValueError(f"a chunk is no zstd frame: {error}") from None
    found = np.frombuffer(content, np.uint8)
    if shuffle:
        found = np.ascontiguousarray(found.reshape(-1, length).T).ravel()
    items: NDArray[Any] = found.view(dtype)
    return items


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
