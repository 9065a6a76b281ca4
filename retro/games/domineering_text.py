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

`GAME` is the record of Domineering for the catalogue of games.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from retro.errors import BadTextError, IllegalPositionError, WrongBoardError
from retro.games.catalogue import Option, PlacementGame
from retro.games.cells import cell_text, cells_text, column_text, play_all, read_cell, read_cells
from retro.games.domineering import OTHER, DomineeringBoard, DomineeringPosition

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import ModuleType

    from retro.games.domineering import Side

SIDES: dict[str, Side] = {"V": "vertical", "H": "horizontal"}
LETTER = {side: letter for letter, side in SIDES.items()}
FREE, HOLE = ".", "X"


def read_moves(board: DomineeringBoard, text: str) -> DomineeringPosition:
    """Play moves from the empty board; the first player of the board begins.

    >>> read_moves(DomineeringBoard(3, 3, first="horizontal"), "a3 b1").turn
    'horizontal'
    """
    return play_all(DomineeringPosition.start(board), read_cells(board, text), text)


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
    if not re.match(r"\s*(#|[0-9]+x)", text, re.IGNORECASE):
        return read_moves(board, text)
    position = read_grid(text, board.first)
    if position.board != board:
        raise WrongBoardError(f"the grid is {position.board}, wanted a {board} board")
    return position


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

    >>> read_grid("2x3 H  ... V..").legal_moves()      # the bits of b1, a2, b2
    [2, 8, 16]
    """
    body = re.sub(r"#[^\n]*", " ", text).split()
    board = DomineeringBoard.parse(body[0] if body else "", first)
    side = body[1].upper() if len(body) > 1 else ""
    if side not in SIDES:
        raise BadTextError(f"found {side!r} after {board}, wanted V or H, the side to move")
    symbols = "".join(body[2:]).upper()
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
    width = len(column_text(board.cols - 1))

    def line(margin: str, cells: Iterable[str]) -> str:
        return f"{margin:>3}  " + " ".join(f"{cell:>{width}}" for cell in cells)

    rows = [
        line(str(row + 1), (symbols[board.bit(row, column)] for column in range(board.cols)))
        for row in reversed(range(board.rows))
    ]
    letters = line("", (column_text(column) for column in range(board.cols)))
    return "\n".join([*rows, letters, f"{position.turn.capitalize()} to move"])


def _parse(size: str, options: Mapping[str, str]) -> DomineeringBoard:
    starts = options.get("starts", "vertical").lower()
    side = next((side for side in OTHER if starts and side.startswith(starts)), None)
    if side is None:
        raise BadTextError(f"found {starts!r} to start, wanted vertical or horizontal")
    return DomineeringBoard.parse(size, side)


def _describe(board: DomineeringBoard) -> tuple[str, dict[str, str]]:
    return str(board), {} if board.first == "vertical" else {"starts": board.first}


def _kernels() -> ModuleType:
    from retro.games import domineering_keyed  # numba: only who needs kernels waits for it

    return domineering_keyed


GAME = PlacementGame(
    name="domineering",
    about="dominoes upright or flat; who cannot move loses; the board is ROWSxCOLS",
    options=(Option("starts", "SIDE", "vertical or horizontal (default vertical)", "vertical"),),
    players=("First", "Second"),
    parse=_parse,
    describe=_describe,
    start=DomineeringPosition.start,
    read_move=lambda position, text: read_cell(position.board, text),
    write_move=lambda position, move: cell_text(position.board, move),
    read_position=read_position,
    write_position=write_position,
    draw=draw,
    rules=lambda board: _kernels().dominoes_rules(board),
    state=lambda position: _kernels().pack(position),
    position=lambda board, a, b: _kernels().unpack(board, a, b),
)
