"""Who works: a task with its files around it, and the threads or processes that run tasks.

    fetch, mirror, walk, count, blank     `retro.walk.task`: pure
    write the groups                      so that the next layer can read them
    pack chunks, write them               as the table will have them
    commit                                the tally, last of all

Running a task twice, or two at once, is harmless: each writes the same bytes under
names of its own, and renames them when they are whole.
"""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from retro.index.halves.layout import make_layout
from retro.walk.halves.layer import Own, Room, Rooms, View
from retro.walk.halves.layers import Layer, Layers
from retro.walk.halves.prepared import Prepared, prepare_layout
from retro.walk.halves.task import (
    Place,
    Stretch,
    count_task,
    is_first_layer,
    is_mirrored,
    kept_groups,
    task_groups,
    walk_alone,
    walk_task,
)
from retro.walk.task import Tally, Task
from tablebase.files.packing import ChunkJoiner, pack_chunk, pack_group
from tablebase.halves.format import CHUNK_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from retro.walk.halves.layer import Group
    from tablebase.halves.format import Header
    from tablebase.halves.groups import GroupStore, TaskWriter
    from tablebase.halves.partial import PartialTable

    Words = NDArray[np.uint64]

Result = TypeVar("Result")


@dataclass(frozen=True)
class Site:
    """What every task of a build needs."""

    prepared: Prepared
    store: GroupStore


def do_task(site: Site, task: Task, room: Room, place: Place | None = None) -> Tally:
    """Walk a task, write what it leaves, commit it."""
    if place is None:
        own = walk_alone(site.prepared, task, site.store.fetch, room)
    else:
        own = place.own
        walk_task(site.prepared, task, place, room)
    _write_groups(site, task, own)
    tally = Tally()
    writer = site.store.begin(task)
    try:
        if not is_mirrored(site.prepared, task):
            tally = count_task(site.prepared, task, own, room)
            if task.ply in site.store.header.plies:
                _write_chunks(site, task, own, room, writer)
        site.store.commit(task, writer, tally)
    except BaseException:
        writer.discard()
        raise
    return tally


def remake_groups(site: Site, task: Task, room: Room) -> None:
    """Walk a task again and write its groups only: they were lost, its part was not."""
    own = walk_alone(site.prepared, task, site.store.fetch, room)
    _write_groups(site, task, own)


def _write_groups(site: Site, task: Task, own: Own) -> None:
    if site.store.keeps_values:
        for group in task_groups(site.prepared, task):
            site.store.write_group(task.ply, group, _planes(own, group))


def _planes(own: Own, group: Group) -> Words:
    return own.values[:, group.begin - own.origin : group.end - own.origin]


def _write_chunks(site: Site, task: Task, own: Own, room: Room, writer: TaskWriter) -> None:
    """Pack the values of a task as the table will have them."""
    header, prepared = site.store.header, site.prepared
    words = int(prepared.layout.stored_words[task.ply])
    joiner = ChunkJoiner(words)
    blanked = task.ply < header.last_ply or not header.last_is_whole
    for begin, planes in kept_groups(prepared, task, own, room, blanked=blanked):
        chunks, fragments = pack_group(begin, planes)
        joined = joiner.add(fragments)
        chunks += [pack_chunk(*chunk, min(CHUNK_WORDS, words)) for chunk in joined]
        writer.add(chunks)
    writer.add_fragments(joiner.rest())


class Crew(Protocol):
    """Workers that run tasks, layer after layer."""

    def start(self, layer: Task, workers: int, done: Sequence[Task]) -> None:
        """A layer begins, of which some tasks were done before. May raise `LostGroupError`."""
        ...

    def submit(self, task: Task) -> Future[Tally]:
        """Run a task of this layer."""
        ...

    def remake(self, task: Task) -> Future[None]:
        """Make groups of any layer again."""
        ...

    def close(self) -> None:
        """Finish what runs, begin nothing else."""
        ...


class Threads:
    """Threads of this process. With a warm cache the last layer stays in memory, for all."""

    def __init__(self, site: Site, threads: int, *, warm: bool) -> None:
        self._site = site
        self._pool: Executor = ThreadPoolExecutor(threads)
        self._rooms, self._workers = Rooms(), threads
        self._warm = warm
        self._layers: Layers | None = None
        self._here: Layer | None = None
        self._view: View | None = None

    def start(self, layer: Task, workers: int, done: Sequence[Task]) -> None:
        if workers != self._workers:  # other tasks of another size: no memory is kept
            self._workers, self._rooms = workers, Rooms()
        if not self._warm:
            return
        ply = layer.ply
        if self._layers is None:
            self._layers = Layers(self._site.prepared, self._rooms)
        there, view = self._here, None
        if not is_first_layer(self._site.prepared, layer):
            if there is None or there.ply != ply + 1:
                there = self._layers.new(ply + 1)
                self._load(there, there.groups)
            view = self._layers.view(self._pool, there)
        self._here, self._view = None, None
        here = self._layers.new(ply)
        for member in done:
            self._load(here, here.groups[member.first : member.last])
        self._here, self._view = here, view

    def _load(self, layer: Layer, groups: Sequence[Group]) -> None:
        def fetch(group: Group) -> None:
            whole = [Stretch(group.begin, group.end, group.begin)]
            self._site.store.fetch(layer.ply, group, whole, layer.values)

        list(self._pool.map(fetch, groups))

    def submit(self, task: Task) -> Future[Tally]:
        place = None
        if self._warm:
            assert self._here is not None
            place = Place(Own(self._here.values, 0), self._view)

        def run() -> Tally:
            with self._rooms.one() as room:
                return do_task(self._site, task, room, place)

        return self._pool.submit(run)

    def remake(self, task: Task) -> Future[None]:
        def run() -> None:
            with self._rooms.one() as room:
                remake_groups(self._site, task, room)

        return self._pool.submit(run)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


class Elsewhere:
    """Processes of this machine or of others, each with its own lists and its own memory."""

    def __init__(self, store: PartialTable, pool: Executor) -> None:
        self._store, self._pool = store, pool

    def start(self, layer: Task, workers: int, done: Sequence[Task]) -> None:
        pass

    def submit(self, task: Task) -> Future[Tally]:
        return self._pool.submit(_at_desk, self._store, do_task, task)

    def remake(self, task: Task) -> Future[None]:
        return self._pool.submit(_at_desk, self._store, remake_groups, task)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


def prepare_header(header: Header, threads: int | None = None) -> Prepared:
    """Make the board of a table ready to walk."""
    root = header.root_position if header.root else None
    layout = make_layout(header.board, header.left_columns, root, listed=False)
    return prepare_layout(layout, threads, distances=bool(header.distances))


class _Desk(NamedTuple):
    """What a process has ready for the tasks of one table."""

    store: PartialTable
    site: Site
    rooms: Rooms


_desks: list[_Desk] = []  # of this process: none, or that of the table it works on
_making_desk = threading.Lock()


def _at_desk(store: PartialTable, work: Callable[[Site, Task, Room], Result], task: Task) -> Result:
    """Do some work in a process that may know nothing of the table yet."""
    with _making_desk:  # lists are made once, not by every thread
        if not _desks or _desks[0].store != store:
            store.require_worker()
            _desks.clear()
            _desks.append(_Desk(store, Site(prepare_header(store.header, 1), store), Rooms()))
        desk = _desks[0]
    with desk.rooms.one() as room:
        return work(desk.site, task, room)
