"""Building tables of sorted keys: one loop over plies and tasks, on any executor.

    forward    keys of every ply, piece by piece (`retro.walk.keys.task`)
    backward   values of every piece; then the ply is sorted by key and packed (`join`)
    join       the plies become the finished file

A ply is cut into tasks that fit the memory of a worker. How many keys a group will have is only
guessed from those before it (`cutting`); a task that finds more gives up, and its groups go to two
smaller ones. If a whole layer fits into memory beside the tasks, threads share it; else every task
fetches what it reads from files.

A task that finds a piece damaged or missing names it; it is made again from what it came from,
however far that goes, and the task is run once more. Whatever stops a build, the same
call goes on after the last piece, with any memory, threads, processes or a cluster. Same bytes
from all.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, defaultdict, deque
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from retro.cores import available_cores
from retro.errors import (
    BadTextError,
    ChecksumError,
    DamagedFileError,
    DoesNotFitError,
    LostGroupError,
)
from retro.walk.keys.layers import counts_of, distances_of
from retro.walk.keys.task import Limits, TooManyKeysError
from tablebase.keys.cutting import cut_layer, halves_of
from tablebase.keys.join import check_ply, join_table, write_ply
from tablebase.keys.pieces import PieceStore, shares_there
from tablebase.keys.plan import Detail, Room, require_reached
from tablebase.keys.work import Elsewhere, Threads, load_layer, make_site
from tablebase.plans import Progress, local_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from retro.walk.task import Task, Walk
    from tablebase.keys.format import PlyRecord
    from tablebase.keys.work import Crew, Site
    from tablebase.plans import Order, Plan

Result = TypeVar("Result")
Phase = Literal["forward", "backward"]
Lost = Counter[tuple[str, int, int]]  # how often a reader has missed a piece
PHASES: dict[Walk, Phase] = {"alive": "forward", "walk": "backward"}
SECONDS_FOR_MARKS = 90  # network file systems show new files after a minute at most
TIMES_MADE_AGAIN = 3  # a piece that is lost more often is lost for good


def run(plan: Plan, path: Path, order: Order) -> None:
    """Build the table at a path, going on from what an earlier run has left there."""
    detail = plan.detail
    assert isinstance(detail, Detail)
    header, beside = detail.header, order.parts or path
    cut, shares = detail.cut, shares_there(beside)
    if shares is not None and not order.force:
        cut = cut._replace(shares=shares)
    store = PieceStore(path, header, cut, beside)
    if order.force:
        store.discard()
    is_restart = store.has_files()
    why = store.open()
    if why:
        order.restart.starts_over(why)
    site = make_site(store)
    with contextlib.closing(_crew(detail, site, order)) as crew:
        build = _Build(plan, site, crew, order)
        if is_restart and not why:
            build.go_on()
        last_ply = build.forward()
        try:
            require_reached(header, last_ply)
        except BadTextError:
            store.discard()  # of no use to anybody
            raise
        value, records = build.backward(last_ply)
    join_table(store, value, records)


def _crew(detail: Detail, site: Site, order: Order) -> Crew:
    """Who works, as the plan has it."""
    workers = detail.room.workers
    if order.pool is not None and detail.hire is not None:
        order.pool.employ(site.store.require_worker, **detail.hire._asdict())
        return Elsewhere(site.store, order.pool, available_cores())
    if detail.processes:
        return Elsewhere(site.store, local_processes(workers), workers)
    return Threads(site, workers)


class _Progress:
    """Counts the positions of both walks; on a cluster the tasks of a ply, too."""

    def __init__(self, walked: int, report: Callable[[Progress], None]) -> None:
        self._total, self._report = 2 * walked, report
        self._done = self._resumed = 0

    def resumed(self, positions: int) -> None:
        """So many were done by an earlier run."""
        self._done += positions
        self._resumed += positions

    def tell(self, phase: Phase, ply: int, positions: int) -> None:
        self._done += positions
        self._report(self._now(phase, ply))

    def tell_tasks(self, phase: Phase, ply: int, tasks: tuple[int, int], workers: int) -> None:
        """So many tasks of a ply are committed, of so many."""
        self._report(self._now(phase, ply)._replace(tasks=tasks, workers=workers))

    def _now(self, phase: Phase, ply: int) -> Progress:
        total = max(self._total, self._done)  # a forecast may be too low
        return Progress(phase, ply, self._done, total, self._resumed)


class _Build:
    """One run of a build."""

    def __init__(self, plan: Plan, site: Site, crew: Crew, order: Order) -> None:
        assert isinstance(plan.detail, Detail)
        self._site, self._crew, self._store = site, crew, site.store
        self._expected = plan.detail.layers
        self._room: Room = plan.detail.room
        self._end = plan.root.board.last_ply  # on which draws end
        self._progress = _Progress(plan.detail.walked, order.report)
        self._pool = order.pool
        self._restart = order.restart

    # The two walks.

    def go_on(self) -> None:
        """Look at what an earlier run has left, and remove what is not whole."""
        store, plies = self._store, self._plies_there()
        finished = sum(store.ply_part(ply).exists() for ply in plies)
        known = "1 ply" if len(plies) == 1 else f"{len(plies)} plies"
        self._restart.goes_on(f"keys of {known} are there, {finished} are finished")
        for ply in plies:
            for wrong in store.check("alive", ply):
                self._restart.mends(wrong)

    def forward(self) -> int:
        """Walk forward from where the pieces end; returns the last ply, which has no key."""
        store, ply = self._store, self._store.header.first_ply
        while True:
            todo = store.missing("alive", ply)
            if todo:
                self._walk("alive", ply, todo)
            keys = int(self._insist(partial(store.sizes, ply)).sum())
            if todo:
                self._progress.tell("forward", ply, keys)
            else:
                self._progress.resumed(keys)
            if keys == 0:
                store.keep("alive", ply, None)
                return ply
            ply += 1

    def _plies_there(self) -> list[int]:
        """The plies of which an earlier run has left keys."""
        ply = self._store.header.first_ply
        found = []
        while len(self._store.missing("alive", ply)) != 1 or self._has_some(ply):
            found.append(ply)
            ply += 1
        return found

    def _has_some(self, ply: int) -> bool:
        (gap,) = self._store.missing("alive", ply)
        return (gap.first, gap.last) != (0, self._store.groups)

    def backward(self, last_ply: int) -> tuple[int, list[PlyRecord]]:
        """Walk back, using plies that are finished; the value of the root, the records of all."""
        store, records = self._store, []
        first_ply = store.header.first_ply
        is_resumed = True
        for ply in range(last_ply, first_ply - 1, -1):
            record = self._finished(ply) if is_resumed else None
            is_resumed = record is not None
            if record is None:
                todo = [t for t in store.pieces(ply) if not store.has_values(t)]
                self._walk("walk", ply, [task._replace(walk="walk") for task in todo])
                store.keep("walk", ply, None)
                record = self._insist(partial(self._finish, ply))
                store.forget("walk", [ply + 2])
            records.append(record)
            self._progress.tell("backward", ply, record.keys)
        root = self._insist(lambda: self._root_value(first_ply))
        return root, records[::-1]

    def _root_value(self, ply: int) -> int:
        pieces = [t._replace(walk="walk") for t in self._store.pieces(ply)]
        (value,) = np.concatenate([self._store.fetch_values(task) for task in pieces])
        return int(np.sign(value))  # it may be a score

    def _finished(self, ply: int) -> PlyRecord | None:
        """The record of a ply that an earlier run has finished."""
        if self._store.ply_part(ply).exists():
            try:
                return check_ply(self._store, ply)
            except DamagedFileError as error:
                self._restart.mends(str(error))
        return None

    def _finish(self, ply: int) -> PlyRecord:
        store = self._store
        if not store.header.keeps(ply):  # then nobody else reads them to their ends
            store.check("alive", ply)
            store.check("walk", ply)
        live, ended = store.total("walk", ply), store.total("alive", ply).sum(axis=2)
        counts = counts_of(ply, live.sum(axis=2), ended)
        ends = distances_of(live[1], ended, self._end - ply) if store.header.distances else None
        most = self._room.stretch(store.header.words)
        return write_ply(store, counts, ends, self._crew.pool, most)

    # Tasks.

    def _walk(self, walk: Walk, ply: int, todo: Sequence[Task]) -> None:
        """Run the tasks of a layer, and those that mend what they miss."""
        keeps = self._insist(lambda: self._keep_layer(walk, ply))
        tasks: deque[tuple[Task, Limits]] = deque()
        for gap in todo:
            tasks += self._insist(partial(self._cut, gap, keeps=keeps))
        lost: dict[Task, Lost] = defaultdict(Counter)
        running: dict[Future[None], tuple[Task, Limits]] = {}
        committed = 0
        while tasks or running:
            while tasks and len(running) < self._most_at_once():
                task, limits = tasks.popleft()
                running[self._crew.submit(task, limits)] = task, limits
            ready, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                task, limits = running.pop(future)
                try:
                    future.result()
                    committed += 1
                except TooManyKeysError as error:
                    tasks.extendleft((part, limits) for part in self._smaller(task, error))
                except LostGroupError as error:
                    self._mend(error, lost[task])
                    tasks.append((task, limits))
            if self._pool is not None:
                number = committed, committed + len(tasks) + len(running)
                self._progress.tell_tasks(PHASES[walk], ply, number, self._pool.workers)
        if self._pool is not None:
            self._await_marks(walk, ply)

    def _most_at_once(self) -> int:
        """Workers of a pool come and go; each has a next task at hand."""
        return self._room.workers if self._pool is None else max(1, 2 * self._pool.places)

    def _await_marks(self, walk: Walk, ply: int) -> None:
        """Wait until all pieces are seen: a disk that others write may be slow.

        What is not seen then is lost, and made again by whoever misses it.
        """
        for _ in range(SECONDS_FOR_MARKS):
            if not self._store.missing(walk, ply):
                return
            time.sleep(1)

    def _keep_layer(self, walk: Walk, ply: int) -> bool:
        """Have the layer that is read in memory, if there is room for it."""
        there = ply - 1 if walk == "alive" else ply + 1
        store = self._store
        if store.whole(walk, there) is not None:
            return True
        store.keep(walk, there, None)
        is_edge = walk == "alive" and ply == store.header.first_ply
        if is_edge or not self._crew.shares_memory or not store.folder.exists():
            return False
        if walk == "walk" and not list(store.folder.glob(f"alive-{there:02d}-*")):
            return False
        keys = int(store.sizes(there).sum())
        if not self._room.keeps(walk, store.header.words, keys):
            return False
        store.keep(walk, there, load_layer(self._site, walk, there, self._crew.pool))
        return True

    def _cut(self, gap: Task, *, keeps: bool) -> list[tuple[Task, Limits]]:
        """Cut groups that are to be walked into tasks."""
        store = self._store
        read = 0
        if keeps:
            there = gap.ply - 1 if gap.walk == "alive" else gap.ply + 1
            read = self._room.layer(gap.walk, store.header.words, int(store.sizes(there).sum()))
        limits = self._room.limits(store.header.words, read)
        if gap.walk == "walk" or gap.ply == store.header.first_ply:
            return [(gap, limits)]
        expected = self._expected.get(gap.ply)
        tasks = cut_layer(self._site.ground, store, gap, expected, limits, self._room.workers)
        return [(task, limits) for task in tasks]

    def _smaller(self, task: Task, error: TooManyKeysError) -> list[Task]:
        if task.last - task.first == 1:
            raise DoesNotFitError(
                f"the table {self._store.path.stem} does not fit: {error}; "
                f"what is finished is kept in {self._store.folder}"
            )
        return halves_of(task)

    def _run(self, task: Task, limits: Limits) -> None:
        self._crew.submit(task, limits).result()

    # What is lost.

    def _insist(self, action: Callable[[], Result]) -> Result:
        """What an action gives, once every piece that it misses is there."""
        lost: Lost = Counter()
        while True:
            try:
                return action()
            except LostGroupError as error:
                self._mend(error, lost)

    def _mend(self, error: LostGroupError, lost: Lost) -> None:
        """Have a lost piece made again, from files alone, if nobody has done so since.

        `lost` counts what the reader has missed.
        """
        walk: Walk = "alive" if error.walk == "alive" else "walk"
        name = walk, error.ply, error.number
        lost[name] += 1
        if lost[name] > TIMES_MADE_AGAIN:
            raise ChecksumError(f"{error}; it was made again {TIMES_MADE_AGAIN} times") from error
        self._restart.mends(str(error))
        store, limits = self._store, self._room.limits(self._store.header.words, 0)
        if walk == "alive":
            tasks = store.missing("alive", error.ply)
        else:
            pieces = self._insist(lambda: store.pieces(error.ply))
            tasks = [t._replace(walk="walk") for t in pieces if not store.has_values(t)]
        while tasks:
            task = tasks.pop()
            try:
                self._insist(partial(self._run, task, limits))
            except TooManyKeysError as too_many:
                tasks += self._smaller(task, too_many)
