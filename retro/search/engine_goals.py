"""From questions to values: which goals to ask, one position or many, in jitted code.

What is known of a position is an interval `low <= score <= high`; every question
narrows it.  Near ends are cheap to prove and far ones dear, so the horizon grows:
a win within 8 plies? a loss? within 14? ...; then the null windows around 0, then
towards the exact score.  The weak value needs only the sign.

    score  -18 ... -7 ... -1  0  1 ... 7 ... 18       (7x6)
                    ^      ^     ^     ^
              loss soon?  loss? win?  win soon?

`Engine` holds a board, its table and its scratch memory.  Values are for the side
to move; plies count to the end of the game under best play.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.jit import entry, inner
from retro.search.engine import BEYOND, UNKNOWN, Stack, ask, make_stack, win_score
from retro.search.engine_bits import Board, make_board, popcount
from retro.search.engine_leaves import Leaves, NoLeaves, fork_leaves
from retro.search.engine_table import Hashing, make_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FIRST_HORIZON = 8
HORIZON_STEP = 6
WEAK_HORIZON = 14  # at most, and at most half of the empty cells
NO_LIMIT = 1 << 62


class Engine(NamedTuple):
    """A board with the table and the scratch memory of a solver."""

    board: Board
    table: np.ndarray
    hashing: Hashing
    stack: Stack
    leaves: Leaves | NoLeaves


class Answer(NamedTuple):
    """What is known of a position; exact if `done`."""

    done: bool
    value: int  # +1, 0, -1 for the side to move
    plies: int  # to the end of the game, -1 unless solved strongly
    low: int
    high: int
    nodes: int


def make_engine(width: int, height: int, connect: int = 4, memory: int = 1 << 30) -> Engine:
    """Return an engine whose table takes at most `memory` bytes."""
    board = make_board(width, height, connect)
    table, hashing = make_table(board, memory)
    return Engine(board, table, hashing, make_stack(board), NoLeaves())


def fork(engine: Engine, seed: int) -> Engine:
    """The same table with scratch memory of its own: for one more thread on the same question."""
    stack = make_stack(engine.board, seed)._replace(clock=engine.stack.clock)
    return engine._replace(stack=stack, leaves=fork_leaves(engine.leaves))


def solve(
    engine: Engine,
    mover: int,
    mask: int,
    strong: bool = False,
    node_limit: int = NO_LIMIT,
    known: int | None = None,
) -> Answer:
    """Solve one position.

    Parameters
    ----------
    mover, mask : int
        Stones of the side to move, and of both; nobody has a line yet.
    strong : bool
        Ask for the distance too.
    node_limit : int
        Give up after this many nodes; `done` is then False.  To go on, call again:
        the table remembers.
    known : int
        The value, where a tablebase has it: only the distance is left to be searched.

    Examples
    --------
    >>> solve(make_engine(4, 4, memory=1 << 16), 0, 0, strong=True)[:3]
    (True, 0, 16)
    """
    check_position(engine.board, mover, mask)
    bounds, nodes, solved = _run(engine, [mover], [mask], strong, node_limit, known)
    low, high = (int(b) for b in bounds[0])
    value = (low > 0) - (high < 0)
    plies = plies_of(engine.board, low, mask) if strong and solved else -1
    return Answer(solved == 1, value, plies, low, high, nodes)


def solve_batch(
    engine: Engine,
    movers: ArrayLike,
    masks: ArrayLike,
    strong: bool = False,
    node_limit: int = NO_LIMIT,
) -> tuple[np.ndarray, int, int]:
    """Solve many positions in one jitted loop.

    Returns (bounds, nodes, solved): rows of (low, high) scores, of which the first
    `solved` are settled: equal if `strong`, else of one sign.
    """
    return _run(engine, movers, masks, strong, node_limit, None)


def _run(
    engine: Engine,
    movers: ArrayLike,
    masks: ArrayLike,
    strong: bool,
    node_limit: int,
    known: int | None,
) -> tuple[np.ndarray, int, int]:
    """As `solve_batch`, of positions that all have the value `known`, if it is given."""
    stones = np.asarray(movers, np.uint64), np.asarray(masks, np.uint64)
    bounds = np.empty((len(stones[0]), 2), np.int64)
    bounds[:, 0] = -BEYOND if known is None or known < 0 else known
    bounds[:, 1] = BEYOND if known is None or known > 0 else known
    nodes, solved = _batch(*engine, *stones, strong, bounds, np.int64(node_limit))
    return bounds, int(nodes), int(solved)


def plies_of(board: Board, score: int, mask: int) -> int:
    """Return the plies to the end of the game that a score means; for a draw, the empty cells."""
    cells, played = int(board.cells), int(mask).bit_count()
    if score == 0:
        return cells - played
    last = cells - 2 * abs(score) + 2
    mover_ends = (last - played) % 2 == 1
    return last - played - (mover_ends != (score > 0))


def open_window(board: Board, answer: Answer, mask: int) -> str:
    """What a search that is not done has left open, for the side to move.

    >>> board = make_board(7, 6, 4)
    >>> open_window(board, Answer(False, 0, -1, low=-17, high=18, nodes=1), mask=0)
    'between LOSS in 10 and WIN in 7 plies'
    >>> open_window(board, Answer(False, 0, -1, low=0, high=18, nodes=1), mask=0)
    'between DRAW and WIN in 7 plies'
    """

    def name(score: int) -> str:
        if score == 0:
            return "DRAW"
        return f"{'WIN' if score > 0 else 'LOSS'} in {plies_of(board, score, mask)}"

    plies = "" if answer.low == answer.high == 0 else " plies"
    return f"between {name(answer.low)} and {name(answer.high)}{plies}"


def check_position(board: Board, mover: int, mask: int) -> None:
    """Raise ValueError unless the stones obey gravity and nobody has a line."""
    full, bottom = int(board.full), int(board.bottom)
    if mask & ~full or mover & ~mask:
        raise ValueError(f"stones outside the board or the mask: {mover:#x}, {mask:#x}")
    if ((mask & ~bottom) >> 1) & ~mask:
        raise ValueError(f"floating stones in mask {mask:#x}")
    if _has_line(board, mover) or _has_line(board, mask ^ mover):
        raise ValueError(f"the game is already won: {mover:#x}, {mask:#x}")


def _has_line(board: Board, stones: int) -> bool:
    """Plainly, so that one question does not wait for the jitted twin to compile."""
    steps = (1, int(board.step), int(board.step) - 1, int(board.step) + 1)[: int(board.reach)]
    for step in steps:
        run = stones
        for i in range(1, int(board.connect)):
            run &= stones >> (step * i)
        if run:
            return True
    return False


@inner
def _next_goal(board, low, high, plies, strong, horizon):
    """Choose the next question about a score in low..high.  Returns (goal, horizon)."""
    farthest = board.cells if strong else min(WEAK_HORIZON, (board.cells - plies) // 2)
    while horizon <= farthest:
        soon = win_score(board, plies + horizon)
        if soon <= 1:
            break
        if high >= soon > low:
            return soon, horizon
        if low <= -soon < high:
            return 1 - soon, horizon
        horizon += HORIZON_STEP
    if low < 1 <= high:
        return 1, horizon
    if low < 0 <= high:
        return 0, horizon
    return (low + 1 if low > 0 else high), horizon


@inner
def _narrow(board, table, hashing, stack, leaves, mover, mask, low, high, strong, budget, age):
    """Ask until the score, or just its sign, is known.  Returns (low, high, nodes, done)."""
    plies = popcount(mask)
    low = max(low, -win_score(board, plies + 2))
    high = min(high, win_score(board, plies + 1))
    horizon = np.int64(FIRST_HORIZON)
    total = 0
    while low < high and (strong or (low <= 0 <= high)):
        goal, horizon = _next_goal(board, low, high, plies, strong, horizon)
        left = budget - total
        score, nodes = ask(board, table, hashing, leaves, stack, mover, mask, goal, left, age)
        total += nodes
        if score == UNKNOWN:
            return low, high, total, False
        if score >= goal:
            low = score
        else:
            high = score
    return low, high, total, True


@entry
def _batch(board, table, hashing, stack, leaves, movers, masks, strong, bounds, budget):
    """Solve position after position; bounds, table and stack are modified in place."""
    total = 0
    for i in range(len(movers)):
        stack.clock[0] += 1
        age = np.uint64(stack.clock[0] & 7)
        low, high, nodes, done = _narrow(
            board, table, hashing, stack, leaves, movers[i], masks[i], bounds[i, 0], bounds[i, 1],
            strong, budget - total, age,
        )  # fmt: skip
        bounds[i, 0], bounds[i, 1] = low, high
        total += nodes
        if not done:
            return total, i
    return total, len(movers)
