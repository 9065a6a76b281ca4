"""Exact answers in any game that kernels know: from a table, else by search.

The twin of `oracle`, which answers about Connect Four: tables answer what they
cover, the solver the rest, both in the same form; `source` says which of them did.
Only the solver knows distances; it takes the values from a table, where it can.
"""

from __future__ import annotations

import contextlib
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any

from retro.errors import GameOverError, MissingTableError, TimeLimitError, WrongBoardError
from retro.games.rated import RatedMove
from retro.search.plain_solver import PlainSolver, needs_plain_search
from tablebase.keyed_probe import KeyedProbe, as_position, rate_moves

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retro.games.catalogue import PlacementGame
    from retro.search.keyed_search import KeyedSolution, KeyedSolver
    from tablebase.keyed_probe import KeyedTable
    from tablebase.probe import Source

DEFAULT_MEMORY_MB = 1024


class KeyedOracle:
    """A board's tables, if there are any, with the solver behind them.

    Parameters
    ----------
    game, root, tables
        The game, the position that questions begin from, and open tables of its board;
        whoever opened them closes them. The first one that covers a position answers.
    memory_mb
        Size of the solver's transposition table.
    time_limit
        Seconds a question may take, however many searches that means;
        `TimeLimitError` when they are over, never a guess.
    before_search
        Called once, before the first search.
    report
        Called with (nodes, seconds, question) a few times a second while a search runs.

    Examples
    --------
    >>> from retro.games.catalogue import find_game
    >>> game = find_game("mnk")
    >>> oracle = KeyedOracle(game, game.start(game.parse("3x3", {})), [], memory_mb=1)
    >>> found = oracle.probe("b2 b1")
    >>> found.value, found.source, len(found.best)
    (1, 'search', 6)
    >>> [(move.move, move.plies) for move in oracle.analyse("b2 b1")][:2]
    [('a1', 5), ('c1', 5)]
    """

    def __init__(
        self,
        game: PlacementGame,
        root: Any,
        tables: Sequence[KeyedTable],
        *,
        memory_mb: int = DEFAULT_MEMORY_MB,
        time_limit: float | None = None,
        before_search: Callable[[], None] = lambda: None,
        report: Callable[[int, float, str], None] = lambda *_: None,
    ) -> None:
        self.game, self.root, self.board, self.tables = game, root, root.board, tables
        for table in tables:
            if table.board != self.board:
                raise WrongBoardError(f"{table.path} holds {table.name}, not {self.name}")
        self._memory_mb = memory_mb
        self._time_limit = self._limit = time_limit
        self._before_search, self._report = before_search, report
        self._begin = time.monotonic()

    @property
    def name(self) -> str:
        return self.game.table_name(self.board)

    def as_position(self, thing: Any) -> Any:
        """A position of this board, from text or as it is."""
        return as_position(self.game, self.board, thing)

    def value(self, position: Any, *, same_question: bool = False) -> tuple[int, Source]:
        """The value of an unfinished position for the side to move, and who knew it.

        The time limit goes on counting if it is asked as part of the `same_question`.
        """
        if not same_question:
            self._start(self._time_limit)
        return self._value(position)

    def probe(self, position: Any) -> KeyedProbe:
        """The value of a position and of every legal move, best first, and who knew it."""
        self._start(self._time_limit)
        return self._probe(self._live(position))

    def best_line(self, position: Any) -> list[RatedMove]:
        """A game with best play to its end: a table's, which knows values, or `main_line`."""
        position = self._live(position)
        for table in self.tables:
            with contextlib.suppress(MissingTableError):
                return table.best_line(position)
        return self.main_line(position)

    def solve(self, position: Any, strong: bool = False) -> KeyedSolution:
        """The value of a position, finished or not, with `strong` also its distance."""
        self._start(self._time_limit)
        return self._solve(self.as_position(position), strong)

    def analyse(self, position: Any) -> list[RatedMove]:
        """Every legal move with its value and its distance, best first."""
        self._start(self._time_limit)
        return self._analyse(self._live(position))

    def main_line(self, position: Any) -> list[RatedMove]:
        """A game in which the winner hurries and the loser stalls: the first of `analyse`."""
        self._start(self._time_limit)
        return self._main_line(self._live(position))

    def analyse_and_line(self, position: Any) -> tuple[list[RatedMove], list[RatedMove]]:
        """What `analyse` and `main_line` say, as one question."""
        self._start(self._time_limit)
        position = self._live(position)
        return self._analyse(position), self._main_line(position)

    def _analyse(self, position: Any) -> list[RatedMove]:
        return rate_moves(self.game, position, self._value_and_plies)

    def _main_line(self, position: Any) -> list[RatedMove]:
        line: list[RatedMove] = []
        while not position.is_over():
            line.append(self._fastest(position))
            position = position.play(line[-1].number)
        return line

    def fastest(self, position: Any, seconds: float) -> RatedMove:
        """The first of `analyse`, if that is found in so many seconds; else `TimeLimitError`."""
        self._start(seconds)
        return self._fastest(self._live(position))

    @property
    def is_plain(self) -> bool:
        """Whether the solver is the plain one, which cannot look at every move."""
        return needs_plain_search(self.board)

    def best(self, position: Any) -> RatedMove:
        """The first of `analyse`, within the time limit of a question."""
        self._start(self._time_limit)
        return self._fastest(self._live(position))

    def _live(self, position: Any) -> Any:
        position = self.as_position(position)
        if position.is_over():
            raise GameOverError(position.over_message())
        return position

    def _probe(self, position: Any) -> KeyedProbe:
        value, source = self._value(position)
        moves = rate_moves(self.game, position, lambda after: (self._value(after)[0], None))
        return KeyedProbe(position, value, moves, source)

    def _value(self, position: Any) -> tuple[int, Source]:
        for table in self.tables:
            with contextlib.suppress(MissingTableError):  # a table of what follows another position
                return table.probe_wdl(position), "table"
        self._check_time()
        return self._solver.solve(self.game.state(position)).value, "search"

    def _solve(self, position: Any, strong: bool = True) -> KeyedSolution:
        from retro.search.keyed_search import KeyedSolution

        state = self.game.state(position)
        known = None if strong else self._table_value(state)
        if known is not None:  # without making a solver
            return KeyedSolution(known, None, 0, "table")
        self._check_time()
        return self._solver.solve(state, strong)

    def _value_and_plies(self, position: Any) -> tuple[int, int]:
        found = self._solve(position)
        return found.value, found.plies or 0

    def _fastest(self, position: Any) -> RatedMove:
        """The first move that keeps value and distance; asks only until one fits."""
        if isinstance(self._solver, PlainSolver):
            self._check_time()
            number, found = self._solver.best(self.game.state(position))
            return RatedMove(
                self.game.write_move(position, number), number, found.value, found.plies
            )
        whole = self._solve(position)
        for move in position.legal_moves():
            after = position.play(move)
            outcome = after.outcome()
            value, plies = self._value_and_plies(after) if outcome is None else (outcome, 0)
            if (-value, plies + 1) == (whole.value, whole.plies):
                name = self.game.write_move(position, move)
                return RatedMove(name, move, whole.value, whole.plies)
        raise AssertionError("no move keeps the value and distance of the position")

    def _table_value(self, state: tuple[int, int]) -> int | None:
        """What the tables say of a state; None where they do not have it."""
        if not self.tables:
            return None
        ply = self.game.position(self.board, *state).ply
        found = (table.get_state(ply, state) for table in self.tables)
        return next((value for value in found if value is not None), None)

    @cached_property
    def _solver(self) -> KeyedSolver | PlainSolver:
        from retro.search.keyed_search import KeyedSolver

        if self.is_plain:
            self._before_search()
            return PlainSolver(self.game, self.board, memory_mb=self._memory_mb, report=self._tick)
        rules = self.game.rules(self.board)
        self._before_search()
        return KeyedSolver(
            rules, memory_mb=self._memory_mb, probe=self._table_value, report=self._tick
        )

    def _start(self, limit: float | None) -> None:
        """The clock of a new question."""
        self._begin, self._limit = time.monotonic(), limit

    def _tick(self, nodes: int, seconds: float, question: str) -> None:
        self._report(nodes, seconds, question)
        self._check_time()

    def _check_time(self) -> None:
        if self._limit is not None and time.monotonic() - self._begin > self._limit:
            raise TimeLimitError(f"not answered within {self._limit:g} s")
