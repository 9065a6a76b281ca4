"""Quarto for the plain search, and evaluations: against small games and independent values."""

import random

import pytest
from games.quarto.test_rules import SMALL, position_of
from plain.quarto import QuartoRules, is_over, values
from strategies import published

from retro.games.quarto.evaluate import SURE, answers, parity
from retro.games.quarto.rules import QuartoBoard, QuartoPosition
from retro.games.quarto.text import read_grid
from retro.search.ladder.ladder import Ladder, search
from retro.search.ladder.quarto_game import QuartoGame
from retro.search.ladder.rungs import Rungs

VALUES = {"W": 1, "D": 0, "L": -1}
BOARDS = [QuartoBoard(4, squares=squares) for squares in (False, True)]


def random_position(board, placed, rng):
    """Some pieces on some cells, one in hand, and no line."""
    while True:
        pieces = rng.sample(range(board.pieces), placed + 1)
        cells = dict(zip(rng.sample(range(board.cells), placed), pieces, strict=False))
        filled = tuple(cells.get(cell) for cell in range(board.cells))
        position = QuartoPosition(board, filled, pieces[-1])
        if not position.has_line():
            return position


def endgames(board):
    """(position, value) of the endgames whose value under these rules is known."""
    column = "value_lines_and_2x2squares" if board.squares else "value_lines"
    rows = [row for row in published("quarto_endgames.csv") if row[column]]
    assert len(rows) == (83 if board.squares else 120)
    return [(read_grid(board, f"{r['board']},{r['hand']}"), VALUES[r[column]]) for r in rows]


def test_endgames_without_a_value_are_over() -> None:
    rows = [r for r in published("quarto_endgames.csv") if not r["value_lines_and_2x2squares"]]
    for row in rows:
        cells = read_grid(BOARDS[0], f"{row['board']},{row['hand']}").cells
        assert QuartoPosition(BOARDS[1], cells).has_line()


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_every_position_of_small_games(game: QuartoRules) -> None:
    ladder = Ladder(QuartoGame(QuartoBoard(*game)))
    for state, value in values(game).items():
        if not is_over(game, state):
            assert ladder.search(position_of(ladder.game.board, state)).value == value


def test_candidates_leave_out_only_what_is_not_better() -> None:
    """The hook on and off: the same value."""
    rng, board = random.Random(3), QuartoBoard(3, 3)
    for _ in range(20):
        position = random_position(board, 4, rng)
        every = search(QuartoGame(board), position, Rungs(forced=False))
        assert search(QuartoGame(board), position).value == every.value


@pytest.mark.parametrize("board", BOARDS, ids=["lines", "squares"])
def test_independent_values_of_late_endgames(board: QuartoBoard) -> None:
    late = [(position, value) for position, value in endgames(board) if position.placed >= 12]
    for position, value in late:
        assert search(QuartoGame(board), position).value == value


def test_evaluations_see_wins_and_losses_at_once() -> None:
    won = read_grid(BOARDS[0], "012./..../..../....,3")
    lost = next(
        position
        for position in (random_position(BOARDS[1], 9, random.Random(i)) for i in range(1000))
        if answers(position) == -SURE
    )
    assert answers(won) == parity(won) == SURE
    assert search(QuartoGame(BOARDS[0]), won, depth=1).value == 1
    assert search(QuartoGame(BOARDS[1]), lost, depth=2).value == -1
    assert answers(QuartoPosition(BOARDS[0])) == parity(QuartoPosition(BOARDS[0])) == 0
