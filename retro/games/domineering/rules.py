"""Domineering, plainly: dominoes on a board; who cannot move loses.

Vertical covers two free cells of a column, Horizontal two of a row, in turn;
there are no draws. Either may start, so a board has four possible outcomes
(`CLASSES`); who does is part of `DomineeringBoard`. Ordinary Python on ordinary
integers, in the manner of `connect`.

The covered cells are one integer, one bit per cell without gaps. For 3x4,
that is 3 rows and 4 columns (row 0 is the bottom, column 0 the left):

    3    8  9 10 11
    2    4  5  6  7
    1    0  1  2  3      bit = row * cols + column
         a  b  c  d

A move is the bit of the domino's lower (Vertical) or left (Horizontal) cell:
the side to move tells where the other cell is. Who covered a cell does not
matter any more, so any set of covered cells is a position: a board with holes.

Both reflections keep columns columns and rows rows. A quarter turn does not:
it exchanges the players, so it is no symmetry of a position.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games.game import Board, Position
from retro.games.grid import WORD_BITS, reflections
from retro.games.values import LOSS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.game import Rules
    from retro.games.values import Player

Side = Literal["vertical", "horizontal"]
SIDES: tuple[Side, Side] = ("vertical", "horizontal")  # as states number them
OTHER: dict[Side, Side] = {"vertical": "horizontal", "horizontal": "vertical"}

MAX_COLS, MAX_ROWS = 50, 99

# What a class says, under best play.
CLASSES = {
    "V": "Vertical wins, whoever starts",
    "H": "Horizontal wins, whoever starts",
    "N": "the next player, who starts, wins",
    "P": "the previous player, who does not start, wins",
}


def outcome_class(vertical_starts: int, horizontal_starts: int) -> str:
    """The class of a board, from its values for whoever starts.

    >>> outcome_class(vertical_starts=1, horizontal_starts=-1)
    'V'
    """
    if vertical_starts > 0:
        return "N" if horizontal_starts > 0 else "V"
    return "H" if horizontal_starts > 0 else "P"


@dataclass(frozen=True, repr=False)
class DomineeringBoard(Board):
    """A board of `rows` x `cols` cells, and who makes the first move.

    >>> board = DomineeringBoard(3, 4)
    >>> str(board), board.cells, len(board.symmetries)
    ('domineering 3x4', 12, 4)
    """

    game_name: ClassVar[str] = "domineering"

    rows: int
    cols: int
    first: Side = "vertical"

    def __post_init__(self) -> None:
        if not (1 <= self.rows <= MAX_ROWS and 1 <= self.cols <= MAX_COLS):
            raise BadTextError(
                f"found {self.rows} rows and {self.cols} columns, "
                f"wanted 1 to {MAX_ROWS} rows and 1 to {MAX_COLS} columns"
            )

    @classmethod
    def parse(cls, text: str, first: Side = "vertical") -> DomineeringBoard:
        """Read `ROWSxCOLS`: rows first, as the literature on this game has it.

        >>> DomineeringBoard.parse("3x4")
        Board('domineering 3x4')
        """
        match = re.fullmatch(r"\s*([0-9]{1,3})x([0-9]{1,3})\s*", text, re.ASCII | re.IGNORECASE)
        if match is None:
            raise BadTextError(f"found board {text!r}, wanted ROWSxCOLS such as 6x6")
        return cls(int(match[1]), int(match[2]), first)

    @property
    def cells(self) -> int:
        return self.rows * self.cols

    @property
    def last_ply(self) -> int:
        return self.cells // 2

    @property
    def players(self) -> tuple[str, str]:
        return self.first.capitalize(), OTHER[self.first].capitalize()

    @property
    def full(self) -> int:
        """Every cell."""
        return (1 << self.cells) - 1

    def bit(self, row: int, column: int) -> int:
        return 1 << (row * self.cols + column)

    def place(self, bit: int) -> tuple[int, int]:
        """(row, column) of a cell's bit, both counted from 0."""
        return divmod(bit.bit_length() - 1, self.cols)

    def step(self, side: Side) -> int:
        """From a domino's lower or left cell to its other cell, in bits."""
        return self.cols if side == "vertical" else 1

    @cached_property
    def dominoes(self) -> dict[Side, tuple[int, ...]]:
        """Every place for a domino of either side, as a set of two cells."""
        below = [self.bit(r, c) for r in range(self.rows - 1) for c in range(self.cols)]
        left = [self.bit(r, c) for r in range(self.rows) for c in range(self.cols - 1)]
        return {
            "vertical": tuple(bit | bit << self.step("vertical") for bit in below),
            "horizontal": tuple(bit | bit << self.step("horizontal") for bit in left),
        }

    @cached_property
    def symmetries(self) -> tuple[dict[int, int], ...]:
        """The ways to lay the board on itself that keep columns columns; the identity first."""
        ways = reflections(self.rows, self.cols)
        bits = [1 << cell for cell in range(self.cells)]
        return tuple({bit: self.bit(*way(*self.place(bit))) for bit in bits} for way in ways)

    # States: the side to move is part of them (0 Vertical, 1 Horizontal), because a board may
    # have holes, so that the number of covered cells does not tell.
    #
    #     words = 1, up to 63 cells:   a = covered cells | side << cells,  b = 0
    #     words = 2,       64 cells:   a = covered cells,                  b = side

    @property
    def words(self) -> int:
        """How many words a state takes."""
        return 1 if self.cells < WORD_BITS else 2

    def pack(self, position: DomineeringPosition) -> tuple[int, int]:
        side = SIDES.index(position.turn)
        if self.words == 1:
            return position.covered | side << self.cells, 0
        return position.covered, side

    def unpack(self, a: int, b: int) -> DomineeringPosition:
        if self.words == 1:
            a, b = a & self.full, a >> self.cells
        return DomineeringPosition(self, a, SIDES[b & 1])

    def images(self, a: int, b: int) -> set[tuple[int, int]]:
        position = self.unpack(a, b)
        return {self.pack(position.turned(i)) for i in range(len(self.symmetries))}

    def plies_of(self, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.int64]:
        covered: NDArray[np.int64] = np.bitwise_count(a & np.uint64(self.full)).astype(np.int64)
        return (covered + 1) // 2

    def is_state(self, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.bool_]:
        found: NDArray[np.bool_]
        if self.words == 1:
            found = (a >> np.uint64(self.cells) <= 1) & (b == 0)
        else:
            found = (a & ~np.uint64(self.full) == 0) & (b <= 1)
        return found

    def make_rules(self) -> Rules:
        from retro.games.domineering.kernels import dominoes_rules  # numba: only who needs kernels

        return dominoes_rules(self)


@dataclass(frozen=True, repr=False)
class DomineeringPosition(Position):
    """A position: the covered cells and whose turn it is.

    Frozen: `play` and `undo` return another position. `history` holds the
    moves since the start or since the position was set up; two positions are
    equal when covered cells and turn are, however they arose.

    >>> board = DomineeringBoard(3, 3)
    >>> position = DomineeringPosition.start(board)._play(board.bit(0, 0))
    >>> position.turn, position.side_to_move, position.ply, len(position._numbers())
    ('horizontal', 'second', 1, 4)
    >>> position.undo() == DomineeringPosition.start(board)
    True
    """

    board: DomineeringBoard
    covered: int
    turn: Side
    history: tuple[int, ...] = field(default=(), compare=False)

    @classmethod
    def start(cls, board: DomineeringBoard) -> DomineeringPosition:
        """The empty board."""
        return cls(board, 0, board.first)

    @property
    def ply(self) -> int:
        """Two covered cells are one move, played or set up."""
        return (self.covered.bit_count() + 1) // 2

    @property
    def side_to_move(self) -> Player:
        return "first" if self.turn == self.board.first else "second"

    def _numbers(self) -> list[int]:
        """The lower or left cell of every place where the side to move can put a domino."""
        dominoes = self.board.dominoes[self.turn]
        return [domino & -domino for domino in dominoes if not domino & self.covered]

    def is_over(self) -> bool:
        return not self._numbers()

    def winner(self) -> Side | None:
        return OTHER[self.turn] if self.is_over() else None

    def outcome(self) -> int | None:
        """The value for the side to move if the rules alone decide it, else None."""
        return LOSS if self.is_over() else None

    def _play(self, bit: int, /) -> DomineeringPosition:
        """Put a domino of the side to move with its lower or left cell on `bit`."""
        side = self.turn
        if self.is_over():
            raise GameOverError(f"{self.over_message()}; nobody can move")
        domino = bit | bit << self.board.step(side)
        if domino not in self.board.dominoes[side]:
            raise IllegalPositionError(
                f"the {side} domino leaves the board {self.board}; "
                "a move is its lower (vertical) or left (horizontal) cell"
            )
        if domino & self.covered:
            taken = domino & self.covered
            row, column = self.board.place(taken & -taken)
            raise IllegalPositionError(
                f"row {row + 1}, column {column + 1} is covered: no {side} domino fits there"
            )
        return DomineeringPosition(
            self.board, self.covered | domino, OTHER[side], (*self.history, bit)
        )

    def undo(self) -> DomineeringPosition:
        """Take back the last move."""
        if not self.history:
            raise IllegalPositionError("there is no move to take back")
        side, bit = OTHER[self.turn], self.history[-1]
        domino = bit | bit << self.board.step(side)
        return DomineeringPosition(self.board, self.covered & ~domino, side, self.history[:-1])

    def over_message(self) -> str:
        """One clause that says how the game ended (call it only when it has)."""
        side = self.turn
        return f"the game is over: {side} cannot move, {OTHER[side]} wins"

    def turned(self, symmetry: int) -> DomineeringPosition:
        """The position after one of the board's symmetries; the value is the same.

        The moves that led there keep their order but not their lower left
        cells, so the turned position begins a history of its own.
        """
        goes_to = self.board.symmetries[symmetry]
        covered = sum(to for bit, to in goes_to.items() if self.covered & bit)
        return DomineeringPosition(self.board, covered, self.turn)

    def canonical(self) -> DomineeringPosition:
        """The chosen one of all positions that are the same up to symmetry."""
        images = (self.turned(i) for i in range(len(self.board.symmetries)))
        return min(images, key=lambda position: position.covered)

    def check(self) -> DomineeringPosition:
        """Return self if every covered cell is on the board, else raise `IllegalPositionError`."""
        if self.covered < 0 or self.covered & ~self.board.full:
            raise IllegalPositionError(f"a covered cell lies outside the board {self.board}")
        return self
