"""Domineering as arrays: an action is a domino, those of Vertical first, then those of Horizontal.

Each kind is numbered by its upper or left cell, row after row from the top. On 3x3:

    upright    0 1 2        flat    6 7  .
               3 4 5                8 9  .
               . . .               10 11 .

Planes: the covered cells, and 1 everywhere where Vertical is to move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retro.games.arrays import Arrays, gather, spread
from retro.games.grid_arrays import grid_places

if TYPE_CHECKING:
    from retro.games.arrays import Cells, Words
    from retro.games.domineering.rules import DomineeringBoard, DomineeringPosition
    from retro.games.game import States


def upright(board: DomineeringBoard) -> int:
    """How many places there are for an upright domino."""
    return (board.rows - 1) * board.cols


def action_of(position: DomineeringPosition, number: int) -> int:
    """The action of a domino's lower or left cell.

    >>> from retro.games.catalogue import make_board
    >>> start = make_board("domineering", "3x3").start()
    >>> [move.action for move in start.moves], start.play("a1").play("b2").actions
    ([0, 1, 2, 3, 4, 5], [])
    """
    board = position.board
    row, column = board.place(number)
    if position.turn == "vertical":
        return (board.rows - 2 - row) * board.cols + column
    return upright(board) + (board.rows - 1 - row) * (board.cols - 1) + column


def number_of(position: DomineeringPosition, action: int) -> int | None:
    """The lower or left cell of a domino of the side to move; None for one of the other side."""
    board, flat = position.board, action - upright(position.board)
    if (flat < 0) != (position.turn == "vertical"):
        return None
    if flat < 0:
        row, column = divmod(action, board.cols)
        return board.bit(board.rows - 2 - row, column)
    row, column = divmod(flat, board.cols - 1)
    return board.bit(board.rows - 1 - row, column)


def _planes(board: DomineeringBoard, states: States) -> Cells:
    side = states.a >> np.uint64(board.cells) if board.words == 1 else states.b
    covered = spread(states.a, grid_places(board))
    vertical = (side == 0).astype(np.uint8)[:, None, None]
    return np.stack([covered, np.broadcast_to(vertical, covered.shape)], axis=1)


def _words(board: DomineeringBoard, planes: Cells) -> tuple[Words, Words]:
    covered = gather(planes[:, 0], grid_places(board))
    side = (planes[:, 1, 0, 0] == 0).astype(np.uint64)
    if board.words == 1:
        return covered | side << np.uint64(board.cells), np.zeros_like(covered)
    return covered, side


ARRAYS = Arrays(
    rule="upright dominoes by their upper cell, then flat ones by their left cell, "
    "row after row from the top",
    count=lambda board: upright(board) + board.rows * (board.cols - 1),
    action=action_of,
    number=number_of,
    kernel_numbers=lambda board: [1 << cell for cell in range(board.cells)],
    names=lambda _: ("covered cells", "1 where Vertical is to move"),
    shape=lambda board: (board.rows, board.cols),
    planes=_planes,
    words=_words,
)
