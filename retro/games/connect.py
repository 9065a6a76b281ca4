"""Connect-k with gravity, plainly: the board, its lines, and a position for people.

Two players drop stones into WIDTH columns of HEIGHT cells; the first to have
`connect` stones in a straight line wins; a full board without a line is a
draw. Everything here is ordinary Python on ordinary integers, written to be
read; `connect_bits` holds the jitted twin, and tests bind the two.

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

from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games.stones import StonesPosition

MAX_BITS = 64
DEFAULT_CONNECT = 4


@dataclass(frozen=True)
class Board:
    """A board of `width` columns and `height` rows, and the length of a winning line.

    >>> board = Board(5, 4)
    >>> str(board), board.cells, len(board.lines)
    ('5x4', 20, 17)
    """

    width: int
    height: int
    connect: int = DEFAULT_CONNECT

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise BadTextError(f"a board has at least one column and one row, not {self}")
        if self.connect < 2:
            raise BadTextError(f"a line has at least 2 stones, not {self.connect}")
        if self.width * (self.height + 1) > MAX_BITS:
            raise BadTextError(
                f"board {self} is too large: WIDTH*(HEIGHT+1) is "
                f"{self.width * (self.height + 1)}, the limit is {MAX_BITS}"
            )

    @classmethod
    def parse(cls, text: str, connect: int = DEFAULT_CONNECT) -> Board:
        """Read `WIDTHxHEIGHT`: columns first, then rows.

        >>> Board.parse("7x6")
        Board(width=7, height=6, connect=4)
        """
        match = re.fullmatch(r"\s*([0-9]{1,3})[xX]([0-9]{1,3})\s*", text, re.ASCII)
        if match is None:
            raise BadTextError(f"found board {text!r}, wanted WIDTHxHEIGHT such as 5x4")
        return cls(int(match[1]), int(match[2]), connect)

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"

    @property
    def name(self) -> str:
        """Game and board in one word, as tables are called: `connect4-5x4`."""
        return f"connect{self.connect}-{self}"

    @property
    def goal(self) -> str:
        """What the winner has."""
        return f"{self.connect} in a line"

    @property
    def cells(self) -> int:
        return self.width * self.height

    @property
    def stride(self) -> int:
        """Bits per column: its cells and one guard."""
        return self.height + 1

    def bit(self, column: int, row: int) -> int:
        return 1 << (column * self.stride + row)

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

    def has_line(self, stones: int) -> bool:
        """Whether these stones of one player contain a winning line."""
        return any(stones & line == line for line in self.lines)

    def column_mask(self, column: int) -> int:
        return ((1 << self.height) - 1) << (column * self.stride)

    def require_gravity(self, stones: int) -> None:
        """Raise if a stone, whoever's, has an empty cell beneath it."""
        for column in range(self.width):
            bits = (stones & self.column_mask(column)) >> (column * self.stride)
            if bits & (bits + 1):
                raise IllegalPositionError(f"a stone floats in column {column + 1}")


@dataclass(frozen=True)
class Position(StonesPosition):
    """A position: the stones of the first and of the second player.

    Frozen: `play` and `undo` return another position. Two positions are equal
    when their stones are, however they arose.

    >>> position = Position(Board(5, 4)).play(3).play(3)
    >>> position.side_to_move, position.ply, position.legal_columns()
    ('first', 2, [0, 1, 2, 3, 4])
    >>> position.undo().side_to_move
    'second'
    """

    board: Board

    def height(self, column: int) -> int:
        return ((self.first | self.second) & self.board.column_mask(column)).bit_count()

    def legal_columns(self) -> list[int]:
        """The columns, counted from 0, that take one more stone; none once the game is over."""
        if self.is_over():
            return []
        return [c for c in range(self.board.width) if self.height(c) < self.board.height]

    def legal_moves(self) -> list[int]:
        """The same under the name that all games share: here a move is a column."""
        return self.legal_columns()

    def play(self, column: int) -> Position:
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
            return Position(self.board, self.first | bit, self.second, history)
        return Position(self.board, self.first, self.second | bit, history)

    def undo(self) -> Position:
        """Take back the last move. Needs to know it: set-up positions have no last move."""
        if not self.history:
            raise IllegalPositionError("there is no move to take back")
        column = self.history[-1]
        keep = ~self.board.bit(column, self.height(column) - 1)
        return Position(self.board, self.first & keep, self.second & keep, self.history[:-1])

    def mirror(self) -> Position:
        """Left and right exchanged; the value is the same."""
        board = self.board

        def flip(stones: int) -> int:
            columns = [stones & board.column_mask(c) for c in range(board.width)]
            return sum(
                (bits >> (c * board.stride)) << ((board.width - 1 - c) * board.stride)
                for c, bits in enumerate(columns)
            )

        history = self.history
        mirrored = None if history is None else tuple(board.width - 1 - c for c in history)
        return Position(board, flip(self.first), flip(self.second), mirrored)

    def check(self) -> Position:
        """Return self if the rules could show this position, else raise `IllegalPositionError`.

        Asked for: stones only on the board, none shared, none floating, equal
        counts or one more for the first player, no line of the side to move
        (the game would have ended before). Not asked for: that some order of
        moves leads here; `find_moves` answers that.
        """
        board, stones = self.board, self.first | self.second
        on_board = sum(board.column_mask(c) for c in range(board.width))
        if self.first < 0 or self.second < 0 or stones & ~on_board:
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


def find_moves(position: Position) -> tuple[int, ...] | None:
    """Some order of moves from the empty board to this position, or None if there is none.

    Takes stones off the tops of the columns, last mover first. The colours
    are given, so a state of this search is just the column heights, and no
    state is tried twice.

    >>> board = Board(4, 4)
    >>> find_moves(Position(board, first=board.bit(0, 0), second=board.bit(0, 1)))
    (0, 0)
    """
    dead_ends: set[tuple[int, int]] = set()

    def search(first: int, second: int) -> list[int] | None:
        now = Position(position.board, first, second)
        if now.ply == 0:
            return []
        if (first, second) in dead_ends:
            return None
        for column in range(now.board.width):
            top = now.board.bit(column, now.height(column) - 1) if now.height(column) else 0
            if now.opponent & top:
                before = Position(now.board, first & ~top, second & ~top)
                if before.winner() is None:
                    moves = search(before.first, before.second)
                    if moves is not None:
                        return [*moves, column]
        dead_ends.add((first, second))
        return None

    moves = search(position.first, position.second)
    return None if moves is None else tuple(moves)
