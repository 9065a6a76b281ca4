"""m,n,k-games as the search sees them: a move is the bit of the cell it fills.

>>> from retro.games.mnk import MnkBoard
>>> game = MnkGame(MnkBoard(3, 3, 3))
>>> len(game.moves(game.start()))
9
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.search.lines import LineGame, Stones, bits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retro.games.grid import GridBoard, GridPosition


class MnkGame(LineGame):
    """The rules of any `GridBoard`, Puissance Plus included, and every hook the ladder knows."""

    def __init__(self, board: GridBoard) -> None:
        self.board = board
        super().__init__(board.lines, board.symmetries)
        self._distance = {bit: _distance(board, bit) for bit in board.all_bits}

    def state(self, position: GridPosition) -> Stones:
        return Stones(position.mover, position.opponent)

    def moves(self, state: Stones) -> Sequence[int]:
        return bits_of(self.empty(state))

    def centre_distance(self, move: int) -> int:
        return self._distance[move]

    def candidates(self, state: Stones) -> Sequence[int]:
        """A win at once, else the block of a win at once, else every move."""
        empty = self.empty(state)
        urgent = self.lines.winning_cells(state.mine, empty) or self.lines.winning_cells(
            state.theirs, empty
        )
        # Two cells to block cannot both be blocked: every move loses, one is enough.
        return [urgent & -urgent] if urgent else bits_of(empty)

    def bounds(self, state: Stones) -> tuple[int, int]:
        return self.lines.bounds(state)


def _distance(board: GridBoard, bit: int) -> int:
    """Twice the distance of a cell from the middle, rows and columns added."""
    row, column = board.place(bit)
    return abs(2 * row - board.rows + 1) + abs(2 * column - board.cols + 1)
