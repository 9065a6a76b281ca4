"""The solver of boards that are too large for kernels: the plain ladder, asked like `keyed_search`.

Kernels hold a player's stones in a 64-bit word; the ladder's are Python integers of any
length. So m,n,k-games and Puissance Plus beyond 64 cells are searched by the ladder: exactly,
but slowly. What is nearly decided gets solved, the rest runs until its time is over.

The search deepens ply by ply, and that gives distances for nothing: a position is visited
on one ply only, so depth 5 proves a win just when there is one within five plies.

    depth   1     2     3     4     5        a WIN in 5 plies; a draw ends with the
    value   0     0     0     0    +1        board full, whenever it is proved
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from retro.games.grid import GridBoard
from retro.games.values import DRAW, LOSS, WIN
from retro.search.ladder import Ladder
from retro.search.mnk_game import MnkGame
from retro.search.rungs import Rungs

if TYPE_CHECKING:
    from collections.abc import Callable

    from retro.games.catalogue import PlacementGame
    from retro.search.keyed_search import KeyedSolution
    from retro.search.lines import Stones

MOST_CELLS = 64  # of a board that kernels take
MOST_SLOTS = 1 << 18
REPORT_SECONDS = 0.5
QUESTION = "is it decided within a few plies more?"
ENTRY_BYTES = 300  # of an entry of the ladder's table, without the three sets of its key


def needs_plain_search(board: Any) -> bool:
    """Whether a board is too large for kernels, but not for the ladder."""
    return isinstance(board, GridBoard) and board.cells > MOST_CELLS


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


class PlainSolver:
    """An exact solver of one board; `solve` as in `KeyedSolver`.

    Parameters
    ----------
    game, board
        A game on a `GridBoard`, of any size.
    memory_mb
        About what the transposition table may take.
    report
        Called with (nodes, seconds, the question asked) about twice a second; what it raises
        ends the search.

    Examples
    --------
    >>> from retro.games.catalogue import find_game
    >>> game = find_game("mnk")
    >>> board = game.parse("9x9", {"connect": "5"})
    >>> position = game.read_position(board, "e5 a1 e6 a2 e7 a9")
    >>> found = PlainSolver(game, board).solve(game.state(position), strong=True)
    >>> found.value, found.plies
    (1, 3)
    """

    def __init__(
        self,
        game: PlacementGame,
        board: GridBoard,
        *,
        memory_mb: int = 1024,
        report: Callable[[int, float, str], None] = lambda *_: None,
    ) -> None:
        self._game, self._board, self._rules = game, board, LargeGame(board)
        slots = (memory_mb << 20) // (ENTRY_BYTES + 3 * board.cells // 8)
        # Tables that turn so many cells would take longer than they save.
        self._rungs = Rungs(symmetry=False, deepening=True, slots=min(slots, MOST_SLOTS))
        self._report = report
        self._values = self._fresh()
        self._nodes = 0
        self._begin = self._reported = 0.0

    def solve(self, state: tuple[int, int], strong: bool = False) -> KeyedSolution:
        """The value of a state, with `strong` also its distance."""
        self._start()
        # What a deeper search has proved would tell of an end, not of how soon it comes.
        ladder = self._fresh() if strong else self._values
        found = self._search(ladder, self._asked(state))
        return found if strong else replace(found, plies=None)

    def best(self, state: tuple[int, int]) -> tuple[int, KeyedSolution]:
        """A move that keeps value and distance of an unfinished state, and what those are.

        Other moves are searched only as deep as the comparison takes, not to their ends.
        """
        self._start()
        ladder, asked = self._fresh(), self._asked(state)
        whole = self._search(ladder, asked)
        plies = whole.plies or 0
        for move in self._rules.candidates(asked):
            after = self._rules.play(asked, move)
            if whole.value == LOSS:  # slowly: it does not come two plies sooner
                kept = self._fresh().search(after, plies - 2).value != WIN
            elif whole.value == WIN:
                kept = ladder.search(after, plies - 1).value == LOSS
            else:
                kept = ladder.search(after).value == DRAW
            if kept:
                return move, whole
        raise AssertionError("no move keeps the value and distance of the position")

    def _search(self, ladder: Ladder[Stones], asked: Stones) -> KeyedSolution:
        from retro.search.keyed_search import KeyedSolution  # numba: for who searches only

        found = ladder.search(asked)
        end = self._rules.plies_left(asked) if found.value == DRAW else found.iterations[-1].depth
        return KeyedSolution(found.value, end, found.nodes, "search")

    def _fresh(self) -> Ladder[Stones]:
        return Ladder(self._rules, self._rungs, self._tick)

    def _asked(self, state: tuple[int, int]) -> Stones:
        return self._rules.state(self._game.position(self._board, *state))

    def _start(self) -> None:
        self._begin = self._reported = time.monotonic()
        self._nodes = 0

    def _tick(self, state: Stones) -> None:
        """Asked by the ladder at every node; knows nothing, but looks at the clock."""
        self._nodes += 1
        now = time.monotonic()
        if now - self._reported >= REPORT_SECONDS:
            self._reported = now
            self._report(self._nodes, now - self._begin, QUESTION)
