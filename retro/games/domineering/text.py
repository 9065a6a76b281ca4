"""Domineering positions as text, both ways.

A move is the lower (Vertical) or left (Horizontal) cell of its domino, as
`cells` writes it: `b1 a3`, `b1a3` or `1,2 3,1`. The empty board is the empty
string or `-`.

Grids: a header with the board (rows first) and the side to move, then the
symbols, top row first; `.` is free, `V`, `H` and `X` are covered.
Written grids show whose domino it was where the moves are known, and `X` where
not. `#` starts a comment.

    3x3 V
    H H .
    . V .
    . V .        after b1 a3
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from retro.errors import BadTextError, IllegalPositionError, WrongBoardError
from retro.games.cells import cells_text, column_text, play_all, read_cell, read_cells
from retro.games.domineering.rules import OTHER, DomineeringBoard, DomineeringPosition

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from retro.games.domineering.rules import Side

SIDES: dict[str, Side] = {"V": "vertical", "H": "horizontal"}
LETTER = {side: letter for letter, side in SIDES.items()}
FREE, HOLE = ".", "X"


def size_text(board: DomineeringBoard) -> str:
    """Rows first, as the literature on this game has it."""
    return f"{board.rows}x{board.cols}"


def read_moves(board: DomineeringBoard, text: str) -> DomineeringPosition:
    """Play moves from the empty board; the first player of the board begins.

    >>> read_moves(DomineeringBoard(3, 3, first="horizontal"), "a3 b1").turn
    'horizontal'
    """
    return play_all(DomineeringPosition.start(board), read_cells(board, text), text)


def read_move(position: DomineeringPosition, text: str) -> int:
    """A move: a cell as `cells` writes it, or `i j`, column and row counted from 0.

    >>> start = DomineeringPosition.start(DomineeringBoard(3, 3))
    >>> read_move(start, "b1") == read_move(start, "1 0") == read_move(start, "1,2")
    True
    """
    board = position.board
    match = re.fullmatch(r"\s*([0-9]{1,3})\s+([0-9]{1,3})\s*", text, re.ASCII)
    if match is None:
        return read_cell(board, text)
    column, row = int(match[1]), int(match[2])
    if column >= board.cols or row >= board.rows:
        last = f"{board.cols - 1} {board.rows - 1}"
        raise IllegalPositionError(f"{text.strip()!r} is not on the board; cells are 0 0 to {last}")
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
    return cells_text(position.board, position.history)


def read_position(board: DomineeringBoard, text: str) -> DomineeringPosition:
    """Moves from the empty board, or a grid with its header.

    >>> board = DomineeringBoard(2, 3)
    >>> read_position(board, "a1") == read_position(board, "2x3 H X.. X..")
    True
    """
    if not is_grid(board, text):
        return read_moves(board, text)
    position = read_grid(text, board.first)
    if position.board != board:
        raise WrongBoardError(
            f"the grid is {size_text(position.board)}, wanted a {size_text(board)} board"
        )
    return position


def is_grid(_: DomineeringBoard, text: str) -> bool:
    """Whether text begins as a grid does, with its size."""
    return re.match(r"\s*(#|[0-9]+x)", text, re.IGNORECASE) is not None


def write_position(position: DomineeringPosition) -> str:
    """The moves that led to the position; if they are not known, its grid in one line.

    >>> write_position(read_grid("2x3 H  X.. ..."))
    '2x3 H X.. ...'
    """
    try:
        return write_moves(position)
    except IllegalPositionError:
        header, *rows = write_grid(position).splitlines()
        return " ".join([header, *(row.replace(" ", "") for row in rows)])


def read_grid(text: str, first: Side = "vertical") -> DomineeringPosition:
    """Read a grid.

    >>> read_grid("2x3 H  ... V..")._numbers()      # the bits of b1, a2, b2
    [2, 8, 16]
    """
    body = re.sub(r"#[^\n]*", " ", text).split()
    board = DomineeringBoard.parse(body[0] if body else "", first)
    side = body[1].upper() if len(body) > 1 else ""
    if side not in SIDES:
        raise BadTextError(
            f"found {side!r} after {size_text(board)}, wanted V or H, the side to move"
        )
    symbols = "".join(body[2:]).upper()
    strange = next((s for s in symbols if s not in (FREE, HOLE, *SIDES)), None)
    if strange is not None:
        raise BadTextError(f"found {strange!r} in a grid, wanted '.', 'V', 'H' or 'X'")
    if len(symbols) != board.cells:
        raise BadTextError(
            f"a {size_text(board)} grid has {board.cells} symbols, found {len(symbols)}"
        )
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
    return "\n".join([f"{size_text(board)} {LETTER[position.turn]}", *rows])


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
    width = len(column_text(board.cols - 1))

    def line(margin: str, cells: Iterable[str]) -> str:
        return f"{margin:>3}  " + " ".join(f"{cell:>{width}}" for cell in cells)

    rows = [
        line(str(row + 1), (symbols[board.bit(row, column)] for column in range(board.cols)))
        for row in reversed(range(board.rows))
    ]
    letters = line("", (column_text(column) for column in range(board.cols)))
    return "\n".join([*rows, letters, f"{position.turn.capitalize()} to move"])


def parse(size: str, options: Mapping[str, str]) -> DomineeringBoard:
    """A board from its size, rows first, and who starts."""
    starts = options.get("starts", "vertical").lower()
    side = next((side for side in OTHER if starts and side.startswith(starts)), None)
    if side is None:
        raise BadTextError(f"found {starts!r} to start, wanted vertical or horizontal")
    return DomineeringBoard.parse(size, side)


def describe(board: DomineeringBoard) -> tuple[str, dict[str, str]]:
    """What `parse` reads."""
    return size_text(board), {} if board.first == "vertical" else {"starts": board.first}
