"""Table files on disk. `format` says what is in them.

A table is made in parts, in a folder beside its place:

    tables/connect4-5x4.h5.partial/
        alive-07-0003.zst    a group of the forward walk: which positions can arise
        walk-07-0003.zst     a group of the backward walk, every position
        ply-07.part          a finished ply, packed as it will be in the table
    tables/connect4-5x4.h5   at the end joined, synced, renamed

Each file is written aside and renamed, so that it is whole or not there. Only the
table is synced: what a power cut leaves of the others is checked before it is used.
Groups are needed until the next ply is finished. A build that dies at any moment
goes on from what is there. Joining copies packed chunks.
"""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

import numpy as np

from retro.errors import ChecksumError, DamagedFileError, FormatVersionError, WrongBoardError
from tablebase import store_hdf5 as hdf5
from tablebase.files import (
    parts_folder,
    parts_size,
    require_room,
    storage_errors,
    whole_file,
    write_whole,
)
from tablebase.format import (
    CHUNK_WORDS,
    PLANES,
    VERSION,
    Header,
    PlyRecord,
    plane_digest,
    ply_name,
)
from tablebase.keyed_format import INDEX as KEYED_INDEX
from tablebase.packing import LEVEL, PieceReader, digest_chunk, pack_pieces, unpack
from tablebase.parts import PartWriter, read_part
from tablebase.store_hdf5 import reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Literal

    from numpy.typing import NDArray

    from retro.games.connect import Board

    Values = NDArray[np.uint64]
    Walk = Literal["alive", "walk"]


class PartialTable:
    """The parts of a table being built. Holds no open file between calls."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.header = header
        self.folder = parts_folder(path)

    def part(self, ply: int) -> Path:
        return self.folder / f"{ply_name(ply)}.part"

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
        return parts_size(self.path)

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
            path = self.group(walk, ply, number)
            with whole_file(path, synced=False) as aside, aside.open("wb") as file:
                pack_pieces(file, pieces)

    @contextlib.contextmanager
    def group_reader(self, walk: Walk, ply: int, number: int) -> Iterator[PieceReader]:
        """Read a group that was kept, to its end.

        One that is damaged is removed, so that the next run makes it again.
        """
        path = self.group(walk, ply, number)
        try:
            with reading(path), path.open("rb") as file:
                reader = PieceReader(file, str(path))
                yield reader
                reader.end()
        except ChecksumError as error:
            path.unlink()
            raise ChecksumError(f"{error}; run the same command again to mend it") from None

    def read_group(self, walk: Walk, ply: int, number: int, pieces: Sequence[Values]) -> None:
        """Fill arrays in place from a group that was kept."""
        with self.group_reader(walk, ply, number) as reader:
            for piece in pieces:
                reader.fill(piece)

    def drop_groups(self, walk: Walk, ply: int) -> None:
        """Forget the groups of a ply."""
        for path in self.folder.glob(f"{walk}-{ply:02d}-*"):
            path.unlink()

    def part_writer(self, ply: int) -> PartWriter:
        """Begin to write a ply."""
        return PartWriter(self.part(ply))

    def finish_part(self, writer: PartWriter, counts: PlyRecord, words: int) -> None:
        """Keep a finished ply; of one whose values the table will not hold, the counts only."""
        has_planes = counts.ply in self.header.plies
        writer.finish(repr(self.header), counts, words, has_planes=has_planes)

    def check_part(self, ply: int) -> PlyRecord:
        """The counts of a finished ply, whose values have their digest."""
        part = read_part(self.part(ply))
        if part.header != repr(self.header):
            raise DamagedFileError(f"{part.path} belongs to another table")
        part.check()
        return part.counts

    def join(self) -> None:
        """Join the parts to the finished table, and remove them."""
        require_room(self.path)
        with hdf5.new_file(self.path) as file:
            records = [self._copy_part(file, ply) for ply in self.header.counted_plies]
            value = records[0].win - records[0].loss
            hdf5.finish_table(file, self.header, value, records)
        self.discard()

    def _copy_part(self, file: hdf5.File, ply: int) -> PlyRecord:
        part = read_part(self.part(ply))
        group = file.create_group(ply_name(ply))
        if part.counts.sha256:  # the planes may be empty: then they are there, with no chunk
            for plane, name in enumerate(PLANES):
                frames = part.frames(plane)
                hdf5.write_frames(group, name, part.words, CHUNK_WORDS, frames, level=LEVEL)
        record = asdict(part.counts)
        del record["ply"]
        hdf5.write_attributes(group, record)
        return part.counts


class TableFile(hdf5.OpenFile):
    """An open table, of `board` if that is given. Use it as a context manager, from any thread."""

    def __init__(self, path: Path, board: Board | None = None) -> None:
        super().__init__(path)
        try:
            self.header = _read_header(self._file, path)
            if board not in (None, self.header.board):
                raise WrongBoardError(f"{path} holds {self.header.name}, not {board.name}")
            with reading(path):
                root = dict(self._file.attrs)
                hdf5.require_attributes(path, root, ("value", "digest"))
                self.value = int(root["value"])
                self.digest = hdf5.attribute_text(root["digest"])
                plies = self.header.counted_plies
                self.records = [_read_record(self._file, ply) for ply in plies]
                hdf5.check_finished(path, root, self.header, self.records)
        except BaseException:
            self.close()
            raise

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


def _read_planes(file: hdf5.File, ply: int, begin: int = 0, end: int | None = None) -> Values:
    """Some words of both planes."""
    group = file[ply_name(ply)]
    end = len(group[PLANES[0]]) if end is None else end
    values = np.zeros((2, end - begin), np.uint64)
    for name, plane in zip(PLANES, values, strict=True):
        for first, frame in hdf5.read_frames(group, name, CHUNK_WORDS, begin, end):
            words = unpack(frame, f"{file.filename}: ply {ply}")
            low, high = max(begin, first), min(end, first + CHUNK_WORDS)
            plane[low - begin : high - begin] = words[low - first : high - first]
    return values


def _check_digest(values: Values, record: PlyRecord, path: Path) -> None:
    starts = range(0, values.shape[1], CHUNK_WORDS)
    digests = (digest_chunk(values[:, at : at + CHUNK_WORDS]) for at in starts)
    if plane_digest(digests) != record.sha256:
        raise ChecksumError(f"{path}: the values of ply {record.ply} do not have their digest")


def _read_record(file: hdf5.File, ply: int) -> PlyRecord:
    return hdf5.from_attributes(PlyRecord, file[ply_name(ply)].attrs, ply=ply)


def _read_header(file: hdf5.File, path: Path) -> Header:
    """The header; refuses by name what this program does not understand."""
    with reading(path):
        found = hdf5.root_attributes(file, path)
        if hdf5.attribute_text(found.get("index", b"")) == KEYED_INDEX:
            game, board = (hdf5.attribute_text(found[name]) for name in ("game", "board"))
            raise WrongBoardError(f"{path} holds {game} {board}, not Connect Four")
        version = int(found.get("format_version", 0))
        if version != VERSION:
            older = "; build the table again" if version < VERSION else ""
            raise FormatVersionError(
                f"{path} has format version {version}; this program reads version {VERSION}{older}"
            )
        hdf5.require_attributes(path, found, (field.name for field in fields(Header)))
        header = hdf5.from_attributes(Header, found)
    if (header.game, header.index, header.metric) != (Header.game, Header.index, Header.metric):
        raise FormatVersionError(
            f"{path} holds game {header.game!r}, index {header.index!r}, metric "
            f"{header.metric!r}: not known to this program"
        )
    return header
