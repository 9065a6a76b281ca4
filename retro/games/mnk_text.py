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

`GAME` is the record of m,n,k-games for the catalogue of games.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from retro.errors import BadTextError, GameOverError, IllegalPositionError, WrongBoardError
from retro.games.catalogue import Option, PlacementGame
from retro.games.mnk import MnkBoard, MnkPosition, find_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from retro.games.lines_keyed import Lines

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


def read_move(position: MnkPosition, text: str) -> int:
    """One move as text; whether it is legal is for `play` to say."""
    bits = _read_bits(position.board, text)
    if len(bits) != 1:
        raise BadTextError(f"found {text!r}, wanted one move such as b2 or 2,2")
    return bits[0]


def read_position(board: MnkBoard, text: str) -> MnkPosition:
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


def draw(position: MnkPosition) -> str:
    """The board for a terminal.

    >>> print(draw(read_moves(MnkBoard(2, 3, 2), "b1 a2")))
      2  O . .
      1  . X .
         a b c
    """
    board = position.board
    rows = []
    for row in reversed(range(board.rows)):
        bits = [board.bit(row, column) for column in range(board.cols)]
        rows.append(f"{row + 1:>3}  " + " ".join(_symbol(position, bit) for bit in bits))
    letters = " ".join(chr(ord("a") + column) for column in range(board.cols))
    return "\n".join([*rows, "     " + letters])


def _parse(size: str, options: Mapping[str, str]) -> MnkBoard:
    match = re.fullmatch(r"\s*([0-9]{1,3})[xX]([0-9]{1,3})\s*", size, re.ASCII)
    if match is None:
        raise BadTextError(f"found board {size!r}, wanted WIDTHxHEIGHT such as 3x3")
    connect = options.get("connect", "3")
    if not re.fullmatch(r"[0-9]{1,3}", connect, re.ASCII):
        raise BadTextError(f"found {connect!r} stones in a line, wanted a whole number")
    return MnkBoard(rows=int(match[2]), cols=int(match[1]), k=int(connect))


def _rules(board: MnkBoard) -> Lines:
    from retro.games.lines_keyed import lines_rules  # numba: only who needs kernels waits for it

    return lines_rules(board)


def _state(position: MnkPosition) -> tuple[int, int]:
    from retro.games.lines_keyed import pack

    return pack(position.board, position.first, position.second)


def _position(board: MnkBoard, a: int, b: int) -> MnkPosition:
    from retro.games.lines_keyed import unpack

    return MnkPosition(board, *unpack(board, a, b))


GAME = PlacementGame(
    name="mnk",
    about="free placement, K stones in a straight line win",
    options=(Option("connect", "K", "stones in a winning line (default 3)", "3"),),
    players=("X", "O"),
    parse=_parse,
    describe=lambda board: (f"{board.cols}x{board.rows}", {"connect": str(board.k)}),
    start=MnkPosition,
    read_move=read_move,
    write_move=lambda position, move: move_text(position.board, move),
    read_position=read_position,
    write_position=write_moves,
    draw=draw,
    rules=_rules,
    state=_state,
    position=_position,
)
