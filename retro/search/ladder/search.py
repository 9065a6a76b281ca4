"""The engine of boards that are too large for kernels: the plain ladder, asked like the others.

Kernels hold a player's stones in a 64-bit word; the ladder's are Python integers of any
length. So m,n,k-games, Puissance Plus and Domineering beyond 64 cells are searched by the
ladder: exactly, but slowly. What is nearly decided gets solved, the rest runs until its
time is over.

The search deepens ply by ply, and that gives distances for nothing: a position is visited
on one ply only, so depth 5 proves a win just when there is one within five plies.

    depth   1     2     3     4     5        a WIN in 5 plies; a draw ends with the
    value   0     0     0     0    +1        board full, whenever it is proved
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Protocol

from retro.games.values import DRAW, LOSS, WIN
from retro.search.engine import Found, Many
from retro.search.ladder.ladder import Ladder
from retro.search.ladder.protocol import Forcing, Game, State
from retro.search.ladder.rungs import Rungs
from retro.search.turns import LOOK_SECONDS, Spare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retro.games.game import Position, States
    from retro.search.engine import Options, Watch

MOST_SLOTS = 1 << 18
QUESTION = "is it decided within a few plies more?"
ENTRY_BYTES = 300  # of an entry of the ladder's table, without the three sets of its key


class LargeGame(Game[State], Protocol[State]):
    """A game of the ladder that reads positions."""

    def state(self, position: Any) -> State:
        """The position as the ladder takes it."""
        ...


class _EnoughError(Exception):
    """So many nodes were asked for, and no more."""


class LadderSearch(Generic[State]):
    """The plain engine as the solver asks it, from any number of threads.

    A search keeps its place on Python's own stack, so the memory cannot change hands between two
    slices: questions that are asked at the same moment have a memory each.

    Parameters
    ----------
    rules, cells
        The game as the ladder sees it, and the cells of its board.
    bounds_tell_plies
        Whether the game's bounds leave distances alone; else they serve for values only.
    move_of
        A move of the ladder as `Position.play` takes it.
    """

    def __init__(
        self,
        rules: LargeGame[State],
        cells: int,
        options: Options,
        *,
        bounds_tell_plies: bool = True,
        move_of: Callable[[int], int] = lambda move: move,
    ) -> None:
        self._rules, self._move_of = rules, move_of
        slots = options.memory // (ENTRY_BYTES + 3 * cells // 8)
        if slots < 1:
            raise ValueError(f"need at least {ENTRY_BYTES + 3 * cells // 8}")
        # Tables that turn so many cells would take longer than they save.
        rungs = Rungs(symmetry=False, deepening=True, slots=min(slots, MOST_SLOTS))
        self._rungs = replace(rungs, bounds=bounds_tell_plies)  # for distances
        self._values = Spare(lambda: Ladder(rules, rungs))

    def check(self, position: Position) -> None:
        """A position that was set up may be anything."""
        if position.history is None:
            position.check()

    def solve(self, position: Position, known: int | None, strong: bool, watch: Watch) -> Found:
        """The value, with `strong` also the distance."""
        if not strong:
            return self._value(position, _Look(watch))
        # What a deeper search has proved would tell of an end, not of how soon it comes.
        return self._search(self._fresh(_Look(watch)), self._rules.state(position))

    def forget(self) -> None:
        """Clear the transposition table."""
        self._values.forget()

    def solve_within(self, position: Position, nodes: int, watch: Watch) -> Found | None:
        """The value if so many nodes find it; the table remembers what they proved."""
        try:
            return self._value(position, _Look(watch, nodes))
        except _EnoughError:
            return None

    def _value(self, position: Position, look: _Look) -> Found:
        with self._values.take() as ladder:
            ladder.probe = look
            return self._search(ladder, self._rules.state(position))._replace(plies=None)

    def solve_at_once(self, position: Position, watch: Watch, *, is_first: bool) -> None:
        """Boards of this size have no tables."""

    def solve_many(self, states: States, strong: bool, watch: Watch) -> Many:
        """Such boards have no states: their stones do not fit into words."""
        raise NotImplementedError("boards beyond 64 cells have no states; ask for one by one")

    def best_move(self, position: Position, watch: Watch) -> tuple[int, Found]:
        """A move that keeps value and distance of a position, and what those are.

        Other moves are searched only as deep as the comparison takes, not to their ends.
        """
        look, asked = _Look(watch), self._rules.state(position)
        ladder = self._fresh(look)
        whole = self._search(ladder, asked)
        plies = whole.plies or 0
        for move in self._candidates(asked):
            after = self._rules.play(asked, move)
            if whole.value == LOSS:  # slowly: it does not come two plies sooner
                kept = self._fresh(look).search(after, plies - 2).value != WIN
            elif whole.value == WIN:
                kept = ladder.search(after, plies - 1).value == LOSS
            else:
                kept = ladder.search(after).value == DRAW
            if kept:
                return self._move_of(move), whole
        raise AssertionError("no move keeps the value and distance of the position")

    def _candidates(self, asked: State) -> Sequence[int]:
        rules = self._rules
        return rules.candidates(asked) if isinstance(rules, Forcing) else rules.moves(asked)

    def _search(self, ladder: Ladder[State], asked: State) -> Found:
        found = ladder.search(asked)
        end = self._rules.plies_left(asked) if found.value == DRAW else found.iterations[-1].depth
        return Found(found.value, end, found.nodes)

    def _fresh(self, look: _Look) -> Ladder[State]:
        """A ladder for distances."""
        return Ladder(self._rules, self._rungs, look)


class _Look:
    """Asked by the ladder at every node of one question: knows nothing, but looks at the clock."""

    def __init__(self, watch: Watch, most: int = 0) -> None:
        self._watch, self._most = watch, most
        self._nodes, self._looked = 0, time.monotonic()

    def __call__(self, state: object) -> None:
        self._nodes += 1
        if self._most and self._nodes > self._most:
            raise _EnoughError
        now = time.monotonic()
        if now - self._looked >= LOOK_SECONDS:
            self._looked = now
            self._watch.look(self._nodes, QUESTION)
