"""How fast this machine is: a short calibration, kept in the user's cache folder.

What a build does is counted exactly (words, rows, mirrored words, packed words); what each
costs was measured on one machine and stands below. How fast another machine is beside
that one, a small board tells that is walked and packed in about a second.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import time
from pathlib import Path
from typing import NamedTuple

from retro.games.connect4.rules import Connect4Board
from retro.index.halves.sizes import count_sizes
from retro.version import VERSION
from retro.walk.halves.layer import Own, Room
from retro.walk.halves.layers import backward, prepare, whole_task
from retro.walk.halves.task import kept_groups
from tablebase.files.atomic import write_whole
from tablebase.files.packing import pack, pack_group

CALIBRATED_ON = (5, 5)
FASTER_THAN_THIS = (0.05, 50.0)  # a factor outside of this is no measurement


class Work(NamedTuple):
    """What is done to words: how many, in how many rows, of how many mirrored blocks."""

    words: int = 0
    rows: int = 0
    mirrored: int = 0
    read: int = 0  # words fetched and unpacked
    written: int = 0  # words packed and written as groups
    counted: int = 0  # words whose positions are counted
    kept: int = 0  # words that go into the file

    def plus(self, other: Work) -> Work:
        return Work(*(a + b for a, b in zip(self, other, strict=True)))


class Costs(NamedTuple):
    """Nanoseconds of one core for each unit of `Work`."""

    words: float
    rows: float
    mirrored: float
    read: float
    written: float
    counted: float = 0
    kept: float = 0


# Two cores of a 2.8 GHz Xeon, November 2026. Rows are words beside that: a row has a price.
# Kept: blanking 8, packing and digests of chunks 25.
COSTS = Costs(words=19, rows=1500, mirrored=55, read=18, written=40, counted=12, kept=33)


def seconds_of(work: Work, factor: float) -> float:
    """Seconds of one core for some work."""
    return factor * sum(a * b for a, b in zip(COSTS, work, strict=True)) / 1e9


def machine_factor() -> float:
    """How many times as long as on the machine above work takes here; measured once, then kept."""
    kept = _kept_in()
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(kept.read_text())
        if found["machine"] == _machine():
            return float(found["factor"])
    factor = measure_factor()
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        content = {"machine": _machine(), "factor": factor}
        write_whole(kept, json.dumps(content).encode(), synced=False)
    return factor


def _kept_in() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "retro-tablebase" / "speed.json"


def _machine() -> str:
    return f"{platform.node()} {platform.processor()} {os.cpu_count()} {VERSION}"


def measure_factor() -> float:
    """Walk and pack a small board on one core: how many times as long as there it takes."""
    _run(Connect4Board(4, 3))  # compiles
    board = Connect4Board(*CALIBRATED_ON)
    begin = time.process_time()
    work = _run(board)
    seconds = time.process_time() - begin
    expected = seconds_of(work, 1)
    low, high = FASTER_THAN_THIS
    return min(max(seconds / expected, low), high)


def _run(board: Connect4Board) -> Work:
    """Walk a board and pack it; counting has costs of its own on boards as small as this one."""
    prepared = prepare(board, threads=1)
    left_columns = prepared.layout.left.geometry.width
    rows = count_sizes(board, left_columns, prepared.layout.root).rows
    total, room = Work(), Room()
    for layer in backward(prepared):
        words = layer.stored.shape[1]
        mirrored = layer.values.shape[1] - words
        task, own = whole_task(prepared, layer.ply), Own(layer.values, 0)
        for begin, planes in kept_groups(prepared, task, own, room, blanked=True):
            pack_group(begin, planes)
        for plane in layer.stored:
            pack(plane)
        total = total.plus(Work(words, int(rows[layer.ply]), mirrored, written=words, kept=words))
    return total
