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
from retro.index.halves import capacity
from retro.index.ranking import mirrored
from retro.jit import entry, inner
from retro.walk.bits import extract
from retro.walk.plans import ALL, LAST, SHIFT, places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.index.halves import Half
    from retro.index.layout import Layout


class MirrorPlan(NamedTuple):
    """What mirroring needs beside the layout."""

    turned: NDArray[np.int32]  # [right colouring] row of its mirror image in its own list
    right_mirror: NDArray[np.int64]  # [right profile] the mirrored profile
    middle_mirror: NDArray[np.int64]  # [profile of M] likewise


def make_mirror_plan(layout: Layout) -> MirrorPlan:
    """Prepare the mirroring of a board; one that stores every profile needs nothing."""
    if layout.shape.stored.all():
        nothing = np.zeros(1, np.int64)
        return MirrorPlan(nothing.astype(np.int32), nothing, nothing)
    right, height = layout.right, layout.board.height
    right_mirror = _reversed_profiles(right.geometry.width, height)
    middle = max(0, layout.left.geometry.width - right.geometry.width)
    return MirrorPlan(
        _turned_rows(right, right_mirror), right_mirror, _reversed_profiles(middle, height)
    )


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


class Scratch(NamedTuple):
    """Working memory of one thread."""

    tile: NDArray[np.uint64]  # [64]
    columns: NDArray[np.uint64]  # [64, word] 64 source columns, a bit per row
    row: NDArray[np.int64]  # [i] the source row of colouring i of R'
    goal: NDArray[np.int64]  # [source column] first bit of its place in the target, or -1
    segment: NDArray[np.int64]  # [source column] which of the masks is its segment's
    mask: NDArray[np.uint64]  # [segment, word] the colourings of R' that the target has


def make_scratch(layout: Layout) -> Scratch:
    """Working memory for one thread."""
    rows = int(layout.right.counts().max())
    middle = max(0, layout.left.geometry.width - layout.right.geometry.width)
    segments = capacity(middle, layout.board.height, layout.board.connect)
    words = rows // 64 + 2
    columns = int(layout.left.counts().max())
    return Scratch(
        np.zeros(64, np.uint64),
        np.zeros((64, words), np.uint64),
        np.zeros(rows, np.int64),
        np.zeros(columns, np.int64),
        np.zeros(columns, np.int64),
        np.zeros((min(segments, columns), words), np.uint64),
    )


class Source(NamedTuple):
    """The rectangle of a mirror image that is being read."""

    begin: np.uint64  # first word
    row_words: np.uint64
    rows: int
    columns: int


@entry
def mirror_blocks(bits, shape, turned, scratch, layer, targets, sources):
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
                _aim(shape, turned, scratch, target, source, (q, total - q))
                row_words = np.uint64(shape.row_words[source[0], total - q])
                begin = np.uint64(shape.offset[source[0], source[1], q])
                here = Source(begin, row_words, rows, columns)
                for plane in range(layer.shape[0]):
                    _mirror_rectangle(bits, layer, plane, here, scratch)


@inner
def _clear(layer, begin, end):
    for plane in range(layer.shape[0]):
        for word in range(begin, end):
            layer[plane, word] = U0


@inner
def _aim(shape, turned, scratch, target, source, stones):
    """Find where the columns of a source rectangle go; fills row, goal, segment, mask in place.

    `stones` are first-player stones in R and in the left half of the source.
    """
    colourings, start = shape.left_colourings, shape.left_start
    outer, outer_start = shape.right_colourings, shape.right_start
    row, goal, segment, mask = scratch.row, scratch.goal, scratch.segment, scratch.mask
    right_columns = shape.width - shape.left_columns
    shift = np.uint64(right_columns * (shape.height + 1))
    low = (U1 << shift) - U1
    turned_profile, own_profile = target[0] % len(outer_start), source[0] % len(outer_start)
    q, q_left = stones
    listed = outer_start[turned_profile, q]
    rows = outer_start[turned_profile, q + 1] - listed
    for i in range(rows):
        row[i] = turned[listed + i]
    begin, end = start[source[0], q_left], start[source[0], q_left + 1]
    at, number = begin, 0
    while at < end:
        middle = colourings[at] >> shift
        q_outer = q_left - popcount(middle)
        goal_q_left = q + popcount(middle)
        goal_begin, goal_end = start[target[0], goal_q_left], start[target[0], goal_q_left + 1]
        wanted = mirrored(middle, shape.left_columns - right_columns, shape.height)
        first = _lower_bound(colourings, goal_begin, goal_end, wanted << shift)
        is_there = first < goal_end and colourings[first] >> shift == wanted
        if is_there:
            for word in range((rows + 63) >> 6):
                mask[number, word] = U0
            _fill_mask(colourings, first, goal_end, shift, outer, listed, mask, number)
        base = shape.offset[target[0], target[1], q_outer]
        row_words = shape.row_words[target[0], goal_q_left]
        place = outer_start[own_profile, q_outer]
        while at < end and colourings[at] >> shift == middle:
            while outer[place] != colourings[at] & low:
                place += 1
            word = base + turned[place] * row_words
            goal[at - begin] = 64 * word + first - goal_begin if is_there else -1
            segment[at - begin] = number
            at += 1
        number += 1


@inner
def _lower_bound(values, low, high, wanted):
    """The first place in the sorted values[low:high] that is not below `wanted`."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _fill_mask(colourings, at, end, shift, outer, listed, mask, number):
    """Mark which colourings in outer[listed:] the segment beginning at `at` holds; in place.

    The mask is clear before.
    """
    low = (U1 << shift) - U1
    middle = colourings[at] >> shift
    place = 0
    while at < end and colourings[at] >> shift == middle:
        while outer[listed + place] != colourings[at] & low:
            place += 1
        mask[number, place >> 6] |= U1 << np.uint64(place & 63)
        at += 1


@inner
def _mirror_rectangle(bits, layer, plane, source, scratch):
    """Write the columns of a source rectangle where they go; `layer` in place."""
    tile, columns, row = scratch.tile, scratch.columns, scratch.row
    goal, segment, mask = scratch.goal, scratch.segment, scratch.mask
    words = (source.rows + 63) // 64
    for first in range(0, source.columns, 64):
        here = min(64, source.columns - first)
        at = source.begin + np.uint64(first >> 6)
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
                columns[i, word] = (tile[inside] >> np.uint64(i - inside)) & field
        for i in range(here):
            if goal[first + i] >= 0:
                to, which = np.uint64(goal[first + i]), segment[first + i]
                for word in range(words):
                    wanted = mask[which, word]
                    taken = extract(bits, columns[i, word], wanted)
                    number = np.uint64(popcount(wanted))
                    layer[plane, to >> SHIFT] |= taken << (to & LAST)
                    if (to & LAST) + number > np.uint64(64):
                        layer[plane, (to >> SHIFT) + U1] |= (taken >> U1) >> (LAST - (to & LAST))
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
