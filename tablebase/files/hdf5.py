"""HDF5 as this project uses it. No other module imports h5py.

What is in a table or a part of one, whatever its index:

    /               attributes: the header, a dataclass; in a table also its value and digest
    /ply-07         attributes: the counts of a ply, a dataclass
    /ply-07/win     the data of a ply, in compressed chunks

Attributes are 64-bit integers or fixed-length ASCII strings: HDF5 keeps other strings
in a heap without a checksum. What a file may hold at all `opening` says.
"""

from __future__ import annotations

import contextlib
import stat
from dataclasses import fields
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import h5py
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
from tablebase.files.atomic import Closing, storage_errors, whole_file
from tablebase.files.frames import Packing, pack, unpack
from tablebase.files.opening import read_integer, read_integers, read_text, reading
from tablebase.files.remote import RemoteFile, Source
from tablebase.files.seal import FORMAT, said, table_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from _typeshed import DataclassInstance
    from numpy.typing import NDArray

Content = TypeVar("Content", bound="DataclassInstance")

GENERATOR = f"retro-tablebase {GENERATOR_VERSION}"
ZSTD_FILTER = 32015  # its registered number
LIBRARY_VERSIONS = ("v110", "v110")  # checksummed and smaller metadata; read by HDF5 1.10 and later

SMALL_CONTENTS = 2_048  # HDF5's own
MOST_COMPACT = 60_000  # bytes; HDF5's limit is 64 kB
# Chunks of an array that HDF5 may go through to tell where one of them is: 0.3 ms, and few pages.
MOST_LISTED = 10_000
NOT_THERE = "chunk storage is not allocated"  # HDF5 2.0, and 1.14


def open_file(path: Source) -> File:
    """Open a file to read; what is wrong with it gets its name."""
    try:
        if isinstance(path, Path):
            _require_file(path)
        return h5py.File(path, "r")
    except (FileNotFoundError, NotADirectoryError):
        raise MissingTableError(f"no table at {path}") from None
    except PermissionError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from None
    except BlockingIOError:
        raise StorageError(f"{path} is locked: another program is writing it") from None
    except (OSError, ValueError) as error:
        if isinstance(error, TablebaseError):
            raise
        reason = str(error).splitlines()[0]
        raise DamagedFileError(f"{path} is damaged or no table: {reason}") from error


def _require_file(path: Path) -> None:
    """Refuse what is no plain file: opening a pipe would wait for somebody to write into it."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no plain file"
        raise DamagedFileError(f"{path} is {kind}, wanted a table")


class OpenFile(Closing):
    """A file that is open to read, by any number of threads. Use it as a context manager.

    What was begun before `close` is read to its end; all that is asked later is refused.
    """

    def __init__(self, path: Source) -> None:
        self.path = path
        self._file = open_file(path)
        self.size = path.size if isinstance(path, RemoteFile) else path.stat().st_size
        self._door = Lock()  # of the next two
        self._readers, self._is_closed = 0, False

    def require_open(self) -> None:
        """Refuse what is asked after `close`, though the answer may still be in memory."""
        if self._is_closed:
            raise StorageError(f"{self.path} is closed")

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Keep the file open, and give what goes wrong its name."""
        with self._door:
            self.require_open()
            self._readers += 1
        try:
            with reading(self.path):
                yield
        finally:
            self._leave()

    def _leave(self) -> None:
        """The last one who reads a closed file closes it."""
        with self._door:
            self._readers -= 1
            is_last = self._is_closed and not self._readers
        if is_last:
            self._file.close()

    def close(self) -> None:
        with self._door:
            is_idle = not self._readers and not self._is_closed
            self._is_closed = True
        if is_idle:
            self._file.close()

    def fetch(self, chunks: Iterable[tuple[Group, str, int]]) -> None:
        """Have some chunks at hand, (group, data set, first item) each: of a file elsewhere."""
        if isinstance(self.path, RemoteFile):
            wanted = ((group[name], first) for group, name, first in chunks)
            places = (
                array.id.get_chunk_info_by_coord((first,))
                for array, first in wanted
                if array.size <= MOST_LISTED * array.chunks[0]
            )
            self.path.fetch(
                (place.byte_offset, place.byte_offset + place.size)
                for place in places
                if place.byte_offset is not None
            )


@contextlib.contextmanager
def new_file(path: Path, contents: int = SMALL_CONTENTS) -> Iterator[File]:
    """A file to write: when all is done it is there, whole and synced; else it is not.

    HDF5 keeps its own `contents`, all but the data, together, up to so many bytes: who reads
    the file from afar has them by a few requests.
    """
    with (
        storage_errors(path.with_name(path.name + ".tmp")),
        whole_file(path) as aside,
        h5py.File(aside, "w", libver=LIBRARY_VERSIONS, meta_block_size=contents) as file,
    ):
        yield file


# Attributes.


def write_attributes(place: Group, values: Mapping[str, Any]) -> None:
    """Write texts, integers and arrays of integers."""
    for name, value in values.items():
        place.attrs[name] = np.bytes_(value) if isinstance(value, str) else np.int64(value)


def from_attributes(kind: type[Content], found: Mapping[str, object], **known: object) -> Content:
    """A dataclass of integers and texts from attributes of the same names, and what is known."""
    read: dict[str, Callable[[object], object]] = {
        "int": read_integer,
        "str": read_text,
        "tuple[int, ...]": read_integers,
    }
    content = dict(known)
    for field in fields(kind):
        is_silent = field.metadata.get("left_out") and field.name not in found
        if field.name not in known and not is_silent:
            content[field.name] = read[str(field.type)](found[field.name])
    return kind(**content)


def root_attributes(file: File, path: Source) -> dict[str, object]:
    """The root attributes of a file, which must be one of ours."""
    found = dict(file.attrs)
    if "format" not in found or read_text(found["format"]) != FORMAT:
        raise DamagedFileError(f"{path} is an HDF5 file, but not a {FORMAT} file")
    return found


def require_attributes(path: Source, found: Mapping[str, object], wanted: Iterable[str]) -> None:
    """Name the root attribute that is missing, if any."""
    missing = sorted(set(wanted) - found.keys())
    if missing:
        raise DamagedFileError(f"{path} lacks the root attribute {missing[0]!r}")


def index_of(path: Source) -> str:
    """Which kind of table a file holds, by its root attribute `index`."""
    with open_file(path) as file, reading(path):
        found = root_attributes(file, path)
        require_attributes(path, found, ("index",))
        return read_text(found["index"])


def finish_table(
    file: File,
    header: DataclassInstance,
    value: int,
    records: Sequence[DataclassInstance],
    **more: int,
) -> None:
    """Write the root attributes of a table, the mark that it is finished last of all."""
    digest = table_digest(header, value, records)
    content = {**said(header), "generator": GENERATOR, **more, "value": value, "digest": digest}
    write_attributes(file, content)
    file.flush()
    write_attributes(file, {"finished": 1})


def check_finished(
    path: Source,
    root: Mapping[str, object],
    header: DataclassInstance,
    records: Sequence[DataclassInstance],
) -> None:
    """Refuse a table that was never finished, or whose header or counts were changed since."""
    if read_integer(root.get("finished", 0)) != 1:
        raise IncompleteTableError(f"{path} was never finished; build it again")
    if table_digest(header, read_integer(root["value"]), records) != read_text(root["digest"]):
        raise ChecksumError(f"{path}: header or counts do not have their digest")


# Data.


def _dataset_properties() -> h5py.h5p.PropDCID:
    """Nobody asks when a data set was made, and two builds of a table are the same file."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_obj_track_times(False)
    return properties


def _make_dataset(
    group: Group, name: str, shape: tuple[int, np.dtype[np.generic]], chunk: int, packing: Packing
) -> h5py.h5d.DatasetID:
    """A data set that says how its chunks are packed; nobody here asks HDF5 to do it.

    The zstd filter is declared as optional, because HDF5 refuses to write a data set
    with a filter that it does not have, though it never gets to use it.
    """
    length, dtype = shape
    properties = _dataset_properties()
    if length:
        properties.set_chunk((min(length, chunk),))
        if packing.shuffle:
            properties.set_shuffle()
        properties.set_filter(ZSTD_FILTER, h5py.h5z.FLAG_OPTIONAL, (packing.level,))
        if packing.fletcher:
            properties.set_fletcher32()
    space = h5py.h5s.create_simple((length,))
    kind = h5py.h5t.py_create(dtype)
    return h5py.h5d.create(group.id, name.encode(), kind, space, properties)


def write_frames(
    group: Group,
    names: Sequence[str],
    words: int,
    chunk: int,
    frames: Iterable[tuple[int, Sequence[bytes]]],
    *,
    level: int,
) -> None:
    """Write several arrays of words whose chunks are packed already, side by side.

    Each chunk is its number and a zstd frame of each array; a frame that is empty is left
    out: HDF5 reads it as zeros.
    """
    shape, packing = (words, np.dtype("<u8")), Packing(level)
    datasets = [_make_dataset(group, name, shape, chunk, packing) for name in names]
    for number, here in frames:
        for dataset, frame in zip(datasets, here, strict=True):
            if frame:
                dataset.write_direct_chunk((number * chunk,), frame)


def _stored_chunk(chunks: h5py.h5d.DatasetID, name: str, first: int) -> bytes:
    """A chunk as it is stored; h5py says MemoryError of one that was never written."""
    try:
        packed: bytes = chunks.read_direct_chunk((first,))[1]
    except (MemoryError, OSError, RuntimeError):
        if chunks.get_chunk_info_by_coord((first,)).byte_offset is not None:
            raise
        raise ChecksumError(f"{name}: the chunk from item {first} on was never written") from None
    return packed


def read_frame(group: Group, name: str, first: int) -> bytes:
    """The chunk that begins with a word, as it is; nothing for a chunk of zeros.

    HDF5's own zstd filter would ignore the checksum of the frame.
    """
    chunks = group[name].id
    try:
        frame: bytes = chunks.read_direct_chunk((first,))[1]
    except (MemoryError, OSError, RuntimeError) as error:  # the first where there is none at all
        # Asking where a chunk is goes through all of them, 10 ms for 300,000: only if in doubt.
        is_zeros = NOT_THERE in str(error)
        if not is_zeros and chunks.get_chunk_info_by_coord((first,)).byte_offset is not None:
            raise
        return b""
    return frame


def write_plain(group: Group, name: str, content: bytes) -> None:
    """Write bytes as they are; if they are few, among the contents of the file."""
    properties = _dataset_properties()
    if len(content) <= MOST_COMPACT:
        properties.set_layout(h5py.h5d.COMPACT)
    space = h5py.h5s.create_simple((len(content),))
    kind = h5py.h5t.py_create(np.dtype(np.uint8))
    dataset = h5py.h5d.create(group.id, name.encode(), kind, space, properties)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.frombuffer(content, np.uint8))


def write_chunks(
    group: Group,
    name: str,
    shape: tuple[int, np.dtype[np.generic]],
    chunk: int,
    packing: Packing,
    frames: Iterable[bytes],
) -> None:
    """Write an array whose chunks are packed already, all of them, in order."""
    dataset = _make_dataset(group, name, shape, chunk, packing)
    for number, frame in enumerate(frames):
        dataset.write_direct_chunk((number * chunk,), frame)


def pack_chunk(items: NDArray[np.generic], length: int, packing: Packing) -> bytes:
    """A chunk of `length` items, filled up with zeros as HDF5 wants it."""
    whole = np.zeros(length, items.dtype)
    whole[: len(items)] = items
    return pack(whole, packing)


def read_array(group: Group, name: str, begin: int = 0, end: int | None = None) -> NDArray[Any]:
    """Some items of an array that `write_chunks` wrote, by default all."""
    dataset = group[name]
    if dataset.ndim != 1:
        raise ChecksumError(f"{name} is no array of one dimension")
    size, dtype = len(dataset), dataset.dtype
    end = size if end is None else min(end, size)
    found = np.zeros(max(0, end - begin), dtype)
    if not len(found):
        return found
    (length,) = dataset.chunks
    packing, items = Packing(shuffle=dataset.shuffle, fletcher=True), np.empty(length, dtype)
    for first in range(begin // length * length, end, length):
        unpack(_stored_chunk(dataset.id, name, first), items, packing)
        low, high = max(begin, first), min(end, first + length)
        found[low - begin : high - begin] = items[low - first : high - first]
    return found
