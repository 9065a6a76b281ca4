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

So a target column (M', R') is a stretch of a source row: row R, segment M, one
bit per colouring of A that makes no line with M. One bit deposit puts gaps where
A and M have a line: there the game is over, nobody asks for the target's value,
and it is 0. 64 such stretches are the rows of a tile of 64 x 64 bits; transposed,
the tile's rows are 64 words of the target, one in each of 64 rows. Colourings of
A' are those of A in another order: `turned` says which.

    read  (M1, R1)  a a a . a a        write  row A'1  x x x x x x    one word
          (M1, R2)  a a a . a a               row A'2  x x x x x x
          (M2, R1)  a . a a a a               ...

A block that is too large for memory is made from one rectangle of its image at a time: that
one has the stretches of some segments M, and of no others. Segments are much longer than a
word, so nearly every tile has its columns from one rectangle, and hardly one is made twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, deposit, popcount
from retro.index.halves.colourings import find_sorted
from retro.index.halves.ranking import mirrored
from retro.index.halves.sizes import mirrored_profiles
from retro.jit import entry, inner
from retro.walk.halves.plans import ALL, LAST, SHIFT, places, rows_within
from retro.walk.halves.tile import HALF, transpose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.index.halves.colourings import Half
    from retro.index.halves.layout import Layout
    from retro.walk.halves.layer import View


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
    nothing: int  # where the words of `mask` stay 0: for a segment that there is not


def make_mirror_plan(layout: Layout) -> MirrorPlan:
    """Prepare the mirroring of a board; one that stores every profile needs nothing."""
    if layout.shape.stored.all():
        nothing, rows, words = np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.uint64)
        return MirrorPlan(
            nothing,
            nothing,
            rows,
            rows,
            np.zeros((1, 1), np.int64),
            nothing,
            words,
            nothing,
            words,
            0,
        )
    right, height = layout.right, layout.board.height
    widths = layout.left.geometry.width, right.geometry.width
    right_mirror, middle_mirror = mirrored_profiles(*widths, height)
    turned = _turned_rows(right, right_mirror)
    lists = (layout.left.colourings, layout.left.start), (right.colourings, right.start)
    shift = np.uint64(right.geometry.width * (height + 1))
    segments, words = _count_segments(*lists, shift)
    plan = MirrorPlan(
        right_mirror,
        middle_mirror,
        turned,
        np.zeros(len(layout.left.colourings), np.int32),
        np.zeros_like(layout.left.start),
        np.zeros(segments + 1, np.int64),
        np.zeros(segments, np.uint64),
        np.zeros(segments, np.int64),
        np.zeros(words + int(right.counts().max()) // 64 + 1, np.uint64),
        words,
    )
    _list_segments(*lists, shift, plan)
    return plan


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


@entry
def _count_segments(left, right, shift):
    """How many segments there are, and how many words their masks take.

    `left` and `right` are the colourings and where they start; the columns of A take `shift` bits.
    """
    (colourings, start), (_, outer_start) = left, right
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
def _list_segments(left, right, shift, plan):
    """Fill outer_row and all that is known of segments in place; arguments as above."""
    low = (U1 << shift) - U1
    (colourings, start), (outer_colourings, outer_start) = left, right
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
    turn: NDArray[np.uint64]  # [64] the tile after every other round of its transposition
    address: NDArray[np.uint64]  # [column of the tile] the bit of the source to be read next
    mask_at: NDArray[np.int64]  # [column of the tile] the mask of its segment
    base: NDArray[np.int64]  # [segment of the target] first bit of the source segment in row 0
    stride: NDArray[np.int64]  # [segment of the target] bits of a source row
    mask_of: NDArray[np.int64]  # [segment of the target] first word of the source segment's mask


def make_scratch(plan: MirrorPlan) -> Scratch:
    """Working memory for one thread."""
    segments = int(np.diff(plan.segment_start, axis=1).max())
    tile, numbers = np.zeros(64, np.uint64), np.zeros(segments, np.int64)
    return Scratch(
        tile, tile.copy(), tile.copy(), np.zeros(64, np.int64),
        numbers, numbers.copy(), numbers.copy(),
    )  # fmt: skip


class Target(NamedTuple):
    """The rectangle of a mirrored block that is being written."""

    begin: np.uint64  # first word
    row_words: np.uint64
    segment: int  # the first one
    first: int  # left colouring
    last: int
    listed: np.uint64  # the first of its rows in `turned`, in the order in which they are read
    rows: np.uint64
    written: tuple[np.uint64, np.uint64]  # the first of its rows that are written, and the number


class Made(NamedTuple):
    """Mirrored blocks that are made: where they go, and from what; for kernels."""

    into: View
    strip: tuple[int, int]  # rows between these words of the layer are made
    left: NDArray[np.int64]  # half-profiles
    right: NDArray[np.int64]
    only: int  # from this rectangle of the images alone, and added to what is there; -1: from all


@entry
def mirror_blocks(bits, shape, plan, scratch, view, made, sources):
    """Fill blocks of a layer in place from their mirror images, which are in `view`.

    `sources` is a pair of arrays, left and right half-profiles of the images.
    Threads may run this on the same planes at once: each block's words are its own.
    """
    into, strip, left, right, only = made
    for i in range(len(left)):
        target, source = (left[i], right[i]), (sources[0][i], sources[1][i])
        outer = source[0] % len(shape.right_start)
        stones, right_stones = shape.left_stones[target[0]], shape.right_stones[target[1]]
        total = (stones + right_stones + 1) // 2
        for q in range(max(0, total - stones), min(total, right_stones) + 1):
            rows = shape.right_start[outer, q + 1] - shape.right_start[outer, q]
            first = shape.left_start[target[0], total - q]
            last = shape.left_start[target[0], total - q + 1]
            begin, end = rows_within(shape, (target[0], target[1], q), total - q, strip)
            if begin < end and last > first:
                aimed = (q, total - q, only)
                if not _aim(shape, plan, scratch, view, target[0], source, aimed):
                    continue
                here = Target(
                    np.uint64(into.base[into.slot[target[0], target[1]], q]),
                    np.uint64(shape.row_words[target[0], total - q]),
                    plan.segment_start[target[0], total - q],
                    first,
                    last,
                    np.uint64(shape.right_start[outer, q]),
                    np.uint64(rows),
                    (np.uint64(begin), np.uint64(end - begin)),
                )
                for plane in range(0, view.values.shape[0], 2):
                    two = slice(plane, plane + 2)
                    layers = (view.values[two], into.values[two])
                    _mirror_rectangle(bits, layers, here, scratch, plan, only >= 0)


@inner
def _aim(shape, plan, scratch, view, target_left, source, stones):
    """Find where the segments of a target rectangle are read; fills the last of scratch in place.

    `stones` are first-player stones in the right and in the left half of the target, and in the
    right half of the source (-1: any). Returns whether there is anything to read.
    """
    first, middles, mask_of = plan.segment_first, plan.segment_middle, plan.segment_mask
    middle_columns = 2 * shape.left_columns - shape.width
    q, q_left, only = stones
    is_any = False
    place = view.slot[source[0], source[1]]
    begin = plan.segment_start[target_left, q_left]
    for segment in range(begin, plan.segment_start[target_left, q_left + 1]):
        q_middle = popcount(middles[segment])
        low = plan.segment_start[source[0], q + q_middle]
        high = plan.segment_start[source[0], q + q_middle + 1]
        wanted = mirrored(middles[segment], middle_columns, shape.height)
        found = find_sorted(middles, low, high, wanted)
        i = segment - begin
        scratch.base[i] = scratch.stride[i] = 0
        scratch.mask_of[i] = plan.nothing
        if found >= 0 and (only < 0 or only == q_left - q_middle):
            is_any = True
            column = first[found] - shape.left_start[source[0], q + q_middle]
            scratch.base[i] = 64 * view.base[place, q_left - q_middle] + column
            scratch.stride[i] = 64 * shape.row_words[source[0], q + q_middle]
            scratch.mask_of[i] = mask_of[found]
    return is_any or only < 0


@inner
def _mirror_rectangle(bits, layers, target, scratch, plan, is_added):
    """Fill a target rectangle, 64 columns at a time, or add to what is there; in place.

    A tile takes 64 rows of one plane, or 32 rows of two planes side by side.
    """
    layer, into = layers
    tile, turn, address, mask_at, base, stride, mask_of = scratch
    mask, turned, outer_row, segments = plan.mask, plan.turned, plan.outer_row, plan.segment_first
    planes, end = layer.shape[0], np.uint64(layer.shape[1] - 1)
    win, loss = layer[0], layer[planes - 1]
    to_win, to_loss = into[0], into[planes - 1]
    low, number = target.written
    step = np.uint64(64 // planes)
    field = ALL >> (np.uint64(64) - step)
    segment = 0
    at = target.begin
    for first in range(target.first, target.last, 64):
        columns = min(64, target.last - first)
        is_any = False
        for i in range(columns):
            if first + i == segments[target.segment + segment + 1]:
                segment += 1
            address[i] = base[segment] + outer_row[first + i] * stride[segment]
            mask_at[i] = mask_of[segment]
            is_any |= mask_of[segment] != plan.nothing
        if is_added and not is_any:
            at += U1
            continue
        for row in range(U0, target.rows, step):
            for i in range(columns):
                wanted = (mask[np.uint64(mask_at[i]) + (row >> SHIFT)] >> (row & LAST)) & field
                word, shift = address[i] >> SHIFT, address[i] & LAST
                address[i] += np.uint64(popcount(wanted))
                after, back = min(word + U1, end), LAST - shift
                found = (win[word] >> shift) | ((win[after] << U1) << back)
                tile[i] = deposit(bits, found, wanted)
                if planes == 2:
                    found = (loss[word] >> shift) | ((loss[after] << U1) << back)
                    tile[i] |= deposit(bits, found, wanted) << HALF
            for i in range(columns, 64):
                tile[i] = U0
            transpose(tile, turn)
            for i in range(min(step, target.rows - row)):
                place = np.uint64(turned[target.listed + row + i])
                if place - low >= number:  # unsigned: before the first one, too
                    continue
                to = at + place * target.row_words
                if is_added:
                    to_win[to] |= tile[i]
                    if planes == 2:
                        to_loss[to] |= tile[HALF + i]
                else:
                    to_win[to] = tile[i]
                    if planes == 2:
                        to_loss[to] = tile[HALF + i]
        at += U1
