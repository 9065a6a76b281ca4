"""Blanking: positions that one look at the board decides need no bits in a file.

If the mover can complete a line, the position is won. If not, but the opponent
could, were it her turn, the mover must stop her: the game is lost if she has
two such cells, and else goes on after one forced move. Whoever asks for the
value can see all that (`tablebase.lookup` does), so such positions are written
as draws, and what is left compresses well: 6x5 takes 0.6 times the space.

    position          win loss        win loss
    mover can win      1   0           0   0
    opponent could     ?   ?     ->    0   0
    any other          w   l           w   l

One rule serves both players: the cells where a stone would complete a line are
found as in `backward`, for either owner, a row at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.games.connect_bits import U0, popcount
from retro.jit import entry, inner
from retro.walk.backward import arm_lines
from retro.walk.plans import left_part_plane

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.index.layout import Layout
    from retro.walk.plans import Plan


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
def blank_blocks(shape, plan, scratch, values, kept, strip, blocks):
    """Copy rows of blocks without the positions that a look decides; fills `kept` in place.

    `values` and `kept` are [plane, word]; `strip` are two words of the layer, between
    whole rows: what lies between them is copied, the first of them to kept's first word.
    """
    last = shape.offset.shape[2] - 1
    for i in range(len(blocks[0])):
        pl, pr = blocks[0][i], blocks[1][i]
        if shape.offset[pl, pr, 0] >= strip[1] or shape.offset[pl, pr, last] <= strip[0]:
            continue
        armed = arm_lines(shape, plan, scratch, pl, pr)
        total = (shape.left_stones[pl] + shape.right_stones[pr] + 1) // 2
        low, high = total - shape.left_stones[pl], shape.right_stones[pr]
        for q in range(max(0, low), min(total, high) + 1):
            words = shape.row_words[pl, total - q]
            if words > 0 and shape.right_start[pr, q] < shape.right_start[pr, q + 1]:
                _find_either(shape, plan, scratch, (pl, pr, total - q), armed)
                _blank_rectangle(shape, plan, scratch, values, kept, strip, (pl, pr, q), armed)


@inner
def _find_either(shape, plan, scratch, rect, armed):
    """Fill scratch.either and line_plane in place."""
    pl, _, q_left = rect
    either, planes = scratch.either, scratch.line_plane
    base, words = plan.first_word[pl, q_left], shape.row_words[pl, q_left]
    for word in range(words):
        either[word] = U0
    for owner in range(2):
        for column in range(shape.left_columns):
            lane = owner * shape.left_columns + column
            if plan.holes[lane, pl, q_left]:
                for word in range(words):
                    either[word] |= ~plan.stay[lane, base + word]
        for line in range(armed):
            plane = planes[owner * len(scratch.line_left) + line, :words]
            left_part_plane(shape, plan.colour, scratch.line_left[line], owner, base, plane)
            if scratch.line_right[line] == U0:
                for word in range(words):
                    either[word] |= plane[word]


@inner
def _blank_rectangle(shape, plan, scratch, values, kept, strip, rect, armed):
    """Copy the rows of one rectangle that lie in the strip; `kept` in place."""
    line_left, line_right = scratch.line_left, scratch.line_right
    planes, either, up = scratch.line_plane, scratch.either, plan.up
    colourings = shape.right_colourings
    right_columns = shape.width - shape.left_columns
    pl, pr, q = rect
    total = (shape.left_stones[pl] + shape.right_stones[pr] + 1) // 2
    occupied = shape.right_occupied[pr]
    open_columns = shape.right_heights[pr] < shape.height
    row_words = shape.row_words[pl, total - q]
    offset, low, high = (
        shape.offset[pl, pr, q],
        shape.right_start[pr, q],
        shape.right_start[pr, q + 1],
    )
    first = low + max(0, strip[0] - offset) // row_words
    last = min(high, low + max(0, strip[1] - offset) // row_words)
    words = np.uint64(row_words)
    begin = np.uint64(offset + (first - low) * row_words)
    to = begin - np.uint64(strip[0])
    lines = len(line_left)
    for i in range(first, last):
        is_decided = False
        for column in range(right_columns):
            if open_columns[column] and (up[0, column, i] < 0 or up[1, column, i] < 0):
                is_decided = True
        for line in range(armed):
            mine = colourings[i] & line_right[line]
            if line_left[line] == U0 and (mine == line_right[line] or mine == U0):
                is_decided = True
        if is_decided:
            for word in range(words):
                kept[0, to + word] = U0
                kept[1, to + word] = U0
        else:
            for word in range(words):
                kept[0, to + word] = values[0, begin + word] & ~either[word]
                kept[1, to + word] = values[1, begin + word] & ~either[word]
            for owner in range(2):
                flip = U0 if owner == 0 else occupied
                for line in range(armed):
                    needed = line_right[line]
                    if needed != U0 and ((colourings[i] ^ flip) & needed) == needed:
                        plane = owner * lines + line
                        for word in range(words):
                            kept[0, to + word] &= ~planes[plane, word]
                            kept[1, to + word] &= ~planes[plane, word]
        begin += words
        to += words


@entry
def count_blocks(offset, values, alive, strip, blocks, weights):
    """How many live positions of some blocks are won, and how many lost, within a strip.

    `offset` is the layout's; `alive` is a plane whose first word is the layer's word
    `strip[0]`; a position counts as often as its block's weight says.
    """
    won, lost = 0, 0
    for i in range(len(blocks[0])):
        pl, pr = blocks[0][i], blocks[1][i]
        first = max(strip[0], offset[pl, pr, 0])
        last = min(strip[1], offset[pl, pr, offset.shape[2] - 1])
        for word in range(first, last):
            live = alive[word - strip[0]]
            won += weights[i] * popcount(values[0, word] & live)
            lost += weights[i] * popcount(values[1, word] & live)
    return won, lost
