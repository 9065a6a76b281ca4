"""Who runs the tasks of a build: threads of this process, other processes, or a cluster.

Each is an executor (`concurrent.futures`) that is handed a task and what it needs:

    threads      share the tasks object, and a layer that is kept in memory
    processes    get it with every task, and make it ready once; they read parts from files
    a cluster    the same, on other machines: it admits workers who see the files (`cluster`)
"""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol

from tablebase.files.atomic import Closing

if TYPE_CHECKING:
    from collections.abc import Callable

    from retro.walk.task import Task
    from tablebase.building.partial import Partial
    from tablebase.building.plan import Plan


class Tasks(Protocol):
    """What the tasks of a build need. Can be sent to other processes, and is made ready there."""

    @property
    def partial(self) -> Partial: ...
    def do(self, task: Task) -> None:
        """Run a task: what it leaves is committed when this returns."""
        ...

    def require_worker(self) -> None:
        """Refuse to work here, on another machine perhaps."""
        ...


class Pool(Executor):
    """Workers elsewhere: an executor that admits who can do the work."""

    @property
    def workers(self) -> int:
        """How many are admitted at present."""
        raise NotImplementedError

    @property
    def places(self) -> int:
        """How many tasks they have memory for at once."""
        raise NotImplementedError

    def attach(self, check: Callable[[], None], *, aside: int, each: int) -> None:
        """Admit those for whom `check` does not raise, now and later.

        `aside` are the bytes that a worker takes beside its tasks, `each` those of a task.
        """
        raise NotImplementedError


class Workers(Closing):
    """Runs the tasks of one build. Use it as a context manager."""

    def __init__(self, plan: Plan, pool: Pool | None) -> None:
        self.pool, self._budget = pool, plan.budget
        self.threads = ThreadPoolExecutor(plan.workers)  # of this process
        self.shares_memory = pool is None and not plan.processes
        self._executor: Executor = pool or self.threads
        if pool is None and plan.processes:
            # Threads and numba make forking unsafe; every process begins from nothing.
            spawn = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(plan.workers, spawn)

    def attach(self, tasks: Tasks) -> None:
        """The tasks of a build come next, whose folder is there."""
        if self.pool is not None:
            assert self._budget is not None
            self.pool.attach(tasks.require_worker, **self._budget._asdict())

    def at_once(self, planned: int) -> int:
        """How many tasks run or wait for a worker; those of a cluster come and go."""
        return planned if self.pool is None else max(1, 2 * self.pool.places)

    def submit(self, tasks: Tasks, task: Task) -> Future[None]:
        if self.shares_memory:
            return self._executor.submit(tasks.do, task)
        return self._executor.submit(_do_elsewhere, tasks, task)

    def close(self) -> None:
        """Finish what runs, begin nothing else."""
        self._executor.shutdown(wait=True, cancel_futures=True)
        self.threads.shutdown(wait=True, cancel_futures=True)


_ready: list[Tasks] = []  # of this process: none, or those of the table that it works on
_getting_ready = threading.Lock()


def _do_elsewhere(tasks: Tasks, task: Task) -> None:
    """Run a task in a process that may know nothing of the table yet."""
    with _getting_ready:  # once, not by every thread
        if not _ready or _ready[0].partial != tasks.partial:
            tasks.require_worker()
            _ready[:] = [tasks]
        tasks = _ready[0]
    tasks.do(task)
