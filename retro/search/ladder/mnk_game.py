"""m,n,k-games as the search sees them: a move is the bit of the cell it fills.

`make_search` is the engine of boards that kernels cannot take.

>>> from retro.games.mnk.rules import MnkBoard
>>> game = MnkGame(MnkBoard(3, 3, 3))
>>> len(game.moves(game.start()))
9
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.stones import bits_of
from retro.search.ladder.lines import LineGame, Stones

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retro.games.grid import GridBoard, GridPosition
    from retro.search.engine import Options, Table
    from retro.search.ladder.search import LadderSearch


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


class LargeGame(MnkGame):
    """`MnkGame` that walks the lines of the board once for the order of all moves."""

    def __init__(self, board: GridBoard) -> None:
        super().__init__(board)
        self._counted: Stones | None = None
        self._threats: dict[int, int] = {}  # {move: cells that would complete a line after it}

    def urgency(self, state: Stones, move: int) -> int:
        """The same number: `candidates` has seen to wins and blocks, so only new threats count."""
        if state is not self._counted:
            self._counted, self._threats = state, self._threats_of(state)
        return self._threats.get(move, 0).bit_count()

    def _threats_of(self, state: Stones) -> dict[int, int]:
        """Of a line that lacks two stones each cell, taken, makes the other a threat."""
        found: dict[int, int] = {}
        blocked = state.theirs | state.grey
        for line in self.board.lines:
            rest = line & ~state.mine
            if rest.bit_count() == 2 and not line & blocked:
                one = rest & -rest
                found[one] = found.get(one, 0) | rest ^ one
                found[rest ^ one] = found.get(rest ^ one, 0) | one
        return found


def make_search(
    board: GridBoard, options: Options, tables: Sequence[Table] = ()
) -> LadderSearch[Stones]:
    """The plain engine of a board of any size."""
    from retro.search.ladder.search import LadderSearch

    return LadderSearch(LargeGame(board), board.cells, options)


def _distance(board: GridBoard, bit: int) -> int:
    """Twice the distance of a cell from the middle, rows and columns added."""
    row, column = board.place(bit)
    return abs(2 * row - board.rows + 1) + abs(2 * column - board.cols + 1)
