"""The solver of any game that kernels know: a state in, its exact value and distance out.

    solver = KeyedSolver(game.rules(board), memory_mb=256)
    solver.solve(game.state(position)).value

The value is one of three, so two questions settle it: is it at least WIN? is it
at least DRAW? The distance, in plies to the end with the winner as fast and the
loser as slow as possible, is asked for from near to far: does it end within one
ply? two? ... A draw ends when nothing can be added; all draws of a game do so on the
same ply, so one drawn game tells how far that is.

Between slices of nodes the search returns here, so that progress can be shown, a
time limit kept and Ctrl-C obeyed. The table keeps what is proved from one question
to the next. `keyed_engine` has the node loop; what it knows of a game are the
functions of `retro.games.keyed` and nothing else. A game may have a node loop of
its own (`ENGINES`) that answers the questions about values faster.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from retro.errors import BadTextError, DoesNotFitError, TimeLimitError
from retro.games.keyed import move_limit_of, successors_of
from retro.games.quarto_keyed import Quarto
from retro.games.values import DRAW, WIN
from retro.search import keyed_engine, quarto_engine
from retro.search.keyed_engine import NODES, OPEN
from retro.search.keyed_table import WON, make_table

if TYPE_CHECKING:
    from collections.abc import Callable

Source = Literal["table", "search", "both"]
DEFAULT_MEMORY_MB = 1024
ENGINES: dict[type, Any] = {Quarto: quarto_engine}
FIRST_SLICE = 1_000  # nodes
SLICE_SECONDS = 0.5  # games differ in what a node costs: later slices are cut to this
AGES = 256
NO_LIMIT = 1 << 62


@dataclass(frozen=True)
class KeyedSolution:
    """The exact value of a state for the side to move, and what it cost."""

    value: int
    plies: int | None  # to the end of the game; only if solved strongly
    nodes: int
    source: Source


class KeyedSolver:
    """An exact solver for one set of rules; keeps what it has proved.

    Parameters
    ----------
    rules
        What `PlacementGame.rules` returns.
    memory_mb
        Size of the transposition table; the largest power of two of buckets that fits.
    probe
        Asked before any search: the value of a state, or None; a table, say.
    time_limit
        Seconds per question; `TimeLimitError` when it is hit, never a guess.
    report
        Called with (nodes, seconds, the question being asked) about twice a second.
    engine
        The module with the node loop for values; by default the game's own, if it has one.

    Examples
    --------
    >>> from retro.games.catalogue import find_game
    >>> game = find_game("mnk")
    >>> board = game.parse("3x3", {})
    >>> solver = KeyedSolver(game.rules(board), memory_mb=1)
    >>> found = solver.solve(game.state(game.read_position(board, "a1 a2")), strong=True)
    >>> found.value, found.plies
    (1, 5)
    """

    def __init__(
        self,
        rules: Any,
        *,
        memory_mb: int = DEFAULT_MEMORY_MB,
        probe: Callable[[tuple[int, int]], int | None] = lambda _: None,
        time_limit: float | None = None,
        report: Callable[[int, float, str], None] = lambda *_: None,
        engine: Any = None,
    ) -> None:
        if memory_mb < 1:
            raise BadTextError(f"found {memory_mb} MB for the solver, wanted at least 1")
        self.rules = rules
        self._probe, self._time_limit, self._report = probe, time_limit, report
        self._questions = self._nodes = 0
        self._begin = 0.0
        try:
            self._table = make_table(rules.words, memory_mb << 20)
        except (MemoryError, ValueError):
            raise DoesNotFitError(f"a table of {memory_mb:,} MB does not fit in memory") from None
        self._engine = engine or ENGINES.get(type(rules), keyed_engine)
        slots = int(move_limit_of(rules))
        self._stacks = {module: module.make_stack(slots) for module in (self._engine, keyed_engine)}

    def solve(self, state: tuple[int, int], strong: bool = False) -> KeyedSolution:
        """The value of a state, with `strong` also its distance."""
        self._begin, self._nodes = time.monotonic(), 0
        known = self._probe(state)
        value = self._searched(state) if known is None else known
        plies = self._plies(state, value) if strong else None
        source: Source = "search" if known is None else "both" if self._nodes else "table"
        return KeyedSolution(value, plies, self._nodes, source)

    def _value(self, state: tuple[int, int], most: int = NO_LIMIT) -> int:
        """The value of a state; OPEN if it is not known after `most` nodes."""
        known = self._probe(state)
        return self._searched(state, most) if known is None else known

    def _searched(self, state: tuple[int, int], most: int = NO_LIMIT) -> int:
        score = self._ask(self._engine, state, WIN, most)
        if score == DRAW:  # at most
            score = self._ask(self._engine, state, DRAW, most)
        return OPEN if score == OPEN else (score > 0) - (score < 0)

    def _plies(self, state: tuple[int, int], value: int) -> int:
        """The distance of a state whose value is known."""
        if value == DRAW:
            return self._plies_of_draw(state)
        low, high = (1, WON) if value == WIN else (-WON, -1)
        while low < high:  # the nearest end that is left is the question
            goal = high if value == WIN else low + 1
            score = self._ask(keyed_engine, state, goal)
            if score >= goal:
                low = score
            else:
                high = score
        return WON - abs(low)

    def _plies_of_draw(self, state: tuple[int, int]) -> int:
        """Play a drawn game and count."""
        plies = 0
        while after := successors_of(self.rules, *state):
            state = self._first_draw(list(after.values()))
            plies += 1
        return plies

    def _first_draw(self, states: list[tuple[int, int]]) -> tuple[int, int]:
        """The state that is the cheapest to prove a draw; one of them is.

        Whoever proved the predecessor a draw went through it, so the table mostly knows.
        """
        most = 1
        while True:
            for state in states:
                if self._value(state, most) == DRAW:
                    return state
            most *= 2

    def _ask(self, engine: Any, state: tuple[int, int], goal: int, most: int = NO_LIMIT) -> int:
        """A score: `goal` or more if the state's is at least that, else less and not below it.

        OPEN after `most` nodes.
        """
        self._questions += 1
        age = np.uint64(self._questions % AGES)
        a, b = (np.uint64(word) for word in state)
        stack = self._stacks[engine]
        score = engine.begin(self.rules, self._table, stack, a, b, goal, age)
        budget, before = FIRST_SLICE, time.monotonic()
        while score == OPEN and stack.place[NODES] < most:
            budget = min(budget, most - int(stack.place[NODES]))
            score = engine.resume(self.rules, self._table, stack, age, budget)
            now, nodes = time.monotonic(), self._nodes + int(stack.place[NODES])
            self._report(nodes, now - self._begin, question(goal))
            limit = self._time_limit
            if score == OPEN and limit is not None and now - self._begin >= limit:
                raise TimeLimitError(f"not solved within {limit:g} s ({nodes:,} nodes searched)")
            scale = SLICE_SECONDS / max(now - before, SLICE_SECONDS / 8)
            budget, before = max(1, int(budget * scale)), now
        self._nodes += int(stack.place[NODES])
        return int(score)


def question(goal: int) -> str:
    """What it means to ask whether a score is at least `goal`, for the side to move.

    >>> question(WIN), question(DRAW)
    ('a win?', 'at least a draw?')
    >>> question(WON - 5), question(4 - WON)
    ('a win within 5 plies?', 'no loss within 3 plies?')
    """
    if goal > WIN:
        return f"a win within {WON - goal} {'ply' if WON - goal == 1 else 'plies'}?"
    if goal < DRAW:
        return f"no loss within {WON + goal - 1} {'ply' if WON + goal == 2 else 'plies'}?"
    return "a win?" if goal == WIN else "at least a draw?"
