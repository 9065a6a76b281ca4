"""How much memory a build takes, byte by byte, from counts alone.

    base      interpreter, numba and its kernels, h5py
    lists     what every process needs of a board: colourings, planes, maps, offsets
    worker    what one worker has beside its task: buffers, tables of places
    task      what it walks, what it fetches, what it mirrors

Each is at least what a build then takes: a test holds the peak of real builds against it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.walk.halves import layer
from retro.walk.halves.batches import counted_groups, largest_uncut
from retro.walk.task import STEP, Planes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from retro.index.halves.sizes import Counted, Sizes
    from retro.walk.task import Walk
    from tablebase.halves.format import Header

BASE = 420_000_000  # 190 MB once kernels are compiled; compiling them takes up to twice that
BYTES_PER_CHUNK = 1_200  # of a ply, when its list is read, joined and written
ROWS_AT_ONCE = 64  # that any group can read
MANY = 10_000  # pieces keep any number of workers busy
WORKER = 24_000_000  # zstd's own tables, chunks on their way, the interpreter's arenas


class Needs(NamedTuple):
    """What one layer of one walk needs."""

    walk: Walk
    ply: int
    groups: int
    largest: int  # bytes of the smallest task that can walk any group
    largest_group: int  # words
    mirroring: int  # bytes of the smallest task that can mirror any block that it reads
    mirrored: int  # words that the whole layer mirrors of the one it reads
    uncut: int  # bytes that its largest block would take with all it reads, without strips
    made: NDArray[np.int64]  # words that are mirrored at once, if that is few and large pieces


def lists_memory(counted: Counted, header: Header) -> int:
    """Bytes of the lists of a board while they are made and used."""
    sizes, height = counted.sizes, header.height
    left_columns, right_columns = header.left_columns, header.width - header.left_columns
    lefts, rights = int(counted.left.sum()), int(counted.right.sum())
    left_words = int(((counted.left + 63) // 64).sum())
    right_words = int(((counted.right + 63) // 64).sum())
    blocks = sizes.words.size
    offsets = 8 * blocks * (right_columns * height + 2)
    tables = 40 * blocks  # plies, blocks and sizes as they are made and cut
    halves = 8 * (lefts + rights) + 8 * (counted.left.size * 3 + counted.right.size * 3)
    planes = 8 * left_words * (left_columns * height + 2 * left_columns)
    planes += 2 * left_columns * counted.left.size
    maps = 4 * rights * 2 * right_columns
    total = offsets + tables + halves + planes + maps
    if not sizes.stored.all():
        total += _mirror_memory(counted, header)
    if header.counts:
        ended_left, ended_right = (
            _ended(counts, heights, base, height)
            for counts, heights, base in (
                (counted.left, sizes.left_heights, sizes.left_base),
                (counted.right, sizes.right_heights, sizes.right_base),
            )
        )
        total += 4 * rights * right_columns + 8 * right_columns * ended_right
        total += 16 * ended_right + 8 * right_words * right_columns * (height + 2)
        total += 16 * ended_left + 16 * left_columns * (ended_left // 64 + counted.left.size)
    return total


def _ended(
    counts: NDArray[np.int64], heights: NDArray[np.int64], base: NDArray[np.int64], height: int
) -> int:
    """At most so many colourings of a half have just ended.

    Every live colouring and every stone that can be added gives a live colouring or one
    that has just ended; every live one comes from each of its columns' top stones once.
    """
    live = counts.sum(axis=1)
    added = int((live * 2 * (heights < height).sum(axis=1)).sum())
    return added - int((live * (heights > base).sum(axis=1)).sum())


def _mirror_memory(counted: Counted, header: Header) -> int:
    """Of the lists for mirroring: at most so many segments, each with a mask."""
    outer = len(counted.right)
    middle_columns = 2 * header.left_columns - header.width
    strings = np.array([2 ** min(s, 62) for s in range(middle_columns * header.height + 1)])
    lefts, rights = int(counted.left.sum()), int(counted.right.sum())
    profiles = np.arange(len(counted.left))
    stones = counted.sizes.left_stones - counted.sizes.right_stones[profiles % outer]
    masks = ((counted.right + 63) // 64).sum(axis=1)
    lists = (counted.right > 0).sum(axis=1)
    # A segment holds a colouring, so there are not more of them than of those.
    segments = np.minimum(strings[stones] * lists[profiles % outer], counted.left.sum(axis=1))
    words = np.minimum(
        strings[stones] * masks[profiles % outer],
        counted.left.sum(axis=1) * masks.max(),
    )
    return int(4 * lefts + 12 * rights + 24 * segments.sum() + 8 * words.sum())


def find_needs(counted: Counted, header: Header) -> Iterator[Needs]:
    """What every layer of both walks needs."""
    sizes = counted.sizes
    planes = Planes(header.board.cells, bool(header.distances))
    walks: tuple[Walk, ...] = ("alive", "walk") if header.counts else ("walk",)
    longest = int(counted.left.max()) // 64 + 1
    for walk in walks:
        mirrored = Mirrored(counted, walk)
        edge = sizes.first_ply if walk == "alive" else sizes.last_ply
        for ply in header.counted_plies:
            here, (groups, largest) = planes.of(walk, ply), counted_groups(sizes, ply)
            own = largest + longest
            # At least as much again for what is read: a row at a time would do.
            needed = here * (own + max(own, ROWS_AT_ONCE * longest))
            of = mirrored.of(ply + STEP[walk]) if ply != edge else NOTHING
            making = here * (of.group + of.source) if of.words else 0
            uncut = here * largest_uncut(sizes, ply, 0 if ply == edge else STEP[walk])
            words = (8 * needed, own, 8 * making, of.words, 8 * uncut)
            yield Needs(walk, ply, groups, *words, of.rectangles)


class Making(NamedTuple):
    """What the mirrored blocks of a layer take to make, in words."""

    words: int
    group: int  # the largest
    source: int  # the largest piece of an image that is read at once
    rectangles: NDArray[np.int64]  # of giants, each made at once, if there are not many


NOTHING = Making(0, 0, 0, np.zeros(0, np.int64))


class Mirrored:
    """The mirrored blocks that a walk reads, layer by layer."""

    def __init__(self, counted: Counted, walk: Walk) -> None:
        self._counted = counted
        self._sizes = sizes = counted.sizes
        self._left, self._right = np.nonzero(_neighbours(sizes, STEP[walk]) & ~sizes.stored)
        self._plies = sizes.left_stones[self._left] + sizes.right_stones[self._right]
        self._words = (counted.left + 63) // 64

    def of(self, ply: int) -> Making:
        """What those of one layer take."""
        sizes, here = self._sizes, self._plies == ply
        left, right = self._left[here], self._right[here]
        if not len(left):
            return NOTHING
        size = layer.group_size(int(self._counted.stored_words[ply]))
        words = sizes.words[left, right]
        outer_profiles = len(sizes.right_mirror)
        middle, outer = np.divmod(left, outer_profiles)
        images = (
            sizes.right_mirror[right] + sizes.middle_mirror[middle] * outer_profiles,
            sizes.right_mirror[outer],
        )
        giant = words > size
        source = int(sizes.words[images][~giant].max(initial=0))
        rectangles = self._rectangles(ply, left[giant], right[giant])
        if giant.any():
            of_images = self._rectangles(ply, images[0][giant], images[1][giant])
            source = max(source, int(of_images.max()))
        longest, few = int(self._words.max()), rectangles[rectangles > 0][:MANY]
        few = few if len(few) < MANY else few[:0]
        return Making(int(words.sum()), 2 * size + longest, source, few)

    def _rectangles(
        self, ply: int, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """[block, q] words."""
        q = np.arange(self._counted.right.shape[1])
        q_left = (ply + 1) // 2 - q
        is_any = (q_left >= 0) & (q_left < self._words.shape[1])
        columns = self._words[left[:, None], np.where(is_any, q_left, 0)[None, :]]
        return np.asarray(columns * is_any * self._counted.right[right])


def _neighbours(sizes: Sizes, step: int) -> NDArray[np.bool_]:
    """[left profile, right profile]: whether a stored block of any layer reads it."""
    found = np.zeros_like(sizes.stored)
    for side, (radix, heights, base) in enumerate(
        (
            (sizes.left_radix, sizes.left_heights, sizes.left_base),
            (sizes.right_radix, sizes.right_heights, sizes.right_base),
        )
    ):
        for column, weight in enumerate(radix):
            limit = sizes.height if step > 0 else base[column]
            own = np.flatnonzero(heights[:, column] != limit)
            if side == 0:
                found[own + step * weight] |= sizes.stored[own]
            else:
                found[:, own + step * weight] |= sizes.stored[:, own]
    return found


def layers_memory(counted: Counted, header: Header, needs: list[Needs], walk: Walk) -> int:
    """Bytes of two neighbouring layers of a walk, whole, with all that is mirrored of them."""
    planes = Planes(header.board.cells, bool(header.distances))
    mirrored = {need.ply + STEP[walk]: need.mirrored for need in needs if need.walk == walk}
    words = [
        planes.of(walk, ply) * (int(stored) + mirrored.get(ply, 0))
        for ply, stored in enumerate(counted.stored_words)
    ]
    return 8 * (max(words[::2]) + max(words[1::2]))


def worker_memory(counted: Counted, header: Header, group: int) -> int:
    """Bytes of one worker beside what its task walks and reads; `group` is the largest, in words.

    That is: copies of a group without its blanks, its live positions, and tables of places.
    """
    sizes = counted.sizes
    blocks = int(np.convolve(np.bincount(sizes.left_stones), np.bincount(sizes.right_stones)).max())
    rows = (header.width - header.left_columns) * header.height + 2
    longest = int(counted.left.max()) // 64 + 3
    lines = 4 * header.width * header.height
    planes = len(header.planes(header.counted_plies[0]))
    scratch = 8 * longest * (4 * lines + 4 + 2 * planes)
    places = 2 * 4 * sizes.words.size + blocks * (8 * rows + 60 * header.width)
    return WORKER + scratch + places + (8 + 8 * planes) * group
