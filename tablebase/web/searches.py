"""Searches for whoever asks: few at once, one a client, ended when nobody waits.

    ask --> own turn (one search a client) --> a slot (N in all) --> a thread that searches
              waits 2 s at most, then 503       waits 2 s, then 503    checks its errand often

    batch --> a slot (as many again) --> read and looked up in pieces

A slot keeps the solver it has, with what that has proved, as long as it is asked about the
same board; so all searches together take N times the memory of one. An errand is a deadline
that can also be called off; solvers look at it between slices, many times a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from retro.deadline import Deadline
from retro.errors import TablebaseError
from tablebase.oracles import Oracle
from tablebase.web.guard import BusyError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from retro.games.game import Board
    from tablebase.tables import Table
    from tablebase.web.http import Request
    from tablebase.web.shelf import Shelf

T = TypeVar("T")

PATIENCE = 2.0  # seconds to wait for a turn
MOST_PATIENCE = 15  # times that, while somebody else's search ends
SLICE_NODES = 200_000  # between two looks at an errand: a search that is called off ends in 0.1 s
MOST_WAITING = 64


class CalledOffError(TablebaseError):
    """Nobody waits for this search any more."""


class Errand(Deadline):
    """A deadline that can be called off.

    >>> errand = Errand(60)
    >>> errand.call_off()
    >>> errand.check()
    Traceback (most recent call last):
    tablebase.web.searches.CalledOffError: nobody waits for the answer any more
    """

    def __init__(self, seconds: float | None, off: threading.Event | None = None) -> None:
        super().__init__(seconds)
        self._off = off or threading.Event()

    def restart(self) -> None:
        """Begin to count now."""
        self._begin = time.monotonic()

    def call_off(self) -> None:
        self._off.set()

    def check(self, so_far: str = "") -> None:
        if self._off.is_set():
            raise CalledOffError("nobody waits for the answer any more")
        super().check(so_far)

    def within(self, seconds: float) -> Errand:
        return Errand(min(seconds, self.left), self._off)


@dataclass(frozen=True)
class Limits:
    """What searches may take."""

    searches: int = 2  # at once
    seconds: float = 20.0  # each
    memory: str | int = "64M"  # each


class Searches:
    """The slots, and who has one."""

    def __init__(self, shelf: Shelf, limits: Limits) -> None:
        self.limits = limits
        self._shelf = shelf
        self._free = asyncio.Semaphore(limits.searches)
        self._batches = asyncio.Semaphore(limits.searches)
        self._batches_waiting = 0
        self._oracles: list[tuple[list[Table], Oracle]] = []  # of free slots, last used last
        self._turns: dict[str, asyncio.Lock] = {}
        self._waiting: dict[str, int] = {}
        self._threads = ThreadPoolExecutor(limits.searches, thread_name_prefix="search")
        self.running = 0
        self._ending = 0  # called off, and not yet at their end

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(
        self,
        request: Request,
        board: Board,
        ask: Callable[[Oracle, Errand], T],
        *,
        solves: bool = True,
    ) -> T:
        """The answer of a search; raises what it raises, or `BusyError`.

        Where the solver is needed (`solves`), its kernels are there before the clock starts:
        the first search after an installation compiles them.
        """
        async with self.turn(client_of(request)), self._slot(board) as oracle:
            errand = Errand(self.limits.seconds)
            # Answers go through `report`, too, where a question has a clock of its own.
            oracle.report = lambda *_: errand.check()
            loop = asyncio.get_running_loop()

            def work() -> T:
                if solves and "solver" not in vars(oracle):
                    oracle.solver.solve_within(board.start(), 1)
                    errand.restart()
                return ask(oracle, errand)

            answer: asyncio.Future[T] = loop.run_in_executor(self._threads, work)
            try:
                return await asyncio.shield(answer)
            except asyncio.CancelledError:  # its client has left
                errand.call_off()
                self._ending += 1
                try:
                    with contextlib.suppress(TablebaseError):
                        await answer  # the slot is free only when it has ended
                finally:
                    self._ending -= 1
                raise
            finally:
                del answer  # its error knows this frame: together they would stay

    @contextlib.asynccontextmanager
    async def batch(self) -> AsyncIterator[Errand]:
        """One of the slots for batches of positions, and until when it is had."""
        if self._batches_waiting >= MOST_WAITING:
            raise BusyError(f"{MOST_WAITING} batches are waiting, wanted a moment of patience")
        self._batches_waiting += 1
        try:
            async with asyncio.timeout(self.limits.seconds):
                await self._batches.acquire()
        except TimeoutError:
            raise BusyError("all slots for batches are taken, wanted some patience") from None
        finally:
            self._batches_waiting -= 1
        try:
            yield Errand(self.limits.seconds)
        finally:
            self._batches.release()

    @contextlib.asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[None]:
        """One search at a time for each client."""
        if sum(self._waiting.values()) >= MOST_WAITING:
            raise BusyError(f"{MOST_WAITING} searches are waiting, wanted a moment of patience")
        turn = self._turns.setdefault(client, asyncio.Lock())
        self._waiting[client] = self._waiting.get(client, 0) + 1
        try:
            await self._wait(turn.acquire, "your last search is still running")
            try:
                yield
            finally:
                turn.release()
        finally:
            self._waiting[client] -= 1
            if not self._waiting[client]:
                del self._waiting[client], self._turns[client]

    @contextlib.asynccontextmanager
    async def _slot(self, board: Board) -> AsyncIterator[Oracle]:
        """One of the slots, with an oracle of the board."""
        await self._wait(self._free.acquire, f"all {self.limits.searches} searches are taken")
        self.running += 1
        try:
            tables, oracle = self._take(board)
            try:
                yield oracle
            finally:
                self._oracles.append((tables, oracle))
        finally:
            self.running -= 1
            self._free.release()

    async def _wait(self, acquire: Callable[[], Awaitable[object]], failure: str) -> None:
        """Wait for a turn or a slot; longer while a search that was called off comes to its end."""
        for _ in range(MOST_PATIENCE):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await acquire()
                    return
            if not self._ending:
                break
        raise BusyError(f"{failure}; wanted a moment of patience")

    def _take(self, board: Board) -> tuple[list[Table], Oracle]:
        tables = self._shelf.tables(board)
        for place, (with_tables, oracle) in enumerate(self._oracles):
            if oracle.board == board and with_tables is tables:
                return self._oracles.pop(place)
        if len(self._oracles) + self.running > self.limits.searches:
            vars(self._oracles.pop(0)[1]).pop("solver", None)  # its memory is given back now
        oracle = Oracle(
            board,
            tables,
            memory=self.limits.memory,
            time_limit=self.limits.seconds,
            threads=1,
            slice_nodes=SLICE_NODES,
        )
        return tables, oracle


def client_of(request: Request) -> str:
    """Who asks: the tab that names itself, else the address."""
    name = request.headers.get("x-client", "")
    return f"{request.peer} {name[:40]}"
