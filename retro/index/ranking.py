"""Rank and unrank: a position to its place in its layer and back (see `layout`).

`plain.layer` lists a layer from the definition alone; tests bind the two.

    place = (ply, rank);  word = rank // 64, bit = rank % 64 of the ply's planes

A rank fits 63 bits on every board whose layout fits in memory: layers of 7x6
hold about 2e12 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from retro.games.connect import Board, Position
from retro.games.connect_bits import U0, U1, popcount
from retro.index.halves import find_sorted
from retro.index.layout import layer_blocks

if TYPE_CHECKING:
    from retro.index.layout import Layout

NO_RANK = -1


class Place(NamedTuple):
    """Where a position lies: its layer and its bit there."""

    ply: int
    rank: int


def rank_position(layout: Layout, position: Position) -> Place | None:
    """The place of a position, or None if it has none (a line inside a half).

    >>> from retro.index.layout import make_layout
    >>> board = Board(5, 4)
    >>> rank_position(make_layout(board), Position(board, board.bit(0, 0)))
    Place(ply=1, rank=192)
    """
    found = rank(layout, np.uint64(position.first), np.uint64(position.second))
    return None if found == NO_RANK else Place(position.ply, int(found))


def unrank_position(layout: Layout, board: Board, place: Place) -> Position | None:
    """The position at a place, or None where the layer only has padding."""
    blocks = layer_blocks(layout, place.ply)
    if not 0 <= place.rank < 64 * blocks.offset[-1]:
        raise ValueError(f"rank {place.rank} is outside ply {place.ply}")
    number = np.searchsorted(blocks.offset, place.rank // 64, side="right") - 1
    pl, pr = int(blocks.left[number]), int(blocks.right[number])
    bit = place.rank - 64 * int(blocks.offset[number])
    first, second, is_position = unrank_in_block(layout, pl, pr, bit)
    return Position(board, int(first), int(second)) if is_position else None


@njit(cache=True, nogil=True)
def half_profile(geometry, stones):
    """The half-profile number of the occupied cells of a half, or -1 if a stone floats."""
    profile = 0
    radix = 1
    column_mask = (U1 << np.uint64(geometry.height)) - U1
    for column in range(geometry.width):
        bits = (stones >> np.uint64(column * (geometry.height + 1))) & column_mask
        if bits & (bits + U1):
            return -1
        profile += popcount(bits) * radix
        radix *= geometry.height + 1
    return profile


@njit(cache=True, nogil=True)
def rank(layout, first, second):
    """The rank of a position in its layer, or -1 for one that has none.

    None: a floating stone, impossible counts, a line inside a half, a stone on
    a guard bit or in two hands.
    """
    left, right = layout.left, layout.right
    cut = np.uint64(left.geometry.width * (layout.geometry.height + 1))
    both = first | second
    low = (U1 << cut) - U1
    pl = half_profile(left.geometry, both & low)
    pr = half_profile(right.geometry, both >> cut)
    if pl < 0 or pr < 0 or (first & second) != U0:
        return NO_RANK
    ply = left.stones[pl] + right.stones[pr]
    q_left = popcount(first & low)
    q = popcount(first) - q_left
    if ply != popcount(both) or q_left + q != (ply + 1) // 2:
        return NO_RANK
    low_column, low_row = left.start[pl, q_left], right.start[pr, q]
    column = find_sorted(left.colourings, low_column, left.start[pl, q_left + 1], first & low)
    row = find_sorted(right.colourings, low_row, right.start[pr, q + 1], first >> cut)
    if row < 0 or column < 0:
        return NO_RANK
    word = rectangle_offset(layout, pl, pr, q) + (row - low_row) * layout.row_words[pl, q_left]
    return word * 64 + column - low_column


@njit(cache=True, nogil=True)
def rectangle_offset(layout, pl, pr, q):
    """First word, in its layer, of the rectangle with q first-player stones on the right."""
    stones = layout.left.stones[pl]
    total = (stones + layout.right.stones[pr] + 1) // 2
    word = layout.offset[pl, pr]
    for smaller in range(max(0, total - stones), q):
        rows = layout.right.start[pr, smaller + 1] - layout.right.start[pr, smaller]
        word += rows * layout.row_words[pl, total - smaller]
    return word


@njit(cache=True, nogil=True)
def unrank_in_block(layout, pl, pr, bit):
    """The stones of both players at a bit of a block, and False where it only has padding."""
    left, right = layout.left, layout.right
    total = (left.stones[pl] + right.stones[pr] + 1) // 2
    q = max(0, total - left.stones[pl])
    base = layout.offset[pl, pr]
    word = base + bit // 64
    while rectangle_offset(layout, pl, pr, q + 1) <= word:
        q += 1
    row_words = layout.row_words[pl, total - q]
    row, inside = divmod(word - rectangle_offset(layout, pl, pr, q), row_words)
    column = inside * 64 + bit % 64
    low = left.start[pl, total - q]
    if column >= left.start[pl, total - q + 1] - low:
        return U0, U0, False
    cut = np.uint64(left.geometry.width * (layout.geometry.height + 1))
    first = left.colourings[low + column] | (right.colourings[right.start[pr, q] + row] << cut)
    return first, (left.occupied[pl] | (right.occupied[pr] << cut)) & ~first, True
