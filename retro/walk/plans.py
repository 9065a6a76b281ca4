"""What both walks prepare once per board: planes of the left half, maps of the right.

Values move between layers a row at a time. A stone on the right turns a row
into another row; a stone on the left turns every column of a row into another
column, by a map that is the same for all rows. Both maps are made here.

Left half, for each (half-profile, q) a stretch of words, one bit per colouring
(`first_word[p, q]` is where it starts, the same in every plane):

    colour[cell]          whether the colouring has a first-player stone there
    stay[mover, column]   whether it stays line-free when `mover` drops a stone
                          into `column`: only then has the successor a rank

Dropping a stone inserts one fixed bit into every colouring, which keeps their
order. So the colourings that stay, in order, become exactly the successor's
colourings whose top stone in that column has the mover's colour, in order:
one bit extract under the one set and one bit deposit under the other.

Right half, one entry per colouring i (`i` counts over all colourings):

    up[mover, column, i]  row of the successor in its own list, or -1 for a line

Lines that cross the cut are pairs of sets of cells, one per half.

Numbers that recur: `mover` 0 is the first player, 1 the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from retro.games.connect_bits import U0, U1, has_line
from retro.index.halves import (
    Half,
    cell_bit,
    column_radix,
    find_sorted,
    profile_height,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.connect import Board
    from retro.index.layout import Layout


class LeftPlanes(NamedTuple):
    """Planes over the left half's colourings, as kernels see them."""

    first_word: NDArray[np.int64]  # [profile, q]
    colour: NDArray[np.uint64]  # [cell, word], cell = column * height + row
    stay: NDArray[np.uint64]  # [mover, column, word]
    holes: NDArray[np.bool_]  # [mover, column, profile, q] some colouring does not stay


class CrossLines(NamedTuple):
    """The lines with cells in both halves, each half in its own small board."""

    left: NDArray[np.uint64]
    right: NDArray[np.uint64]


class Plan(NamedTuple):
    """All that the backward walk needs beside the layout."""

    planes: LeftPlanes
    up: NDArray[np.int32]  # [mover, column, right colouring]
    cross: CrossLines


def make_plan(board: Board, layout: Layout) -> Plan:
    """Prepare the walks of a board."""
    return Plan(
        _left_planes(layout.left, layout.row_words),
        _right_moves(layout.right),
        cross_lines(board, layout.left.geometry.width),
    )


def cross_lines(board: Board, left_columns: int) -> CrossLines:
    """The lines of a board that cross the cut after `left_columns` columns.

    >>> from retro.games.connect import Board
    >>> len(cross_lines(Board(5, 4), 3).left)
    12
    """
    cut = left_columns * board.stride
    parts = [(line & ((1 << cut) - 1), line >> cut) for line in board.lines]
    crossing = [(left, right) for left, right in parts if left and right]
    return CrossLines(
        np.array([left for left, _ in crossing], np.uint64),
        np.array([right for _, right in crossing], np.uint64),
    )


def _left_planes(half: Half, row_words: NDArray[np.int64]) -> LeftPlanes:
    ends = np.cumsum(row_words).reshape(row_words.shape)
    geo = half.geometry
    planes = LeftPlanes(
        ends - row_words,
        np.zeros((geo.width * geo.height, ends[-1, -1]), np.uint64),
        np.zeros((2, geo.width, ends[-1, -1]), np.uint64),
        np.zeros((2, geo.width, *row_words.shape), np.bool_),
    )
    _fill_left_planes(half, planes)
    return planes


def _right_moves(half: Half) -> NDArray[np.int32]:
    up = np.full((2, half.geometry.width, len(half.colourings)), -1, np.int32)
    _fill_right_moves(half, up)
    return up


@njit(cache=True, nogil=True)
def _fill_left_planes(half, planes):
    """Fill colour, stay and holes in place."""
    geo = half.geometry
    for profile in range(len(half.stones)):
        occupied = half.occupied[profile]
        for q in range(half.start.shape[1] - 1):
            base = planes.first_word[profile, q]
            low, high = half.start[profile, q], half.start[profile, q + 1]
            for column in range(geo.width):
                height = profile_height(geo, profile, column)
                for row in range(height):
                    bit = cell_bit(geo, column, row)
                    plane = planes.colour[column * geo.height + row]
                    for i in range(high - low):
                        if half.colourings[low + i] & bit:
                            plane[base + (i >> 6)] |= U1 << np.uint64(i & 63)
                if height < geo.height:
                    bit = cell_bit(geo, column, height)
                    for mover in range(2):
                        flip = U0 if mover == 0 else occupied
                        plane = planes.stay[mover, column]
                        for i in range(high - low):
                            mine = (half.colourings[low + i] ^ flip) | bit
                            if has_line(geo, mine):
                                planes.holes[mover, column, profile, q] = True
                            else:
                                plane[base + (i >> 6)] |= U1 << np.uint64(i & 63)


@njit(cache=True, nogil=True)
def _fill_right_moves(half, up):
    """Fill `up` in place; the order of colourings is kept, so one search per list suffices."""
    geo = half.geometry
    for profile in range(len(half.stones)):
        for column in range(geo.width):
            height = profile_height(geo, profile, column)
            if height == geo.height:
                continue
            after = profile + column_radix(geo, column)
            for mover in range(2):
                bit = cell_bit(geo, column, height) if mover == 0 else U0
                for q in range(half.start.shape[1] - 2 + mover):
                    low = half.start[after, q + 1 - mover]
                    high = half.start[after, q + 2 - mover]
                    for i in range(half.start[profile, q], half.start[profile, q + 1]):
                        row = find_sorted(half.colourings, low, high, half.colourings[i] | bit)
                        up[mover, column, i] = row - low if row >= 0 else -1
