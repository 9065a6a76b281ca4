"""The solver for people: positions in, exact values and distances out.

    table?   a table that covers the position answers at once
    search?  otherwise the engine searches, in slices of nodes, so that progress
             can be shown, a time limit kept and Ctrl-C obeyed between slices
    both?    a table gives the value and the search the distance; a search that
             takes long loads plies of the table as perfect leaves

Values are for the side to move: +1 WIN, 0 DRAW, -1 LOSS; `plies` count to the
end of the game with the winner as fast and the loser as slow as possible (a
draw ends when the board is full).
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any, Literal, Protocol

from retro.errors import (
    BadTextError,
    DoesNotFitError,
    GameOverError,
    TimeLimitError,
    WrongBoardError,
)
from retro.games.connect import DEFAULT_CONNECT, Board, Position
from retro.games.connect_text import as_position, column_text
from retro.games.rated import RatedMove, centre_first, order_moves
from retro.games.values import DRAW, WIN
from retro.search.engine_goals import Answer, Engine, fork, make_engine, open_window
from retro.search.engine_goals import solve as engine_solve
from retro.search.engine_leaves import Leaves, NoLeaves

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DEFAULT_MEMORY_MB = 1024
SLICE_NODES = 1_000_000  # about half a second
THREAD_NODES = 50_000  # a thread looks so often whether another one is done
LEAVES_AFTER_NODES = 1_000_000  # reading a table takes seconds: not for a search that is quicker


class Probe(Protocol):
    """What the solver asks of a table."""

    @property
    def board(self) -> Board:
        """The board of the table."""

    def get_wdl(self, position: Any, default: None = None) -> int | None:
        """The value for the side to move, or None."""

    def leaves(self, first_ply: int, max_bytes: int) -> Leaves | None:
        """Plies from `first_ply` on in memory, as many as fit, or None."""


Source = Literal["table", "search", "both"]


@dataclass(frozen=True)
class Solution:
    """The exact value of a position for the side to move."""

    value: int
    plies: int | None  # to the end of the game; only if solved strongly
    nodes: int
    source: Source


@dataclass(frozen=True)
class Stones:
    """A gravity-legal arrangement with a side to move, whatever its counts."""

    board: Board
    mover: int
    other: int

    @classmethod
    def of(cls, position: Position) -> Stones:
        return cls(position.board, position.mover, position.opponent)

    def require_live(self) -> None:
        """Raise unless the game can go on here."""
        board = self.board
        both = self.mover | self.other
        board.require_gravity(both)
        if board.has_line(self.mover) or board.has_line(self.other):
            raise GameOverError(f"the game is over: a player has {board.goal}")
        if both.bit_count() == board.cells:
            raise GameOverError("the game is over: the board is full, a draw")

    def columns(self) -> list[int]:
        """The columns that take one more stone."""
        both = self.mover | self.other
        full = self.board.column_mask
        return [c for c in range(self.board.width) if both & full(c) != full(c)]

    def play(self, column: int) -> Stones:
        both = self.mover | self.other
        height = (both & self.board.column_mask(column)).bit_count()
        return Stones(self.board, self.other, self.mover | self.board.bit(column, height))

    def is_over(self) -> bool:
        both = self.mover | self.other
        return both.bit_count() == self.board.cells or self.board.has_line(self.other)


class Solver:
    """An exact solver for one board; keeps what it has proved from one question to the next.

    Parameters
    ----------
    board
        `"7x6"` or a `Board`.
    connect
        Stones in a winning line, if `board` is text.
    memory_mb
        Size of the transposition table; plies of a table take at most as much again.
    tables
        Open tables of the same board: they answer what they cover, and the first
        of them that has plies to come serves long searches as perfect leaves.
    threads
        Threads that share the transposition table, from the second slice of a search on.
    time_limit
        Seconds per question, however many searches that means; `TimeLimitError` when
        they are over, never a guess.
    report
        Called with (nodes, seconds, what is still open) after every `slice_nodes` nodes;
        may raise to end the search.

    Examples
    --------
    >>> solver = Solver("4x4", memory_mb=1)
    >>> found = solver.solve("", strong=True)
    >>> found.value, found.plies, found.source
    (0, 16, 'search')
    """

    def __init__(
        self,
        board: str | Board,
        connect: int = DEFAULT_CONNECT,
        *,
        memory_mb: int = DEFAULT_MEMORY_MB,
        tables: Sequence[Probe] = (),
        threads: int = 1,
        time_limit: float | None = None,
        report: Callable[[int, float, str], None] = lambda *_: None,
        slice_nodes: int = SLICE_NODES,
    ) -> None:
        self.board = Board.parse(board, connect) if isinstance(board, str) else board
        for table in tables:
            if table.board != self.board:
                raise WrongBoardError(f"found a table of {table.board.name} for {self.board.name}")
        self._tables = tables
        self._memory = memory_mb << 20
        self._threads = threads
        self._time_limit = time_limit
        self._begin = 0.0  # of the question
        self._report = report
        self._slice_nodes = slice_nodes
        self._leaves_after = 0  # the ply before the leaves in memory, if there are any
        self._leaves_asked = False
        sizes = (self.board.width, self.board.height, self.board.connect)
        try:
            self._engine = make_engine(*sizes, memory=self._memory)
        except ValueError as error:
            raise BadTextError(f"found {memory_mb} MB for {self.board}: {error}") from None
        except MemoryError:
            raise DoesNotFitError(f"a table of {memory_mb:,} MB does not fit in memory") from None

    def solve(self, position: Any, strong: bool = False) -> Solution:
        """The value of a position; with `strong` also its distance.

        Takes every form that `connect_text.as_position` does, and `Stones`,
        whose counts need not be possible.
        """
        self._begin = time.monotonic()
        return self._solve(self._stones(position), strong)

    def solve_within(self, position: Any, nodes: int) -> Solution | None:
        """The value of a position if a search of so many nodes finds it; the table remembers."""
        stones = self._stones(position)
        both = stones.mover | stones.other
        answer = engine_solve(self._engine, stones.mover, both, False, nodes)
        return Solution(answer.value, None, answer.nodes, "search") if answer.done else None

    def analyse(self, position: Any) -> list[RatedMove]:
        """Every legal move with its value and distance for the mover, best first."""
        self._begin = time.monotonic()
        return self._analyse(self._stones(position))

    def best_line(self, position: Any) -> list[RatedMove]:
        """One line of best play to the end of the game: always the first of the best moves."""
        return self.analyse_and_line(position)[1]

    def analyse_and_line(self, position: Any) -> tuple[list[RatedMove], list[RatedMove]]:
        """What `analyse` and `best_line` say, as one question."""
        self._begin = time.monotonic()
        stones = self._stones(position)
        moves = self._analyse(stones)
        line = moves[:1]
        while not (stones := stones.play(line[-1].number)).is_over():
            line.append(self._analyse(stones)[0])
        return moves, line

    def _analyse(self, stones: Stones) -> list[RatedMove]:
        moves = []
        for column in centre_first(stones.columns(), self.board.width):
            after = stones.play(column)
            if after.is_over():
                value, plies = (WIN if self.board.has_line(after.other) else 0), 1
            else:
                self._check_time()
                reply = self._solve(after, strong=True)
                value, plies = -reply.value, 1 + (reply.plies or 0)
            moves.append(RatedMove(column_text(column), column, value, plies))
        return order_moves(moves)

    def _stones(self, position: Any) -> Stones:
        is_stones = isinstance(position, Stones)
        stones = position if is_stones else Stones.of(as_position(self.board, position))
        stones.require_live()
        return stones

    def _as_game(self, stones: Stones) -> Any:
        """The same question as a game position: bitboards of the first and second player."""
        if (stones.mover | stones.other).bit_count() % 2:
            return stones.other, stones.mover
        return stones.mover, stones.other

    def _solve(self, stones: Stones, strong: bool) -> Solution:
        answers = (table.get_wdl(self._as_game(stones)) for table in self._tables)
        known = next((value for value in answers if value is not None), None)
        if known is not None and not strong:
            return Solution(known, None, 0, "table")
        if known == DRAW:
            empty = self.board.cells - (stones.mover | stones.other).bit_count()
            return Solution(DRAW, empty, 0, "table")
        return self._search(stones, strong, known)

    def _search(self, stones: Stones, strong: bool, known: int | None) -> Solution:
        begin, both = time.monotonic(), stones.mover | stones.other
        answer = self._slice([self._engine], stones, strong, known)
        nodes = answer.nodes
        while not answer.done:
            seconds = time.monotonic() - begin
            self._report(nodes, seconds, open_window(self._engine.board, answer, both))
            self._check_time(f" ({nodes:,} nodes searched)")
            if nodes >= LEAVES_AFTER_NODES:
                self._load_leaves(both.bit_count())
            helpers = [fork(self._engine, seed) for seed in range(1, self._threads)]
            answer = self._slice([self._engine, *helpers], stones, strong, known)
            nodes += answer.nodes
        # The transposition table may remember what a tablebase said before.
        has_help = known is not None or self._has_asked_leaves()
        source: Source = "both" if has_help else "search"
        return Solution(answer.value, answer.plies if strong else None, nodes, source)

    def _check_time(self, so_far: str = "") -> None:
        limit = self._time_limit
        if limit is not None and time.monotonic() - self._begin >= limit:
            raise TimeLimitError(f"not solved within {limit:g} s{so_far}")

    def _slice(
        self, engines: list[Engine], stones: Stones, strong: bool, known: int | None
    ) -> Answer:
        """Search some more, one thread for each engine: the best answer, the nodes of all.

        Every word of the shared table is read and written whole and says something
        proved, so whoever is done first is right.
        """
        both = stones.mover | stones.other
        if len(engines) == 1:
            return engine_solve(engines[0], stones.mover, both, strong, self._slice_nodes, known)
        solved = Event()

        def ask(engine: Engine) -> Answer:
            nodes = 0
            while True:
                answer = engine_solve(engine, stones.mover, both, strong, THREAD_NODES, known)
                nodes += answer.nodes
                if answer.done:
                    solved.set()
                if solved.is_set() or nodes >= self._slice_nodes:
                    return answer._replace(nodes=nodes)

        with ThreadPoolExecutor(len(engines)) as pool:
            answers = list(pool.map(ask, engines))
        best = max(answers, key=lambda answer: answer.done)
        return best._replace(nodes=sum(answer.nodes for answer in answers))

    def _load_leaves(self, ply: int) -> None:
        """Have the plies of a table that follow `ply` in memory, as many as fit."""
        if self._leaves_after <= ply < self._engine.leaves.last_ply:
            return
        self._leaves_asked = self._has_asked_leaves()
        self._engine = self._engine._replace(leaves=NoLeaves())  # room for the new ones
        for table in self._tables:
            leaves = table.leaves(ply + 1, self._memory)
            if leaves is not None:
                self._engine = self._engine._replace(leaves=leaves)
                self._leaves_after = ply
                return

    def _has_asked_leaves(self) -> bool:
        leaves = self._engine.leaves
        return self._leaves_asked or (isinstance(leaves, Leaves) and bool(leaves.hits[0]))
