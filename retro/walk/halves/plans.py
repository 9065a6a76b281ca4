"""What both walks prepare once per board: planes of the left half, maps of the right.

Values move between layers a row at a time. A stone on the right turns a row
into another row; a stone on the left turns every column of a row into another
column, by a map that is the same for all rows. Both maps are made here.

Left half: the planes `colour` and `stay` of `planes`, one bit per colouring.
Dropping a stone inserts one fixed bit into every colouring, which keeps their
order. So the colourings that stay, in order, become exactly the successor's
colourings whose top stone in that column has the mover's colour, in order:
one bit extract under the one set and one bit deposit under the other.

    before   stay           1 1 0 1      a b . c
    after    top stone's    0 1 0 1 1    . a . b c     colour, turned over for the second player

Right half, one entry per colouring i (`i` counts over all colourings):

    up[mover, column, i]  row of the successor in its own list, or -1 for a line

Lines that cross the cut are pairs of sets of cells, one per half.

Numbers that recur: `mover` 0 is the first player, 1 the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1
from retro.jit import inner
from retro.walk.halves.planes import ALL, COLOUR, WORDS, half_planes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.connect4.rules import Connect4Board
    from retro.index.halves.colourings import Half
    from retro.index.halves.layout import Layout


WIN, LOSS, NUMBERS = 0, 1, 2  # the planes of a layer of the backward walk; the first of numbers


class Plan(NamedTuple):
    """What a walk needs beside the layout, as kernels see it: flat, like `Shape`."""

    at: NDArray[np.int64]  # these as in HalfPlanes, of the left half
    gone: NDArray[np.int32]
    colour: NDArray[np.uint64]
    stay: NDArray[np.uint64]
    up: NDArray[np.int32]  # [mover, column, right colouring]
    cross_left: NDArray[np.uint64]  # [line] the cells of a line across the cut ...
    cross_right: NDArray[np.uint64]  # ... in either half


def make_plan(layout: Layout) -> Plan:
    """Prepare the walks of a board."""
    up = _right_moves(layout.right)
    lines = cross_lines(layout.board, layout.left.geometry.width)
    return Plan(*half_planes(layout.left), up, *lines)


def _right_moves(half: Half) -> NDArray[np.int32]:
    """The row maps `up`. Few and short lists: numpy does, and needs no compiling."""
    width, height = half.geometry.width, half.geometry.height
    up = np.full((2, width, len(half.colourings)), -1, np.int32)
    for profile, column in np.argwhere(half.heights < height):
        cell = half.playable[profile] & np.uint64(board_column(height, column))
        after = profile + half.radix[column]
        for mover, bit in enumerate((cell, U0)):
            for q in range(half.stones[profile] + 1):
                here = slice(half.start[profile, q], half.start[profile, q + 1])
                there = slice(half.start[after, q + 1 - mover], half.start[after, q + 2 - mover])
                wanted = half.colourings[here] | bit
                up[mover, column, here] = places(half.colourings[there], wanted)
    return up


def board_column(height: int, column: int) -> int:
    """The cells of one column, as `halves.column_cells`."""
    return ((1 << height) - 1) << (int(column) * (height + 1))


def places(values: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Where each wanted value stands among the sorted values, or -1.

    >>> places(np.array([2, 5, 7], np.uint64), np.array([5, 6, 8], np.uint64)).tolist()
    [1, -1, -1]
    """
    if not len(values):
        return np.full(len(wanted), -1)
    at = np.searchsorted(values, wanted)
    at[at == len(values)] = 0
    return np.where(values[at] == wanted, at, -1)


def cross_lines(
    board: Connect4Board, left_columns: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The left and right parts of the lines that cross the cut after `left_columns` columns.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> len(cross_lines(Connect4Board(5, 4), 3)[0])
    12
    """
    cut = left_columns * board.stride
    parts = [(line & ((1 << cut) - 1), line >> cut) for line in board.lines]
    crossing = [(left, right) for left, right in parts if left and right]
    return (
        np.array([left for left, _ in crossing], np.uint64),
        np.array([right for _, right in crossing], np.uint64),
    )


@inner
def rows_within(shape, block, q_left, strip):
    """Which rows of a rectangle lie within a strip: (first, after the last), counted from 0.

    `block` is (left profile, right profile, q); `strip` are two words of the layer, between rows.
    A rectangle without words has no place: it goes with the word after it, or with the last
    one of its block, so that of all strips of a block exactly one has it.
    """
    pl, pr, q = block
    begin, end = strip
    offset, row_words = shape.offset[pl, pr, q], shape.row_words[pl, q_left]
    rows = shape.right_start[pr, q + 1] - shape.right_start[pr, q]
    if rows * row_words == 0:
        block_end = shape.offset[pl, pr, shape.offset.shape[2] - 1]
        is_here = begin <= offset < end or (offset == block_end and block_end <= end)
        return (0, rows) if is_here else (0, -1)
    first = min(rows, max(0, begin - offset) // row_words)
    return first, min(rows, max(0, end - offset) // row_words)


@inner
def left_part_plane(shape, plan, columns, cells, owner, plane):
    """Which columns of a row have stones of `owner` on all these cells; fills `plane` in place.

    `columns` are (left profile, q). Padding bits come out set where the owner is the second
    player or `cells` is empty.
    """
    profile, q = columns
    flip, heights, colour = U0 if owner == 0 else ALL, shape.left_heights, plan.colour
    at, words = plan.at[profile, q, COLOUR], plan.at[profile, q, WORDS]
    for word in range(len(plane)):
        plane[word] = ALL
    for column in range(shape.left_columns):
        for row in range(heights[profile, column]):
            if (cells >> np.uint64(column * (shape.height + 1) + row)) & U1:
                for word in range(len(plane)):
                    plane[word] &= colour[at + word] ^ flip
            at += words
