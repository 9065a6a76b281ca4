"""What counting needs of a left half: planes of right classes over its colourings.

All rows of a layer that have one left profile and as many first-player stones on the left share
these planes, so they are made once for all of them, 64 classes of 64 colourings at a time: the
rows that the colourings' classes have in the table are a tile, and transposed it is a word of
every plane.

    table   left class 1   0 1 1 ..      colourings of classes 2 1 1 .. :
            left class 2   1 0 1 ..      plane of right class 1   1 0 0 ..
                                                              2   0 1 1 ..
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, deposit, extract, popcount
from retro.jit import inner
from retro.walk.halves.classes import fill_below_his
from retro.walk.halves.planes import ALL, COLOUR, LAST, SHIFT, STAY, WORDS
from retro.walk.halves.tile import transpose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.bits import BitInstructions
    from retro.index.halves.layout import Layout, Shape
    from retro.walk.halves.classes import Classes
    from retro.walk.halves.ended import Endings
    from retro.walk.halves.plans import Plan


class Known(NamedTuple):
    """What counting takes of a prepared board."""

    bits: BitInstructions
    shape: Shape
    plan: Plan
    classes: Classes
    endings: Endings


class Scratch(NamedTuple):
    """Working memory of one thread: planes of one left profile and q, [.., class, word]."""

    alt: NDArray[np.uint64]
    alt_before: NDArray[np.uint64]  # of right halves with a stone less
    down: NDArray[np.uint64]  # [left column, ..] D(c) of that column
    one: NDArray[np.uint64]  # OR of these over just ended left colourings that one stone ended
    many: NDArray[np.uint64]  # [left column, ..] over those that several may have ended, alone
    part: NDArray[np.uint64]  # [player, line, word] left parts of lines
    ended_part: NDArray[np.uint64]  # of just ended left colourings
    many_part: NDArray[np.uint64]
    names: NDArray[np.uint16]  # [colouring] left classes
    ended_names: NDArray[np.uint16]  # [0, just ended]; [1 + left column, those of several]
    without: NDArray[np.uint16]
    tile: NDArray[np.uint64]  # [2, 64]
    row: NDArray[np.uint64]  # [2, word]
    tops: NDArray[np.uint64]  # [left column, word] lines through its top stone
    rects: NDArray[np.int64]  # [rectangle, field] what is counted; fields in `count`
    full: NDArray[np.uint64]  # [word] lines whose left cells are taken, and right ones can be
    none: NDArray[np.uint64]  # [word] no lines
    cell: NDArray[np.uint64]  # [cell, word] just ended left colourings: the first player's stones
    cell_at: NDArray[np.int64]  # [cell] where such a plane begins, here or among all colours
    dense: NDArray[np.uint64]  # [word] bits without gaps
    slots: NDArray[np.int32]  # a hash table of groups of rows
    keys: NDArray[np.uint64]  # [group, word] lines of the first player, of the second, columns
    first: NDArray[np.int64]  # [group] its first row
    times: NDArray[np.int64]  # [group] how many rows it stands for


def most_rows(layout: Layout, endings: Endings) -> int:
    """The most rows that are looked at together: of all right profiles of so many stones."""
    half, counts = layout.right, layout.right.counts()
    ended = np.diff(endings.start).reshape(2, *half.start.shape)
    most = 0
    for n in np.unique(half.stones):
        here = half.stones == n
        most = max(most, *counts[here].sum(axis=0), *ended[:, here].sum(axis=1).ravel())
    return int(most)


def make_scratch(layout: Layout, plan: Plan, classes: Classes, endings: Endings | None) -> Scratch:
    """Working memory for one thread; without endings to know what is live alone."""
    rows = most_rows(layout, endings) if endings is not None else 0
    columns = layout.shape.left_columns if endings is not None else 0
    words = int(layout.shape.row_words.max()) + 1
    ended = int(endings.left.words.max()) + 1 if endings is not None else 0
    number, lines = int(classes.number.max()), max(1, len(plan.cross_left))
    bits = -(-lines // 64)

    def new(*shape: int) -> NDArray[np.uint64]:
        return np.zeros(shape, np.uint64)

    return Scratch(
        new(number, words), new(number, words), new(columns, number, words),
        new(number, ended), new(columns, number, ended),
        new(2, lines, words), new(2, lines, ended), new(2, lines, ended),
        np.zeros(64 * words, np.uint16), np.zeros((1 + columns, 64 * ended), np.uint16),
        np.zeros(64 * words + 1, np.uint16),
        new(2, 64), new(2, max(words, ended)), new(layout.shape.left_columns, bits),
        np.zeros((len(layout.right.stones), 7), np.int64), new(bits), new(bits),
        new(64, ended), np.zeros(64, np.int64), new(max(words, ended) + 2),
        np.zeros(1 << (2 * rows + 16).bit_length(), np.int32), new(rows + 1, 2 * bits + 1),
        np.zeros(rows + 1, np.int64), np.zeros(rows + 1, np.int64),
    )  # fmt: skip


@inner
def first_bit(mask):
    return popcount((mask & (~mask + U1)) - U1)


@inner
def find_full(shape, plan, least, scratch, pl, n):
    """Fill scratch.full and the left part of scratch.tops in place, for n stones on the right."""
    full, tops = scratch.full, scratch.tops
    for b in range(len(full)):
        full[b] = U0
        for c in range(shape.left_columns):
            tops[c, b] = U0
    for k in range(len(plan.cross_left)):
        bit = U1 << np.uint64(k & 63)
        if plan.cross_left[k] & ~shape.left_occupied[pl] == U0 and least[k] <= n:
            full[k >> 6] |= bit
            on_top = plan.cross_left[k] & shape.left_tops[pl]
            for c in range(shape.left_columns):
                if (on_top >> np.uint64(c * (shape.height + 1))) & (
                    (U1 << np.uint64(shape.height)) - U1
                ):
                    tops[c, k >> 6] |= bit


@inner
def fill_live(shape, plan, classes, scratch, pl, q_left, n):
    """What live rows take, in place: scratch.alt and scratch.part."""
    low, high = shape.left_start[pl, q_left], shape.left_start[pl, q_left + 1]
    names = classes.left[low:high]
    a = shape.left_stones[pl]
    _fill_planes(classes, (a, q_left), n, names, high - low, scratch.tile, scratch.alt)
    words, at = shape.row_words[pl, q_left], plan.at[pl, q_left, COLOUR]
    for c in range(shape.left_columns):
        for row in range(shape.left_heights[pl, c]):
            scratch.cell_at[c * (shape.height + 1) + row] = at
            at += plan.at[pl, q_left, WORDS]
    _line_planes(plan.cross_left, plan.colour, scratch.cell_at, words, scratch.full, scratch.part)


@inner
def _line_planes(lines, colour, cell_at, words, full, part):
    """Planes of the left parts of lines, of either player, from planes of cells; in place."""
    for k in range(len(lines)):
        if (full[k >> 6] >> np.uint64(k & 63)) & U1:
            for player in range(2):
                flip, some = U0 if player == 0 else ALL, lines[k]
                for w in range(words):
                    part[player, k, w] = ALL
                while some != U0:
                    at = cell_at[first_bit(some)]
                    some &= some - U1
                    for w in range(words):
                        part[player, k, w] &= colour[at + w] ^ flip


@inner
def fill_down(shape, plan, classes, scratch, where, n, mover):
    """D(c) for the left columns through whose tops lines go, and for the right ones; in place."""
    pl, q_left = where
    a, names = shape.left_stones[pl], scratch.names
    number = shape.left_start[pl, q_left + 1] - shape.left_start[pl, q_left]
    q_before = q_left - 1 + mover
    if n > 0:
        low, high = shape.left_start[pl, q_left], shape.left_start[pl, q_left + 1]
        left = classes.left[low:high]
        q = (a + n + 1) // 2 - q_left
        if q - 1 + mover >= 0:
            _fill_planes(
                classes, (a, q_left), n - 1, left, number, scratch.tile, scratch.alt_before
            )
    for c in range(shape.left_columns):
        crosses = False
        for b in range(len(scratch.full)):
            crosses |= scratch.tops[c, b] != U0
        if crosses and shape.left_heights[pl, c] > shape.left_base[c] and q_before >= 0:
            fill_below_his(shape, plan, classes.left, where, (c, mover), scratch.without, names)
            group = (a - 1, q_before)
            _fill_planes(classes, group, n, names, number, scratch.tile, scratch.down[c])


@inner
def fill_ended(known, scratch, where, n, mover):
    """What just ended left colourings take, in place: one, many, and their parts of lines.

    Returns how many several stones may have ended; -1 if there are none at all.
    """
    bits, shape, plan, classes = known.bits, known.shape, known.plan, known.classes
    ended = known.endings.left
    pl, q_left = where
    words, at = ended.words[pl, q_left], ended.first_word[pl, q_left]
    q_before, a = q_left - 1 + mover, shape.left_stones[pl]
    if words == 0 or q_before < 0:
        return -1
    columns, ended_by = shape.left_columns, ended.ended_by
    lane_words = len(ended_by) // (2 * max(columns, 1))
    twice, names = scratch.row[0], scratch.ended_names
    several = 0
    for w in range(words):
        seen = twice[w] = U0
        for c in range(columns):
            by = ended_by[(mover * columns + c) * lane_words + at + w]
            twice[w] |= seen & by
            seen |= by
        several += popcount(twice[w])
    names[0, : 64 * words] = 0
    names[1:, :several] = 0
    cells = U0
    for k in range(len(plan.cross_left)):
        if (scratch.full[k >> 6] >> np.uint64(k & 63)) & U1:
            cells |= plan.cross_left[k]
    some = cells
    while some != U0:
        scratch.cell[first_bit(some), :words] = U0
        some &= some - U1
    is_any = False
    for c in range(columns):
        before, lane = pl - shape.left_radix[c], mover * columns + c
        is_there = shape.left_heights[pl, c] > shape.left_base[c]
        if not is_there or plan.gone[lane, before, q_before] == 0:
            continue
        is_any = True
        stays = plan.at[before, q_before, STAY + lane]
        old = shape.row_words[before, q_before]
        by = lane * lane_words + at
        low, high = shape.left_start[before, q_before], shape.left_start[before, q_before + 1]
        _name_ended(classes.left[low:high], plan.stay[stays : stays + old],
                    ended_by[by : by + words], twice, names[0], names[1 + c])  # fmt: skip
        masks = (stays, (ended_by, by, words))
        _colour_ended(bits, shape, plan, scratch, (before, q_before, c, mover), cells, masks)
    if not is_any:
        return -1
    group = (a - 1, q_before)
    _fill_planes(classes, group, n, names[0], 64 * words, scratch.tile, scratch.one)
    for c in range(columns if several > 0 else 0):
        _fill_planes(classes, group, n, names[1 + c], several, scratch.tile, scratch.many[c])
    for cell in range(64):
        scratch.cell_at[cell] = cell * scratch.cell.shape[1]
    flat = scratch.cell.reshape(-1)
    _line_planes(plan.cross_left, flat, scratch.cell_at, words, scratch.full, scratch.ended_part)
    for k in range(len(plan.cross_left)):
        if (scratch.full[k >> 6] >> np.uint64(k & 63)) & U1:
            for player in range(2 if several > 0 else 0):
                plane = scratch.ended_part[player, k, :words]
                _pack(bits, plane, (twice, 0, U0), scratch.many_part[player, k])
            for c in range(columns):  # lines through the one stone that has ended the game
                if (scratch.tops[c, k >> 6] >> np.uint64(k & 63)) & U1:
                    plane, by = (
                        scratch.ended_part[mover, k],
                        (mover * columns + c) * lane_words + at,
                    )
                    for w in range(words):
                        plane[w] &= ~ended_by[by + w] | twice[w]
    return several


@inner
def _colour_ended(bits, shape, plan, scratch, where, cells, masks):
    """Add the colours of what a stone ends to the planes of some cells, in place: scratch.cell.

    Colourings that do not `stay` and those that this stone ended are in the same order.
    """
    before, q_before, column, mover = where
    stays, (ended_by, by, words) = masks
    words_before, at = shape.row_words[before, q_before], plan.at[before, q_before, COLOUR]
    for c in range(shape.left_columns):
        for row in range(shape.left_heights[before, c] + (c == column)):
            cell = c * (shape.height + 1) + row
            if (cells >> np.uint64(cell)) & U1:
                plane = scratch.cell[cell, :words]
                if row < shape.left_heights[before, c]:
                    colours = plan.colour[at : at + words_before]
                    _pack(bits, colours, (plan.stay, stays, ALL), scratch.dense)
                    _spread(bits, scratch.dense, ended_by, by, plane)
                elif mover == 0:
                    for w in range(words):
                        plane[w] |= ended_by[by + w]
            if row < shape.left_heights[before, c]:
                at += plan.at[before, q_before, WORDS]


@inner
def _name_ended(classes, stays, ended_by, twice, one, many):
    """Classes of the colourings that a stone ends, at the places of those that it made; in place.

    Both are in the same order. In `one` only those that no other stone may have ended; in `many`
    the others, without gaps.
    """
    i, gone = -1, U0
    several = 0
    for w in range(len(ended_by)):
        by = ended_by[w]
        others = twice[w]
        while by != U0:
            while gone == U0:
                i += 1
                gone = ~stays[i]
            before = 64 * i + first_bit(gone)
            gone &= gone - U1
            place = first_bit(by)
            bit = by & (~by + U1)
            by &= by - U1
            if others & bit:
                many[several + popcount(others & (bit - U1))] = classes[before]
            else:
                one[64 * w + place] = classes[before]
        several += popcount(others)


@inner
def _fill_planes(classes, left_group, n, names, number, scratch_tile, out):
    """Planes of the right classes of n stones over some left classes, in place: [class - 1, word].

    `left_group` is the (stones, q) of the left classes; `names` are so many of them.
    """
    tile, turn = scratch_tile[0], scratch_tile[1]
    a, q_left = left_group
    begin = classes.begin[a, q_left]
    q = (a + n + 1) // 2 - q_left
    right_classes = classes.number[n, q]
    for sheet in range((right_classes + 63) >> 6):
        lookup = classes.table[n, sheet, begin:]
        for word in range((number + 63) >> 6):
            here = min(64, number - 64 * word)
            for i in range(here):
                tile[i] = lookup[np.uint64(names[64 * word + i])]
            for i in range(here, 64):
                tile[i] = U0
            transpose(tile, turn)
            for i in range(min(64, right_classes - 64 * sheet)):
                out[64 * sheet + i, word] = tile[i]


@inner
def _pack(bits, plane, under, dense):
    """Extract a plane under a mask, without gaps; fills `dense` in place.

    `under` is the mask: (masks, its first word there, flip).
    """
    masks, at_mask, flip = under
    have, fill, at = U0, U0, U0
    for word in range(len(plane)):
        mask = masks[at_mask + word] ^ flip
        taken = extract(bits, plane[word], mask)
        have |= taken << fill
        dense[at] = have
        back = LAST - fill
        fill += np.uint64(popcount(mask))
        if fill > LAST:
            have = (taken >> U1) >> back
            at += U1
            fill &= LAST
    dense[at] = have


@inner
def _spread(bits, dense, masks, at_mask, plane):
    """Deposit gapless bits under a mask, OR-ing into a plane in place."""
    taken = U0
    for word in range(len(plane)):
        at, shift = taken >> SHIFT, taken & LAST
        some = (dense[at] >> shift) | ((dense[at + U1] << U1) << (LAST - shift))
        mask = masks[at_mask + word]
        plane[word] |= deposit(bits, some, mask)
        taken += np.uint64(popcount(mask))
