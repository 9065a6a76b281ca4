"""The backward walk: exact values of a layer from those of the next, a row at a time.

Each layer is two planes, `win` and `loss` for the side to move (neither is a
draw), laid out as `index.layout` says; of a walk with distances more planes follow,
which `distances` is about. For a position p of ply n:

    win  = can complete a line now  or  some successor is a loss
    loss = cannot                   and every successor is a win

and a full board is neither. For 64 positions at a time that reads

    win  = immediate | loss(s1) | loss(s2) | ...      s1, s2 ...: the successor rows,
    loss = ~immediate & win(s1) & win(s2) & ...       brought into this row's columns

A stone on the right leaves the columns alone: the successor row as it stands.
A stone on the left leaves the row alone: extract the bits of the successor row
whose top stone is the mover's, deposit them where the colouring stays line-free.

Immediate wins need no look at single positions either. The profile fixes the
playable cells, so it fixes the lines that one stone can complete ("armed" if
the rest is the mover's). Inside the left half: the complement of `stay`.
Inside the right half: the whole row wins. Across: if the row's part of the
line is the mover's, the plane "the left part is the mover's" is OR-ed in.

A successor in which a line is complete has a meaningless value, but then
`immediate` is set, and decides. Padding bits are 0 in all planes, always.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, deposit, extract, popcount
from retro.jit import entry, inner
from retro.walk.halves.distances import (
    clear_numbers,
    compress_planes,
    finish_numbers,
    join_numbers,
    spread_planes,
)
from retro.walk.halves.planes import ALL, COLOUR, LAST, NOWHERE, SHIFT, WORDS
from retro.walk.halves.planes import STAY as LANES
from retro.walk.halves.plans import LOSS, NUMBERS, WIN, left_part_plane, rows_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.index.halves.layout import Layout
    from retro.walk.halves.plans import Plan


class Scratch(NamedTuple):
    """Working memory of one thread."""

    line_left: NDArray[np.uint64]  # [i] what armed line i still asks of the left half
    line_right: NDArray[np.uint64]  # ... and of the right half
    line_plane: NDArray[np.uint64]  # [i, word] columns that have it
    immediate: NDArray[np.uint64]  # [word] columns that win at once in every row
    dense: NDArray[np.uint64]  # [plane, word] extracted bits without gaps
    wide: NDArray[np.uint64]  # [plane, word] the same in this row's columns; with distances only
    row: NDArray[np.uint64]  # [word] to compare numbers in; with distances only
    moves: NDArray[np.int64]  # [board column, field] where the successors lie; fields below


# Fields of Scratch.moves: first word of the successor's rectangle (NOWHERE: column full), its words
# per row, where `colour` has its stones on the cell that takes the stone, and where `stay` has
# this rectangle's colourings (NOWHERE: all stay).
SOURCE, STRIDE, MASK, STAY = 0, 1, 2, 3


class Rectangle(NamedTuple):
    """Positions of one profile with q first-player stones on the right: some of its rows."""

    ply: int
    left: int  # half-profiles
    right: int
    q: int
    q_left: int
    first: int  # the rows that are walked, counted from 0
    last: int
    armed: int  # cross lines that one stone could complete
    row_words: int
    pad: np.uint64  # the last word of a row: which bits are positions


def make_scratch(layout: Layout, plan: Plan, planes: int = NUMBERS) -> Scratch:
    """Working memory for one thread, for layers of so many planes."""
    longest = int(layout.shape.row_words.max()) + 2
    lines = len(plan.cross_left)
    more = longest if planes > NUMBERS else 0
    return Scratch(
        np.zeros(lines, np.uint64),
        np.zeros(lines, np.uint64),
        np.zeros((lines, longest), np.uint64),
        np.zeros(longest, np.uint64),
        np.zeros((planes, longest), np.uint64),
        np.zeros((planes, more), np.uint64),
        np.zeros(more, np.uint64),
        np.zeros((layout.board.width, 4), np.int64),
    )


@entry
def walk_group(bits, shape, plan, scratch, ply, own, there, group):
    """Fill the values of a group of a layer from the next one; in place.

    `own` is (here, origin): planes whose first word is the layer's word `origin`.
    `there` is a `View` of the next layer that has every successor's row.
    Threads may run this on the same planes at once: each group's words belong to it alone.
    """
    here, origin = own
    after = there.values
    total = (ply + 1) // 2
    strip = (group.begin, group.end)
    for i in range(len(group.left)):
        pl, pr = group.left[i], group.right[i]
        armed = arm_lines(shape, plan, scratch, pl, pr)
        low, high = total - shape.left_stones[pl], shape.right_stones[pr]
        for q in range(max(0, low), min(total, high) + 1):
            row_words = shape.row_words[pl, total - q]
            first, last = rows_within(shape, (pl, pr, q), total - q, strip)
            if row_words > 0 and first < last:
                columns = shape.left_start[pl, total - q + 1] - shape.left_start[pl, total - q]
                pad = ALL >> np.uint64(-columns & 63)
                rect = Rectangle(ply, pl, pr, q, total - q, first, last, armed, row_words, pad)
                begin = shape.offset[pl, pr, q] + first * row_words - origin
                if _find_successors(shape, plan, there, scratch.moves, rect) > 0:
                    _find_immediate(shape, plan, scratch, rect)
                    _walk_rectangle(bits, shape, plan, here, begin, after, scratch, rect)
                else:
                    _draw_rows(here, begin, (last - first) * row_words)


@inner
def arm_lines(shape, plan, scratch, pl, pr):
    """List the cross lines with one empty cell, a playable one, and what they ask of each half.

    Modifies scratch.line_left and line_right in place; returns how many there are.
    """
    full_left, full_right = shape.left_occupied[pl], shape.right_occupied[pr]
    far_left = ~(full_left | shape.left_playable[pl])
    far_right = ~(full_right | shape.right_playable[pr])
    armed = 0
    for i in range(len(plan.cross_left)):
        on_left, on_right = plan.cross_left[i], plan.cross_right[i]
        if ((on_left & far_left) | (on_right & far_right)) == U0:
            if popcount(on_left & ~full_left) + popcount(on_right & ~full_right) == 1:
                scratch.line_left[armed] = on_left & full_left
                scratch.line_right[armed] = on_right & full_right
                armed += 1
    return armed


@inner
def _find_successors(shape, plan, there, moves, rect):
    """Fill `moves` in place: where the successors of a rectangle lie. Return how many there are."""
    slot, base = there.slot, there.base
    at, gone = plan.at, plan.gone
    lane = (rect.ply & 1) * shape.left_columns
    first = 1 - (rect.ply & 1)
    found, under = 0, 0
    for column in range(shape.width):
        moves[column, SOURCE] = NOWHERE
        if column < shape.left_columns:
            height = shape.left_heights[rect.left, column]
            under += height
            if height < shape.height:
                after = rect.left + shape.left_radix[column]
                moves[column, SOURCE] = base[slot[after, rect.right], rect.q]
                moves[column, STRIDE] = shape.row_words[after, rect.q_left + first]
                q_left = rect.q_left + first
                moves[column, MASK] = at[after, q_left, COLOUR] + under * at[after, q_left, WORDS]
                moves[column, STAY] = NOWHERE
                if gone[lane + column, rect.left, rect.q_left] > 0:
                    moves[column, STAY] = at[rect.left, rect.q_left, LANES + lane + column]
                found += 1
        elif shape.right_heights[rect.right, column - shape.left_columns] < shape.height:
            after = rect.right + shape.right_radix[column - shape.left_columns]
            moves[column, SOURCE] = base[slot[rect.left, after], rect.q + first]
            found += 1
    return found


@inner
def _find_immediate(shape, plan, scratch, rect):
    """Fill scratch.immediate and line_plane in place: which columns win at once, and when."""
    mover = rect.ply & 1
    immediate, planes, stay = scratch.immediate, scratch.line_plane, plan.stay
    words = rect.row_words
    for word in range(words):
        immediate[word] = U0
    for column in range(shape.left_columns):
        at = scratch.moves[column, STAY]
        if scratch.moves[column, SOURCE] != NOWHERE and at != NOWHERE:
            for word in range(words):
                immediate[word] |= ~stay[at + word]
    columns = (rect.left, rect.q_left)
    for line in range(rect.armed):
        cells = scratch.line_left[line]
        left_part_plane(shape, plan, columns, cells, mover, planes[line, :words])
        if scratch.line_right[line] == U0:
            for word in range(words):
                immediate[word] |= planes[line, word]
    immediate[words - 1] &= rect.pad


@inner
def _draw_rows(here, begin, words):
    """A full board is a draw; in place."""
    for plane in range(here.shape[0]):
        for word in range(begin, begin + words):
            here[plane, word] = U0


# From here on the loops run once per row. They take plain arrays and scalars, no slices and no
# tuples of arrays: each of those costs an atomic reference count. Places are unsigned, which
# spares numba's test for negative indices.


class Move(NamedTuple):
    """A stone in a left column: where its successor row lies and how to extract from it."""

    source: np.uint64  # first word of the successor row
    words: np.uint64
    mask: np.uint64  # first word of the mask in `colour` ...
    flip: np.uint64  # ... turned over if the mover is the second player


@inner
def _walk_rectangle(bits, shape, plan, here, begin, after, scratch, rect):
    """Fill the rows of one rectangle from word `begin` of `here` on; in place."""
    colour, stay, up = plan.colour, plan.stay, plan.up
    moves, colourings = scratch.moves, shape.right_colourings
    dense, wide, compared = scratch.dense, scratch.wide, scratch.row
    planes, has_numbers = after.shape[0], here.shape[0] > NUMBERS
    immediate, plane = scratch.immediate, scratch.line_plane
    line_left, line_right = scratch.line_left, scratch.line_right
    width, left_width = shape.width, shape.left_columns
    mover = rect.ply & 1
    mine = U0 if mover == 0 else shape.right_occupied[rect.right]
    flip = U0 if mover == 0 else ALL
    words = np.uint64(rect.row_words)
    begin = np.uint64(begin)
    low = shape.right_start[rect.right, rect.q]
    for i in range(low + rect.first, low + rect.last):
        is_won = False
        for column in range(left_width, width):
            if moves[column, SOURCE] != NOWHERE and up[mover, column - left_width, i] < 0:
                is_won = True
        for line in range(rect.armed):
            needed = line_right[line]
            if line_left[line] == U0 and ((colourings[i] ^ mine) & needed) == needed:
                is_won = True
        if has_numbers:
            clear_numbers(here, begin, words)
        if is_won:
            _win_row(here, begin, words, rect.pad)
        else:
            _copy_row(here, begin, words, immediate)
            for line in range(rect.armed):
                needed = line_right[line]
                if needed != U0 and ((colourings[i] ^ mine) & needed) == needed:
                    _or_row(here, begin, words, plane, line)
            _start_loss(here, begin, words, rect.pad)
            for column in range(left_width, width):
                if moves[column, SOURCE] != NOWHERE:
                    row = np.uint64(up[mover, column - left_width, i])
                    source = np.uint64(moves[column, SOURCE]) + row * words
                    if has_numbers:
                        join_numbers(here, begin, words, after, planes, source, compared)
                    else:
                        _join_row(here, begin, words, after, source)
            for column in range(left_width):
                if moves[column, SOURCE] != NOWHERE:
                    stride = np.uint64(moves[column, STRIDE])
                    source = np.uint64(moves[column, SOURCE]) + np.uint64(i - low) * stride
                    move = Move(source, stride, np.uint64(moves[column, MASK]), flip)
                    has_gaps = moves[column, STAY] != NOWHERE
                    stays = np.uint64(moves[column, STAY])
                    if has_numbers:
                        compress_planes(bits, after, colour, move, dense)
                        if has_gaps:
                            spread_planes(bits, dense, planes, stay, stays, words, wide)
                            join_numbers(here, begin, words, wide, planes, U0, compared)
                        else:
                            join_numbers(here, begin, words, dense, planes, U0, compared)
                        continue
                    _compress(bits, after, colour, move, dense)
                    if has_gaps:
                        _join_spread(bits, here, begin, words, dense, stay, stays)
                    else:
                        _join_row(here, begin, words, dense, U0)
            if has_numbers:
                finish_numbers(here, begin, words, compared)
        begin += words


@inner
def _win_row(here, begin, words, pad):
    """The mover wins in every column of the row; in place."""
    for word in range(words):
        here[WIN, begin + word] = ALL
        here[LOSS, begin + word] = U0
    here[WIN, begin + words - U1] = pad


@inner
def _copy_row(here, begin, words, plane):
    for word in range(words):
        here[WIN, begin + word] = plane[word]


@inner
def _or_row(here, begin, words, planes, line):
    for word in range(words):
        here[WIN, begin + word] |= planes[line, word]


@inner
def _start_loss(here, begin, words, pad):
    """Without immediate win a position counts as lost until a successor says otherwise."""
    here[WIN, begin + words - U1] &= pad
    for word in range(words):
        here[LOSS, begin + word] = ~here[WIN, begin + word]
    here[LOSS, begin + words - U1] &= pad


@inner
def _join_row(here, begin, words, after, source):
    """Join successors that lie in the same columns; `here` in place."""
    for word in range(words):
        here[WIN, begin + word] |= after[LOSS, source + word]
        here[LOSS, begin + word] &= after[WIN, source + word]


@inner
def _join_spread(bits, here, begin, words, dense, stay, stays):
    """Join successors that lie without gaps in `dense`, one per bit of `stay`; `here` in place.

    `stays` is where the row's colourings begin in `stay`.
    """
    taken = U0
    for word in range(words):
        at, shift = taken >> SHIFT, taken & LAST
        back = LAST - shift
        won = (dense[WIN, at] >> shift) | ((dense[WIN, at + U1] << U1) << back)
        lost = (dense[LOSS, at] >> shift) | ((dense[LOSS, at + U1] << U1) << back)
        mask = stay[stays + word]
        here[WIN, begin + word] |= deposit(bits, lost, mask)
        here[LOSS, begin + word] &= deposit(bits, won, mask)
        taken += np.uint64(popcount(mask))


@inner
def _compress(bits, after, colour, move, dense):
    """Extract both planes of a row under the move's mask, without gaps; fills `dense` in place."""
    have_win, have_loss = U0, U0
    fill, at = U0, U0
    for word in range(move.words):
        mask = colour[move.mask + word] ^ move.flip
        won = extract(bits, after[WIN, move.source + word], mask)
        lost = extract(bits, after[LOSS, move.source + word], mask)
        have_win |= won << fill
        have_loss |= lost << fill
        dense[WIN, at] = have_win
        dense[LOSS, at] = have_loss
        back = LAST - fill
        fill += np.uint64(popcount(mask))
        if fill > LAST:
            have_win = (won >> U1) >> back
            have_loss = (lost >> U1) >> back
            at += U1
            fill &= LAST
    dense[WIN, at] = have_win
    dense[LOSS, at] = have_loss
