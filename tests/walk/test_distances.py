"""The walk with distances against plain recursion, and against the walk without them."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numba import njit
from plain import distance as plain
from walks import bit_at, walk_with_distances
from walks import walk as walk_both

from retro.bits import Native, Portable, has_bmi2
from retro.games.connect4.rules import Connect4Board
from retro.games.connect4.text import read_moves
from retro.index.halves.ranking import rank_many
from retro.walk.halves.distances import (
    clear_numbers,
    finish_numbers,
    join_numbers,
    plain_number,
    plies_of_number,
)
from retro.walk.halves.layers import prepare
from retro.walk.task import Planes

SMALL = [
    (1, 1, 2), (1, 6, 3), (1, 7, 4), (6, 1, 3), (7, 1, 2), (2, 2, 2), (3, 3, 2), (4, 3, 2),
    (3, 3, 3), (4, 3, 3), (3, 4, 3), (2, 5, 3), (2, 7, 3), (5, 2, 3),
    (3, 3, 4), (2, 6, 4), (5, 2, 4), (3, 3, 5),
]  # fmt: skip
LARGER = [(5, 3, 3)]
SLOW = [
    (4, 4, 3),
    (4, 4, 4),
    (3, 6, 4),
    (6, 3, 4),
    (5, 4, 3),
    (4, 5, 3),
    (5, 4, 4),
    (4, 5, 4),
    (5, 4, 5),
    (10, 2, 4),
]
EVERY_CUT = [(g, left) for g in SMALL for left in range(g[0])]
ONE_CUT = [(g, None) for g in LARGER] + [
    pytest.param(g, None, marks=pytest.mark.slow, id=str(g)) for g in SLOW
]


@cache
def truth(game):
    """[ply] -> first, second, value, plies of every live position, as arrays, by recursion."""
    layers = [[] for _ in range(game[0] * game[1])]
    for mover, mask, value, plies in plain.positions(*game):
        other = mask ^ mover
        stones = (other, mover) if mask.bit_count() % 2 else (mover, other)
        layers[mask.bit_count()].append((*stones, value, plies))
    kinds = (np.uint64, np.uint64, np.int64, np.int64)
    columns = ([[row[i] for row in layer] for i in range(4)] for layer in layers)
    return [tuple(map(np.array, layer, kinds)) for layer in columns]


def stored(prepared, planes, ply, first, second):
    """Values and plies that the planes of a layer have of some positions."""
    ranks = np.empty(len(first), np.int64)
    rank_many(prepared.layout.shape, first, second, ranks)
    assert (ranks >= 0).all()
    win, loss, *bits = (bit_at(plane, ranks) for plane in planes)
    values = win - loss
    numbers = sum((bit << place for place, bit in enumerate(bits)), np.zeros_like(values))
    assert not numbers[values == 0].any()
    empty = prepared.layout.board.cells - ply
    return values, np.where(values == 0, empty, 2 * numbers + (values > 0))


@pytest.mark.parametrize(("game", "left_columns"), [*EVERY_CUT, *ONE_CUT])
def test_every_position_ends_as_soon_as_plain_recursion_says(game, left_columns):
    prepared = prepare(Connect4Board(*game), left_columns, distances=True)
    planes, tallies = walk_with_distances(prepared)
    for ply, (first, second, values, plies) in enumerate(truth(game)):
        assert len(planes[ply]) == prepared.planes.of(ply)
        found = stored(prepared, planes[ply], ply, first, second)
        np.testing.assert_array_equal(found[0], values)
        np.testing.assert_array_equal(found[1], plies)
        decided = plies[values != 0]
        counted = np.bincount(decided, minlength=game[0] * game[1] - ply + 1)
        assert tallies[ply].distances == tuple(counted.tolist())


@pytest.mark.parametrize("game", [(4, 4, 4), (5, 4, 4), (6, 3, 3), (5, 3, 3)])
def test_values_are_those_of_a_walk_without_distances(game):
    _, expected, _ = walk_both(prepare(Connect4Board(*game)))
    planes, _ = walk_with_distances(prepare(Connect4Board(*game), distances=True))
    for ply, values in expected.items():
        assert planes[ply][:2].tobytes() == values.tobytes()


@pytest.mark.parametrize("moves", ["", "2", "33", "1234", "22114"])
def test_what_follows_a_root_ends_as_it_does_without_one(moves):
    game = (4, 4, 3)
    board = Connect4Board(*game)
    root = read_moves(board, moves)
    prepared = prepare(board, root=root, distances=True)
    planes, _ = walk_with_distances(prepared)
    for ply in range(root.ply, board.cells):
        first, second, values, plies = truth(game)[ply]
        below = [np.uint64(stones) for stones in (root.first, root.second)]
        here = ((first & below[0]) == below[0]) & ((second & below[1]) == below[1])
        found = stored(prepared, planes[ply], ply, first[here], second[here])
        np.testing.assert_array_equal(found[0], values[here])
        np.testing.assert_array_equal(found[1], plies[here])


@pytest.mark.skipif(not has_bmi2(), reason="this CPU has no PEXT and PDEP")
def test_the_bytes_do_not_depend_on_threads_or_bit_instructions():
    prepared = prepare(Connect4Board(5, 4), 3, threads=1, distances=True)
    planes, tallies = walk_with_distances(replace(prepared, bits=Native()))
    for other in (replace(prepared, bits=Portable()), replace(prepared, threads=3)):
        others, counted = walk_with_distances(other)
        assert counted == tallies
        assert all(others[ply].tobytes() == planes[ply].tobytes() for ply in planes)


@njit
def join_all(here, successors, planes, row):
    clear_numbers(here, np.uint64(0), np.uint64(1))
    for successor in successors:
        join_numbers(here, np.uint64(0), np.uint64(1), successor, planes, np.uint64(0), row)
    finish_numbers(here, np.uint64(0), np.uint64(1), row)


def word_of(bits):
    return np.uint64(sum(int(bit) << place for place, bit in enumerate(bits)))


@pytest.mark.parametrize("empty", [2, 3, 5, 8, 15, 16, 42])
def test_the_kernels_join_words_as_their_plain_twin_joins_positions(empty):
    """64 positions at once, some won at once, with random values and numbers of successors."""
    rng = np.random.default_rng(empty)
    here, there = (Planes(empty + 1, distances=True).of(ply) for ply in (1, 2))
    values = rng.choice([-1, 0, 1], (5, 64), p=[0.15, 0.1, 0.75])
    # With empty - 1 cells left a win takes 2h + 1 plies, a loss 2h.
    most = np.where(values > 0, (empty - 2) // 2, (empty - 1) // 2)
    numbers = np.where(values == 0, 0, rng.integers(0, most + 1))
    at_once = rng.random(64) < 0.1
    successors = np.zeros((5, there, 1), np.uint64)
    for successor, v, n in zip(successors, values, numbers, strict=True):
        planes = [v > 0, v < 0, *(n >> bit & 1 for bit in range(there - 2))]
        successor[:, 0] = [word_of(bits) for bits in planes]
    found = np.full((here, 1), 0xABCDEF, np.uint64)
    found[:2, 0] = word_of(at_once), word_of(~at_once)
    join_all(found, successors, there, np.zeros(1, np.uint64))
    for place in range(64):
        win, loss, *bits = (int(word) >> place & 1 for word in found[:, 0])
        replies = [*zip(values[:, place].tolist(), numbers[:, place].tolist(), strict=True)]
        replies += [(-1, 0)] * int(at_once[place])
        number = sum(bit << i for i, bit in enumerate(bits))
        assert (win - loss, number) == plain_number(replies)
        assert plies_of_number(win - loss, number, empty) <= empty
