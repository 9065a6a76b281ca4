"""Exact answers for every position of a board: from its table, else by search.

    the table covers it?  -> the table answers, in microseconds       source "table"
    otherwise             -> the solver does, in microseconds to
                             a minute (the empty 7x6 board)           source "search"

Both give the same values in the same order (`retro.games.rated`), so a caller
need not know which of the two answered; `source` says it. Only lines differ: a
table knows no distances, while the solver's winner hurries and its loser stalls.
"""

from __future__ import annotations

import contextlib
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retro.errors import GameOverError, NotCoveredError, TimeLimitError
from retro.games.connect import Position
from retro.games.connect_text import as_position, column_text
from retro.games.rated import RatedMove, centre_first, order_moves
from tablebase.probe import Probe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from retro.games.connect import Board
    from retro.search.solver import Solver
    from tablebase.probe import Source, Tablebase

DEFAULT_MEMORY_MB = 1024


class Line(NamedTuple):
    """Best play from a position to the end of the game; at least one move."""

    position: Position
    moves: list[RatedMove]
    source: Source

    @property
    def value(self) -> int:
        """The value of the position for the side to move: that of its best move."""
        return self.moves[0].value


class Oracle:
    """A board's tables, if there are any, with the solver behind them.

    Parameters
    ----------
    board, tables
        The board, and its open tables; whoever opened them closes them. The first
        one that covers a position answers.
    memory_mb
        Size of the solver's transposition table.
    time_limit
        Seconds from now on, however many searches that means; `TimeLimitError`
        when they are over, never a guess.
    before_search
        Called once, before the first search.
    report
        Called with (nodes, seconds, question) about twice a second while a search runs.

    Examples
    --------
    >>> from retro.games.connect import Board
    >>> oracle = Oracle(Board(4, 4), [], memory_mb=1)
    >>> found = oracle.probe("22")
    >>> found.value, found.source, [move.move for move in found.best]
    (0, 'search', ['2', '3', '1', '4'])
    """

    def __init__(
        self,
        board: Board,
        tables: Sequence[Tablebase],
        *,
        memory_mb: int = DEFAULT_MEMORY_MB,
        time_limit: float | None = None,
        before_search: Callable[[], None] = lambda: None,
        report: Callable[[int, float, str], None] = lambda *_: None,
    ) -> None:
        self.board, self.tables = board, tables
        self._memory_mb = memory_mb
        self._time_limit = time_limit
        self._before_search = before_search
        self._report = report
        self._begin = time.monotonic()

    def probe(self, position: Any) -> Probe:
        """The value of a position and of every legal move, best first, and who knew it."""
        position = self._live(position)
        for table in self.tables:
            with contextlib.suppress(NotCoveredError):
                return table.probe(position)
        moves = []
        for column in centre_first(position.legal_columns(), self.board.width):
            after = position.play(column)
            outcome = after.outcome()
            value = -self.solver.solve(after).value if outcome is None else -outcome
            plies = None if outcome is None else 1
            moves.append(RatedMove(column_text(column), column, value, plies))
        moves = order_moves(moves)
        return Probe(position, moves[0].value, moves, "search")

    def best_line(self, position: Any) -> Line:
        """One line of best play to the end of the game, always the first of the best moves."""
        position = self._live(position)
        for table in self.tables:
            with contextlib.suppress(NotCoveredError):
                return Line(position, table.best_line(position), "table")
        return Line(position, self.solver.best_line(position), "search")

    def probe_many(self, first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.int8]:
        """The values of many positions, as `Tablebase.probe_many` has them."""
        for table in self.tables:
            with contextlib.suppress(NotCoveredError):
                return table.probe_many(first, second)
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return np.array([self._value(Position(self.board, *pair)) for pair in pairs], np.int8)

    def _value(self, position: Position) -> int:
        outcome = position.outcome()
        self._check_time()
        return self.solver.solve(position).value if outcome is None else outcome

    @cached_property
    def solver(self) -> Solver:
        """The solver behind the table, made when it is first needed."""
        from retro.search.solver import Solver

        self._before_search()
        return Solver(self.board, memory_mb=self._memory_mb, tables=self.tables, report=self._tick)

    def _live(self, position: Any) -> Position:
        found = as_position(self.board, position).check()
        if found.is_over():
            raise GameOverError(found.over_message())
        return found

    def _tick(self, nodes: int, seconds: float, question: str) -> None:
        self._report(nodes, seconds, question)
        self._check_time()

    def _check_time(self) -> None:
        limit = self._time_limit
        if limit is not None and time.monotonic() - self._begin >= limit:
            raise TimeLimitError(f"not answered within {limit:g} s")
