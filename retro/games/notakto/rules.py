"""Notakto: both players put crosses on a grid; who completes a line of K loses.

The example of docs/add-a-game.md. It is impartial
(all stones are alike) and misere (the last move loses), so a finished game is
a WIN for the side to move. A full board without a line is a draw.

A state is one word, one bit per cell, row after row from the bottom:

    2   3 4 5
    1   0 1 2        bit = row * cols + column
        a b c
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games.cells import cell_text, require_line
from retro.games.game import Board, Position
from retro.games.values import DRAW, WIN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.game import Rules
    from retro.games.values import Player


@dataclass(frozen=True, repr=False)
class NotaktoBoard(Board):
    """A board of `rows` x `cols` cells, and the length of a line.

    >>> board = NotaktoBoard(3, 3, 3)
    >>> len(board.lines), len(board.symmetries)
    (8, 8)
    """

    game_name: ClassVar[str] = "notakto"

    rows: int
    cols: int
    connect: int

    def __post_init__(self) -> None:
        if self.rows < 1 or self.cols < 1 or self.rows * self.cols > 64:
            raise BadTextError(f"found board {self.cols}x{self.rows}, wanted 1 to 64 cells")
        require_line(self.connect)

    @property
    def cells(self) -> int:
        return self.rows * self.cols

    @property
    def last_ply(self) -> int:
        return self.cells

    def bit(self, row: int, column: int) -> int:
        return 1 << (row * self.cols + column)

    def place(self, bit: int) -> tuple[int, int]:
        return divmod(bit.bit_length() - 1, self.cols)

    @cached_property
    def all_bits(self) -> tuple[int, ...]:
        return tuple(1 << cell for cell in range(self.rows * self.cols))

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """Every line as a set of cells."""
        found = []
        for bit in self.all_bits:
            row, column = self.place(bit)
            for up, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                places = [(row + up * i, column + right * i) for i in range(self.connect)]
                if all(0 <= r < self.rows and 0 <= c < self.cols for r, c in places):
                    found.append(sum(self.bit(r, c) for r, c in places))
        return tuple(found)

    @cached_property
    def symmetries(self) -> list[list[int]]:
        """[symmetry][cell] -> the cell it goes to; the identity first."""
        top, right = self.rows - 1, self.cols - 1
        places = [self.place(bit) for bit in self.all_bits]
        ways = [[(r, c) for r, c in places], [(top - r, c) for r, c in places]]
        ways += [[(r, right - c) for r, c in way] for way in ways]
        if self.rows == self.cols:
            ways += [[(c, r) for r, c in way] for way in ways]
        return [[r * self.cols + c for r, c in way] for way in ways]

    def pack(self, position: NotaktoPosition) -> tuple[int, int]:
        return position.crosses, 0

    def unpack(self, a: int, b: int) -> NotaktoPosition:
        return NotaktoPosition(self, a, None if a else ())

    @property
    def words(self) -> int:
        return 1

    def images(self, a: int, b: int) -> set[tuple[int, int]]:
        return {
            (sum(1 << image for cell, image in enumerate(way) if a >> cell & 1), b)
            for way in self.symmetries
        }

    def plies_of(self, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.int64]:
        return np.bitwise_count(a).astype(np.int64)

    def is_state(self, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = (a & ~np.uint64((1 << self.cells) - 1) == 0) & (b == 0)
        return found

    def make_rules(self) -> Rules:
        from retro.games.notakto.kernels import notakto_rules  # numba: only who needs kernels

        return notakto_rules(self)


@dataclass(frozen=True, repr=False)
class NotaktoPosition(Position):
    """A position: the cells that are crossed. Moves are the bits of cells."""

    board: NotaktoBoard
    crosses: int = 0
    history: tuple[int, ...] | None = field(default=(), compare=False)

    @property
    def ply(self) -> int:
        return self.crosses.bit_count()

    @property
    def side_to_move(self) -> Player:
        return "second" if self.ply % 2 else "first"

    def _numbers(self) -> list[int]:
        if self.is_over():
            return []
        return [bit for bit in self.board.all_bits if not self.crosses & bit]

    def outcome(self) -> int | None:
        """The value for the side to move if the rules alone decide it, else None."""
        if any(self.crosses & line == line for line in self.board.lines):
            return WIN  # the other player had to complete it
        return DRAW if self.ply == len(self.board.all_bits) else None

    def ending_cells(self) -> set[tuple[int, int]]:
        whole = [line for line in self.board.lines if self.crosses & line == line]
        bits = [bit for bit in self.board.all_bits if any(line & bit for line in whole)]
        return {self.board.place(bit) for bit in bits}

    def over_message(self) -> str:
        if self.outcome() == DRAW:
            return "the game is over: the board is full without a line, a draw"
        loser = "first" if self.ply % 2 else "second"
        return f"the game is over: the {loser} player completed {self.board.connect} in a line"

    def _play(self, move: int, /) -> NotaktoPosition:
        if move not in self.board.all_bits:
            raise IllegalPositionError(f"the cell is not on the board {self.board}")
        if self.is_over():
            raise GameOverError(f"{self.over_message()}; nobody can move")
        if self.crosses & move:
            raise IllegalPositionError(f"{cell_text(self.board, move)} is taken")
        history = None if self.history is None else (*self.history, move)
        return NotaktoPosition(self.board, self.crosses | move, history)

    def undo(self) -> NotaktoPosition:
        if not self.history:
            raise IllegalPositionError("there is no move to take back")
        return NotaktoPosition(self.board, self.crosses & ~self.history[-1], self.history[:-1])

    def check(self) -> NotaktoPosition:
        """Any set of crosses can arise, if some stone completed all its lines."""
        if self.crosses < 0 or self.crosses & ~sum(self.board.all_bits):
            raise IllegalPositionError(f"a cross lies outside the board {self.board}")
        full = [line for line in self.board.lines if self.crosses & line == line]
        last = (bit for bit in self.board.all_bits if all(line & bit for line in full))
        if full and next(last, None) is None:
            raise IllegalPositionError(
                "the game ended before this: no last move explains the lines"
            )
        return self
