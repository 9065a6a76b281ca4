"""Boards beyond 64 cells: solved by the plain search."""

import random

import pytest

from retro.deadline import Deadline
from retro.games.catalogue import find_game
from retro.games.domineering.rules import DomineeringBoard, DomineeringPosition
from retro.search import Solver
from retro.search.engine import Options, Watch
from retro.search.ladder import domineering_game, mnk_game
from retro.search.ladder.mnk_game import LargeGame, MnkGame
from retro.search.solver import is_large

SMALL = [
    ("mnk", "3x3", {"connect": "3"}),
    ("mnk", "4x3", {"connect": "3"}),
    ("mnk", "4x4", {"connect": "3"}),
    ("puissance-plus", "4x3", {"target": "6"}),
]
DOMINOES = [("domineering", "4x4", {}), ("domineering", "3x5", {"starts": "horizontal"})]


def positions(game, board, number: int, least_ply: int = 0):
    """Unfinished positions of random games."""
    rng = random.Random(number)
    while number:
        position = game.start(board)
        for _ in range(rng.randrange(least_ply, board.last_ply)):
            if not position.is_over():
                position = position._play(rng.choice(position._numbers()))
        if position.ply >= least_ply and not position.is_over():
            number -= 1
            yield position


@pytest.mark.parametrize(("name", "size", "options"), SMALL + DOMINOES)
def test_the_plain_solver_agrees_with_the_compiled_one(name: str, size: str, options) -> None:
    """Value and distance; nothing in it depends on the size of the board."""
    game = find_game(name)
    board = game.parse(size, options)
    module = domineering_game if name == "domineering" else mnk_game
    fast, plain = Solver(board, memory="4M"), module.make_search(board, Options(4 << 20))
    watch, decided = Watch(Deadline(), lambda *_: None), 0
    for position in positions(game, board, 25, least_ply=4):
        wanted = fast.solve(position, strong=True)
        found = plain.solve(position, None, True, watch)
        assert (found.value, found.plies) == (wanted.value, wanted.plies)
        assert plain.solve(position, None, False, watch).value == wanted.value
        move, whole = plain.best_move(position, watch)
        assert whole == found
        after = position._play(move)
        if after.is_over():
            assert (found.value, found.plies) == (-after.outcome(), 1)
        else:
            then = fast.solve(after, strong=True)
            assert (-then.value, then.plies + 1) == (found.value, found.plies)
        decided += found.value != 0
    assert decided > 3


@pytest.mark.parametrize(("name", "size", "options"), SMALL)
def test_its_order_of_moves_is_that_of_the_ladder(name: str, size: str, options) -> None:
    game = find_game(name)
    board = game.parse(size, options)
    usual, large = MnkGame(board), LargeGame(board)
    threats = 0
    for position in positions(game, board, 60):
        state = usual.state(position)
        moves = usual.candidates(state)
        if len(moves) > 1:  # else there is nothing to put in order
            urgencies = [usual.urgency(state, move) for move in moves]
            assert [large.urgency(state, move) for move in moves] == urgencies
            threats += sum(urgencies)
    assert threats


@pytest.mark.parametrize("side", ["vertical", "horizontal"])
def test_dominoes_beyond_64_cells_are_solved(side) -> None:
    """All but a corner of the large board is covered: it is as good as the small one."""
    large, small = DomineeringBoard(9, 9), DomineeringBoard(3, 5, side)
    corner = sum(large.bit(row, column) for row in range(3) for column in range(5))
    position = DomineeringPosition(large, large.full & ~corner, side)
    plain, fast = Solver(large, memory="4M"), Solver(small, memory="4M")
    for strong in (False, True):
        found, wanted = plain.solve(position, strong), fast.solve(small.start(), strong)
        assert (found.value, found.plies) == (wanted.value, wanted.plies)
    line = plain.best_line(position)
    assert len(line) == found.plies
    assert plain.analyse(position)[0] == line[0]


def test_only_grids_beyond_64_cells_need_it() -> None:
    for name, size, needed in (
        ("mnk", "8x8", False),
        ("mnk", "13x5", True),
        ("puissance-plus", "9x8", True),
        ("domineering", "9x9", True),
        ("domineering", "8x8", False),
    ):
        assert is_large(find_game(name).parse(size, {})) == needed
