"""The loop that builds every table: phases, plies, tasks; on any workers, resumable after any task.

    for phase, for ply:
        pending    what no finished part covers, cut into tasks that fit the memory
        run        on threads, processes or a cluster; each task leaves a part, which commits it
        finish     joins, digests, and forgets what nobody reads any more

A task that finds a part damaged or missing names it; the task that made it is run again, however
far that goes, and the reader once more. A task that turns out too large is split. Whatever stops a
build, the same call goes on after the last part, with any memory and any workers: same bytes from
all. What differs between the indexes stands behind `Build`.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from retro.errors import ChecksumError, LostGroupError
from retro.walk.keys.task import TooManyKeysError
from tablebase.building.plan import PHASES, Phase, Progress
from tablebase.files.atomic import require_room

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from retro.walk.task import Task
    from tablebase.building.partial import Resume
    from tablebase.building.workers import Tasks, Workers

Result = TypeVar("Result")
Lost = Counter[tuple[str, int, int]]  # how often a reader has missed a part
SECONDS_FOR_PARTS = 90  # network file systems show new files after a minute at most
TIMES_REBUILT = 3  # what is lost more often is lost for good


class Pending(NamedTuple):
    """Tasks that are to be run before a ply can go on; none: the ply can be finished."""

    tasks: list[Task]
    at_once: int = 1  # so many fit into memory
    is_done: Callable[[], bool] = lambda: True  # whether all of their parts are seen
    prepares: bool = False  # for tasks that come next: no progress of the ply itself


class Build(Protocol):
    """What an index knows of a build. All but `rebuild` may raise `LostGroupError`."""

    @property
    def tasks(self) -> Tasks: ...
    @property
    def positions(self) -> int:
        """Of all phases; a guess, perhaps."""
        ...

    def unusable(self) -> str:
        """Why what an earlier run has left cannot be gone on from; then it was thrown away."""
        ...

    def left(self) -> str:
        """What an earlier run has left, for people."""
        ...

    def plies(self, phase: Phase) -> Iterable[int]: ...
    def pending(self, phase: Phase, ply: int) -> Pending:
        """What is to be run next of a ply; asked again when it is done."""
        ...

    def size(self, phase: Phase, ply: int) -> int:
        """Positions of a ply that is being worked on; 0 if that is not known."""
        ...

    def split(self, task: Task, error: TooManyKeysError) -> list[Task]:
        """A task that was too large, as smaller ones."""
        ...

    def rebuild(self, lost: LostGroupError) -> list[Task]:
        """The tasks that make a lost part again; none if somebody has done so since."""
        ...

    def finish(self, phase: Phase, ply: int) -> int:
        """All tasks of a ply are done; how many positions that were."""
        ...

    def join(self) -> None:
        """Make the table of the finished plies."""
        ...


class Driver:
    """One run of a build."""

    def __init__(
        self, build: Build, workers: Workers, report: Callable[[Progress], None], resume: Resume
    ) -> None:
        self._build, self._workers = build, workers
        self._report, self._resume = report, resume
        self._done = self._resumed = 0

    def run(self) -> None:
        """Build the table, going on from what an earlier run has left."""
        self._open()
        self._workers.attach(self._build.tasks)
        for phase in PHASES:
            for ply in self._build.plies(phase):
                self._walk(phase, ply)
        parts = self._build.tasks.partial
        require_room(parts.path, parts.beside)
        self._retry(self._build.join)
        parts.discard()

    def _open(self) -> None:
        parts = self._build.tasks.partial
        was_there = parts.has_files()
        why = parts.open() or self._build.unusable()
        if why:
            self._resume.starts_over(why)
        elif was_there:
            self._resume.resumes(self._build.left())
            for wrong in parts.sweep():
                self._resume.rebuilds(wrong)

    def _walk(self, phase: Phase, ply: int) -> None:
        """Do what is not done of a ply."""
        next_tasks = partial(self._build.pending, phase, ply)
        rounds, pending = 0, self._retry(next_tasks)
        is_resumed = not pending.tasks
        while pending.tasks:
            here = None if pending.prepares else (phase, ply)
            self._run(pending.tasks, pending.at_once, here)
            if not self._are_seen(pending) and (rounds := rounds + 1) > TIMES_REBUILT:
                raise ChecksumError(
                    f"what tasks of ply {ply} leave is lost again; "
                    f"it was made again {TIMES_REBUILT} times"
                )
            pending = self._retry(next_tasks)
        positions = self._retry(partial(self._build.finish, phase, ply))
        self._done += positions
        if is_resumed:
            self._resumed += positions
        else:
            self._tell(phase, ply)

    def _are_seen(self, pending: Pending) -> bool:
        """Wait until the parts of tasks are seen: a disk that others write may be slow."""
        seconds = SECONDS_FOR_PARTS if self._workers.pool is not None else 0
        while not pending.is_done():
            if seconds == 0:
                return False
            seconds -= 1
            time.sleep(1)
        return True

    def _run(self, tasks: list[Task], at_once: int, here: tuple[Phase, int] | None) -> None:
        """Run tasks, not more at once than memory allows; tell how far a cluster has come."""
        waiting, running = deque(tasks), dict[Future[None], "Task"]()
        lost: dict[Task, Lost] = defaultdict(Counter)
        committed = 0
        while waiting or running:
            while waiting and len(running) < self._workers.at_once(at_once):
                task = waiting.popleft()
                running[self._workers.submit(self._build.tasks, task)] = task
            ready, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                task = running.pop(future)
                try:
                    future.result()
                    committed += 1
                except TooManyKeysError as error:
                    waiting.extendleft(self._build.split(task, error))
                except LostGroupError as error:
                    self._rebuild(error, lost[task])
                    waiting.appendleft(task)
            if self._workers.pool is not None and here is not None:
                self._tell(*here, (committed, committed + len(waiting) + len(running)))

    def _tell(self, phase: Phase, ply: int, tasks: tuple[int, int] = (0, 0)) -> None:
        done, pool = self._done, self._workers.pool
        if tasks[1]:
            done += self._build.size(phase, ply) * tasks[0] // tasks[1]
        total = max(self._build.positions, done)  # a forecast may be too low
        workers = pool.workers if pool is not None and tasks[1] else 0
        self._report(Progress(phase, ply, done, total, self._resumed, tasks, workers))

    def _retry(self, action: Callable[[], Result]) -> Result:
        """What an action gives, once every part that it misses is there."""
        lost: Lost = Counter()
        while True:
            try:
                return action()
            except LostGroupError as error:
                self._rebuild(error, lost)

    def _rebuild(self, error: LostGroupError, lost: Lost) -> None:
        """Have a lost part made again; `lost` counts what its reader has missed."""
        name = error.walk, error.ply, error.number
        lost[name] += 1
        if lost[name] > TIMES_REBUILT:
            raise ChecksumError(f"{error}; it was made again {TIMES_REBUILT} times") from error
        self._resume.rebuilds(str(error))
        tasks = self._retry(partial(self._build.rebuild, error))
        self._run(tasks, 1, None)
