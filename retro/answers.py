"""Answers about positions, one type each, and the one order of moves, for every game.

    Solution   the value of a position, by whom, at what cost
    Answers    values and distances of many positions
    Probe      the value, and every move with its value, best first
    Line       best play to the end of the game

A value is for the side to move, that of a `RatedMove` for the player who makes it. Best move,
move list and main line come from `order_moves`, whoever rated the moves: a table, which
may know values only, or one with distances, or a solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from retro.games.game import Position

# Who knows: the game is over; a table; the search; a table the value and the search the distance.
Source = Literal["rules", "table", "search", "both"]
Json = dict[str, Any]  # an object of JSON: what it holds depends on the name


class RatedMove(NamedTuple):
    """A legal move and its value **for the player who makes it**."""

    move: str
    number: int  # as `play` takes it; of Connect Four the column
    value: int
    plies: int | None  # to the end of the game under best play, this move included; if known


@dataclass(frozen=True)
class Solution:
    """The exact value of a position for the side to move."""

    value: int
    plies: int | None  # to the end of the game; only if solved strongly
    nodes: int
    source: Source


class Answers(NamedTuple):
    """The values of many positions for the side to move, and the plies to the end of the game."""

    values: NDArray[np.int8]
    plies: NDArray[np.int16]


class Probe(NamedTuple):
    """The value of a position for the side to move, and every legal move, best first."""

    position: Position
    value: int
    moves: list[RatedMove]
    source: Source = "table"

    @property
    def best(self) -> list[RatedMove]:
        """All moves that keep the value."""
        return [move for move in self.moves if move.value == self.value]

    @property
    def plies(self) -> int | None:
        """The plies to the end of the game, if they are known."""
        return self.moves[0].plies

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows: the board with the value of every move."""
        from retro.games.picture import Layout, chip_text, draw
        from retro.games.scene import scene_of

        chips = {move.move: chip_text(move.value, move.plies) for move in self.moves}
        return draw(Layout(scene_of(self.position)), chips)


class Line(NamedTuple):
    """Best play from a position to the end of the game; at least one move."""

    position: Position
    moves: list[RatedMove]
    source: Source

    @property
    def value(self) -> int:
        """The value of the position for the side to move: that of its best move."""
        return self.moves[0].value

    @property
    def plies(self) -> int:
        return len(self.moves)

    @property
    def end(self) -> Position:
        """The finished game."""
        return self.position._play_all([move.number for move in self.moves])


def order_moves(moves: Iterable[RatedMove]) -> list[RatedMove]:
    """Best first: fastest win, then draws, then slowest loss; equal ones as they were listed.

    A win of unknown distance comes after those of known distance, and a loss before.

    Examples
    --------
    >>> rated = [RatedMove("1", 0, -1, 4), RatedMove("2", 1, 1, 9), RatedMove("3", 2, 1, 1)]
    >>> [move.move for move in order_moves(rated)]
    ['3', '2', '1']
    """

    def key(move: RatedMove) -> tuple[int, float]:
        plies = inf if move.plies is None else move.plies
        return -move.value, plies * move.value if move.value else 0

    return sorted(moves, key=key)
