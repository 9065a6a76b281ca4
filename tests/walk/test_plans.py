"""What the walks prepare: planes of a half against the plain rules, and transposed tiles."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retro.games.connect4.rules import Connect4Board
from retro.index.halves.layout import make_layout
from retro.walk.halves.plans import half_planes
from retro.walk.halves.tile import transpose

WORDS = st.lists(st.integers(0, 2**64 - 1), min_size=64, max_size=64)


@numba.njit
def transposed(words):
    tile = words.copy()
    transpose(tile, np.zeros(64, np.uint64))
    return tile


@given(WORDS)
def test_a_transposed_tile_has_words_and_bits_swapped(words):
    found = transposed(np.array(words, np.uint64))
    for i in range(64):
        assert int(found[i]) == sum((words[j] >> i & 1) << j for j in range(64))


@pytest.mark.parametrize(
    ("board", "left_columns"),
    [
        (Connect4Board(5, 4), 3),
        (Connect4Board(4, 3, 3), 2),
        (Connect4Board(5, 3), 4),
        (Connect4Board(3, 3, 2), 1),
    ],
)
def test_planes_say_colours_and_whether_a_stone_completes_a_line(board, left_columns):
    half = make_layout(board, left_columns).left
    planes = half_planes(half)
    small = Connect4Board(left_columns, board.height, board.connect)
    for profile, occupied in enumerate(half.occupied.tolist()):
        heights = half.heights[profile].tolist()
        for q in range(half.start.shape[1] - 1):
            low, high = half.start[profile, q], half.start[profile, q + 1]
            for i, first in enumerate(half.colourings[low:high].tolist()):
                word, place = planes.first_word[profile, q] + i // 64, i % 64
                for column, height in enumerate(heights):
                    for row in range(height):
                        plane = planes.colour[column * board.height + row, word]
                        expected = bool(first & small.bit(column, row))
                        assert bool(int(plane) >> place & 1) == expected
                    for mover, stones in enumerate((first, occupied ^ first)):
                        lane = mover * left_columns + column
                        stays = height < board.height and not small.has_line(
                            stones | small.bit(column, height)
                        )
                        assert bool(int(planes.stay[lane, word]) >> place & 1) == stays
                        if height < board.height and not stays:
                            assert planes.holes[lane, profile, q]
    assert planes.holes.any()


def test_padding_stays_empty():
    half = make_layout(Connect4Board(5, 4), 3).left
    planes = half_planes(half)
    counts = half.counts()
    used = np.zeros(planes.stay.shape[1], np.uint64)
    for profile, q in np.argwhere(counts):
        for i in range(counts[profile, q]):
            used[planes.first_word[profile, q] + i // 64] |= np.uint64(1 << i % 64)
    assert not (planes.stay & ~used).any()
    assert not (planes.colour & ~used).any()
