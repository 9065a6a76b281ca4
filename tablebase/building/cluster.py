"""Workers on other machines: a Dask cluster as an executor. No other module imports dask.

    driver: this process        scheduler                 workers
    submit(function, ...)  -->  who has the memory?  -->  takes it, runs the function
    result             <------------------------------    gives it back

Memory is a resource of Dask's: a worker has so many bytes of `RESOURCE`, a task takes its
share while it runs. A worker gets them, and so its first task, when it is *admitted*: it
has checked that it can do this work at all, and says so itself. Workers may come and go at
any time; those that come later are admitted as they come.

What goes wrong has one of three ends. An error of this project that the driver can recover from,
or that would come again, is handed to the driver as it is. Any other is tried again, where
there is room, and then named with its worker. A task whose worker died is run by another one.
Errors come back as results: one that cannot be unpickled would never arrive.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from dask.system import CPU_COUNT
from distributed import Client, KilledWorker, LocalCluster, get_worker
from distributed.system import MEMORY_LIMIT

from retro.cores import available_cores
from retro.errors import (
    BadTextError,
    DoesNotFitError,
    StorageError,
    TablebaseError,
    UnreachableError,
)
from tablebase.building.plan import WorkerSpec
from tablebase.building.workers import Pool
from tablebase.machine import available_memory
from tablebase.units import size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Executor

    from distributed import Worker

LOCAL = "local"
RESOURCE = "tablebase-memory"
RETRIES = 2  # of a task that failed for a reason that may pass, such as a lost connection
# Dask makes a worker pause when its process takes 0.8 of its limit, and we keep memory.
SHARE_OF_LIMIT = 0.75
SHARE_OF_FREE_MEMORY = 0.8  # for a cluster on this machine
SECONDS_TO_CONNECT = 10
SECONDS_BEFORE_RETRY = 1.0
SECONDS_FOR_WORKERS = 60  # to wait for the first one
SECONDS_BETWEEN_LOOKS = 1.0


def open_cluster(
    where: str,
    announce: Callable[[str], None],
    *,
    threads: int | None = None,
    processes: int | None = None,
    memory: int | None = None,
) -> Cluster:
    """Join the cluster whose scheduler is at `where`, or start one on this machine: `local`.

    The rest says what a local one may take: `processes` workers (1), `threads` in all.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is said here
    if where == LOCAL:
        local = _start_local(threads, processes or 1, memory)
        return Cluster(Client(local, set_as_default=False), announce, local)
    if "://" not in where:
        raise BadTextError(f"found cluster {where!r}, wanted tcp://HOST:PORT or {LOCAL}")
    try:
        client = Client(where, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise UnreachableError(f"no Dask scheduler answers at {where}: {_line(error)}") from None
    except (ValueError, TypeError) as error:
        raise BadTextError(f"found cluster {where!r}: {_line(error)}") from None
    return Cluster(client, announce)


def _start_local(threads: int | None, processes: int, memory: int | None) -> LocalCluster:
    if memory is None:
        free = available_memory() or MEMORY_LIMIT
        memory = int(SHARE_OF_FREE_MEMORY * free)
    return LocalCluster(
        n_workers=processes,
        threads_per_worker=max(1, (threads or available_cores()) // processes),
        memory_limit=memory // processes,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )


Made = TypeVar("Made")


class _Job(NamedTuple):
    """What a worker must be able to do, and what it takes."""

    check: Callable[[], None]  # run by the worker; raises if it cannot do the work
    aside: int  # bytes that a worker takes beside its tasks
    each: int  # bytes of a task


class _Open(NamedTuple):
    """A function that was submitted: who waits for its result, and how to submit it again."""

    outer: Future[Any]  # of whatever the function returns
    again: Callable[[], None]


class Cluster(Pool):
    """A Dask cluster that runs the tasks of one build. Use it as a context manager."""

    def __init__(
        self, client: Client, announce: Callable[[str], None], local: LocalCluster | None = None
    ) -> None:
        self._client, self._announce, self._local = client, announce, local
        self.address: str = client.scheduler_info()["address"]
        self._executor: Executor | None = None
        self._job: _Job | None = None
        self._admitted: dict[str, int] = {}  # and how many tasks each has memory for
        self._open: dict[Future[Any], _Open] = {}  # what was submitted and has not ended
        self._is_lost = False
        self._refused: dict[str, str] = {}  # and why
        self._closing = threading.Event()
        self._watcher: threading.Thread | None = None
        link = _dashboard(client)
        announce(f"cluster at {self.address}" + (f", dashboard at {link}" if link else ""))

    @property
    def workers(self) -> int:
        return len(self._admitted)

    @property
    def places(self) -> int:
        return sum(self._admitted.values())

    def specs(self) -> tuple[WorkerSpec, ...]:
        """What the present workers have; waits for the first one."""
        found: dict[str, WorkerSpec | Exception] = {}
        end = time.monotonic() + SECONDS_FOR_WORKERS
        while not found:
            with self._lost():
                found = self._client.run(_describe, on_error="return")
            if not found:
                if time.monotonic() > end:
                    raise UnreachableError(f"no worker has come to {self.address}")
                time.sleep(SECONDS_BETWEEN_LOOKS)
        specs = tuple(spec for spec in found.values() if isinstance(spec, WorkerSpec))
        if not specs:
            address, error = next(iter(found.items()))
            raise UnreachableError(f"worker {address} cannot work: {_line(error)}")
        return specs

    def attach(self, check: Callable[[], None], *, aside: int, each: int) -> None:
        """As `Pool`; raises if no present worker is fit."""
        self._job = _Job(check, aside, each)
        self._executor = self._client.get_executor(pure=False, resources={RESOURCE: each})
        with self._lost():
            self._look()
        if not self._admitted:
            raise DoesNotFitError("no worker is fit: " + "; ".join(self._refused.values()))
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def _watch(self) -> None:
        """Admit those that come, until the end."""
        while not self._closing.wait(SECONDS_BETWEEN_LOOKS):
            # Whatever it is that keeps us from looking, the tasks' own results tell.
            with contextlib.suppress(Exception):
                self._look()
            if self._client.status == "closed":  # it has tried to come back, and given up
                self._is_lost = True
                self._fail_all()

    def _fail_all(self) -> None:
        """End what waits: what was submitted while the scheduler was lost never ends by itself."""
        for inner in list(self._open):
            found = self._open.pop(inner, None)
            if found is not None:
                found.outer.set_exception(self._lost_error())

    def _lost_error(self) -> UnreachableError:
        return UnreachableError(
            f"the scheduler at {self.address} was lost; the same command goes on, with another "
            "one or without"
        )

    def _look(self) -> None:
        assert self._job is not None
        present = set(self._client.nthreads())
        had_some = bool(self._admitted)
        self._admitted = {a: places for a, places in self._admitted.items() if a in present}
        if had_some and not self._admitted:
            self._announce(f"no worker is left at {self.address}; waiting for one to come")
        was_alone = not self._admitted
        new = present - self._admitted.keys() - self._refused.keys()
        if new:
            self._admit(new, self._job)
        if was_alone and self._admitted:
            self._try_all_again()

    def _try_all_again(self) -> None:
        """Submit what waits once more: a worker gets its memory after it has come.

        The scheduler looks for tasks that nobody could run when a worker comes, not then.
        """
        for inner in list(self._open):
            found = self._open.pop(inner, None)
            if found is not None:
                inner.cancel()
                found.again()

    def _admit(self, addresses: Iterable[str], job: _Job) -> None:
        found = self._client.run(_admit, *job[:2], workers=list(addresses), on_error="return")
        for address, free in found.items():
            if isinstance(free, BaseException):
                self._refuse(address, _line(free))
            elif free < job.each:
                has, wants = size(max(free, 0)), size(job.each)
                self._refuse(address, f"it has {has} of memory for tasks, one takes {wants}")
            else:
                self._admitted[address] = free // job.each

    def _refuse(self, address: str, why: str) -> None:
        self._refused[address] = f"worker {address} is not used: {why}"
        self._announce(self._refused[address])

    def submit(
        self, function: Callable[..., Made], /, *arguments: object, **_: object
    ) -> Future[Made]:
        """Run a function on a worker that has memory for it."""
        outer: Future[Made] = Future()
        outer.set_running_or_notify_cancel()
        self._try(function, arguments, outer, RETRIES)
        return outer

    def _try(
        self,
        function: Callable[..., Made],
        arguments: tuple[object, ...],
        outer: Future[Made],
        left: int,
    ) -> None:
        """Have a function run; if that fails for a reason that may pass, `left` times more."""

        def settle(done: Future[Made | _Raised]) -> None:
            if self._open.pop(done, None) is None:
                return  # another one was submitted in its place
            if left and not self._closing.is_set() and _may_pass(done):
                again = (function, arguments, outer, left - 1)
                threading.Timer(SECONDS_BEFORE_RETRY, self._try, again).start()
            else:
                self._settle(done, outer)

        assert self._executor is not None
        try:
            inner = self._executor.submit(_run, function, arguments)
            again = functools.partial(self._try, function, arguments, outer, left)
            self._open[inner] = _Open(outer, again)
            inner.add_done_callback(settle)
            if self._is_lost:
                self._fail_all()
        except Exception as error:  # of the way to the scheduler: nobody would hear it elsewhere
            self._announce(f"{self.address}: {_line(error)}")
            outer.set_exception(self._lost_error())

    def _settle(self, inner: Future[Made | _Raised], outer: Future[Made]) -> None:
        """Give a result or an error its place and its name."""
        error = self._lost_error() if inner.cancelled() else inner.exception()
        if isinstance(error, KilledWorker):
            error = DoesNotFitError(
                f"several workers died of one task: give them more memory than {size(self._each)} "
                "a task, or a task less"
            )
        if error is not None:
            outer.set_exception(error)
        elif isinstance(found := inner.result(), _Raised):
            outer.set_exception(found.error)
        else:
            outer.set_result(found)

    @property
    def _each(self) -> int:
        return self._job.each if self._job else 0

    @contextlib.contextmanager
    def _lost(self) -> Iterator[None]:
        """Name a scheduler that is gone."""
        try:
            yield
        except (OSError, TimeoutError) as error:
            if isinstance(error, TablebaseError):
                raise
            raise UnreachableError(f"{self.address} does not answer: {_line(error)}") from None

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Begin nothing else. What runs elsewhere ends by itself, and is committed or not."""
        self._closing.set()
        if self._executor is not None:
            with contextlib.suppress(Exception):  # a scheduler that is gone has nothing to cancel
                self._executor.shutdown(wait=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        if self._watcher is not None:
            self._watcher.join()
        with contextlib.suppress(Exception):
            self._client.close()
            if self._local is not None:
                self._local.close()


def _dashboard(client: Client) -> str | None:
    """Where the dashboard is; None if the scheduler has none."""
    if "dashboard" not in client.scheduler_info().get("services", {}):
        return None
    return str(client.dashboard_link)


def _line(error: object) -> str:
    """An error as one line."""
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__


# What workers run.


class _Raised(NamedTuple):
    """An error of a task, and whether it may be gone when it is tried again."""

    error: TablebaseError
    may_pass: bool


def _may_pass(done: Future[Made | _Raised]) -> bool:
    if done.cancelled() or done.exception() is not None:
        return False
    found = done.result()
    return isinstance(found, _Raised) and found.may_pass


def _run(function: Callable[..., Made], arguments: tuple[object, ...]) -> Made | _Raised:
    """Run a task."""
    try:
        return function(*arguments)
    except TablebaseError as error:
        # A disk that is far away may be better the next time.
        return _Raised(error, isinstance(error, StorageError))
    except Exception as error:
        text = f"a task failed on {get_worker().address}: {type(error).__name__}: {_line(error)}"
        return _Raised(TablebaseError(text), may_pass=True)


def _describe(dask_worker: Worker) -> WorkerSpec:
    """What a worker has."""
    threads = dask_worker.state.nthreads
    # --memory-limit 0 is none: then its share of the machine.
    limit = dask_worker.memory_manager.memory_limit or MEMORY_LIMIT * min(threads / CPU_COUNT, 1)
    return WorkerSpec(threads, int(SHARE_OF_LIMIT * limit))


async def _admit(check: Callable[[], None], aside: int, dask_worker: Worker) -> int:
    """Have a worker check that it can work, and give it its memory; how much is for tasks."""
    free = _describe(dask_worker).memory - aside
    try:
        check()
    except BaseException:
        await dask_worker.set_resources(**{RESOURCE: 0})  # an earlier build may have given some
        raise
    await dask_worker.set_resources(**{RESOURCE: max(free, 0)})
    return free
