"""m,n,k positions as text, both ways.

A move is the cell it fills, as `cells` reads it: `b2` or `2,2`. The empty board
is the empty string or `-`.

Grids: a header `rows,cols,k`, then the symbols, top row first; `X` is the
first player, `O` (or `0`) the second, `.` empty. `#` starts a comment.

    3,3,3
    . . .
    . X .
    O . .        after b2 a1
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from retro.errors import WrongBoardError
from retro.games.cells import read_line, read_size
from retro.games.grid import GridPosition
from retro.games.grid_text import read_moves, read_symbols, symbol
from retro.games.mnk.rules import MnkBoard

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_position(board: MnkBoard, text: str) -> GridPosition:
    """Moves from the empty board, or a grid with its header.

    >>> read_position(MnkBoard(2, 3, 2), "b1") == read_position(MnkBoard(2, 3, 2), "2,3,2 ....X.")
    True
    """
    if not is_grid(board, text):
        return read_moves(board, text)
    position = read_grid(text)
    if position.board != board:
        found = cast("MnkBoard", position.board).header
        raise WrongBoardError(f"the grid begins with {found}, wanted {board.header}")
    return position


def is_grid(_: MnkBoard, text: str) -> bool:
    """Whether text begins as a grid does, with rows, columns and line."""
    return re.match(r"\s*(#|[0-9]+,[0-9]+,)", text) is not None


def read_grid(text: str) -> GridPosition:
    """Read a grid; the counts tell whose move it is.

    >>> read_grid("2,3,2  ... .X.").side_to_move
    'second'
    """
    body = re.sub(r"#[^\n]*", " ", text).split()
    board = MnkBoard.parse(body[0] if body else "")
    return GridPosition(board, *read_symbols(board, "".join(body[1:]))).check()


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
        rows.append(" ".join(symbol(position, bit) for bit in bits))
    return "\n".join(rows)


def parse(size: str, options: Mapping[str, str]) -> MnkBoard:
    width, height = read_size(size)
    return MnkBoard(rows=height, cols=width, k=read_line(options.get("connect", "3")))


def describe(board: MnkBoard) -> tuple[str, dict[str, str]]:
    """What `parse` reads."""
    return f"{board.cols}x{board.rows}", {"connect": str(board.k)}
