"""Pieces of a layer: how it is cut into groups, and how kernels find the words that are there.

A *group* is some neighbouring canonical blocks, or some neighbouring rows of one giant block:
what a task writes at once, and what an interrupted build keeps. How a layer is cut into groups
depends on the sizes of its blocks alone.

    blocks   |  |   |  | |      giant      |   |  |
    groups   |  0     |  1 | 2  |  3  |  4  |  5   |      2, 3, 4: row strips
    words    0                                     stored_words ... layer_words

Behind the canonical blocks lie the mirrored ones that the next layer to be walked reads. Walks
that have whole layers in memory make them there; all others have them made by tasks of their
own, and kept as groups, which are numbered after those of the canonical blocks.

A walk seldom has a whole layer at hand. What it reads of the neighbouring one lies in
an array of its own, in any order, and a *view* says where each rectangle begins:

    values   | rows of a block | another block | ...
                          ^
    base[slot[left, right], q]: the word where row 0 of the rectangle lies, or would lie
"""

from __future__ import annotations

import contextlib
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.index.halves.layout import Layout, layer_blocks
from retro.index.halves.sizes import Blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Profiles = NDArray[np.int64]

GROUPS_PER_LAYER = 32
GROUP_WORDS = (2_048, 1 << 19)  # a group is neither much smaller nor much larger than this


class View(NamedTuple):
    """Some words of a layer, and where to find its rectangles among them; for kernels."""

    values: Words  # [plane, word]
    slot: NDArray[np.int32]  # [left profile, right profile] the block's row in `base`, or -1
    base: NDArray[np.int64]  # [slot, q] where row 0 of the rectangle is


class Own(NamedTuple):
    """Neighbouring words of a layer that are being walked; for kernels."""

    values: Words  # [plane, word]
    origin: int  # the layer's word that is the first of `values`


class Group(NamedTuple):
    """Some neighbouring blocks of a layer, or some rows of one; for kernels, too."""

    number: int
    left: NDArray[np.int64]  # half-profiles of the blocks
    right: NDArray[np.int64]
    begin: int  # words
    end: int


def layer_groups(layout: Layout, ply: int) -> list[Group]:
    """Cut the canonical blocks of a layer into groups of about equal size."""
    return cut_groups(layout, layer_blocks(layout, ply), int(layout.stored_words[ply]))


def mirrored_groups(
    layout: Layout, ply: int, blocks: tuple[Profiles, Profiles], first: int
) -> list[Group]:
    """Cut some mirrored blocks of a layer into groups, numbered from `first` on."""
    offset = layout.shape.offset
    order = np.argsort(offset[*blocks, 0], kind="stable")
    left, right = blocks[0][order], blocks[1][order]
    groups: list[Group] = []
    # Blocks that are not made leave gaps; a group has none.
    ends, begins = offset[left, right, -1], offset[left, right, 0]
    gaps = np.flatnonzero(begins[1:] != ends[:-1]) + 1
    for some in np.split(np.arange(len(left)), gaps) if len(left) else []:
        run = Blocks(left[some], right[some], np.append(begins[some], ends[some[-1]]))
        found = cut_groups(layout, run, int(layout.stored_words[ply]), by_rectangle=True)
        groups += [group._replace(number=first + len(groups) + group.number) for group in found]
    return groups


def cut_groups(
    layout: Layout, blocks: Blocks, layer_words: int, *, by_rectangle: bool = False
) -> list[Group]:
    """Cut neighbouring blocks into groups, between blocks or, if one is a giant, between rows.

    Then also between its rectangles, if that is wanted: a mirrored one is made at once.
    """
    size = group_size(layer_words)
    cuts = group_cuts(blocks.offset, size)
    groups: list[Group] = []
    for first, last in pairwise(cuts.tolist()):
        left, right = blocks.left[first:last], blocks.right[first:last]
        words = [int(blocks.offset[first]), int(blocks.offset[last])]
        if words[1] - words[0] > size and last == first + 1:
            block = int(left[0]), int(right[0])
            whole = layout.shape.offset[block].tolist() if by_rectangle else words
            words = [
                row_begin(layout, *block, word)
                for a, b in pairwise(sorted({*whole}))
                for word in strips_of(a, b, size)
            ]
            words = [*sorted({*words}), whole[-1]]
        for begin, end in pairwise(words):
            groups.append(Group(len(groups), left, right, begin, end))
    return groups


def group_size(layer_words: int) -> int:
    """About so many words a group has."""
    least, most = GROUP_WORDS
    return min(max(layer_words // GROUPS_PER_LAYER, least), most)


def group_cuts(offset: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Where groups begin, as numbers of blocks, from the blocks' first words; one more at the end.

    A block of more than `size` words is alone.
    """
    # Cut where a block is the first to begin at or behind a multiple of `size`.
    total = int(offset[-1] - offset[0])
    multiples = np.minimum(offset - offset[0], total - 1) // size
    is_giant = np.diff(offset) > size
    is_cut = np.ones(len(offset), np.bool_)
    is_cut[1:-1] = (np.diff(multiples[:-1]) > 0) | is_giant[1:] | is_giant[:-1]
    return np.flatnonzero(is_cut)


def strips_of(begin: int, end: int, size: int) -> list[int]:
    """Where strips of at most about `size` words begin, but for whole rows."""
    number = -(-(end - begin) // size)
    return [begin + (end - begin) * i // number for i in range(number)]


def row_begin(layout: Layout, left: int, right: int, word: int) -> int:
    """The first word of the row of a block in which a word of the layer lies."""
    shape = layout.shape
    offset = shape.offset[left, right]
    q = int(np.searchsorted(offset, word, side="right")) - 1
    total = (int(shape.left_stones[left] + shape.right_stones[right]) + 1) // 2
    row_words = int(shape.row_words[left, total - q])
    return word - (word - int(offset[q])) % row_words


def is_strip(layout: Layout, group: Group) -> bool:
    """Whether a group is some rows of one block, not whole blocks."""
    offset = layout.shape.offset[group.left[:1], group.right[:1]]
    return len(group.left) == 1 and (group.begin, group.end) != (offset[0, 0], offset[0, -1])


def make_view(
    layout: Layout, values: Words, blocks: tuple[Profiles, Profiles], shift: NDArray[np.int64]
) -> View:
    """A view of some blocks; `shift` is how far each lies behind its place in the layer."""
    slot = np.full(layout.shape.stored.shape, -1, np.int32)
    slot[blocks] = np.arange(len(shift), dtype=np.int32)
    return View(values, slot, layout.shape.offset[blocks] + shift[:, None])


class Room:
    """Working memory of one worker, kept from task to task.

    Memory that is given back must be cleared by the system before it is had again:
    that took nearly half of the time of the backward walk of 7x6.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, Words] = {}
        self.scratch: dict[str, object] = {}

    def words(self, name: str, planes: int, length: int) -> Words:
        """Room for [planes, length] words under this name; what was in it is lost."""
        found = self._arrays.get(name)
        if found is None or len(found) < planes * length:
            self._arrays.pop(name, None)
            del found
            found = self._arrays[name] = np.empty(planes * length, np.uint64)
        return found[: planes * length].reshape(planes, length)


class Rooms:
    """As many rooms as tasks run at once; a task has one for itself while it runs."""

    def __init__(self) -> None:
        self._free: list[Room] = []

    @contextlib.contextmanager
    def one(self) -> Iterator[Room]:
        """A room that nobody else uses: the one given back last, if there is one."""
        try:
            room = self._free.pop()
        except IndexError:
            room = Room()
        try:
            yield room
        finally:
            self._free.append(room)
