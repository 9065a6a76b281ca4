"""One layer in memory, or as much of it as is wanted: virtual words, groups, mirrored blocks.

Every word of a layer has its place in virtual memory, however large the layer
is; only what is brought in takes real memory, and what is dropped gives it
back. So the kernels address a layer as one array and never know what is there.

    words    | group 0 | group 1 |   ...   | mirrored blocks            |
    memory   |#########|         |#########|     ##   #####      ##     |

A *group* is some neighbouring canonical blocks: the unit of work, of what is
loaded and dropped, and of what an interrupted build keeps. How a layer is cut
into groups depends on the layout alone.
"""

from __future__ import annotations

import mmap
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.index.layout import Layout, layer_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

GROUPS_PER_LAYER = 32
GROUP_WORDS = (2_048, 1 << 20)  # a group is neither smaller nor much larger than this
# The address space of a giant layer is no promise to fill it (the name came with Python 3.13).
NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)


class Group(NamedTuple):
    """Some neighbouring canonical blocks of a layer."""

    number: int
    left: NDArray[np.int64]  # half-profiles of the blocks
    right: NDArray[np.int64]
    begin: int  # words
    end: int


def layer_groups(layout: Layout, ply: int) -> list[Group]:
    """Cut a layer into groups of about equal size."""
    blocks = layer_blocks(layout, ply)
    least, most = GROUP_WORDS
    size = min(max(int(blocks.offset[-1]) // GROUPS_PER_LAYER, least), most)
    goals = np.arange(size, int(blocks.offset[-1]), size)
    cuts = np.unique([0, *np.searchsorted(blocks.offset[:-1], goals), len(blocks.left)])
    return [
        Group(i, blocks.left[a:b], blocks.right[a:b], int(blocks.offset[a]), int(blocks.offset[b]))
        for i, (a, b) in enumerate(pairwise(cuts.tolist()))
    ]


def group_strips(layout: Layout, group: Group) -> list[tuple[int, int]]:
    """Cut the words of a group between rows into strips of at most about `GROUP_WORDS[1]`.

    A single block of a giant board is many times as large as that, and whoever copies
    what a group holds should not need as much memory again.
    """
    most = GROUP_WORDS[1]
    if group.end - group.begin <= 2 * most:
        return [(group.begin, group.end)]
    rows: list[int] = []  # words where a row begins
    shape = layout.shape
    for left, right in zip(group.left, group.right, strict=True):
        total = (shape.left_stones[left] + shape.right_stones[right] + 1) // 2
        for q, (begin, end) in enumerate(pairwise(shape.offset[left, right].tolist())):
            if begin < end:
                row_words = int(shape.row_words[left, total - q])
                rows += range(begin, end, max(1, most // row_words) * row_words)
    cuts = [group.begin]
    for here, after in pairwise([*rows, group.end]):
        if after - cuts[-1] > most and here > cuts[-1]:
            cuts.append(here)
    return list(pairwise([*cuts, group.end]))


class Layer:
    """The planes of one layer; what is in memory is kept track of, not who uses it."""

    def __init__(self, layout: Layout, ply: int, planes: int) -> None:
        self.ply = ply
        self.groups = layer_groups(layout, ply)
        words = int(layout.layer_words[ply])
        self._memory = _virtual_memory(8 * planes * words)
        self.values: NDArray[np.uint64] = np.frombuffer(
            self._memory, np.uint64, planes * words
        ).reshape(planes, words)
        self.present = np.zeros(len(self.groups), np.bool_)
        self.is_made = np.zeros_like(layout.shape.stored)  # [left, right] mirrored blocks in memory
        self._begins = np.array([group.begin for group in self.groups])
        self._offset = layout.shape.offset

    @property
    def stored(self) -> NDArray[np.uint64]:
        """The canonical blocks: [plane, word]."""
        end = self.groups[-1].end if self.groups else 0
        return self.values[:, :end]

    def group_of(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the groups that canonical blocks belong to."""
        offsets = self._offset[left, right, 0]
        return np.asarray(np.searchsorted(self._begins, offsets, side="right") - 1)

    def group_bytes(self, numbers: NDArray[np.int64]) -> int:
        """Memory of some groups."""
        return sum(self._bytes(self.groups[n].end - self.groups[n].begin) for n in numbers)

    def block_bytes(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> int:
        """Memory of some blocks."""
        words = self._offset[left, right, -1] - self._offset[left, right, 0]
        return self._bytes(int(words.sum()))

    def bytes_present(self) -> int:
        """Memory of all that is there."""
        groups = self.group_bytes(np.flatnonzero(self.present))
        return groups + self.block_bytes(*np.nonzero(self.is_made))

    def drop_groups(self, numbers: NDArray[np.int64]) -> None:
        """Give back the memory of some groups."""
        for number in numbers[self.present[numbers]]:
            self._release(self.groups[number].begin, self.groups[number].end)
        self.present[numbers] = False

    def drop_blocks(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
        """Give back the memory of some mirrored blocks."""
        for pl, pr in zip(left, right, strict=True):
            self._release(int(self._offset[pl, pr, 0]), int(self._offset[pl, pr, -1]))
        self.is_made[left, right] = False

    def _bytes(self, words: int) -> int:
        return 8 * len(self.values) * words

    def _release(self, begin: int, end: int) -> None:
        """Give back whole pages between two words, in every plane."""
        for plane in range(len(self.values)):
            first = 8 * (plane * self.values.shape[1] + begin)
            last = 8 * (plane * self.values.shape[1] + end)
            first = -(-first // mmap.PAGESIZE) * mmap.PAGESIZE
            last = last // mmap.PAGESIZE * mmap.PAGESIZE
            if first < last:
                self._memory.madvise(mmap.MADV_DONTNEED, first, last - first)


def _virtual_memory(size: int) -> mmap.mmap:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE
    return mmap.mmap(-1, max(size, 1), flags)
