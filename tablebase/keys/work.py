"""The tasks of a build of sorted keys with files around them, and who runs them.

A task (`retro.walk.keys.task`) is fetched, walked, written and committed by its name. Threads
share the layer that is kept in memory, if one is; processes, of this machine or of a cluster, read
what they need from files.

    driver   cuts layers, sorts and packs finished plies, mends        `build`
    crew     Threads | Elsewhere: local processes, or the workers of a `tablebase.plans.Pool`
"""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from retro.index.keys.groups import groups_of, make_grouping
from retro.index.keys.sorting import empty_keys
from retro.walk.keys import layers as walks
from retro.walk.keys.task import Ground, Limits, Piece, make_view, walk_back, walk_forward
from tablebase.keys.store import board_of

if TYPE_CHECKING:
    from retro.index.keys.keys import Keys
    from retro.walk.keys.group_kernels import View
    from retro.walk.task import Task, Walk
    from tablebase.keys.pieces import PieceStore


@dataclass(frozen=True)
class Site:
    """What every task of a build needs."""

    ground: Ground
    root: tuple[int, int]
    store: PieceStore


def make_site(store: PieceStore) -> Site:
    """The site of a table."""
    header = store.header
    board = board_of(header)
    grouping = make_grouping(board.rules, store.cut.shares)
    ground = Ground(board.rules, grouping, distances=bool(header.distances))
    return Site(ground, board.position(header.root).state, store)


def do_task(site: Site, task: Task, limits: Limits) -> None:
    """Walk a task, write its piece, which commits it."""
    store = site.store
    if task.walk == "walk":
        own = store.fetch(task._replace(walk="alive"))
        values, counts = walk_back(site.ground, task, own, store, limits)
        store.write(task, own._replace(values=values), counts)
    elif task.ply == store.header.first_ply:
        store.write(task, _first_piece(site, task), np.zeros((2, 3), np.int64))
    else:
        a_state = store.a_state(task.ply - 1)
        store.write(task, *walk_forward(site.ground, task, a_state, store, limits))


def _first_piece(site: Site, task: Task) -> Piece:
    """The root alone, or nothing."""
    ground = site.ground
    keys: Keys = walks.first_layer(walks.prepare(ground.rules, 1), site.root)
    group = int(groups_of(ground.grouping, keys)[0])
    is_here = task.first <= group < task.last
    ends = (np.arange(task.first, task.last) >= group).astype(np.int64) * is_here
    keys = keys if is_here else empty_keys(0, ground.rules.words)
    return Piece(keys, ends, np.empty(0, np.int8))


class Crew(Protocol):
    """Workers that run tasks."""

    pool: ThreadPoolExecutor  # for what is shared with the driver
    shares_memory: bool

    def submit(self, task: Task, limits: Limits) -> Future[None]: ...
    def close(self) -> None: ...


class Threads:
    """Threads of this process."""

    shares_memory = True

    def __init__(self, site: Site, threads: int) -> None:
        self._site, self.pool = site, ThreadPoolExecutor(threads)

    def submit(self, task: Task, limits: Limits) -> Future[None]:
        return self.pool.submit(do_task, self._site, task, limits)

    def close(self) -> None:
        self.pool.shutdown(wait=True, cancel_futures=True)


class Elsewhere:
    """Processes of this machine or of others, each with its own memory."""

    shares_memory = False

    def __init__(self, store: PieceStore, workers: Executor, threads: int) -> None:
        self._store, self._workers = store, workers
        self.pool = ThreadPoolExecutor(threads)

    def submit(self, task: Task, limits: Limits) -> Future[None]:
        return self._workers.submit(_at_desk, self._store, task, limits)

    def close(self) -> None:
        self._workers.shutdown(wait=True, cancel_futures=True)
        self.pool.shutdown(wait=True, cancel_futures=True)


_desks: list[Site] = []  # of this process: none, or that of the table it works on
_making_desk = threading.Lock()


def _at_desk(store: PieceStore, task: Task, limits: Limits) -> None:
    """Do a task in a process that may know nothing of the table yet."""
    with _making_desk:  # once, not by every thread
        if not _desks or _desks[0].store != store:
            store.require_worker()
            _desks[:] = [make_site(store)]
        site = _desks[0]
    do_task(site, task, limits)


class _Place(NamedTuple):
    task: Task
    begin: int
    end: int


def load_layer(site: Site, walk: Walk, ply: int, pool: Executor) -> View:
    """A whole layer in memory, its pieces unpacked side by side."""
    store = site.store
    sizes = store.sizes(ply)
    ends = np.cumsum(sizes)
    total = int(ends[-1])
    keys = empty_keys(total, site.ground.rules.words)
    values = np.empty(total if walk == "walk" else 0, np.int8)
    places = []
    for task in store.pieces(ply):
        begin = int(ends[task.first - 1]) if task.first else 0
        places.append(_Place(task._replace(walk=walk), begin, int(ends[task.last - 1])))

    def fill(place: _Place) -> None:
        task, begin, end = place
        store.fill(task, keys.part(begin, end), values[begin:end])

    list(pool.map(fill, places))
    return make_view(keys, values, ends - sizes, ends)
