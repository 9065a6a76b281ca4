"""Blanking: positions that one look at the board decides need no bits in a file.

If the mover can complete a line, the position is won. If not, but the opponent
could, were it her turn, the mover must stop her: the game is lost if she has
two such cells, and else goes on after one forced move. Whoever asks for the
value can see all that (`tablebase.halves.lookup` does), so such positions are written
as draws, and what is left compresses well: 6x5 takes 0.6 times the space.

    position          win loss        win loss
    mover can win      1   0           0   0
    opponent could     ?   ?     ->    0   0
    any other          w   l           w   l       and so in the planes of numbers, if there are any

One rule serves both players: the cells where a stone would complete a line are
found as in `backward`, for either owner, a row at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0
from retro.jit import entry, inner
from retro.walk.halves.backward import arm_lines
from retro.walk.halves.planes import STAY
from retro.walk.halves.plans import left_part_plane, rows_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.index.halves.layout import Layout
    from retro.walk.halves.plans import Plan


class Scratch(NamedTuple):
    """Working memory of one thread."""

    line_left: NDArray[np.uint64]  # [i] what armed line i still asks of the left half
    line_right: NDArray[np.uint64]  # ... and of the right half
    line_plane: NDArray[np.uint64]  # [owner * lines + i, word] columns where the owner has it
    either: NDArray[np.uint64]  # [word] columns that one player wins at once in every row


def make_scratch(layout: Layout, plan: Plan) -> Scratch:
    """Working memory for one thread."""
    longest = int(layout.shape.row_words.max()) + 2
    lines = len(plan.cross_left)
    return Scratch(
        np.zeros(lines, np.uint64),
        np.zeros(lines, np.uint64),
        np.zeros((2 * lines, longest), np.uint64),
        np.zeros(longest, np.uint64),
    )


@entry
def blank_group(shape, plan, scratch, own, kept, group):
    """Copy a group without the positions that a look decides; fills `kept` in place.

    `own` is (values, origin), values and kept are [plane, word]; kept's first word is the
    group's, the first word of `values` is the layer's word `origin`.
    """
    strip = (group.begin, group.end)
    for i in range(len(group.left)):
        pl, pr = group.left[i], group.right[i]
        armed = arm_lines(shape, plan, scratch, pl, pr)
        total = (shape.left_stones[pl] + shape.right_stones[pr] + 1) // 2
        low, high = total - shape.left_stones[pl], shape.right_stones[pr]
        for q in range(max(0, low), min(total, high) + 1):
            words = shape.row_words[pl, total - q]
            first, last = rows_within(shape, (pl, pr, q), total - q, strip)
            if words > 0 and first < last:
                _find_either(shape, plan, scratch, (pl, pr, total - q), armed)
                _blank_rectangle(shape, plan, scratch, own, kept, strip, (pl, pr, q), armed)


@inner
def _find_either(shape, plan, scratch, rect, armed):
    """Fill scratch.either and line_plane in place."""
    pl, _, q_left = rect
    either, planes, stay = scratch.either, scratch.line_plane, plan.stay
    words = shape.row_words[pl, q_left]
    for word in range(words):
        either[word] = U0
    for owner in range(2):
        for column in range(shape.left_columns):
            lane = owner * shape.left_columns + column
            if plan.gone[lane, pl, q_left] > 0:
                at = plan.at[pl, q_left, STAY + lane]
                for word in range(words):
                    either[word] |= ~stay[at + word]
        for line in range(armed):
            plane = planes[owner * len(scratch.line_left) + line, :words]
            left_part_plane(shape, plan, (pl, q_left), scratch.line_left[line], owner, plane)
            if scratch.line_right[line] == U0:
                for word in range(words):
                    either[word] |= plane[word]


@inner
def _blank_rectangle(shape, plan, scratch, own, kept, strip, rect, armed):
    """Copy the rows of one rectangle that lie in the strip; `kept` in place."""
    values, origin = own
    line_left, line_right = scratch.line_left, scratch.line_right
    line_plane, either, up = scratch.line_plane, scratch.either, plan.up
    planes = values.shape[0]
    colourings = shape.right_colourings
    right_columns = shape.width - shape.left_columns
    pl, pr, q = rect
    total = (shape.left_stones[pl] + shape.right_stones[pr] + 1) // 2
    occupied = shape.right_occupied[pr]
    open_columns = shape.right_heights[pr] < shape.height
    row_words = shape.row_words[pl, total - q]
    first, last = rows_within(shape, rect, total - q, strip)
    at = shape.offset[pl, pr, q] + first * row_words
    words = np.uint64(row_words)
    begin, to = np.uint64(at - origin), np.uint64(at - strip[0])
    low = shape.right_start[pr, q]
    lines = len(line_left)
    for i in range(low + first, low + last):
        is_decided = False
        for column in range(right_columns):
            if open_columns[column] and (up[0, column, i] < 0 or up[1, column, i] < 0):
                is_decided = True
        for line in range(armed):
            mine = colourings[i] & line_right[line]
            if line_left[line] == U0 and (mine == line_right[line] or mine == U0):
                is_decided = True
        if is_decided:
            for plane in range(planes):
                for word in range(words):
                    kept[plane, to + word] = U0
        else:
            for plane in range(planes):
                for word in range(words):
                    kept[plane, to + word] = values[plane, begin + word] & ~either[word]
            for owner in range(2):
                flip = U0 if owner == 0 else occupied
                for line in range(armed):
                    needed = line_right[line]
                    if needed != U0 and ((colourings[i] ^ flip) & needed) == needed:
                        has_line = owner * lines + line
                        for plane in range(planes):
                            for word in range(words):
                                kept[plane, to + word] &= ~line_plane[has_line, word]
        begin += words
        to += words
