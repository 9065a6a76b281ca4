r"""How many positions a perfect player must know: one strategy as a graph, counted.

A *strategist* plays one chosen best move, the first in the one order of moves
(`retro.games.rated`); the opponent plays everything. The positions that can then
arise from the empty board, each counted once however many ways lead to it and apart
from its mirror image, are a strategy graph:

    . . .     strategist to move: one successor          decide
    | | |
    . . .     opponent to move: all successors           answer
   //|\\\
    . . .     or the game is over                        finished

The winner has a strategy that wins. On a board that is a draw both players have one
that draws, so both are counted. Layers are walked in bulk: two arrays of bitboards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from retro.games.rated import centre_first
from retro.games.values import DRAW, LOSS, WIN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.connect import Board
    from retro.games.values import Player

    Words = NDArray[np.uint64]


class Values(Protocol):
    """Whoever knows the values of many positions for the side to move, finished ones included."""

    def __call__(self, first: Words, second: Words) -> NDArray[np.int8]: ...


class PlyCount(NamedTuple):
    """Positions of one ply of a strategy graph."""

    ply: int
    decide: int  # the strategist is to move
    answer: int  # the opponent is to move
    finished: int


class Strategy(NamedTuple):
    """One player's strategy graph from the empty board, ply by ply."""

    player: Player
    value: int  # WIN or DRAW, for the strategist
    plies: list[PlyCount]

    @property
    def total(self) -> PlyCount:
        """The sums over all plies; `ply` is the last one."""
        decide, answer, finished = (sum(p[i] for p in self.plies) for i in (1, 2, 3))
        return PlyCount(self.plies[-1].ply, decide, answer, finished)

    @property
    def positions(self) -> int:
        """All positions of the graph."""
        return sum(self.total[1:])


def count_strategies(board: Board, values: Values) -> list[Strategy]:
    """The strategy graph of the winner, or of both players on a board that is a draw.

    >>> from retro.games.connect import Board
    >>> from tablebase.oracle import Oracle
    >>> board = Board(4, 3, 3)
    >>> found = count_strategies(board, Oracle(board, [], memory_mb=1).probe_many)
    >>> [(strategy.player, strategy.value, strategy.total) for strategy in found]
    [('first', 1, PlyCount(ply=11, decide=35, answer=12, finished=23))]
    """
    empty = np.zeros(1, np.uint64)
    value = int(values(empty, empty)[0])
    players: tuple[Player, ...] = ("first", "second")
    if value != DRAW:
        players = ("first",) if value == WIN else ("second",)
    return [Strategy(player, abs(value), _count(board, values, player)) for player in players]


def _count(board: Board, values: Values, player: Player) -> list[PlyCount]:
    """Walk the graph of one strategist, layer by layer."""
    mover = other = np.zeros(1, np.uint64)
    counts = []
    for ply in range(board.cells + 1):
        finished = _has_line(board, other) | (ply == board.cells)
        mover, other = mover[~finished], other[~finished]
        decides = (ply % 2 == 0) == (player == "first")
        live = len(mover)
        counts.append(PlyCount(ply, live * decides, live * (not decides), int(finished.sum())))
        if not live:
            break
        after, legal = _moves(board, mover, other)
        if decides:
            legal = _first_best(board, values, ply, after, other, legal)
        mover, other = _distinct(board, np.broadcast_to(other, after.shape)[legal], after[legal])
    return counts


def _moves(board: Board, mover: Words, other: Words) -> tuple[Words, NDArray[np.bool_]]:
    """([column, position] the mover's stones after a move there, whether it is legal)."""
    occupied = mover | other
    after, legal = [], []
    for column in _columns(board):
        mask = np.uint64(board.column_mask(column))
        # One more than a filled column carries into the lowest empty cell of it.
        cell = ((occupied & mask) + np.uint64(board.bit(column, 0))) & mask
        after.append(mover | cell)
        legal.append(cell != 0)
    return np.stack(after), np.stack(legal)


def _first_best(
    board: Board,
    values: Values,
    ply: int,
    after: Words,
    other: Words,
    legal: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """[column, position] true for the first of the best moves of each position."""
    theirs = np.broadcast_to(other, after.shape)
    first, second = (after, theirs) if ply % 2 == 0 else (theirs, after)
    # As `order_moves` has it: a better value, then a win at once, then the first column.
    worth = np.full(after.shape, 2 * LOSS - 1, np.int8)
    worth[legal] = -2 * values(first[legal], second[legal])
    worth[legal] += _has_line(board, after[legal])
    best = np.zeros(after.shape, np.bool_)
    np.put_along_axis(best, worth.argmax(axis=0)[None, :], True, axis=0)
    return best


def _columns(board: Board) -> list[int]:
    """The columns in the one order of moves, as long as nothing is known of them."""
    return centre_first(range(board.width), board.width)


def _has_line(board: Board, stones: Words) -> NDArray[np.bool_]:
    found = np.zeros(stones.shape, np.bool_)
    for line in map(np.uint64, board.lines):
        found |= stones & line == line
    return found


def _distinct(board: Board, mover: Words, other: Words) -> tuple[Words, Words]:
    """Each position once.

    Filled columns plus a one above them, plus the mover's stones: in every column
    the highest bit tells the height and those below it the colours.
    """
    bottom = np.uint64(sum(board.bit(column, 0) for column in range(board.width)))
    _, index = np.unique((mover | other) + bottom + mover, return_index=True)
    return mover[index], other[index]
