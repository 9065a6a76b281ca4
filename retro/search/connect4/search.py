"""A question to the engine of Connect Four in slices of nodes, on threads, with tables as leaves.

    slice 1      one thread; most questions end here
    slice 2...   all threads, or two after a second if a core is free; once a search is
                 long, the plies of a table that follow the position are read as perfect
                 leaves, if one has them

Every thread keeps its place between slices, so that each slice is progress however small
the transposition table is, and so does every question: others may be asked in between (`turns`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

import numpy as np

from retro.cores import free_cores
from retro.errors import IllegalPositionError
from retro.games.values import DRAW, LOSS
from retro.search.connect4.goals import (
    SLICE_NODES,
    Answer,
    Engine,
    Questions,
    make_engine,
    make_helper,
    make_room,
    make_scratch,
    open_window,
    plies_of_scores,
    solve_checked,
    solve_some,
    with_scratch,
)
from retro.search.connect4.leaves import ANSWERED, ASKED, DECIDED, Leaves, NoLeaves
from retro.search.engine import NO_PLIES, Found, Many, ask_tables, unwatched
from retro.search.turns import Spare, Turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from retro.games.connect4.rules import Connect4Board, Connect4Position
    from retro.games.game import States
    from retro.search.connect4.engine import Stack
    from retro.search.engine import Options, Table, Watch

QUICK_NODES = 40_000  # as long as two looks at a table of 7x6 without kernels
FIRST_NODES = 400_000  # as long as the first look, for which a half of the board is counted
SECONDS_ALONE = 1.0  # of a search, before it takes a core from others
THREAD_NODES = 50_000  # a thread looks so often whether another one is done
LEAVES_AFTER_NODES = 1_000_000  # reading a table takes seconds: not for a search that is quicker
JUDGED_AFTER = 20_000  # questions to a table before it is judged whether they pay
WORTH_ASKING = 16  # of so many answers at least one must decide something


class LeafTable(Protocol):
    """A table that can serve as leaves."""

    def leaves(self, first_ply: int, max_bytes: int) -> Leaves | None:
        """Plies from `first_ply` on in memory, as many as fit, or None."""


class Asked(NamedTuple):
    """A question: the stones of the side to move and of the other one."""

    mover: int
    other: int

    @property
    def both(self) -> int:
        return self.mover | self.other

    @property
    def ply(self) -> int:
        return self.both.bit_count()


def make_search(
    board: Connect4Board, options: Options, tables: Sequence[Table] = ()
) -> Connect4Search:
    """The engine of a board.

    Raises
    ------
    ValueError
        If the table is too small for the board.
    MemoryError
        If there is not so much memory.
    """
    return Connect4Search(board, options, tables)


class Connect4Search:
    """The engine of Connect Four as the solver asks it, from any number of threads.

    Of the engine the scratch memory is that of a *team*, the threads of one question: the
    first of them asks, the others help. All else, the plies of a table in memory among it,
    belongs to whoever has the turn.
    """

    def __init__(self, board: Connect4Board, options: Options, tables: Sequence[Table]) -> None:
        self._board, self._options, self._tables = board, options, tables
        self._slice_nodes = options.slice_nodes or SLICE_NODES
        self._engine = make_engine(board.width, board.height, board.connect, options.memory)
        self._turns = Turns()
        self._teams: Spare[list[Stack]] = Spare(lambda: [make_scratch(self._engine)])
        self._leaves_after = -1  # the ply before the leaves in memory, if there are any
        self._is_helped = False  # the transposition table may remember what a table said
        self._given_up = {False, True} if options.leaves == "off" else set[bool]()

    def check(self, position: Connect4Position) -> None:
        """Refuse stones that float, and a line of the side to move; the board knows its cells."""
        if position.history is not None:
            return  # it was played
        board, both = self._board, position.mover | position.opponent
        if both >> 1 & board.full & ~both:
            board.require_gravity(both)
        if board.has_line(position.mover):
            raise IllegalPositionError(
                f"the side to move already has {board.goal}: the game ended before this"
            )

    def solve(
        self, position: Connect4Position, known: int | None, strong: bool, watch: Watch
    ) -> Found:
        """The value, with `strong` also the distance. `known` is the value if a table has it."""
        asked = Asked(position.mover, position.opponent)
        with self._teams.take() as team:
            with self._turns.take(watch):
                self._count_afresh()
                if self._options.leaves == "on":
                    self._use_leaves(asked, strong)
                answer = self._alone(team, asked, strong, self._slice_nodes, known)
                is_helped = self._has_asked_leaves()
            nodes, threads = answer.nodes, self._options.threads or 1
            while not answer.done:
                watch.look(nodes, open_window(self._engine.board, answer, asked.both))
                with self._turns.take(watch, nodes):
                    make_room(self._engine)
                    if nodes >= LEAVES_AFTER_NODES:
                        self._use_leaves(asked, strong)
                    threads = max(threads, self._threads(watch))
                    answer = self._slice(team, threads, asked, strong, known)
                    is_helped |= self._has_asked_leaves()
                nodes += answer.nodes
        is_helped |= known is not None
        return Found(answer.value, answer.plies if strong else None, nodes, is_helped)

    def forget(self) -> None:
        """Clear the transposition table, what tables said, and where searches stopped."""
        with self._turns.take(unwatched()):
            self._engine.table[: self._engine.words] = 0
            self._set_leaves(NoLeaves())
            self._is_helped = False
            self._teams.forget()

    def solve_within(self, position: Connect4Position, nodes: int, watch: Watch) -> Found | None:
        """The value if so many nodes more find it. Asked again, it goes on from there."""
        asked, spent = Asked(position.mover, position.opponent), 0
        with self._teams.take() as team:
            while True:
                with self._turns.take(watch, spent):
                    most = min(self._slice_nodes, nodes - spent)
                    answer = self._alone(team, asked, False, most)
                    make_room(self._engine)
                spent += answer.nodes
                if answer.done:
                    return Found(answer.value, None, spent)
                if spent >= nodes:
                    return None
                watch.look(spent, open_window(self._engine.board, answer, asked.both))

    def solve_at_once(
        self, position: Connect4Position, watch: Watch, *, is_first: bool
    ) -> Found | None:
        """Value and distance if few nodes find them; `solve` goes on from there."""
        if self._options.leaves == "on":
            return None
        asked = Asked(position.mover, position.opponent)
        with self._teams.take() as team, self._turns.take(watch):
            answer = self._alone(team, asked, True, FIRST_NODES if is_first else QUICK_NODES)
        return Found(answer.value, answer.plies, answer.nodes) if answer.done else None

    def solve_many(self, states: States, strong: bool, watch: Watch) -> Many:
        """The values of many states, finished ones among them: one kernel call for each slice."""
        is_odd = states.ply % 2 == 1
        movers, masks = np.where(is_odd, states.b, states.a), states.a | states.b
        values, is_open = self._settled(movers, masks)
        plies = np.where(is_open, NO_PLIES, 0).astype(np.int16)
        known = self._known(states, is_open) if self._tables else None
        asked = Questions(movers[is_open], masks[is_open], strong)
        bounds, nodes = self._bounds_of(asked, known, watch)
        values[is_open] = np.sign(bounds[:, 0] + bounds[:, 1])
        if strong:
            plies[is_open] = plies_of_scores(self._engine.board, bounds[:, 0], asked.masks)
        return Many(values, plies, nodes)

    def best_move(self, position: Connect4Position, watch: Watch) -> None:
        """The solver tries the moves: each takes about as long as the position itself."""

    def _settled(
        self, movers: NDArray[np.uint64], masks: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
        """The values of the finished ones, and which are open. Refuses what `check` does."""
        board = self._board
        full = np.uint64(board.full)
        ended, early = has_line_many(board, masks ^ movers), has_line_many(board, movers)
        floats = masks >> np.uint64(1) & full & ~masks
        wrong = np.flatnonzero((floats != 0) | early)
        if len(wrong):
            first = int(wrong[0])
            what = "a stone floats" if floats[first] else f"the side to move has {board.goal}"
            raise IllegalPositionError(f"position {first}: {what}")
        values = np.where(ended, LOSS, DRAW).astype(np.int8)
        return values, ~ended & (masks != full)

    def _known(self, states: States, is_open: NDArray[np.bool_]) -> list[int | None]:
        """What the tables say of the open ones."""
        pairs = zip(states.a[is_open].tolist(), states.b[is_open].tolist(), strict=True)
        return [ask_tables(self._tables, self._board.unpack(*pair)) for pair in pairs]

    def _bounds_of(
        self, asked: Questions, known: list[int | None] | None, watch: Watch
    ) -> tuple[NDArray[np.int64], int]:
        """Scores, exact or of one sign, and the nodes they took."""
        bounds, nodes, done = asked.first_bounds(known), 0, 0
        with self._teams.take() as team:
            while True:
                with self._turns.take(watch, nodes):
                    engine = with_scratch(self._engine, team[0])
                    some = solve_some(engine, asked, bounds, done, self._slice_nodes)
                    nodes, done = nodes + some.nodes, some.done
                    if done == len(bounds):
                        return bounds, nodes
                    make_room(self._engine)
                watch.look(nodes, f"{done:,} of {len(bounds):,} positions solved")

    def _alone(
        self, team: list[Stack], asked: Asked, strong: bool, most: int, known: int | None = None
    ) -> Answer:
        """Search at most so many nodes with the first thread of a team."""
        engine = with_scratch(self._engine, team[0])
        return solve_checked(engine, asked.mover, asked.both, strong, most, known)

    def _threads(self, watch: Watch) -> int:
        """How many may search now. Once it was two, a question keeps them."""
        if self._options.threads is not None:
            return self._options.threads
        is_long = watch.deadline.spent >= SECONDS_ALONE
        return 2 if is_long and free_cores() else 1

    def _slice(
        self, team: list[Stack], threads: int, asked: Asked, strong: bool, known: int | None
    ) -> Answer:
        """Search some more with so many threads of a team: the best answer, the nodes of all.

        Every word of the shared table is read and written whole and says something
        proved, so whoever is done first is right. None of them is left when the turn is over.
        """
        most = self._slice_nodes
        if threads == 1:
            return self._alone(team, asked, strong, most, known)
        for number in range(len(team), threads):
            team.append(make_helper(self._engine, team[0], number))
        is_over = Event()

        def ask(engine: Engine) -> Answer:
            nodes, few = 0, min(THREAD_NODES, most)
            while True:
                answer = solve_checked(engine, asked.mover, asked.both, strong, few, known)
                nodes += answer.nodes
                if answer.done:
                    is_over.set()
                if is_over.is_set() or nodes >= most:
                    return answer._replace(nodes=nodes)

        engines = [with_scratch(self._engine, stack) for stack in team[:threads]]
        with ThreadPoolExecutor(threads) as pool:
            try:
                answers = list(pool.map(ask, engines))
            finally:
                is_over.set()
        best = max(answers, key=lambda answer: answer.done)
        return best._replace(nodes=sum(answer.nodes for answer in answers))

    def _count_afresh(self) -> None:
        """Whether leaves pay is judged by each question anew."""
        leaves = self._engine.leaves
        if isinstance(leaves, Leaves):
            leaves.tally[ASKED] = leaves.tally[DECIDED] = 0

    def _use_leaves(self, asked: Asked, strong: bool) -> None:
        """Have the plies of a table that follow the position in memory, unless they do not pay.

        Values alone are of little use to one who asks for distances, so what did not pay
        for one kind of question may do so for the other.
        """
        leaves = self._engine.leaves
        if strong in self._given_up:
            return
        if isinstance(leaves, Leaves) and not self._pays(leaves):
            self._given_up.add(strong)
            self._set_leaves(NoLeaves())
        elif not 0 <= self._leaves_after <= asked.ply < leaves.last_ply:
            self._load_leaves(asked)

    def _pays(self, leaves: Leaves) -> bool:
        if self._options.leaves == "on" or leaves.tally[ASKED] < JUDGED_AFTER:
            return True
        return bool(leaves.tally[DECIDED] * WORTH_ASKING >= leaves.tally[ASKED])

    def _load_leaves(self, asked: Asked) -> None:
        self._set_leaves(NoLeaves())  # room for the new ones
        for table in self._tables:
            if may_lead_to(asked, cast("Connect4Position", table.root)):
                served = cast("LeafTable", table)
                leaves = served.leaves(asked.ply + 1, self._options.memory)
                if leaves is not None:
                    self._set_leaves(leaves)
                    self._leaves_after = asked.ply
                    return

    def _set_leaves(self, leaves: Leaves | NoLeaves) -> None:
        self._is_helped = self._has_asked_leaves()
        self._leaves_after = -1
        self._engine = self._engine._replace(leaves=leaves)

    def _has_asked_leaves(self) -> bool:
        leaves = self._engine.leaves
        return self._is_helped or (isinstance(leaves, Leaves) and bool(leaves.tally[ANSWERED]))


def may_lead_to(asked: Asked, root: Connect4Position) -> bool:
    """Whether a game that goes on from a position may still come by the root of a table.

    Not if a cell that the root has in one colour is taken in the other.
    """
    first, second = asked.mover, asked.other
    if asked.ply % 2:
        first, second = second, first
    return not first & root.second and not second & root.first


def has_line_many(board: Connect4Board, stones: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which of many sets of stones contain a line: shifted upon themselves, something is left."""
    found = np.zeros(len(stones), np.bool_)
    for step in board.steps:
        feet = stones.copy()
        for i in range(1, board.connect):
            feet &= stones >> np.uint64(step * i)
        found |= feet != 0
    return found
