"""What the walks prepare: planes of a half against the plain rules, and transposed tiles."""

from itertools import groupby

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.index.halves.layout import make_layout
from retro.walk.halves.mirror import make_mirror_plan
from retro.walk.halves.planes import COLOUR, NOWHERE, STAY, WORDS, half_planes
from retro.walk.halves.segments import make_middle
from retro.walk.halves.tile import transpose

SIXTY_FOUR = st.lists(st.integers(0, 2**64 - 1), min_size=64, max_size=64)


@numba.njit
def transposed(words):
    tile = words.copy()
    transpose(tile, np.zeros(64, np.uint64))
    return tile


@given(SIXTY_FOUR)
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
            gone = [0] * 2 * left_columns
            low, high = half.start[profile, q], half.start[profile, q + 1]
            for i, first in enumerate(half.colourings[low:high].tolist()):
                colour = planes.at[profile, q, COLOUR] + i // 64
                for column, height in enumerate(heights):
                    for row in range(height):
                        expected = bool(first & small.bit(column, row))
                        assert bool(int(planes.colour[colour]) >> i % 64 & 1) == expected
                        colour += planes.at[profile, q, WORDS]
                    for mover, stones in enumerate((first, occupied ^ first)):
                        lane = mover * left_columns + column
                        stay = planes.at[profile, q, STAY + lane]
                        if height == board.height:
                            assert stay == NOWHERE
                            continue
                        stays = not small.has_line(stones | small.bit(column, height))
                        assert bool(int(planes.stay[stay + i // 64]) >> i % 64 & 1) == stays
                        gone[lane] += not stays
            assert planes.gone[:, profile, q].tolist() == gone
    assert planes.gone.any()


def test_planes_need_no_list_and_leave_padding_empty():
    """Of a half that is counted, not listed: the same planes, with as many bits as colourings."""
    board, root = Connect4Board(5, 4), Connect4Position(Connect4Board(5, 4))._play(0)._play(0)
    for start in (None, root):
        half = make_layout(board, 3, start).left
        counted = make_layout(board, 3, start, listed=False).left
        np.testing.assert_array_equal(counted.start, half.start)
        assert len(counted.colourings) == 1 < len(half.colourings)
        planes = half_planes(counted)
        for found, expected in zip(planes, half_planes(half), strict=True):
            np.testing.assert_array_equal(found, expected)
        stones = np.bitwise_count(half.colourings).sum()
        assert np.bitwise_count(planes.colour).sum() == stones
        open_lanes = 2 * (half.counts().sum(axis=1) * (half.heights < 4).sum(axis=1)).sum()
        assert np.bitwise_count(planes.stay).sum() == open_lanes - planes.gone.sum()


@pytest.mark.parametrize(
    ("board", "left_columns"),
    [(Connect4Board(5, 4), 4), (Connect4Board(6, 3, 3), 4), (Connect4Board(4, 4, 2), 3),
     (Connect4Board(7, 3, 3), 5), (Connect4Board(4, 3), 2)],
)  # fmt: skip
def test_segments_and_masks_are_those_of_the_listed_colourings(board, left_columns):
    """Cut the list between different stones in M: these are the segments, and their stones in A."""
    layout = make_layout(board, left_columns)
    left, right, plan = layout.left, layout.right, make_mirror_plan(layout)
    columns = board.width - left_columns
    middle = make_middle(columns, left_columns - columns, board.height, board.connect)
    cut = columns * board.stride
    outer_profiles = len(right.stones)
    for profile, q in np.argwhere(left.counts() >= 0).tolist():
        listed = left.colourings[left.start[profile, q] : left.start[profile, q + 1]].tolist()
        expected = [(inner, list(run)) for inner, run in groupby(listed, lambda c: c >> cut)]
        begin, end = plan.segment_start[profile, q : q + 2].tolist()
        assert end - begin == len(expected)
        column, outer = 0, profile % outer_profiles
        for segment, (inner, run) in zip(range(begin, end), expected, strict=True):
            number = int(plan.segment_middle[segment])
            assert (middle.colourings[number], plan.segment_first[segment]) == (inner, column)
            q_outer = q - inner.bit_count()
            assert plan.middle_stones[number] == inner.bit_count()
            at = plan.mask_at[outer, number] + plan.mask_q[outer, q_outer]
            words = plan.mask[
                at : at + plan.mask_q[outer, q_outer + 1] - plan.mask_q[outer, q_outer]
            ]
            bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
            stones = right.colourings[right.start[outer, q_outer] + np.flatnonzero(bits)]
            assert stones.tolist() == [colouring & ((1 << cut) - 1) for colouring in run]
            column += len(run)
