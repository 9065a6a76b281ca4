"""The solver of any game that kernels know: a state in, its exact value out.

    solver = KeyedSolver(game.rules(board), memory_mb=256)
    solver.solve(game.state(position)).value

The value is one of three, so two questions settle it: is it at least WIN? is it
at least DRAW? Between slices of nodes the search returns here, so that progress
can be shown, a time limit kept and Ctrl-C obeyed. The table keeps what is proved
from one question to the next. `keyed_engine` has the node loop; what it knows of
a game are the functions of `retro.games.keyed` and nothing else. A game may have a
node loop of its own (`ENGINES`) that answers the same questions faster.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from retro.errors import BadTextError, DoesNotFitError, TimeLimitError
from retro.games.keyed import move_limit_of
from retro.games.quarto_keyed import Quarto
from retro.games.values import DRAW, WIN
from retro.search import keyed_engine, quarto_engine
from retro.search.keyed_engine import NODES, OPEN
from retro.search.keyed_table import make_table

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_MEMORY_MB = 1024
ENGINES: dict[type, Any] = {Quarto: quarto_engine}
FIRST_SLICE = 1_000  # nodes
SLICE_SECONDS = 0.5  # games differ in what a node costs: later slices are cut to this
AGES = 256


@dataclass(frozen=True)
class KeyedSolution:
    """The exact value of a state for the side to move, and what it cost."""

    value: int
    nodes: int
    source: Literal["table", "search"]


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
        Called with (nodes, seconds) about twice a second.
    engine
        The module with the node loop; by default the game's own, if it has one.

    Examples
    --------
    >>> from retro.games.catalogue import find_game
    >>> game = find_game("mnk")
    >>> board = game.parse("3x3", {})
    >>> solver = KeyedSolver(game.rules(board), memory_mb=1)
    >>> solver.solve(game.state(game.read_position(board, "a1 a2"))).value
    1
    """

    def __init__(
        self,
        rules: Any,
        *,
        memory_mb: int = DEFAULT_MEMORY_MB,
        probe: Callable[[tuple[int, int]], int | None] = lambda _: None,
        time_limit: float | None = None,
        report: Callable[[int, float], None] = lambda *_: None,
        engine: Any = None,
    ) -> None:
        if memory_mb < 1:
            raise BadTextError(f"found {memory_mb} MB for the solver, wanted at least 1")
        self.rules = rules
        self._probe, self._time_limit, self._report = probe, time_limit, report
        self._questions = 0
        try:
            self._table = make_table(rules.words, memory_mb << 20)
        except (MemoryError, ValueError):
            raise DoesNotFitError(f"a table of {memory_mb:,} MB does not fit in memory") from None
        self._engine = engine or ENGINES.get(type(rules), keyed_engine)
        self._stack = self._engine.make_stack(int(move_limit_of(rules)))

    def solve(self, state: tuple[int, int]) -> KeyedSolution:
        """The value of a state; one that the rules decide costs no node."""
        known = self._probe(state)
        if known is not None:
            return KeyedSolution(known, 0, "table")
        deadline = None if self._time_limit is None else time.monotonic() + self._time_limit
        value, nodes = self._ask(state, WIN, 0, deadline)
        if value == DRAW:  # at most
            value, nodes = self._ask(state, DRAW, nodes, deadline)
        return KeyedSolution(value, nodes, "search")

    def _ask(
        self, state: tuple[int, int], goal: int, nodes_before: int, deadline: float | None
    ) -> tuple[int, int]:
        """(value, nodes): at least `goal` and at least the value, or at most the value."""
        started = time.monotonic()
        self._questions += 1
        age = np.uint64(self._questions % AGES)
        a, b = (np.uint64(word) for word in state)
        value = self._engine.begin(self.rules, self._table, self._stack, a, b, goal, age)
        budget, before = FIRST_SLICE, time.monotonic()
        while value == OPEN:
            value = self._engine.resume(self.rules, self._table, self._stack, age, budget)
            now, nodes = time.monotonic(), nodes_before + int(self._stack.place[NODES])
            self._report(nodes, now - started)
            if value == OPEN and deadline is not None and now >= deadline:
                raise TimeLimitError(
                    f"not solved within {self._time_limit:g} s ({nodes:,} nodes searched)"
                )
            scale = SLICE_SECONDS / max(now - before, SLICE_SECONDS / 8)
            budget, before = max(1, int(budget * scale)), now
        return int(value), nodes_before + int(self._stack.place[NODES])
