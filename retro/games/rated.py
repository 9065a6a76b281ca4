"""Rated moves and the one order in which they are always listed, in every game.

Best move, move list and main line come from `order_moves`, whoever rated the
moves: a table, which knows values, or a solver, which knows distances, too.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class RatedMove(NamedTuple):
    """A legal move and its value **for the player who makes it**."""

    move: str
    number: int  # as `play` takes it; of Connect Four the column
    value: int
    plies: int | None  # to the end of the game under best play, this move included; if known


def order_moves(moves: Iterable[RatedMove]) -> list[RatedMove]:
    """Best first: fastest win, then draws, then slowest loss; equal ones as they were listed.

    A win of unknown distance comes after those of known distance, and a loss before.

    >>> rated = [RatedMove("1", 0, -1, 4), RatedMove("2", 1, 1, 9), RatedMove("3", 2, 1, 1)]
    >>> [move.move for move in order_moves(rated)]
    ['3', '2', '1']
    """

    def key(move: RatedMove) -> tuple[int, float]:
        plies = inf if move.plies is None else move.plies
        return -move.value, plies * move.value if move.value else 0

    return sorted(moves, key=key)


def centre_first(columns: Iterable[int], width: int) -> list[int]:
    """The order in which Connect Four lists columns.

    >>> centre_first(range(4), 4)
    [1, 2, 0, 3]
    """
    return sorted(columns, key=lambda column: (abs(2 * column - width + 1), column))
