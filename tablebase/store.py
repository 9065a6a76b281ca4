"""Table files on disk. `format` says what is in them.

A table is written in parts, one small HDF5 file per ply, in a folder beside its place:

    tables/connect4-5x4.h5.partial/ply-20.h5     each written aside, synced, renamed,
                                   ply-19.h5     so that it is whole or not there
                                   ...
    tables/connect4-5x4.h5                       at the end joined, synced, renamed

A build that dies at any moment leaves whole parts, and the next one goes on
from them. Joining copies compressed chunks as they are.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Self

import h5py
import hdf5plugin
import numpy as np

from retro.errors import (
    ChecksumError,
    DamagedFileError,
    FormatVersionError,
    IncompleteTableError,
    MissingTableError,
    StorageError,
)
from retro.version import VERSION as GENERATOR_VERSION
from tablebase.files import (
    LIBRARY_VERSIONS,
    attribute_text,
    open_file,
    reading,
    storage_errors,
    sync,
    write_whole,
)
from tablebase.format import (
    CHUNK_WORDS,
    COUNT_NAMES,
    FORMAT,
    PLANES,
    VERSION,
    Header,
    PlyRecord,
    ply_name,
    table_digest,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from retro.walk.layers import Counts

    Values = NDArray[np.uint64]

ZSTD_LEVEL = 1
GENERATOR = f"retro-tablebase {GENERATOR_VERSION}"


def digest_values(values: Values) -> str:
    """SHA-256 of the bytes of the win plane followed by those of the loss plane."""
    sha = hashlib.sha256()
    for plane in values:
        sha.update(np.ascontiguousarray(plane, "<u8").data)
    return sha.hexdigest()


class PartialTable:
    """The parts of a table being built. Holds no open file between calls."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.header = header
        self.folder = path.with_name(path.name + ".partial")

    def part(self, ply: int) -> Path:
        return self.folder / f"{ply_name(ply)}.h5"

    def finished_plies(self) -> list[int]:
        """The plies that need no more work, the fullest first; they follow one another."""
        plies: list[int] = []
        for ply in reversed(self.header.plies):
            if not self.part(ply).exists():
                break
            plies.append(ply)
        return plies

    def size(self) -> int:
        """Bytes of all parts."""
        return sum(part.stat().st_size for part in self.folder.glob("*.h5"))

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, ply: int, values: Values) -> None:
        """Keep the values of a ply; on return they are safe on disk."""
        image = _part_image(self.header, ply, values)
        with storage_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.part(ply), image)

    def read(self, ply: int) -> Values:
        """The values of a finished ply, checked against their digest."""
        path = self.part(ply)
        with open_file(path) as file:
            if _read_header(file, path) != self.header:
                raise DamagedFileError(f"{path} belongs to another table")
            with reading(path):
                group = file[ply_name(ply)]
                values = _read_planes(group)
                stored = attribute_text(group.attrs["sha256"])
        if digest_values(values) != stored:
            raise ChecksumError(f"{path}: the values of ply {ply} do not have their digest")
        return values

    def join(self, value: int, counts: Sequence[Counts]) -> None:
        """Join the parts and their counts to the finished table, and remove them."""
        needed = self.size() + (1 << 20)
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            raise StorageError(
                f"joining {self.path} needs {needed:,} bytes, {self.path.parent} has {free:,} free"
            )
        aside = self.path.with_name(self.path.name + ".tmp")
        with storage_errors(aside):
            try:
                with h5py.File(aside, "w", libver=LIBRARY_VERSIONS) as file:
                    records = [self._copy_part(file, count) for count in counts]
                    _write_root(file, self.header, value, records)
                sync(aside)
                aside.replace(self.path)
            except BaseException:
                aside.unlink(missing_ok=True)
                raise
            sync(self.path.parent)
        self.discard()

    def _copy_part(self, file: h5py.File, counts: Counts) -> PlyRecord:
        name = ply_name(counts.ply)
        with open_file(self.part(counts.ply)) as part:
            part.copy(part[name], file)
        group = file[name]
        for key in COUNT_NAMES:
            group.attrs[key] = np.int64(getattr(counts, key))
        return PlyRecord(*counts, sha256=attribute_text(group.attrs["sha256"]))


class TableFile:
    """An open table. Use it as a context manager, from any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            raise MissingTableError(f"no table at {path}")
        self._file = open_file(path)
        try:
            self.header = _read_header(self._file, path)
            with reading(path):
                for name in ("value", "digest"):
                    if name not in self._file.attrs:
                        raise DamagedFileError(f"{path} lacks the root attribute {name!r}")
                self.value = int(self._file.attrs["value"])
                self.digest = attribute_text(self._file.attrs["digest"])
                is_finished = int(self._file.attrs.get("finished", 0)) == 1
                self.records = [self._read_record(ply) for ply in self.header.plies]
            if not is_finished:
                raise IncompleteTableError(f"{path} was never finished; build it again")
            if table_digest(self.header, self.value, self.records) != self.digest:
                raise ChecksumError(f"{path}: header or counts do not have their digest")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def _read_record(self, ply: int) -> PlyRecord:
        attributes = self._file[ply_name(ply)].attrs
        counts = {name: int(attributes[name]) for name in COUNT_NAMES}
        return PlyRecord(ply=ply, **counts, sha256=attribute_text(attributes["sha256"]))

    def words(self, ply: int) -> int:
        """Length of the planes of a ply."""
        with reading(self.path):
            return len(self._file[ply_name(ply)][PLANES[0]])

    def read(self, ply: int, begin: int = 0, end: int | None = None) -> Values:
        """The planes of a ply, or a stretch of their words: [2, words]."""
        with reading(self.path):
            return _read_planes(self._file[ply_name(ply)], begin, end)

    def read_checked(self, ply: int) -> Values:
        """The whole planes of a ply, checked against their digest."""
        values = self.read(ply)
        if digest_values(values) != self.records[ply - self.header.first_ply].sha256:
            raise ChecksumError(f"{self.path}: the values of ply {ply} do not have their digest")
        return values


def _part_image(header: Header, ply: int, values: Values) -> bytes:
    """A part as the bytes of an HDF5 file, made in memory so that only we touch the disk."""
    with h5py.File(
        ply_name(ply), "w", driver="core", backing_store=False, libver=LIBRARY_VERSIONS
    ) as file:
        _write_header(file, header)
        group = file.create_group(ply_name(ply))
        group.attrs["sha256"] = np.bytes_(digest_values(values))
        for name, plane in zip(PLANES, values, strict=True):
            filters: dict[str, Any] = {}
            if len(plane):
                filters = {
                    "chunks": (min(len(plane), CHUNK_WORDS),),
                    "fletcher32": True,
                    **hdf5plugin.Zstd(clevel=ZSTD_LEVEL),
                }
            group.create_dataset(name, data=plane, dtype="<u8", **filters)
        file.flush()
        return bytes(file.id.get_file_image())


def _read_planes(group: h5py.Group, begin: int = 0, end: int | None = None) -> Values:
    win, loss = (group[name] for name in PLANES)
    end = len(win) if end is None else end
    values = np.empty((2, end - begin), np.uint64)
    if end > begin:
        for dataset, plane in zip((win, loss), values, strict=True):
            dataset.read_direct(plane, np.s_[begin:end])
    return values


def _write_header(file: h5py.File, header: Header) -> None:
    for name, value in {**asdict(header), "generator": GENERATOR}.items():
        file.attrs[name] = np.bytes_(value) if isinstance(value, str) else np.int64(value)


def _write_root(file: h5py.File, header: Header, value: int, records: list[PlyRecord]) -> None:
    _write_header(file, header)
    file.attrs["value"] = np.int64(value)
    file.attrs["digest"] = np.bytes_(table_digest(header, value, records))
    file.flush()
    file.attrs["finished"] = np.int64(1)


def _read_header(file: h5py.File, path: Path) -> Header:
    """The header; refuses by name what this program does not understand."""
    with reading(path):
        found = {name: file.attrs[name] for name in file.attrs}
        if "format" not in found or attribute_text(found["format"]) != FORMAT:
            raise DamagedFileError(f"{path} is an HDF5 file, but not a {FORMAT} file")
        version = int(found.get("format_version", 0))
        if version != VERSION:
            raise FormatVersionError(
                f"{path} has format version {version}; this program reads version {VERSION}"
            )
        known = {field.name: field.type for field in fields(Header)}
        missing = sorted(known.keys() - found.keys())
        if missing:
            raise DamagedFileError(f"{path} lacks the root attribute {missing[0]!r}")
        content: dict[str, Any] = {
            name: int(found[name]) if kind == "int" else attribute_text(found[name])
            for name, kind in known.items()
        }
        header = Header(**content)
    expected = Header(**{**asdict(header), "game": Header.game, "index": Header.index})
    if header != expected or header.metric != Header.metric or header.root != Header.root:
        raise FormatVersionError(
            f"{path} holds game {header.game!r}, index {header.index!r}, metric "
            f"{header.metric!r}, root {header.root!r}: not known to this program"
        )
    return header
