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

from retro.errors import IllegalPositionError
from retro.games.moves import MoveNumber
from retro.games.values import VALUE_NAMES, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from retro.games.game import Position
    from retro.games.moves import Move

# Who knows: the game is over; a table; the search; a table the value and the search the distance.
Source = Literal["rules", "table", "search", "both"]
Json = dict[str, Any]  # an object of JSON: what it holds depends on the name


class _Rated(NamedTuple):
    move: str  # its text
    number: int  # as the game counts it; `play` takes it
    value: int
    plies: int | None  # to the end of the game under best play, this move included; if known
    loss: int = 0  # what it gives away of the value of the position: 0, 1 or 2


class RatedMove(_Rated):
    """A legal move and its value **for the player who makes it**.

    >>> rated = RatedMove("3", 2, 1, 17)
    >>> rated, rated.value, rated.to_dict()
    (RatedMove('3', WIN in 17), WIN, {'move': '3', 'value': 'WIN', 'plies': 17, 'loss': 0})
    """

    __slots__ = ()

    def __new__(
        cls, move: str, number: int, value: int, plies: int | None, loss: int = 0
    ) -> RatedMove:
        return super().__new__(cls, move, MoveNumber(number), Value(value), plies, loss)

    def __repr__(self) -> str:
        return f"RatedMove({self.move!r}, {_value_text(self.value, self.plies)})"

    def to_dict(self) -> Json:
        """Plain values, for JSON."""
        plain = {"move": self.move, "value": VALUE_NAMES[self.value], "plies": self.plies}
        return {**plain, "loss": self.loss}


@dataclass(frozen=True)
class Solution:
    """The exact value of a position for the side to move."""

    value: int
    plies: int | None  # to the end of the game; only if solved strongly
    nodes: int
    source: Source

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", Value(self.value))

    def to_dict(self) -> Json:
        """Plain values, for JSON.

        >>> Solution(1, 17, 1200, "search").to_dict()
        {'value': 'WIN', 'plies': 17, 'source': 'search', 'nodes': 1200}
        """
        return {**_value_dict(self.value, self.plies, self.source), "nodes": self.nodes}


class Answers(NamedTuple):
    """The values of many positions for the side to move, and the plies to the end of the game."""

    values: NDArray[np.int8]
    plies: NDArray[np.int16]


class _Probe(NamedTuple):
    position: Position
    value: int
    moves: list[RatedMove]
    source: Source = "table"


class Probe(_Probe):
    """The value of a position for the side to move, and every legal move, best first.

    >>> import tablebase as tb
    >>> analysis = tb.analyse("b2 a2", "tictactoe")
    >>> analysis, [move.move for move in analysis.best][:2], analysis.rated("a1").loss
    (Probe('b2 a2', mnk 3x3: WIN in 5), ['a1', 'b1'], 0)
    """

    __slots__ = ()

    def __new__(
        cls, position: Position, value: int, moves: list[RatedMove], source: Source = "table"
    ) -> Probe:
        return super().__new__(cls, position, Value(value), moves, source)

    def __repr__(self) -> str:
        return f"Probe({_about(self.position)}: {_value_text(self.value, self.plies)})"

    @property
    def best(self) -> list[RatedMove]:
        """All moves that keep the value."""
        return [move for move in self.moves if move.value == self.value]

    @property
    def plies(self) -> int | None:
        """The plies to the end of the game, if they are known."""
        return self.moves[0].plies

    def rated(self, move: str | Move) -> RatedMove:
        """The value of one move, by its text or a `Move`; `loss` says what it gives away."""
        number = self.position._number_of(str(move))
        found = next((rated for rated in self.moves if rated.number == number), None)
        if found is None:
            raise IllegalPositionError(f"{str(move)!r} is no legal move of {self.position!r}")
        return found

    def to_dict(self) -> Json:
        """Plain values, for JSON: what `tablebase probe --json` prints."""
        return {
            **self.position.to_dict(),
            **_value_dict(self.value, self.plies, self.source),
            "best": [move.move for move in self.best],
            "moves": [self._move_dict(move) for move in self.moves],
        }

    def _move_dict(self, rated: RatedMove) -> Json:
        after = self.position._play(rated.number).to_dict()["position"]
        plain = {"move": rated.move, "value": VALUE_NAMES[rated.value], "plies": rated.plies}
        return {**plain, "after": after}

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows: the board with the value of every move."""
        from retro.games.picture import Layout, chip_text, draw
        from retro.games.scene import scene_of

        chips = {move.move: chip_text(move.value, move.plies) for move in self.moves}
        return draw(Layout(scene_of(self.position)), chips)


class Line(NamedTuple):
    """Best play from a position to the end of the game; at least one move.

    >>> import tablebase as tb
    >>> with tb.oracle("tictactoe", memory="1M") as oracle:
    ...     line = oracle.best_line("b2 a2")
    >>> line, line.plies, line.end.returns
    (Line('b2 a2', mnk 3x3: a1 c3 b1 c1 b3), 5, (1, -1))
    """

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

    def __repr__(self) -> str:
        return f"Line({_about(self.position)}: {' '.join(move.move for move in self.moves)})"

    def to_dict(self) -> Json:
        """Plain values, for JSON: what `tablebase line --json` prints."""
        return {
            **self.position.to_dict(),
            **_value_dict(self.value, self.plies, self.source),
            "line": [move.move for move in self.moves],
        }

    @property
    def end(self) -> Position:
        """The finished game."""
        return self.position._play_all([move.number for move in self.moves])


def _value_dict(value: int, plies: int | None, source: Source) -> Json:
    return {"value": VALUE_NAMES[value], "plies": plies, "source": source}


def _value_text(value: int, plies: int | None) -> str:
    return VALUE_NAMES[value] + ("" if plies is None else f" in {plies}")


def _about(position: Position) -> str:
    return f"{position.to_dict()['position']!r}, {position.board.title}"


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

    ordered = sorted(moves, key=key)
    return [move._replace(loss=ordered[0].value - move.value) for move in ordered]
