"""What some groups read of the next layer: whole blocks, or rows of them.

One stone more leads from a block to its neighbours. Whole blocks read whole
neighbours. A strip of rows reads rows alone, because both row maps keep their order:

    stone on the left    the same rows of a block whose rows are of another length
    stone on the right   from the first to the last row that the strip's rows become

so the strips of a block read nothing twice, but for the rows in between:

    strip    rows 40-59    left   rows 40-59        right   rows 77-121
    strip    rows 60-79           rows 60-79                rows 123-160

`Reads` says which words of the layer these are, and where each rectangle will lie when they
lie one after another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.jit import entry, inner
from retro.walk.halves.layer import is_strip
from retro.walk.halves.plans import rows_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.index.halves.layout import Layout
    from retro.walk.halves.layer import Group
    from retro.walk.halves.prepared import Prepared

    Profiles = NDArray[np.int64]


class Reads(NamedTuple):
    """Stretches of a layer that are read, laid one after another."""

    left: Profiles  # half-profiles of the blocks
    right: Profiles
    base: NDArray[np.int64]  # [block, q] where row 0 of the rectangle will lie, or would
    begin: NDArray[np.int64]  # [stretch] words of the layer
    end: NDArray[np.int64]

    @property
    def words(self) -> int:
        """The length of all stretches."""
        return int((self.end - self.begin).sum())


def find_reads(prepared: Prepared, ply: int, group: Group) -> Reads:
    """What a group, or some rows of it, read."""
    if is_strip(prepared.layout, group):
        return _row_reads(prepared, ply, group)
    return block_reads(prepared.layout, *neighbours(prepared.layout, group.left, group.right))


def block_reads(layout: Layout, left: Profiles, right: Profiles) -> Reads:
    """Whole blocks."""
    offset = layout.shape.offset[left, right]
    begin, end = offset[:, 0], offset[:, -1]
    places = np.cumsum(end - begin) - (end - begin)
    return Reads(left, right, offset + (places - begin)[:, None], begin, end)


def neighbours(layout: Layout, left: Profiles, right: Profiles) -> tuple[Profiles, Profiles]:
    """The profiles that one stone more makes of some profiles, each once."""
    lefts, rights = [], []
    for half, own in ((layout.left, left), (layout.right, right)):
        for column in range(half.geometry.width):
            movable = half.heights[own, column] != layout.board.height
            sides = [left[movable], right[movable]]
            sides[0 if half is layout.left else 1] += half.radix[column]
            lefts.append(sides[0])
            rights.append(sides[1])
    columns = len(layout.right.stones)
    return np.divmod(np.unique(np.concatenate(lefts) * columns + np.concatenate(rights)), columns)


def _row_reads(prepared: Prepared, ply: int, strip: Group) -> Reads:
    """Rows of the neighbours of one block."""
    layout, shape = prepared.layout, prepared.layout.shape
    block = int(strip.left[0]), int(strip.right[0])
    rows = np.zeros((shape.width, shape.offset.shape[2], 2), np.int64)
    _rows_after(shape, prepared.plan.up, ply, block, (strip.begin, strip.end), rows)
    total = (ply + 2) // 2
    lefts, rights, bases, begins, ends = [], [], [], [], []
    place = 0
    for column in np.flatnonzero(rows[:, :, 1].any(axis=1)).tolist():
        left, right = block
        if column < shape.left_columns:
            left += int(layout.left.radix[column])
        else:
            right += int(layout.right.radix[column - shape.left_columns])
        base = np.zeros(shape.offset.shape[2], np.int64)
        for q in np.flatnonzero(rows[column, :, 1]).tolist():
            first, last = rows[column, q].tolist()
            row_words, offset = (
                int(shape.row_words[left, total - q]),
                int(shape.offset[left, right, q]),
            )
            base[q] = place - first * row_words
            begins.append(offset + first * row_words)
            ends.append(offset + last * row_words)
            place += (last - first) * row_words
        lefts.append(left)
        rights.append(right)
        bases.append(base)
    # One row more, the last, which the slot -1 of blocks that are not read leads to.
    bases.append(np.zeros(shape.offset.shape[2], np.int64))
    table = np.array(bases, np.int64)
    lists = (lefts, rights, begins, ends)
    left_, right_, begin, end = (np.array(found, np.int64) for found in lists)
    return Reads(left_, right_, table, begin, end)


@inner
def _widen(found, row):
    """Have a range of rows contain one more, if it is one; in place."""
    if row >= 0:
        if found[1] == 0 or row < found[0]:
            found[0] = row
        found[1] = max(found[1], row + 1)


@entry
def _rows_after(shape, up, ply, block, strip, rows):
    """Fill `rows` in place, [board column, q of the successor]: its first row and the one after.

    For the rows of a block that lie within a strip.
    """
    pl, pr = block
    total, mover = (ply + 1) // 2, ply & 1
    first_player = 1 - mover
    low, high = total - shape.left_stones[pl], shape.right_stones[pr]
    for q in range(max(0, low), min(total, high) + 1):
        first, last = rows_within(shape, (pl, pr, q), total - q, strip)
        if first >= last or shape.row_words[pl, total - q] == 0:
            continue
        for column in range(shape.left_columns):
            if shape.left_heights[pl, column] < shape.height:
                rows[column, q, 0], rows[column, q, 1] = first, last
        start = shape.right_start[pr, q]
        for column in range(shape.left_columns, shape.width):
            if shape.right_heights[pr, column - shape.left_columns] < shape.height:
                found = rows[column, q + first_player]
                for i in range(start + first, start + last):
                    _widen(found, up[mover, column - shape.left_columns, i])
