"""Counting in closed form against plain twins, and against what is published of 7x6.

`test_halves`, `test_rooted` and `test_distances` hold the counts of walked boards against naive.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from plain import reach
from strategies import published

from retro.bits import Portable
from retro.games.connect4.rules import Connect4Board
from retro.index.halves.layout import make_layout
from retro.walk.halves.layer import Rooms
from retro.walk.halves.layers import count_layer
from retro.walk.halves.prepared import prepare, prepare_layout


def columns_of(half, profile, colouring):
    """The columns of half a board, as texts."""
    geo = half.geometry
    return tuple(
        "".join("OX"[int(colouring) >> (c * (geo.height + 1) + r) & 1] for r in range(height))
        for c, height in enumerate(half.heights[profile].tolist())
    )


@pytest.mark.parametrize(("size", "left_columns"), [((4, 3, 3), 2), ((5, 2, 4), 2), ((3, 4, 4), 1)])
def test_two_halves_go_together_exactly_if_they_can_be_taken_apart(size, left_columns):
    prepared = prepare(Connect4Board(*size), left_columns, threads=1)
    layout, classes = prepared.layout, prepared.classes
    listed = [
        [
            (p, q, i, columns_of(half, p, half.colourings[i]))
            for p, q in np.argwhere(half.counts() > 0).tolist()
            for i in range(half.start[p, q], half.start[p, q + 1])
        ]
        for half in (layout.left, layout.right)
    ]
    found = [0, 0]
    for pl, ql, i, left in listed[0]:
        for pr, q, j, right in listed[1]:
            a, n = int(layout.left.stones[pl]), int(layout.right.stones[pr])
            if ql + q != (a + n + 1) // 2:
                continue
            row, k = classes.begin[a, ql] + int(classes.left[i]), int(classes.right[j]) - 1
            bit = k >= 0 and bool(int(classes.table[n, k // 64, row]) >> k % 64 & 1)
            assert bit == reach.can_be_taken_apart(left + right, (a + n - 1) % 2)
            found[bit] += 1
    assert min(found) > 10, found


def count(layout, plies, threads=2, bits=None):
    prepared, rooms = prepare_layout(layout, threads), Rooms()
    if bits is not None:
        object.__setattr__(prepared, "bits", bits)
    with ThreadPoolExecutor(threads) as pool:
        found = [count_layer(prepared, ply, pool, rooms) for ply in plies]
    return [(tally.positions, tally.terminal) for tally in found]


def test_a_board_with_more_than_64_lines_across_the_cut_is_counted():
    board = Connect4Board(4, 15, 3)
    layout = make_layout(board, 2, last_ply=8)
    assert len(prepare_layout(layout, 1).plan.cross_left) == 82
    assert count(layout, range(8)) == reach.counts((4, 15, 3), 8)


ROWS = [row for row in published("connect4_built.csv") if (row["width"], row["height"]) == (7, 6)]


def test_the_first_plies_of_7x6_have_the_published_counts():
    """From halves of no more stones than that, in any order of plies, in portable bits."""
    layout = make_layout(Connect4Board(7, 6), last_ply=9)
    plies = [9, 0, 4, 8, 1, 2, 3, 7, 6, 5]
    wanted = [(ROWS[ply]["positions"], ROWS[ply]["terminal"]) for ply in plies]
    assert count(layout, plies) == wanted
    assert count(layout, plies[:3], bits=Portable()) == wanted[:3]


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_plies_of_7x6_have_the_published_counts():
    assert len(ROWS) == 43
    wanted = [(row["positions"], row["terminal"]) for row in ROWS]
    assert count(make_layout(Connect4Board(7, 6), listed=False), range(43)) == wanted
