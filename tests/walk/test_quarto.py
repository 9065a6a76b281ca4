"""Whole and rooted tables of Quarto by the generic walk: against recursion, counts, the search."""

import random
from collections import Counter

import pytest
from games.quarto.test_ladder_game import BOARDS, random_position
from games.quarto.test_rules import SMALL
from plain.quarto import QuartoRules, is_over, values
from search_cases import StateSolver
from strategies import published

from retro.games.quarto.kernels import quarto_rules
from retro.games.quarto.rules import QuartoBoard
from retro.search.generic import quarto_engine
from retro.walk.keys.layers import prepare, solve


def ply_of(state):
    cells, hand = state
    placed = len(cells) - cells.count(".")
    return placed + (placed > 0 or hand != "")


def sampled(layers, many, rng):
    """(canonical state, value) of some live positions."""
    live = [
        (int(a), int(b), int(value))
        for layer in layers
        for a, b, value in zip(*layer.keys, layer.values, strict=True)
    ]
    return rng.sample(live, min(many, len(live)))


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_counts_per_ply_of_small_games(game: QuartoRules) -> None:
    expected = Counter((ply_of(state), value) for state, value in values(game).items())
    ended = Counter(ply_of(state) for state in values(game) if is_over(game, state))
    found = {}
    for layer in solve(prepare(quarto_rules(QuartoBoard(*game)))):
        ply, every = layer.counts.ply, layer.counts.every
        found |= {(ply, 1): every.win, (ply, 0): every.draw, (ply, -1): every.loss}
        assert every.terminal == ended[ply]
    assert {key: count for key, count in found.items() if count} == expected


@pytest.mark.parametrize("row", published("quarto_counts.csv"), ids=str)
def test_independent_counts(row: dict[str, int]) -> None:
    """Positions with a piece in hand; the value of whoever places first."""
    layers = solve(prepare(quarto_rules(QuartoBoard(row["size"], row["attributes"]))))
    live = sum(layer.counts.every.positions - layer.counts.every.terminal for layer in layers)
    assert live == row["states"] + 1  # and the empty board
    assert layers[0].values.tolist() == [{"W": -1, "D": 0}[row["value_of_placer"]]]


def test_3x3_with_three_attributes() -> None:
    board = QuartoBoard(3, 3)
    layers = solve(prepare(quarto_rules(board)))
    solver = StateSolver(board, loop=quarto_engine)
    for a, b, value in sampled(layers, 500, random.Random(7)):
        assert solver.solve((a, b)).value == value


@pytest.mark.parametrize("board", BOARDS, ids=["lines", "squares"])
def test_rooted_4x4(board: QuartoBoard) -> None:
    root = random_position(board, 11, random.Random(1))
    layers = solve(prepare(quarto_rules(board)), root._state, root.ply)
    solver = StateSolver(board, loop=quarto_engine)
    assert layers[0].values.tolist() == [solver.solve(root._state).value]
    for a, b, value in sampled(layers, 200, random.Random(8)):
        assert solver.solve((a, b)).value == value
