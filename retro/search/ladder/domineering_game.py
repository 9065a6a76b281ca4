"""Domineering as the search sees it: a move is the set of the two cells of its domino.

>>> from retro.games.domineering.rules import DomineeringBoard
>>> game = DomineeringGame(DomineeringBoard(3, 3))
>>> len(game.moves(game.start()))
6
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retro.games.domineering.evaluate import disjoint
from retro.games.domineering.rules import OTHER
from retro.games.values import LOSS, WIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retro.games.domineering.rules import DomineeringBoard, DomineeringPosition, Side
    from retro.search.engine import Options, Table
    from retro.search.ladder.search import LadderSearch


class Covered(NamedTuple):
    """A state: the covered cells and the side to move."""

    cells: int
    side: Side


class DomineeringGame:
    """The rules of `DomineeringBoard`, symmetry, and bounds by counting dominoes."""

    def __init__(self, board: DomineeringBoard) -> None:
        self.board = board

    def start(self) -> Covered:
        return Covered(0, self.board.first)

    def state(self, position: DomineeringPosition) -> Covered:
        return Covered(position.covered, position.turn)

    def moves(self, state: Covered) -> Sequence[int]:
        return self._places(state.cells, state.side)

    def play(self, state: Covered, move: int) -> Covered:
        return Covered(state.cells | move, OTHER[state.side])

    def outcome(self, state: Covered) -> int | None:
        return None if self.moves(state) else LOSS

    def side_to_move(self, state: Covered) -> int:
        return 1 if state.side == "vertical" else -1

    def key(self, state: Covered) -> int:
        return state.cells << 1 | (state.side == "horizontal")

    def plies_left(self, state: Covered) -> int:
        return (self.board.cells - state.cells.bit_count()) // 2

    def canonical_key(self, state: Covered) -> tuple[int, int]:
        images = [self.turn(state.cells, i) for i in range(len(self.board.symmetries))]
        least = min(images)
        return self.key(Covered(least, state.side)), images.index(least)

    def turn(self, move: int, symmetry: int) -> int:
        goes_to = self.board.symmetries[symmetry]
        return sum(to for bit, to in goes_to.items() if move & bit)

    def turn_back(self, move: int, symmetry: int) -> int:
        return self.turn(move, symmetry)  # reflections and the half turn undo themselves

    def bounds(self, state: Covered) -> tuple[int, int]:
        """A win for whoever has more safe dominoes than the other side can place at all."""
        mine = self._places(state.cells, state.side)
        theirs = self._places(state.cells, OTHER[state.side])
        if disjoint(mine, avoid=theirs) > disjoint(theirs):
            return WIN, WIN
        if disjoint(theirs, avoid=mine) >= disjoint(mine):
            return LOSS, LOSS
        return LOSS, WIN

    def worth(self, state: Covered) -> int:
        """Places for a domino, less the opponent's: no symmetry changes their numbers."""
        mine = self._places(state.cells, state.side)
        return len(mine) - len(self._places(state.cells, OTHER[state.side]))

    def _places(self, covered: int, side: Side) -> list[int]:
        return [domino for domino in self.board.dominoes[side] if not domino & covered]


def make_search(
    board: DomineeringBoard, options: Options, tables: Sequence[Table] = ()
) -> LadderSearch[Covered]:
    """The plain engine of a board of any size.

    A count of safe dominoes says who wins, not how soon, so distances do without it.
    """
    from retro.search.ladder.search import LadderSearch

    return LadderSearch(
        DomineeringGame(board), board.cells, options, bounds_tell_plies=False, move_of=_first_cell
    )


def _first_cell(domino: int) -> int:
    """A domino as people move it: its lower or left cell."""
    return domino & -domino
