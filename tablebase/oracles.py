"""Exact answers for every position of a board: from its tables, else by search.

    a table covers it?      -> the table answers, in microseconds    source "table"
    an opening we ship?     -> so do they                            source "openings"
    otherwise               -> the solver does, in microseconds to
                               minutes                               source "search"

All give the same values in the same order (`retro.answers`), so a caller need not
know who answered; `source` says it. Distances come from a table that was built
with them; from others come values, and the solver searches for the distances. So lines and
analyses are the same with and without tables.
"""

from __future__ import annotations

import contextlib
from functools import cached_property
from typing import TYPE_CHECKING, Literal, overload

from retro.answers import Answers, Line, Probe, RatedMove, Solution, order_moves
from retro.deadline import Deadline, check_seconds
from retro.errors import GameOverError, IllegalPositionError, MissingTableError, WrongBoardError
from retro.games.catalogue import make_board
from retro.search.engine import Options
from retro.search.memory import memory_bytes
from tablebase.files.atomic import Closing
from tablebase.files.places import build_command, rooted_paths, table_path
from tablebase.openings import look_up, look_up_move, probe_openings
from tablebase.tables import Table, open_checked, open_tablebase
from tablebase.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from retro.answers import Source
    from retro.games.game import Board, Position, States
    from retro.search import Solver
    from retro.search.engine import LeavesMode

DEFAULT_MEMORY = "1G"
# It does not reach there, or no play leads there: a Domineering board with holes, say. What
# is against the rules the solver refuses as well.
NOT_IN_TABLE = (MissingTableError, IllegalPositionError)


def oracle(
    board: Board | str,
    *,
    folder: Path | None = None,
    memory: str | int = DEFAULT_MEMORY,
    time_limit: float | None = None,
    threads: int = 1,
    leaves: LeavesMode = "auto",
    before_search: Callable[[str], None] = lambda _: None,
    report: Callable[[int, float, str], None] = lambda *_: None,
) -> Oracle:
    """The oracle of a board with the tables that are there; a context manager that closes them.

    Parameters
    ----------
    board, folder
        A board or its text, and where its tables are.
    memory, threads, leaves, report
        As `Solver` takes them.
    time_limit
        Seconds per question, however many searches that means; `TimeLimitError` when
        they are over, never a guess.
    before_search
        Called once, before the first search, with why there is one.

    Examples
    --------
    >>> with oracle("4x4", memory="1M") as asked:
    ...     found = asked.probe("22")
    >>> found.value, found.source, [move.move for move in found.best]
    (0, 'search', ['2', '3', '1', '4'])
    """
    asked = make_board(board)
    tables = open_tables(asked, folder)
    why = "no table covers this position"
    if not tables:
        start = asked.start()
        command = build_command(start, folder)
        why = f"no table at {table_path(start, folder)}; build it with: {command}"
    found = Oracle(
        asked, tables, memory=memory, time_limit=time_limit, threads=threads, leaves=leaves
    )
    found.before_search, found.report = lambda: before_search(why), report
    return found


def open_tables(board: Board, folder: Path | None = None) -> list[Table]:
    """The table of a whole board if it is there, else those from a root; the caller closes them."""
    whole = board.start()
    if table_path(whole, folder).exists():
        return [open_checked(table_path(whole, folder), whole)]
    with contextlib.ExitStack() as stack:
        tables = [stack.enter_context(open_tablebase(path)) for path in rooted_paths(board, folder)]
        for table in tables:
            if table.board != board:
                raise WrongBoardError(f"{table.path} holds {table.title}, not {board.name}")
        stack.pop_all()
    return tables


class Oracle(Closing):
    """A board's tables, if there are any, with the solver behind them."""

    def __init__(
        self,
        board: Board,
        tables: Sequence[Table] = (),
        *,
        memory: str | int = DEFAULT_MEMORY,
        time_limit: float | None = None,
        threads: int = 1,
        leaves: LeavesMode = "auto",
        slice_nodes: int = 0,
    ) -> None:
        self.board, self.tables = board, tables
        self.time_limit = check_seconds(time_limit)
        self._options = Options(memory_bytes(memory), threads, leaves, slice_nodes).check()
        self.before_search: Callable[[], None] = lambda: None
        self.report: Callable[[int, float, str], None] = lambda *_: None

    def close(self) -> None:
        for table in self.tables:
            table.close()

    def __repr__(self) -> str:
        tables = counted(len(self.tables), "table", "tables")
        return f"<Oracle {self.board.title}, {tables}, then search>"

    @cached_property
    def solver(self) -> Solver:
        """The solver behind the tables, made when it is first needed."""
        from retro.search import Solver

        self.before_search()
        return Solver(
            self.board,
            **self._options._asdict(),
            tables=self.tables,
            time_limit=self.time_limit,
            report=lambda nodes, seconds, question: self.report(nodes, seconds, question),
        )

    def value(self, position: object, *, clock: Deadline | None = None) -> int:
        """The value of a position, finished or not, for the side to move."""
        return self.solve(position, clock=clock).value

    def solve(
        self, position: object, strong: bool = False, *, clock: Deadline | None = None
    ) -> Solution:
        """The value of a position, finished or not; with `strong` also its distance."""
        asked = self.board.position(position)
        outcome = asked.outcome()
        if outcome is not None:
            return Solution(outcome, 0, 0, "rules")
        for table in self.tables:
            with contextlib.suppress(*NOT_IN_TABLE):
                plies = table.probe_plies(asked) if strong else None
                return Solution(table.probe_wdl(asked), plies, 0, "table")
        opening = look_up(asked)
        if opening is not None:
            return Solution(opening.value, opening.plies if strong else None, 0, "openings")
        return self.solver.solve(asked, strong, clock=clock)

    def probe(self, position: object, *, clock: Deadline | None = None) -> Probe:
        """The value of a position and of every legal move, best first, and who knew it."""
        asked = self._live(position)
        for table in self.tables:
            with contextlib.suppress(*NOT_IN_TABLE):
                return table.probe(asked)
        known = probe_openings(asked)
        if known is not None:
            return known
        clock = clock or Deadline(self.time_limit)
        moves = []
        for move in asked.moves_in_order():
            clock.check()  # a short search does not look at it
            moves.append(self.rate_move(asked, move, clock=clock))
        moves = order_moves(moves)
        return Probe(asked, moves[0].value, moves, "search")

    def rate_move(
        self, position: Position, move: int, strong: bool = False, *, clock: Deadline | None = None
    ) -> RatedMove:
        """What a move is worth to the player who makes it; with `strong` also its distance."""
        known = look_up_move(position, move)
        if known is not None:
            return known
        after = position.play(move)
        reply = self.solve(after, strong, clock=clock)
        plies = 1 if after.is_over() else None if reply.plies is None else reply.plies + 1
        return RatedMove(position.move_text(move), move, -reply.value, plies)

    def analyse(self, position: object, *, clock: Deadline | None = None) -> Probe:
        """The value and the distance of a position and of every legal move, best first."""
        asked = self._live(position)
        known = self._by_distances(asked)
        if known is not None:
            return known
        moves = self.solver.analyse(asked, clock=clock)
        return Probe(asked, moves[0].value, moves, self._source(asked))

    def best_line(self, position: object, *, clock: Deadline | None = None) -> Line:
        """Best play to the end of the game, as long as `analyse` says."""
        asked = here = self._live(position)
        moves: list[RatedMove] = []
        sources: set[Source] = set()
        while not here.is_over():
            known = self._known_best(here)
            if known is None:
                sources.add("both" if "table" in sources else self._source(here))
                moves += self.solver.best_line(here, clock=clock)
                break
            move, source = known
            sources.add(source)
            moves.append(move)
            here = here.play(move.number)
        return Line(asked, moves, _joined(sources))

    def best_move(self, position: object, *, clock: Deadline | None = None) -> RatedMove:
        """The first of `analyse`; asks only until one move fits."""
        asked = self._live(position)
        known = self._known_best(asked)
        return known[0] if known else self.solver.best_move(asked, clock=clock)

    def _by_distances(self, position: Position) -> Probe | None:
        """A position and every move with its distance, if a table or the openings have them all."""
        for table in self.tables:
            if table.has_distances:
                with contextlib.suppress(*NOT_IN_TABLE):
                    return table.probe(position)
        return probe_openings(position)

    def _known_best(self, position: Position) -> tuple[RatedMove, Source] | None:
        """The first of `analyse` and who knows it, if nothing has to be searched for it."""
        known = self._by_distances(position)
        if known is not None:
            return known.moves[0], known.source
        opening = look_up(position)
        if opening is None or opening.column is None or not opening.is_first:
            return None
        best = look_up_move(position, opening.column)
        return None if best is None else (best, "openings")

    @overload
    def probe_many(
        self,
        states: States | ArrayLike,
        b: ArrayLike | None = None,
        *,
        distances: Literal[False] = False,
    ) -> NDArray[np.int8]: ...
    @overload
    def probe_many(
        self, states: States | ArrayLike, b: ArrayLike | None = None, *, distances: Literal[True]
    ) -> Answers: ...
    def probe_many(
        self, states: States | ArrayLike, b: ArrayLike | None = None, *, distances: bool = False
    ) -> NDArray[np.int8] | Answers:
        """The values of many positions, and the plies, as `Table.probe_many` has them."""
        asked = self.board.checked_states(states, b)
        for table in self.tables:
            with contextlib.suppress(MissingTableError):
                reader = table.reader
                return reader.answers(asked) if distances else reader.values(asked)
        found = self.solver.solve_many(asked, distances)
        return Answers(found.values, found.plies) if distances else found.values

    def _source(self, position: Position) -> Source:
        """Who knew the value of a position whose distance was searched for."""
        return "both" if self.covers(position) else "search"

    def covers(self, position: Position) -> bool:
        """Whether a table knows the value of an unfinished position."""
        for table in self.tables:
            with contextlib.suppress(*NOT_IN_TABLE):
                table.probe_wdl(position)
                return True
        return False

    def _live(self, position: object) -> Position:
        asked = self.board.position(position)
        if asked.is_over():
            raise GameOverError(asked.check().over_message())
        return asked


def _joined(sources: set[Source]) -> Source:
    """Who knew a line: one of them alone, or several; openings were searched for once."""
    if len(sources) == 1:
        return next(iter(sources))
    return "both" if sources & {"table", "both"} else "search"
