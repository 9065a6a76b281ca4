"""Grids of stones, plainly: free placement on a board, the first complete line wins.

Two players take turns to put a stone on any empty cell of `rows` x `cols`; who
first fills all cells of a line wins; a full board without one is a draw. What
the lines are makes the game: `mnk`, `puissance`. Ordinary Python on ordinary
integers, in the manner of `connect`.

A player's stones are one integer with one bit per cell. Each row has one more
bit than cells, always 0, so that shifts cannot leak between rows. For 3 rows
and 4 columns (bit numbers; row 0 is the bottom, column 0 the left):

    3   10  11  12  13  .      <- guard bits 4, 9, 14
    2    5   6   7   8  .
    1    0   1   2   3  .      bit = row * (cols + 1) + column
         a   b   c   d

A square looks the same after 8 turns and reflections, any other grid after 4;
a game may have fewer, if its cells are not all alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from retro.errors import GameOverError, IllegalPositionError
from retro.games.stones import LineBoard, StonesPosition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from retro.games.game import Rules
    from retro.games.values import Player

    # Where a cell goes: (row, column) -> (row, column).
    Way = Callable[[int, int], tuple[int, int]]

WORD_BITS = 64
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))  # (up, right): row, column, two diagonals


def reflections(rows: int, cols: int) -> list[Way]:
    """The ways to lay any grid on itself; the identity first."""
    top, right = rows - 1, cols - 1
    return [
        lambda r, c: (r, c),
        lambda r, c: (r, right - c),
        lambda r, c: (top - r, c),
        lambda r, c: (top - r, right - c),
    ]


@dataclass(frozen=True, repr=False)
class GridBoard(LineBoard):
    """A board of `rows` x `cols` cells. A game adds its `lines` and says what a line is called."""

    rows: int
    cols: int

    @property
    def cells(self) -> int:
        return self.rows * self.cols

    @property
    def stride(self) -> int:
        """Bits per row: its cells and one guard."""
        return self.cols + 1

    def bit(self, row: int, column: int) -> int:
        return 1 << (row * self.stride + column)

    def place(self, bit: int) -> tuple[int, int]:
        """(row, column) of a cell's bit, both counted from 0."""
        return divmod(bit.bit_length() - 1, self.stride)

    def has(self, row: int, column: int) -> bool:
        return 0 <= row < self.rows and 0 <= column < self.cols

    @cached_property
    def all_bits(self) -> tuple[int, ...]:
        """The bit of every cell, row after row from the bottom."""
        return tuple(self.bit(r, c) for r in range(self.rows) for c in range(self.cols))

    def rays(self) -> Iterator[list[int]]:
        """From every cell in every direction: the bits of the cells up to the edge."""
        for row in range(self.rows):
            for column in range(self.cols):
                for up, right in DIRECTIONS:
                    bits, r, c = [], row, column
                    while self.has(r, c):
                        bits.append(self.bit(r, c))
                        r, c = r + up, c + right
                    yield bits

    @cached_property
    def lines_through(self) -> dict[int, tuple[int, ...]]:
        """{bit of a cell: the lines that have it}."""
        found: dict[int, list[int]] = {bit: [] for bit in self.all_bits}
        for line in self.lines:
            rest = line
            while rest:
                found[rest & -rest].append(line)
                rest &= rest - 1
        return {bit: tuple(lines) for bit, lines in found.items()}

    @cached_property
    def symmetries(self) -> tuple[dict[int, int], ...]:
        """Every way to lay the board on itself: {bit: the bit it goes to}; the identity first."""
        top, right = self.rows - 1, self.cols - 1
        ways = reflections(self.rows, self.cols)
        if self.rows == self.cols:
            ways += [
                lambda r, c: (c, r),
                lambda r, c: (c, top - r),
                lambda r, c: (right - c, r),
                lambda r, c: (right - c, top - r),
            ]
        return tuple({b: self.bit(*way(*self.place(b))) for b in self.all_bits} for way in ways)

    # States: cells are numbered row after row from the bottom, without guard bits.
    #
    #     words = 1, up to 32 cells:   a = first | second << cells,   b = 0
    #     words = 2, up to 64 cells:   a = first,                     b = second

    @property
    def words(self) -> int:
        """How many words a state takes."""
        return 1 if 2 * self.cells <= WORD_BITS else 2

    def pack(self, position: GridPosition) -> tuple[int, int]:
        ours, theirs = (
            sum(1 << cell for cell, bit in enumerate(self.all_bits) if stones & bit)
            for stones in (position.first, position.second)
        )
        return (ours | theirs << self.cells, 0) if self.words == 1 else (ours, theirs)

    def unpack(self, a: int, b: int) -> GridPosition:
        if self.words == 1:
            a, b = a & (1 << self.cells) - 1, a >> self.cells
        first, second = (
            sum(bit for cell, bit in enumerate(self.all_bits) if stones >> cell & 1)
            for stones in (a, b)
        )
        return GridPosition(self, first, second)

    def images(self, a: int, b: int) -> set[tuple[int, int]]:
        position = self.unpack(a, b)
        return {self.pack(position.turned(i)) for i in range(len(self.symmetries))}

    def plies_of(self, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.int64]:
        return (np.bitwise_count(a) + np.bitwise_count(b)).astype(np.int64)

    def is_state(self, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.bool_]:
        full, cells = np.uint64((1 << self.cells) - 1), np.uint64(self.cells)
        if self.words == 1:
            first, second, rest = a & full, a >> cells, b
        else:
            first, second, rest = a, b, (a | b) & ~full
        zero = np.uint64(0)
        found: NDArray[np.bool_] = (rest | second & ~full | first & second) == zero
        return found

    def make_rules(self) -> Rules:
        from retro.games.line_kernels import lines_rules  # numba: only who needs kernels

        return lines_rules(self)


@dataclass(frozen=True, repr=False)
class GridPosition(StonesPosition):
    """A position: the stones of the first and of the second player.

    Frozen: `play` and `undo` return another position. Moves are the bits of
    cells; `mnk.text` reads and writes them as `b2`. Two positions are equal
    when their stones are, however they arose.

    >>> from retro.games.mnk.rules import MnkBoard
    >>> board = MnkBoard(3, 3, 3)
    >>> position = GridPosition(board)._play(board.bit(1, 1))._play(board.bit(0, 0))
    >>> position.side_to_move, position.ply, len(position._numbers())
    ('first', 2, 7)
    >>> position.undo().side_to_move
    'second'
    """

    board: GridBoard

    def _numbers(self) -> list[int]:
        """The bits of the empty cells; none once the game is over."""
        if self.is_over():
            return []
        return [bit for bit in self.board.all_bits if not (self.first | self.second) & bit]

    @cached_property
    def _winner(self) -> Player | None:
        if self.history:  # nobody had a line before the last move
            lines = self.board.lines_through[self.history[-1]]
            stones = self.opponent
            if any(stones & line == line for line in lines):
                return "first" if self.ply % 2 else "second"
            return None
        return super().winner()

    def winner(self) -> Player | None:
        return self._winner

    def _play(self, bit: int, /) -> GridPosition:
        """Put a stone of the side to move on the cell of `bit`."""
        if bit not in self.board.lines_through:
            raise IllegalPositionError(f"the cell is not on the board {self.board}")
        if self.is_over():
            raise GameOverError(f"{self.over_message()}; nobody can move")
        if (self.first | self.second) & bit:
            row, column = self.board.place(bit)
            raise IllegalPositionError(f"row {row + 1}, column {column + 1} is taken")
        history = None if self.history is None else (*self.history, bit)
        if self.side_to_move == "first":
            return GridPosition(self.board, self.first | bit, self.second, history)
        return GridPosition(self.board, self.first, self.second | bit, history)

    def undo(self) -> GridPosition:
        """Take back the last move. Needs to know it: set-up positions have no last move."""
        if not self.history:
            raise IllegalPositionError("there is no move to take back")
        keep = ~self.history[-1]
        return GridPosition(self.board, self.first & keep, self.second & keep, self.history[:-1])

    def turned(self, symmetry: int) -> GridPosition:
        """The position after one of the board's symmetries; the value is the same."""
        goes_to = self.board.symmetries[symmetry]

        def turn(stones: int) -> int:
            return sum(to for bit, to in goes_to.items() if stones & bit)

        history = self.history
        turned = None if history is None else tuple(goes_to[bit] for bit in history)
        return GridPosition(self.board, turn(self.first), turn(self.second), turned)

    def canonical(self) -> GridPosition:
        """The chosen one of all positions that are the same up to symmetry."""
        images = (self.turned(i) for i in range(len(self.board.symmetries)))
        return min(images, key=lambda position: (position.first, position.second))

    def check(self) -> GridPosition:
        """Return self if play could have led here, else raise `IllegalPositionError`."""
        if (
            self.first < 0
            or self.second < 0
            or (self.first | self.second) & ~sum(self.board.all_bits)
        ):
            raise IllegalPositionError(f"a stone lies outside the board {self.board}")
        if self.first & self.second:
            raise IllegalPositionError("a cell holds stones of both players")
        self._check_counts()
        if find_order(self) is None:
            raise IllegalPositionError(
                "the game ended before this: no last move explains the lines"
            )
        return self


def find_order(position: GridPosition) -> tuple[int, ...] | None:
    """Some order of moves from the empty board to this position, or None if there is none.

    Before the last move nobody may have a line, and without a line any order
    will do. So only the last move needs to be found: a stone of the last mover
    that all lines share.
    """
    if position.board.has_line(position.mover):
        return None
    bits = position.board.all_bits
    theirs = [bit for bit in bits if position.opponent & bit]
    if position.board.has_line(position.opponent):
        last = [b for b in theirs if not position.board.has_line(position.opponent & ~b)]
        if not last:
            return None
        theirs.remove(last[0])
        theirs.append(last[0])
    ours = [bit for bit in bits if position.mover & bit]
    first, second = (theirs, ours) if position.ply % 2 else (ours, theirs)
    order = [bit for pair in zip(first, second, strict=False) for bit in pair]
    return tuple(order + first[len(second) :])


def near_stones(position: GridPosition) -> int:
    """The cells that hold a stone or touch one, and perhaps bits beside the board."""
    stones, stride = position.first | position.second, position.board.stride
    beside = stones << 1 | stones | stones >> 1  # what leaves a row falls on its guard bit
    return beside << stride | beside | beside >> stride
