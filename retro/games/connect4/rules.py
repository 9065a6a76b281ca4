"""Connect-k with gravity, plainly: the board, its lines, and a position for people.

Two players drop stones into WIDTH columns of HEIGHT cells; the first to have
`connect` stones in a straight line wins; a full board without a line is a
draw. Everything here is ordinary Python on ordinary integers, written to be
read; `bits` holds the jitted twin, and tests bind the two.

A player's stones are one integer with one bit per cell. Each column has one
more bit than cells, always 0, so that shifts cannot leak between columns.
For 5x4 (bit numbers; row 0 is the bottom, column 0 the left):

      .   .   .   .   .      <- guard bits 4, 9, 14, 19, 24
      3   8  13  18  23
      2   7  12  17  22
      1   6  11  16  21
      0   5  10  15  20      bit = column * (height + 1) + row
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games.cells import require_line
from retro.games.connect4 import key
from retro.games.moves import MoveNumber
from retro.games.position import deprecated
from retro.games.stones import LineBoard, StonesPosition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from retro.games.game import Rules

MAX_BITS = 64
DEFAULT_CONNECT = 4
MOST_TRIED = 20_000  # dead ends of a search for moves: 0.3 s; real positions have few


@dataclass(frozen=True, repr=False)
class Connect4Board(LineBoard):
    """A board of `width` columns and `height` rows, and the length of a winning line.

    >>> board = Connect4Board(5, 4)
    >>> str(board), board.cells, len(board.lines)
    ('5x4', 20, 17)
    """

    game_name: ClassVar[str] = "connect4"

    width: int
    height: int
    connect: int = DEFAULT_CONNECT

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise BadTextError(f"a board has at least one column and one row, not {self}")
        require_line(self.connect)
        if self.width * (self.height + 1) > MAX_BITS:
            raise BadTextError(
                f"board {self} is too large: WIDTH*(HEIGHT+1) is "
                f"{self.width * (self.height + 1)}, the limit is {MAX_BITS}"
            )

    @classmethod
    def parse(cls, text: str, connect: int = DEFAULT_CONNECT) -> Connect4Board:
        """Read `WIDTHxHEIGHT`: columns first, then rows.

        >>> Connect4Board.parse("7x6")
        Board('connect4 7x6')
        """
        match = re.fullmatch(r"\s*([0-9]{1,3})[xX]([0-9]{1,3})\s*", text, re.ASCII)
        if match is None:
            raise BadTextError(f"found board {text!r}, wanted WIDTHxHEIGHT such as 5x4")
        return cls(int(match[1]), int(match[2]), connect)

    def __str__(self) -> str:
        more = "" if self.connect == DEFAULT_CONNECT else f" connect={self.connect}"
        return f"{self.width}x{self.height}{more}"

    @property
    def name(self) -> str:
        """Game and board in one word, as tables are called: `connect4-5x4`."""
        return f"connect{self.connect}-{self.width}x{self.height}"

    @property
    def goal(self) -> str:
        """What the winner has."""
        return f"{self.connect} in a line"

    @cached_property
    def cells(self) -> int:
        return self.width * self.height

    @cached_property
    def stride(self) -> int:
        """Bits per column: its cells and one guard."""
        return self.height + 1

    def bit(self, column: int, row: int) -> int:
        return 1 << (column * self.stride + row)

    def place(self, bit: int) -> tuple[int, int]:
        """(row, column) of a cell's bit, both counted from 0."""
        column, row = divmod(bit.bit_length() - 1, self.stride)
        return row, column

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """Every winning line as a set of cells, found cell by cell."""
        found = []
        for column in range(self.width):
            for row in range(self.height):
                for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                    last_column = column + right * (self.connect - 1)
                    last_row = row + up * (self.connect - 1)
                    if last_column < self.width and 0 <= last_row < self.height:
                        line = 0
                        for i in range(self.connect):
                            line |= self.bit(column + right * i, row + up * i)
                        found.append(line)
        return tuple(found)

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The cells of each column."""
        return tuple(((1 << self.height) - 1) << (c * self.stride) for c in range(self.width))

    @cached_property
    def full(self) -> int:
        """Every cell."""
        return sum(self.columns)

    @cached_property
    def feet(self) -> tuple[int, ...]:
        """The lowest cell of each column."""
        return tuple(self.bit(column, 0) for column in range(self.width))

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """Bit steps of the directions that have room for a line: up, right, down right, up right.

        Guard bits keep a shifted line from running on in the next column.
        """
        wide, high = self.connect <= self.width, self.connect <= self.height
        steps = ((1, high), (self.stride, wide))
        sloping = ((self.stride - 1, wide and high), (self.stride + 1, wide and high))
        return tuple(step for step, fits in (*steps, *sloping) if fits)

    @cached_property
    def _shifts(self) -> tuple[tuple[int, ...], ...]:
        """Of each direction the shifts after which the feet of lines are left.

        Runs double: two stones side by side, two such pairs, ... For four: (step, 2 * step).
        """
        lengths, run = [], 1
        while run < self.connect:
            lengths.append(min(run, self.connect - run))
            run += lengths[-1]
        return tuple(tuple(step * length for length in lengths) for step in self.steps)

    def has_line(self, stones: int) -> bool:
        """Whether these stones of one player contain a line: shifted upon themselves, all meet."""
        for shifts in self._shifts:
            feet = stones
            for shift in shifts:
                feet &= feet >> shift
            if feet:
                return True
        return False

    def pack(self, position: Connect4Position) -> tuple[int, int]:
        return position.first, position.second

    def arrangement(self, mover: int, other: int) -> Connect4Position:
        """The position with these stones of the side to move and of the other, in any numbers.

        Whose turn it is follows from the number of all stones, so who is called first does, too.
        """
        is_odd = (mover | other).bit_count() % 2
        return Connect4Position(self, *((other, mover) if is_odd else (mover, other)))

    def unpack(self, a: int, b: int) -> Connect4Position:
        return Connect4Position(self, a, b)

    def images(self, a: int, b: int) -> set[tuple[int, int]]:
        return {(a, b), key.mirror(self, a, b)}

    def plies_of(self, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.int64]:
        return key.plies_of(a, b)

    def is_state(self, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.bool_]:
        return key.is_state(self, a, b)

    def make_rules(self) -> Rules:
        from retro.games.connect4.kernels import connect_rules  # numba: only who needs kernels

        return connect_rules(self)

    def require_gravity(self, stones: int) -> None:
        """Raise if a stone, whoever's, has an empty cell beneath it."""
        for column, cells in enumerate(self.columns):
            bits = (stones & cells) >> (column * self.stride)
            if bits & (bits + 1):
                raise IllegalPositionError(f"a stone floats in column {column + 1}")


@dataclass(frozen=True, repr=False)
class Connect4Position(StonesPosition):
    """A position: the stones of the first and of the second player.

    Frozen: `play` and `undo` return another position. Two positions are equal
    when their stones are, however they arose.

    >>> position = Connect4Position(Connect4Board(5, 4))._play(3)._play(3)
    >>> position.side_to_move, position.ply, position._numbers()
    ('first', 2, [0, 1, 2, 3, 4])
    >>> position.undo().side_to_move
    'second'
    """

    board: Connect4Board

    def height(self, column: int) -> int:
        return ((self.first | self.second) & self.board.columns[column]).bit_count()

    def _numbers(self) -> list[int]:
        """The columns, counted from 0, that take one more stone; none once the game is over."""
        if self.is_over():
            return []
        return [c for c in range(self.board.width) if self.height(c) < self.board.height]

    def legal_columns(self) -> list[MoveNumber]:
        """Deprecated: `moves`."""
        deprecated("legal_columns()", "moves")
        return [MoveNumber(column) for column in self._numbers()]

    def _play(self, column: int, /) -> Connect4Position:
        """Drop a stone of the side to move into `column`, counted from 0."""
        if not 0 <= column < self.board.width:
            raise IllegalPositionError(
                f"column {column + 1} is not on the board {self.board}; "
                f"columns are 1 to {self.board.width}"
            )
        if self.is_over():
            raise GameOverError(f"{self.over_message()}; nobody can move")
        row = self.height(column)
        if row == self.board.height:
            raise IllegalPositionError(f"column {column + 1} is full ({row} stones)")
        bit = self.board.bit(column, row)
        history = None if self.history is None else (*self.history, column)
        if self.side_to_move == "first":
            return Connect4Position(self.board, self.first | bit, self.second, history)
        return Connect4Position(self.board, self.first, self.second | bit, history)

    def undo(self) -> Connect4Position:
        """Take back the last move. Needs to know it: set-up positions have no last move."""
        if not self.history:
            raise IllegalPositionError("there is no move to take back")
        column = self.history[-1]
        keep = ~self.board.bit(column, self.height(column) - 1)
        return Connect4Position(
            self.board, self.first & keep, self.second & keep, self.history[:-1]
        )

    @property
    def root_text(self) -> str:
        """Moves that lead here, the same ones for the same stones."""
        from retro.games.connect4.text import moves_text

        moves = find_moves(self)
        if moves is None:
            raise IllegalPositionError("no order of moves leads to this position")
        return moves_text(moves)

    def mirror(self) -> Connect4Position:
        """Left and right exchanged; the value is the same."""
        board = self.board

        history = self.history
        mirrored = None if history is None else tuple(board.width - 1 - c for c in history)
        return Connect4Position(board, *key.mirror(board, self.first, self.second), mirrored)

    def check(self) -> Connect4Position:
        """Return self if the rules could show this position, else raise `IllegalPositionError`.

        Asked for: stones only on the board, none shared, none floating, equal
        counts or one more for the first player, no line of the side to move
        (the game would have ended before). Not asked for: that some order of
        moves leads here; `find_moves` answers that.
        """
        board, stones = self.board, self.first | self.second
        if self.first < 0 or self.second < 0 or stones & ~board.full:
            raise IllegalPositionError(f"a stone lies outside the board {board}")
        if self.first & self.second:
            raise IllegalPositionError("a cell holds stones of both players")
        board.require_gravity(stones)
        self._check_counts()
        if board.has_line(self.mover):
            raise IllegalPositionError(
                f"the side to move (the {self.side_to_move} player) already has "
                f"{board.goal}: the game ended before this"
            )
        return self


def find_moves(position: Connect4Position) -> tuple[int, ...] | None:
    """Some order of moves from the empty board to this position, or None if there is none.

    Takes stones off the tops of the columns, last mover first. The colours
    are given, so a state of this search is just the column heights, and no
    state is tried twice. `IllegalPositionError` when too many were tried in vain.

    >>> board = Connect4Board(4, 4)
    >>> find_moves(Connect4Position(board, first=board.bit(0, 0), second=board.bit(0, 1)))
    (0, 0)
    """
    dead_ends: set[tuple[int, int]] = set()

    def search(first: int, second: int) -> list[int] | None:
        now = Connect4Position(position.board, first, second)
        if now.ply == 0:
            return []
        if (first, second) in dead_ends:
            return None
        for column in range(now.board.width):
            top = now.board.bit(column, now.height(column) - 1) if now.height(column) else 0
            if now.opponent & top:
                before = Connect4Position(now.board, first & ~top, second & ~top)
                if before.winner() is None:
                    moves = search(before.first, before.second)
                    if moves is not None:
                        return [*moves, column]
        dead_ends.add((first, second))
        if len(dead_ends) > MOST_TRIED:
            raise IllegalPositionError(f"no order of moves found among {MOST_TRIED:,} tried")
        return None

    moves = search(position.first, position.second)
    return None if moves is None else tuple(moves)
