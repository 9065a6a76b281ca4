"""The solver for people: positions in, exact values and distances out, in every game.

    rules?   a finished game has its value
    table?   a table that covers the position answers at once
    search?  otherwise the board's engine searches, in slices of nodes, so that progress
             can be shown, a time limit kept and Ctrl-C obeyed
    both?    a table gives the value and the search the distance; a long search of
             Connect Four takes plies of a table as perfect leaves

Values are for the side to move: +1 WIN, 0 DRAW, -1 LOSS; `plies` count to the
end of the game with the winner as fast and the loser as slow as possible (a
draw ends when nothing can be added).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, TypeGuard

from retro.answers import RatedMove, Solution, Source, order_moves
from retro.deadline import Deadline, check_seconds
from retro.errors import (
    BadTextError,
    DoesNotFitError,
    GameOverError,
    TablebaseError,
    VerificationError,
    WrongBoardError,
)
from retro.games.catalogue import make_board
from retro.games.game import Position, States
from retro.memory import DEFAULT_MEMORY, MEGABYTE, memory_bytes
from retro.search.engine import Options, Watch, ask_tables, contradiction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike

    from retro.games.game import Board
    from retro.search.engine import Engine, Found, LeavesMode, Many, Table

MOST_CELLS = 64  # of a board that kernels take


def is_large(board: Board) -> bool:
    """Whether a board is too large for kernels, but not for the plain ladder, which is slow."""
    return bool(board.game.search_large) and board.cells > MOST_CELLS


class Solver:
    """An exact solver for one board; keeps what it has proved from one question to the next.

    Any number of threads may ask one solver at the same moment. Its memory belongs to one of
    them at a time, for some tenths of a second in turn: each answer is as right as if it were asked
    alone, a short question need not wait for the end of a long one, and one that waits keeps its
    time limit and reports. Who has cores to spare gives each thread a solver of its own.

    Parameters
    ----------
    board
        A `Board`, or text that `make_board` reads: `"7x6"`, `"mnk 4x4 connect=4"`.
    memory
        What the transposition table may take, as `"4G"` or in bytes. Plies of a table that serve as
        leaves take at most as much again.
    tables
        Open tables of the same board: they answer what they cover, and the first of
        them that has plies to come serves long searches of Connect Four as leaves.
    threads
        Threads that share the transposition table, from the second slice of a search on;
        only Connect Four's engine uses more than one. None: one, and two once a search has
        taken a second, if a core is free. The answers are the same.
    time_limit
        Seconds per question, however many searches that means; `TimeLimitError` when
        they are over, never a guess.
    report
        Called with (nodes, seconds, what is asked or still open) between slices, about twice
        a second, by the thread that asks, also while it waits for another one; may raise to
        end the search.
    leaves
        Whether tables serve as leaves: "auto" once a search is long and while it pays,
        "on" from the start, or "off".
    **options
        Options of the game (`"mnk 4x4", connect=4`), and two more.

    Other Parameters
    ----------------
    memory_mb
        The memory in megabytes, a million bytes each.
    slice_nodes
        Nodes between two looks of Connect Four's engine at the clock; 0: as it likes.

    Examples
    --------
    >>> solver = Solver("4x4", memory="1M")
    >>> found = solver.solve("", strong=True)
    >>> found.value, found.plies, found.source
    (DRAW, 16, 'search')
    >>> solver = Solver("mnk 3x3", memory="1M")
    >>> [(move.move, move.plies) for move in solver.analyse("b2 b1")][:2]
    [('a1', 5), ('c1', 5)]
    """

    def __init__(
        self,
        board: str | Board,
        *,
        memory: str | int = DEFAULT_MEMORY,
        tables: Sequence[Table] = (),
        threads: int | None = None,
        time_limit: float | None = None,
        report: Callable[[int, float, str], None] = lambda *_: None,
        leaves: LeavesMode = "auto",
        **options: object,
    ) -> None:
        megabytes = _take_number(options, "memory_mb")
        given = memory_bytes(memory if megabytes is None else megabytes * MEGABYTE)
        slice_nodes = _take_number(options, "slice_nodes") or 0
        self.board: Board = make_board(board, **options)
        for table in tables:
            if table.board != self.board:
                raise WrongBoardError(f"found a table of {table.board.name} for {self.board.name}")
        self.time_limit = check_seconds(time_limit)
        self._tables, self._report = tables, report
        self._options = Options(given, threads, leaves, slice_nodes)
        self._engine = _make_engine(self.board, self._options.check(), tables)

    def __repr__(self) -> str:
        return f"<Solver {self.board.title}, {self._options.memory:,} bytes of memory>"

    def solve(
        self, position: object, strong: bool = False, *, clock: Deadline | None = None
    ) -> Solution:
        """The value of a position, finished or not; with `strong` also its distance.

        Takes every form that `Board.position` does. The counts of stones need not be
        possible. `clock` is that of a larger question which this one is part of.
        """
        return self._solve(self._checked(position), strong, self._watch(clock))

    def solve_many(
        self,
        states: States | tuple[ArrayLike, ArrayLike] | Iterable[object],
        strong: bool = False,
        *,
        clock: Deadline | None = None,
    ) -> Many:
        """Values and distances of many positions, as arrays: `values`, `plies`, and all `nodes`.

        Takes `States`, a pair of arrays of words, or anything that `Board.states` does.

        >>> solver = Solver("4x4", memory="1M")
        >>> solver.solve_many(["", "1", "121212"], strong=True).plies
        array([16, 15,  1], dtype=int16)
        """
        if isinstance(states, States):
            asked = self.board.checked_states(states)
        elif _is_pair_of_words(states):
            asked = self.board.states_of(*states)
        else:
            asked = self.board.states([self._checked(thing) for thing in states])
        return self._engine.solve_many(asked, strong, self._watch(clock))

    def solve_within(
        self, position: object, nodes: int, *, clock: Deadline | None = None
    ) -> Solution | None:
        """The value of a position if so many nodes find it; asked again it goes on from there."""
        asked = self._checked(position)
        outcome = asked.outcome()
        if outcome is not None:
            return Solution(outcome, 0, 0, "rules")
        found = self._engine.solve_within(asked, nodes, self._watch(clock))
        return None if found is None else Solution(found.value, None, found.nodes, "search")

    def analyse(self, position: object, *, clock: Deadline | None = None) -> list[RatedMove]:
        """Every legal move with its value and distance for the mover, best first."""
        return self._analyse(self._live(position), self._watch(clock))

    def best_line(self, position: object, *, clock: Deadline | None = None) -> list[RatedMove]:
        """One line of best play to the end of the game: always the first of the best moves."""
        return self._line(self._live(position), self._watch(clock))

    def analyse_and_line(
        self, position: object, *, clock: Deadline | None = None
    ) -> tuple[list[RatedMove], list[RatedMove]]:
        """What `analyse` and `best_line` say, as one question."""
        live, watch = self._live(position), self._watch(clock)
        moves = self._analyse(live, watch)
        return moves, [moves[0], *self._line(live._play(moves[0].number), watch)]

    def forget(self) -> None:
        """Forget everything that was proved: the next question begins with nothing."""
        self._engine.forget()

    def best_move(self, position: object, *, clock: Deadline | None = None) -> RatedMove:
        """The first of `analyse`; asks only until one move fits."""
        return self._best(self._live(position), self._watch(clock))

    def _watch(self, clock: Deadline | None) -> Watch:
        return Watch(clock or Deadline(self.time_limit), self._report)

    def _checked(self, position: object) -> Position:
        checked = self.board.position(position)
        self._engine.check(checked)
        return checked

    def _live(self, position: object) -> Position:
        live = self._checked(position)
        if live.is_over():
            raise GameOverError(live.over_message())
        return live

    def _solve(self, position: Position, strong: bool, watch: Watch) -> Solution:
        outcome = position.outcome()
        if outcome is not None:
            return Solution(outcome, 0, 0, "rules")
        known = ask_tables(self._tables, position) if self._tables else None
        if known is not None and not strong:
            return Solution(known, None, 0, "table")
        found = self._engine.solve(position, known, strong, watch)
        source: Source = "both" if found.is_helped else "search"
        if known is not None and not found.nodes:
            source = "table"
        return Solution(found.value, found.plies, found.nodes, source)

    def _analyse(self, position: Position, watch: Watch) -> list[RatedMove]:
        return order_moves(self._rate(position, move, watch) for move in position._in_order())

    def _rate(self, position: Position, move: int, watch: Watch) -> RatedMove:
        watch.deadline.check()
        after = position._play(move)
        reply = self._at_once(after, watch) or self._solve(after, True, watch)
        assert reply.plies is not None
        return RatedMove(position._text_of(move), move, -reply.value, 1 + reply.plies)

    def _at_once(self, position: Position, watch: Watch) -> Found | None:
        """What a few nodes find: a look at a table would take longer."""
        is_asked = bool(self._tables) and not position.is_over()
        if not is_asked:
            return None
        is_first = not all(table.is_ready_for(position) for table in self._tables)
        return self._engine.solve_at_once(position, watch, is_first=is_first)

    def _line(self, position: Position, watch: Watch) -> list[RatedMove]:
        line: list[RatedMove] = []
        while not position.is_over():
            line.append(self._best(position, watch, line[-1] if line else None))
            position = position._play(line[-1].number)
        return line

    def _best(self, position: Position, watch: Watch, before: RatedMove | None = None) -> RatedMove:
        """A best move; `before` is the one that led here, if that was a best one, too."""
        watch.deadline.check()
        chosen = self._engine.best_move(position, watch)
        if chosen is not None:
            move, found = chosen
            return RatedMove(position._text_of(move), move, found.value, found.plies)
        if before is not None and before.plies is not None:
            wanted: tuple[int, int | None] = -before.value, before.plies - 1
        else:
            whole = self._at_once(position, watch) or self._solve(position, True, watch)
            wanted = whole.value, whole.plies
        for move in position._in_order():
            rated = self._rate(position, move, watch)
            if (rated.value, rated.plies) == wanted:
                return rated
        raise VerificationError(contradiction(position))


def _take_number(options: dict[str, object], name: str) -> int | None:
    """Take an option that is not the game's from those given."""
    number = options.pop(name, None)
    if number is not None and not isinstance(number, int):
        raise BadTextError(f"found {name} {number!r}, wanted a whole number")
    return number


def _is_pair_of_words(things: object) -> TypeGuard[tuple[ArrayLike, ArrayLike]]:
    """Whether things are two arrays of words, not two positions."""
    if not isinstance(things, tuple) or len(things) != 2:
        return False
    return not any(isinstance(thing, str | Position) for thing in things)


def _make_engine(board: Board, options: Options, tables: Sequence[Table]) -> Engine[Position]:
    """The engine that the game's record names for boards of this size."""
    game = board.game
    module = import_module(game.search_large if is_large(board) else game.search)
    try:
        engine: Engine[Position] = module.make_search(board, options, tables)
    except TablebaseError:
        raise
    except ValueError as error:
        raise BadTextError(f"found {options.memory:,} bytes for {board}: {error}") from None
    except MemoryError:
        text = f"a table of {options.memory:,} bytes does not fit in memory"
        raise DoesNotFitError(text) from None
    return engine
