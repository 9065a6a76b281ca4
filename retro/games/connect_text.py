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

Arrays: shape (height, width), top row first; 0 empty, 1 first player, 2 or -1
second player.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from retro.errors import (
    BadTextError,
    DoesNotFitError,
    GameOverError,
    IllegalPositionError,
    WrongBoardError,
)
from retro.games.catalogue import Option, PlacementGame
from retro.games.connect import DEFAULT_CONNECT, MAX_BITS, Board, Position, find_moves

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLUMN_CHARACTERS = "123456789abcdefghijklmnopqrstuvwxyz"
EMPTY_TEXT = "-"
BLACK, WHITE, EMPTY = "@", "0", "."
_MEANING = {".": ".", "@": "@", "X": "@", "x": "@", "0": "0", "O": "0", "o": "0"}


def column_text(column: int) -> str:
    """The character of a column counted from 0: 0 is `1`, 9 is `a`."""
    return COLUMN_CHARACTERS[column]


def read_moves(board: Board, text: str) -> Position:
    """Play a move string from the empty board.

    >>> read_moves(Board(5, 4), "443").ply
    3
    """
    letters = "".join(text.split())
    position = Position(board)
    if letters == EMPTY_TEXT:
        return position
    for number, letter in enumerate(letters, start=1):
        column = COLUMN_CHARACTERS.find(letter.lower())
        if column < 0:
            raise BadTextError(
                f"move {number} of {text!r} is {letter!r}; "
                f"wanted a column from 1 to {column_text(board.width - 1)}"
            )
        try:
            position = position.play(column)
        except (GameOverError, IllegalPositionError) as error:
            raise type(error)(f"move {number} of {text!r}: {error}") from None
    return position


def moves_text(moves: Sequence[int]) -> str:
    """Columns counted from 0 as a move string; no move at all is the empty string."""
    return "".join(column_text(column) for column in moves)


def write_moves(position: Position) -> str:
    """A move string that leads to the position: its own history, or one that is found.

    >>> write_moves(read_moves(Board(5, 4), "44 3"))
    '443'
    """
    history = position.history
    moves = history if history is not None else find_moves(position)
    if moves is None:
        raise IllegalPositionError("no order of moves leads to this position")
    return moves_text(moves)


def read_grid(text: str, board: Board | None = None) -> Position:
    """Read a grid; White is to move. `board` is what is wanted, if that is known.

    >>> read_grid("3x2 ... .@.", Board(3, 2)).side_to_move
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
    return Position(board, first, second).check()


def grid_stones(text: str, board: Board | None = None) -> tuple[Board, int, int]:
    """The board of a grid, its black and its white stones, whatever their counts."""
    body = re.sub(r"#[^\n]*", " ", text)
    header = re.match(r"\s*([0-9]{1,3}\s*[xX]\s*[0-9]{1,3})(?![0-9])", body, re.ASCII)
    if header is None:
        begin = body.split()[0] if body.split() else "nothing"
        raise BadTextError(f"a grid begins with {begin!r}, wanted a header such as 5x4")
    size = "".join(header[1].split())
    found = Board.parse(size, board.connect) if board else Board.parse(size)
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


def write_grid(position: Position) -> str:
    """The grid of a position; White is the side to move, so reading it gives the same value.

    >>> print(write_grid(read_moves(Board(3, 2), "221")))
    3x2
    . 0 .
    @ @ .
    """
    board = position.board
    rows = [str(board)]
    for row in reversed(range(board.height)):
        bits = [board.bit(column, row) for column in range(board.width)]
        rows.append(" ".join(_symbol(position, bit) for bit in bits))
    return "\n".join(rows)


def _symbol(position: Position, bit: int) -> str:
    if position.mover & bit:
        return WHITE
    return BLACK if position.opponent & bit else EMPTY


def from_array(board: Board, array: Any) -> Position:
    """Read an array of shape (height, width), top row first: 0 empty, 1 first, 2 or -1 second.

    >>> from_array(Board(3, 2), [[0, 0, 0], [0, 1, 0]]).side_to_move
    'second'
    """
    try:
        cells = np.asarray(array)
    except ValueError:
        raise BadTextError("found rows of different lengths in a board array") from None
    if cells.shape != (board.height, board.width):
        raise WrongBoardError(
            f"found an array of shape {cells.shape}, wanted {(board.height, board.width)} "
            f"for board {board}"
        )
    stones = {0: 0, 1: 0, 2: 0, -1: 0}
    for (row_from_top, column), value in np.ndenumerate(cells):
        if value not in stones:
            raise BadTextError(f"found {value!r} in a board array, wanted 0, 1 and 2 (or -1)")
        stones[int(value)] |= board.bit(column, board.height - 1 - row_from_top)
    return Position(board, stones[1], stones[2] | stones[-1]).check()


def to_array(position: Position) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
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


def draw(position: Position) -> str:
    """The board for a terminal: X the first player's stones, O the second's.

    >>> print(draw(read_moves(Board(3, 2), "221")))
      . O .
      X X .
      1 2 3
    """
    board = position.board
    symbols = {1: "X", 2: "O", 0: EMPTY}
    rows = [" ".join(symbols[int(cell)] for cell in row) for row in to_array(position)]
    rows.append(" ".join(column_text(column) for column in range(board.width)))
    return "\n".join(f"  {row}" for row in rows)


def read_move(position: Position, text: str) -> int:
    """One column as people write it, counted from 0; whether it has room `play` will say.

    >>> read_move(Position(Board(5, 4)), "3")
    2
    """
    column = COLUMN_CHARACTERS.find(text.strip().lower()) if len(text.strip()) == 1 else -1
    if column < 0:
        last = column_text(position.board.width - 1)
        raise BadTextError(f"found {text!r}, wanted a column from 1 to {last}")
    return column


def as_position(board: Board, thing: Any) -> Position:
    """Read any accepted form: `Position`, move string, grid text, array, pair of bitboards.

    >>> as_position(Board(5, 4), "44") == as_position(Board(5, 4), (1 << 15, 1 << 16))
    True
    """
    if isinstance(thing, Position):
        if thing.board != board:
            raise WrongBoardError(
                f"the position is on {thing.board.name}, the table is for {board.name}"
            )
        return thing if 0 <= thing.first | thing.second < 1 << MAX_BITS else thing.check()
    if isinstance(thing, str):
        return (
            read_grid(thing, board)
            if re.match(r"\s*(#|[0-9]+\s*[xX])", thing)
            else read_moves(board, thing)
        )
    if isinstance(thing, tuple) and [isinstance(t, int | np.integer) for t in thing] == [True] * 2:
        return Position(board, int(thing[0]), int(thing[1])).check()
    if isinstance(thing, list | tuple | np.ndarray):
        return from_array(board, thing)
    raise BadTextError(
        f"found a {type(thing).__name__}, wanted a move string, grid, Position, array or bitboards"
    )


def _parse(size: str, options: Mapping[str, str]) -> Board:
    connect = options.get("connect", str(DEFAULT_CONNECT))
    if not re.fullmatch(r"[0-9]{1,3}", connect, re.ASCII):
        raise BadTextError(f"found {connect!r} stones in a line, wanted a whole number")
    return Board.parse(size, int(connect))


def _rules(board: Board) -> Any:
    raise DoesNotFitError(f"{board.name} has a walk and a search of its own, not the generic ones")


GAME = PlacementGame(
    name="connect4",
    about="stones fall to the bottom of a column, K in a straight line win",
    options=(Option("connect", "K", "stones in a winning line (default 4)", str(DEFAULT_CONNECT)),),
    players=("X", "O"),
    parse=_parse,
    describe=lambda board: (str(board), {"connect": str(board.connect)}),
    start=Position,
    read_move=read_move,
    write_move=lambda position, move: column_text(move),
    read_position=as_position,
    write_position=write_moves,
    draw=draw,
    rules=_rules,
    state=lambda position: (position.first, position.second),
    position=Position,
)
