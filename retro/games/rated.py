"""Rated moves and the one order in which they are always listed.

Best move, move list and main line come from `order_moves`, whoever rated the
moves: a table, which knows values, or a solver, which knows distances, too.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retro.games.connect import Board


class RatedMove(NamedTuple):
    """A legal move and its value **for the player who makes it**."""

    move: str
    column: int
    value: int
    plies: int | None  # to the end of the game under best play, this move included; if known


def order_moves(board: Board, moves: Iterable[RatedMove]) -> list[RatedMove]:
    """Best first: fastest win, then draws, then slowest loss; then the centre before the edge.

    A win of unknown distance comes after those of known distance, and a loss before.

    >>> from retro.games.connect import Board
    >>> rated = [RatedMove("1", 0, -1, 4), RatedMove("2", 1, 1, 9), RatedMove("3", 2, 1, 1)]
    >>> [move.move for move in order_moves(Board(3, 3), rated)]
    ['3', '2', '1']
    """
    centre = (board.width - 1) / 2

    def key(move: RatedMove) -> tuple[float, float, float, int]:
        plies = inf if move.plies is None else move.plies
        speed = plies * move.value if move.value else 0
        return (-move.value, speed, abs(move.column - centre), move.column)

    return sorted(moves, key=key)
