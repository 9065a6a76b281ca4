"""Builds killed at any moment, of every game and on every executor, and gone on with.

A build runs as a command of its own; after a while it gets SIGKILL, SIGTERM or SIGINT, and the
same command is run again, until it finishes. The table must be the one that an undisturbed
build makes, and nothing may be left beside it.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import tablebase as tb
from campaigns.common import Campaign, Case, scratch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUILDS = (
    ("5x4",), ("5x4", "--processes", "2"), ("5x4", "--threads", "1", "--memory", "200M"),
    ("4x4", "--from", "22"), ("5x3", "--plies", "3..9"), ("mnk", "4x3"), ("domineering", "4x4"),
    ("notakto", "4x3"), ("puissance-plus", "3x3"), ("quarto", "2x2", "--attributes", "4"),
)  # fmt: skip
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
MOST_RUNS = 12
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
                _start(words, path).communicate(timeout=PATIENCE)
                known[words] = _digest(path), time.monotonic() - begin
                path.unlink()
            rng = random.Random(f"{campaign.seed} {number}")
            path = folder / f"{number}.h5"
            name = f"build {number}: {' '.join(words)}"
            yield Case(name, partial(_attempt, campaign, rng, words, path, known[words]))


def _start(words: tuple[str, ...], path: Path) -> subprocess.Popen[str]:
    # With parts on disk even where a build is short: the folder of parts is there already.
    path.with_name(path.name + ".partial").mkdir(exist_ok=True)
    enter = "import sys; from tablebase.cli import entry; sys.exit(entry.build_tablebase())"
    return subprocess.Popen(
        [sys.executable, "-c", enter, *words, "--out", str(path), "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


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
        process = _start(words, path)
        number = rng.choice(SIGNALS)
        try:
            process.communicate(timeout=rng.uniform(0.2, 1.0) * seconds)
            break  # it was done before
        except subprocess.TimeoutExpired:
            if number == signal.SIGKILL:
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)
        complaints = process.communicate(timeout=PATIENCE)[1]
        campaign.note(number.name)
        wanted = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}[number]
        if process.returncode not in (wanted, 0) or "Traceback" in complaints:
            return f"{number.name} ended with {process.returncode}: {complaints[-300:]}"
    process = _start(words, path)
    complaints = process.communicate(timeout=PATIENCE)[1]
    if process.returncode != 0:
        return f"going on ended with {process.returncode}: {complaints[-300:]}"
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
