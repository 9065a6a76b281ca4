"""Rooted tables: everything that extends a given position, and nothing else.

The index of a root against its definition (`retro.index.halves.plain`), both walks
against dictionaries (`naive`) on small boards, and on boards beyond any other
test's reach against the forward solver, which shares nothing with the walks.
"""

import random
from collections import Counter
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import connect4 as naive
from walks import walk

from retro.errors import GameOverError, IllegalPositionError, WrongBoardError
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.index.halves import plain
from retro.index.halves.layout import (
    default_left_columns,
    layer_blocks,
    layout_cost,
    make_layout,
    ranked_bound,
    ranked_positions,
)
from retro.index.halves.listing import marked_positions
from retro.index.halves.ranking import (
    NO_RANK,
    NOT_COVERED,
    Place,
    rank_many,
    rank_one,
    rank_position,
    unrank_position,
)
from retro.search import Solver
from retro.walk.halves.layers import backward, prepare

# Even and odd plies, uneven heights, full columns, one empty cell, lines of 2 to 5.
ROOTS = [
    ((3, 3, 3), "1"), ((3, 3, 3), "2213"), ((3, 3, 2), "1"), ((4, 3, 3), "222"),
    ((3, 4, 3), "1113"), ((4, 3, 4), "1114"), ((4, 3, 4), "44413"), ((4, 3, 4), "11122233344"),
    ((4, 4, 4), "22223"), ((4, 4, 4), "411113333"), ((5, 3, 4), "555333"), ((2, 6, 4), "1112"),
    ((1, 7, 4), "111"), ((1, 6, 3), "11"), ((6, 1, 3), "16"), ((5, 2, 4), "3315"),
    ((5, 3, 3), "33351"), ((4, 4, 5), "1234432"),
]  # fmt: skip
EVERY_CUT = [(naive.Game(*g), moves, left) for g, moves in ROOTS for left in range(g[0])]
LARGE = [Connect4Board(7, 6), Connect4Board(8, 7), Connect4Board(9, 5)]


def position_of(game, text):
    return Connect4Position(Connect4Board(*game), *naive.bitboards(game, text))


def as_words(stones):
    return np.array(stones, np.uint64)


def set_bits(plane):
    return np.flatnonzero(np.unpackbits(plane.astype("<u8").view(np.uint8), bitorder="little"))


def bit_at(plane, ranks):
    return (plane[ranks // 64] >> (ranks % 64).astype(np.uint64) & np.uint64(1)).astype(np.int64)


def random_root(board, empty, seed):
    """A position with so many empty cells that a random game reaches without a line."""
    rng = random.Random(seed)
    position = Connect4Position(board)
    while position.ply < board.cells - empty:
        after = [position._play(column) for column in position._numbers()]
        live = [p for p in after if p.winner() is None]
        position = rng.choice(live) if live else Connect4Position(board)
    return position


@pytest.mark.parametrize(("game", "moves", "left_columns"), EVERY_CUT)
def test_every_place_is_where_the_definition_puts_it(game, moves, left_columns):
    root = position_of(game, naive.after_moves(game, moves))
    layout = make_layout(root.board, left_columns, root)
    sizes = ranked_positions(layout)
    assert not sizes[: root.ply].any()
    assert unrank_position(layout, Place(root.ply, 0)) == root
    for ply in range(layout.plies):
        places = list(plain.layer(root.board, left_columns, ply, root))
        assert len(places) == 64 * layout.layer_words[ply]
        expected = [(rank, place) for rank, place in enumerate(places) if place is not None]
        assert len(expected) == sizes[ply]
        ranks = np.empty(len(expected), np.int64)
        first = as_words([position.first for _, position in expected])
        second = as_words([position.second for _, position in expected])
        rank_many(layout.shape, first, second, ranks)
        assert ranks.tolist() == [rank for rank, _ in expected]
        assert all(unrank_position(layout, Place(ply, r)) == p for r, p in expected)


@pytest.mark.parametrize(("game", "moves", "left_columns"), EVERY_CUT)
def test_walks_from_a_root_find_what_naive_finds(game, moves, left_columns):
    text = naive.after_moves(game, moves)
    root, known = position_of(game, text), naive.values(game, text)
    prepared = prepare(root.board, left_columns, root=root)
    counts, values, marked = walk(prepared)
    assert sorted(values) == list(range(root.ply, root.board.cells + 1))
    assert [tuple(c) for c in counts] == [tuple(c) for c in naive.counts(game, text)]
    layers = zip(counts, marked, naive.live_layers(game, text), strict=True)
    for count, alive, live in layers:
        positions = sorted(live)
        stones = as_words([naive.bitboards(game, p) for p in positions]).reshape(-1, 2)
        ranks = np.empty(len(positions), np.int64)
        rank_many(prepared.layout.shape, stones[:, 0].copy(), stones[:, 1].copy(), ranks)
        np.testing.assert_array_equal(set_bits(alive), np.unique(ranks))
        win, loss = (bit_at(plane, ranks) for plane in values[count.ply])
        assert (win - loss).tolist() == [known[p] for p in positions]


@pytest.mark.parametrize("seed", range(12))
def test_random_roots_of_5x4_and_5x5_find_what_naive_finds(seed):
    board = Connect4Board(5, 4 + seed % 2, 3 + seed // 2 % 2)
    game = naive.Game(board.width, board.height, board.connect)
    root = random_root(board, 9 + seed % 4, seed)
    text = "".join(
        naive.FIRST if root.first & cell else naive.SECOND if root.second & cell else naive.EMPTY
        for column in range(board.width)
        for cell in (board.bit(column, row) for row in range(board.height))
    )
    prepared = prepare(board, seed % board.width, root=root)
    counts = [tuple(c) for c in walk(prepared)[0]]
    assert counts == [tuple(c) for c in naive.counts(game, text)]


@pytest.mark.parametrize("board", [Connect4Board(5, 4), Connect4Board(4, 4, 3)])
def test_the_empty_board_as_a_root_changes_no_byte(board):
    whole, rooted = prepare(board), prepare(board, root=Connect4Position(board))
    for expected, found in zip(backward(whole), backward(rooted), strict=True):
        assert expected.stored.tobytes() == found.stored.tobytes()


def test_a_rooted_table_repeats_the_values_of_the_whole_board():
    board = Connect4Board(5, 4)
    root = Connect4Position(board)._play(2)._play(2)._play(3)
    whole, rooted = prepare(board), prepare(board, root=root)
    values, (counted, rooted_values, marked) = walk(whole)[1], walk(rooted)
    compared = 0
    for counts, alive in zip(counted, marked, strict=True):
        for listed in marked_positions(rooted.layout, counts.ply, [(0, alive)]):
            ranks = np.empty(len(listed.first), np.int64)
            rank_many(whole.layout.shape, listed.first, listed.second, ranks)
            # What the rooted cut gives a rank the other cut may leave out, but not what is alive.
            for expected, found in zip(values[counts.ply], rooted_values[counts.ply], strict=True):
                np.testing.assert_array_equal(bit_at(expected, ranks), bit_at(found, listed.ranks))
            compared += len(ranks)
    assert compared > 50_000


def test_threads_do_not_change_the_bytes_of_a_rooted_table():
    board = Connect4Board(7, 6)
    root = random_root(board, 18, seed=3)
    one, three = (prepare(board, threads=threads, root=root) for threads in (1, 3))
    counts, values, alive = walk(one)
    same_counts, same_values, same_alive = walk(three)
    assert counts == same_counts
    assert all(values[ply].tobytes() == same_values[ply].tobytes() for ply in values)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(alive, same_alive, strict=True))


# The index on large boards.


@cache
def large_layout(board, empty, seed):
    return make_layout(board, root=random_root(board, empty, seed))


@given(st.data())
@pytest.mark.parametrize("board", LARGE)
def test_games_from_a_root_on_large_boards_come_back_from_their_rank(board, data):
    layout = large_layout(
        board, data.draw(st.sampled_from([8, 17, 24])), data.draw(st.integers(0, 2))
    )
    position = layout.root
    for _ in range(data.draw(st.integers(0, board.cells - position.ply))):
        after = [position._play(column) for column in position._numbers()]
        live = [p for p in after if p.winner() is None]
        if not live:
            break
        position = data.draw(st.sampled_from(live))
    place = rank_position(layout, position)
    assert place.ply == position.ply
    assert unrank_position(layout, place) == position


@given(st.data())
@pytest.mark.parametrize("board", LARGE)
def test_places_of_large_boards_come_back_from_their_position(board, data):
    layout = large_layout(board, 24, data.draw(st.integers(0, 2)))
    ply = data.draw(st.integers(layout.first_ply, board.cells))
    words = int(layout.layer_words[ply])
    place = Place(ply, data.draw(st.integers(0, max(0, 64 * words - 1))))
    position = unrank_position(layout, place) if words else None
    if position is not None:
        assert rank_position(layout, position) == place


@pytest.mark.parametrize("board", LARGE)
@pytest.mark.parametrize("seed", range(3))
def test_late_layers_of_large_boards_are_what_the_definition_lists(board, seed):
    root = random_root(board, 5, seed)
    for left_columns in (2, board.width - 2):
        layout = make_layout(board, left_columns, root)
        for ply in range(root.ply, board.cells + 1):
            places = list(plain.layer(board, left_columns, ply, root))
            assert len(places) == 64 * layout.layer_words[ply]
            for rank, position in enumerate(places):
                if position is not None:
                    assert rank_one(layout, position.first, position.second) == rank


def test_what_does_not_extend_the_root_is_not_covered():
    board = Connect4Board(5, 4)
    root = Connect4Position(board)._play(2)._play(2)
    layout = make_layout(board, 3, root)
    other_colour = Connect4Position(board)._play(3)._play(2)
    stones = {
        "the empty board": Connect4Position(board),
        "the root's predecessor": Connect4Position(board)._play(2),
        "another first move": Connect4Position(board)._play(1)._play(2)._play(2),
        "a root stone in the other's hand": other_colour._play(2),
    }
    ranks = {why: rank_one(layout, p.first, p.second) for why, p in stones.items()}
    assert set(ranks.values()) == {NOT_COVERED}, ranks
    assert all(rank_position(layout, p) is None for p in stones.values())
    assert rank_one(layout, root.first | board.bit(0, 1), root.second) == NO_RANK  # it floats
    assert rank_one(layout, root.first, root.second) == 0


# What a root costs.


@pytest.mark.parametrize(("game", "moves", "left_columns"), EVERY_CUT[::2])
def test_the_cost_is_a_bound(game, moves, left_columns):
    root = position_of(game, naive.after_moves(game, moves))
    cost = layout_cost(root.board, left_columns, root)
    layout = make_layout(root.board, left_columns, root)
    sizes = ranked_positions(layout)
    assert (sizes <= cost.ranked).all()
    assert len(layout.left.colourings) + len(layout.right.colourings) <= cost.listed
    assert layout.shape.offset.size == cost.offsets
    if max(left_columns, root.board.width - left_columns) < root.board.connect:
        assert sizes.tolist() == cost.ranked  # only columns can hold a line


def test_thirty_empty_cells_of_7x6_cost_about_as_much_as_6x5():
    whole = sum(ranked_bound(Connect4Board(6, 5)))
    costs = [
        layout_cost(board, root=random_root(board, 30, seed))
        for board in LARGE
        for seed in range(5)
    ]
    assert all(whole / 50 < sum(cost.ranked) < 10 * whole for cost in costs)
    assert all(cost.memory < 1.5e9 for cost in costs)


def line_free_columns(board, below):
    """(more cells, more first-player stones) of every column that grows from `below`."""
    for cells in range(board.height - len(below) + 1):
        for colours in product("XO", repeat=cells):
            text = below + "".join(colours)
            if "X" * board.connect not in text and "O" * board.connect not in text:
                yield cells, colours.count("X")


@pytest.mark.parametrize(
    "board",
    [Connect4Board(8, 7), Connect4Board(9, 6, 5), Connect4Board(21, 2), Connect4Board(32, 1, 3)],
)
@pytest.mark.parametrize("moves", [1, 8])
def test_the_bound_of_a_root_is_exact_far_beyond_64_bit_sums(board, moves):
    root = random_root(board, board.cells - moves, seed=1)
    ways = Counter({(root.ply, root.first.bit_count()): 1})
    for column in range(board.width):
        cells = [board.bit(column, row) for row in range(root.height(column))]
        below = "".join("X" if root.first & cell else "O" for cell in cells)
        grown = Counter()
        for more_cells, more_ones in line_free_columns(board, below):
            for (stones, ones), number in ways.items():
                grown[stones + more_cells, ones + more_ones] += number
        ways = grown
    expected = [ways[ply, (ply + 1) // 2] for ply in range(board.cells + 1)]
    assert ranked_bound(board, root) == expected


@pytest.mark.parametrize("shape", [(8, 7), (1, 63), (2, 31), (32, 1), (21, 2), (9, 6)], ids=str)
@pytest.mark.parametrize("moves", [0, 1, 5])
def test_a_root_too_large_to_build_has_a_cost_at_once(shape, moves):
    board = Connect4Board(*shape)
    root = random_root(board, board.cells - moves, seed=1)
    cost = layout_cost(board, root=root)
    assert cost.left_columns == default_left_columns(board, root)
    assert all(type(number) is int for number in (*cost.ranked, cost.listed, cost.offsets))
    assert cost.ranked[: moves + 1] == [0] * moves + [1]
    assert cost.memory + sum(cost.ranked) > 10**12


@pytest.mark.parametrize("shape", [(8, 7), (1, 63), (2, 31), (32, 1), (9, 6)], ids=str)
def test_nearly_full_boards_of_every_shape_are_walked(shape):
    board = Connect4Board(*shape, connect=5)
    root = random_root(board, 6, seed=2)
    prepared = prepare(board, root=root)
    counts, _, _ = walk(prepared)
    assert [c.ply for c in counts] == list(range(board.cells - 6, board.cells + 1))
    assert all(c.positions == c.win + c.draw + c.loss for c in counts)
    assert counts[0].win - counts[0].loss == Solver(board, memory_mb=17).solve(root).value


@pytest.mark.parametrize("ply", [0, 3])
def test_layers_before_the_root_are_empty(ply):
    board = Connect4Board(5, 4)
    layout = make_layout(board, root=Connect4Position(board)._play(2)._play(2)._play(3)._play(0))
    assert layer_blocks(layout, ply).offset.tolist() == [0]
    with pytest.raises(ValueError, match=f"rank 0 is outside ply {ply}"):
        unrank_position(layout, Place(ply, 0))


def test_a_root_that_nothing_grows_from_is_refused():
    board = Connect4Board(4, 4)
    game = naive.Game(4, 4, 4)
    won = position_of(game, naive.after_moves(game, "1212121"))
    with pytest.raises(GameOverError, match="first player has 4 in a line; no table"):
        make_layout(board, root=won)
    with pytest.raises(
        WrongBoardError, match="found a root on connect4-5x4, wanted one on connect4-4x4"
    ):
        make_layout(board, root=Connect4Position(Connect4Board(5, 4)))
    with pytest.raises(IllegalPositionError, match="floats"):
        make_layout(board, root=Connect4Position(board, board.bit(0, 1)))


# Rooted tables against the forward solver.


def compare_with_solver(board, empty, seed, at_most):
    """Solve a sample of the live positions of a rooted table; return how many."""
    prepared = prepare(board, root=random_root(board, empty, seed))
    counted, values, marked = walk(prepared)
    found = []
    for counts, alive in zip(counted, marked, strict=True):
        if counts.ply < board.cells:
            for listed in marked_positions(prepared.layout, counts.ply, [(0, alive)]):
                win, loss = (bit_at(plane, listed.ranks) for plane in values[counts.ply])
                found += zip(listed.first, listed.second, win - loss, strict=True)
    sample = random.Random(seed).sample(found, min(at_most, len(found)))
    solver = Solver(board, memory_mb=17)
    for first, second, value in sample:
        position = Connect4Position(board, int(first), int(second))
        assert solver.solve(position).value == value, position
    return len(sample)


@pytest.mark.parametrize("board", LARGE)
def test_the_forward_solver_agrees_with_rooted_tables(board):
    cases = [(empty, seed) for seed, empty in enumerate((12, 14, 16))]
    assert sum(compare_with_solver(board, *case, at_most=400) for case in cases) > 700


@pytest.mark.slow
@pytest.mark.parametrize("board", LARGE)
@pytest.mark.parametrize("empty", range(12, 21))
def test_the_forward_solver_agrees_with_many_rooted_tables(board, empty):
    for seed in range(100, 110):
        assert compare_with_solver(board, empty, seed, at_most=5000)
