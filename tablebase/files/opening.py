"""What is asked of a table file before anybody uses a byte of it, whatever its index.

A table may come from a stranger, and a digest only says that its writer could count. So a file
is checked once, when it is opened, against what the board of its header makes it be; whoever
reads it later, kernels above all, relies on this:

    header     integers and short texts; a board that there is; plies that the board has
    counts     no number below 0; wins, draws and losses make up the positions
    arrays     chunks of the type and length that the ply must have, in this file, not by a
               link to another
    size       what the arrays unpack to is in proportion to the file, and so is what it takes
               to find a place in them

Each index says what its plies must have (`halves.store`, `keys.store`); what is inside a
chunk is checked when it is unpacked. Damage has one name, `DamagedFileError`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import h5py
import numpy as np

from retro.errors import (
    ChecksumError,
    DamagedFileError,
    FormatVersionError,
    IncompleteTableError,
    StorageError,
    TablebaseError,
    UnreachableError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tablebase.files.remote import Source

LONGEST_TEXT = 4_096  # of an attribute
MOST_NUMBERS = 129  # of an array that is an attribute: there is none of more plies
MOST_COUNT = 1 << 62  # of positions: no ply that anybody stores has more
# Sorted keys are packed to about a thirtieth, planes to a tenth; a file that claims to unpack
# to a thousand times its size, and to more than everyone has, is not what it says.
MOST_RATIO = 1_000
FREE_BYTES = 256_000_000
NAMED = (
    DamagedFileError, FormatVersionError, IncompleteTableError, StorageError, UnreachableError,
)  # fmt: skip
# These say something about this process or its user, nothing about what is in the file.
NOT_THE_FILE = frozenset(
    {errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR, errno.EAGAIN}
)


@contextlib.contextmanager
def opening(path: Source) -> Iterator[None]:
    """Whatever a header makes go wrong, a board that there is not, say, is damage to the file."""
    try:
        yield
    except NAMED:
        raise
    except TablebaseError as error:
        raise DamagedFileError(f"{path} is no table: {error}") from error


@contextlib.contextmanager
def reading(path: Source) -> Iterator[None]:
    """Give the many ways in which HDF5 and numpy fail on damaged bytes one name.

    Too little memory or too many open files are no damage: what is damaged may be removed.
    """
    try:
        yield
    except (TablebaseError, MemoryError):
        raise
    except Exception as error:  # h5py raises whatever it likes
        if says_nothing(error):
            raise StorageError(f"cannot read {path}: {os.strerror(error.errno or 0)}") from error
        reason = str(error).strip("'\"").splitlines()[0] if str(error) else type(error).__name__
        raise ChecksumError(f"{path} is damaged: {reason}") from error


def says_nothing(error: BaseException | None) -> TypeGuard[OSError]:
    """Whether what went wrong says nothing about what is in the file."""
    return isinstance(error, OSError) and error.errno in NOT_THE_FILE


def require(path: Source, holds: object, complaint: str) -> None:
    """Refuse a file of which something does not hold that must."""
    if not holds:
        raise DamagedFileError(f"{path} is no table: {complaint}")


# Attributes.


def read_integer(attribute: object) -> int:
    """An integer attribute: one number, of an integer type.

    >>> read_integer(np.int64(7))
    7
    >>> read_integer(np.float64("inf"))
    Traceback (most recent call last):
    ValueError: found float64, wanted an integer
    """
    if not isinstance(attribute, int | np.integer) or isinstance(attribute, bool):
        kind = getattr(attribute, "dtype", type(attribute).__name__)
        raise ValueError(f"found {kind}, wanted an integer")
    return int(attribute)


def read_integers(attribute: object) -> tuple[int, ...]:
    """A short array of counts.

    >>> read_integers(np.array([3, 0]))
    (3, 0)
    """
    found = np.asarray(attribute)
    if found.dtype.kind not in "iu" or found.ndim != 1 or len(found) > MOST_NUMBERS:
        raise ValueError(f"found {found.dtype} of shape {found.shape}, wanted some integers")
    if ((found < 0) | (found > MOST_COUNT)).any():
        raise ValueError("found a number of positions that there is not")
    return tuple(found.tolist())


def read_text(attribute: object) -> str:
    """A text attribute: fixed-length ASCII as we write it, or a string as others may."""
    if not isinstance(attribute, bytes | str):
        raise ValueError(f"found {type(attribute).__name__}, wanted text")
    if len(attribute) > LONGEST_TEXT:
        raise ValueError(f"found a text of {len(attribute):,} letters")
    text = attribute if isinstance(attribute, str) else attribute.decode("ascii")
    if not (text.isascii() and text.isprintable()):
        raise ValueError("found a text that is not printable ASCII")
    return text


# A record counts positions and, where symmetry is not trivial, one of each class.
_NAMES = ("positions", "win", "draw", "loss", "terminal")
_COUNTS = {prefix: attrgetter(*(prefix + name for name in _NAMES)) for prefix in ("", "canonical_")}


def require_counts(path: Source, ply: int, record: object, prefix: str = "") -> None:
    """The counts of a ply are numbers of positions, and make up their sum."""
    positions, *rest = _COUNTS[prefix](record)
    is_sound = min(rest) >= 0 and max(rest) <= positions <= MOST_COUNT
    require(path, is_sound and sum(rest[:3]) == positions, f"ply {ply} has impossible counts")


def require_digest(path: Source, ply: int, digest: str) -> None:
    """A digest is 64 hexadecimal digits."""
    require(path, re.fullmatch(r"[0-9a-f]{64}", digest), f"ply {ply} has no digest")


# Arrays.


class Wanted(NamedTuple):
    """An array that a ply must have: one dimension, in chunks, each packed by us."""

    name: str
    dtype: str
    items: int
    chunk: int  # items of a chunk of a long array; a short one is a chunk of its own

    @property
    def nbytes(self) -> int:
        return self.items * np.dtype(self.dtype).itemsize


def length_of(path: Source, group: h5py.Group, name: str) -> int:
    """How many items an array has, as far as the file says."""
    dataset = _own(path, group, name)
    require(path, dataset.ndim == 1, f"{group.name}/{name} is no array of one dimension")
    return int(dataset.shape[0])


def require_arrays(path: Source, group: h5py.Group, arrays: Iterable[Wanted]) -> None:
    """Refuse a ply that does not have just these arrays."""
    for wanted in arrays:
        dataset = _own(path, group, wanted.name)
        chunks = (min(wanted.items, wanted.chunk),) if wanted.items else None
        wrong = ""
        if dataset.dtype != np.dtype(wanted.dtype):
            wrong = f"is {dataset.dtype}"
        elif dataset.shape != (wanted.items,):
            wrong = f"has shape {dataset.shape}, not {wanted.items:,} items"
        elif dataset.chunks != chunks:
            wrong = f"has chunks of {dataset.chunks}"
        if wrong:
            raise DamagedFileError(f"{path} is no table: {group.name}/{wanted.name} {wrong}")


def read_plain(path: Source, group: h5py.Group, name: str, nbytes: int) -> bytes:
    """The bytes of a small array that is not packed; none if it is not there."""
    if name not in group:
        return b""
    dataset = _own(path, group, name)
    is_sound = dataset.shape == (nbytes,) and dataset.dtype == np.uint8
    require(path, is_sound and dataset.chunks is None, f"{group.name}/{name} is not {nbytes} bytes")
    return bytes(dataset[:])


def _own(path: Source, group: h5py.Group, name: str) -> h5py.Dataset:
    """A data set that lies in this file: no link, no view of others, nothing kept elsewhere."""
    is_there = isinstance(group.get(name, getlink=True), h5py.HardLink)
    dataset = group[name] if is_there else None
    if isinstance(dataset, h5py.Dataset):
        if not (dataset.is_virtual or dataset.external):
            return dataset
        what = "lies in other files"
    else:
        what = "is no array" if is_there else "is not there"
    raise DamagedFileError(f"{path} is no table: {group.name}/{name} {what}")


def own_group(path: Source, file: h5py.File, name: str) -> h5py.Group:
    """A group of this file."""
    is_own = isinstance(file.get(name, getlink=True), h5py.HardLink)
    require(path, is_own and isinstance(file[name], h5py.Group), f"{name} is not there")
    return file[name]


def require_size(path: Source, size: int, what: str, nbytes: int) -> None:
    """Refuse a file of some size that asks for far more memory than such a file has a use for."""
    if nbytes > FREE_BYTES + MOST_RATIO * size:
        raise DamagedFileError(
            f"{path} is no table: its {size:,} bytes cannot be {what}, which take {nbytes:,}"
        )
