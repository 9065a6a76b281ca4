"""What a table saves a search, and how often a table of a smaller board could.

    python scripts/study_leaves.py                 # 6x5 with all plies from p on of its table
    python scripts/study_leaves.py --smaller       # smaller boards inside 7x5 and 7x6

The first needs the table (`build-tablebase 6x5`; `--board 5x5` does with less).

The second asks nodes of real searches: is what is left of the game a game on a
smaller board? That is so when some adjacent columns, from some row up to the
top, hold every empty cell, and every line that leaves this window is dead (has
stones of both players). Then the window is a position of the smaller board,
whose table is exact if its stones have the right numbers; dead stones in the
window may change colour to reach them, as long as they revive no line.

    . . # #      3x2 window at the top left of 4x4: columns 1-3, rows 3-4;
    x o . #      outside all is full, and each line that leaves it must hold
    # # # #      an x and an o
    # # # #
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retro.games.connect4.rules import Connect4Board
from retro.search.connect4 import goals as engine_goals
from retro.search.connect4.leaves import Leaves
from retro.search.connect4.table import DATA_BITS, ODD_A, ODD_B
from tablebase import open_tablebase

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

ENGINE_BYTES = 1 << 28
CHECK_EVERY = 50  # nodes: their values on both boards are compared
LARGEST_WINDOW = 30  # cells: 6x5 is the largest table that memory holds at ease
FIRST_PLIES = (4, 6, 8, 10, 12, 14, 16, 20, 24)


def study_plies(board: Connect4Board) -> list[dict[str, Any]]:
    """Solve the empty board with the plies from p on of its table in memory, for several p."""
    engine = make_engine(board)
    rows = []
    with open_tablebase(board) as table:
        for first in (None, *(p for p in FIRST_PLIES if p < board.cells)):
            begin = time.perf_counter()
            leaves = engine.leaves if first is None else table.leaves(first, 1 << 40)
            assert leaves is not None  # there is no limit
            row: dict[str, Any] = {"board": str(board), "from_ply": first}
            if isinstance(leaves, Leaves):
                row["load_seconds"] = time.perf_counter() - begin
                row["bytes"] = leaves.words.nbytes
            for strong in (False, True):
                kind = "distance" if strong else "value"
                found, seconds = timed(engine._replace(leaves=leaves), strong)
                row |= {kind: found.value, f"{kind}_nodes": found.nodes}
                row[f"{kind}_seconds"] = seconds
            rows.append(row)
            del leaves
    return rows


def make_engine(board: Connect4Board) -> engine_goals.Engine:
    sizes = board.width, board.height, board.connect
    return engine_goals.make_engine(*sizes, memory=ENGINE_BYTES)


def timed(engine: engine_goals.Engine, strong: bool) -> tuple[engine_goals.Answer, float]:
    """Solve the empty board from a cleared table; CPU seconds of a second run, kernels warm."""
    for _ in range(2):
        engine.table[:] = 0
        begin = time.process_time()
        found = engine_goals.solve(engine, 0, 0, strong)
        seconds = time.process_time() - begin
    return found, seconds


class Nodes(NamedTuple):
    """Positions by the stones of the side to move and of the other."""

    mover: Words
    other: Words


def searched_nodes(engine: engine_goals.Engine, sample: int) -> Nodes:
    """Some of the nodes that a search has left in its table: codes can be read back."""
    hashing = engine.hashing
    slots = np.flatnonzero(engine.table)
    slots = np.random.default_rng(1).choice(slots, min(sample, len(slots)), replace=False)
    tags = engine.table[slots] >> np.uint64(DATA_BITS)
    code = (tags << hashing.bucket_bits) | (slots // 2).astype(np.uint64)
    size = 1 << int(hashing.code_mask).bit_length()
    for odd in (ODD_B, ODD_A):  # undo `scramble`, last step first
        code ^= code >> hashing.fold
        code = (code * np.uint64(pow(int(odd), -1, size))) & hashing.code_mask
    return Nodes(*decode(engine, code))


def decode(engine: engine_goals.Engine, code: Words) -> tuple[Words, Words]:
    """Stones from codes: a column of height k holds its mover's stones plus 2**k - 1."""
    board = engine.board
    mover, mask = np.zeros((2, len(code)), np.uint64)
    for column in range(int(board.width)):
        shift = np.uint64(column) * board.step
        part = (code >> shift) & ((np.uint64(1) << board.step) - np.uint64(1))
        run = np.zeros_like(part)
        for height in range(1, int(board.height) + 1):
            ones = np.uint64((1 << height) - 1)
            run = np.where(part >= ones, ones, run)
        mover |= (part - run) << shift
        mask |= run << shift
    return mover, mask ^ mover


def window_cells(board: Connect4Board, left: int, width: int, height: int) -> int:
    cells = itertools.product(range(left, left + width), range(board.height - height, board.height))
    return sum(board.bit(column, row) for column, row in cells)


def inside(board: Connect4Board, nodes: Nodes, window: int) -> NDArray[np.bool_]:
    """Whether what is left of the game is a game in the window alone."""
    everything = window_cells(board, 0, board.width, board.height)
    outside = np.uint64(everything & ~window)
    found: NDArray[np.bool_] = ((nodes.mover | nodes.other) & outside) == outside
    for line in board.lines:
        if line & ~window:
            cells = np.uint64(line)
            found &= ((nodes.mover & cells) != 0) & ((nodes.other & cells) != 0)
    return found


def in_fitting_counts(
    board: Connect4Board, mover: int, other: int, window: int
) -> tuple[int, int] | None:
    """The window's stones in the numbers of a game, some dead ones recoloured if need be.

    Greedily: a stone may change if every line through it has both colours without it.
    """
    mover, other = mover & window, other & window
    lines = [line for line in board.lines if not line & ~window]
    wanted = (mover | other).bit_count() // 2  # of the side to move
    while mover.bit_count() != wanted:
        many = mover if mover.bit_count() > wanted else other
        for bit in (1 << i for i in range(64) if many >> i & 1):
            through = [line & ~bit for line in lines if line & bit]
            if all(mover & line and other & line for line in through):
                mover, other = mover ^ bit, other ^ bit
                break
        else:
            return None
    return mover, other


def moved(board: Connect4Board, small: Connect4Board, left: int, stones: int) -> int:
    """Stones of a window as stones of the smaller board."""
    down = board.height - small.height
    cells = itertools.product(range(small.width), range(small.height))
    return sum(small.bit(c, r) for c, r in cells if stones & board.bit(left + c, r + down))


def study_smaller(board: Connect4Board, node_limit: int, sample: int) -> dict[str, Any]:
    """How many nodes of a search from the empty board are positions of a smaller board."""
    engine = make_engine(board)
    engine_goals.solve(engine, 0, 0, node_limit=node_limit)
    nodes = searched_nodes(engine, sample)
    fires, fits = np.zeros((2, len(nodes.mover)), bool)
    checked = wrong = 0
    for width, height in itertools.product(range(1, board.width + 1), range(1, board.height + 1)):
        if width * height > LARGEST_WINDOW or (width, height) == (board.width, board.height):
            continue
        small = Connect4Board(width, height)
        judge = make_engine(small)
        for left in range(board.width - width + 1):
            window = window_cells(board, left, width, height)
            for i in np.flatnonzero(inside(board, nodes, window) & ~fits):
                fires[i] = True
                mover, other = int(nodes.mover[i]), int(nodes.other[i])
                stones = in_fitting_counts(board, mover, other, window)
                fits[i] = stones is not None
                if stones is not None and i % CHECK_EVERY == 0:
                    ours, theirs = (moved(board, small, left, s) for s in stones)
                    alone = engine_goals.solve(judge, ours, ours | theirs).value
                    checked += 1
                    wrong += alone != engine_goals.solve(engine, mover, mover | other).value
    plies = np.bitwise_count(nodes.mover | nodes.other)
    return {
        "board": str(board),
        "nodes": len(fires),
        "mean_ply": float(plies.mean()),
        "in_a_window": int(fires.sum()),
        "counts_fit": int(fits.sum()),
        "mean_ply_there": float(plies[fires].mean()) if fires.any() else None,
        "compared": checked,
        "wrong": wrong,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--board", default="6x5", metavar="WxH")
    parser.add_argument("--smaller", action="store_true", help="smaller boards inside larger ones")
    parser.add_argument("--sample", type=int, default=200_000, help="nodes looked at")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.smaller:
        boards = (Connect4Board(6, 5), Connect4Board(7, 5), Connect4Board(7, 6))
        rows = [study_smaller(board, 10_000_000, options.sample) for board in boards]
    else:
        rows = study_plies(Connect4Board.parse(options.board, 4))
    if options.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print("  ".join(f"{name} {shown(value)}" for name, value in row.items()))


def shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    main()
