"""Bounds and order of moves for games of lines: true to every value, and published values."""

import numpy as np
import pytest
from strategies import published

from retro.games.catalogue import find_game
from retro.games.kernels import bounds_of
from retro.search import Solver
from retro.walk.keys import layers as walks

BEYOND_TABLES = [row for row in published("mnk_values.csv") if not row["positions"]]
HARD = [row for row in BEYOND_TABLES if row["k"] == 5]


@pytest.mark.parametrize(
    ("name", "size", "options"),
    [
        ("mnk", "3x3", {"connect": "3"}),
        ("mnk", "4x3", {"connect": "3"}),
        ("puissance-plus", "3x3", {"target": "6"}),
        ("puissance-plus", "3x3", {"target": "5", "values": "111/222/333"}),
    ],
)
def test_bounds_never_exclude_the_value(name: str, size: str, options: dict[str, str]) -> None:
    game = find_game(name)
    rules = game.parse(size, options).rules
    exact = 0
    for layer in walks.solve(walks.prepare(rules)):
        for a, value in zip(layer.keys.a, layer.values.tolist(), strict=True):
            low, high = bounds_of(rules, a, np.uint64(0))
            assert low <= value <= high
            exact += low == high
    assert exact > 100


def check(row: dict[str, int]) -> None:
    game = find_game("mnk")
    board = game.parse(f"{row['cols']}x{row['rows']}", {"connect": str(row["k"])})
    found = Solver(board, memory_mb=64).solve(board.start())
    assert found.value == {"W": 1, "D": 0, "L": -1}[row["value"]]


@pytest.mark.parametrize(
    "row",
    [row for row in BEYOND_TABLES if row not in HARD],
    ids=lambda row: f"{row['rows']},{row['cols']},{row['k']}",
)
def test_published_values_beyond_tables(row: dict[str, int]) -> None:
    check(row)


@pytest.mark.slow
def test_five_in_a_row_on_5x5() -> None:
    assert len(HARD) == 1
    check(HARD[0])
