"""Stones on a grid as text, for every game that fills cells of one: moves, symbols, drawings.

A move is the cell it fills, as `cells` reads it: `b2` or `2,2`. The empty board is the
empty string or `-`. `X` is the first player, `O` (or `0`) the second, `.` empty.

      2  O . .
      1  . X .        after b1 a2
         a b c
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.errors import BadTextError, IllegalPositionError
from retro.games.cells import cells_text, column_text, play_all, read_cells
from retro.games.grid import GridBoard, GridPosition, find_order

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST, SECOND, EMPTY = "X", "O", "."
_MEANING = {"x": FIRST, "X": FIRST, "o": SECOND, "O": SECOND, "0": SECOND, ".": EMPTY}


def read_moves(board: GridBoard, text: str) -> GridPosition:
    """Play moves from the empty board.

    >>> from retro.games.mnk.rules import MnkBoard
    >>> read_moves(MnkBoard(3, 3, 3), "b2 a1") == read_moves(MnkBoard(3, 3, 3), "2,2 1,1")
    True
    """
    return play_all(GridPosition(board), read_cells(board, text), text)


def write_moves(position: GridPosition) -> str:
    """Moves that lead to the position: its own history, or some that are found.

    >>> from retro.games.mnk.rules import MnkBoard
    >>> write_moves(read_moves(MnkBoard(3, 3, 3), "b2a1"))
    'b2 a1'
    """
    moves = position.history if position.history is not None else find_order(position)
    if moves is None:
        raise IllegalPositionError("no order of moves leads to this position")
    return cells_text(position.board, moves)


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


def symbol(position: GridPosition, bit: int) -> str:
    """How a cell looks."""
    if position.first & bit:
        return FIRST
    return SECOND if position.second & bit else EMPTY


def draw(position: GridPosition, empty: Callable[[int], str] = lambda bit: EMPTY) -> str:
    """The board for a terminal; `empty` says how an empty cell looks.

    >>> from retro.games.mnk.rules import MnkBoard
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
        symbols = (symbol(position, bit) for bit in bits)
        cells = (empty(b) if s == EMPTY else s for b, s in zip(bits, symbols, strict=True))
        rows.append(f"{row + 1:>3}  " + " ".join(cell.rjust(wide) for cell in cells))
    return "\n".join([*rows, "     " + " ".join(name.rjust(wide) for name in names)])
