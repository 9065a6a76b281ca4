"""The forward walk: which positions can arise in play.

One plane per layer, `alive`: reachable from the root (the empty board, unless
the layout is rooted elsewhere) and not finished.
The moves of the backward walk run the other way: where that one extracts from
a successor row, this one deposits into it. Each row of a layer collects from
its predecessors, so threads write only their own rows:

    last stone on the right   the predecessor's row as it stands, where the
                              top stone has the colour of the last mover
    last stone on the left    extract what stayed line-free, deposit where the
                              top stone has the last mover's colour

Finished games are counted, not kept. A line across the cut is found among the
live positions, by the same planes that find immediate wins. A line inside a
half is not among them, so each half lists its *just ended* colourings too
(`walk.ended`); a row of those is collected in scratch memory, counted
and forgotten. Each finished position is one bit of one such row, however many
last moves lead to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, deposit, extract, popcount
from retro.index.halves.colourings import Half, column_cells
from retro.jit import entry, inner
from retro.walk.halves.ended import ended_columns, ended_rows
from retro.walk.halves.planes import ALL, COLOUR, LAST, NOWHERE, SHIFT, WORDS, HalfPlanes
from retro.walk.halves.planes import STAY as LANES
from retro.walk.halves.plans import board_column, left_part_plane, places, rows_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.index.halves.layout import Layout
    from retro.walk.halves.plans import Plan

# What forward_blocks counts.
ALIVE, TERMINAL = 0, 1


class ForwardPlan(NamedTuple):
    """What the forward walk needs beside the layout and the backward walk's plan; flat."""

    down: NDArray[np.int32]  # [column, right colouring] row without the top stone
    row_start: NDArray[np.int64]  # EndedRows
    row_at: NDArray[np.int32]
    row_down: NDArray[np.int32]
    column_word: NDArray[np.int64]  # EndedColumns
    column_words: NDArray[np.int64]
    column_by: NDArray[np.uint64]


def make_forward_plan(layout: Layout, plan: Plan) -> ForwardPlan:
    """Prepare the forward walk of a board."""
    down = _rows_before(layout.right)
    rows = ended_rows(layout.right)
    planes = HalfPlanes(plan.at, plan.gone, plan.colour, plan.stay)
    columns = ended_columns(layout.left, planes)
    return ForwardPlan(down, *rows, *columns)


def _rows_before(half: Half) -> NDArray[np.int32]:
    """For every colouring and column the row without the column's top stone, or -1."""
    width, height = half.geometry.width, half.geometry.height
    down = np.full((width, len(half.colourings)), -1, np.int32)
    for profile, column in np.argwhere(half.heights > half.base):
        top = half.tops[profile] & np.uint64(board_column(height, column))
        before = profile - half.radix[column]
        for q in range(half.stones[profile] + 1):
            low, high = half.start[profile, q], half.start[profile, q + 1]
            is_first = (half.colourings[low:high] & top) != U0
            for mine, q_before in ((is_first, q - 1), (~is_first, q)):
                if mine.any():
                    there = slice(half.start[before, q_before], half.start[before, q_before + 1])
                    rows = low + np.flatnonzero(mine)
                    wanted = half.colourings[rows] & ~top
                    down[column, rows] = places(half.colourings[there], wanted)
    return down


class Scratch(NamedTuple):
    """Working memory of one thread."""

    line_right: NDArray[np.uint64]  # [i] right part of a cross line that may just be complete
    line_plane: NDArray[np.uint64]  # [i, word] columns that have its left part
    dense: NDArray[np.uint64]  # [word] extracted bits without gaps
    ended: NDArray[np.uint64]  # [word] one row of just ended positions
    moves: NDArray[np.int64]  # [board column, field] where predecessors lie; fields below
    counts: NDArray[np.int64]  # ALIVE, TERMINAL


# Fields of Scratch.moves: first word of the predecessor's rectangle (NOWHERE: there is none), its
# words per row, where `stay` has its colourings, where `colour` has this rectangle's on the cell of
# the last stone, and whether some of the predecessor's colourings end the game.
SOURCE, STRIDE, STAY, MASK, ENDS = 0, 1, 2, 3, 4


class Rectangle(NamedTuple):
    """Positions of one profile with q first-player stones on the right: some of its rows."""

    mover: int  # who made the last move
    left: int  # half-profiles
    right: int
    q: int
    q_left: int
    first: int  # the rows that are walked, counted from 0
    last: int
    row_words: int
    pad: np.uint64  # the last word of a row: which bits are positions


def make_scratch(layout: Layout, plan: Plan, forward: ForwardPlan) -> Scratch:
    """Working memory for one thread."""
    longest = int(max(layout.shape.row_words.max(), forward.column_words.max())) + 2
    lines = len(plan.cross_left)
    return Scratch(
        np.zeros(lines, np.uint64),
        np.zeros((lines, longest), np.uint64),
        np.zeros(longest, np.uint64),
        np.zeros(longest, np.uint64),
        np.zeros((layout.board.width, 5), np.int64),
        np.zeros(2, np.int64),
    )


@entry
def forward_group(bits, shape, plans, scratch, ply, own, there, group):
    """Mark the live reachable positions of a group from the previous layer's; in place.

    `plans` is (plan, forward plan). `own` is (here, origin): the alive plane of
    this layer, whose first word is the layer's word `origin`. `there` is a `View`
    of the previous layer that has every predecessor's row.
    Adds the numbers ALIVE and TERMINAL to scratch.counts. Threads may run this
    on the same plane at once: each group's words belong to it alone.
    """
    plan, forward = plans
    here, origin = own[0][0], own[1]
    before = there.values[0]
    total = (ply + 1) // 2
    strip = (group.begin, group.end)
    for i in range(len(group.left)):
        pl, pr = group.left[i], group.right[i]
        low, high = total - shape.left_stones[pl], shape.right_stones[pr]
        for q in range(max(0, low), min(total, high) + 1):
            words = shape.row_words[pl, total - q]
            first, last = rows_within(shape, (pl, pr, q), total - q, strip)
            if first > last or (first == last and not is_empty(shape, pr, q)):
                continue
            columns = shape.left_start[pl, total - q + 1] - shape.left_start[pl, total - q]
            pad = ALL >> np.uint64(-columns & 63)
            rect = Rectangle((ply - 1) & 1, pl, pr, q, total - q, first, last, words, pad)
            _find_predecessors(shape, plan, there, scratch.moves, rect)
            if words > 0:
                begin = shape.offset[pl, pr, q] + first * words - origin
                lines = _find_lines(shape, plan, scratch, rect)
                layers = (before, here, begin)
                _mark_rectangle(bits, shape, plan, forward.down, layers, scratch, rect)
                _count_rectangle(shape, scratch, (here, begin), rect, lines)
                _count_ended_rows(shape, forward, before, scratch, rect)
            _count_ended_columns(bits, shape, plan.stay, forward, before, scratch, rect)


@inner
def is_empty(shape, pr, q):
    """Whether a rectangle has no rows: then just ended ones may still be counted with it."""
    return shape.right_start[pr, q] == shape.right_start[pr, q + 1]


@inner
def ended_rows_within(forward, right, q, rows, first, last):
    """The just ended rows that go with some of a rectangle's rows: those that sort among them."""
    begin, end = forward.row_start[right, q], forward.row_start[right, q + 1]
    at = forward.row_at[begin:end]
    high = len(at) if last == rows else np.searchsorted(at, last)
    return begin + np.searchsorted(at, first), begin + high


@inner
def _find_predecessors(shape, plan, there, moves, rect):
    """Fill `moves` in place: where the predecessors of a rectangle lie."""
    slot, base = there.slot, there.base
    at, left_columns = plan.at, shape.left_columns
    under = -1
    first = 1 - rect.mover
    q_left, q = rect.q_left - first, rect.q - first
    for column in range(shape.width):
        moves[column, SOURCE] = NOWHERE
        if column < left_columns:
            height = shape.left_heights[rect.left, column]
            before = rect.left - shape.left_radix[column]
            under += height
            if (
                height > shape.left_base[column]
                and q_left >= 0
                and shape.row_words[before, q_left] > 0
            ):
                moves[column, SOURCE] = base[slot[before, rect.right], rect.q]
                moves[column, STRIDE] = shape.row_words[before, q_left]
                lane = rect.mover * left_columns + column
                moves[column, STAY] = at[before, q_left, LANES + lane]
                cell = under * at[rect.left, rect.q_left, WORDS]
                moves[column, MASK] = at[rect.left, rect.q_left, COLOUR] + cell
                moves[column, ENDS] = plan.gone[lane, before, q_left] > 0
        else:
            height = shape.right_heights[rect.right, column - left_columns]
            if height > shape.right_base[column - left_columns] and q >= 0:
                before = rect.right - shape.right_radix[column - left_columns]
                moves[column, SOURCE] = base[slot[rect.left, before], q]


@inner
def _find_lines(shape, plan, scratch, rect):
    """List the full cross lines through a top stone, and the columns that have their left part.

    Modifies scratch.line_right and line_plane in place; returns how many there are.
    """
    empty_left = ~shape.left_occupied[rect.left]
    empty_right = ~shape.right_occupied[rect.right]
    tops_left, tops_right = shape.left_tops[rect.left], shape.right_tops[rect.right]
    columns = (rect.left, rect.q_left)
    lines = 0
    for i in range(len(plan.cross_left)):
        on_left, on_right = plan.cross_left[i], plan.cross_right[i]
        is_full = ((on_left & empty_left) | (on_right & empty_right)) == U0
        if is_full and ((on_left & tops_left) | (on_right & tops_right)) != U0:
            plane = scratch.line_plane[lines, : rect.row_words]
            left_part_plane(shape, plan, columns, on_left, rect.mover, plane)
            scratch.line_right[lines] = on_right
            lines += 1
    return lines


# From here on the loops run once per row; see the note in `backward`.


@inner
def _mark_rectangle(bits, shape, plan, down, layers, scratch, rect):
    """Collect the rows of one rectangle from their predecessors; `here` in place."""
    before, here, begin = layers
    colourings, colour, stay = shape.right_colourings, plan.colour, plan.stay
    moves, dense = scratch.moves, scratch.dense
    left_columns, width, height = shape.left_columns, shape.width, shape.height
    tops = shape.right_tops[rect.right]
    mine = U0 if rect.mover == 0 else shape.right_occupied[rect.right]
    flip = U0 if rect.mover == 0 else ALL
    words = np.uint64(rect.row_words)
    begin = np.uint64(begin)
    low = shape.right_start[rect.right, rect.q]
    for i in range(low + rect.first, low + rect.last):
        for word in range(words):
            here[begin + word] = U0
        mine_on_top = (colourings[i] ^ mine) & tops
        for column in range(left_columns, width):
            is_mine = (mine_on_top & column_cells(height, column - left_columns)) != U0
            if is_mine and moves[column, SOURCE] != NOWHERE:
                row = np.uint64(down[column - left_columns, i])
                source = np.uint64(moves[column, SOURCE]) + row * words
                for word in range(words):
                    here[begin + word] |= before[source + word]
        for column in range(left_columns):
            if moves[column, SOURCE] != NOWHERE:
                stride = np.uint64(moves[column, STRIDE])
                source = np.uint64(moves[column, SOURCE]) + np.uint64(i - low) * stride
                stays, mask = np.uint64(moves[column, STAY]), np.uint64(moves[column, MASK])
                _compress(bits, before, (source, stride), stay, (stays, U0), dense)
                _spread(bits, dense, colour, (mask, flip), here, (begin, words))
        here[begin + words - U1] &= rect.pad
        begin += words


@inner
def _compress(bits, plane, row, masks, under, dense):
    """Extract a row of `plane` under a mask, without gaps; fills `dense` in place.

    `row` is (first word, words); `under` is the mask: (its first word in `masks`, flip).
    """
    begin, words = row
    at_mask, flip = under
    have, fill, at = U0, U0, U0
    for word in range(words):
        mask = masks[at_mask + word] ^ flip
        taken = extract(bits, plane[begin + word], mask)
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
def _spread(bits, dense, masks, under, plane, row):
    """Deposit gapless bits under a mask, OR-ing into a row of `plane` in place.

    `row` and `under` as in `_compress`. Bits beyond the row's own last one may be set, too.
    """
    begin, words = row
    at_mask, flip = under
    taken = U0
    for word in range(words):
        at, shift = taken >> SHIFT, taken & LAST
        some = (dense[at] >> shift) | ((dense[at + U1] << U1) << (LAST - shift))
        mask = masks[at_mask + word] ^ flip
        plane[begin + word] |= deposit(bits, some, mask)
        taken += np.uint64(popcount(mask))


@inner
def _count_rectangle(shape, scratch, own, rect, lines):
    """Count the rows of a rectangle and take the finished positions out; in place."""
    here, begin = own
    colourings, line_right, plane = shape.right_colourings, scratch.line_right, scratch.line_plane
    mine = U0 if rect.mover == 0 else shape.right_occupied[rect.right]
    words = np.uint64(rect.row_words)
    begin = np.uint64(begin)
    low = shape.right_start[rect.right, rect.q]
    alive, terminal = 0, 0
    for i in range(low + rect.first, low + rect.last):
        for line in range(lines):
            if ((colourings[i] ^ mine) & line_right[line]) == line_right[line]:
                for word in range(words):
                    terminal += popcount(here[begin + word] & plane[line, word])
                    here[begin + word] &= ~plane[line, word]
        for word in range(words):
            alive += popcount(here[begin + word])
        begin += words
    scratch.counts[ALIVE] += alive
    scratch.counts[TERMINAL] += terminal


@inner
def _count_ended_rows(shape, forward, before, scratch, rect):
    """Count the finished positions with their line inside the right half."""
    down, moves, row = forward.row_down, scratch.moves, scratch.ended
    left_columns = shape.left_columns
    words = np.uint64(rect.row_words)
    rows = shape.right_start[rect.right, rect.q + 1] - shape.right_start[rect.right, rect.q]
    low, high = ended_rows_within(forward, rect.right, rect.q, rows, rect.first, rect.last)
    ended = 0
    for i in range(low, high):
        for word in range(words):
            row[word] = U0
        for column in range(left_columns, shape.width):
            place = down[rect.mover, column - left_columns, i]
            if place >= 0:
                source = np.uint64(moves[column, SOURCE]) + np.uint64(place) * words
                for word in range(words):
                    row[word] |= before[source + word]
        for word in range(words):
            ended += popcount(row[word])
    scratch.counts[TERMINAL] += ended


@inner
def _count_ended_columns(bits, shape, stay, forward, before, scratch, rect):
    """Count the finished positions with their line inside the left half."""
    moves, dense, row, masks = scratch.moves, scratch.dense, scratch.ended, forward.column_by
    words = np.uint64(forward.column_words[rect.left, rect.q_left])
    at = forward.column_word[rect.left, rect.q_left]
    lane_words = len(masks) // (2 * max(shape.left_columns, 1))
    ended = 0
    for i in range(rect.first, rect.last if words > U0 else rect.first):
        for word in range(words):
            row[word] = U0
        for column in range(shape.left_columns):
            if moves[column, SOURCE] != NOWHERE and moves[column, ENDS] == 1:
                stride, stays = np.uint64(moves[column, STRIDE]), np.uint64(moves[column, STAY])
                source = np.uint64(moves[column, SOURCE]) + np.uint64(i) * stride
                _compress(bits, before, (source, stride), stay, (stays, ALL), dense)
                lane = rect.mover * shape.left_columns + column
                mask = np.uint64(lane * lane_words + at)
                _spread(bits, dense, masks, (mask, U0), row, (U0, words))
        for word in range(words):
            ended += popcount(row[word])
    scratch.counts[TERMINAL] += ended
