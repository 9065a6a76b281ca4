"""m,n,k positions as text, both ways.

Moves are coordinates: a letter for the column, a number for the row, `a1` the
bottom left; or `row,column` in numbers, `1,1` the bottom left. White space
parts moves; between letter-number moves it may be left out. The empty board is
the empty string or `-`.

    b2 a1 c3     b2a1c3     2,2 1,1 3,3        three times the same moves

Grids: a header `rows,cols,k`, then the symbols, top row first; `X` is the
first player, `O` (or `0`) the second, `.` empty. `#` starts a comment.

    3,3,3
    . . .
    . X .
    O . .        after b2 a1
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games.mnk import MnkBoard, MnkPosition, find_order

if TYPE_CHECKING:
    from collections.abc import Iterable

EMPTY_TEXT = "-"
FIRST, SECOND, EMPTY = "X", "O", "."
_MEANING = {"x": FIRST, "X": FIRST, "o": SECOND, "O": SECOND, "0": SECOND, ".": EMPTY}
_MOVE = re.compile(
    r"(?P<letter>[a-zA-Z])(?P<number>[0-9]{1,2})|(?P<row>[0-9]{1,2}),(?P<col>[0-9]{1,2})"
)


def move_text(board: MnkBoard, bit: int) -> str:
    """A cell as text.

    >>> move_text(MnkBoard(3, 3, 3), MnkBoard(3, 3, 3).bit(row=1, column=0))
    'a2'
    """
    row, column = board.place(bit)
    return f"{chr(ord('a') + column)}{row + 1}"


def moves_text(board: MnkBoard, bits: Iterable[int]) -> str:
    return " ".join(move_text(board, bit) for bit in bits)


def read_moves(board: MnkBoard, text: str) -> MnkPosition:
    """Play moves from the empty board.

    >>> read_moves(MnkBoard(3, 3, 3), "b2 a1") == read_moves(MnkBoard(3, 3, 3), "2,2 1,1")
    True
    """
    position = MnkPosition(board)
    if text.strip() == EMPTY_TEXT:
        return position
    for number, bit in enumerate(_read_bits(board, text), start=1):
        try:
            position = position.play(bit)
        except (GameOverError, IllegalPositionError) as error:
            raise type(error)(f"move {number} of {text!r}: {error}") from None
    return position


def _read_bits(board: MnkBoard, text: str) -> list[int]:
    bits = []
    for word in text.split():
        begin = 0
        while begin < len(word):
            match = _MOVE.match(word, begin)
            # Numbers run together could be cut in several ways: only whole words.
            if match is None or (match["row"] and len(match[0]) < len(word)):
                raise BadTextError(
                    f"found {word[begin:]!r} in {text!r}, wanted moves such as b2 or 2,2"
                )
            bits.append(_bit(board, match))
            begin = match.end()
    return bits


def _bit(board: MnkBoard, match: re.Match[str]) -> int:
    if match["letter"]:
        row, column = int(match["number"]) - 1, ord(match["letter"].lower()) - ord("a")
    else:
        row, column = int(match["row"]) - 1, int(match["col"]) - 1
    if not (0 <= row < board.rows and 0 <= column < board.cols):
        last = move_text(board, board.all_bits[-1])
        raise IllegalPositionError(
            f"{match[0]!r} is not on the board {board}; cells are a1 to {last}"
        )
    return board.bit(row, column)


def write_moves(position: MnkPosition) -> str:
    """Moves that lead to the position: its own history, or some that are found.

    >>> write_moves(read_moves(MnkBoard(3, 3, 3), "b2a1"))
    'b2 a1'
    """
    moves = position.history if position.history is not None else find_order(position)
    if moves is None:
        raise IllegalPositionError("no order of moves leads to this position")
    return moves_text(position.board, moves)


def read_grid(text: str) -> MnkPosition:
    """Read a grid; the counts tell whose move it is.

    >>> read_grid("2,3,2  ... .X.").side_to_move
    'second'
    """
    body = re.sub(r"#[^\n]*", " ", text).split()
    board = MnkBoard.parse(body[0] if body else "")
    symbols = "".join(body[1:])
    strange = next((s for s in symbols if s not in _MEANING), None)
    if strange is not None:
        raise BadTextError(f"found {strange!r} in a grid, wanted '.', 'X' or 'O'")
    if len(symbols) != board.cells:
        raise BadTextError(f"a {board} grid has {board.cells} symbols, found {len(symbols)}")
    stones = {FIRST: 0, SECOND: 0, EMPTY: 0}
    for place, symbol in enumerate(symbols):
        row_from_top, column = divmod(place, board.cols)
        stones[_MEANING[symbol]] |= board.bit(board.rows - 1 - row_from_top, column)
    return MnkPosition(board, stones[FIRST], stones[SECOND]).check()


def write_grid(position: MnkPosition) -> str:
    """The grid of a position.

    >>> print(write_grid(read_moves(MnkBoard(2, 3, 2), "b1 a2")))
    2,3,2
    O . .
    . X .
    """
    board = position.board
    rows = [str(board)]
    for row in reversed(range(board.rows)):
        bits = [board.bit(row, column) for column in range(board.cols)]
        rows.append(" ".join(_symbol(position, bit) for bit in bits))
    return "\n".join(rows)


def _symbol(position: MnkPosition, bit: int) -> str:
    if position.first & bit:
        return FIRST
    return SECOND if position.second & bit else EMPTY
