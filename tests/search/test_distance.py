"""Distances in every game: the solver and the perfect player against plain recursion."""

import random
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest
from plain import distance as naive_distance
from plain.distance import rank
from search_cases import StateSolver

from retro.errors import GameOverError, TimeLimitError
from retro.games import kernels
from retro.games.catalogue import find_game
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.search.generic import quarto_engine
from retro.search.generic.engine import OPEN, begin, make_stack, resume
from retro.search.generic.table import WON, make_table
from tablebase.oracles import Oracle
from tablebase.perfect import PerfectPlayer

State = tuple[int, int]
Score = tuple[int, int]  # value for the side to move, plies to the end

BOARDS = [
    ("mnk", "3x3", {}, ""),
    ("mnk", "4x3", {"connect": "3"}, "a1 d3 a3"),
    ("puissance-plus", "3x3", {"target": "5", "values": "121/232/121"}, ""),
    ("domineering", "4x4", {}, ""),
    ("domineering", "3x4", {"starts": "horizontal"}, ""),
    ("quarto", "2x2", {"attributes": "2"}, ""),
    ("quarto", "3x3", {"attributes": "3"}, "0 a1-1 b2-2 c1-4 a3-3"),
    ("quarto", "4x4", {}, "7c../.4.6/0.f2/e38a,d"),
    ("notakto", "3x3", {}, ""),
    ("notakto", "3x2", {"connect": "3"}, ""),
]
NAMES = [f"{name} {size} {root}".strip() for name, size, _, root in BOARDS]


@cache
def truth(number: int) -> tuple[Any, Any, dict[State, Score]]:
    """A game, a position of it, and the score of all that follows, by plain recursion."""
    name, size, options, text = BOARDS[number]
    game = find_game(name)
    root = game.read_position(game.parse(size, options), text)
    known: dict[State, Score] = {}

    def score(position: Any) -> Score:
        outcome = position.outcome()
        if outcome is not None:
            return outcome, 0
        state = position._state
        if state not in known:
            replies = [score(position._play(move)) for move in position._numbers()]
            known[state] = max(((-value, plies + 1) for value, plies in replies), key=rank)
        return known[state]

    score(root)
    return game, root, known


def one_of_each_class(rules: Any, known: dict[State, Score]) -> dict[State, Score]:
    """One state of every class of symmetric ones."""
    classes: dict[State, State] = {}
    for state in known:
        key = kernels.canonical_of(rules, np.uint64(state[0]), np.uint64(state[1]))
        classes.setdefault((int(key[0]), int(key[1])), state)
    return {state: known[state] for state in classes.values()}


@pytest.mark.parametrize("number", range(len(BOARDS)), ids=NAMES)
def test_every_position_of_small_boards(number: int) -> None:
    _game, root, known = truth(number)
    rules = root.board.rules
    solver = StateSolver(root.board)
    classes = one_of_each_class(rules, known)
    assert len(classes) >= 5
    for state, expected in classes.items():
        found = solver.solve(state, strong=True)
        assert (found.value, found.plies) == expected, state
        assert solver.solve(state).plies is None


def test_as_the_recursion_of_connect_four() -> None:
    """The one game whose distances have another recursion, from its own rules."""
    board = Connect4Board(4, 3, 3)
    solver = StateSolver(board, memory_mb=4)
    for mover, mask, value, plies in islice(naive_distance.positions(4, 3, 3), 0, None, 7):
        stones = (mask ^ mover, mover) if mask.bit_count() % 2 else (mover, mask ^ mover)
        found = solver.solve(Connect4Position(board, *stones), strong=True)
        assert (found.value, found.plies) == (value, plies)


def test_values_that_another_engine_left_in_the_table_do_no_harm() -> None:
    """Quarto's own node loop answers for the value, the general one for the distance."""
    game = find_game("quarto")
    board = game.parse("4x4", {})
    rng = random.Random(8)
    seen = set()
    while len(seen) < 4:
        position = game.start(board)
        while position.ply < 9 and not position.is_over():
            position = position._play(rng.choice(position._numbers()))
        if position.is_over():
            continue
        state = position._state
        two, one = StateSolver(board, loop=quarto_engine), StateSolver(board)
        found, expected = two.solve(state, strong=True), one.solve(state, strong=True)
        assert (found.value, found.plies) == (expected.value, expected.plies)
        seen.add((found.value, found.plies))


@pytest.mark.parametrize("size_bytes", [0, 1 << 16])
@pytest.mark.parametrize("number", [0, 3, 5, 8], ids=[NAMES[i] for i in (0, 3, 5, 8)])
def test_every_question_is_answered_soundly(number: int, size_bytes: int) -> None:
    """From `goal` up to the score, or from the score up to below `goal`: in any table."""
    _game, root, known = truth(number)
    rules = root.board.rules
    table, stack = make_table(rules.words, size_bytes), make_stack(64)
    age = np.uint64(1)
    for state, (value, plies) in islice(known.items(), 0, None, 1 + len(known) // 25):
        words = np.uint64(state[0]), np.uint64(state[1])
        score = value * (WON - plies)
        for goal in (*range(-WON, 21 - WON), -1, 0, 1, *range(WON - 20, WON + 1)):
            found = begin(rules, table, stack, *words, goal, age)
            if found == OPEN:
                found = resume(rules, table, stack, age, 1 << 40)
            assert goal <= found <= score if score >= goal else score <= found < goal


def test_a_draw_lasts_until_the_board_is_full() -> None:
    for number, plies_of_a_draw in ((0, 9), (7, 17)):  # in Quarto the first ply only gives
        _game, root, known = truth(number)
        drawn = [state for state, (value, _) in known.items() if value == 0]
        assert drawn
        for state in drawn:
            ply = root.board.unpack(*state).ply
            assert known[state] == (0, plies_of_a_draw - ply)


def test_a_probe_gives_the_value_and_the_search_the_distance() -> None:
    _game, root, known = truth(0)
    asked = []

    def probe(state: State) -> int | None:
        asked.append(state)
        return known[state][0] if state in known else None

    solver = StateSolver(root.board, probe=probe)
    won = root.board.position("a1 b1")._state
    found = solver.solve(won, strong=True)
    assert (found.value, found.plies, found.is_helped) == (1, 5, True)
    found = solver.solve((0, 0), strong=True)
    assert (found.value, found.plies, found.nodes) == (0, 9, 0)
    assert len(asked) > 9  # a drawn game, all from the table


def test_a_time_limit_ends_the_search_of_a_distance() -> None:
    game = find_game("domineering")
    solver = StateSolver(game.parse("7x7", {}), probe=lambda _: 1, time_limit=0)
    with pytest.raises(TimeLimitError, match="not solved within 0 s"):
        solver.solve((0, 0), strong=True)


@pytest.mark.parametrize("number", range(len(BOARDS)), ids=NAMES)
def test_moves_and_lines_of_the_oracle(number: int) -> None:
    """Every list is ordered, complete and exact, and a line follows the first of each."""
    _game, root, known = truth(number)
    oracle = Oracle(root.board, memory="1M")
    for state in islice(known, 0, None, 1 + len(known) // 12):
        position = root.board.unpack(*state)
        value, plies = known[state]
        solution = oracle.solve(position, strong=True)
        assert (solution.value, solution.plies) == (value, plies)
        line = oracle.best_line(position).moves
        assert len(line) == plies
        for move in line:
            rated = oracle.analyse(position).moves
            assert rated[0] == move == oracle.best_move(position)
            assert sorted(m.number for m in rated) == sorted(position._numbers())
            ranks = [rank((m.value, m.plies)) for m in rated]
            assert ranks == sorted(ranks, reverse=True)
            for m in rated:
                after = position._play(m.number)
                outcome = after.outcome()
                reply = known[after._state] if outcome is None else (outcome, 0)
                assert (m.value, m.plies) == (-reply[0], reply[1] + 1)
            position = position._play(move.number)
        assert oracle.solve(position, strong=True).plies == 0
        with pytest.raises(GameOverError):
            oracle.analyse(position)


@pytest.mark.parametrize("number", range(len(BOARDS)), ids=NAMES)
def test_the_perfect_player_hurries_or_stalls(number: int) -> None:
    _game, root, known = truth(number)
    oracle = Oracle(root.board, memory="1M")
    player = PerfectPlayer(oracle, seconds=60)
    for state in islice(known, 0, None, 1 + len(known) // 40):
        position = root.board.unpack(*state)
        value, plies = known[state]
        advice = player.advise(position)
        after = position._play(advice.move)
        outcome = after.outcome()
        reply = known[after._state] if outcome is None else (outcome, 0)
        assert -reply[0] == advice.value == value
        if value:
            assert advice.plies == reply[1] + 1 == plies


def test_without_time_the_perfect_player_keeps_the_value() -> None:
    game = find_game("mnk")
    board = game.parse("4x4", {"connect": "3"})
    oracle = Oracle(board, memory="1M")
    position = game.start(board)
    hasty = PerfectPlayer(oracle, seconds=0).advise(position)
    assert (hasty.value, hasty.plies) == (1, None)
    assert PerfectPlayer(oracle, seconds=60).advise(position).plies == 5
