"""Exact answers in any game that kernels know: from a table, else by search.

The twin of `oracle`, which answers about Connect Four: the table answers what it
covers, the solver the rest, both in the same form; `source` says which of them did.
"""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING, Any

from retro.errors import GameOverError, MissingTableError, TimeLimitError
from tablebase.keyed_probe import KeyedProbe, MoveValue, as_position

if TYPE_CHECKING:
    from collections.abc import Callable

    from retro.games.catalogue import PlacementGame
    from retro.search.keyed_search import KeyedSolver
    from tablebase.keyed_probe import KeyedTable
    from tablebase.probe import Source

DEFAULT_MEMORY_MB = 1024


class KeyedOracle:
    """A game's table, if there is one, with the solver behind it.

    Parameters
    ----------
    game, root, table
        The game, the position that questions begin from, and an open table or None.
    memory_mb
        Size of the solver's transposition table.
    time_limit
        Seconds a question may take, however many searches that means;
        `TimeLimitError` when they are over, never a guess.
    before_search
        Called once, before the first search.
    report
        Called with (nodes, seconds) a few times a second while a search runs.

    Examples
    --------
    >>> from retro.games.catalogue import find_game
    >>> game = find_game("mnk")
    >>> oracle = KeyedOracle(game, game.start(game.parse("3x3", {})), None, memory_mb=1)
    >>> found = oracle.probe("b2 b1")
    >>> found.value, found.source, len(found.best)
    (1, 'search', 6)
    """

    def __init__(
        self,
        game: PlacementGame,
        root: Any,
        table: KeyedTable | None,
        *,
        memory_mb: int = DEFAULT_MEMORY_MB,
        time_limit: float | None = None,
        before_search: Callable[[], None] = lambda: None,
        report: Callable[[int, float], None] = lambda *_: None,
    ) -> None:
        self.game, self.root, self.board, self.table = game, root, root.board, table
        self._memory_mb, self._time_limit = memory_mb, time_limit
        self._before_search, self._report = before_search, report
        self._begin = time.monotonic()

    @property
    def name(self) -> str:
        return self.game.table_name(self.board)

    def as_position(self, thing: Any) -> Any:
        """A position of this board, from text or as it is."""
        return as_position(self.game, self.board, thing)

    def value(self, position: Any) -> tuple[int, Source]:
        """The value of an unfinished position for the side to move, and who knew it."""
        self._begin = time.monotonic()
        return self._value(position)

    def probe(self, position: Any) -> KeyedProbe:
        """The value of a position and of every legal move, best first, and who knew it."""
        self._begin = time.monotonic()
        return self._probe(self._live(position))

    def best_line(self, position: Any) -> list[MoveValue]:
        """A game with best play to its end, always the first of the best moves."""
        self._begin = time.monotonic()
        position = self._live(position)
        line: list[MoveValue] = []
        while not position.is_over():
            line.append(self._probe(position).moves[0])
            position = position.play(line[-1].number)
        return line

    def _live(self, position: Any) -> Any:
        position = self.as_position(position)
        if position.is_over():
            raise GameOverError(position.over_message())
        return position

    def _probe(self, position: Any) -> KeyedProbe:
        value, source = self._value(position)
        rated = []
        for move in position.legal_moves():
            after = position.play(move)
            outcome = after.outcome()
            worth = -(self._value(after)[0] if outcome is None else outcome)
            rated.append(MoveValue(self.game.write_move(position, move), move, worth))
        return KeyedProbe(position, value, sorted(rated, key=lambda move: -move.value), source)

    def _value(self, position: Any) -> tuple[int, Source]:
        if self.table is not None:
            try:
                return self.table.probe_wdl(position), "table"
            except MissingTableError:
                pass  # a table of what follows another position
        self._check_time()
        return self._solver.solve(self.game.state(position)).value, "search"

    @cached_property
    def _solver(self) -> KeyedSolver:
        from retro.search.keyed_search import KeyedSolver

        rules = self.game.rules(self.board)
        self._before_search()
        return KeyedSolver(rules, memory_mb=self._memory_mb, report=self._tick)

    def _tick(self, nodes: int, seconds: float) -> None:
        self._report(nodes, seconds)
        self._check_time()

    def _check_time(self) -> None:
        limit = self._time_limit
        if limit is not None and time.monotonic() - self._begin > limit:
            raise TimeLimitError(f"not answered within {limit:g} s")
