"""Domineering positions as text, both ways.

A move is the lower (Vertical) or left (Horizontal) cell of its domino: a
letter for the column, a number for the row, `a1` the bottom left; or
`row,column` in numbers. White space parts moves; between letter-number moves
it may be left out. The empty board is the empty string or `-`.

    b1 a3     b1a3     1,2 3,1        three times the same moves

Grids: a header with the board (rows first) and the side to move, then the
symbols, top row first; `.` (or `o`) is free, `V`, `H` and `X` are covered.
Written grids show whose domino it was where the moves are known, and `X` where
not. `#` starts a comment.

    3x3 V
    H H .
    . V .
    . V .        after b1 a3

`GAME` is the record of Domineering for the catalogue of games.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from retro.errors import BadTextError, GameOverError, IllegalPositionError, WrongBoardError
from retro.games.catalogue import Option, PlacementGame
from retro.games.domineering import OTHER, DomineeringBoard, DomineeringPosition

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from retro.games.domineering import Side
    from retro.games.domineering_keyed import Dominoes

EMPTY_TEXT = "-"
SIDES: dict[str, Side] = {"V": "vertical", "H": "horizontal"}
LETTER = {side: letter for letter, side in SIDES.items()}
FREE, HOLE = ".", "X"
# The other sign of a free cell; other than a dot it is a letter, fit for the name of a file.
FREE_LETTER = "O"
_MOVE = re.compile(
    r"(?P<letter>[a-zA-Z])(?P<number>[0-9]{1,2})|(?P<row>[0-9]{1,2}),(?P<col>[0-9]{1,2})"
)


def move_text(board: DomineeringBoard, bit: int) -> str:
    """A move as text.

    >>> move_text(DomineeringBoard(3, 3), DomineeringBoard(3, 3).bit(row=1, column=0))
    'a2'
    """
    row, column = board.place(bit)
    return f"{chr(ord('a') + column)}{row + 1}"


def moves_text(board: DomineeringBoard, bits: Iterable[int]) -> str:
    return " ".join(move_text(board, bit) for bit in bits)


def read_moves(board: DomineeringBoard, text: str) -> DomineeringPosition:
    """Play moves from the empty board; the first player of the board begins.

    >>> read_moves(DomineeringBoard(3, 3, first="horizontal"), "a3 b1").turn
    'horizontal'
    """
    position = DomineeringPosition.start(board)
    if text.strip() == EMPTY_TEXT:
        return position
    for number, bit in enumerate(_read_bits(board, text), start=1):
        try:
            position = position.play(bit)
        except (GameOverError, IllegalPositionError) as error:
            raise type(error)(f"move {number} of {text!r}: {error}") from None
    return position


def read_move(position: DomineeringPosition, text: str) -> int:
    """One move as text; whether it is legal is for `play` to say."""
    bits = _read_bits(position.board, text)
    if len(bits) != 1:
        raise BadTextError(f"found {text!r}, wanted one move such as b2 or 2,2")
    return bits[0]


def _read_bits(board: DomineeringBoard, text: str) -> list[int]:
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


def _bit(board: DomineeringBoard, match: re.Match[str]) -> int:
    if match["letter"]:
        row, column = int(match["number"]) - 1, ord(match["letter"].lower()) - ord("a")
    else:
        row, column = int(match["row"]) - 1, int(match["col"]) - 1
    if not (0 <= row < board.rows and 0 <= column < board.cols):
        last = move_text(board, board.bit(board.rows - 1, board.cols - 1))
        raise IllegalPositionError(
            f"{match[0]!r} is not on the board {board}; cells are a1 to {last}"
        )
    return board.bit(row, column)


def write_moves(position: DomineeringPosition) -> str:
    """The moves that led to the position.

    >>> write_moves(read_moves(DomineeringBoard(3, 3), "b1a3"))
    'b1 a3'
    """
    start = position
    while start.history:
        start = start.undo()
    if start != DomineeringPosition.start(position.board):
        raise IllegalPositionError("no order of moves is known for a position that was set up")
    return moves_text(position.board, position.history)


def read_position(board: DomineeringBoard, text: str) -> DomineeringPosition:
    """Moves from the empty board, or a grid with its header.

    >>> board = DomineeringBoard(2, 3)
    >>> read_position(board, "a1") == read_position(board, "2x3 H X.. X..")
    True
    """
    if not re.match(r"\s*(#|[0-9]+x)", text, re.IGNORECASE):
        return read_moves(board, text)
    position = read_grid(text, board.first)
    if position.board != board:
        raise WrongBoardError(f"the grid is {position.board}, wanted a {board} board")
    return position


def write_position(position: DomineeringPosition) -> str:
    """The moves that led to the position; if they are not known, its grid in one line.

    >>> write_position(read_grid("2x3 H  X.. ..."))
    '2x3 H Xoo ooo'
    """
    try:
        return write_moves(position)
    except IllegalPositionError:
        header, *rows = write_grid(position).splitlines()
        letters = [row.replace(" ", "").replace(FREE, FREE_LETTER.lower()) for row in rows]
        return " ".join([header, *letters])


def read_grid(text: str, first: Side = "vertical") -> DomineeringPosition:
    """Read a grid.

    >>> read_grid("2x3 H  ... V..").legal_moves()      # the bits of b1, a2, b2
    [2, 8, 16]
    """
    body = re.sub(r"#[^\n]*", " ", text).split()
    board = DomineeringBoard.parse(body[0] if body else "", first)
    side = body[1].upper() if len(body) > 1 else ""
    if side not in SIDES:
        raise BadTextError(f"found {side!r} after {board}, wanted V or H, the side to move")
    symbols = "".join(body[2:]).upper().replace(FREE_LETTER, FREE)
    strange = next((s for s in symbols if s not in (FREE, HOLE, *SIDES)), None)
    if strange is not None:
        raise BadTextError(f"found {strange!r} in a grid, wanted '.', 'V', 'H' or 'X'")
    if len(symbols) != board.cells:
        raise BadTextError(f"a {board} grid has {board.cells} symbols, found {len(symbols)}")
    covered = 0
    for place, symbol in enumerate(symbols):
        row_from_top, column = divmod(place, board.cols)
        if symbol != FREE:
            covered |= board.bit(board.rows - 1 - row_from_top, column)
    return DomineeringPosition(board, covered, SIDES[side])


def write_grid(position: DomineeringPosition) -> str:
    """The grid of a position.

    >>> print(write_grid(read_moves(DomineeringBoard(2, 3), "a1 b1")))
    2x3 V
    V . .
    V H H
    """
    board = position.board
    symbols = _symbols(position)
    rows = [
        " ".join(symbols[board.bit(row, column)] for column in range(board.cols))
        for row in reversed(range(board.rows))
    ]
    return "\n".join([f"{board} {LETTER[position.turn]}", *rows])


def _symbols(position: DomineeringPosition) -> dict[int, str]:
    """The symbol of every cell."""
    bits = [1 << cell for cell in range(position.board.cells)]
    symbols = {bit: HOLE if position.covered & bit else FREE for bit in bits}
    side = position.turn
    for bit in reversed(position.history):
        side = OTHER[side]
        symbols[bit] = symbols[bit << position.board.step(side)] = LETTER[side]
    return symbols


def draw(position: DomineeringPosition) -> str:
    """The board for a terminal.

    >>> print(draw(read_moves(DomineeringBoard(2, 3), "a1 b1")))
      2  V . .
      1  V H H
         a b c
    Vertical to move
    """
    board, symbols = position.board, _symbols(position)
    rows = []
    for row in reversed(range(board.rows)):
        cells = " ".join(symbols[board.bit(row, column)] for column in range(board.cols))
        rows.append(f"{row + 1:>3}  {cells}")
    letters = "     " + " ".join(chr(ord("a") + column) for column in range(board.cols))
    return "\n".join([*rows, letters, f"{position.turn.capitalize()} to move"])


def _parse(size: str, options: Mapping[str, str]) -> DomineeringBoard:
    starts = options.get("starts", "vertical").lower()
    side = next((side for side in OTHER if starts and side.startswith(starts)), None)
    if side is None:
        raise BadTextError(f"found {starts!r} to start, wanted vertical or horizontal")
    return DomineeringBoard.parse(size, side)


def _describe(board: DomineeringBoard) -> tuple[str, dict[str, str]]:
    return str(board), {} if board.first == "vertical" else {"starts": board.first}


def _rules(board: DomineeringBoard) -> Dominoes:
    # numba: only who needs kernels waits for it
    from retro.games.domineering_keyed import dominoes_rules

    return dominoes_rules(board)


def _state(position: DomineeringPosition) -> tuple[int, int]:
    from retro.games.domineering_keyed import pack

    return pack(position)


def _position(board: DomineeringBoard, a: int, b: int) -> DomineeringPosition:
    from retro.games.domineering_keyed import unpack

    return unpack(board, a, b)


GAME = PlacementGame(
    name="domineering",
    about="dominoes upright or flat; who cannot move loses; the board is ROWSxCOLS",
    options=(Option("starts", "SIDE", "vertical or horizontal (default vertical)", "vertical"),),
    players=("First", "Second"),
    parse=_parse,
    describe=_describe,
    start=DomineeringPosition.start,
    read_move=read_move,
    write_move=lambda position, move: move_text(position.board, move),
    read_position=read_position,
    write_position=write_position,
    draw=draw,
    rules=_rules,
    state=_state,
    position=_position,
)
