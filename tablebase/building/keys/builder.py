"""What the driver is told of a build of sorted keys: what is to be done of a ply, and its end.

    forward    keys of every ply, piece by piece (`tasks`)
    backward   values of every piece; then the ply is sorted by key and packed (`join`)

A ply is cut into tasks that fit the memory of a worker. How many keys a group will have is only
guessed from those before it; a task that finds more gives up, and its groups go to two
smaller ones. What is lost is made again from what it came from, as keys of all plies are kept.

How many keys a group will have follows roughly from the groups that lead to it:

    guess(group) = sum over steps of keys(family - step) * moves of that step

scaled so that all of them make the forecast number of keys. Groups next to each other become a
task while the guess fits, and what they read does, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retro.errors import BadTextError, DamagedFileError, DoesNotFitError
from retro.index.keys.groups import related_families
from retro.walk.keys.layers import counts_of, distances_of
from retro.walk.keys.task import moves_from, needed_groups, view_bytes
from retro.walk.task import STEP
from tablebase.building.driver import Pending
from tablebase.building.keys.join import join_table, read_record, write_ply
from tablebase.building.keys.plan import Detail, require_reached
from tablebase.building.keys.tasks import KeysTasks
from tablebase.building.partial import Partial, gaps, new_partial, ply_part, rule_there

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from retro.errors import LostGroupError
    from retro.walk.keys.task import TooManyKeysError
    from retro.walk.task import Task, Walk
    from tablebase.building.plan import Phase, Plan
    from tablebase.building.workers import Workers
    from tablebase.keys.format import PlyRecord

TASKS_PER_WORKER = 4  # of a layer, at least: so that all end at about the same time
LEAST_KEYS = 20_000  # of a task that is worth a file
CAUTION = 1.5  # how many times as large as guessed a piece may be
GROWS_AT_MOST = 3.0  # a layer of the one before, where there is no forecast
WALKS: dict[Phase, Walk] = {"forward": "alive", "backward": "walk"}


class KeysBuild:
    """A build of sorted keys, as the driver knows it."""

    def __init__(
        self, plan: Plan, path: Path, beside: Path, workers: Workers, *, force: bool
    ) -> None:
        assert isinstance(plan.detail, Detail)
        self._detail, self._workers = plan.detail, workers
        header, cut = plan.detail.header, plan.detail.cut
        cut = cut if force else cut.as_in(rule_there(beside))
        in_memory = plan.detail.in_memory and workers.shares_memory
        parts = Partial(path, header, cut.rule, beside)
        parts = new_partial(parts, force=force, in_memory=in_memory)
        self.tasks = KeysTasks(parts, header, cut)
        self.positions = 2 * plan.detail.walked
        self._end = plan.root.board.last_ply  # on which draws end
        self._last_ply: int | None = None
        self._records: dict[int, PlyRecord] = {}

    def unusable(self) -> str:
        return ""  # all can be made again

    def left(self) -> str:
        tasks, plies = self.tasks, 0
        while tasks.partial.done("alive", tasks.header.first_ply + plies):
            plies += 1
        finished = len(tasks.partial.names("ply-*.part"))
        known = "1 ply" if plies == 1 else f"{plies} plies"
        return f"keys of {known} are there, {finished} are finished"

    def plies(self, phase: Phase) -> Iterator[int]:
        first_ply = self.tasks.header.first_ply
        if phase == "backward":
            assert self._last_ply is not None
            yield from range(self._last_ply, first_ply - 1, -1)
            return
        ply = first_ply
        while self._last_ply is None:
            yield ply
            ply += 1

    def pending(self, phase: Phase, ply: int) -> Pending:
        walk = WALKS[phase]
        if phase == "backward" and self._find_record(ply):
            return Pending([])
        todo = self._gaps(walk, ply)
        if not todo:
            return Pending([])
        self._keep_layer(walk, ply)
        tasks = [task for gap in todo for task in self._cut(gap)]
        return Pending(tasks, self._detail.budget.workers, lambda: not self._gaps(walk, ply))

    def _find_record(self, ply: int) -> bool:
        """Whether a ply is finished, by an earlier run perhaps, as are all after it."""
        parts, name = self.tasks.partial, ply_part(ply)
        is_next = ply == self._last_ply or ply + 1 in self._records
        if is_next and ply not in self._records and name in parts.names(name):
            try:
                self._records[ply] = read_record(parts.check(name))
            except DamagedFileError:
                parts.remove(name)
        return ply in self._records

    def _gaps(self, walk: Walk, ply: int) -> list[Task]:
        """What no part covers; walking back, pieces of keys that have no values."""
        if walk == "alive":
            whole = self.tasks.whole_task(walk, ply)
            return gaps(whole, self.tasks.partial.done(walk, ply))
        there = {task[2:4] for task in self.tasks.partial.done("walk", ply)}
        pieces = self.tasks.pieces(ply)
        return [task._replace(walk="walk") for task in pieces if task[2:4] not in there]

    def _keep_layer(self, walk: Walk, ply: int) -> None:
        """Have the layer that is read in memory, if there is room for it."""
        tasks, budget, there = self.tasks, self._detail.budget, ply + STEP[walk]
        is_edge = there < tasks.header.first_ply or there > (self._last_ply or there)
        if is_edge or tasks.whole(walk, there) is not None:
            return
        tasks.forget_layer()
        keys = int(tasks.sizes(there).sum())
        if self._workers.shares_memory and budget.keeps(walk, tasks.header.words, keys):
            tasks.load_layer(walk, there, self._workers.threads)

    def _cut(self, gap: Task) -> list[Task]:
        """Cut groups that are to be walked into tasks."""
        tasks, budget, kept, there = self.tasks, self._detail.budget, 0, gap.ply + STEP[gap.walk]
        if tasks.whole(gap.walk, there) is not None:
            kept = budget.layer(gap.walk, tasks.header.words, int(tasks.sizes(there).sum()))
        gap = gap._replace(memory=budget.task_memory(kept))
        if gap.walk == "walk" or gap.ply == tasks.header.first_ply:
            return [gap]
        return cut_layer(tasks, gap, self._detail.layers.get(gap.ply), budget.workers)

    def size(self, phase: Phase, ply: int) -> int:
        return 0 if phase == "forward" else int(self.tasks.sizes(ply).sum())

    def split(self, task: Task, error: TooManyKeysError) -> list[Task]:
        if task.last - task.first == 1:
            parts = self.tasks.partial
            raise DoesNotFitError(
                f"the table {parts.path.stem} does not fit: {error}; "
                f"what is finished is kept in {parts.folder}"
            )
        return halves_of(task)

    def rebuild(self, lost: LostGroupError) -> list[Task]:
        walk: Walk = "alive" if lost.walk == "alive" else "walk"
        memory = self._detail.budget.task_memory(0)
        return [gap._replace(memory=memory) for gap in self._gaps(walk, lost.ply)]

    def finish(self, phase: Phase, ply: int) -> int:
        tasks = self.tasks
        if phase == "forward":
            keys = int(tasks.sizes(ply).sum())
            if keys == 0:
                tasks.forget_layer()
                self._require_reached(ply)
                self._last_ply = ply
            return keys
        if ply not in self._records:
            live, ended = tasks.total("walk", ply), tasks.total("alive", ply).sum(axis=2)
            counts, ends = counts_of(ply, live.sum(axis=2), ended), None
            if tasks.header.distances:
                ends = distances_of(live[1], ended, self._end - ply)
            most = self._detail.budget.stretch(tasks.header.words)
            tasks.forget_layer()
            self._records[ply] = write_ply(tasks, counts, ends, self._workers.threads, most)
            tasks.partial.forget("walk", [ply + 2])
        return self._records[ply].keys

    def _require_reached(self, last_ply: int) -> None:
        try:
            require_reached(self.tasks.header, last_ply)
        except BadTextError:
            self.tasks.partial.discard()  # of no use to anybody
            raise

    def join(self) -> None:
        plies = sorted(self._records)
        root = self._records[plies[0]]
        join_table(self.tasks, root.canonical_win - root.canonical_loss, plies)


def halves_of(task: Task) -> list[Task]:
    """The groups of a task as two tasks."""
    middle = (task.first + task.last) // 2
    return [task._replace(first=middle), task._replace(last=middle)]


def guess_sizes(tasks: KeysTasks, ply: int, total: float) -> NDArray[np.float64]:
    """About how many keys each group of a ply will have, from the ply before."""
    ground, grouping = tasks.ground, tasks.ground.grouping
    sizes = tasks.sizes(ply - 1).reshape(grouping.families, grouping.shares).sum(axis=1)
    moves = moves_from(ground, *tasks.a_state(ply - 1))
    found = np.zeros(grouping.families)
    families = np.flatnonzero(sizes)
    for number, step in enumerate(moves.steps):
        after = related_families(grouping, families, moves.steps[number : number + 1], 1)
        found[after] += sizes[after - step] * (moves.cuts[number + 1] - moves.cuts[number])
    scale = total / max(1.0, float(found.sum()))
    return np.repeat(found * scale / grouping.shares, grouping.shares)


def cut_layer(tasks: KeysTasks, gap: Task, expected: float | None, workers: int) -> list[Task]:
    """Cut the groups of a task into tasks that fit; `expected` keys has the whole ply."""
    limits, ground, known = tasks.limits(gap), tasks.ground, tasks.sizes(gap.ply - 1)
    before = int(known.sum())
    total = expected if expected is not None else GROWS_AT_MOST * before
    most = max(LEAST_KEYS, total / (TASKS_PER_WORKER * workers))
    most = min(most, limits.keys / CAUTION)
    reading = gap._replace(walk="walk")
    if total <= most and view_bytes(ground, reading, before) <= (limits.view or 0):
        return [gap]  # whatever its groups have
    guess = guess_sizes(tasks, gap.ply, total)
    moves = moves_from(ground, *tasks.a_state(gap.ply - 1))

    def fits(task: Task) -> bool:
        if float(guess[task.first : task.last].sum()) > most:
            return False
        if limits.view is None:
            return True
        read = int(known[needed_groups(ground, moves, task)].sum())
        return view_bytes(ground, reading, read) <= limits.view

    found: list[Task] = []
    waiting = [gap]
    while waiting:
        task = waiting.pop()
        joined = found[-1]._replace(last=task.last) if found else task
        if found and fits(joined):
            found[-1] = joined
        elif fits(task) or task.last - task.first == 1:
            found.append(task)
        else:
            waiting += halves_of(task)
    return found
