"""The engine of any game that kernels know: a state in, its exact value and distance out.

The value is one of three, so two questions settle it: is it at least WIN? is it
at least DRAW? The distance, in plies to the end with the winner as fast and the
loser as slow as possible, is asked for from near to far: does it end within one
ply? two? ... A draw ends when nothing can be added; all draws of a game do so on the
same ply, so one drawn game tells how far that is.

The table keeps what is proved from one question to the next, of all threads that ask (`turns`).
`engine` has the node loop; what it knows of a game are the functions of `retro.games.kernels`
and nothing else. A game may have a node loop of its own, as Quarto does, that answers questions
about values faster.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from retro.games.kernels import move_limit_of, successors_of
from retro.games.values import DRAW, WIN
from retro.search.engine import NO_PLIES, Found, Many, ask_tables, solve_each, unwatched
from retro.search.generic import engine as any_game
from retro.search.generic.engine import NODES, OPEN
from retro.search.generic.table import WON, larger, make_table
from retro.search.turns import Spare, Turns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from retro.games.game import Board, Position, States
    from retro.search.engine import Options, Table, Watch

    State = tuple[int, int]
    Stacks = dict[ModuleType, Any]  # of each node loop its scratch memory

FIRST_SLICE = 1_000  # nodes
SLICE_NODES = 200_000  # of many positions
SLICE_SECONDS = 0.5  # games differ in what a node costs: later slices are cut to this
LEAST_SECONDS = 0.02  # of a slice when the time is nearly over
AGES = 256
NO_LIMIT = 1 << 62
NODES_PER_BUCKET = 128  # searched before a table grows: fewer would make it leave the caches sooner


def make_search(board: Board, options: Options, tables: Sequence[Table] = ()) -> GenericSearch:
    """The engine of a board; `DoesNotFitError` when kernels cannot take it."""
    return GenericSearch(board, options, tables)


class GenericSearch:
    """The generic engine as the solver asks it, from any number of threads.

    `loop` is the module with the node loop for values.
    """

    def __init__(
        self,
        board: Board,
        options: Options,
        tables: Sequence[Table] = (),
        loop: ModuleType = any_game,
    ) -> None:
        self.board, self.tables, self.loop = board, tables, loop
        self.memory = Memory(board, options.memory)
        slots = int(move_limit_of(board.rules))
        self._stacks: Spare[Stacks] = Spare(
            lambda: {module: module.make_stack(slots) for module in (loop, any_game)}
        )

    def check(self, position: Position) -> None:
        """A position that was set up may be anything."""
        if position.history is None:
            position.check()

    def solve(self, position: Position, known: int | None, strong: bool, watch: Watch) -> Found:
        """The value, with `strong` also the distance. `known` is the value if a table has it."""
        with self._stacks.take() as stacks:
            return _Question(self, stacks, watch).solve(position._state, known, strong)

    def forget(self) -> None:
        """Clear the transposition table."""
        self.memory.forget()

    def solve_within(self, position: Position, nodes: int, watch: Watch) -> Found | None:
        """The value if so many nodes find it; the table remembers what they proved."""
        with self._stacks.take() as stacks:
            question = _Question(self, stacks, watch)
            value = question.searched(position._state, nodes)
            return None if value == OPEN else Found(value, None, question.nodes)

    def solve_at_once(self, position: Position, watch: Watch, *, is_first: bool) -> None:
        """A look at sorted keys takes no longer than some nodes: tables are asked first."""

    def best_move(self, position: Position, watch: Watch) -> None:
        """The solver tries the moves: each takes about as long as the position itself."""

    def solve_many(self, states: States, strong: bool, watch: Watch) -> Many:
        """The values of many states, finished ones among them."""
        if strong or self.tables or self.loop is not any_game:
            return solve_each(self.board, states, lambda at: self._one(at, strong, watch))
        with self._stacks.take() as stacks:
            return _Question(self, stacks, watch).values_of(states)

    def _one(self, position: Position, strong: bool, watch: Watch) -> tuple[int, int | None, int]:
        watch.deadline.check()
        known = ask_tables(self.tables, position)
        if known is not None and not strong:
            return known, None, 0
        found = self.solve(position, known, strong, watch)
        return found.value, found.plies, found.nodes


class Memory:
    """What all questions share, each while it has the turn."""

    def __init__(self, board: Board, nbytes: int) -> None:
        self.turns = Turns()
        self.rules = board.rules
        try:
            self.table = make_table(self.rules.words, nbytes)
        except ValueError:  # more than numpy can count
            raise MemoryError from None
        self._questions = self._nodes = 0

    def next_age(self) -> np.uint64:
        """The age of what the next question proves; two that share one do no harm."""
        self._questions += 1
        return np.uint64(self._questions % AGES)

    def make_room(self, nodes: int) -> None:
        """Count nodes that were searched, and let the table grow with their number."""
        self._nodes += nodes
        wanted = self._nodes // NODES_PER_BUCKET
        while self.table.buckets < wanted and not self.table.is_whole:
            self.table = larger(self.table)

    def forget(self) -> None:
        """Clear the table; a search that is under way goes on with what it proves from now on."""
        with self.turns.take(unwatched()):
            self.table.cells[: self.table.buckets * 2 * (self.table.words + 1)] = 0


class _Question:
    """One question of one thread: how far it is, and scratch memory that nobody else uses."""

    def __init__(self, search: GenericSearch, stacks: Stacks, watch: Watch) -> None:
        self._search, self._memory = search, search.memory
        self._stacks, self._watch = stacks, watch
        self.nodes = 0

    def solve(self, state: State, known: int | None, strong: bool) -> Found:
        """The value, with `strong` also the distance."""
        value = self.searched(state) if known is None else known
        plies = self._plies(state, value) if strong else None
        return Found(value, plies, self.nodes, known is not None)

    def values_of(self, states: States) -> Many:
        """The values of many states, one kernel call for each slice."""
        values = np.empty(states.size, np.int8)
        stack, rules, memory = self._stacks[any_game], self._memory.rules, self._memory
        age, done = memory.next_age(), 0
        while done < states.size:
            a, b, left = states.a[done:], states.b[done:], values[done:]
            with memory.turns.take(self._watch, self.nodes):
                more, settled = any_game.values_of(
                    rules, memory.table, stack, a, b, left, age, SLICE_NODES
                )
                memory.make_room(int(more))
            self.nodes, done = self.nodes + int(more), done + int(settled)
            if done < states.size:  # one that takes long, or just the last of the slice
                values[done] = self.searched((int(states.a[done]), int(states.b[done])))
                done += 1
                self._watch.look(self.nodes, f"{done:,} of {states.size:,} positions solved")
        return Many(values, np.full(states.size, NO_PLIES, np.int16), self.nodes)

    def _value(self, state: State, most: int) -> int:
        """The value of a state; OPEN if it is not known after `most` nodes."""
        known, search = None, self._search
        if search.tables:
            position = search.board.unpack(*state)
            known = None if position.is_over() else ask_tables(search.tables, position)
        return self.searched(state, most) if known is None else known

    def searched(self, state: State, most: int = NO_LIMIT) -> int:
        """The value of a state by search; OPEN if it is not known after `most` nodes."""
        loop = self._search.loop
        score = self._ask(loop, state, WIN, most)
        if score == DRAW:  # at most
            score = self._ask(loop, state, DRAW, most)
        return OPEN if score == OPEN else (score > 0) - (score < 0)

    def _plies(self, state: State, value: int) -> int:
        """The distance of a state whose value is known."""
        if value == DRAW:
            return self._plies_of_draw(state)
        low, high = (1, WON) if value == WIN else (-WON, -1)
        while low < high:  # the nearest end that is left is the question
            goal = high if value == WIN else low + 1
            score = self._ask(any_game, state, goal)
            if score >= goal:
                low = score
            else:
                high = score
        return WON - abs(low)

    def _plies_of_draw(self, state: State) -> int:
        """Play a drawn game and count."""
        plies = 0
        while after := successors_of(self._memory.rules, *state):
            state = self._first_draw(list(after.values()))
            plies += 1
        return plies

    def _first_draw(self, states: list[State]) -> State:
        """The state that is the cheapest to prove a draw; one of them is.

        Whoever proved the predecessor a draw went through it, so the table mostly knows.
        """
        most = 1
        while True:
            for state in states:
                if self._value(state, most) == DRAW:
                    return state
            most *= 2

    def _look(self, nodes: int, goal: int, is_open: bool) -> None:
        """Say what was asked; time that ran out matters only to a question that is open."""
        watch = self._watch
        if is_open:
            watch.look(self.nodes + nodes, question(goal))
        else:
            watch.report(self.nodes + nodes, watch.deadline.spent, question(goal))

    def _ask(self, loop: ModuleType, state: State, goal: int, most: int = NO_LIMIT) -> int:
        """A score: `goal` or more if the state's is at least that, else less and not below it.

        OPEN after `most` nodes.
        """
        memory, stack, rules = self._memory, self._stacks[loop], self._memory.rules
        age, (a, b) = memory.next_age(), (np.uint64(word) for word in state)
        with memory.turns.take(self._watch, self.nodes):
            score = loop.begin(rules, memory.table, stack, a, b, goal, age)
        budget, done = FIRST_SLICE, int(stack.place[NODES])
        while score == OPEN and done < most:
            budget = min(budget, most - done)
            with memory.turns.take(self._watch, self.nodes + done):
                before = time.monotonic()
                score = loop.resume(rules, memory.table, stack, age, budget)
                seconds = time.monotonic() - before
                spent, done = done, int(stack.place[NODES])
                memory.make_room(done - spent)
            self._look(done, goal, is_open=score == OPEN)
            scale = _slice_seconds(self._watch) / max(seconds, SLICE_SECONDS / 8)
            budget = max(1, int(budget * scale))
        self.nodes += done
        return int(score)


def _slice_seconds(watch: Watch) -> float:
    """How long the next slice should take: no longer than what is left of the time."""
    return min(SLICE_SECONDS, max(watch.deadline.left, LEAST_SECONDS))


def question(goal: int) -> str:
    """What it means to ask whether a score is at least `goal`, for the side to move.

    >>> question(WIN), question(DRAW)
    ('a win?', 'at least a draw?')
    >>> question(WON - 5), question(4 - WON)
    ('a win within 5 plies?', 'no loss within 3 plies?')
    """
    if goal > WIN:
        return f"a win within {WON - goal} {'ply' if WON - goal == 1 else 'plies'}?"
    if goal < DRAW:
        return f"no loss within {WON + goal - 1} {'ply' if WON + goal == 2 else 'plies'}?"
    return "a win?" if goal == WIN else "at least a draw?"
