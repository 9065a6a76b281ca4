"""From a plane of marks back to positions: unranking a whole layer in bulk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retro.index.layout import Layout, layer_blocks
from retro.index.ranking import unrank_in_block
from retro.jit import entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]


def marked_positions(layout: Layout, ply: int, marks: Words) -> Iterator[tuple[Words, Words]]:
    """The stones of both players at every set bit of a layer's plane, block by block."""
    blocks = layer_blocks(layout, ply)
    for pl, pr, begin, end in zip(
        blocks.left, blocks.right, blocks.offset[:-1], blocks.offset[1:], strict=True
    ):
        plane = marks[begin:end]
        number = int(np.bitwise_count(plane).sum())
        if number:
            first, second = np.empty(number, np.uint64), np.empty(number, np.uint64)
            _unrank_marked(layout.shape, pl, pr, plane, first, second)
            yield first, second


@entry
def _unrank_marked(shape, pl, pr, plane, first, second):
    """Unrank the set bits of one block; fills `first` and `second` in place."""
    found = 0
    for word in range(len(plane)):
        if plane[word] != np.uint64(0):
            for bit in range(64):
                if (plane[word] >> np.uint64(bit)) & np.uint64(1):
                    ours, theirs, _ = unrank_in_block(shape, pl, pr, 64 * word + bit)
                    first[found], second[found] = ours, theirs
                    found += 1
