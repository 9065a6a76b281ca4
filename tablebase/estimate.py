"""What a build will take: time, memory, disk. Known before it starts, and refused if too much.

Sizes follow from the index alone. Where the halves' lists are small the
layout itself is computed; for the giants a bound that leaves out only vertical
lines serves. Rates are those measured by `scripts/bench_build.py` on two cores
of a 2.8 GHz Xeon; other machines differ, sizes do not.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from retro.errors import DoesNotFitError
from retro.index.layout import (
    default_left_columns,
    layout_memory,
    make_layout,
    ranked_bound,
    ranked_positions,
)
from tablebase.units import duration, size

if TYPE_CHECKING:
    from retro.games.connect import Board

SECONDS_AT_LEAST = 0.5
NANOSECONDS_PER_BIT = 2.2  # both walks, compression, reading back; per padded position
BITS_ON_DISK = 0.4  # per padded position, both planes
BYTES_PER_PLY = 20_000  # attributes and chunk tables
BASE_MEMORY = 250_000_000  # interpreter, numba, h5py
LAYERS_IN_MEMORY = 3  # one walked, one read, one being written
EXACT_BYTES = 1_500_000_000  # compute the layout itself if it takes no more


@dataclass(frozen=True)
class Estimate:
    """What building a table will take."""

    board: str
    connect: int
    ranked: int  # positions with a rank, at most
    seconds: float
    memory: int  # bytes at the peak
    disk: int  # bytes of the finished file
    disk_while_building: int

    def summary(self) -> str:
        """One line for people."""
        return (
            f"{self.ranked:,} ranked positions, about {duration(self.seconds)}, "
            f"{size(self.memory)} of memory, {size(self.disk)} on disk "
            f"({size(self.disk_while_building)} while building)"
        )


def estimate_build(board: Board) -> Estimate:
    """What a table of the whole board will take.

    >>> from retro.games.connect import Board
    >>> estimate_build(Board(5, 4)).ranked
    4658609
    """
    left_columns = default_left_columns(board)
    lists = layout_memory(board, left_columns)
    if lists <= EXACT_BYTES:
        layout = make_layout(board, left_columns)
        ranked = int(ranked_positions(layout).sum())
        bits = [64 * int(words) for words in layout.layer_words]
        planes = len(layout.left.colourings) * (board.height + 2) * left_columns // 8
        lists = 8 * (len(layout.left.colourings) + len(layout.right.colourings))
        lists += layout.shape.offset.nbytes + planes
    else:
        bits = ranked_bound(board)
        ranked = sum(bits)
    disk = int(sum(bits) * BITS_ON_DISK / 8) + BYTES_PER_PLY * len(bits)
    return Estimate(
        board=str(board),
        connect=board.connect,
        ranked=ranked,
        seconds=SECONDS_AT_LEAST + sum(bits) * NANOSECONDS_PER_BIT / 1e9,
        memory=BASE_MEMORY + 2 * lists + LAYERS_IN_MEMORY * max(bits) * 2 // 8,
        disk=disk,
        disk_while_building=2 * disk,
    )


def require_fit(estimate: Estimate, folder: Path, already_written: int = 0) -> None:
    """Raise `DoesNotFitError` if the build needs more memory or disk than there is.

    `already_written` are bytes that an interrupted build has left on disk.
    """
    needs = f"a {estimate.board} table needs {estimate.summary()}"
    memory = available_memory()
    if memory is not None and estimate.memory > memory:
        raise DoesNotFitError(f"{needs}; there is {size(memory)} of free memory")
    disk = shutil.disk_usage(_existing(folder)).free
    if estimate.disk_while_building - already_written > disk:
        raise DoesNotFitError(f"{needs}; {folder} has {size(disk)} free")


def available_memory() -> int | None:
    """Bytes that this process may still take, or None if the system does not say."""
    candidates = []
    try:
        memory = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        candidates.append(int(memory["MemAvailable"].split()[0]) * 1024)
    except (OSError, KeyError):
        if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
            candidates.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text().strip()
        if limit != "max":
            candidates.append(int(limit) - int(used))
    except (OSError, ValueError):
        pass
    return min(candidates) if candidates else None


def _existing(folder: Path) -> Path:
    """The folder itself or its nearest ancestor that exists."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder
