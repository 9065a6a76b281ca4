"""m,n,k positions as text, both ways.

A move is the cell it fills, as `cells` reads it: `b2` or `2,2`. The empty board
is the empty string or `-`.

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
from typing import TYPE_CHECKING, cast

from retro.errors import BadTextError, IllegalPositionError, WrongBoardError
from retro.games.catalogue import Option, PlacementGame
from retro.games.cells import (
    cell_text,
    cells_text,
    column_text,
    play_all,
    read_cell,
    read_cells,
    read_size,
)
from retro.games.grid import GridBoard, GridPosition, find_order
from retro.games.mnk import MnkBoard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retro.games.lines_keyed import Lines

FIRST, SECOND, EMPTY = "X", "O", "."
_MEANING = {"x": FIRST, "X": FIRST, "o": SECOND, "O": SECOND, "0": SECOND, ".": EMPTY}


def read_moves(board: GridBoard, text: str) -> GridPosition:
    """Play moves from the empty board.

    >>> read_moves(MnkBoard(3, 3, 3), "b2 a1") == read_moves(MnkBoard(3, 3, 3), "2,2 1,1")
    True
    """
    return play_all(GridPosition(board), read_cells(board, text), text)


def read_position(board: MnkBoard, text: str) -> GridPosition:
    """Moves from the empty board, or a grid with its header.

    >>> read_position(MnkBoard(2, 3, 2), "b1") == read_position(MnkBoard(2, 3, 2), "2,3,2 ....X.")
    True
    """
    if not re.match(r"\s*(#|[0-9]+,[0-9]+,)", text):
        return read_moves(board, text)
    position = read_grid(text)
    if position.board != board:
        found = cast("MnkBoard", position.board).header
        raise WrongBoardError(f"the grid begins with {found}, wanted {board.header}")
    return position


def write_moves(position: GridPosition) -> str:
    """Moves that lead to the position: its own history, or some that are found.

    >>> write_moves(read_moves(MnkBoard(3, 3, 3), "b2a1"))
    'b2 a1'
    """
    moves = position.history if position.history is not None else find_order(position)
    if moves is None:
        raise IllegalPositionError("no order of moves leads to this position")
    return cells_text(position.board, moves)


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
        raise BadTextError(
            f"a {board.cols}x{board.rows} grid has {board.cells} symbols, found {len(symbols)}"
        )
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
    board = cast("MnkBoard", position.board)
    rows = [board.header]
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
    read_move=lambda position, text: read_cell(position.board, text),
    write_move=lambda position, move: cell_text(position.board, move),
    read_position=read_position,
    write_position=write_moves,
    draw=draw,
    rules=keyed_rules,
    state=keyed_state,
    position=keyed_position,
)
