"""The pieces of a table of sorted keys being built, in a folder beside its place.

    tables/mnk-4x4-connect4.h5.partial/
        table.txt                       which table, by which rule it is cut (`files.begun`)
        alive-07-00000-00312.piece      walking forward: the keys of groups 0 to 311 of ply 7
        walk-07-00000-00312.piece       walking back: their values
        ply-07.h5                       a finished ply, sorted and packed as the table will have it
    tables/mnk-4x4-connect4.h5          at the end joined, synced, renamed

A piece is one zstd frame with a checksum: a head of counts, where its groups end, keys or
values. Each is written aside under a name that no other writer has and renamed, so it is whole
or not there, and its name is the mark that its task is done. Keys of all plies are kept,
values of two: what is lost or damaged is named by `LostGroupError` and can be made again from
what it came from.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.errors import ChecksumError, LostGroupError, StorageError
from retro.index.keys.groups import make_grouping
from retro.index.keys.sorting import empty_keys
from retro.version import VERSION
from retro.walk.keys.task import Piece, columns, first_state
from retro.walk.task import Task
from tablebase.files.atomic import parts_folder, storage_errors, whole_file
from tablebase.files.begun import Begun, rule_there
from tablebase.files.opening import says_nothing
from tablebase.files.seal import ply_name
from tablebase.keys.frames import PieceReader, pack_pieces
from tablebase.keys.store import board_of
from tablebase.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from retro.index.keys.keys import Keys
    from retro.walk.keys.group_kernels import View
    from retro.walk.task import Walk
    from tablebase.keys.format import Header

    Counts = NDArray[np.int64]

NAME = re.compile(r"(alive|walk)-(\d+)-(\d+)-(\d+)\.piece")
SHARES = re.compile(r" in (\d{1,6}) shares?$")
LAYERS_KNOWN = 4  # whose sizes are kept in memory


class Head(NamedTuple):
    """What a piece says of itself; `alive` counts finished games, `walk` the live ones by value."""

    keys: int
    counts: Counts  # [canonical or every, loss / draw / win, plies to the end]
    state: tuple[int, int]  # its first key, if it has one

    @property
    def words(self) -> NDArray[np.uint64]:
        return np.array([self.keys, *self.state, *self.counts.ravel()], np.uint64)


HEAD_WORDS = 4  # before the counts, with the mark of the table


class Cut(NamedTuple):
    """Into what layers are cut (`retro.index.keys.groups`)."""

    families: int
    shares: int  # of a family

    @property
    def groups(self) -> int:
        return self.families * self.shares

    @property
    def rule(self) -> str:
        """By which rule pieces are cut and written: those of different rules do not go together.

        >>> Cut(2500, 1).rule.partition(", ")[2]
        '2500 families in 1 share'
        """
        shares = counted(self.shares, "share", "shares").replace(",", "")
        return f"retro-tablebase {VERSION}, {self.families} families in {shares}"


class PieceStore:
    """Pieces in files. Holds no open file between calls; can be sent to other processes."""

    def __init__(self, path: Path, header: Header, cut: Cut, beside: Path | None = None) -> None:
        self.path, self.header, self.cut = path, header, cut
        self.beside = beside or path
        self.folder = parts_folder(self.beside).absolute()  # workers may be anywhere
        self.rule = cut.rule  # of whoever plans: workers have theirs
        self._remember_nothing()

    def _remember_nothing(self) -> None:
        self._layers: dict[tuple[Walk, int], View] = {}
        self._known = lru_cache(LAYERS_KNOWN)(self._read_sizes)

    @property
    def groups(self) -> int:
        return self.cut.groups

    def __getstate__(self) -> dict[str, object]:
        return {name: it for name, it in vars(self).items() if name not in ("_layers", "_known")}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._remember_nothing()

    def __eq__(self, other: object) -> bool:
        """Whether both are the same build; a worker gets a new object with every task."""
        return isinstance(other, PieceStore) and self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash(self.folder)

    # Pieces.

    def place(self, task: Task) -> Path:
        return self.folder / f"{task.walk}-{task.ply:02d}-{task.first:05d}-{task.last:05d}.piece"

    def write(self, task: Task, piece: Piece, counts: Counts) -> None:
        """Keep what a task has made: keys while walking forward, else values."""
        state = first_state(piece.keys) if piece.keys.size else (0, 0)
        head = np.append(self._mark(task), Head(piece.keys.size, counts, state).words)
        arrays = [head, piece.ends.astype(np.uint64)]
        if task.walk == "alive":
            arrays += piece.keys
        else:
            arrays.append(_as_words(piece.values))
        path = self.place(task)
        with (
            storage_errors(self.folder),
            whole_file(path, synced=False, alone=False) as aside,
            aside.open("wb") as file,
        ):
            pack_pieces(file, arrays)

    def fetch(self, task: Task) -> Piece:
        """A piece; `walk` with its values."""
        keys = self._keys(task._replace(walk="alive"))
        if task.walk == "alive":
            return keys
        with self._reader(task) as reader:
            head, ends = self._open(task, reader)
            words = np.empty(-(-head.keys // 8), np.uint64)
            reader.fill(words)
            reader.end()
        if head.keys != keys.keys.size or not np.array_equal(ends, keys.ends):
            raise self._lost(task, "it belongs to other keys")
        return keys._replace(values=words.view(np.int8)[: head.keys])

    def _keys(self, task: Task) -> Piece:
        with self._reader(task) as reader:
            head, ends = self._open(task, reader)
            keys = empty_keys(head.keys, self.header.words)
            for words in keys:
                reader.fill(words)
            reader.end()
        return Piece(keys, ends, np.empty(0, np.int8))

    def fill(self, task: Task, keys: Keys, values: NDArray[np.int8]) -> None:
        """Unpack a piece right where its keys (and values, if walking back) belong; in place."""
        there = task._replace(walk="alive")
        with self._reader(there) as reader:
            self._open(there, reader)
            for words in keys:
                reader.fill(words)
            reader.end()
        if task.walk == "walk":
            values[:] = self.fetch_values(task)

    def fetch_values(self, task: Task) -> NDArray[np.int8]:
        with self._reader(task) as reader:
            head, _ = self._open(task, reader)
            words = np.empty(-(-head.keys // 8), np.uint64)
            reader.fill(words)
            reader.end()
        return words.view(np.int8)[: head.keys]

    def _reader(self, task: Task) -> _Reading:
        return _Reading(self, task)

    def _open(self, task: Task, reader: PieceReader) -> tuple[Head, NDArray[np.int64]]:
        """Read the head of a piece and where its groups end."""
        counts = self._no_counts(task.walk)
        words = np.empty(HEAD_WORDS + counts.size, np.uint64)
        reader.fill(words)
        if words[0] != self._mark(task):
            raise ChecksumError("it is another piece, or of another table")
        counts += words[HEAD_WORDS:].astype(np.int64).reshape(counts.shape)
        ends = np.empty(task.last - task.first, np.uint64)
        reader.fill(ends)
        found = ends.astype(np.int64)
        keys = int(words[1])
        if keys != (found[-1] if len(found) else 0) or (np.diff(found, prepend=0) < 0).any():
            raise ChecksumError("its counts contradict each other")
        return Head(keys, counts, (int(words[2]), int(words[3]))), found

    def _mark(self, task: Task) -> np.uint64:
        """A number that tells a piece from all others, of this table and of others."""
        name = f"{self.place(task).name} of {self.groups} {self.header!r}"
        content = hashlib.sha256(name.encode()).digest()
        return np.uint64(int.from_bytes(content[:8], "little"))

    def _no_counts(self, walk: Walk) -> Counts:
        """All zero; only what is walked back with distances is counted by them."""
        distances = walk == "walk" and bool(self.header.distances)
        return np.zeros((2, 3, columns(distances=distances)), np.int64)

    def _lost(self, task: Task, why: str) -> LostGroupError:
        path = self.place(task)
        path.unlink(missing_ok=True)
        return LostGroupError(f"{path} is damaged or missing: {why}", *task[:3])

    # Layers.

    def pieces(self, ply: int) -> list[Task]:
        """The pieces of keys of a finished layer, in order; raises `LostGroupError`."""
        return self._all("alive", ply)

    def _all(self, walk: Walk, ply: int) -> list[Task]:
        """The pieces of a finished ply, by one look: another process may remove a damaged one."""
        there = self._there(walk, ply)
        gaps = self._gaps(walk, ply, there)
        if gaps:
            raise self._lost(gaps[0], "no such file")
        return there

    def _there(self, walk: Walk, ply: int) -> list[Task]:
        """The pieces of a ply that are there, in order; no group is in two of them."""
        names = (
            NAME.fullmatch(path.name) for path in self.folder.glob(f"{walk}-{ply:02d}-*.piece")
        )
        found = [Task(walk, ply, int(name[3]), int(name[4])) for name in names if name]
        found.sort(key=lambda task: (task.first, -task.last))
        kept: list[Task] = []
        for task in found:
            if not kept or task.first >= kept[-1].last:
                kept.append(task)
        return kept

    def missing(self, walk: Walk, ply: int) -> list[Task]:
        """The stretches of groups of a ply that no task has done yet."""
        return self._gaps(walk, ply, self._there(walk, ply))

    def _gaps(self, walk: Walk, ply: int, there: list[Task]) -> list[Task]:
        gaps, at = [], 0
        for task in there:
            gaps.append(Task(walk, ply, at, task.first))
            at = task.last
        gaps.append(Task(walk, ply, at, self.groups))
        return [gap for gap in gaps if gap.first < gap.last]

    def has_values(self, task: Task) -> bool:
        return self.place(task._replace(walk="walk")).exists()

    def sizes(self, ply: int) -> NDArray[np.int64]:
        """How many keys each group of a finished layer has."""
        return self._known(ply)

    def _read_sizes(self, ply: int) -> NDArray[np.int64]:
        sizes = np.zeros(self.groups, np.int64)
        for task in self.pieces(ply):
            with self._reader(task) as reader:
                _, ends = self._open(task, reader)
            sizes[task.first : task.last] = np.diff(ends, prepend=0)
        return sizes

    def head(self, task: Task) -> Head:
        with self._reader(task) as reader:
            return self._open(task, reader)[0]

    def total(self, walk: Walk, ply: int) -> Counts:
        """The counts of all pieces of a ply; raises `LostGroupError`."""
        return sum((self.head(t).counts for t in self._all(walk, ply)), self._no_counts(walk))

    def a_state(self, ply: int) -> tuple[int, int]:
        """Any state of a layer that has one."""
        return next(head.state for head in map(self.head, self.pieces(ply)) if head.keys)

    def check(self, walk: Walk, ply: int) -> list[str]:
        """Remove the pieces of a ply that are not whole; returns what was wrong with each."""
        wrong = []
        for task in self._there(walk, ply):
            try:
                self.fetch_values(task) if walk == "walk" else self._keys(task)
            except LostGroupError as error:
                wrong.append(str(error))  # it is removed
        return wrong

    def forget(self, walk: Walk, plies: Iterable[int]) -> None:
        """These pieces are not read any more."""
        for ply in plies:
            for path in self.folder.glob(f"{walk}-{ply:02d}-*.piece"):
                path.unlink(missing_ok=True)

    # Whole layers in memory, if there is room for them.

    def whole(self, walk: Walk, ply: int) -> View | None:
        return self._layers.get((walk, ply))

    def keep(self, walk: Walk, ply: int, view: View | None) -> None:
        """Keep one layer in memory for all threads, or none."""
        self._layers.clear()
        if view is not None:
            self._layers[walk, ply] = view

    # The folder.

    def ply_part(self, ply: int) -> Path:
        return self.folder / f"{ply_name(ply)}.h5"

    @property
    def _begun(self) -> Begun:
        return Begun(self.folder, self.rule, repr(self.header))

    def open(self) -> str:
        """Make the folder, or throw away what a build with other options has left in it: why."""
        return self._begun.open()

    def has_files(self) -> bool:
        """Whether an earlier run has left anything."""
        return self._begun.has_files()

    def require_worker(self) -> None:
        """Refuse to work here by another rule or without the files."""
        families = make_grouping(board_of(self.header).rules).families
        self._begun.require_worker(Cut(families, self.cut.shares).rule)

    def discard(self) -> None:
        self._begun.discard()


class _Reading:
    """Reads one piece; whatever is wrong with it makes it lost."""

    def __init__(self, store: PieceStore, task: Task) -> None:
        self._store, self._task = store, task

    def __enter__(self) -> PieceReader:
        path = self._store.place(self._task)
        try:
            self._file = path.open("rb")
        except OSError as error:
            self._name(error)
            raise
        return PieceReader(self._file, str(path))

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._file.close()
        self._name(error)

    def _name(self, error: BaseException | None) -> None:
        """Raise what an error means; nothing if it is none of reading."""
        if says_nothing(error):
            path = self._store.place(self._task)
            raise StorageError(f"cannot read {path}: {error.strerror}") from error
        if isinstance(error, (ChecksumError, OSError, ValueError, OverflowError)):
            why = (isinstance(error, OSError) and error.strerror) or str(error)
            raise self._store._lost(self._task, why) from None


def shares_there(path: Path) -> int | None:
    """Into how many shares an earlier run has cut the families of a table; parts are beside it."""
    found = SHARES.search(rule_there(parts_folder(path)))
    return int(found[1]) if found else None


def _as_words(values: NDArray[np.int8]) -> NDArray[np.uint64]:
    padded = np.zeros(-(-len(values) // 8) * 8, np.int8)
    padded[: len(values)] = values
    return padded.view(np.uint64)
