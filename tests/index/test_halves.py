"""The index: a bijection between the places of a layer and the positions that have one.

Small boards are listed in full and compared with `retro.index.halves.plain`, which
knows only the definition. Large ones are sampled by random legal games.
"""

from collections import Counter
from functools import cache
from itertools import groupby, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import games

from retro.games.connect4.rules import Connect4Board
from retro.index.halves import plain
from retro.index.halves.layout import (
    default_left_columns,
    layer_blocks,
    make_layout,
    ranked_bound,
    ranked_positions,
)
from retro.index.halves.listing import marked_positions
from retro.index.halves.ranking import (
    NO_RANK,
    Place,
    rank_many,
    rank_one,
    rank_position,
    unrank_position,
)
from retro.walk.halves.mirror import make_mirror_plan, mirror_image

SMALL = [
    (3, 3, 3), (3, 3, 4), (3, 3, 2), (4, 2, 3), (2, 5, 3), (2, 6, 4), (1, 7, 3), (1, 5, 4),
    (5, 1, 3), (1, 1, 2), (4, 3, 3), (3, 4, 4),
]  # fmt: skip
EVERY_CUT = [(Connect4Board(*g), left) for g in SMALL for left in range(g[0])]
LONG_ROWS = [(Connect4Board(4, 3), 3)]  # rows of more than one word

cached_layout = cache(make_layout)


def words(*stones):
    return np.array(stones, np.uint64)


@pytest.mark.parametrize(("board", "left_columns"), LONG_ROWS + EVERY_CUT[::5])
def test_a_layout_of_the_first_layers_is_that_of_all_where_it_reaches(board, left_columns):
    whole = make_layout(board, left_columns)
    plies = whole.left.stones[:, None] + whole.right.stones
    for last_ply in range(board.cells):
        some = make_layout(board, left_columns, last_ply=last_ply)
        here = plies <= last_ply
        np.testing.assert_array_equal(some.shape.offset[here], whole.shape.offset[here])
        first = slice(last_ply + 1)
        np.testing.assert_array_equal(some.stored_words[first], whole.stored_words[first])
        listed, few = whole.left, whole.left.stones <= last_ply
        kept = np.concatenate(
            [listed.colourings[a[0] : a[-1]] for a in listed.start[few]] or [words()]
        )
        np.testing.assert_array_equal(some.left.colourings, kept)


@pytest.mark.parametrize(("board", "left_columns"), EVERY_CUT + LONG_ROWS)
def test_every_place_of_a_small_board_is_where_the_definition_puts_it(board, left_columns):
    layout = make_layout(board, left_columns)
    sizes = ranked_positions(layout)
    for ply in range(layout.plies):
        places = list(plain.layer(board, left_columns, ply))
        assert len(places) == 64 * layout.stored_words[ply]
        expected = [(rank, place) for rank, place in enumerate(places) if place is not None]
        assert len(expected) == sizes[ply]
        ranks = np.empty(len(expected), np.int64)
        first = words(*(position.first for _, position in expected))
        second = words(*(position.second for _, position in expected))
        rank_many(layout.shape, first, second, ranks)
        assert ranks.tolist() == [rank for rank, _ in expected]
        for rank, position in expected:
            assert unrank_position(layout, Place(ply, rank)) == position


@pytest.mark.parametrize(("board", "left_columns"), EVERY_CUT[::4])
def test_padding_unranks_to_no_position(board, left_columns):
    layout = make_layout(board, left_columns)
    for ply in range(layout.plies):
        places = list(plain.layer(board, left_columns, ply))
        # The first and the last of each run of padding.
        padding = [rank for rank, place in enumerate(places) if place is None]
        runs = [
            [r for _, r in run] for _, run in groupby(enumerate(padding), lambda p: p[1] - p[0])
        ]
        assert all(
            unrank_position(layout, Place(ply, rank)) is None
            for run in runs
            for rank in (run[0], run[-1])
        )


@pytest.mark.parametrize(("board", "left_columns"), EVERY_CUT[::3] + LONG_ROWS)
@pytest.mark.parametrize("words_at_once", [1, 3, None])
def test_bulk_unranking_lists_the_marked_positions_in_order(
    monkeypatch, board, left_columns, words_at_once
):
    if words_at_once is not None:  # so that stretches end inside blocks, rectangles and rows
        monkeypatch.setattr("retro.index.halves.listing.WORDS_AT_ONCE", words_at_once)
    layout = make_layout(board, left_columns)
    rng = np.random.default_rng(1)
    for ply in range(layout.plies):
        places = list(plain.layer(board, left_columns, ply))
        wanted = [rank for rank, p in enumerate(places) if p is not None and rng.random() < 0.5]
        marks = np.zeros(layout.layer_words[ply], np.uint64)
        for rank in wanted:
            marks[rank // 64] |= np.uint64(1 << rank % 64)
        # In pieces of whole blocks, as whoever makes the marks gives them.
        ends = layer_blocks(layout, ply).offset.tolist()
        pieces = [(begin, marks[begin:end]) for begin, end in pairwise(ends)]
        found = [
            (int(ours), int(theirs), int(rank))
            for listed in marked_positions(layout, ply, pieces)
            for ours, theirs, rank in zip(*listed, strict=True)
        ]
        assert found == [(places[rank].first, places[rank].second, rank) for rank in wanted]


@given(st.data())
@pytest.mark.parametrize(
    ("board", "left_columns"),
    [
        (Connect4Board(5, 5), 2),
        (Connect4Board(5, 5), 3),
        (Connect4Board(6, 5), 3),
        (Connect4Board(6, 5), 4),
        (Connect4Board(7, 4, 5), 3),
    ],
)
def test_legal_games_on_large_boards_come_back_from_their_rank(board, left_columns, data):
    layout = cached_layout(board, left_columns)
    position = data.draw(games(board, unfinished=True))
    place = rank_position(layout, position)
    assert place.ply == position.ply
    assert unrank_position(layout, place) in (position, position.mirror())


def test_ranks_beyond_32_bits_come_back():
    layout = make_layout(Connect4Board(7, 5), 4)
    ply = int(np.argmax(layout.stored_words))
    highest = 64 * int(layout.stored_words[ply])
    assert highest > 2**32
    rng = np.random.default_rng(2)
    ranks = {int(rank) for rank in rng.integers(highest - 2**30, highest, 300)}
    found = {rank: unrank_position(layout, Place(ply, rank)) for rank in ranks}
    ranked = {rank: position for rank, position in found.items() if position is not None}
    assert len(ranked) > 100
    assert {r: rank_one(layout, p.first, p.second) for r, p in ranked.items()} == {
        r: r for r in ranked
    }


@pytest.mark.parametrize(
    ("board", "left_columns"),
    [
        (Connect4Board(5, 4), 2),
        (Connect4Board(5, 5), 2),
        (Connect4Board(3, 6), 1),
        (Connect4Board(3, 4, 3), 1),
    ],
)
def test_where_no_half_is_wide_enough_for_a_line_the_bound_is_exact(board, left_columns):
    assert ranked_positions(make_layout(board, left_columns)).tolist() == ranked_bound(board)


def test_a_half_as_wide_as_a_line_leaves_some_positions_out():
    board = Connect4Board(5, 4)
    sizes = ranked_positions(make_layout(board, 4))
    assert (sizes <= ranked_bound(board)).all()
    assert sizes.sum() < sum(ranked_bound(board))


@pytest.mark.parametrize(
    ("board", "left_columns", "published"),
    [(Connect4Board(5, 4), 2, 4_658_609), (Connect4Board(5, 5), 2, 108_705_109)],
)
def test_without_mirror_ranked_positions_are_as_many_as_published(board, left_columns, published):
    layout = make_layout(board, left_columns)
    assert ranked_positions(layout).sum() == published
    assert (layout.layer_words == layout.stored_words).all()


@pytest.mark.parametrize(
    ("board", "left_columns"),
    [(Connect4Board(5, 4), 3), (Connect4Board(6, 2), 3), (Connect4Board(4, 4, 3), 3)],
)
def test_one_profile_of_each_mirror_pair_is_stored(board, left_columns):
    layout = make_layout(board, left_columns)
    plan = make_mirror_plan(layout)
    left, right = np.nonzero(np.ones_like(layout.shape.stored))
    image = mirror_image(layout, plan, left, right)
    is_own_image = (image[0] == left) & (image[1] == right)
    np.testing.assert_array_equal(mirror_image(layout, plan, *image), (left, right))
    np.testing.assert_array_equal(
        layout.shape.stored[left, right], is_own_image | ~layout.shape.stored[image]
    )


@given(st.data())
@pytest.mark.parametrize(
    ("board", "left_columns"),
    [(Connect4Board(7, 4), 4), (Connect4Board(5, 4), 3), (Connect4Board(6, 5), 3)],
)
def test_a_position_and_its_mirror_image_have_the_same_rank(board, left_columns, data):
    position = data.draw(games(board, unfinished=True))
    layout, image = cached_layout(board, left_columns), position.mirror()
    places = rank_position(layout, position), rank_position(layout, image)
    has_own_profile = position.first | position.second == image.first | image.second
    assert has_own_profile or places[0] == places[1]
    assert {unrank_position(layout, place) for place in places} <= {position, image}


def line_free_columns(height, connect):
    """(cells, first-player stones) of every colouring of one column without a vertical line."""
    for cells in range(height + 1):
        for colours in product("XO", repeat=cells):
            text = "".join(colours)
            if "X" * connect not in text and "O" * connect not in text:
                yield cells, text.count("X")


@pytest.mark.parametrize(
    "board",
    [Connect4Board(7, 6), Connect4Board(8, 7), Connect4Board(4, 3, 2), Connect4Board(9, 6, 5)],
)
def test_the_bound_is_exact_far_beyond_64_bit_sums(board):
    column = Counter(line_free_columns(board.height, board.connect))
    ways = Counter({(0, 0): 1})
    for _ in range(board.width):
        grown = Counter()
        for (cells, ones), number in ways.items():
            for (more_cells, more_ones), factor in column.items():
                grown[cells + more_cells, ones + more_ones] += number * factor
        ways = grown
    expected = [ways[ply, (ply + 1) // 2] for ply in range(board.cells + 1)]
    assert ranked_bound(board) == expected


def test_the_bound_of_7x6_is_the_published_2e13():
    bound = ranked_bound(Connect4Board(7, 6))
    assert all(type(number) is int for number in bound)
    assert sum(bound) == pytest.approx(2.13e13, rel=0.005)


@pytest.mark.parametrize(
    ("board", "left_columns"), [(Connect4Board(5, 4), 3), (Connect4Board(4, 4, 3), 2)]
)
def test_the_blocks_of_a_layer_cover_it_without_gap(board, left_columns):
    layout = make_layout(board, left_columns)
    for ply in range(layout.plies):
        blocks = layer_blocks(layout, ply)
        assert blocks.offset[0] == 0
        assert (np.diff(blocks.offset) >= 0).all()
        assert blocks.offset[-1] == layout.stored_words[ply]


def test_positions_that_the_rules_or_the_index_exclude_have_no_rank():
    board = Connect4Board(5, 4)
    layout = make_layout(board, 3)
    bit = board.bit
    column_of_four = sum(bit(0, row) for row in range(4))
    excluded = {
        "floating on the left": (bit(0, 1), 0),
        "floating on the right": (bit(4, 1), 0),
        "two stones of the first player": (bit(0, 0) | bit(1, 0), 0),
        "a lone stone of the second player": (0, bit(0, 0)),
        "a cell in two hands": (bit(0, 0), bit(0, 0)),
        "a guard bit on the left": (1 << 4, 0),
        "a guard bit on the right": (1 << 24, 0),
        "beyond the board": (1 << 63, 0),
        "a line in the left half": (column_of_four, bit(1, 0) | bit(1, 1) | bit(1, 2)),
        "a line in the right half": (column_of_four << 20, bit(1, 0) | bit(1, 1) | bit(1, 2)),
    }
    ranks = {why: rank_one(layout, *stones) for why, stones in excluded.items()}
    assert set(ranks.values()) == {NO_RANK}, ranks


def test_a_line_across_the_cut_has_a_rank():
    board = Connect4Board(5, 4)
    first = sum(board.bit(column, 0) for column in range(1, 5))
    second = sum(board.bit(column, 1) for column in (1, 2, 3))
    assert rank_one(make_layout(board, 3), first, second) >= 0


def test_a_rank_outside_the_layer_is_refused():
    layout = make_layout(Connect4Board(3, 3), 1)
    for rank in (-1, 64 * int(layout.layer_words[2])):
        with pytest.raises(ValueError, match=f"rank {rank} is outside ply 2"):
            unrank_position(layout, Place(2, rank))


@pytest.mark.parametrize("left_columns", [-1, 3, 4])
def test_a_cut_that_leaves_no_right_half_is_refused(left_columns):
    with pytest.raises(ValueError, match="cannot cut"):
        make_layout(Connect4Board(3, 3), left_columns)


@given(st.integers(1, 8), st.integers(1, 7), st.integers(2, 5))
def test_the_default_cut_is_a_cut(width, height, connect):
    assert 0 <= default_left_columns(Connect4Board(width, height, connect)) < width
