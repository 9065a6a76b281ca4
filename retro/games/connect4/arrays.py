"""Connect Four as arrays: an action is a column, 0 the left one.

Planes, top row first: the stones of the side to move, those of the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.arrays import Arrays, places_of, two_colours, two_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from retro.games.connect4.rules import Connect4Board


def _places(board: Connect4Board) -> NDArray[np.uint64]:
    def place(row: int, column: int) -> int:
        return column * board.stride + row

    return places_of(board.height, board.width, place)


ARRAYS = Arrays(
    rule="the column, counted from 0 at the left",
    count=lambda board: board.width,
    action=lambda _, number: number,
    number=lambda _, action: action,
    kernel_numbers=lambda board: range(board.width),
    names=lambda _: ("stones of the side to move", "stones of the other side"),
    shape=lambda board: (board.height, board.width),
    planes=lambda board, states: two_colours(_places(board), states.ply, states.a, states.b),
    words=lambda board, planes: two_words(_places(board), planes),
)
