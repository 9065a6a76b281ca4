"""Mirrored blocks: the values of a profile from those of its mirror image, by bit transposition.

Only one profile of each mirror pair is stored, but a stone may lead from a
stored profile to one that is not. Before a walk reads such a block, it is made
here from its mirror image. Cut the columns in three, R as wide as the right half:

    columns    | A ... | M ... | R ... |        left half = A and M, right half = R
    mirrored   | R' .. | M' .. | A' .. |        ' is the half-board in reverse

Left colourings are listed in order, so those with the same stones in M are
neighbours: a *segment*. Source rows are colourings of R, target rows those of A'.

    source   rows R                        target   rows A'
             columns | M1: A | M2: A |..            columns | M1': R' | M2': R' |..

So a source column (M, A), read over all rows in the order of R', is what the
target's row A' holds in segment M', less the colourings of R' that make a line
with M': one bit extract leaves those out. Columns are made from rows in tiles
of 64 x 64 bits. Colourings of R' are those of R in another order: `turned`
says which. Where a line inside A and M leaves the source without a column, the
game is over, nobody asks for the target's value, and it is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.games.connect_bits import U0, U1, popcount
from retro.index.halves import find_sorted
from retro.index.ranking import mirrored
from retro.jit import entry, inner
from retro.walk.bits import extract
from retro.walk.plans import ALL, LAST, SHIFT, places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.index.halves import Half
    from retro.index.layout import Layout


class MirrorPlan(NamedTuple):
    """What mirroring needs beside the layout; lists of segments as kernels like them, flat."""

    right_mirror: NDArray[np.int64]  # [right profile] the mirrored profile
    middle_mirror: NDArray[np.int64]  # [profile of M] likewise
    turned: NDArray[np.int32]  # [right colouring] row of its mirror image in its own list
    outer_row: NDArray[np.int32]  # [left colouring] that row for its stones in A
    segment_start: NDArray[np.int64]  # [left profile, q] into the next three
    segment_first: NDArray[np.int64]  # [segment] its first left colouring
    segment_middle: NDArray[np.uint64]  # [segment] its stones in M
    segment_mask: NDArray[np.int64]  # [segment] first word of its mask
    mask: NDArray[np.uint64]  # which of all line-free colourings of A the segment has


def make_mirror_plan(layout: Layout) -> MirrorPlan:
    """Prepare the mirroring of a board; one that stores every profile needs nothing."""
    if layout.shape.stored.all():
        nothing, rows, words = np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.uint64)
        return MirrorPlan(
            nothing, nothing, rows, rows, np.zeros((1, 1), np.int64), nothing, words, nothing, words
        )
    right, height = layout.right, layout.board.height
    right_mirror = _reversed_profiles(right.geometry.width, height)
    middle = layout.left.geometry.width - right.geometry.width
    turned = _turned_rows(right, right_mirror)
    segments, words = _count_segments(layout.shape)
    plan = MirrorPlan(
        right_mirror,
        _reversed_profiles(middle, height),
        turned,
        np.zeros(len(layout.left.colourings), np.int32),
        np.zeros_like(layout.left.start),
        np.zeros(segments + 1, np.int64),
        np.zeros(segments, np.uint64),
        np.zeros(segments, np.int64),
        np.zeros(words, np.uint64),
    )
    _list_segments(layout.shape, plan)
    return plan


def _reversed_profiles(columns: int, height: int) -> NDArray[np.int64]:
    radix = (height + 1) ** np.arange(columns, dtype=np.int64)
    heights = np.arange((height + 1) ** columns)[:, None] // radix % (height + 1)
    return np.asarray(heights[:, ::-1] @ radix, np.int64)


def _turned_rows(right: Half, right_mirror: NDArray[np.int64]) -> NDArray[np.int32]:
    width, stride = right.geometry.width, np.uint64(right.geometry.height + 1)
    column = (U1 << stride) - U1
    images = np.zeros_like(right.colourings)
    for c in range(width):
        bits = right.colourings >> (np.uint64(c) * stride) & column
        images |= bits << (np.uint64(width - 1 - c) * stride)
    turned = np.full(len(images), -1, np.int32)
    for profile, image in enumerate(right_mirror):
        for q in range(right.stones[profile] + 1):
            here = slice(right.start[profile, q], right.start[profile, q + 1])
            there = slice(right.start[image, q], right.start[image, q + 1])
            turned[here] = places(right.colourings[there], images[here])
    return turned


def mirror_image(
    layout: Layout, plan: MirrorPlan, left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The half-profiles of the mirror images of some profiles."""
    middle, outer = np.divmod(left, len(plan.right_mirror))
    image = plan.right_mirror[right] + plan.middle_mirror[middle] * len(plan.right_mirror)
    return image, plan.right_mirror[outer]


@inner
def _outer_shift(shape):
    """How many bits the columns of A take."""
    return np.uint64((shape.width - shape.left_columns) * (shape.height + 1))


@entry
def _count_segments(shape):
    """How many segments there are, and how many words their masks take."""
    shift = _outer_shift(shape)
    colourings, start, outer_start = shape.left_colourings, shape.left_start, shape.right_start
    outer_profiles = len(outer_start)
    segments, words = 0, 0
    for profile in range(start.shape[0]):
        outer = profile % outer_profiles
        for q in range(start.shape[1] - 1):
            for i in range(start[profile, q], start[profile, q + 1]):
                middle = colourings[i] >> shift
                if i == start[profile, q] or colourings[i - 1] >> shift != middle:
                    q_outer = q - popcount(middle)
                    segments += 1
                    listed = outer_start[outer, q_outer + 1] - outer_start[outer, q_outer]
                    words += (listed + 63) >> 6
    return segments, words


@entry
def _list_segments(shape, plan):
    """Fill outer_row and all that is known of segments in place."""
    shift = _outer_shift(shape)
    low = (U1 << shift) - U1
    colourings, start = shape.left_colourings, shape.left_start
    outer_colourings, outer_start = shape.right_colourings, shape.right_start
    segment_start, first, middles = plan.segment_start, plan.segment_first, plan.segment_middle
    mask_at, mask, turned, outer_row = plan.segment_mask, plan.mask, plan.turned, plan.outer_row
    outer_profiles = len(outer_start)
    segments, words, listed, place = 0, 0, 0, 0
    for profile in range(start.shape[0]):
        outer = profile % outer_profiles
        for q in range(start.shape[1] - 1):
            segment_start[profile, q] = segments
            for i in range(start[profile, q], start[profile, q + 1]):
                middle = colourings[i] >> shift
                if i == start[profile, q] or colourings[i - 1] >> shift != middle:
                    q_outer = q - popcount(middle)
                    listed = outer_start[outer, q_outer]
                    first[segments], middles[segments], mask_at[segments] = i, middle, words
                    words += (outer_start[outer, q_outer + 1] - listed + 63) >> 6
                    segments += 1
                    place = 0
                while outer_colourings[listed + place] != colourings[i] & low:
                    place += 1
                outer_row[i] = turned[listed + place]
                mask[mask_at[segments - 1] + (place >> 6)] |= U1 << np.uint64(place & 63)
        segment_start[profile, start.shape[1] - 1] = segments
    first[segments] = len(colourings)


class Scratch(NamedTuple):
    """Working memory of one thread."""

    tile: NDArray[np.uint64]  # [64]
    columns: NDArray[np.uint64]  # [plane, 64, word] 64 source columns, a bit per row
    row: NDArray[np.int64]  # [i] the source row of colouring i of R'
    goal: NDArray[np.int64]  # [source column] first bit of its place in the target, or -1
    mask_at: NDArray[np.int64]  # [source column] the mask of its target's segment


def make_scratch(layout: Layout) -> Scratch:
    """Working memory for one thread."""
    rows = int(layout.right.counts().max())
    columns = int(layout.left.counts().max())
    return Scratch(
        np.zeros(64, np.uint64),
        np.zeros((2, 64, rows // 64 + 2), np.uint64),
        np.zeros(rows, np.int64),
        np.zeros(columns, np.int64),
        np.zeros(columns, np.int64),
    )


class Source(NamedTuple):
    """The rectangle of a mirror image that is being read."""

    begin: np.uint64  # first word
    row_words: np.uint64
    rows: int
    columns: int


@entry
def mirror_blocks(bits, shape, plan, scratch, layer, targets, sources):
    """Fill blocks of a layer from their mirror images in it; `layer` [plane, word] in place.

    `targets` and `sources` are pairs of arrays, left and right half-profiles.
    Threads may run this on the same layer at once: each target's words are its own.
    """
    start = shape.left_start
    for i in range(len(targets[0])):
        target, source = (targets[0][i], targets[1][i]), (sources[0][i], sources[1][i])
        _clear(layer, shape.offset[target][0], shape.offset[target][shape.offset.shape[2] - 1])
        stones, outer_stones = shape.left_stones[source[0]], shape.right_stones[source[1]]
        total = (stones + outer_stones + 1) // 2
        for q in range(max(0, total - stones), min(total, outer_stones) + 1):
            rows = shape.right_start[source[1], q + 1] - shape.right_start[source[1], q]
            columns = start[source[0], total - q + 1] - start[source[0], total - q]
            if rows > 0 and columns > 0:
                _aim(shape, plan, scratch, target, source, (q, total - q))
                row_words = np.uint64(shape.row_words[source[0], total - q])
                begin = np.uint64(shape.offset[source[0], source[1], q])
                here = Source(begin, row_words, rows, columns)
                _mirror_rectangle(bits, layer, here, scratch, plan.mask)


@inner
def _clear(layer, begin, end):
    for plane in range(layer.shape[0]):
        for word in range(begin, end):
            layer[plane, word] = U0


@inner
def _aim(shape, plan, scratch, target, source, stones):
    """Find where the columns of a source rectangle go; fills row, goal and mask_at in place.

    `stones` are first-player stones in R and in the left half of the source.
    """
    first, middles, mask_of = plan.segment_first, plan.segment_middle, plan.segment_mask
    outer_row, turned = plan.outer_row, plan.turned
    row, goal, mask_at = scratch.row, scratch.goal, scratch.mask_at
    offset, row_words = shape.offset, shape.row_words
    middle_columns = 2 * shape.left_columns - shape.width
    q, q_left = stones
    turned_profile = target[0] % len(shape.right_start)
    listed = shape.right_start[turned_profile, q]
    for i in range(shape.right_start[turned_profile, q + 1] - listed):
        row[i] = turned[listed + i]
    begin = shape.left_start[source[0], q_left]
    last = plan.segment_start[source[0], q_left + 1]
    for segment in range(plan.segment_start[source[0], q_left], last):
        q_middle = popcount(middles[segment])
        low = plan.segment_start[target[0], q + q_middle]
        high = plan.segment_start[target[0], q + q_middle + 1]
        wanted = mirrored(middles[segment], middle_columns, shape.height)
        found = find_sorted(middles, low, high, wanted)
        base, words = np.int64(0), np.int64(0)
        if found >= 0:
            column = first[found] - shape.left_start[target[0], q + q_middle]
            base = 64 * offset[target[0], target[1], q_left - q_middle] + column
            words = 64 * row_words[target[0], q + q_middle]
        end = min(first[segment + 1], shape.left_start[source[0], q_left + 1])
        for i in range(first[segment], end):
            goal[i - begin] = base + outer_row[i] * words if found >= 0 else -1
            mask_at[i - begin] = mask_of[found] if found >= 0 else 0


@inner
def _mirror_rectangle(bits, layer, source, scratch, mask):
    """Write the columns of a source rectangle where they go; `layer` in place."""
    tile, columns, row = scratch.tile, scratch.columns, scratch.row
    goal, mask_at = scratch.goal, scratch.mask_at
    words, planes = (source.rows + 63) >> 6, layer.shape[0]
    for first in range(0, source.columns, 64):
        here = min(64, source.columns - first)
        at = source.begin + np.uint64(first >> 6)
        for plane in range(planes):
            for word in range(words):
                rows = min(64, source.rows - 64 * word)
                for i in range(rows):
                    tile[i] = layer[plane, at + np.uint64(row[64 * word + i]) * source.row_words]
                size = 8
                while size < rows:
                    size *= 2
                for i in range(rows, size):
                    tile[i] = U0
                _transpose(tile, size)
                field = ALL >> np.uint64(64 - size)
                for i in range(here):
                    inside = i & (size - 1)
                    columns[plane, i, word] = (tile[inside] >> np.uint64(i - inside)) & field
        for i in range(here):
            if goal[first + i] >= 0:
                to = np.uint64(goal[first + i])
                for word in range(words):
                    wanted = mask[mask_at[first + i] + word]
                    number = np.uint64(popcount(wanted))
                    word_to, shift = to >> SHIFT, to & LAST
                    spills = shift + number > np.uint64(64)
                    for plane in range(planes):
                        taken = extract(bits, columns[plane, i, word], wanted)
                        layer[plane, word_to] |= taken << shift
                        if spills:
                            layer[plane, word_to + U1] |= (taken >> U1) >> (LAST - shift)
                    to += number


@inner
def _transpose(tile, size):
    """Swap rows and bits of `size` (8, 16, 32 or 64) rows; in place.

    A row is 64 / size fields of `size` bits: as many square matrices side by
    side, each transposed in its place. Their quarters are swapped, then the
    quarters' quarters (Warren, Hacker's Delight, 2nd ed., section 7-3).
    """
    step = size // 2
    mask = U0
    for place in range(0, 64, size):
        mask |= ((U1 << np.uint64(step)) - U1) << np.uint64(place)
    while step > 0:
        shift = np.uint64(step)
        for block in range(0, size, 2 * step):
            for i in range(block, block + step):
                swap = ((tile[i] >> shift) ^ tile[i + step]) & mask
                tile[i] ^= swap << shift
                tile[i + step] ^= swap
        step //= 2
        mask ^= mask << np.uint64(step)
