"""The tasks of a build of sorted keys, with the parts that they read and leave.

    forward-07-00000-00312.part    (`alive`) keys of groups 0 to 311 of ply 7, counts of what ended
    backward-07-00000-00312.part   (`walk`) their values, counts of them

A task (`retro.walk.keys.task`) is fetched, walked and written. Keys of all plies are kept, values
of two. If a whole layer fits into memory beside the tasks, threads share it; else, and in processes
of this machine or of others, every task fetches what it reads.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retro.index.keys.groups import groups_of, make_grouping
from retro.index.keys.sorting import empty_keys
from retro.once import once
from retro.version import VERSION
from retro.walk.keys import layers as walks
from retro.walk.keys.task import (
    Ground,
    Limits,
    Piece,
    columns,
    first_state,
    make_view,
    walk_back,
    walk_forward,
)
from retro.walk.task import Task
from tablebase.building.partial import part_name
from tablebase.files.frames import BUILT, SHUFFLED
from tablebase.keys.store import board_of
from tablebase.units import counted

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from retro.index.keys.keys import Keys
    from retro.walk.keys.group_kernels import View
    from retro.walk.task import Walk
    from tablebase.building.partial import Partial
    from tablebase.keys.format import Header

    Counts = NDArray[np.int64]
    Values = NDArray[np.int8]

SHARES = re.compile(r" in (\d{1,6}) shares?$")
LAYERS_KNOWN = 4  # whose sizes are kept in memory
ENDS, KEYS, VALUES = 0, 1, 1  # the arrays of a part


class Cut(NamedTuple):
    """Into what layers are cut (`retro.index.keys.groups`)."""

    families: int
    shares: int  # of a family

    @property
    def groups(self) -> int:
        return self.families * self.shares

    @property
    def rule(self) -> str:
        """By which rule parts are cut and written: those of different rules do not go together.

        >>> Cut(2500, 1).rule.partition(", ")[2]
        '2500 families in 1 share'
        """
        shares = counted(self.shares, "share", "shares").replace(",", "")
        return f"retro-tablebase {VERSION}, {self.families} families in {shares}"

    def as_in(self, rule: str) -> Cut:
        """The same families, in as many shares as a rule says, if it says so."""
        found = SHARES.search(rule)
        return self._replace(shares=int(found[1])) if found else self


def task_key(words: int) -> int:
    """Bytes of a key in a task that makes it: itself, sorted, and slots."""
    return 16 * words + 40


class KeysTasks:
    """What the tasks of a table of sorted keys need, wherever they run; a `Store` of the walk."""

    def __init__(self, partial: Partial, header: Header, cut: Cut) -> None:
        self.partial, self.header, self.cut = partial, header, cut
        self._remember_nothing()

    def _remember_nothing(self) -> None:
        self._layers: dict[tuple[Walk, int], View] = {}
        self._known = lru_cache(LAYERS_KNOWN)(self._read_sizes)

    def __getstate__(self) -> dict[str, object]:
        return {"partial": self.partial, "header": self.header, "cut": self.cut}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._remember_nothing()

    @once
    def ground(self) -> Ground:
        board = board_of(self.header)
        grouping = make_grouping(board.rules, self.cut.shares)
        return Ground(board.rules, grouping, distances=bool(self.header.distances))

    def require_worker(self) -> None:
        """Refuse to work here by another rule or without the files."""
        families = make_grouping(board_of(self.header).rules).families
        self.partial.require_worker(Cut(families, self.cut.shares).rule)

    # Tasks.

    def do(self, task: Task) -> None:
        """Walk a task, write its part."""
        limits = self.limits(task)
        if task.walk == "walk":
            own = self.fetch(task._replace(walk="alive"))
            values, counts = walk_back(self.ground, task, own, self, limits)
            self._write(task, own, [values], counts)
        elif task.ply == self.header.first_ply:
            piece = self._first_piece(task)
            self._write(task, piece, piece.keys, np.zeros((2, 3), np.int64))
        else:
            a_state = self.a_state(task.ply - 1)
            piece, counts = walk_forward(self.ground, task, a_state, self, limits)
            self._write(task, piece, piece.keys, counts)

    def limits(self, task: Task) -> Limits:
        """What a task may take: as much for what it makes as for what it reads."""
        memory = max(1, task.memory)
        return Limits(max(1, memory // task_key(self.header.words)), memory)

    def _first_piece(self, task: Task) -> Piece:
        """The root alone, or nothing."""
        root = board_of(self.header).position(self.header.root)._state
        keys: Keys = walks.first_layer(walks.prepare(self.ground.rules, 1), root)
        group = int(groups_of(self.ground.grouping, keys)[0])
        is_here = task.first <= group < task.last
        ends = (np.arange(task.first, task.last) >= group).astype(np.int64) * is_here
        keys = keys if is_here else empty_keys(0, self.ground.rules.words)
        return Piece(keys, ends, np.empty(0, np.int8))

    def _write(self, task: Task, piece: Piece, arrays: Any, counts: Counts) -> None:
        state = first_state(piece.keys) if piece.keys.size else None
        with self.partial.write(part_name(task)) as part:
            for items in (piece.ends, *arrays):
                part.add(items, SHUFFLED if items.itemsize > 1 else BUILT)
            part.finish({"keys": piece.keys.size, "state": state, "counts": counts.tolist()})

    # What they read.

    def fetch(self, task: Task) -> Piece:
        """The keys of a task; `walk` with their values."""
        with self.partial.read_task(task._replace(walk="alive")) as part:
            keys = empty_keys(part.said["keys"], self.header.words)
            for number, words in enumerate(keys, KEYS):
                if len(words):
                    part.fill(number, words, SHUFFLED)
            ends = part.array(ENDS, "<i8", SHUFFLED)
        values = self.fetch_values(task) if task.walk == "walk" else np.empty(0, np.int8)
        return Piece(keys, ends, values)

    def fetch_values(self, task: Task) -> Values:
        with self.partial.read_task(task._replace(walk="walk")) as part:
            return part.array(VALUES, "i1")

    def pieces(self, ply: int) -> list[Task]:
        """The tasks that have left the keys of a finished layer; raises `LostGroupError`."""
        return self.partial.all_done(self.whole_task("alive", ply))

    def whole_task(self, walk: Walk, ply: int) -> Task:
        """All groups of a ply."""
        return Task(walk, ply, 0, self.cut.groups)

    def sizes(self, ply: int) -> NDArray[np.int64]:
        """How many keys each group of a finished layer has."""
        return self._known(ply)

    def _read_sizes(self, ply: int) -> NDArray[np.int64]:
        sizes = np.zeros(self.cut.groups, np.int64)
        for task in self.pieces(ply):
            with self.partial.read_task(task) as part:
                ends = part.array(ENDS, "<i8", SHUFFLED)
            sizes[task.first : task.last] = np.diff(ends, prepend=0)
        return sizes

    def total(self, walk: Walk, ply: int) -> Counts:
        """The counts of all parts of a ply; raises `LostGroupError`."""
        distances = walk == "walk" and bool(self.header.distances)
        found = np.zeros((2, 3, columns(distances=distances)), np.int64)
        for task in self.partial.all_done(self.whole_task(walk, ply)):
            with self.partial.read_task(task) as part:
                found += np.array(part.said["counts"], np.int64).reshape(found.shape)
        return found

    def a_state(self, ply: int) -> tuple[int, int]:
        """Any state of a layer that has one."""
        for task in self.pieces(ply):
            with self.partial.read_task(task) as part:
                if part.said["state"] is not None:
                    a, b = part.said["state"]
                    return a, b
        raise AssertionError(f"ply {ply} has no key")

    # Whole layers in memory, if there is room for them.

    def whole(self, walk: Walk, ply: int) -> View | None:
        return self._layers.get((walk, ply))

    def forget_layer(self) -> None:
        """No layer is kept in memory."""
        self._layers.clear()

    def load_layer(self, walk: Walk, ply: int, pool: Executor) -> None:
        """Keep one layer in memory for all threads, its parts unpacked side by side."""
        sizes = self.sizes(ply)
        ends = np.cumsum(sizes)
        keys = empty_keys(int(ends[-1]), self.header.words)
        values = np.empty(keys.size if walk == "walk" else 0, np.int8)

        def fill(task: Task) -> None:
            begin, end = int(ends[task.first] - sizes[task.first]), int(ends[task.last - 1])
            with self.partial.read_task(task) as part:
                for number, words in enumerate(keys.part(begin, end), KEYS):
                    if len(words):
                        part.fill(number, words, SHUFFLED)
            if walk == "walk":
                values[begin:end] = self.fetch_values(task)

        list(pool.map(fill, self.pieces(ply)))
        self._layers = {(walk, ply): make_view(keys, values, ends - sizes, ends)}
