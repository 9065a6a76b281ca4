"""How a layer is cut into tasks: neighbouring groups that fit into memory with all they read.

What a group reads of the next layer follows from its blocks: the blocks that one stone
more leads to. Neighbouring groups share most of what they read, so a batch of them
needs far less than the sum:

    batch 0  | group 0  group 1  group 2 |   reads blocks 0-91
    batch 1  | group 3  group 4          |   reads blocks 70-130
    batch 2  | strip of a giant block    |   reads its share of that block's neighbours

All is counted from sizes, so a plan cuts as a build does; only where the rows of a giant block
end takes a list of them, which a plan does not have. A task that comes out larger than was
counted takes more steps (`task`), not more memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.index.halves.sizes import Sizes, stored_blocks
from retro.jit import entry, inner
from retro.walk.halves.layer import group_cuts, group_size
from retro.walk.task import Planes, Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from retro.index.halves.sizes import Blocks
    from retro.walk.halves.layer import Group


class Side(NamedTuple):
    """The groups of a layer; for kernels."""

    left: NDArray[np.int64]  # half-profiles of the blocks of all groups, one after another
    right: NDArray[np.int64]
    cuts: NDArray[np.int64]  # [group] its first block; one more entry at the end
    words: NDArray[np.int64]  # [group]
    strip_of: NDArray[np.int64]  # [group] words of the block of which it is a strip, or 0


def counted_groups(sizes: Sizes, ply: int) -> tuple[int, int]:
    """How many groups a layer has, and the words of the largest, by sizes alone."""
    blocks = stored_blocks(sizes, ply)
    _, words, strips = _count_strips(blocks)
    return int(strips.sum()), int((-(-words // strips)).max())


def _count_strips(
    blocks: Blocks,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Where blocks are cut into groups, their words, and the strips of a giant that is alone."""
    size = group_size(int(blocks.offset[-1]))
    cuts = group_cuts(blocks.offset, size)
    words = np.diff(blocks.offset[cuts])
    is_giant = (np.diff(cuts) == 1) & (words > size)
    return cuts, words, np.where(is_giant, -(-words // size), 1)


def counted_side(sizes: Sizes, ply: int, most: int | None = None) -> Side:
    """The groups of a layer, by sizes alone; strips in bundles, if there are more groups than that.

    The layers of 8x7 have tens of millions of strips, all of a block alike.
    """
    blocks = stored_blocks(sizes, ply)
    cuts, words, strips = _count_strips(blocks)
    is_giant, length = strips > 1, np.diff(cuts)
    if most is not None and strips.sum() > most:
        strips = np.maximum(1, strips * most // strips.sum())
    if is_giant.any():
        place = np.repeat(np.arange(len(strips)), strips)
        first = cuts[:-1][place]
        of_strip = np.arange(len(place)) - np.repeat(np.cumsum(strips) - strips, strips)
        shares = words[place] * (of_strip + 1) // strips[place]
        shares -= words[place] * of_strip // strips[place]
        ends = np.concatenate(([0], np.cumsum(length[place])))
        order = np.arange(ends[-1]) - np.repeat(ends[:-1] - first, length[place])
        of = np.where(is_giant, words, 0)[place]
        return Side(blocks.left[order], blocks.right[order], ends, shares, of)
    return Side(blocks.left, blocks.right, cuts, words, np.zeros_like(words))


def groups_side(sizes: Sizes, groups: Sequence[Group]) -> Side:
    """The groups of a layer as they are."""
    left = np.concatenate([group.left for group in groups])
    right = np.concatenate([group.right for group in groups])
    lengths = np.array([len(group.left) for group in groups])
    words = np.array([group.end - group.begin for group in groups])
    cuts = np.concatenate(([0], np.cumsum(lengths)))
    of = sizes.words[left[cuts[:-1]], right[cuts[:-1]]]
    is_strip = (lengths == 1) & (of != words)
    return Side(left, right, cuts, words, np.where(is_strip, of, 0))


class Cutter:
    """Cuts layers into batches. Keeps a table of all blocks, so make one for many layers."""

    def __init__(self, sizes: Sizes, *, distances: bool = False) -> None:
        self._sizes = sizes
        self._planes = Planes(sizes.last_ply, distances)
        self._seen = np.full(sizes.words.shape, -1, np.int32)

    def batches(self, task: Task, side: Side, limit: int, pieces: int = 1) -> list[Task]:
        """Cut a task into some of at most `limit` bytes, and about so many pieces at least."""
        ends = self.cut(task, side, limit, pieces)[:, 0].tolist()
        begins = [task.first, *ends]
        return [
            task._replace(first=a, last=b, memory=limit) for a, b in zip(begins, ends, strict=False)
        ]

    def cut(self, task: Task, side: Side, limit: int, pieces: int = 1) -> NDArray[np.int64]:
        """The same as an array, [batch]: the group after its last; words walked, read."""
        sizes, (_, ply, first, last) = self._sizes, task[:4]
        reads = ply != sizes.last_ply
        most = limit // (8 * self._planes.of(ply)), int(side.words.sum()) // pieces
        found = np.zeros((last - first, 3), np.int64)
        self._seen[:] = -1
        number = _cut(sizes, side, self._seen, (first, last, reads, *most), found)
        return found[:number]


@entry
def _cut(sizes, side, seen, what, found):
    """Fill `found` with (last group, words walked, read) of each batch; how many?

    `what` is (first group, last group, whether there is a layer to read, words at most, words
    walked at most).
    """
    first, last, reads, most, most_own = what
    batch = 0
    own, read = 0, 0
    for group in range(first, last):
        words = side.words[group]
        for attempt in range(2):
            more = _add(sizes, side, seen, group, batch) if reads else 0
            is_full = own + read + words + more > most or own + words > most_own
            if attempt == 0 and own > 0 and is_full:
                found[batch] = (group, own, read)
                batch += 1
                own, read = 0, 0
            else:
                break
        own += words
        read += more
    if last > first:
        found[batch] = (last, own, read)
        batch += 1
    return batch


@inner
def _add(sizes, side, seen, group, batch):
    """Mark what a group reads as needed by a batch, in place: words that it did not have yet.

    Strips of a block have nothing in common.
    """
    read = 0
    for i in range(side.cuts[group], side.cuts[group + 1]):
        for column in range(len(sizes.left_radix) + len(sizes.right_radix)):
            left, right = neighbour(sizes, (side.left[i], side.right[i]), column)
            if left < 0:
                continue
            if side.strip_of[group] > 0:
                share = side.words[group] / side.strip_of[group]
                read += int(np.ceil(share * sizes.words[left, right]))
            elif seen[left, right] != batch:
                seen[left, right] = batch
                read += sizes.words[left, right]
    return read


@inner
def neighbour(sizes, block, column):
    """The block that a stone more in a column leads to; -1 if there is none."""
    left, right = block
    left_columns = len(sizes.left_radix)
    if column < left_columns:
        if sizes.left_heights[left, column] == sizes.height:
            return -1, -1
        return left + sizes.left_radix[column], right
    column -= left_columns
    if sizes.right_heights[right, column] == sizes.height:
        return -1, -1
    return left, right + sizes.right_radix[column]


def largest_uncut(sizes: Sizes, ply: int) -> int:
    """The words of the block of a layer that needs most, walked whole, with all it reads."""
    return int(_largest(sizes, stored_blocks(sizes, ply), ply != sizes.last_ply))


@entry
def _largest(sizes, blocks, reads):
    most = 0
    columns = len(sizes.left_radix) + len(sizes.right_radix)
    for i in range(len(blocks.left)):
        own = (blocks.left[i], blocks.right[i])
        words = sizes.words[own[0], own[1]]
        for column in range(columns if reads else 0):
            left, right = neighbour(sizes, own, column)
            if left >= 0:
                words += sizes.words[left, right]
                if not sizes.stored[left, right]:
                    words += _image_words(sizes, own, (left, right))
        most = max(most, words)
    return most


@inner
def _image_words(sizes, own, block):
    """Words of the image of a mirrored block, unless the block's reader reads that anyway."""
    outer_profiles = len(sizes.right_mirror)
    middle, outer = block[0] // outer_profiles, block[0] % outer_profiles
    left = sizes.right_mirror[block[1]] + sizes.middle_mirror[middle] * outer_profiles
    right = sizes.right_mirror[outer]
    for column in range(len(sizes.left_radix) + len(sizes.right_radix)):
        also = neighbour(sizes, own, column)
        if also[0] == left and also[1] == right:
            return 0
    return sizes.words[left, right]
