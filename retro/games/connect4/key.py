"""Connect Four's states, plainly: the stones of the first and of the second player.

Bits are numbered as `rules` draws them. A position and its mirror image have the same
value; the key of both is the smaller pair. `kernels` has the jitted twins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.connect4.rules import Connect4Board

    Words = NDArray[np.uint64]


def mirror(board: Connect4Board, first: int, second: int) -> tuple[int, int]:
    """Both players' stones with left and right exchanged."""

    def flip(stones: int) -> int:
        columns = [stones & cells for cells in board.columns]
        return sum(
            (bits >> (c * board.stride)) << ((board.width - 1 - c) * board.stride)
            for c, bits in enumerate(columns)
        )

    return flip(first), flip(second)


def plies_of(a: Words, b: Words) -> NDArray[np.int64]:
    """The number of stones."""
    stones: NDArray[np.int64] = np.bitwise_count(a | b).astype(np.int64)
    return stones


def is_state(board: Connect4Board, a: Words, b: Words) -> NDArray[np.bool_]:
    """On the board and no cell twice; `check` asks more."""
    on_board = np.uint64(board.full)
    zero = np.uint64(0)
    found: NDArray[np.bool_] = ((a | b) & ~on_board == zero) & (a & b == zero)
    return found
