"""From places back to positions in bulk: unranking stretches of a layer.

A stretch is some whole words of one block; `stretches` cuts a layer into
stretches of bounded size, and `stretch_positions` lists what lies there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.index.halves.layout import Layout, layer_blocks
from retro.jit import entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

WORDS_AT_ONCE = 2048


class Stretch(NamedTuple):
    """Some words of a block: those from `begin` to before `end` of its layer."""

    left: int  # half-profiles
    right: int
    begin: int
    end: int


class Listed(NamedTuple):
    """Positions, one per entry: the stones of both players and the rank."""

    first: Words
    second: Words
    ranks: NDArray[np.int64]


def stretches(layout: Layout, ply: int) -> Iterator[Stretch]:
    """Cut a layer into stretches of at most some thousand words, in order."""
    blocks = layer_blocks(layout, ply)
    for i, (left, right) in enumerate(zip(blocks.left, blocks.right, strict=True)):
        block_end = int(blocks.offset[i + 1])
        for begin in range(int(blocks.offset[i]), block_end, WORDS_AT_ONCE):
            end = min(begin + WORDS_AT_ONCE, block_end)
            yield Stretch(int(left), int(right), begin, end)


def stretch_positions(layout: Layout, stretch: Stretch) -> Listed:
    """Every position with a rank in a stretch, in the order of ranks."""
    room = 64 * (stretch.end - stretch.begin)
    listed = Listed(np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.int64))
    number = _list_stretch(layout.shape, stretch, listed)
    return _select(listed, slice(number))


def marked_positions(
    layout: Layout, ply: int, marks: Iterable[tuple[int, Words]]
) -> Iterator[Listed]:
    """The positions at the set bits of a layer's plane, stretch by stretch.

    The plane comes in pieces of whole blocks, each with its first word, one behind another.
    """
    pieces, begin, here = iter(marks), 0, np.zeros(0, np.uint64)
    for stretch in stretches(layout, ply):
        while stretch.begin >= begin + len(here):
            begin, here = next(pieces)
        if here[stretch.begin - begin : stretch.end - begin].any():
            listed = stretch_positions(layout, stretch)
            bits = (listed.ranks & 63).astype(np.uint64)
            words = here[(listed.ranks >> 6) - begin]
            yield _select(listed, (words >> bits & np.uint64(1)).astype(np.bool_))


def _select(listed: Listed, which: NDArray[np.bool_] | slice) -> Listed:
    return Listed(listed.first[which], listed.second[which], listed.ranks[which])


@entry
def _list_stretch(shape, stretch, listed):
    """Fill `listed` in place; return how many positions there are."""
    first, second, ranks = listed
    left_colourings, right_colourings = shape.left_colourings, shape.right_colourings
    pl, pr = stretch.left, stretch.right
    cut = np.uint64(shape.left_columns * (shape.height + 1))
    occupied = shape.left_occupied[pl] | (shape.right_occupied[pr] << cut)
    stones = shape.left_stones[pl]
    total = (stones + shape.right_stones[pr] + 1) // 2
    found = 0
    for q in range(max(0, total - stones), min(total, shape.right_stones[pr]) + 1):
        low, high = shape.left_start[pl, total - q], shape.left_start[pl, total - q + 1]
        word = shape.offset[pl, pr, q]
        for row in range(shape.right_start[pr, q], shape.right_start[pr, q + 1]):
            if word < stretch.end and word + shape.row_words[pl, total - q] > stretch.begin:
                on_right = right_colourings[row] << cut
                for column in range(high - low):
                    if stretch.begin <= word + (column >> 6) < stretch.end:
                        first[found] = left_colourings[low + column] | on_right
                        second[found] = occupied & ~first[found]
                        ranks[found] = 64 * word + column
                        found += 1
            word += shape.row_words[pl, total - q]
    return found
