"""Sizes by counting: the same as those of the lists, and known figures of boards beyond lists."""

import numpy as np
import pytest

from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.games.connect4.text import read_moves
from retro.index.halves.colourings import make_half
from retro.index.halves.counting import count_half
from retro.index.halves.layout import default_left_columns, make_layout, ranked_positions
from retro.index.halves.sizes import count_sizes, layout_sizes, stored_blocks
from retro.walk.halves.batches import counted_groups, counted_side, largest_uncut

HALVES = [
    (0, 4, 4), (1, 6, 4), (2, 2, 4), (3, 4, 3), (4, 4, 4), (5, 3, 3), (4, 5, 4), (6, 2, 2),
    (3, 3, 2), (2, 7, 5), (5, 1, 3), (4, 3, 5), (1, 1, 2), (7, 2, 3),
]  # fmt: skip
ROOTED = [((5, 4), ""), ((5, 4), "3321"), ((6, 4), "11223355"), ((5, 5), ""), ((6, 3), "123")]


@pytest.mark.parametrize(("columns", "height", "connect"), HALVES)
def test_counting_finds_as_many_colourings_as_listing(columns, height, connect):
    listed = make_half(columns, height, connect).counts()
    np.testing.assert_array_equal(count_half(columns, height, connect), listed)


@pytest.mark.parametrize(("size", "moves"), [*ROOTED, ((4, 4, 3), "12"), ((1, 5), "")])
def test_sizes_are_those_of_the_layout(size, moves):
    board = Connect4Board(*size)
    root = read_moves(board, moves)
    layout = make_layout(board, root=root)
    counted = count_sizes(board, layout.left.geometry.width, root)
    for name, expected in layout_sizes(layout)._asdict().items():
        np.testing.assert_array_equal(getattr(counted.sizes, name), expected, err_msg=name)
    np.testing.assert_array_equal(counted.ranked, ranked_positions(layout))
    np.testing.assert_array_equal(counted.stored_words, layout.stored_words)
    np.testing.assert_array_equal(counted.layer_words, layout.layer_words)


def test_the_largest_needs_of_7x6_are_known():
    """What a build of 7x6 was found to need, and died of: see the numbers of its plan."""
    board = Connect4Board(7, 6)
    counted = count_sizes(board, default_left_columns(board), Connect4Position(board))
    assert 64 * int(counted.stored_words.sum()) == 4_217_123_094_912
    assert 16 * max(largest_uncut(counted.sizes, ply) for ply in range(43)) == 9_745_555_584


@pytest.mark.parametrize(("size", "moves"), ROOTED)
def test_a_layer_has_the_blocks_whose_stones_add_up(size, moves):
    board = Connect4Board(*size)
    root = read_moves(board, moves)
    sizes = count_sizes(board, default_left_columns(board, root), root).sizes
    plies = sizes.left_stones[:, None] + sizes.right_stones[None, :]
    for ply in range(board.cells + 1):
        found = stored_blocks(sizes, ply)
        expected = np.nonzero((plies == ply) & sizes.stored)
        np.testing.assert_array_equal((found.left, found.right), expected)
        np.testing.assert_array_equal(np.diff(found.offset), sizes.words[expected])


def test_bundles_of_strips_have_the_words_of_all(monkeypatch):
    monkeypatch.setattr("retro.walk.halves.layer.GROUP_WORDS", (16, 64))
    board = Connect4Board(5, 5)
    sizes = count_sizes(board, 3, Connect4Position(board)).sizes
    for ply in (12, 20, 23, 24):
        every, some = counted_side(sizes, ply), counted_side(sizes, ply, 100)
        assert counted_groups(sizes, ply) == (len(every.words), every.words.max())
        assert some.words.sum() == every.words.sum()
        assert set(some.strip_of) == set(every.strip_of)
        assert (len(some.words) < len(every.words)) == (every.strip_of > 0).any()
