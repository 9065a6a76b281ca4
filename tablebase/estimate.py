"""What a build will take: time, memory, disk. Known before it starts, and refused if too much.

Sizes follow from the index alone. Where the halves' lists are small the
layout itself is computed; for the giants a bound that leaves out only vertical
lines serves. Rates are those measured by `scripts/bench_build.py` on two cores
of a 2.8 GHz Xeon; other machines differ, sizes do not.

    memory   = interpreter + lists of the halves + buffers of the threads + layers
    layers   : two neighbouring ones whole, if there is room; if not, as much of
               them as there is room for, and the rest is read again from disk
"""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retro.errors import BadTextError, DoesNotFitError
from retro.games.connect import Position, find_moves
from retro.games.connect_text import column_text
from retro.index.layout import Layout, layout_cost, make_layout, ranked_positions
from retro.walk.layer import GROUP_WORDS
from tablebase.format import Header
from tablebase.units import duration, size

if TYPE_CHECKING:
    from retro.games.connect import Board

SECONDS_AT_LEAST = 0.5
# Both walks, counting, packing, writing, per padded stored position. Small boards have short rows:
# 11 ns on 5x5, 3.9 on 6x5, 1.66 on 6x6, 1.55 on 7x5.
NANOSECONDS, SHORT_ROWS = 1.3, 3.7e9
READ_AGAIN = (
    1.6  # times as long if two layers do not fit into memory (7x6, by a sample of its layers)
)
# Larger tables pack better: 0.23 bits per padded position on 5x5, 0.175 on 6x5, 0.096 on 6x6.
BITS_IN_FILE, AT_POSITIONS, SHRINKS_BY = 0.23, 6e7, 0.144
BITS_OF_EARLY_PLIES = 1.0  # which hold few blank and few finished positions
SPILLED_SHARE = 0.6  # of the file's size: groups of both walks while building
BYTES_PER_PLY = 20_000  # attributes and chunk tables
BASE_MEMORY = 350_000_000  # interpreter, numba and its kernels, h5py
MIRRORED_SHARE = 0.5  # of a layer: mirrored blocks that the next layer reads
MIRROR_SAVES = 0.45  # the share of the ranked positions that is stored
SHARE_OF_FREE_MEMORY = 0.8
SHARE_FOR_LAYERS = 0.9  # if memory is short: pages are dropped whole
GROUPS_IN_HAND = 16  # being packed or unpacked by threads
EXACT_BYTES = 1_500_000_000  # compute the layout itself if it takes no more


class PlyPlan(NamedTuple):
    """What one ply will take."""

    positions: int  # stored, with padding
    seconds: float  # both walks
    memory: int  # bytes, if the whole layer is in memory


@dataclass(frozen=True)
class Estimate:
    """What building a table will take."""

    header: Header
    layout: Layout | None  # if it was computed
    ranked: int  # stored positions, at most
    plies: dict[int, PlyPlan]
    seconds: float
    memory: int  # bytes at the peak
    layer_memory: int | None  # of these, for layers; None: as much as they need
    least_memory: int  # with less the build cannot be done
    disk: int  # bytes of the finished file
    disk_while_building: int

    def summary(self) -> str:
        """One line for people."""
        return (
            f"{self.ranked:,} ranked positions, about {duration(self.seconds)}, "
            f"{size(self.memory)} of memory, {size(self.disk)} on disk "
            f"({size(self.disk_while_building)} while building)"
        )

    def as_json(self) -> dict[str, Any]:
        """What a program may read."""
        hidden = ("header", "layout", "layer_memory", "plies")
        content = {name: value for name, value in vars(self).items() if name not in hidden}
        header = asdict(self.header)
        return {
            "board": str(self.header.board),
            "connect": header["connect"],
            "root": header["root"],
            "first_ply": header["first_ply"],
            "last_ply": header["last_ply"],
            **content,
            "plies": [{"ply": ply, **plan._asdict()} for ply, plan in self.plies.items()],
        }


def estimate_build(
    board: Board,
    *,
    root: Position | None = None,
    plies: range | None = None,
    memory: int | None = None,
) -> Estimate:
    """What a table will take; arguments as `build_tablebase`.

    >>> from retro.games.connect import Board
    >>> estimate_build(Board(5, 4)).ranked
    2584821
    """
    cost = layout_cost(board, root=root)
    left_columns, lists = cost.left_columns, cost.memory
    layout = make_layout(board, left_columns, root) if lists <= EXACT_BYTES else None
    if layout is not None:
        ranked = int(ranked_positions(layout).sum())
        bits = [64 * int(words) for words in layout.stored_words]
        planes = len(layout.left.colourings) * (board.height + 2) * left_columns // 8
        lists = 8 * (len(layout.left.colourings) + len(layout.right.colourings))
        lists += layout.shape.offset.nbytes + planes
    else:
        saves = MIRROR_SAVES if root is None or not root.ply else 1
        bits = [int(bound * saves) for bound in cost.ranked]
        ranked = sum(bits)
    header = make_header(board, left_columns, root or Position(board), plies)
    layer_bytes = [int(n * (1 + MIRRORED_SHARE) / 4) for n in bits]
    fixed = BASE_MEMORY + 2 * lists + GROUPS_IN_HAND * min(16 * GROUP_WORDS[1], max(layer_bytes))
    whole = fixed + max(a + b for a, b in zip(layer_bytes, [0, *layer_bytes], strict=False))
    least = (
        min(whole, fixed + int(16 * _largest_need(layout) / SHARE_FOR_LAYERS))
        if layout is not None
        else whole
    )
    allowed = memory if memory is not None else _share_of_free_memory(least)
    layer_memory = None
    if allowed is not None and allowed < whole:
        layer_memory = int(SHARE_FOR_LAYERS * (allowed - fixed))
    per_bit = NANOSECONDS / 1e9 * (1 + (SHORT_ROWS / sum(bits)) ** 0.5)
    per_bit *= READ_AGAIN if layer_memory is not None else 1
    per_position = BITS_IN_FILE * (max(sum(bits), AT_POSITIONS) / AT_POSITIONS) ** -SHRINKS_BY
    whole_file = sum(bits) * per_position / 8
    early = sum(bits[ply] for ply in header.plies) * BITS_OF_EARLY_PLIES / 8
    disk = int(min(whole_file, early)) + BYTES_PER_PLY * len(bits)
    return Estimate(
        header=header,
        layout=layout,
        ranked=ranked,
        plies={
            ply: PlyPlan(bits[ply], bits[ply] * per_bit, layer_bytes[ply])
            for ply in header.counted_plies
        },
        seconds=SECONDS_AT_LEAST + sum(bits) * per_bit,
        memory=whole if allowed is None else min(whole, allowed),
        layer_memory=layer_memory,
        least_memory=least,
        disk=disk,
        disk_while_building=2 * disk + int(SPILLED_SHARE * whole_file),
    )


def _largest_need(layout: Layout) -> int:
    """Words of the block that needs most: its own, and those of its successors.

    A successor that is not stored counts twice, with its mirror image. Blocks
    come in groups, so each may bring some neighbours with it.
    """
    offset, stored = layout.shape.offset, layout.shape.stored
    words = offset[:, :, -1] - offset[:, :, 0]
    to_load = np.where(stored, words, 2 * words)
    need = words.copy()
    for half, total, loaded in (
        (layout.left, need, to_load),
        (layout.right, need.T, to_load.T),
    ):
        for column in range(half.geometry.width):
            playable = np.flatnonzero(half.heights[:, column] < layout.board.height)
            total[playable] += loaded[playable + half.radix[column]]
    return int(need[stored].max()) + (layout.board.width + 1) * 2 * GROUP_WORDS[1]


def make_header(
    board: Board, left_columns: int, root: Position, plies: range | None = None
) -> Header:
    """The header of a table of some plies, by default all, from a root."""
    mirror = int(2 * left_columns >= board.width and not root.ply)
    first, last = root.ply, board.cells
    if plies is not None:
        if not (len(plies) and first <= plies[0] and plies[-1] <= last):
            found = f"{plies.start}..{plies.stop - 1}"
            raise BadTextError(f"found plies {found}, wanted some of {first}..{last}")
        first, last = plies[0], plies[-1]
    sizes = (board.width, board.height, board.connect)
    moves = "".join(column_text(column) for column in find_moves(root.check()) or ())
    return Header(*sizes, left_columns, mirror, first_ply=first, last_ply=last, root=moves)


def _share_of_free_memory(least: int) -> int | None:
    free = available_memory()
    return None if free is None else max(least, int(SHARE_OF_FREE_MEMORY * free))


def require_fit(estimate: Estimate, folder: Path, already_written: int = 0) -> None:
    """Raise `DoesNotFitError` if the build needs more memory or disk than there is.

    `already_written` are bytes that an interrupted build has left on disk.
    """
    needs = f"a {estimate.header.board} table needs {estimate.summary()}"
    memory = available_memory()
    if estimate.memory < estimate.least_memory:
        raise DoesNotFitError(
            f"a {estimate.header.board} table needs at least {size(estimate.least_memory)} of "
            f"memory, but may take {size(estimate.memory)}"
        )
    if memory is not None and estimate.memory > memory:
        raise DoesNotFitError(f"{needs}; there is {size(memory)} of free memory")
    disk = shutil.disk_usage(existing(folder)).free
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


def existing(folder: Path) -> Path:
    """The folder itself or its nearest ancestor that exists."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder
