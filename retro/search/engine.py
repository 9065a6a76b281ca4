"""What the solver asks of an engine. There are three of them, one for each kind of board.

    connect4   gravity and lines, up to 64 bits: the fastest, with tables as leaves, and threads
    generic    any game that kernels know
    ladder     boards beyond 64 cells: plain Python

A game's record names the module whose `make_search` makes its engine. An engine searches
in slices. Between two of them it tells its `Watch`, which shows progress, keeps the time
limit and lets Ctrl-C through.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, Self, TypeVar, get_args

import numpy as np

from retro.deadline import Deadline
from retro.errors import BadTextError, IllegalPositionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from retro.games.game import Board, Position, States

LeavesMode = Literal["auto", "on", "off"]
LEAST_MEMORY = 1_000  # bytes
NO_PLIES = -1  # where a distance was not asked for
P = TypeVar("P", bound="Position", contravariant=True)


class Table(Protocol):
    """What a search asks of a table."""

    @property
    def board(self) -> Board:
        """The board of the table."""

    @property
    def root(self) -> Position:
        """The position that the table starts from."""

    def get_wdl(self, position: object, default: None = None) -> int | None:
        """The value for the side to move; None where the table does not reach."""

    def is_ready_for(self, position: Position) -> bool:
        """Whether a look for a position is quick; the first one into a large table is not."""


class Options(NamedTuple):
    """How to search."""

    memory: int  # bytes of the transposition table
    threads: int | None = 1  # None: two, once a search is long and if a core is free
    leaves: LeavesMode = "auto"
    slice_nodes: int = 0  # of the engine of Connect Four; 0: as it likes

    def check(self) -> Self:
        """Return self if this can be asked for, else raise what is wrong."""
        if self.memory < LEAST_MEMORY:
            least = f"a search needs at least {LEAST_MEMORY:,} bytes of memory"
            raise BadTextError(f"{least}; this one may use {self.memory:,}")
        if self.threads is not None and self.threads < 1:
            raise BadTextError(f"found {self.threads} threads, wanted at least one")
        if self.leaves not in get_args(LeavesMode):
            wanted = ", ".join(get_args(LeavesMode))
            raise BadTextError(f"found leaves {self.leaves!r}, wanted one of {wanted}")
        if self.slice_nodes < 0:
            raise BadTextError(f"found slices of {self.slice_nodes:,} nodes, wanted some")
        return self


class Found(NamedTuple):
    """What a search found: the exact value for the side to move."""

    value: int
    plies: int | None  # to the end of the game; only if solved strongly
    nodes: int
    is_helped: bool = False  # a table took part


class Many(NamedTuple):
    """What a search of many positions found, an element for each."""

    values: NDArray[np.int8]
    plies: NDArray[np.int16]  # NO_PLIES unless solved strongly
    nodes: int  # of all of them


class Watch(NamedTuple):
    """Who looks on while an engine searches, and for how long."""

    deadline: Deadline
    report: Callable[[int, float, str], None]  # (nodes, seconds, what is asked or still open)

    def look(self, nodes: int, question: str) -> None:
        """Between two slices: show how far it is, and end it when its time is over."""
        self.report(nodes, self.deadline.spent, question)
        self.deadline.check(f"{nodes:,} nodes searched")


def unwatched() -> Watch:
    """Nobody looks on, and there is no limit."""
    return Watch(Deadline(), lambda *_: None)


class Engine(Protocol[P]):
    """A search of one board, with what it remembers from one question to the next.

    Positions are of the engine's board and, but for `check`, unfinished. Any number of threads
    may ask at the same moment (`turns`); who waits for another one looks at the `watch`, too.
    """

    def check(self, position: P) -> None:
        """Raise `IllegalPositionError` for what is no position; impossible counts may be."""

    def solve(self, position: P, known: int | None, strong: bool, watch: Watch) -> Found:
        """The value, with `strong` also the distance. `known` is the value if a table has it."""

    def forget(self) -> None:
        """Clear the transposition table."""

    def solve_within(self, position: P, nodes: int, watch: Watch) -> Found | None:
        """The value if so many nodes more find it. Asked again, it goes on from there."""

    def solve_at_once(self, position: P, watch: Watch, *, is_first: bool) -> Found | None:
        """Value and distance, if finding them takes no longer than a look at a table may.

        Or the first look into a large one.
        """

    def solve_many(self, states: States, strong: bool, watch: Watch) -> Many:
        """The values of many states, finished ones among them."""

    def best_move(self, position: P, watch: Watch) -> tuple[int, Found] | None:
        """A move that keeps value and distance; None if the solver should try all moves."""


def ask_tables(tables: Sequence[Table], position: Position) -> int | None:
    """The value by the first table that has it.

    Stones in impossible numbers, or that no order of moves leads to, are in none.
    """
    for table in tables:
        with contextlib.suppress(IllegalPositionError):
            value = table.get_wdl(position.check())
            if value is not None:
                return value
    return None


def contradiction(position: Position) -> str:
    """What to say of a table that gives a position another value than its moves have."""
    where = f"after {position.text}" if position.text else "at the start"
    name = position.board.name
    return f"a table of {name} contradicts the rules {where}: no move keeps the value"


def solve_each(
    board: Board, states: States, solve: Callable[[Position], tuple[int, int | None, int]]
) -> Many:
    """`solve_many` of an engine that has no better way: one position after the other."""
    values, plies = np.empty(states.size, np.int8), np.full(states.size, NO_PLIES, np.int16)
    total = 0
    for i, (a, b) in enumerate(zip(states.a.tolist(), states.b.tolist(), strict=True)):
        position = board.unpack(a, b)
        outcome = position.outcome()
        value, distance, nodes = solve(position) if outcome is None else (outcome, 0, 0)
        values[i], total = value, total + nodes
        plies[i] = NO_PLIES if distance is None else distance
    return Many(values, plies, total)
