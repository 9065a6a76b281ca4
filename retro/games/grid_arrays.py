"""Stones on a grid as arrays, for every game that fills cells of one (`arrays` has a picture).

An action is the cell that is filled, row after row from the top. Planes: the stones of the side
to move, those of the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retro.games.arrays import Arrays, gather, places_of, spread, two_colours, two_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.arrays import Cells, Words
    from retro.games.cells import Grid
    from retro.games.game import Position, States
    from retro.games.grid import GridBoard

CELLS = "the cell that is filled, row after row from the top, left to right"


def cell_action(position: Position, number: int) -> int:
    """The cell of a bit, row after row from the top.

    >>> from retro.games.catalogue import make_board
    >>> start = make_board("mnk", "3x3").start()
    >>> [cell_action(start, start._number_of(text)) for text in ("a3", "c3", "a1")]
    [0, 2, 6]
    """
    board: Grid = position.board  # type: ignore[assignment]
    row, column = board.place(number)
    return (board.rows - 1 - row) * board.cols + column


def cell_number(position: Position, action: int) -> int:
    """The bit of a cell; undoes `cell_action`."""
    board: Grid = position.board  # type: ignore[assignment]
    row, column = divmod(action, board.cols)
    return board.bit(board.rows - 1 - row, column)


def grid_places(board: Grid) -> NDArray[np.uint64]:
    """The places of cells in words that number them row after row from below."""
    return places_of(board.rows, board.cols, lambda row, column: row * board.cols + column)


def _planes(board: GridBoard, states: States) -> Cells:
    first, second = states.a, states.b
    if board.words == 1:
        cells = np.uint64(board.cells)
        first, second = states.a & ((np.uint64(1) << cells) - np.uint64(1)), states.a >> cells
    return two_colours(grid_places(board), states.ply, first, second)


def _words(board: GridBoard, planes: Cells) -> tuple[Words, Words]:
    first, second = two_words(grid_places(board), planes)
    if board.words == 1:
        return first | second << np.uint64(board.cells), np.zeros_like(first)
    return first, second


ARRAYS = Arrays(
    rule=CELLS,
    count=lambda board: board.cells,
    action=cell_action,
    number=cell_number,
    kernel_numbers=lambda board: board.all_bits,
    names=lambda _: ("stones of the side to move", "stones of the other side"),
    shape=lambda board: (board.rows, board.cols),
    planes=_planes,
    words=_words,
)


# Crosses are nobody's.
CROSSES = Arrays(
    rule=CELLS,
    count=lambda board: board.cells,
    action=cell_action,
    number=cell_number,
    kernel_numbers=lambda board: board.all_bits,
    names=lambda _: ("crosses",),
    shape=lambda board: (board.rows, board.cols),
    planes=lambda board, states: spread(states.a, grid_places(board))[:, None],
    words=lambda board, planes: (
        gather(planes[:, 0], grid_places(board)),
        np.zeros(len(planes), np.uint64),
    ),
)
