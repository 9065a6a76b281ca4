"""The engine against the plain oracle, exhaustively on small boards, and on the six sets."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from plain import distance as plain

from retro.search.connect4 import bits
from retro.search.connect4 import goals as solver

# The six files of Pons' benchmark, where somebody has them.
DATA = Path(os.environ.get("CONNECT4_SETS", "no such folder"))
SETS = ["Test_L3_R1", "Test_L2_R1", "Test_L2_R2", "Test_L1_R1", "Test_L1_R2", "Test_L1_R3"]
SMALL = [(3, 4, 3), (4, 3, 3), (3, 3, 2), (2, 5, 3), (4, 3, 4), (4, 4, 3), (1, 6, 4)]
PLAINLY_SLOW = pytest.param(
    (4, 4, 4), marks=pytest.mark.slow
)  # for the recursion that it is held to


@pytest.mark.parametrize("shape", [PLAINLY_SLOW, *SMALL])
@pytest.mark.parametrize("strong", [False, True])
def test_every_position_of_a_small_board(shape, strong):
    rows = plain.positions(*shape)
    engine = solver.make_engine(*shape, memory=1 << 16)
    movers, masks, values, plies = zip(*rows, strict=True)
    bounds, _, solved = solver.solve_batch(engine, movers, masks, strong)
    assert solved == len(rows)
    found = (bounds[:, 0] > 0).astype(int) - (bounds[:, 1] < 0)
    np.testing.assert_array_equal(found, values)
    if strong:
        np.testing.assert_array_equal(bounds[:, 0], bounds[:, 1])
        ends = [
            solver.plies_of(engine.board, int(b), m)
            for b, m in zip(bounds[:, 0], masks, strict=True)
        ]
        np.testing.assert_array_equal(ends, plies)


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        ((5, 4, 4), 0),
        ((5, 5, 4), 0),
        ((6, 4, 4), -1),
        ((7, 4, 4), 0),
        ((6, 5, 4), 0),
        ((4, 7, 4), 0),
        ((5, 5, 3), 1),
        ((32, 1, 2), 1),
        ((8, 7, 2), 1),
        ((1, 63, 4), 0),
        ((6, 5, 5), 0),
    ],
)
def test_empty_boards(shape, value):
    engine = solver.make_engine(*shape, memory=1 << 24)
    answer = solver.solve(engine, 0, 0)
    assert (answer.done, answer.value) == (True, value)


def test_any_counts_of_stones():
    """Either side may be to move whatever stands on the board."""
    height, connect, memo = 4, 3, {}
    engine = solver.make_engine(4, 4, 3, memory=1 << 16)
    grids = [("x", "x", "", "o"), ("ooxx", "", "o", ""), ("xo", "", "", "xx"), ("o", "o", "", "")]
    for columns in grids:
        for mover in "xo":
            value, plies = plain.solve(columns, height, connect, mover, memo)
            x, o = (plain.bits(columns, height, s) for s in "xo")
            answer = solver.solve(engine, x if mover == "x" else o, x | o, strong=True)
            assert (answer.value, answer.plies) == (value, plies)


@pytest.mark.parametrize("memory", [1 << 24, 1 << 12, 32])
@pytest.mark.parametrize("strong", [False, True])
def test_slices_go_on_where_they_stopped(memory, strong):
    """Whatever the table remembers, down to two words: in slices or not, the same nodes."""
    shape = (6, 5) if memory > 32 else (4, 4)
    whole = solver.solve(solver.make_engine(*shape, memory=memory), 0, 0, strong)
    engine, total, answer = solver.make_engine(*shape, memory=memory), 0, None
    while answer is None or not answer.done:
        answer = solver.solve(engine, 0, 0, strong, node_limit=499)
        assert answer.nodes <= 499
        assert answer.low <= whole.high
        assert whole.low <= answer.high
        total += answer.nodes
    assert answer._replace(nodes=total) == whole
    assert total > 499


def test_a_question_in_between_begins_the_first_one_anew():
    engine = solver.make_engine(6, 5, memory=1 << 24)
    first = solver.solve(engine, 0, 0, node_limit=1000)
    other = solver.solve(engine, 0, 1 << 12, node_limit=1000)
    assert not first.done
    assert not other.done
    assert solver.solve(engine, 0, 0).value == 0


NODES = {(4, 4): 466, (5, 4): 1479, (6, 5): 185_325}


@pytest.mark.parametrize(("shape", "nodes"), NODES.items())
def test_the_number_of_nodes_is_known(shape, nodes):
    """A change of the order of moves, of bounds or of the table would show here."""
    engine = solver.make_engine(*shape, memory=1 << 24)
    assert solver.solve(engine, 0, 0, strong=True).nodes == nodes


@pytest.mark.parametrize("shape", [(6, 5), (5, 6), (7, 4)])
def test_the_distance_of_a_draw_costs_no_more_than_its_value(shape):
    value, distance = (
        solver.solve(solver.make_engine(*shape, memory=1 << 24), 0, 0, strong)
        for strong in (False, True)
    )
    assert (value.value, distance.nodes) == (0, value.nodes)


def test_bad_positions_are_refused():
    engine = solver.make_engine(4, 4, memory=1 << 12)
    for mover, mask in [(0, 2), (1, 0), (0, 1 << 4), (0b1111, 0b1111), (0, 0b1111)]:
        with pytest.raises(ValueError, match=r"stones|won"):
            solver.solve(engine, mover, mask)
    with pytest.raises(ValueError, match="fit"):
        bits.make_board(8, 8)
    with pytest.raises(ValueError, match="at least 2"):
        bits.make_board(4, 4, 1)


def read_set(name: str, limit: int):
    rows = []
    for line in (DATA / name).read_text().splitlines()[:limit]:
        moves, score = line.split()
        stones, heights = [0, 0], [0] * 7
        for ply, letter in enumerate(moves):
            c = int(letter) - 1
            stones[ply & 1] |= 1 << (c * 7 + heights[c])
            heights[c] += 1
        rows.append((stones[len(moves) & 1], stones[0] | stones[1], int(score)))
    return rows


@pytest.mark.skipif(not DATA.exists(), reason="benchmark sets not present")
@pytest.mark.parametrize("name", SETS)
def test_benchmark_sets(name):
    """100 lines each, win/draw/loss; the exact score too where that is quick."""
    movers, masks, scores = zip(*read_set(name, 100), strict=True)
    engine = solver.make_engine(7, 6, memory=1 << 27)
    for strong in [False] if name == "Test_L1_R3" else [False, True]:
        if name == "Test_L1_R3":  # the positions with the most stones: seconds, not minutes
            rows = sorted(read_set(name, 1000), key=lambda row: -row[1].bit_count())[:100]
            movers, masks, scores = zip(*rows, strict=True)
        bounds, _, solved = solver.solve_batch(engine, movers, masks, strong)
        assert solved == len(movers)
        if strong:
            np.testing.assert_array_equal(bounds[:, 0], scores)
        found = (bounds[:, 0] > 0).astype(int) - (bounds[:, 1] < 0)
        np.testing.assert_array_equal(found, np.sign(scores))
