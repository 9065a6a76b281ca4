"""m,n,k positions as text, both ways.

Moves are coordinates: a letter for the column (`aa` follows `z`), a number for
the row, `a1` the bottom left; or `row,column` in numbers, `1,1` the bottom left. White space
parts moves; between letter-number moves it may be left out. The empty board is
the empty string or `-`.

    b2 a1 c3     b2a1c3     2,2 1,1 3,3        three times the same moves

Grids: a header `rows,cols,k`, then the symbols, top row first; `X` is the
first player, `O` (or `0`) the second, `.` empty. `#` starts a comment.

    3,3,3
    . . .
    . X .
    O . .        after b2 a1

`GAME` is the record of m,n,k-games for the catalogue of games.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from retro.errors import BadTextError, GameOverError, IllegalPositionError, WrongBoardError
from retro.games.catalogue import Option, PlacementGame
from retro.games.grid import GridBoard, GridPosition, find_order
from retro.games.mnk import MnkBoard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from retro.games.lines_keyed import Lines

EMPTY_TEXT = "-"
FIRST, SECOND, EMPTY = "X", "O", "."
_MEANING = {"x": FIRST, "X": FIRST, "o": SECOND, "O": SECOND, "0": SECOND, ".": EMPTY}
_MOVE = re.compile(
    r"(?P<letter>[a-zA-Z]{1,2})(?P<number>[0-9]{1,2})|(?P<row>[0-9]{1,2}),(?P<col>[0-9]{1,2})"
)


def column_text(column: int) -> str:
    """A column counted from 0.

    >>> column_text(2), column_text(26), column_text(53)
    ('c', 'aa', 'bb')
    """
    letters = "abcdefghijklmnopqrstuvwxyz"
    more, rest = divmod(column, len(letters))
    return letters[more - 1 : more] + letters[rest]


def read_column(text: str) -> int:
    """Undo `column_text`."""
    column = 0
    for letter in text.lower():
        column = 26 * column + ord(letter) - ord("a") + 1
    return column - 1


def move_text(board: GridBoard, bit: int) -> str:
    """A cell as text.

    >>> move_text(MnkBoard(3, 3, 3), MnkBoard(3, 3, 3).bit(row=1, column=0))
    'a2'
    """
    row, column = board.place(bit)
    return f"{column_text(column)}{row + 1}"


def moves_text(board: GridBoard, bits: Iterable[int]) -> str:
    return " ".join(move_text(board, bit) for bit in bits)


def read_moves(board: GridBoard, text: str) -> GridPosition:
    """Play moves from the empty board.

    >>> read_moves(MnkBoard(3, 3, 3), "b2 a1") == read_moves(MnkBoard(3, 3, 3), "2,2 1,1")
    True
    """
    position = GridPosition(board)
    if text.strip() == EMPTY_TEXT:
        return position
    for number, bit in enumerate(_read_bits(board, text), start=1):
        try:
            position = position.play(bit)
        except (GameOverError, IllegalPositionError) as error:
            raise type(error)(f"move {number} of {text!r}: {error}") from None
    return position


def _read_bits(board: GridBoard, text: str) -> list[int]:
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


def _bit(board: GridBoard, match: re.Match[str]) -> int:
    if match["letter"]:
        row, column = int(match["number"]) - 1, read_column(match["letter"])
    else:
        row, column = int(match["row"]) - 1, int(match["col"]) - 1
    if not board.has(row, column):
        last = move_text(board, board.all_bits[-1])
        raise IllegalPositionError(
            f"{match[0]!r} is not on the board {board}; cells are a1 to {last}"
        )
    return board.bit(row, column)


def read_move(position: GridPosition, text: str) -> int:
    """One move as text; whether it is legal is for `play` to say."""
    bits = _read_bits(position.board, text)
    if len(bits) != 1:
        raise BadTextError(f"found {text!r}, wanted one move such as b2 or 2,2")
    return bits[0]


def read_position(board: MnkBoard, text: str) -> GridPosition:
    """Moves from the empty board, or a grid with its header.

    >>> read_position(MnkBoard(2, 3, 2), "b1") == read_position(MnkBoard(2, 3, 2), "2,3,2 ....X.")
    True
    """
    if not re.match(r"\s*(#|[0-9]+,[0-9]+,)", text):
        return read_moves(board, text)
    position = read_grid(text)
    if position.board != board:
        raise WrongBoardError(f"the grid is {position.board}, wanted a {board} board")
    return position


def write_moves(position: GridPosition) -> str:
    """Moves that lead to the position: its own history, or some that are found.

    >>> write_moves(read_moves(MnkBoard(3, 3, 3), "b2a1"))
    'b2 a1'
    """
    moves = position.history if position.history is not None else find_order(position)
    if moves is None:
        raise IllegalPositionError("no order of moves leads to this position")
    return moves_text(position.board, moves)


def read_grid(text: str) -> GridPosition:
    """Read a grid; the counts tell whose move it is.

    >>> read_grid("2,3,2  ... .X.").side_to_move
    'second'
    """
    body = re.sub(r"#[^\n]*", " ", text).split()
    board = MnkBoard.parse(body[0] if body else "")
    return GridPosition(board, *read_symbols(board, "".join(body[1:]))).check()


def read_symbols(board: GridBoard, symbols: str) -> tuple[int, int]:
    """The stones of both players from one symbol per cell, top row first."""
    strange = next((s for s in symbols if s not in _MEANING), None)
    if strange is not None:
        raise BadTextError(f"found {strange!r} in a grid, wanted '.', 'X' or 'O'")
    if len(symbols) != board.cells:
        raise BadTextError(f"a {board} grid has {board.cells} symbols, found {len(symbols)}")
    stones = {FIRST: 0, SECOND: 0, EMPTY: 0}
    for place, symbol in enumerate(symbols):
        row_from_top, column = divmod(place, board.cols)
        stones[_MEANING[symbol]] |= board.bit(board.rows - 1 - row_from_top, column)
    return stones[FIRST], stones[SECOND]


def write_grid(position: GridPosition) -> str:
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


def _symbol(position: GridPosition, bit: int) -> str:
    if position.first & bit:
        return FIRST
    return SECOND if position.second & bit else EMPTY


def draw(position: GridPosition, empty: Callable[[int], str] = lambda bit: EMPTY) -> str:
    """The board for a terminal; `empty` says how an empty cell looks.

    >>> print(draw(read_moves(MnkBoard(2, 3, 2), "b1 a2")))
      2  O . .
      1  . X .
         a b c
    """
    board = position.board
    names = [column_text(column) for column in range(board.cols)]
    wide = len(names[-1])
    rows = []
    for row in reversed(range(board.rows)):
        bits = [board.bit(row, column) for column in range(board.cols)]
        symbols = (_symbol(position, bit) for bit in bits)
        cells = (empty(b) if s == EMPTY else s for b, s in zip(bits, symbols, strict=True))
        rows.append(f"{row + 1:>3}  " + " ".join(cell.rjust(wide) for cell in cells))
    return "\n".join([*rows, "     " + " ".join(name.rjust(wide) for name in names)])


def read_size(text: str) -> tuple[int, int]:
    """(width, height) of `WIDTHxHEIGHT`."""
    match = re.fullmatch(r"\s*([0-9]{1,3})[xX]([0-9]{1,3})\s*", text, re.ASCII)
    if match is None:
        raise BadTextError(f"found board {text!r}, wanted WIDTHxHEIGHT such as 3x3")
    return int(match[1]), int(match[2])


def _parse(size: str, options: Mapping[str, str]) -> MnkBoard:
    width, height = read_size(size)
    connect = options.get("connect", "3")
    if not re.fullmatch(r"[0-9]{1,3}", connect, re.ASCII):
        raise BadTextError(f"found {connect!r} stones in a line, wanted a whole number")
    return MnkBoard(rows=height, cols=width, k=int(connect))


def keyed_rules(board: GridBoard) -> Lines:
    from retro.games.lines_keyed import lines_rules  # numba: only who needs kernels waits for it

    return lines_rules(board)


def keyed_state(position: GridPosition) -> tuple[int, int]:
    from retro.games.lines_keyed import pack

    return pack(position.board, position.first, position.second)


def keyed_position(board: GridBoard, a: int, b: int) -> GridPosition:
    from retro.games.lines_keyed import unpack

    return GridPosition(board, *unpack(board, a, b))


GAME = PlacementGame(
    name="mnk",
    about="free placement, K stones in a straight line win",
    options=(Option("connect", "K", "stones in a winning line (default 3)", "3"),),
    players=("X", "O"),
    parse=_parse,
    describe=lambda board: (f"{board.cols}x{board.rows}", {"connect": str(board.k)}),
    start=GridPosition,
    read_move=read_move,
    write_move=lambda position, move: move_text(position.board, move),
    read_position=read_position,
    write_position=write_moves,
    draw=draw,
    rules=keyed_rules,
    state=keyed_state,
    position=keyed_position,
)
