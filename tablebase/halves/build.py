"""Building a table: one loop over plies and tasks, on any executor, resumable after every task.

    walk   full board ... root    values; every task counts, packs and writes its own
    join   the plies become the finished file

Each ply is cut into tasks (`retro.walk.task`) that threads, processes or a cluster run in any
order: first those that make mirrored blocks of the layer before, unless that is in memory, then
those that walk. When all are done, the ply is joined and the next one begins. A task that
finds a group damaged or missing names it; the group is made again from the layer it came
from, of which the groups are still there, and the task is run once more.

Whatever stops a build, the same call goes on after the last task that was committed.
Same bytes in every ply for any number of threads or processes, and any memory.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, defaultdict
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TYPE_CHECKING, TypeVar

from retro.errors import ChecksumError, DamagedFileError, LostGroupError, StorageError
from retro.index.halves.sizes import layout_sizes
from retro.walk.halves.batches import Cutter, groups_side
from retro.walk.halves.layers import split_task, whole_task
from retro.walk.halves.mirroring import mirror_tasks
from retro.walk.halves.task import is_first_layer
from retro.walk.task import Tally, Task
from tablebase.building.plan import Progress
from tablebase.files.packing import ChunkJoiner, pack_chunk
from tablebase.halves.format import CHUNK_WORDS, PlyRecord, plane_digest
from tablebase.halves.groups import Committed, MemoryStore
from tablebase.halves.order import Order, local_processes
from tablebase.halves.partial import PartialTable
from tablebase.halves.plan import TASKS_PER_WORKER, Estimate
from tablebase.halves.store import write_table
from tablebase.halves.work import Elsewhere, Site, Threads, prepare_header

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tablebase.building.resume import Resume
    from tablebase.halves.plan import Shift
    from tablebase.halves.work import Crew

Result = TypeVar("Result")
SECONDS_FOR_MARKS = 90  # network file systems show new files after a minute at most
TIMES_MADE_AGAIN = 3  # a group that is lost more often is lost for good


def run(plan: Estimate, path: Path, order: Order) -> None:
    """Build the table at a path, going on from what an earlier run has left there."""
    partial = PartialTable(path, plan.header, order.parts)
    if order.force:
        partial.discard()
    if plan.in_memory and not partial.folder.exists():
        _run_in_memory(plan, path, order.report)
    else:
        _run_in_files(plan, partial, order)


def _run_in_memory(plan: Estimate, path: Path, report: Callable[[Progress], None]) -> None:
    """A build that is short: nothing touches the disk but the table."""
    store = MemoryStore(plan.header)
    site = Site(prepare_header(plan.header, plan.workers), store)
    with contextlib.closing(Threads(site, plan.workers, warm=True)) as crew:
        build = _Build(plan, site, crew, Order(report=report))
        build.walk(plan.header.counted_plies[-1])
    write_table(path, plan.header, map(store.content, plan.header.counted_plies), plan.stored // 64)


def _run_in_files(plan: Estimate, partial: PartialTable, order: Order) -> None:
    """A build that can be stopped at any moment and goes on from its files."""
    first_ply = _resume(partial, order.restart)
    site = Site(prepare_header(plan.header, plan.workers), partial)
    with contextlib.closing(_crew(plan, partial, site, order)) as crew:
        build = _Build(plan, site, crew, order)
        build.walk(first_ply)
    partial.join(plan.stored // 64)


def _crew(plan: Estimate, partial: PartialTable, site: Site, order: Order) -> Crew:
    """Who works, as the plan has it."""
    if order.pool is not None and plan.hire is not None:
        order.pool.attach(partial.require_worker, **plan.hire._asdict())
        return Elsewhere(partial, order.pool)
    if plan.processes:
        return Elsewhere(partial, local_processes(plan.workers))
    return Threads(site, plan.workers, warm=plan.is_whole)


def _resume(partial: PartialTable, restart: Resume) -> int:
    """The ply with which the backward walk goes on. What cannot be gone on from is removed.

    A finished ply that is damaged cannot be made again: of the values it came from only those
    of two layers are kept.
    """
    is_restart = partial.has_files()
    why = partial.open()
    finished, plies = partial.finished_plies(), partial.header.counted_plies
    try:
        for ply in finished:
            partial.check_ply(ply)
    except (DamagedFileError, StorageError) as error:
        why = f"a finished ply cannot be used: {error}"
        partial.discard()
        partial.open()
        finished = []
    if why:
        restart.starts_over(why)
    elif is_restart:
        restart.resumes(f"{len(finished)} of {len(plies)} plies are finished")
        for wrong in partial.sweep():
            restart.rebuilds(wrong)
    return plies[-1] - len(finished)


class Mending:
    """Has lost groups made again, however many layers up they were lost, and tries once more."""

    def __init__(self, crew: Crew, memory: int, restart: Resume) -> None:
        self._crew, self._memory, self._restart = crew, memory, restart
        self._made: dict[tuple[int, int], int] = {}  # when each was made again
        self.clock = 0  # how many were made again

    def insist(self, action: Callable[[], Result]) -> Result:
        """What an action gives, once every group that it misses is there."""
        lost: Counter[tuple[int, int]] = Counter()
        while True:
            began = self.clock
            try:
                return action()
            except LostGroupError as error:
                self.mend(error, began, lost)

    def mend(self, error: LostGroupError, began: int, lost: Counter[tuple[int, int]]) -> None:
        """Have a lost group made again, unless it was since its reader began.

        `lost` counts what the reader has missed.
        """
        name = error.ply, error.number
        lost[name] += 1
        if lost[name] > TIMES_MADE_AGAIN:
            raise ChecksumError(f"{error}; it was made again {TIMES_MADE_AGAIN} times") from error
        if self._made.get(name, -1) < began:
            self._restart.rebuilds(str(error))
            task = Task("walk", error.ply, error.number, error.number + 1, self._memory)
            self.insist(lambda: self._crew.remake(task).result())
            self._made[name] = self.clock
            self.clock += 1


class _Build:
    """One run of a build: a loop over plies, and in each over tasks."""

    def __init__(self, plan: Estimate, site: Site, crew: Crew, order: Order) -> None:
        self._plan, self._site, self._crew, self._order = plan, site, crew, order
        self._mending = Mending(crew, plan.least_task_memory, order.restart)
        self._sizes = layout_sizes(site.prepared.layout)
        self._cutter = Cutter(self._sizes, distances=site.prepared.planes.distances)
        self._words = site.prepared.layout.stored_words

    def walk(self, first_ply: int) -> None:
        """Walk back from where the finished plies end, finishing every ply."""
        layout, words = self._site.prepared.layout, 64 * self._words
        resumed = done = int(words[first_ply + 1 :].sum())
        total = int(words.sum())
        for ply in range(first_ply, layout.first_ply - 1, -1):
            here = Progress("backward", ply, done, total, resumed)
            self._walk_ply(ply, here)
            self._finish(ply)
            done += int(words[ply])
            self._order.report(here._replace(done=done))

    def _to_do(self, ply: int, *, mirrored: bool = False) -> list[Task]:
        """The stretches of groups of a ply that no task has done yet."""
        prepared = self._site.prepared
        whole = whole_task(prepared, ply)
        if mirrored:
            whole = whole._replace(first=whole.last, last=len(prepared.readable(ply)))
        gaps, at = [], whole.first
        for done in self._done(whole):
            gaps.append(whole._replace(first=at, last=done.task.first))
            at = done.task.last
        gaps.append(whole._replace(first=at))
        return [gap for gap in gaps if gap.first < gap.last]

    def _done(self, whole: Task) -> list[Committed]:
        """The tasks within another that are done."""
        found = self._site.store.committed(whole.ply)
        return [done for done in found if whole.first <= done.task.first < whole.last]

    def _walk_ply(self, ply: int, here: Progress) -> None:
        """Run the tasks of a layer that are not done."""
        shift = self._plan.shifts[ply]
        layer = whole_task(self._site.prepared, ply)
        done = [member.task for member in self._done(layer)]
        gaps = self._to_do(ply)
        if (
            shift.task_memory is not None
            and gaps
            and not is_first_layer(self._site.prepared, layer)
        ):
            self._mirror_ply(ply + 1, shift.mirroring or shift)
        self._mending.insist(lambda: self._crew.start(layer, shift.workers, done))
        tasks = [task for gap in gaps for task in self._cut(gap, shift)]
        self._run(tasks, shift, here, len(done))
        self._await_marks(ply)

    def _mirror_ply(self, ply: int, shift: Shift) -> None:
        """Make the mirrored blocks of a layer that the next one reads."""
        prepared, pieces = self._site.prepared, TASKS_PER_WORKER * shift.workers
        assert shift.task_memory is not None
        tasks: list[Task] = []
        for gap in self._to_do(ply, mirrored=True):
            tasks += mirror_tasks(prepared, gap, shift.task_memory, pieces)
        if tasks:
            self._crew.start(tasks[0], shift.workers, [])
            self._run(tasks, shift)
            self._await_marks(ply, mirrored=True)

    def _run(
        self, tasks: list[Task], shift: Shift, here: Progress | None = None, done: int = 0
    ) -> None:
        """Run tasks, not more at once than memory allows.

        Those that walk a layer, of which so many are done, tell how far it has come.
        """
        lost: dict[Task, Counter[tuple[int, int]]] = defaultdict(Counter)
        tasks.reverse()
        running: dict[Future[Tally], tuple[Task, int]] = {}
        pool, number = self._order.pool, done + len(tasks)
        while tasks or running:
            # Workers of a pool come and go; each has a next task at hand.
            most = shift.workers if pool is None else max(1, 2 * pool.places)
            while tasks and len(running) < most:
                task = tasks.pop()
                running[self._crew.submit(task)] = task, self._mending.clock
            ready, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                task, began = running.pop(future)
                try:
                    future.result()
                except LostGroupError as error:
                    self._mending.mend(error, began, lost[task])
                    tasks.append(task)
            if pool is not None and here is not None:
                committed = number - len(tasks) - len(running)
                share = 64 * int(self._words[here.ply]) * committed // number
                told = here._replace(done=here.done + share, tasks=(committed, number))
                self._order.report(told._replace(workers=pool.workers))

    def _await_marks(self, ply: int, *, mirrored: bool = False) -> None:
        """Wait until the marks of all tasks are seen: a disk that others write may be slow."""
        for _ in range(SECONDS_FOR_MARKS):
            if not self._to_do(ply, mirrored=mirrored):
                return
            time.sleep(1)
        raise StorageError(f"tasks of ply {ply} are done, but their files are not to be seen")

    def _cut(self, gap: Task, shift: Shift) -> list[Task]:
        """Cut groups into tasks: enough for all workers, none too large for its memory."""
        pieces = TASKS_PER_WORKER * shift.workers
        if shift.task_memory is None:
            return split_task(gap, pieces)
        side = groups_side(self._sizes, self._site.prepared.groups(gap.ply))
        return self._cutter.batches(gap, side, shift.task_memory, pieces)

    def _finish(self, ply: int) -> None:
        """All tasks of a ply are done: join the chunks between them, count, forget."""
        store, words = self._site.store, int(self._words[ply])
        done = self._done(whole_task(self._site.prepared, ply))
        joiner = ChunkJoiner(words)
        joined = (
            pack_chunk(*chunk, min(CHUNK_WORDS, words))
            for member in done
            for chunk in joiner.add(member.chunks.fragments())
        )

        def record(digests: dict[int, bytes]) -> PlyRecord:
            """What the tasks and the digests of the joined chunks tell of the ply."""
            tally = Tally()
            for member in done:
                digests.update(member.chunks.digests())
                tally = tally.plus(member.tally)
            is_kept = ply in store.header.plies
            sha = plane_digest(digests[n] for n in sorted(digests)) if is_kept else ""
            return _record(ply, tally, sha)

        store.finish_ply(ply, words, joined, record)
        store.forget_groups(range(ply + 2, len(self._words)))


def _record(ply: int, tally: Tally, sha256: str) -> PlyRecord:
    alive, terminal, won, lost, distances = tally
    counts = (alive + terminal, won, alive - won - lost, lost + terminal, terminal)
    if distances:
        distances = (terminal, *distances[1:])
    return PlyRecord(ply, *counts, sha256=sha256, distances=distances)
