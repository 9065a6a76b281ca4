"""Stones of two players on a board with lines, plainly: what games with and without gravity share.

A player's stones are one integer with one bit per cell; the board says which
bit is which cell (`connect` and `grid` draw theirs) and which sets of cells are
lines. The first player moves on even plies, the second on odd ones; who first
fills a line wins, a full board without one is a draw.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from retro.errors import IllegalPositionError
from retro.games.values import DRAW, LOSS

if TYPE_CHECKING:
    from retro.games.values import Player


class LineBoard(Protocol):
    """What the rules below ask of a board."""

    @property
    def cells(self) -> int: ...
    @property
    def goal(self) -> str:
        """What the winner has: `3 in a line`."""
        ...

    def has_line(self, stones: int) -> bool:
        """Whether these stones of one player contain a winning line."""
        ...


@dataclass(frozen=True)
class StonesPosition:
    """The stones of the first and of the second player, and the moves that led here.

    Two positions are equal when their stones are, however they arose. A
    position that was set up has no history, None.
    """

    board: LineBoard
    first: int = 0
    second: int = 0
    history: tuple[int, ...] | None = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if self.history is not None and not self.history and (self.first | self.second):
            object.__setattr__(self, "history", None)

    @property
    def ply(self) -> int:
        return (self.first | self.second).bit_count()

    @property
    def side_to_move(self) -> Player:
        return "second" if self.ply % 2 else "first"

    @property
    def mover(self) -> int:
        """The stones of the side to move."""
        return self.second if self.ply % 2 else self.first

    @property
    def opponent(self) -> int:
        """The stones of the side that has just moved."""
        return self.first if self.ply % 2 else self.second

    def winner(self) -> Player | None:
        if self.board.has_line(self.first):
            return "first"
        return "second" if self.board.has_line(self.second) else None

    def is_over(self) -> bool:
        return self.ply == self.board.cells or self.winner() is not None

    def outcome(self) -> int | None:
        """The value for the side to move if the rules alone decide it, else None."""
        if self.winner() is not None:
            return LOSS
        return DRAW if self.ply == self.board.cells else None

    def over_message(self) -> str:
        """One clause that says how the game ended (call it only when it has)."""
        winner = self.winner()
        if winner is None:
            return f"the game is over: the board is full after {self.ply} plies, a draw"
        return f"the game is over: the {winner} player has {self.board.goal}"

    def _check_counts(self) -> None:
        """Refuse counts of stones that no play leads to."""
        surplus = self.first.bit_count() - self.second.bit_count()
        if surplus not in (0, 1):
            raise IllegalPositionError(
                f"impossible counts: {self.first.bit_count()} stones of the first player and "
                f"{self.second.bit_count()} of the second; wanted equal, or one more for the first"
            )
