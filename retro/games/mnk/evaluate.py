"""m,n,k-games at a glance: open lines by the square of their stones, and moves worth a look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.grid import near_stones
from retro.games.mnk.rules import MnkBoard
from retro.games.stones import squares_of_open

if TYPE_CHECKING:
    from retro.games.grid import GridPosition


def runs(position: GridPosition) -> int:
    """Open lines, squared by the number of their stones, with a bonus for those that lack one.

    >>> from retro.games.mnk.text import MnkBoard, read_moves
    >>> runs(read_moves(MnkBoard(3, 3, 3), "b2 a1"))      # X: three lines of 1; O: two
    1
    """
    board = position.board
    assert isinstance(board, MnkBoard), "a position of an m,n,k-game"
    return squares_of_open(position, board.k, {})


def plausible_moves(position: GridPosition) -> list[int]:
    """Legal moves next to a stone; all of them when there are none.

    >>> from retro.games.mnk.text import MnkBoard, read_moves
    >>> len(plausible_moves(read_moves(MnkBoard(9, 9, 5), "e5")))
    8
    """
    near = near_stones(position)
    legal = position._numbers()
    return [bit for bit in legal if bit & near] or legal


EVALUATIONS = {"runs": runs}
FILTERS = {"plausible": plausible_moves}
