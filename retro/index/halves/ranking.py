"""Rank and unrank: a position to its place in its layer and back (see `layout`).

`plain.layer` lists a layer from the definition alone; tests bind the two.

    place = (ply, rank);  word = rank // 64, bit = rank % 64 of the ply's planes

Profiles come in mirror pairs of which one is stored, so a position of the
other is mirrored first: both have the rank of the stored one.

A rank fits 63 bits on every board whose layout fits in memory: layers of 7x6
hold about 2e12 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, popcount
from retro.games.connect4.rules import Connect4Position
from retro.index.halves.colourings import find_sorted
from retro.index.halves.layout import layer_blocks
from retro.jit import entry, inner

if TYPE_CHECKING:
    from retro.index.halves.layout import Layout
    from retro.index.halves.sizes import Blocks

NO_RANK = -1
NOT_COVERED = -3  # does not extend the root (-2 is free for callers: finished)


class Place(NamedTuple):
    """Where a position lies: its layer and its bit there."""

    ply: int
    rank: int


def rank_position(layout: Layout, position: Connect4Position) -> Place | None:
    """The place of a position, or None: a line inside a half, or it does not extend the root.

    >>> from retro.index.halves.layout import make_layout
    >>> from retro.games.connect4.rules import Connect4Board
    >>> board = Connect4Board(5, 4)
    >>> rank_position(make_layout(board), Connect4Position(board, board.bit(0, 0)))
    Place(ply=1, rank=0)
    """
    found = rank_one(layout, position.first, position.second)
    return None if found < 0 else Place(position.ply, found)


def rank_one(layout: Layout, first: int, second: int) -> int:
    """The rank of a position in its layer, or NO_RANK or NOT_COVERED."""
    ranks = np.empty(1, np.int64)
    rank_many(layout.shape, np.array([first], np.uint64), np.array([second], np.uint64), ranks)
    return int(ranks[0])


def unrank_position(
    layout: Layout, place: Place, blocks: Blocks | None = None
) -> Connect4Position | None:
    """The position at a place, or None where the layer only has padding.

    Who asks for many of a ply finds its blocks once and hands them in.
    """
    blocks = layer_blocks(layout, place.ply) if blocks is None else blocks
    if not 0 <= place.rank < 64 * blocks.offset[-1]:
        raise ValueError(f"rank {place.rank} is outside ply {place.ply}")
    number = np.searchsorted(blocks.offset, place.rank // 64, side="right") - 1
    pl, pr = int(blocks.left[number]), int(blocks.right[number])
    bit = place.rank - 64 * int(blocks.offset[number])
    first, second, is_position = unrank_in_block(layout.shape, pl, pr, bit)
    return Connect4Position(layout.board, int(first), int(second)) if is_position else None


@inner
def half_profile(stones, base, height):
    """The half-profile number of the occupied cells of a half, or -1 if a stone floats.

    `base` are the root's heights; the root's cells are among the occupied ones.
    """
    profile = 0
    radix = 1
    column_mask = (U1 << np.uint64(height)) - U1
    for column in range(len(base)):
        bits = (stones >> np.uint64(column * (height + 1))) & column_mask
        if bits & (bits + U1):
            return -1
        profile += (popcount(bits) - base[column]) * radix
        radix *= height + 1 - base[column]
    return profile


@inner
def mirrored(stones, width, height):
    """The stones with the columns in reverse order."""
    column_mask = (U1 << np.uint64(height)) - U1
    result = U0
    for column in range(width):
        bits = (stones >> np.uint64(column * (height + 1))) & column_mask
        result |= bits << np.uint64((width - 1 - column) * (height + 1))
    return result


@entry
def rank_many(shape, first, second, ranks):
    """The ranks of many positions in their layers; fills `ranks` in place.

    NOT_COVERED if not all of the root's stones are there. NO_RANK: a floating
    stone, impossible counts, a line inside a half, a stone on a guard bit or in
    two hands.

    One loop, with every array taken out of the tuple before it: handing the
    tuple to a function for each position costs more than the ranking itself.
    """
    left_stones, right_stones = shape.left_stones, shape.right_stones
    left_start, right_start = shape.left_start, shape.right_start
    left_colourings, right_colourings = shape.left_colourings, shape.right_colourings
    stored, row_words, offset = shape.stored, shape.row_words, shape.offset
    left_base, right_base = shape.left_base, shape.right_base
    root_first, root_second, height = shape.root_first, shape.root_second, shape.height
    cut = np.uint64(shape.left_columns * (height + 1))
    low = (U1 << cut) - U1
    for i in range(len(first)):
        ranks[i] = NO_RANK
        if (first[i] & root_first) != root_first or (second[i] & root_second) != root_second:
            ranks[i] = NOT_COVERED
            continue
        ours, both = first[i], first[i] | second[i]
        pl = half_profile(both & low, left_base, height)
        pr = half_profile(both >> cut, right_base, height)
        if pl < 0 or pr < 0 or (first[i] & second[i]) != U0:
            continue
        ply = left_stones[pl] + right_stones[pr]
        if ply != popcount(both) or popcount(ours) != (ply + 1) // 2:
            continue
        if not stored[pl, pr]:
            ours, both = mirrored(ours, shape.width, height), mirrored(both, shape.width, height)
            pl = half_profile(both & low, left_base, height)
            pr = half_profile(both >> cut, right_base, height)
        q_left = popcount(ours & low)
        q = popcount(ours >> cut)
        start, end = left_start[pl, q_left], left_start[pl, q_left + 1]
        column = find_sorted(left_colourings, start, end, ours & low) - start
        start, end = right_start[pr, q], right_start[pr, q + 1]
        row = find_sorted(right_colourings, start, end, ours >> cut) - start
        if row >= 0 and column >= 0:
            ranks[i] = 64 * (offset[pl, pr, q] + row * row_words[pl, q_left]) + column


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
