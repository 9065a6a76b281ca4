"""From questions to values: which goals to ask, one position or many, in jitted code.

What is known of a position is an interval `low <= score <= high`; every question
narrows it.  Near ends are cheap to prove, so they come first: a win within 8 plies? a
loss? within 14?  Then the sign, all that the value needs; then from the sign outwards, one
score after the other: what proved the sign is still in the table, and a draw is known.

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
from retro.search.connect4.bits import Board, make_board, popcount
from retro.search.connect4.engine import (
    BEYOND,
    HELPER,
    HIGH,
    LEADER,
    LOW,
    TEAM,
    UNKNOWN,
    Stack,
    ask,
    is_open,
    make_stack,
    win_score,
)
from retro.search.connect4.leaves import Leaves, NoLeaves, fork_leaves
from retro.search.connect4.table import Hashing, grow, make_hashing, make_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

FIRST_HORIZON = 8
HORIZON_STEP = 6
LAST_HORIZON = 14  # at most, and at most half of the empty cells
NO_LIMIT = 1 << 62
BITS, SEARCHED = range(2)  # of an engine's size: bucket bits in use, nodes searched with it
SLICE_NODES = 1_000_000  # some tenths of a second
NODES_PER_WORD = 64  # searched before a table grows: fewer would make it leave the caches sooner
BEYOND_ANY = int(BEYOND)


class Engine(NamedTuple):
    """A board with the table and the scratch memory of a solver."""

    board: Board
    table: np.ndarray
    size: np.ndarray  # [2] BITS and SEARCHED, of all threads
    stack: Stack
    leaves: Leaves | NoLeaves

    @property
    def hashing(self) -> Hashing:
        """How codes find their bucket, at the table's present size."""
        return make_hashing(self.board, int(self.size[BITS]))

    @property
    def words(self) -> int:
        """The words of the table that are in use."""
        return 2 << int(self.size[BITS])


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
    table, bits = make_table(board, memory)
    return Engine(board, table, np.array((bits, 0)), make_stack(board), NoLeaves())


def make_room(engine: Engine) -> None:
    """Let the table grow if much was searched with it, and it may; nobody else searches meanwhile.

    A search of so many nodes with a table of one size takes a fifth more of them than with
    any larger one, each in half the time.
    """
    most = len(engine.table)
    while engine.words < min(most, engine.size[SEARCHED] // NODES_PER_WORD):
        grow(engine.table, engine.hashing)
        engine.size[BITS] += 1


def make_scratch(engine: Engine) -> Stack:
    """Scratch memory for one more question to the same table."""
    return make_stack(engine.board)._replace(clock=engine.stack.clock)


def make_helper(engine: Engine, leader: Stack, seed: int) -> Stack:
    """Scratch memory for one more thread on the question of `leader`."""
    helper = make_stack(engine.board, seed)._replace(clock=engine.stack.clock)
    leader.place[TEAM], helper.place[TEAM] = LEADER, HELPER
    return helper


def with_scratch(engine: Engine, stack: Stack) -> Engine:
    """The same table with scratch memory that no other thread uses."""
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
        Stop after this many nodes; `done` is then False.  To go on, call again: the
        engine keeps its place until it is asked about another position.
    known : int
        The value, where a tablebase has it: only the distance is left to be searched.

    Examples
    --------
    >>> solve(make_engine(4, 4, memory=1 << 16), 0, 0, strong=True)[:3]
    (True, 0, 16)
    """
    check_position(engine.board, mover, mask)
    return solve_checked(engine, mover, mask, strong, node_limit, known)


def solve_checked(
    engine: Engine,
    mover: int,
    mask: int,
    strong: bool = False,
    node_limit: int = NO_LIMIT,
    known: int | None = None,
) -> Answer:
    """As `solve`, of a position that was looked at before."""
    words = np.array((mover, mask), np.uint64)
    asked = Questions(words[:1], words[1:], strong)
    bounds = np.array((first_window(known),), np.int64)
    some = solve_some(engine, asked, bounds, 0, node_limit)
    low, high = bounds[0].tolist()
    value = (low > 0) - (high < 0)
    plies = plies_of(engine.board, low, mask) if strong and some.done else -1
    return Answer(some.done == 1, value, plies, low, high, some.nodes)


class Questions(NamedTuple):
    """Many positions, and whether their distances are asked for, too."""

    movers: np.ndarray  # uint64
    masks: np.ndarray
    strong: bool

    def first_bounds(self, known: Sequence[int | None] | None = None) -> np.ndarray:
        """Rows of (low, high) scores before any search; `known` values narrow them."""
        bounds = np.empty((len(self.movers), 2), np.int64)
        bounds[:] = first_window(None)
        for i, value in enumerate(known or ()):
            bounds[i] = first_window(value)
        return bounds


def first_window(known: int | None) -> tuple[int, int]:
    """(low, high) of a score before any search; its sign may be known.

    >>> first_window(None), first_window(1), first_window(0)
    ((-31, 31), (1, 31), (0, 0))
    """
    low = -BEYOND_ANY if known is None or known < 0 else known
    high = BEYOND_ANY if known is None or known > 0 else known
    return low, high


class Some(NamedTuple):
    """How far a batch has come."""

    nodes: int
    done: int  # so many of the first positions are settled


def solve_batch(
    engine: Engine, movers: ArrayLike, masks: ArrayLike, strong: bool = False
) -> tuple[np.ndarray, int, int]:
    """Solve many positions in one jitted loop.

    Returns (bounds, nodes, solved): rows of (low, high) scores, of which the first
    `solved` are settled: equal if `strong`, else of one sign.
    """
    asked = Questions(np.asarray(movers, np.uint64), np.asarray(masks, np.uint64), strong)
    bounds, nodes, done = asked.first_bounds(), 0, 0
    while True:
        some = solve_some(engine, asked, bounds, done, SLICE_NODES)
        nodes, done = nodes + some.nodes, some.done
        if done == len(bounds):
            return bounds, nodes, done
        make_room(engine)


def solve_some(
    engine: Engine, asked: Questions, bounds: np.ndarray, done: int, node_limit: int
) -> Some:
    """Go on with a batch whose first `done` positions are settled; bounds are modified in place."""
    rest = Questions(asked.movers[done:], asked.masks[done:], asked.strong)
    board, table, size, stack, leaves = engine
    nodes, solved = _batch(
        board, table, engine.hashing, stack, leaves, rest, bounds[done:], node_limit
    )
    size[SEARCHED] += nodes
    return Some(int(nodes), done + int(solved))


def plies_of(board: Board, score: int, mask: int) -> int:
    """Return the plies to the end of the game that a score means; for a draw, the empty cells."""
    cells, played = int(board.cells), int(mask).bit_count()
    if score == 0:
        return cells - played
    last = cells - 2 * abs(score) + 2
    mover_ends = (last - played) % 2 == 1
    return last - played - (mover_ends != (score > 0))


def plies_of_scores(board: Board, scores: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """As `plies_of`, of many."""
    cells, played = int(board.cells), np.bitwise_count(masks).astype(np.int64)
    last = cells - 2 * np.abs(scores) + 2
    mover_ends = (last - played) % 2 == 1
    plies = last - played - (mover_ends != (scores > 0))
    return np.where(scores == 0, cells - played, plies)


def open_window(board: Board, answer: Answer, mask: int) -> str:
    """What a search that is not done has left open, for the side to move.

    >>> board = make_board(7, 6, 4)
    >>> open_window(board, Answer(False, 0, -1, low=-17, high=18, nodes=1), mask=0)
    'between LOSS in 10 plies and WIN in 7 plies'
    >>> open_window(board, Answer(False, 0, -1, low=-17, high=0, nodes=1), mask=0)
    'between LOSS in 10 plies and DRAW'
    """

    def name(score: int) -> str:
        if score == 0:
            return "DRAW"
        plies = plies_of(board, score, mask)
        return f"{'WIN' if score > 0 else 'LOSS'} in {plies} {'ply' if plies == 1 else 'plies'}"

    return f"between {name(answer.low)} and {name(answer.high)}"


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
def _next_goal(board, low, high, plies, horizon):
    """Choose the next question about a score in low..high.  Returns (goal, horizon)."""
    farthest = min(LAST_HORIZON, (board.cells - plies) // 2)
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
def _narrow(board, table, hashing, stack, leaves, position, window, limit):
    """Ask until the score, or just its sign, is known.  Returns (low, high, nodes, done).

    A position is (mover, mask), a window (low, high, strong), a limit (nodes, age).
    """
    mover, mask = position
    low, high, strong = window
    budget, age = limit
    plies = popcount(mask)
    low = max(low, -win_score(board, plies + 2))
    high = min(high, win_score(board, plies + 1))
    if is_open(stack, mover, mask):
        low, high = max(low, stack.place[LOW]), min(high, stack.place[HIGH])
    horizon = np.int64(FIRST_HORIZON)
    total = 0
    while low < high and (strong or (low <= 0 <= high)):
        goal, horizon = _next_goal(board, low, high, plies, horizon)
        left = budget - total, age
        score, nodes = ask(board, table, hashing, leaves, stack, position, goal, left)
        total += nodes
        if score == UNKNOWN:
            stack.place[LOW], stack.place[HIGH] = low, high
            return low, high, total, False
        if score >= goal:
            low = score
        else:
            high = score
    return low, high, total, True


@entry
def _batch(board, table, hashing, stack, leaves, asked, bounds, budget):
    """Solve position after position; bounds, table and stack are modified in place."""
    movers, masks, strong = asked
    total = 0
    for i in range(len(movers)):
        # One age for all slices and all threads of a question.
        if not is_open(stack, movers[i], masks[i]) and stack.place[TEAM] != HELPER:
            stack.clock[0] += 1
        age = np.uint64(stack.clock[0] & 7)
        position, window = (movers[i], masks[i]), (bounds[i, 0], bounds[i, 1], strong)
        limit = (budget - total, age)
        low, high, nodes, done = _narrow(
            board, table, hashing, stack, leaves, position, window, limit
        )
        bounds[i, 0], bounds[i, 1] = low, high
        total += nodes
        if not done:
            return total, i
    return total, len(movers)
