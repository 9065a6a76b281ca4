"""How much memory a build takes, byte by byte, from counts alone.

    base      interpreter, numba and its kernels, h5py
    lists     what every process needs of a board: planes, maps, segments, offsets, classes
    worker    what one worker has beside its task: buffers, tables of places, planes to count with
    task      what it walks, what it fetches, what it mirrors

Each is at least what a build then takes: a test holds the peak of real builds against it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.kernel_cache import shelf
from retro.walk.halves import layer
from retro.walk.halves.batches import counted_groups, largest_uncut
from retro.walk.halves.planes import plane_words
from retro.walk.halves.plans import cross_lines
from retro.walk.halves.segments import make_middle, mask_words, segments_at_most
from retro.walk.task import Planes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from retro.index.halves.sizes import Counted, Sizes
    from tablebase.halves.format import Header

BASE = 200_000_000  # 190 MB with all kernels loaded
COMPILING = 220_000_000  # more than that, if this process compiles them
BYTES_PER_CHUNK = 1_200  # of a ply, when its list is read, joined and written
ROWS_AT_ONCE = 64  # that any group can read
MANY = 10_000  # pieces keep any number of workers busy
CLASSES_PER_CELL = 2  # at most, of a group: 7x6 has 79
LABELLING = 150  # bytes of a right colouring while its class is found
ENDING = 300  # bytes of a just ended right colouring while it is listed
WORKER = 24_000_000  # zstd's own tables, chunks on their way, the interpreter's arenas


class Needs(NamedTuple):
    """What one layer needs."""

    ply: int
    groups: int
    largest: int  # bytes of the smallest task that can walk any group
    largest_group: int  # words
    mirroring: int  # bytes of the smallest task that can mirror any block that it reads
    mirrored: int  # words that the whole layer mirrors of the one it reads
    uncut: int  # bytes that its largest block would take with all it reads, without strips
    made: NDArray[np.int64]  # words that are mirrored at once, if that is few and large pieces


def base_memory() -> int:
    """Bytes of a process with a limit: a helper compiles for it, if there is a place for that."""
    return BASE if shelf().is_writable() else BASE + COMPILING


def lists_memory(counted: Counted, header: Header) -> int:
    """Bytes of the lists of a board while they are made and used."""
    sizes, height = counted.sizes, header.height
    right_columns = header.width - header.left_columns
    rights, blocks = int(counted.right.sum()), sizes.words.size
    offsets = 8 * blocks * (right_columns * height + 2)
    tables = 40 * blocks  # plies, blocks and sizes as they are made and cut
    starts = 24 * (counted.left.size + counted.right.size)
    left = _planes_memory(counted.left, sizes.left_heights, height)
    right = 16 * rights + _planes_memory(counted.right, sizes.right_heights, height)
    maps = 4 * rights * 2 * right_columns
    total = offsets + tables + starts + left + right + maps
    if not sizes.stored.all():
        total += _mirror_memory(counted, header)
    return total + _counting_memory(counted, header)


def _counting_memory(counted: Counted, header: Header) -> int:
    """Bytes of classes, and of what has just ended."""
    sizes, height = counted.sizes, header.height
    left_columns, right_columns = header.left_columns, header.width - header.left_columns
    lefts, rights = int(counted.left.sum()), int(counted.right.sum())
    bits = 16 * max(1, -(-len(cross_lines(header.board, left_columns)[0]) // 64))
    ended = int(_ended(counted.right, sizes.right_heights, sizes.right_base, height).sum())
    total = lefts + (4 + 2 * right_columns + bits) * rights
    total += (2 + 2 * right_columns + bits) * ended + 16 * counted.right.size
    ends = _ended(counted.left, sizes.left_heights, sizes.left_base, height)
    total += 16 * left_columns * int(((ends + 63) // 64).sum()) + 24 * ends.size
    return total


def listing_memory(counted: Counted, header: Header) -> int:
    """Bytes of making these lists, before any worker takes its share."""
    sizes, height = counted.sizes, header.height
    rights = int(counted.right.sum())
    ended = int(_ended(counted.right, sizes.right_heights, sizes.right_base, height).sum())
    ends = _ended(counted.left, sizes.left_heights, sizes.left_base, height)
    return max(LABELLING * rights + ENDING * ended, 8 * int(ends.sum(axis=1).max()))


def _planes_memory(counts: NDArray[np.int64], heights: NDArray[np.int64], height: int) -> int:
    """Bytes of the planes of a half, and of the tables that say where they are."""
    _, colour, stay = plane_words(counts, heights, height)
    fields = 2 + 2 * heights.shape[1]
    return int(8 * (colour.sum() + stay.sum()) + (8 + 4) * counts.size * fields)


def _ended(
    counts: NDArray[np.int64], heights: NDArray[np.int64], base: NDArray[np.int64], height: int
) -> NDArray[np.int64]:
    """At most so many colourings of a half have just ended, [profile, q].

    Every live colouring and every stone that can be added gives a live colouring or one
    that has just ended; every live one comes from each of its columns' top stones once.
    """
    spans = height + 1 - base
    radix = np.cumprod(spans) // spans
    found: NDArray[np.int64] = -counts * (heights > base).sum(axis=1)[:, None]
    for column, weight in enumerate(radix):
        here = np.flatnonzero(heights[:, column] > base[column])
        found[here] += counts[here - weight]
        found[here, 1:] += counts[here - weight, :-1]
    return found


def _mirror_memory(counted: Counted, header: Header) -> int:
    """Bytes of the lists for mirroring: segments and masks."""
    sizes, rights = counted.sizes, int(counted.right.sum())
    columns = header.width - header.left_columns
    inner = 2 * header.left_columns - header.width
    middle = make_middle(columns, inner, header.height, header.connect)
    middles, lines = len(middle.colourings), len(middle.inner_lines)
    shift = np.arange(columns, dtype=np.uint64) * np.uint64(header.height + 1)
    cells = (np.uint64(1) << sizes.right_heights.astype(np.uint64)) - np.uint64(1)
    occupied = (cells << shift).sum(axis=1, dtype=np.uint64)
    _, masks = mask_words(middle, counted.right, occupied)
    segments = segments_at_most(counted.right, middles)
    found = 8 * segments + 8 * masks + 8 * len(counted.right) * middles + 8 * counted.left.size
    return int(found + (64 + 2 * lines) * middles + 12 * rights)


def find_needs(counted: Counted, header: Header) -> Iterator[Needs]:
    """What every layer needs."""
    sizes = counted.sizes
    planes = Planes(header.board.cells, bool(header.distances))
    longest, mirrored = int(counted.left.max()) // 64 + 1, Mirrored(counted)
    for ply in header.counted_plies:
        here, (groups, largest) = planes.of(ply), counted_groups(sizes, ply)
        own = largest + longest
        # At least as much again for what is read: a row at a time would do.
        needed = here * (own + max(own, ROWS_AT_ONCE * longest))
        of = mirrored.of(ply + 1) if ply != sizes.last_ply else NOTHING
        making = here * (of.group + of.source) if of.words else 0
        uncut = here * largest_uncut(sizes, ply)
        words = (8 * needed, own, 8 * making, of.words, 8 * uncut)
        yield Needs(ply, groups, *words, of.rectangles)


class Making(NamedTuple):
    """What the mirrored blocks of a layer take to make, in words."""

    words: int
    group: int  # the largest
    source: int  # the largest piece of an image that is read at once
    rectangles: NDArray[np.int64]  # of giants, each made at once, if there are not many


NOTHING = Making(0, 0, 0, np.zeros(0, np.int64))


class Mirrored:
    """The mirrored blocks that the walk reads, layer by layer."""

    def __init__(self, counted: Counted) -> None:
        self._counted = counted
        self._sizes = sizes = counted.sizes
        self._left, self._right = np.nonzero(_neighbours(sizes) & ~sizes.stored)
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
        large = words > size
        source = int(sizes.words[images][~large].max(initial=0))
        rectangles = self._rectangles(ply, left[large], right[large])
        if large.any():
            of_images = self._rectangles(ply, images[0][large], images[1][large])
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


def _neighbours(sizes: Sizes) -> NDArray[np.bool_]:
    """[left profile, right profile]: whether a stored block of any layer reads it."""
    found = np.zeros_like(sizes.stored)
    for column, weight in enumerate(sizes.left_radix):
        own = np.flatnonzero(sizes.left_heights[:, column] != sizes.height)
        found[own + weight] |= sizes.stored[own]
    for column, weight in enumerate(sizes.right_radix):
        own = np.flatnonzero(sizes.right_heights[:, column] != sizes.height)
        found[:, own + weight] |= sizes.stored[:, own]
    return found


def layers_memory(counted: Counted, header: Header, needs: list[Needs]) -> int:
    """Bytes of two neighbouring layers, whole, with all that is mirrored of them."""
    planes = Planes(header.board.cells, bool(header.distances))
    mirrored = {need.ply + 1: need.mirrored for need in needs}
    words = [
        planes.of(ply) * (int(stored) + mirrored.get(ply, 0))
        for ply, stored in enumerate(counted.stored_words)
    ]
    return 8 * (max(words[::2]) + max(words[1::2]))


def worker_memory(counted: Counted, header: Header, group: int) -> int:
    """Bytes of one worker beside what its task walks and reads; `group` is the largest, in words.

    That is: tables of places, rows to work with, planes of classes to count with, and copies of a
    group without its blanks.
    """
    sizes, left_columns = counted.sizes, header.left_columns
    blocks = int(np.convolve(np.bincount(sizes.left_stones), np.bincount(sizes.right_stones)).max())
    rows = (header.width - left_columns) * header.height + 2
    ends = _ended(counted.left, sizes.left_heights, sizes.left_base, header.height)
    longest, ended = int(counted.left.max()) // 64 + 3, int(ends.max()) // 64 + 3
    lines = len(cross_lines(header.board, left_columns)[0])
    planes = len(header.planes(header.counted_plies[0]))
    scratch = 8 * longest * (4 * lines + 8 + 2 * planes) + 6 * int(counted.left.max())
    right_ends = _ended(counted.right, sizes.right_heights, sizes.right_base, header.height)
    by_stones = np.zeros((2, int(sizes.right_stones.max()) + 1, counted.right.shape[1]), np.int64)
    np.add.at(by_stones[0], sizes.right_stones, counted.right)
    np.add.at(by_stones[1], sizes.right_stones, right_ends)
    classes, together = (
        min(CLASSES_PER_CELL * header.board.cells, int(by_stones[0].max())),
        int(by_stones.max()),
    )
    counting = 8 * classes * (longest * (2 + left_columns) + ended * (1 + left_columns))
    counting += 8 * lines * (2 * longest + 4 * ended) + 128 * ended * (1 + left_columns)
    counting += 384 * longest + 64 * together
    places = 2 * 4 * sizes.words.size + blocks * (8 * rows + 60 * header.width)
    return WORKER + scratch + counting + places + 8 * planes * group
