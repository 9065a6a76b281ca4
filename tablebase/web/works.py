"""Builds in the background: planned for anyone, begun, paused and resumed by who has the token.

planned --> building --> built          one at a time, each in a process (`worker`)
              |  ^   \\-> failed
              v  |
             paused                     what is done stays done: parts are kept on disk
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from retro.errors import BadTextError, DoesNotFitError, TablebaseError
from tablebase.web.guard import BusyError

if TYPE_CHECKING:
    from pathlib import Path

    from retro.games.game import Board
    from tablebase.answers import Json

PATIENCE = 20.0  # seconds to wait while other plans are made
PLAN_SECONDS = 120.0  # of a machine that is busy: the worker bounds its own CPU
MOST_PLANNING, MOST_PLANS = 2, 200  # at once, and kept
KEPT_SECONDS = 600.0  # then disks may have more or less room
PAUSE_SECONDS = 5.0  # then it is killed: what is done stays done as well
CLOSE_SECONDS = 0.5  # the same, when the service ends
MOST_REMEMBERED = 20
Stage = Literal["building", "paused", "built", "failed"]


@dataclass
class Work:
    """A build and how far it is."""

    board: Board
    stage: Stage = "building"
    plan: Json | None = None
    progress: Json | None = None
    built: Json | None = None
    error: Json | None = None
    begun: float = field(default_factory=time.monotonic)
    process: asyncio.subprocess.Process | None = None

    def about(self) -> Json:
        """For the page."""
        return {
            **self.board.to_dict(),
            "name": self.board.name,
            "stage": self.stage,
            "plan": self.plan,
            "progress": self.progress,
            "built": self.built,
            "error": self.error,
        }


class Works:
    """The builds of this service; `memory` is what one may take."""

    def __init__(self, folder: Path, memory: str | int) -> None:
        self._folder, self._memory = folder, memory
        self._works: dict[str, Work] = {}
        self._planning = asyncio.Semaphore(MOST_PLANNING)
        self._plans: dict[Board, tuple[float, Json | TablebaseError]] = {}
        self._watching: set[asyncio.Task[None]] = set()

    def list(self) -> Json:
        return {"works": [work.about() for work in self._works.values()]}

    async def plan(self, board: Board) -> Json:
        """What a build will take; remembered, as is what no plan can be made of."""
        plan = self._known_plan(board)
        if plan is None:
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._planning.acquire()
                try:
                    async with asyncio.timeout(PLAN_SECONDS):
                        plan = self._known_plan(board) or await self._make_plan(board)
                finally:
                    self._planning.release()
            except TimeoutError:
                raise BusyError(f"{board} was not planned in time; other plans are made") from None
        if isinstance(plan, TablebaseError):
            raise plan
        return plan

    def _known_plan(self, board: Board) -> Json | TablebaseError | None:
        until, plan = self._plans.get(board, (0.0, None))
        return plan if time.monotonic() < until else None

    async def _make_plan(self, board: Board) -> Json | TablebaseError:
        """A plan, or why there is none."""
        process = await self._start(board, "plan")
        try:
            output = await _output(process).read()
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
            status = await process.wait()
        found: Json = {}
        for line in output.splitlines():
            found |= json.loads(line)
        error = found.get("error", {"kind": "", "error": f"{board} cannot be planned"})
        plan: Json | TablebaseError = found.get("plan", BadTextError(error["error"]))
        if error["kind"] == "DoesNotFitError":
            plan = DoesNotFitError(error["error"])
        elif status < 0:  # the system ended it
            plan = DoesNotFitError(f"{board} is too large: even a plan of it takes too long")
        self._plans[board] = time.monotonic() + KEPT_SECONDS, plan
        if len(self._plans) > MOST_PLANS:
            del self._plans[next(iter(self._plans))]
        return plan

    async def begin(self, board: Board) -> Json:
        """Begin a build, or go on with one that was paused."""
        busy = next((w for w in self._works.values() if w.stage == "building"), None)
        if busy is not None and busy.board != board:
            raise BusyError(f"{busy.board} is being built; wanted one at a time")
        if busy is not None:
            return busy.about()
        work = Work(board)
        self._works.pop(board.name, None)
        self._works[board.name] = work
        while len(self._works) > MOST_REMEMBERED:
            self._works.pop(next(iter(self._works)))
        work.process = await self._start(board, "build")
        task = asyncio.get_running_loop().create_task(self._watch(work))
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)
        return work.about()

    async def pause(self, board: Board, seconds: float = PAUSE_SECONDS) -> Json:
        """Stop a build; what is done stays done."""
        work = self._works.get(board.name)
        if work is None or work.stage != "building" or work.process is None:
            raise BadTextError(f"{board} is not being built")
        work.stage = "paused"
        with contextlib.suppress(ProcessLookupError):
            work.process.send_signal(signal.SIGINT)
        try:
            async with asyncio.timeout(seconds):
                await work.process.wait()
        except TimeoutError:
            work.process.kill()
            await work.process.wait()
        return work.about()

    async def close(self) -> None:
        """Stop what runs."""
        for work in self._works.values():
            if work.stage == "building":
                with contextlib.suppress(BadTextError):
                    await self.pause(work.board, CLOSE_SECONDS)

    async def _start(self, board: Board, do: str) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tablebase.web.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=1_000_000,
        )
        words = [board.game_name, board.size_text]
        words += [f"{name}={text}" for name, text in board.options.items()]
        order = {
            "do": do,
            "board": " ".join(words),
            "folder": str(self._folder),
            "memory": self._memory,
        }
        assert process.stdin is not None
        process.stdin.write(json.dumps(order).encode() + b"\n")
        await process.stdin.drain()
        process.stdin.close()
        return process

    async def _watch(self, work: Work) -> None:
        """Hear what a build tells until it ends."""
        assert work.process is not None
        async for line in _output(work.process):
            news = json.loads(line)
            for name in ("plan", "progress", "built", "error"):
                if name in news:
                    setattr(work, name, news[name])
        await work.process.wait()
        if work.stage == "building":
            work.stage = "built" if work.built else "failed"
            if not work.built and not work.error:
                work.error = {"error": "the build ended early", "kind": "", "exit_code": 1}


def _output(process: asyncio.subprocess.Process) -> asyncio.StreamReader:
    assert process.stdout is not None
    return process.stdout
