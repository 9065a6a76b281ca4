"""Rank and unrank: a position to its place in its layer and back (see `layout`).

`plain.layer` lists a layer from the definition alone; tests bind the two.

    place = (ply, rank);  word = rank // 64, bit = rank % 64 of the ply's planes

A rank fits 63 bits on every board whose layout fits in memory: layers of 7x6
hold about 2e12 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.games.connect import Position
from retro.games.connect_bits import U0, U1, popcount
from retro.index.halves import find_sorted
from retro.index.layout import layer_blocks
from retro.jit import entry, inner

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
    >>> from retro.games.connect import Board
    >>> board = Board(5, 4)
    >>> rank_position(make_layout(board), Position(board, board.bit(0, 0)))
    Place(ply=1, rank=128)
    """
    found = rank(layout.shape, np.uint64(position.first), np.uint64(position.second))
    return None if found == NO_RANK else Place(position.ply, int(found))


def unrank_position(layout: Layout, place: Place) -> Position | None:
    """The position at a place, or None where the layer only has padding."""
    blocks = layer_blocks(layout, place.ply)
    if not 0 <= place.rank < 64 * blocks.offset[-1]:
        raise ValueError(f"rank {place.rank} is outside ply {place.ply}")
    number = np.searchsorted(blocks.offset, place.rank // 64, side="right") - 1
    pl, pr = int(blocks.left[number]), int(blocks.right[number])
    bit = place.rank - 64 * int(blocks.offset[number])
    first, second, is_position = unrank_in_block(layout.shape, pl, pr, bit)
    return Position(layout.board, int(first), int(second)) if is_position else None


@inner
def half_profile(stones, columns, height):
    """The half-profile number of the occupied cells of a half, or -1 if a stone floats."""
    profile = 0
    radix = 1
    column_mask = (U1 << np.uint64(height)) - U1
    for column in range(columns):
        bits = (stones >> np.uint64(column * (height + 1))) & column_mask
        if bits & (bits + U1):
            return -1
        profile += popcount(bits) * radix
        radix *= height + 1
    return profile


@entry
def rank(shape, first, second):
    """The rank of a position in its layer, or -1 for one that has none.

    None: a floating stone, impossible counts, a line inside a half, a stone on
    a guard bit or in two hands.
    """
    cut = np.uint64(shape.left_columns * (shape.height + 1))
    both = first | second
    low = (U1 << cut) - U1
    pl = half_profile(both & low, shape.left_columns, shape.height)
    pr = half_profile(both >> cut, shape.width - shape.left_columns, shape.height)
    if pl < 0 or pr < 0 or (first & second) != U0:
        return NO_RANK
    ply = shape.left_stones[pl] + shape.right_stones[pr]
    q_left = popcount(first & low)
    q = popcount(first) - q_left
    if ply != popcount(both) or q_left + q != (ply + 1) // 2:
        return NO_RANK
    start, end = shape.left_start[pl, q_left], shape.left_start[pl, q_left + 1]
    column = find_sorted(shape.left_colourings, start, end, first & low) - start
    start, end = shape.right_start[pr, q], shape.right_start[pr, q + 1]
    row = find_sorted(shape.right_colourings, start, end, first >> cut) - start
    if row < 0 or column < 0:
        return NO_RANK
    word = shape.offset[pl, pr, q] + row * shape.row_words[pl, q_left]
    return word * 64 + column


@entry
def unrank_in_block(shape, pl, pr, bit):
    """The stones of both players at a bit of a block, and False where it only has padding."""
    stones = shape.left_stones[pl]
    total = (stones + shape.right_stones[pr] + 1) // 2
    q = max(0, total - stones)
    word = shape.offset[pl, pr, 0] + bit // 64
    while shape.offset[pl, pr, q + 1] <= word:
        q += 1
    row_words = shape.row_words[pl, total - q]
    row, inside = divmod(word - shape.offset[pl, pr, q], row_words)
    column = shape.left_start[pl, total - q] + inside * 64 + bit % 64
    if column >= shape.left_start[pl, total - q + 1]:
        return U0, U0, False
    cut = np.uint64(shape.left_columns * (shape.height + 1))
    on_right = shape.right_colourings[shape.right_start[pr, q] + row]
    first = shape.left_colourings[column] | (on_right << cut)
    occupied = shape.left_occupied[pl] | (shape.right_occupied[pr] << cut)
    return first, occupied & ~first, True
