"""Builds killed at any moment, of every game and on every executor, and gone on with.

A build runs as a process of its own, forked so that it need not import everything anew; after a
while it gets SIGKILL, SIGTERM or SIGINT, and the same command is run again, until it finishes.
The table must be the one that an undisturbed build makes, and nothing may be left beside it.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import tablebase as tb
from campaigns.common import Campaign, Case, scratch
from tablebase.cli import entry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUILDS = (
    ("5x4",), ("5x4", "--processes", "2"), ("5x4", "--threads", "1", "--memory", "500M"),
    ("4x4", "--from", "22"), ("5x3", "--plies", "3..9"), ("mnk", "4x3"), ("domineering", "4x4"),
    ("notakto", "4x3"), ("puissance-plus", "3x3"), ("quarto", "2x2", "--attributes", "4"),
    ("5x4", "--cluster", "local"), ("mnk", "4x3", "--cluster", "local"),
)  # fmt: skip
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
PATIENCE = 300


def cases(campaign: Campaign) -> Iterator[Case]:
    """Every case is a kill; the last run of a build is checked with its last kill."""
    with scratch() as folder:
        known: dict[tuple[str, ...], tuple[str, float]] = {}
        for number in range(10**9):
            words = BUILDS[number % len(BUILDS)]
            if words not in known:
                begin = time.monotonic()
                path = folder / "known.h5"
                code, complaints = _Build(words, path).end(PATIENCE)
                assert code == 0, complaints
                known[words] = _digest(path), time.monotonic() - begin
                path.unlink()
            rng = random.Random(f"{campaign.seed} {number}")
            path = folder / f"{number}.h5"
            name = f"build {number}: {' '.join(words)}"
            yield Case(name, partial(_attempt, campaign, rng, words, path, known[words]))


class _Build:
    """A build that runs as a process."""

    def __init__(self, words: tuple[str, ...], path: Path) -> None:
        # With parts on disk even where a build is short: the folder of parts is there already.
        path.with_name(path.name + ".partial").mkdir(exist_ok=True)
        self._said = path.with_name("said.txt")
        command = [*words, "--out", str(path), "--quiet"]
        context: Any = multiprocessing.get_context("fork")
        self._process = context.Process(target=_command, args=(command, self._said))
        self._process.start()

    def is_done(self, seconds: float) -> bool:
        """Wait so long; whether it has ended."""
        self._process.join(seconds)
        return self._process.exitcode is not None

    def send(self, number: signal.Signals) -> None:
        if number == signal.SIGKILL:  # with all that it has started
            os.killpg(self._process.pid, number)
        else:
            os.kill(self._process.pid, number)

    def end(self, seconds: float) -> tuple[int, str]:
        """Its exit code and what it complained of."""
        if not self.is_done(seconds):
            self.send(signal.SIGKILL)
            return 999, f"it did not end within {seconds} s"
        return int(self._process.exitcode), self._said.read_text()


def _command(words: list[str], said: Path) -> None:
    os.setsid()
    with said.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.argv = ["build-tablebase", *words]
    sys.exit(entry.build_tablebase())


def _digest(path: Path) -> str:
    with tb.open_tablebase(path) as table:
        return table.digest


def _attempt(
    campaign: Campaign,
    rng: random.Random,
    words: tuple[str, ...],
    path: Path,
    known: tuple[str, float],
) -> str | None:
    """Kill a build some times, let it finish, look at what is there."""
    digest, seconds = known
    for _ in range(rng.randint(1, 3)):
        build = _Build(words, path)
        number = rng.choice(SIGNALS)
        if build.is_done(rng.uniform(0.1, 1.0) * seconds):
            break  # before it was killed
        build.send(number)
        code, complaints = build.end(PATIENCE)
        campaign.note(number.name)
        wanted = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}[number]
        if code not in (wanted, 0) or "Traceback" in complaints:
            return f"{number.name} ended with {code}: {complaints[-300:]}"
    code, complaints = _Build(words, path).end(PATIENCE)
    if code != 0:
        return f"going on ended with {code}: {complaints[-300:]}"
    if _digest(path) != digest:
        return "another table"
    path.with_name(path.name + ".partial").mkdir(exist_ok=True)
    tb.build(_board(path), path, root=_root(path), plies=_plies(path))  # tidies
    left = sorted(p.name for p in path.parent.glob(f"{path.name}*") if p != path)
    path.unlink()
    return f"left {left}" if left else None


def _board(path: Path) -> tb.Board:
    with tb.open_tablebase(path) as table:
        return table.board


def _root(path: Path) -> tb.Position:
    with tb.open_tablebase(path) as table:
        return table.root


def _plies(path: Path) -> range | None:
    with tb.open_tablebase(path) as table:
        return table.plies if table.index == "two-halves" else None
