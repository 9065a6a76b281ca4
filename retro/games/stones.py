"""Stones of two players on a board with lines, plainly: what games with and without gravity share.

A player's stones are one integer with one bit per cell; the board says which
bit is which cell (`connect` and `grid` draw theirs) and which sets of cells are
lines. The first player moves on even plies, the second on odd ones; who first
fills a line wins, a full board without one is a draw.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from retro.errors import IllegalPositionError
from retro.games.game import Board, Position
from retro.games.values import DRAW, LOSS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retro.games.values import Player


class LineBoard(Board):
    """A board on which the first complete line wins."""

    @property
    @abstractmethod
    def lines(self) -> tuple[int, ...]:
        """Every winning line as a set of cells."""

    @property
    @abstractmethod
    def goal(self) -> str:
        """What the winner has: `3 in a line`."""

    @property
    def last_ply(self) -> int:
        return self.cells

    @abstractmethod
    def place(self, bit: int) -> tuple[int, int]:
        """(row, column) of a cell's bit, both counted from 0."""

    def has_line(self, stones: int) -> bool:
        """Whether these stones of one player contain a winning line."""
        return any(stones & line == line for line in self.lines)


@dataclass(frozen=True, repr=False)
class StonesPosition(Position):
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

    def ending_cells(self) -> set[tuple[int, int]]:
        stones = self.opponent  # of whoever moved last
        whole = {line for line in self.board.lines if stones & line == line}
        return {self.board.place(bit) for line in whole for bit in bits_of(line)}

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


def sum_of_open(position: StonesPosition, points: Callable[[int, int], int]) -> int:
    """The points of lines with stones of one player only: the mover's less the opponent's.

    `points` is asked with the cells of a line and those that hold a stone.
    """
    mover, opponent = position.mover, position.opponent
    total = 0
    for line in position.board.lines:
        ours, theirs = line & mover, line & opponent
        if ours and not theirs:
            total += points(line, ours)
        elif theirs and not ours:
            total -= points(line, theirs)
    return total


def squares_of_open(position: StonesPosition, goal: int, worth: Mapping[int, int]) -> int:
    """Open lines, squared by the worth of their stones (1 unless said), with a bonus if one short.

    `goal` is what a line must total.
    """

    def points(line: int, held: int) -> int:
        total = sum(worth.get(bit, 1) for bit in bits_of(held))
        return total**2 + (goal**2 if (line ^ held).bit_count() == 1 else 0)

    return sum_of_open(position, points)


def bits_of(cells: int) -> list[int]:
    """A set of cells as a list of single bits, lowest first."""
    found = []
    while cells:
        bit = cells & -cells
        found.append(bit)
        cells ^= bit
    return found
