"""Exact answers for every position of a board: from its tables, else by search.

    a table covers it?      -> the table answers, in microseconds    source "table"
    otherwise               -> the solver does, in microseconds to
                               minutes                               source "search"

The first plies of 7x6, with distances, are shipped as a table like any other; tables with
distances are asked first.

All give the same values in the same order (`retro.answers`), so a caller need not
know who answered; `source` says it. Distances come from a table that was built
with them; from others come values, and the solver searches for the distances. So lines and
analyses are the same with and without tables.
"""

from __future__ import annotations

import contextlib
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from retro.answers import Answers, Line, Probe, RatedMove, Solution, order_moves
from retro.deadline import Deadline, check_seconds
from retro.errors import (
    GameOverError,
    IllegalPositionError,
    MissingTableError,
    VerificationError,
    WrongBoardError,
)
from retro.games.catalogue import make_board
from retro.games.game import Position, States
from retro.memory import DEFAULT_MEMORY, memory_bytes
from retro.once import once
from retro.search.engine import Options, contradiction
from tablebase.files.atomic import Closing
from tablebase.files.places import (
    build_command,
    rooted_paths,
    shipped_line,
    shipped_path,
    table_path,
)
from tablebase.tables import Table, open_checked, open_tablebase
from tablebase.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from retro.answers import Source
    from retro.games.game import Board
    from retro.search import Solver
    from retro.search.engine import LeavesMode

NOT_COVERED = "no table covers all that is asked"
# It does not reach there, or no play leads there: a Domineering board with holes, say. What
# is against the rules the solver refuses as well.
NOT_IN_TABLE = (MissingTableError, IllegalPositionError)


def oracle(
    board: Board | str,
    *,
    folder: Path | str | None = None,
    memory: str | int = DEFAULT_MEMORY,
    time_limit: float | None = None,
    threads: int | None = None,
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
    (DRAW, 'search', ['2', '3', '1', '4'])
    """
    asked = make_board(board)
    found = Oracle(asked, memory=memory, time_limit=time_limit, threads=threads, leaves=leaves)
    found.tables = open_tables(asked, folder)  # now that nothing refuses the question
    why = NOT_COVERED
    if not found.tables:
        start = asked.start()
        command = build_command(start, folder)
        why = f"no table at {table_path(start, folder)}; build it with: {command}"
    found.before_search, found.report = lambda: before_search(why), report
    return found


def open_tables(board: Board, folder: Path | str | None = None) -> list[Table]:
    """The tables that are there, those with distances first; the caller closes them.

    That of the whole board, else those from a root; and the one that is shipped.
    """
    start = board.start()
    whole, shipped = table_path(start, folder), shipped_path(start)
    with contextlib.ExitStack() as stack:
        if whole.exists():
            tables = [stack.enter_context(open_checked(whole, start))]
        else:
            paths = rooted_paths(board, folder)
            tables = [stack.enter_context(open_tablebase(path)) for path in paths]
        for table in tables:
            if table.board != board:
                raise WrongBoardError(f"{table.path} holds {table.title}, not {board.name}")
        if shipped is not None:
            tables.append(stack.enter_context(open_checked(shipped, start)))
        tables.sort(key=lambda table: not table.has_distances)
        stack.pop_all()
    return tables


def analyse(
    position: object = "", board: Board | str = "", *, folder: Path | str | None = None
) -> Probe:
    """The value and distance of a position and of every move: one question in one call.

    `board` is the usual 7x6 unless it is named or the position has one. Tables that are there
    answer first, then the solver; both are kept for the next question.

    >>> analyse("b2 a1", "tictactoe").best[0].plies
    7
    """
    return _kept_for(position, board, folder).analyse(position)


def solve(
    position: object = "",
    board: Board | str = "",
    *,
    strong: bool = False,
    folder: Path | str | None = None,
) -> Solution:
    """The value of a position, finished or not; with `strong` also its distance.

    >>> solve("b2 a2", "tictactoe", strong=True).to_dict()["plies"]
    5
    """
    return _kept_for(position, board, folder).solve(position, strong)


MOST_KEPT = 8  # oracles of `analyse` and `solve`


def _kept_for(position: object, board: Board | str, folder: Path | str | None) -> Oracle:
    """The oracle of a question; another one once there are other tables."""
    if not board and isinstance(position, Position):
        board = position.board
    asked = make_board(board)
    whole = table_path(asked.start(), folder)
    paths = [whole, *rooted_paths(asked, folder)]
    stamps = [(str(path), path.stat().st_mtime_ns) for path in paths if path.exists()]
    return _keep(asked, folder, tuple(stamps))


@lru_cache(maxsize=MOST_KEPT)
def _keep(board: Board, folder: Path | str | None, stamps: tuple[tuple[str, int], ...]) -> Oracle:
    return oracle(board, folder=folder)


class Oracle(Closing):
    """A board's tables, if there are any, with the solver behind them.

    Any number of threads may ask one oracle at the same moment: tables answer them side by
    side, searches take turns, as those of one `Solver` do.
    """

    def __init__(
        self,
        board: Board,
        tables: Sequence[Table] = (),
        *,
        memory: str | int = DEFAULT_MEMORY,
        time_limit: float | None = None,
        threads: int | None = None,
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

    @once
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
            if asked.history is None:  # perhaps put together by hand
                asked.check()
            return Solution(outcome, 0, 0, "rules")
        for table in self.tables:
            with contextlib.suppress(*NOT_IN_TABLE):
                plies = table.probe_plies(asked) if strong else None
                return Solution(table.probe_wdl(asked), plies, 0, "table")
        return self.solver.solve(asked, strong, clock=clock)

    def probe(self, position: object, *, clock: Deadline | None = None) -> Probe:
        """The value of a position and of every legal move, best first, and who knew it."""
        asked = self._live(position)
        for table in self.tables:
            with contextlib.suppress(*NOT_IN_TABLE):
                return table.probe(asked)
        clock = clock or Deadline(self.time_limit)
        moves = []
        for move in asked._in_order():
            clock.check()  # a short search does not look at it
            moves.append(self.rate_move(asked, move, clock=clock))
        moves = order_moves(moves)
        return Probe(asked, moves[0].value, moves, self._source(asked, moves[0].value))

    def rate_move(
        self, position: Position, move: int, strong: bool = False, *, clock: Deadline | None = None
    ) -> RatedMove:
        """What a move is worth to the player who makes it; with `strong` also its distance."""
        after = position._play(move)
        reply = self.solve(after, strong, clock=clock)
        plies = 1 if after.is_over() else None if reply.plies is None else reply.plies + 1
        return RatedMove(position._text_of(move), move, -reply.value, plies)

    def analyse(self, position: object, *, clock: Deadline | None = None) -> Probe:
        """The value and the distance of a position and of every legal move, best first."""
        asked = self._live(position)
        known = self._by_distances(asked)
        if known is not None:
            return known
        moves = self.solver.analyse(asked, clock=clock)
        return Probe(asked, moves[0].value, moves, self._source(asked, moves[0].value))

    def best_line(self, position: object, *, clock: Deadline | None = None) -> Line:
        """Best play to the end of the game, as long as `analyse` says."""
        asked = here = self._live(position)
        moves: list[RatedMove] = []
        while not here.is_over():
            known = self._by_distances(here)
            if known is None:
                rest = _shipped_rest(here) or self.solver.best_line(here, clock=clock)
                source = "both" if moves else self._source(here, rest[0].value)
                return Line(asked, moves + rest, source)
            moves.append(known.moves[0])
            here = here._play(moves[-1].number)
        return Line(asked, moves, "table")

    def best_move(self, position: object, *, clock: Deadline | None = None) -> RatedMove:
        """The first of `analyse`; asks only until one move fits."""
        asked = self._live(position)
        known = self._by_distances(asked)
        return known.moves[0] if known else self.solver.best_move(asked, clock=clock)

    def _by_distances(self, position: Position) -> Probe | None:
        """A position and every move with its distance, if a table has them all."""
        for table in self.tables:
            if table.has_distances:
                with contextlib.suppress(*NOT_IN_TABLE):
                    return table.probe(position)
        return None

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
        values, plies = np.empty(asked.size, np.int8), np.empty(asked.size, np.int16)
        rest = np.ones(asked.size, np.bool_)
        for ply in np.unique(asked.ply) if self.tables else ():
            here = np.flatnonzero(asked.ply == ply)
            known = self._by_tables(_some(asked, here), distances=distances)
            if known is not None:
                values[here], plies[here], rest[here] = *known, False
        if rest.any():
            try:
                found = self.solver.solve_many(_some(asked, np.flatnonzero(rest)), distances)
            except IllegalPositionError:
                self.solver.solve_many(asked, distances)  # tells which of all it is
                raise
            values[rest], plies[rest] = found.values, found.plies
        return Answers(values, plies) if distances else values

    def _by_tables(self, states: States, *, distances: bool) -> Answers | None:
        """What the first table says that has all of some states; else nothing."""
        for table in self.tables:
            with contextlib.suppress(*NOT_IN_TABLE):
                if not distances:
                    return Answers(table.reader.values(states), np.zeros(states.size, np.int16))
                if table.has_distances:
                    return table.reader.answers(states)
        return None

    def _source(self, position: Position, value: int) -> Source:
        """Who knew the value of a position of which something was searched for.

        A search that was over before it asked a table found the value itself: they must agree.
        Nobody looks for the first time into a large table that has it, only to compare.
        """
        for table in self.tables:
            with contextlib.suppress(*NOT_IN_TABLE):
                if not table.is_ready_for(position):
                    return "both"
                if table.probe_wdl(position) != value:
                    raise VerificationError(contradiction(position))
                return "both"
        return "search"

    def covers(self, position: Position, *, distances: bool = False) -> bool:
        """Whether a table knows the value of an unfinished position, or its distance, too."""
        for table in self.tables:
            if table.has_distances or not distances:
                with contextlib.suppress(*NOT_IN_TABLE):
                    table.probe_wdl(position)
                    return True
        return False

    @property
    def reaches_the_end(self) -> bool:
        """Whether a table has the last plies, so that what is asked of it is not searched."""
        return any(table.plies[-1] == self.board.last_ply for table in self.tables)

    def _live(self, position: object) -> Position:
        asked = self.board.position(position)
        if asked.is_over():
            raise GameOverError(asked.check().over_message())
        return asked


def _some(states: States, which: NDArray[np.int64]) -> States:
    """Some of many states."""
    return States(states.a[which], states.b[which], states.ply[which])


def _shipped_rest(here: Position) -> list[RatedMove]:
    """What follows a position in the line that is shipped, as a search found it; else nothing."""
    path, moves = [here.board.start()], []
    for word in shipped_line(path[0]):
        moves.append(path[-1]._number_of(word))
        path.append(path[-1]._play(moves[-1]))
    outcome = path[-1].outcome()
    if here.ply >= len(moves) or path[here.ply]._state != here._state or outcome is None:
        return []
    rest = []
    for ply, move in enumerate(moves[here.ply :], here.ply):
        left = len(moves) - ply  # who makes the last move, makes every second one before
        value = -outcome if left % 2 else outcome
        rest.append(RatedMove(path[ply]._text_of(move), move, value, left))
    return rest
