"""Table files on disk. `format` says what is in them.

A table is made in parts, in a folder beside its place:

    tables/connect4-5x4.h5.partial/
        alive-07-0003.zst    a group of the forward walk: which positions can arise
        walk-07-0003.zst     a group of the backward walk, every position
        ply-07.h5            a finished ply as it will be in the table
    tables/connect4-5x4.h5   at the end joined, synced, renamed

Each file is written aside and renamed, so that it is whole or not there. Only the
table is synced: what a power cut leaves of the others is checked before it is used.
Groups are needed until the next ply is finished. A build that dies at any moment
goes on from what is there. Joining copies packed chunks.
"""

from __future__ import annotations

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
    plane_digest,
    ply_name,
    table_digest,
)
from tablebase.packing import (
    LEVEL,
    Chunk,
    digest_chunk,
    pack_pieces,
    unpack,
    unpack_pieces,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Literal

    from numpy.typing import NDArray

    Values = NDArray[np.uint64]
    Walk = Literal["alive", "walk"]

GENERATOR = f"retro-tablebase {GENERATOR_VERSION}"


class PartialTable:
    """The parts of a table being built. Holds no open file between calls."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.header = header
        self.folder = path.with_name(path.name + ".partial")

    def part(self, ply: int) -> Path:
        return self.folder / f"{ply_name(ply)}.h5"

    def group(self, walk: Walk, ply: int, number: int) -> Path:
        return self.folder / f"{walk}-{ply:02d}-{number:04d}.zst"

    def finished_plies(self) -> list[int]:
        """The plies that need no more work, the fullest first; they follow one another."""
        plies: list[int] = []
        for ply in reversed(self.header.counted_plies):
            if not self.part(ply).exists():
                break
            plies.append(ply)
        return plies

    def has_groups(self, walk: Walk, ply: int, groups: int) -> bool:
        """Whether every group of a ply is there."""
        return all(self.group(walk, ply, number).exists() for number in range(groups))

    def size(self) -> int:
        """Bytes of all parts."""
        return sum(part.stat().st_size for part in self.folder.glob("*.*"))

    def open(self) -> None:
        """Make the folder, or throw away what another version or other options have left in it."""
        with storage_errors(self.folder):
            mark = self.folder / "table.txt"
            wanted = repr(self.header)
            if mark.exists() and mark.read_text() != wanted:
                self.discard()
            self.folder.mkdir(parents=True, exist_ok=True)
            if not mark.exists():
                write_whole(mark, wanted.encode(), synced=False)

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def write_group(self, walk: Walk, ply: int, number: int, pieces: Sequence[Values]) -> None:
        """Keep a group: several arrays of words."""
        with storage_errors(self.folder):
            write_whole(self.group(walk, ply, number), pack_pieces(pieces), synced=False)

    def read_group(self, walk: Walk, ply: int, number: int, pieces: Sequence[Values]) -> None:
        """Fill arrays in place from a group that was kept.

        One that is damaged is removed, so that the next run makes it again.
        """
        path = self.group(walk, ply, number)
        with reading(path):
            frame = path.read_bytes()
        try:
            unpack_pieces(frame, pieces, str(path))
        except ChecksumError as error:
            path.unlink()
            raise ChecksumError(f"{error}; run the same command again to mend it") from None

    def drop_groups(self, walk: Walk, ply: int) -> None:
        """Forget the groups of a ply."""
        for path in self.folder.glob(f"{walk}-{ply:02d}-*"):
            path.unlink()

    def write_part(self, counts: PlyRecord, words: int, chunks: Sequence[Chunk] | None) -> None:
        """Keep a finished ply. Without chunks, only its counts."""
        with storage_errors(self.folder):
            image = _part_image(self.header, counts, words, chunks)
            write_whole(self.part(counts.ply), image, synced=False)

    def check_part(self, ply: int) -> PlyRecord:
        """The counts of a finished ply, whose values have their digest."""
        path = self.part(ply)
        with open_file(path) as file:
            if _read_header(file, path) != self.header:
                raise DamagedFileError(f"{path} belongs to another table")
            with reading(path):
                record = _read_record(file, ply)
                if record.sha256:
                    _check_digest(_read_planes(file, ply), record, path)
                return record

    def join(self) -> None:
        """Join the parts to the finished table, and remove them."""
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
                    records = [self._copy_part(file, ply) for ply in self.header.counted_plies]
                    _write_root(file, self.header, records[0].win - records[0].loss, records)
                sync(aside)
                aside.replace(self.path)
            except BaseException:
                aside.unlink(missing_ok=True)
                raise
            sync(self.path.parent)
        self.discard()

    def _copy_part(self, file: h5py.File, ply: int) -> PlyRecord:
        with open_file(self.part(ply)) as part:
            part.copy(part[ply_name(ply)], file)
        return _read_record(file, ply)


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
                plies = self.header.counted_plies
                self.records = [_read_record(self._file, ply) for ply in plies]
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

    def record(self, ply: int) -> PlyRecord:
        """The counts of a ply."""
        return self.records[ply - self.header.counted_plies.start]

    def words(self, ply: int) -> int:
        """Length of the planes of a ply."""
        with reading(self.path):
            return len(self._file[ply_name(ply)][PLANES[0]])

    def read(self, ply: int, begin: int = 0, end: int | None = None) -> Values:
        """The planes of a ply, or a stretch of their words: [2, words]."""
        with reading(self.path):
            return _read_planes(self._file, ply, begin, end)

    def read_checked(self, ply: int) -> Values:
        """The whole planes of a ply, checked against their digest."""
        values = self.read(ply)
        _check_digest(values, self.record(ply), self.path)
        return values


def _part_image(
    header: Header, counts: PlyRecord, words: int, chunks: Sequence[Chunk] | None
) -> bytes:
    """A part as the bytes of an HDF5 file, made in memory so that only we touch the disk."""
    with h5py.File(
        ply_name(counts.ply), "w", driver="core", backing_store=False, libver=LIBRARY_VERSIONS
    ) as file:
        _write_attributes(file, asdict(header))
        group = file.create_group(ply_name(counts.ply))
        record = asdict(counts)
        del record["ply"]
        if chunks is not None:
            ordered = sorted(chunks, key=lambda chunk: chunk.number)
            record["sha256"] = plane_digest(chunk.digest for chunk in ordered)
            for plane, name in enumerate(PLANES):
                _write_plane(group, name, words, [(c.number, c.frames[plane]) for c in ordered])
        _write_attributes(group, record)
        file.flush()
        return bytes(file.id.get_file_image())


def _write_plane(group: h5py.Group, name: str, words: int, frames: list[tuple[int, bytes]]) -> None:
    filters: dict[str, Any] = {}
    if words:
        filters = {"chunks": (min(words, CHUNK_WORDS),), **hdf5plugin.Zstd(clevel=LEVEL)}
    dataset = group.create_dataset(name, (words,), "<u8", **filters)
    for number, frame in frames:
        if frame:
            dataset.id.write_direct_chunk((number * CHUNK_WORDS,), frame)


def _read_planes(file: h5py.File, ply: int, begin: int = 0, end: int | None = None) -> Values:
    """Some words of both planes. Unpacked here: HDF5's own zstd filter ignores checksums."""
    group = file[ply_name(ply)]
    end = len(group[PLANES[0]]) if end is None else end
    values = np.zeros((2, end - begin), np.uint64)
    for name, plane in zip(PLANES, values, strict=True):
        dataset = group[name]
        for first in range(begin // CHUNK_WORDS * CHUNK_WORDS, end, CHUNK_WORDS):
            if dataset.id.get_chunk_info_by_coord((first,)).byte_offset is not None:
                frame = dataset.id.read_direct_chunk((first,))[1]
                words = unpack(frame, f"{file.filename}: ply {ply}")
                low, high = max(begin, first), min(end, first + CHUNK_WORDS)
                plane[low - begin : high - begin] = words[low - first : high - first]
    return values


def _check_digest(values: Values, record: PlyRecord, path: Path) -> None:
    starts = range(0, values.shape[1], CHUNK_WORDS)
    digests = (digest_chunk(values[:, at : at + CHUNK_WORDS]) for at in starts)
    if plane_digest(digests) != record.sha256:
        raise ChecksumError(f"{path}: the values of ply {record.ply} do not have their digest")


def _write_attributes(place: h5py.Group, values: dict[str, Any]) -> None:
    for name, value in values.items():
        place.attrs[name] = np.bytes_(value) if isinstance(value, str) else np.int64(value)


def _write_root(file: h5py.File, header: Header, value: int, records: list[PlyRecord]) -> None:
    digest = table_digest(header, value, records)
    content = {**asdict(header), "generator": GENERATOR, "value": value, "digest": digest}
    _write_attributes(file, content)
    file.flush()
    _write_attributes(file, {"finished": 1})


def _read_record(file: h5py.File, ply: int) -> PlyRecord:
    attributes = file[ply_name(ply)].attrs
    counts = {name: int(attributes[name]) for name in COUNT_NAMES}
    return PlyRecord(ply=ply, **counts, sha256=attribute_text(attributes["sha256"]))


def _read_header(file: h5py.File, path: Path) -> Header:
    """The header; refuses by name what this program does not understand."""
    with reading(path):
        found = {name: file.attrs[name] for name in file.attrs}
        if "format" not in found or attribute_text(found["format"]) != FORMAT:
            raise DamagedFileError(f"{path} is an HDF5 file, but not a {FORMAT} file")
        version = int(found.get("format_version", 0))
        if version != VERSION:
            older = "; build the table again" if version < VERSION else ""
            raise FormatVersionError(
                f"{path} has format version {version}; this program reads version {VERSION}{older}"
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
    if (header.game, header.index, header.metric) != (Header.game, Header.index, Header.metric):
        raise FormatVersionError(
            f"{path} holds game {header.game!r}, index {header.index!r}, metric "
            f"{header.metric!r}: not known to this program"
        )
    return header
