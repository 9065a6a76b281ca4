"""Mirrored blocks: the values of a profile from those of its mirror image, by bit transposition.

Only one profile of each mirror pair is stored, but a stone may lead from a
stored profile to one that is not. Before a walk reads such a block, it is made
here from its mirror image. Cut the columns in three, R as wide as the right half:

    columns    | A ... | M ... | R ... |        left half = A and M, right half = R
    mirrored   | R' .. | M' .. | A' .. |        ' is the half-board in reverse

Left colourings are in order, so those with the same stones in M are
neighbours: a *segment* (`segments`). Source rows are colourings of R, target rows those of A'.

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
from retro.index.halves.sizes import mirrored_profiles
from retro.jit import entry, inner
from retro.walk.halves.planes import ALL, LAST, NOWHERE, SHIFT
from retro.walk.halves.plans import places, rows_within
from retro.walk.halves.segments import Middle, make_masks, make_middle, make_segments
from retro.walk.halves.tile import HALF, transpose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.index.halves.colourings import Half
    from retro.index.halves.layout import Layout
    from retro.walk.halves.layer import View


class MirrorPlan(NamedTuple):
    """What mirroring needs beside the layout; flat, like `Shape`."""

    right_mirror: NDArray[np.int64]  # [right profile] the mirrored profile
    middle_mirror: NDArray[np.int64]  # [profile of M] likewise
    turned: NDArray[np.int32]  # [right colouring] row of its mirror image in its own list
    middle_stones: NDArray[np.int64]  # [colouring of M] those of the first player
    middle_turned: NDArray[np.int32]  # [colouring of M] its mirror image
    segment_start: NDArray[np.int64]  # Segments
    segment_first: NDArray[np.int32]
    segment_middle: NDArray[np.int32]
    mask_at: NDArray[np.int64]  # Masks
    mask_q: NDArray[np.int64]
    mask: NDArray[np.uint64]
    nothing: int


def make_mirror_plan(layout: Layout) -> MirrorPlan:
    """Prepare the mirroring of a board; one that stores every profile needs nothing."""
    if layout.shape.stored.all():
        none, rows = np.zeros(1, np.int64), np.zeros(1, np.int32)
        table, words = np.zeros((1, 1), np.int64), np.zeros(1, np.uint64)
        return MirrorPlan(none, none, rows, none, rows, table, rows, rows, table, table, words, 0)
    left, right, height = layout.left, layout.right, layout.board.height
    widths = left.geometry.width, right.geometry.width
    right_mirror, middle_mirror = mirrored_profiles(*widths, height)
    middle = make_middle(widths[1], widths[0] - widths[1], height, layout.board.connect)
    masks = make_masks(middle, right)
    return MirrorPlan(
        right_mirror,
        middle_mirror,
        _turned_rows(right, right_mirror),
        np.bitwise_count(middle.colourings).astype(np.int64),
        _turned_middles(middle, middle_mirror, widths[0] - widths[1], height),
        *make_segments(middle, masks, left, right),
        mask_at=masks.at,
        mask_q=masks.q,
        mask=masks.words,
        nothing=masks.nothing,
    )


def _reversed(colourings: NDArray[np.uint64], width: int, height: int) -> NDArray[np.uint64]:
    """Colourings with their columns in reverse order."""
    stride = np.uint64(height + 1)
    column = (U1 << stride) - U1
    images = np.zeros_like(colourings)
    for c in range(width):
        bits = colourings >> (np.uint64(c) * stride) & column
        images |= bits << (np.uint64(width - 1 - c) * stride)
    return images


def _turned_middles(
    middle: Middle, middle_mirror: NDArray[np.int64], columns: int, height: int
) -> NDArray[np.int32]:
    images = _reversed(middle.colourings, columns, height)
    turned = np.zeros(len(images), np.int32)
    for profile, image in enumerate(middle_mirror):
        here = slice(middle.start[profile], middle.start[profile + 1])
        there = slice(middle.start[image], middle.start[image + 1])
        turned[here] = there.start + places(middle.colourings[there], images[here])
    return turned


def _turned_rows(right: Half, right_mirror: NDArray[np.int64]) -> NDArray[np.int32]:
    images = _reversed(right.colourings, right.geometry.width, right.geometry.height)
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
    turn: NDArray[np.uint64]  # [64] the tile after every other round of its transposition
    address: NDArray[np.uint64]  # [column of the tile] the bit of the source to be read next
    mask_at: NDArray[np.int64]  # [column of the tile] the mask of its segment
    outer_row: NDArray[np.int32]  # [column of the target] the source row for its stones in A
    begin: NDArray[np.int64]  # [segment of the target] its first column; one more at the end
    base: NDArray[np.int64]  # [segment of the target] first bit of the source segment in row 0
    stride: NDArray[np.int64]  # [segment of the target] bits of a source row
    mask_of: NDArray[np.int64]  # [segment of the target] first word of the source segment's mask


def make_scratch(layout: Layout, plan: MirrorPlan) -> Scratch:
    """Working memory for one thread."""
    segments = int(np.diff(plan.segment_start, axis=1).max())
    tile, numbers = np.zeros(64, np.uint64), np.zeros(segments, np.int64)
    return Scratch(
        tile, tile.copy(), tile.copy(), np.zeros(64, np.int64),
        np.zeros(int(layout.left.counts().max()), np.int32), np.zeros(segments + 1, np.int64),
        numbers, numbers.copy(), numbers.copy(),
    )  # fmt: skip


class Target(NamedTuple):
    """The rectangle of a mirrored block that is being written."""

    begin: np.uint64  # first word
    row_words: np.uint64
    columns: int
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
                    last - first,
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
    start, first, middles = plan.segment_start, plan.segment_first, plan.segment_middle
    mask_at, mask_q, mask, turned = plan.mask_at, plan.mask_q, plan.mask, plan.turned
    middle_stones, middle_turned = plan.middle_stones, plan.middle_turned
    right_start, row_words, view_base = shape.right_start, shape.row_words, view.base
    _, _, _, _, outer_row, begins, base, stride, mask_of = scratch
    outer, source_outer = target_left % len(right_start), source[0] % len(right_start)
    q, q_left, only = stones
    is_any = False
    place = view.slot[source[0], source[1]]
    begin, end = start[target_left, q_left], start[target_left, q_left + 1]
    for segment in range(begin, end):
        i, middle = segment - begin, middles[segment]
        q_middle, wanted = middle_stones[middle], middle_turned[middle]
        q_outer = q_left - q_middle
        low, high = start[source[0], q + q_middle], start[source[0], q + q_middle + 1]
        found = find_sorted(middles, low, high, wanted)
        begins[i] = first[segment]
        base[i] = stride[i] = 0
        mask_of[i] = plan.nothing
        if found >= 0 and (only < 0 or only == q_outer):
            is_any = True
            base[i] = 64 * view_base[place, q_outer] + first[found]
            stride[i] = 64 * row_words[source[0], q + q_middle]
            mask_of[i] = mask_at[source_outer, wanted] + mask_q[source_outer, q]
            words = (
                mask_at[outer, middle] + mask_q[outer, q_outer],
                mask_at[outer, middle] + mask_q[outer, q_outer + 1],
            )
            _list_rows(mask, words, turned, right_start[outer, q_outer], outer_row, begins[i])
    begins[end - begin] = NOWHERE
    return is_any or only < 0


@inner
def _list_rows(mask, words, turned, listed, outer_row, column):
    """Fill outer_row in place from a column on: `turned` for the colourings of A in a mask.

    `words` are where the mask begins and ends; `listed` is where those of A begin.
    """
    for word in range(words[0], words[1]):
        some = mask[word]
        while some != U0:
            outer_row[column] = turned[listed + popcount((some & (~some + U1)) - U1)]
            some &= some - U1
            column += 1
        listed += 64


@inner
def _mirror_rectangle(bits, layers, target, scratch, plan, is_added):
    """Fill a target rectangle, 64 columns at a time, or add to what is there; in place.

    A tile takes 64 rows of one plane, or 32 rows of two planes side by side.
    """
    layer, into = layers
    tile, turn, address, mask_at, outer_row, begin, base, stride, mask_of = scratch
    mask, turned = plan.mask, plan.turned
    planes, end = layer.shape[0], np.uint64(layer.shape[1] - 1)
    win, loss = layer[0], layer[planes - 1]
    to_win, to_loss = into[0], into[planes - 1]
    low, number = target.written
    step = np.uint64(64 // planes)
    field = ALL >> (np.uint64(64) - step)
    segment = 0
    at = target.begin
    for first in range(0, target.columns, 64):
        columns = min(64, target.columns - first)
        is_any = False
        for i in range(columns):
            if first + i == begin[segment + 1]:
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
