"""The perfect player of Connect Four, who answers within about a second.

Value first. The first of these that knows the value of the position gives it, and a
move that keeps it:

    table    that covers the position, if there is one: at once
    book     the first moves of 7x6: at once
    search   is it a win, a draw or a loss, however long that takes

Then speed: with what is left of `seconds` the solver looks for distances, so that of
all moves that keep the value the winner plays the fastest and the loser the slowest.
When time is up before that is known, the move that keeps the value has to do.
"""

from __future__ import annotations

import contextlib
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from retro.errors import NotCoveredError, TimeLimitError
from retro.games.connect_text import as_position
from retro.games.rated import centre_first
from retro.games.values import DRAW, LOSS
from retro.search.players import Player
from tablebase.book import Entry, look_up, open_book

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retro.games.connect import Board, Position
    from retro.search.solver import Solver
    from tablebase.probe import Tablebase

DEFAULT_SECONDS = 0.7
DEFAULT_MEMORY_MB = 64
FEW_NODES = 1_000
SLICE_NODES = 100_000  # a twentieth of a second between looks at the clock


class Advice(NamedTuple):
    """A best move, its value for the player who makes it, and the plies to the end if known."""

    move: int
    value: int
    plies: int | None
    source: Literal["table", "book", "search"]


class Adviser(Player, Protocol):
    """A player who can be asked for advice."""

    def advise(self, position: Any) -> Advice:
        """A best move; the position is not over."""
        ...


class PerfectPlayer:
    """Plays Connect Four without ever giving away the value of a position.

    Parameters
    ----------
    board, tables
        The board, and its open tables; whoever opened them closes them. The first one
        that covers a position answers.
    seconds
        For the search of the fastest win or the slowest loss. The value itself is
        never guessed, so without a table or a book a first move may take longer.
    memory_mb
        Size of the solver's transposition table, which lives as long as the player. Where
        the book ends, searches are short, and a small table is quicker: its first use
        makes the system find a page of memory at nearly every node.
    time_limit
        Seconds a move may take; `TimeLimitError` when they are over, never a guess.
    report
        Called with (nodes, seconds, question) while a search runs.

    Examples
    --------
    >>> from retro.games.connect import Board
    >>> player = PerfectPlayer(Board(5, 4), memory_mb=16)
    >>> player.advise("443")
    Advice(move=1, value=1, plies=17, source='search')
    """

    name = "perfect"

    def __init__(
        self,
        board: Board,
        tables: Sequence[Tablebase] = (),
        *,
        seconds: float = DEFAULT_SECONDS,
        memory_mb: int = DEFAULT_MEMORY_MB,
        time_limit: float | None = None,
        report: Callable[[int, float, str], None] = lambda *_: None,
    ) -> None:
        self.board = board
        self._tables = tables
        self._seconds, self._memory_mb = seconds, memory_mb
        self._time_limit = float("inf") if time_limit is None else time_limit
        self._report = report
        self._deadline = 0.0

    def choose(self, position: Any) -> int:
        return self.advise(position).move

    def told(self, position: Any, move: int) -> None:
        """Looks at the position alone."""

    def advise(self, position: Any) -> Advice:
        """A best move; the position is not over."""
        begin = time.monotonic()
        self._deadline = begin + self._time_limit
        position = as_position(self.board, position)
        advice = self._by_table(position) or self._by_book(position) or self._by_search(position)
        if advice.plies is not None or advice.value == DRAW:
            return advice
        self._deadline = min(self._deadline, begin + self._seconds)
        try:
            entry = first_best(self._solver, position)
        except TimeLimitError:
            return advice
        return Advice(entry.column, entry.value, entry.plies, advice.source)

    def _by_table(self, position: Position) -> Advice | None:
        for table in self._tables:
            with contextlib.suppress(NotCoveredError):
                best = table.probe(position).moves[0]
                return Advice(best.number, best.value, best.plies, "table")
        return None

    def _by_book(self, position: Position) -> Advice | None:
        entry = look_up(open_book(self.board), position)
        return None if entry is None else Advice(*entry, "book")

    def _by_search(self, position: Position) -> Advice:
        """A move that keeps the value; asks no more than it takes to know one."""
        columns = centre_first(position.legal_columns(), self.board.width)
        after = {column: position.play(column) for column in columns}
        for column in columns:
            if after[column].outcome() == LOSS:
                return Advice(column, 1, 1, "search")
        value = self._solver.solve(position).value
        if value == LOSS:
            # All moves lose; one that does not lose at once is at least no blunder to look at.
            slow = [c for c in columns if not _wins_at_once(after[c])]
            return Advice((slow or columns)[0], LOSS, None, "search")
        return Advice(self._first_proved(after, value), value, None, "search")

    def _first_proved(self, after: dict[int, Position], value: int) -> int:
        """The move that is the cheapest to prove to keep the value.

        The search for the value went through such a move and remembers much of
        it, while a move that gives the value away may take long to refute. So all
        moves are tried with few nodes, then with twice as many, and so on.
        """
        nodes = FEW_NODES
        while True:
            for column, position in after.items():
                outcome = position.outcome()
                reply = self._value_within(position, nodes) if outcome is None else outcome
                if reply is not None and -reply == value:
                    return column
            nodes *= 2

    def _value_within(self, position: Position, nodes: int) -> int | None:
        """The value of a position if so many nodes find it; looks at the clock between slices."""
        while nodes > 0:
            self._check_time()
            found = self._solver.solve_within(position, min(nodes, SLICE_NODES))
            if found is not None:
                return found.value
            nodes -= SLICE_NODES
        return None

    @cached_property
    def _solver(self) -> Solver:
        from retro.search.solver import Solver

        return Solver(
            self.board, memory_mb=self._memory_mb, report=self._tick, slice_nodes=SLICE_NODES
        )

    def _tick(self, nodes: int, seconds: float, question: str) -> None:
        self._report(nodes, seconds, question)
        self._check_time()

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise TimeLimitError(f"no move found within {self._time_limit:g} s")


def first_best(solver: Solver, position: Position) -> Entry:
    """The first of the best moves by value and distance; asks only until one fits.

    >>> from retro.games.connect_text import read_moves
    >>> from retro.search import Solver
    >>> solver = Solver("4x4", memory_mb=1)
    >>> first_best(solver, read_moves(solver.board, "121212"))
    Entry(column=0, value=1, plies=1)
    """
    whole = solver.solve(position, strong=True)
    for column in centre_first(position.legal_columns(), position.board.width):
        after = position.play(column)
        outcome = after.outcome()
        if outcome is None:
            reply = solver.solve(after, strong=True)
            value, plies = -reply.value, 1 + (reply.plies or 0)
        else:
            value, plies = -outcome, 1
        if (value, plies) == (whole.value, whole.plies):
            return Entry(column, value, plies)
    raise AssertionError("no move keeps the value and distance of the position")


def _wins_at_once(position: Position) -> bool:
    """Whether the side to move has a winning move."""
    if position.is_over():
        return False
    return any(position.play(c).outcome() == LOSS for c in position.legal_columns())
