"""HDF5 as this project uses it. No other module imports h5py.

What is in a table or a part of one, whatever its index:

    /               attributes: the header, a dataclass; in a table also its value and digest
    /ply-07         attributes: the counts of a ply, a dataclass
    /ply-07/win     the data of a ply, in compressed chunks

Attributes are 64-bit integers or fixed-length ASCII strings: HDF5 keeps other strings
in a heap without a checksum. Damaged bytes make HDF5 fail in many ways; `reading`
gives them one name.
"""

from __future__ import annotations

import contextlib
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, TypeVar

import h5py
import hdf5plugin
import numpy as np
from h5py import File as File
from h5py import Group as Group

from retro.errors import (
    ChecksumError,
    DamagedFileError,
    IncompleteTableError,
    MissingTableError,
    StorageError,
    TablebaseError,
)
from retro.version import VERSION as GENERATOR_VERSION
from tablebase.files import Closing, storage_errors, whole_file
from tablebase.format import FORMAT, table_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from _typeshed import DataclassInstance
    from numpy.typing import NDArray

Content = TypeVar("Content", bound="DataclassInstance")

GENERATOR = f"retro-tablebase {GENERATOR_VERSION}"
LIBRARY_VERSIONS = ("v110", "v110")  # checksummed and smaller metadata; read by HDF5 1.10 and later


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Give HDF5's many ways to fail on damaged bytes one name."""
    try:
        yield
    except TablebaseError:
        raise
    except (OSError, LookupError, RuntimeError, ValueError, TypeError, AttributeError) as error:
        reason = str(error).strip("'\"").splitlines()[0] if str(error) else type(error).__name__
        raise ChecksumError(f"{path} is damaged: {reason}") from error


def open_file(path: Path) -> File:
    """Open a file to read; what is wrong with it gets its name."""
    try:
        return h5py.File(path, "r")
    except FileNotFoundError:
        raise MissingTableError(f"no table at {path}") from None
    except PermissionError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from None
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise DamagedFileError(f"{path} is damaged or no table: {reason}") from error


class OpenFile(Closing):
    """A file that is open to read. Use it as a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = open_file(path)

    def close(self) -> None:
        self._file.close()

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self.path.stat().st_size


def file_image(fill: Callable[[File], None]) -> bytes:
    """The bytes of a file that `fill` writes, made in memory so that only we touch the disk."""
    with h5py.File(
        "image", "w", driver="core", backing_store=False, libver=LIBRARY_VERSIONS
    ) as file:
        fill(file)
        file.flush()
        return bytes(file.id.get_file_image())


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[File]:
    """A file to write: when all is done it is there, whole and synced; else it is not."""
    with (
        storage_errors(path.with_name(path.name + ".tmp")),
        whole_file(path) as aside,
        h5py.File(aside, "w", libver=LIBRARY_VERSIONS) as file,
    ):
        yield file


# Attributes.


def write_attributes(place: Group, values: Mapping[str, Any]) -> None:
    """Write texts, integers and arrays of integers."""
    for name, value in values.items():
        place.attrs[name] = np.bytes_(value) if isinstance(value, str) else np.int64(value)


def attribute_text(attribute: Any) -> str:
    """A text attribute: fixed-length ASCII as we write it, or a string as others may."""
    return attribute if isinstance(attribute, str) else bytes(attribute).decode("ascii")


def from_attributes(kind: type[Content], found: Mapping[str, Any], **known: Any) -> Content:
    """A dataclass of integers and texts from attributes of the same names, and what is known."""
    read: dict[str, Callable[[Any], Any]] = {"int": int, "str": attribute_text}
    wanted = [field for field in fields(kind) if field.name not in known]
    return kind(**{f.name: read[str(f.type)](found[f.name]) for f in wanted}, **known)


def root_attributes(file: File, path: Path) -> dict[str, Any]:
    """The root attributes of a file, which must be one of ours."""
    found = dict(file.attrs)
    if "format" not in found or attribute_text(found["format"]) != FORMAT:
        raise DamagedFileError(f"{path} is an HDF5 file, but not a {FORMAT} file")
    return found


def require_attributes(path: Path, found: Mapping[str, Any], wanted: Iterable[str]) -> None:
    """Name the root attribute that is missing, if any."""
    missing = sorted(set(wanted) - found.keys())
    if missing:
        raise DamagedFileError(f"{path} lacks the root attribute {missing[0]!r}")


def index_of(path: Path) -> str:
    """Which kind of table a file holds, by its root attribute `index`; "" if it does not say."""
    with open_file(path) as file, reading(path):
        return attribute_text(file.attrs["index"]) if "index" in file.attrs else ""


def finish_table(
    file: File,
    header: DataclassInstance,
    value: int,
    records: Sequence[DataclassInstance],
    **more: int,
) -> None:
    """Write the root attributes of a table, the mark that it is finished last of all."""
    digest = table_digest(header, value, records)
    content = {**asdict(header), "generator": GENERATOR, **more, "value": value, "digest": digest}
    write_attributes(file, content)
    file.flush()
    write_attributes(file, {"finished": 1})


def check_finished(
    path: Path,
    root: Mapping[str, Any],
    header: DataclassInstance,
    records: Sequence[DataclassInstance],
) -> None:
    """Refuse a table that was never finished, or whose header or counts were changed since."""
    if int(root.get("finished", 0)) != 1:
        raise IncompleteTableError(f"{path} was never finished; build it again")
    if table_digest(header, int(root["value"]), records) != attribute_text(root["digest"]):
        raise ChecksumError(f"{path}: header or counts do not have their digest")


# Data.


def write_frames(
    group: Group,
    name: str,
    words: int,
    chunk: int,
    frames: Iterable[tuple[int, bytes]],
    *,
    level: int,
) -> None:
    """Write words whose chunks are packed already: (number of the chunk, zstd frame) each.

    A chunk without a frame, or with an empty one, is left out: HDF5 reads it as zeros.
    """
    layout: dict[str, Any] = {}
    if words:
        layout = {"chunks": (min(words, chunk),), **hdf5plugin.Zstd(clevel=level)}
    dataset = group.create_dataset(name, (words,), "<u8", **layout)
    for number, frame in frames:
        if frame:
            dataset.id.write_direct_chunk((number * chunk,), frame)


def read_frames(
    group: Group, name: str, chunk: int, begin: int, end: int
) -> Iterator[tuple[int, bytes]]:
    """The chunks that hold the words from `begin` to `end`: (first word of the chunk, frame).

    As they are, for the reader to unpack: HDF5's own zstd filter ignores checksums.
    """
    dataset = group[name]
    for first in range(begin // chunk * chunk, end, chunk):
        if dataset.id.get_chunk_info_by_coord((first,)).byte_offset is not None:
            yield first, dataset.id.read_direct_chunk((first,))[1]


def write_array(
    group: Group, name: str, array: NDArray[Any], chunk: int, *, level: int, shuffle: bool
) -> None:
    """Write an array that HDF5 packs: zstd, with a checksum of every chunk."""
    layout: dict[str, Any] = {}
    if len(array):
        layout = {"chunks": (min(len(array), chunk),), "shuffle": shuffle, "fletcher32": True}
        layout |= hdf5plugin.Zstd(clevel=level)
    group.create_dataset(name, data=array, **layout)
