"""The engine of any game that kernels know: a state in, its exact value and distance out.

The value is one of three, so two questions settle it: is it at least WIN? is it
at least DRAW? The distance, in plies to the end with the winner as fast and the
loser as slow as possible, is asked for from near to far: does it end within one
ply? two? ... A draw ends when nothing can be added; all draws of a game do so on the
same ply, so one drawn game tells how far that is.

The table keeps what is proved from one question to the next. `engine` has the node loop;
what it knows of a game are the functions of `retro.games.kernels` and nothing else. A
game may have a node loop of its own, as Quarto does, that answers questions about
values faster.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from retro.games.kernels import move_limit_of, successors_of
from retro.games.values import DRAW, WIN
from retro.search.engine import NO_PLIES, Found, Many, ask_tables, solve_each
from retro.search.generic import engine as any_game
from retro.search.generic.engine import NODES, OPEN
from retro.search.generic.table import WON, larger, make_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from retro.games.game import Board, Position, States
    from retro.search.engine import Options, Table, Watch

    State = tuple[int, int]

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
    """The generic engine as the solver asks it.

    `loop` is the module with the node loop for values.
    """

    def __init__(
        self,
        board: Board,
        options: Options,
        tables: Sequence[Table] = (),
        loop: ModuleType = any_game,
    ) -> None:
        self.rules = board.rules
        self._board, self._tables, self._loop = board, tables, loop
        self._questions = self._nodes = self._total = 0
        try:
            self._table = make_table(self.rules.words, options.memory)
        except ValueError:  # more than numpy can count
            raise MemoryError from None
        slots = int(move_limit_of(self.rules))
        self._stacks = {module: module.make_stack(slots) for module in (loop, any_game)}

    def check(self, position: Position) -> None:
        """A position that was set up may be anything."""
        if position.history is None:
            position.check()

    def solve(self, position: Position, known: int | None, strong: bool, watch: Watch) -> Found:
        """The value, with `strong` also the distance. `known` is the value if a table has it."""
        state, self._nodes = position._state, 0
        value = self._searched(state, watch) if known is None else known
        plies = self._plies(state, value, watch) if strong else None
        return Found(value, plies, self._nodes, known is not None)

    def forget(self) -> None:
        """Clear the transposition table."""
        self._table.cells[: self._table.buckets * 2 * (self._table.words + 1)] = 0

    def solve_within(self, position: Position, nodes: int) -> Found | None:
        """The value if so many nodes find it; the table remembers what they proved."""
        self._nodes = 0
        value = self._searched(position._state, None, nodes)
        return None if value == OPEN else Found(value, None, self._nodes)

    def solve_at_once(self, position: Position, *, is_first: bool) -> None:
        """A look at sorted keys takes no longer than some nodes: tables are asked first."""

    def best_move(self, position: Position, watch: Watch) -> None:
        """The solver tries the moves: each takes about as long as the position itself."""

    def solve_many(self, states: States, strong: bool, watch: Watch) -> Many:
        """The values of many states, finished ones among them."""
        if strong or self._tables or self._loop is not any_game:
            return solve_each(self._board, states, lambda at: self._one(at, strong, watch))
        self._questions += 1
        values = np.empty(states.size, np.int8)
        stack, age = self._stacks[any_game], np.uint64(self._questions % AGES)
        nodes = done = 0
        while done < states.size:
            a, b, left = states.a[done:], states.b[done:], values[done:]
            more, settled = any_game.values_of(
                self.rules, self._table, stack, a, b, left, age, SLICE_NODES
            )
            nodes, done = nodes + int(more), done + int(settled)
            self._make_room(int(more))
            if done < states.size:  # one that takes long, or just the last of the slice
                self._nodes = 0
                values[done] = self._searched((int(states.a[done]), int(states.b[done])), watch)
                nodes, done = nodes + self._nodes, done + 1
                watch.look(nodes, f"{done:,} of {states.size:,} positions solved")
        return Many(values, np.full(states.size, NO_PLIES, np.int16), nodes)

    def _one(self, position: Position, strong: bool, watch: Watch) -> tuple[int, int | None, int]:
        watch.deadline.check()
        known = ask_tables(self._tables, position)
        if known is not None and not strong:
            return known, None, 0
        found = self.solve(position, known, strong, watch)
        return found.value, found.plies, found.nodes

    def _value(self, state: State, watch: Watch | None, most: int = NO_LIMIT) -> int:
        """The value of a state; OPEN if it is not known after `most` nodes."""
        known = None
        if self._tables:
            position = self._board.unpack(*state)
            known = None if position.is_over() else ask_tables(self._tables, position)
        return self._searched(state, watch, most) if known is None else known

    def _searched(self, state: State, watch: Watch | None, most: int = NO_LIMIT) -> int:
        score = self._ask(self._loop, state, WIN, watch, most)
        if score == DRAW:  # at most
            score = self._ask(self._loop, state, DRAW, watch, most)
        return OPEN if score == OPEN else (score > 0) - (score < 0)

    def _plies(self, state: State, value: int, watch: Watch) -> int:
        """The distance of a state whose value is known."""
        if value == DRAW:
            return self._plies_of_draw(state, watch)
        low, high = (1, WON) if value == WIN else (-WON, -1)
        while low < high:  # the nearest end that is left is the question
            goal = high if value == WIN else low + 1
            score = self._ask(any_game, state, goal, watch)
            if score >= goal:
                low = score
            else:
                high = score
        return WON - abs(low)

    def _plies_of_draw(self, state: State, watch: Watch) -> int:
        """Play a drawn game and count."""
        plies = 0
        while after := successors_of(self.rules, *state):
            state = self._first_draw(list(after.values()), watch)
            plies += 1
        return plies

    def _first_draw(self, states: list[State], watch: Watch) -> State:
        """The state that is the cheapest to prove a draw; one of them is.

        Whoever proved the predecessor a draw went through it, so the table mostly knows.
        """
        most = 1
        while True:
            for state in states:
                if self._value(state, watch, most) == DRAW:
                    return state
            most *= 2

    def _make_room(self, nodes: int) -> None:
        """Count nodes that were searched, and let the table grow with their number."""
        self._total += nodes
        wanted = self._total // NODES_PER_BUCKET
        while self._table.buckets < wanted and not self._table.is_whole:
            self._table = larger(self._table)

    def _look(self, watch: Watch, nodes: int, goal: int, is_open: bool) -> None:
        """Say what was asked; time that ran out matters only to a question that is open."""
        if is_open:
            watch.look(self._nodes + nodes, question(goal))
        else:
            watch.report(self._nodes + nodes, watch.deadline.spent, question(goal))

    def _ask(
        self, loop: ModuleType, state: State, goal: int, watch: Watch | None, most: int = NO_LIMIT
    ) -> int:
        """A score: `goal` or more if the state's is at least that, else less and not below it.

        OPEN after `most` nodes.
        """
        self._questions += 1
        age = np.uint64(self._questions % AGES)
        a, b = (np.uint64(word) for word in state)
        stack = self._stacks[loop]
        score = loop.begin(self.rules, self._table, stack, a, b, goal, age)
        budget, before = FIRST_SLICE, time.monotonic()
        while score == OPEN and stack.place[NODES] < most:
            budget = min(budget, most - int(stack.place[NODES]))
            done = int(stack.place[NODES])
            score = loop.resume(self.rules, self._table, stack, age, budget)
            self._make_room(int(stack.place[NODES]) - done)
            if watch is not None:
                self._look(watch, int(stack.place[NODES]), goal, is_open=score == OPEN)
            if score == OPEN:
                now = time.monotonic()
                scale = _slice_seconds(watch) / max(now - before, SLICE_SECONDS / 8)
                budget, before = max(1, int(budget * scale)), now
        self._nodes += int(stack.place[NODES])
        return int(score)


def _slice_seconds(watch: Watch | None) -> float:
    """How long the next slice should take: no longer than what is left of the time."""
    left = SLICE_SECONDS if watch is None else watch.deadline.left
    return min(SLICE_SECONDS, max(left, LEAST_SECONDS))


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
