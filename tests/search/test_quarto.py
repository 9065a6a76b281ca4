"""The fast search of Quarto: against every small position, the plain search, known endgames."""

import random

import numpy as np
import pytest
from games.quarto.test_ladder_game import BOARDS, endgames, random_position
from games.quarto.test_rules import SMALL, position_of, quarto_games
from hypothesis import given
from hypothesis import strategies as st
from plain.quarto import QuartoRules, is_over, values
from search_cases import StateSolver

from retro.errors import TimeLimitError
from retro.games.quarto.evaluate import safe_gifts, wins_at
from retro.games.quarto.kernels import quarto_rules
from retro.games.quarto.rules import QuartoBoard, QuartoPosition
from retro.games.quarto.text import read_grid
from retro.search import Solver
from retro.search.generic import quarto_engine
from retro.search.generic import search as generic_search
from retro.search.generic.quarto_engine import folded, place, safe_pieces
from retro.search.ladder.ladder import search
from retro.search.ladder.quarto_game import QuartoGame


def solver_of(board):
    return StateSolver(board, loop=quarto_engine)


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_every_position_of_small_games(game: QuartoRules) -> None:
    board = QuartoBoard(*game)
    solver = solver_of(board)
    for state, value in values(game).items():
        if not is_over(game, state):
            assert solver.solve(position_of(board, state)).value == value


@pytest.mark.parametrize("board", BOARDS, ids=["lines", "squares"])
def test_independent_values_of_endgames(board: QuartoBoard) -> None:
    solver = solver_of(board)
    for position, value in endgames(board):
        assert solver.solve(position._state).value == value


@pytest.mark.parametrize("board", BOARDS, ids=["lines", "squares"])
def test_the_plain_search_agrees(board: QuartoBoard) -> None:
    rng, solver = random.Random(4), solver_of(board)
    for placed in (12, 11, 10):
        for _ in range(5):
            position = random_position(board, placed, rng)
            assert solver.solve(position._state).value == search(QuartoGame(board), position).value


@pytest.mark.parametrize("board", BOARDS, ids=["lines", "squares"])
def test_symmetric_positions_have_one_value(board: QuartoBoard) -> None:
    rng = random.Random(2)
    for _ in range(10):
        position = random_position(board, 7, rng)
        turned = position.turned(rng.choice(board.symmetries), rng.choice(board.piece_symmetries))
        first, second = solver_of(board), solver_of(board)
        assert first.solve(position._state).value == second.solve(turned._state).value


def test_slices_and_table_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, board = random.Random(9), BOARDS[0]
    positions = [random_position(board, 7, rng) for _ in range(20)]
    kept = solver_of(board)
    expected = [kept.solve(position._state) for position in positions]
    assert [kept.solve(p).value for p in positions] == [found.value for found in expected]
    monkeypatch.setattr(generic_search, "FIRST_SLICE", 7)
    monkeypatch.setattr(generic_search, "SLICE_SECONDS", 0.0001)  # later slices: few nodes, too
    fresh = solver_of(board)
    assert [fresh.solve(position._state) for position in positions] == expected


@given(quarto_games(st.sampled_from([*BOARDS, QuartoBoard(3, 3), QuartoBoard(3, 3, True)])))
def test_dangers_are_the_gifts_that_win(position: QuartoPosition) -> None:
    """Piece after piece, in the order played, the danger bytes tell the safe pieces."""
    if position.hand is None:
        return
    board = position.board
    rules = quarto_rules(board)
    words = (np.uint64(0),) * 4
    for cell, piece in enumerate(position.cells):
        if piece is not None:
            after = place(rules.lines_at, *words, np.uint64(cell), np.uint64(piece))
            words = tuple(np.uint64(word) for word in after)
    a, occupied, low, high = words
    assert (a, occupied) == (position._state[0], position._state[1] & 0xFFFF)
    found = safe_pieces(board.attributes)[folded(low, high)]
    assert {p for p in position.remaining() if found >> p & 1} == safe_gifts(position)
    assert bool(found >> position.hand & 1) != any(
        wins_at(position, cell) for cell in position.empty_cells()
    )


def test_the_general_engine_agrees() -> None:
    """The loop that knows no game, on rules with and without squares."""
    rng = random.Random(6)
    for board in BOARDS:
        fast = solver_of(board)
        general = StateSolver(board)
        for placed in (13, 12, 11, 10):
            state = random_position(board, placed, rng)._state
            assert fast.solve(state).value == general.solve(state).value


def test_finished_games_cost_no_node() -> None:
    for text, value in (("0123/..../..../....", -1), ("315c/6db7/92a4/8ef0", 0)):
        found = solver_of(BOARDS[0]).solve(read_grid(BOARDS[0], text))
        assert (found.value, found.nodes) == (value, 0)


def test_time_limit() -> None:
    solver = Solver(BOARDS[0], memory="1M", time_limit=0)
    with pytest.raises(TimeLimitError, match="within 0 s"):
        solver.solve("0..f/..../..../....,3")


def test_the_record_of_the_game_names_its_node_loop() -> None:
    position = random_position(BOARDS[0], 7, random.Random(3))
    nodes = [solver_of(BOARDS[0]).solve(position._state).nodes]
    nodes.append(Solver(BOARDS[0], memory="1M").solve(position).nodes)
    assert nodes[0] == nodes[1] > 0
