"""Connect-k positions as text, arrays and bitboards, both ways.

Move strings: one character per move, the column counted from 1; columns past
9 go on with letters (`a` is 10, `b` is 11 ...). The empty board is the empty
string or `-`. White space is ignored.

    4453        columns 4, 4, 5, 3

Grids: a header `WxH`, then W*H symbols, top row first. White is always to
move. White space is ignored, `#` starts a comment.

    5x4         # columns x rows
    . . . . .   # . empty
    . . . . .   # @ Black (also X x)
    . . @ . .   # 0 White (also O o)
    . . 0 @ .

Which player is White follows from the counts: as many white stones as black
ones, and White is the first player (nobody is ahead, the first player moves);
one black stone more, and Black is the first player. Any other difference is
impossible and refused with `IllegalPositionError`.

Arrays: shape (height, width), top row first; 0 empty, 1 first player, 2 second player.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from retro.errors import (
    BadTextError,
    GameOverError,
    IllegalPositionError,
    WrongBoardError,
)
from retro.games.cells import read_line
from retro.games.connect4.rules import (
    DEFAULT_CONNECT,
    Connect4Board,
    Connect4Position,
    find_moves,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


COLUMN_CHARACTERS = "123456789abcdefghijklmnopqrstuvwxyz"
_COLUMNS = {
    letter: column for column, low in enumerate(COLUMN_CHARACTERS) for letter in (low, low.upper())
}
EMPTY_TEXT = "-"
BLACK, WHITE, EMPTY = "@", "0", "."
_MEANING = {".": ".", "@": "@", "X": "@", "x": "@", "0": "0", "O": "0", "o": "0"}


def column_text(column: int) -> str:
    """The character of a column counted from 0: 0 is `1`, 9 is `a`."""
    return COLUMN_CHARACTERS[column]


def read_moves(board: Connect4Board, text: str) -> Connect4Position:
    """Play a move string from the empty board.

    >>> read_moves(Connect4Board(5, 4), "443").ply
    3
    """
    letters = "".join(text.split())
    if letters == EMPTY_TEXT:
        return Connect4Position(board)
    return _drop_all(board, letters) or _play_all(board, letters, text)


def _drop_all(board: Connect4Board, letters: str) -> Connect4Position | None:
    """Drop stone after stone and look for lines at the end; None unless all goes well.

    Stones stay where they are: who has no line in the end never had one.
    """
    free, full = list(board.feet), board.full
    mine = theirs = 0  # of the side to move
    try:
        moves = tuple([_COLUMNS[letter] for letter in letters])
        for column in moves:
            bit = free[column]
            if not bit & full:
                return None
            free[column] = bit << 1
            mine, theirs = theirs, mine | bit
    except (KeyError, IndexError):
        return None
    if board.has_line(mine) or board.has_line(theirs):
        return None
    first, second = (theirs, mine) if len(moves) % 2 else (mine, theirs)
    return Connect4Position(board, first, second, moves)


def _play_all(board: Connect4Board, letters: str, text: str) -> Connect4Position:
    """Play move by move, each as the rules want it, and name the first that is wrong."""
    position = Connect4Position(board)
    last = column_text(board.width - 1)
    for number, letter in enumerate(letters, start=1):
        column = _COLUMNS.get(letter)
        if column is None:
            raise BadTextError(
                f"move {number} of {text!r} is {letter!r}; wanted a column from 1 to {last}"
            )
        if column >= board.width:
            raise IllegalPositionError(
                f"move {number} of {text!r}: column {letter} is not on the board {board}; "
                f"columns are 1 to {last}"
            )
        try:
            position = position._play(column)
        except (GameOverError, IllegalPositionError) as error:
            raise type(error)(f"move {number} of {text!r}: {error}") from None
    return position


def moves_text(moves: Sequence[int]) -> str:
    """Columns counted from 0 as a move string; no move at all is the empty string."""
    return "".join(column_text(column) for column in moves)


def write_moves(position: Connect4Position) -> str:
    """A move string that leads to the position: its own history, or one that is found.

    >>> write_moves(read_moves(Connect4Board(5, 4), "44 3"))
    '443'
    """
    history = position.history
    moves = history if history is not None else find_moves(position)
    if moves is None:
        raise IllegalPositionError("no order of moves leads to this position")
    return moves_text(moves)


def read_grid(text: str, board: Connect4Board | None = None) -> Connect4Position:
    """Read a grid; White is to move. `board` is what is wanted, if that is known.

    >>> read_grid("3x2 ... .@.", Connect4Board(3, 2)).side_to_move
    'second'
    """
    board, black, white = grid_stones(text, board)
    surplus = black.bit_count() - white.bit_count()
    if surplus not in (0, 1):
        raise IllegalPositionError(
            f"impossible counts with White to move: {black.bit_count()} black and "
            f"{white.bit_count()} white stones; wanted equal, or one more black"
        )
    first, second = (black, white) if surplus else (white, black)
    return Connect4Position(board, first, second).check()


def grid_stones(text: str, board: Connect4Board | None = None) -> tuple[Connect4Board, int, int]:
    """The board of a grid, its black and its white stones, whatever their counts."""
    body = re.sub(r"#[^\n]*", " ", text)
    header = re.match(r"\s*([0-9]{1,3}\s*[xX]\s*[0-9]{1,3})(?![0-9])", body, re.ASCII)
    if header is None:
        begin = body.split()[0] if body.split() else "nothing"
        raise BadTextError(f"a grid begins with {begin!r}, wanted a header such as 5x4")
    size = "".join(header[1].split())
    found = Connect4Board.parse(size, board.connect) if board else Connect4Board.parse(size)
    if board is not None and found != board:
        raise WrongBoardError(f"the grid is {found}, wanted a {board} board")
    symbols = "".join(body[header.end() :].split())
    strange = next((s for s in symbols if s not in _MEANING), None)
    if strange is not None:
        raise BadTextError(f"found {strange!r} in a grid, wanted '.', '@' (X, x) or '0' (O, o)")
    if len(symbols) != found.cells:
        raise BadTextError(f"a {found} grid has {found.cells} symbols, found {len(symbols)}")
    stones = {BLACK: 0, WHITE: 0, EMPTY: 0}
    for place, symbol in enumerate(symbols):
        row_from_top, column = divmod(place, found.width)
        stones[_MEANING[symbol]] |= found.bit(column, found.height - 1 - row_from_top)
    return found, stones[BLACK], stones[WHITE]


def write_grid(position: Connect4Position) -> str:
    """The grid of a position; White is the side to move, so reading it gives the same value.

    >>> print(write_grid(read_moves(Connect4Board(3, 2), "221")))
    3x2
    . 0 .
    @ @ .
    """
    board = position.board
    rows = [f"{board.width}x{board.height}"]
    for row in reversed(range(board.height)):
        bits = [board.bit(column, row) for column in range(board.width)]
        rows.append(" ".join(_symbol(position, bit) for bit in bits))
    return "\n".join(rows)


def _symbol(position: Connect4Position, bit: int) -> str:
    if position.mover & bit:
        return WHITE
    return BLACK if position.opponent & bit else EMPTY


def to_array(position: Connect4Position) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
    """The array form of a position, with 2 for the second player."""
    board = position.board
    cells = np.zeros((board.height, board.width), np.int8)
    for column in range(board.width):
        for row in range(board.height):
            bit = board.bit(column, row)
            cells[board.height - 1 - row, column] = (
                1 if position.first & bit else 2 if position.second & bit else 0
            )
    return cells


def draw(position: Connect4Position) -> str:
    """The board for a terminal: X the first player's stones, O the second's.

    >>> print(draw(read_moves(Connect4Board(3, 2), "221")))
      . O .
      X X .
      1 2 3
    """
    board = position.board
    symbols = {1: "X", 2: "O", 0: EMPTY}
    rows = [" ".join(symbols[int(cell)] for cell in row) for row in to_array(position)]
    rows.append(" ".join(column_text(column) for column in range(board.width)))
    return "\n".join(f"  {row}" for row in rows)


def read_move(position: Connect4Position, text: str) -> int:
    """One column as people write it, counted from 0; whether it has room `play` will say.

    >>> read_move(Connect4Position(Connect4Board(5, 4)), "3")
    2
    """
    column = COLUMN_CHARACTERS.find(text.strip().lower()) if len(text.strip()) == 1 else -1
    if column < 0:
        last = column_text(position.board.width - 1)
        raise BadTextError(f"found {text!r}, wanted a column from 1 to {last}")
    return column


def read_position(board: Connect4Board, text: str) -> Connect4Position:
    """A move string, or a grid with its header.

    >>> board = Connect4Board(5, 4)
    >>> read_position(board, "4") == read_position(board, "5x4 ..... ..... ..... ...@.")
    True
    """
    return read_grid(text, board) if is_grid(board, text) else read_moves(board, text)


def is_grid(_: Connect4Board, text: str) -> bool:
    """Whether text begins as a grid does, with its size."""
    return re.match(r"\s*(#|[0-9]+\s*[xX]\s*[0-9])", text) is not None


def parse(size: str, options: Mapping[str, str]) -> Connect4Board:
    return Connect4Board.parse(size, read_line(options.get("connect", str(DEFAULT_CONNECT))))


def describe(board: Connect4Board) -> tuple[str, dict[str, str]]:
    """What `parse` reads."""
    return f"{board.width}x{board.height}", {"connect": str(board.connect)}


def centre_first(board: Connect4Board, columns: list[int]) -> list[int]:
    """The order in which columns are listed.

    >>> centre_first(Connect4Board(4, 4), [0, 1, 2, 3])
    [1, 2, 0, 3]
    """
    return sorted(columns, key=lambda column: (abs(2 * column - board.width + 1), column))
