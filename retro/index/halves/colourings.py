"""Half a board: every colouring of every half-profile that holds no line.

The index of a position is a product of two halves (see `layout`). A half is
some neighbouring columns, a small board of its own. Its half-profile is the
heights of its columns, numbered in mixed radix; a colouring is the set of its
cells that hold first-player stones, as a word of the half's own small board.

    columns 2, height 2          half-profile 7 = 1 + 3*2: heights (1, 2)
      .  c                       cells a (bit 0), b (bit 3), c (bit 4)
      a  b                       colourings with q = 1:  a 00001, b 01000, c 10000

All colourings live in one array, grouped by half-profile, then by the number
q of first-player stones, then in increasing order:

    colourings  | p=0 q=0 | p=1 q=0 | p=1 q=1 | ... | p q=0 | p q=1 | ... |
                            start[p, q] --------------------^

A half-profile is made from the one below it: take the top stone off the last
occupied column, whose bit is higher than all others. The colourings without
it followed by those with it are sorted as they stand; only those that the new
stone turns into a line drop out.

A half may be *rooted*: some stones stand in it from the start and never leave.
Then its profiles count the stones above them, profile 0 is the root itself, and
every colouring holds the root's stones as they are. Heights, stones, cells and
q stay those of the whole half; only `tops` leaves the root's stones out, for
nobody can have played them last.

    the half above rooted at b     half-profile 4 = 1 + 3*1: heights (1, 2), one and one added
      (the first player's)         colourings with q = 2:  ab 01001, bc 11000
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1
from retro.games.connect4.bits import Geometry, geometry, has_line
from retro.games.connect4.rules import Connect4Board
from retro.jit import entry, inner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Half(NamedTuple):
    """The colourings of half a board, as kernels see them."""

    geometry: Geometry
    base: NDArray[np.int64]  # [column] the root's height
    radix: NDArray[np.int64]  # [column] what one more stone there adds to a profile's number
    heights: NDArray[np.int64]  # [profile, column]
    stones: NDArray[np.int64]  # [profile] stones in it
    occupied: NDArray[np.uint64]  # [profile] cells in it
    tops: NDArray[np.uint64]  # [profile] the top stone of each column above its base
    playable: NDArray[np.uint64]  # [profile] the cell that takes the next stone of each column
    start: NDArray[np.int64]  # [profile, q] into colourings; q runs one past the last
    colourings: NDArray[np.uint64]  # all of them, or the root's alone

    def counts(self) -> NDArray[np.int64]:
        """Number of colourings, [profile, q]."""
        return np.diff(self.start, axis=1)


def line_free_strings(length: int, connect: int, below: Sequence[int] = ()) -> list[list[int]]:
    """[cells][ones]: strings of two symbols without `connect` equal neighbours, a column's worth.

    `below` are symbols that stand before the string and count for neighbours only.

    >>> [sum(by_ones) for by_ones in line_free_strings(6, connect=4)]
    [1, 2, 4, 8, 14, 26, 48]
    >>> line_free_strings(2, connect=4, below=(0, 1, 1))  # 0, 1;  00, 01 or 10
    [[1, 0, 0], [1, 1, 0], [1, 2, 0]]
    """
    symbol, run = (below[-1], 0) if below else (0, 0)
    while run < len(below) and below[-1 - run] == symbol:
        run += 1
    runs = {(symbol, run): [1] + [0] * length}  # (last symbol, its run): [ones]
    table = []
    for _ in range(length + 1):
        table.append([sum(column) for column in zip(*runs.values(), strict=True)])
        longer: dict[tuple[int, int], list[int]] = {}
        for (symbol, run), by_ones in runs.items():
            for new in (0, 1):
                key = (new, run + 1) if new == symbol else (new, 1)
                if key[1] < connect:
                    shifted = [0, *by_ones[:-1]] if new else by_ones
                    old = longer.get(key, [0] * (length + 1))
                    longer[key] = [a + b for a, b in zip(old, shifted, strict=True)]
        runs = longer
    return table


def root_columns(columns: int, height: int, first: int, second: int) -> list[list[int]]:
    """The stones of some columns from the bottom: 1 the first player's, 0 the second's.

    >>> root_columns(2, 3, first=0b0010_0001, second=0b0001_0010)
    [[1, 0], [0, 1]]
    """
    low = [column * (height + 1) for column in range(columns)]
    tops = [((first | second) >> bit & ((1 << height) - 1)).bit_length() for bit in low]
    return [[first >> bit + i & 1 for i in range(top)] for bit, top in zip(low, tops, strict=True)]


def capacity(columns: int, height: int, connect: int, first: int = 0, second: int = 0) -> int:
    """Upper bound of the colourings of a half: only its columns' own lines left out."""
    bound = 1
    for below in root_columns(columns, height, first, second):
        bound *= sum(map(sum, line_free_strings(height - len(below), connect, below)))
    return bound


def make_half(
    columns: int,
    height: int,
    connect: int,
    first: int = 0,
    second: int = 0,
    counts: NDArray[np.int64] | None = None,
    most: int | None = None,
) -> Half:
    """List every line-free colouring of `columns` columns. Memory: 8 bytes per colouring.

    `first` and `second` are the stones of a root, which every colouring holds;
    they have no line. Whoever knows how many there are (`counting.count_half`) and
    needs no more gives the `counts`: then only the root's colouring is listed. Whoever asks for
    `most` so many stones finds no colourings in fuller profiles.
    """
    if columns:
        geo = geometry(Connect4Board(columns, height, connect))
    else:
        geo = Geometry(0, height, connect, np.zeros(0, np.uint64))
    base = np.array([len(c) for c in root_columns(columns, height, first, second)], np.int64)
    spans = height + 1 - base
    radix = np.cumprod(spans) // spans
    numbers = np.arange(spans.prod(), dtype=np.int64)
    heights = base + numbers[:, None] // radix % spans
    occupied, tops, playable = _cell_sets(heights, base, height)
    start = np.zeros((len(numbers), columns * height + 2), np.int64)
    stones, root = heights.sum(axis=1), np.array([first], np.uint64)
    half = Half(geo, base, radix, heights, stones, occupied, tops, playable, start, root)
    if counts is not None:
        ends = np.cumsum(counts).reshape(counts.shape)
        start[:, 0] = ends[:, 0] - counts[:, 0]
        start[:, 1:] = ends
        return half
    start[0, first.bit_count() + 1 :] = 1
    colourings = np.empty(capacity(columns, height, connect, first, second), np.uint64)
    colourings[0] = first
    used = _list_colourings(
        half._replace(colourings=colourings), columns * height if most is None else most
    )
    return half._replace(colourings=colourings[:used].copy())


def _cell_sets(
    heights: NDArray[np.int64], base: NDArray[np.int64], height: int
) -> tuple[NDArray[np.uint64], ...]:
    """For every profile the cells that are occupied, on top, and next to be played."""
    up = heights.astype(np.uint64)
    shift = np.arange(heights.shape[1], dtype=np.uint64) * np.uint64(height + 1)
    above = (U1 << up) << shift
    occupied = above - (U1 << shift)
    tops = np.where(heights > base, above >> U1, U0)
    playable = np.where(heights < height, above, U0)
    return tuple(sets.sum(axis=1, dtype=np.uint64) for sets in (occupied, tops, playable))


@inner
def column_cells(height, column):
    """The cells of one column."""
    return ((U1 << np.uint64(height)) - U1) << np.uint64(column * (height + 1))


@inner
def find_sorted(values, low, high, wanted):
    """Place of `wanted` in the sorted values[low:high], or -1.

    Halves the stretch without a branch to mispredict: twice as fast as the textbook's way.
    """
    if low >= high:
        return -1
    at, length = np.uint64(low), np.uint64(high - low)
    while length > U1:
        step = length >> U1
        at = at + step if values[at + step] <= wanted else at
        length -= step
    return np.int64(at) if values[at] == wanted else -1


@entry
def _list_colourings(half, most):
    """Fill start and colourings behind the root's in place; return how many there are.

    Of profiles with more than `most` stones there are none.
    """
    geo, start, colourings = half.geometry, half.start, half.colourings
    last_q = start.shape[1] - 1
    used = 1
    for profile in range(1, len(half.stones)):
        if half.stones[profile] > most:
            start[profile] = used
            continue
        column = geo.width - 1
        while half.heights[profile, column] == half.base[column]:
            column -= 1
        below = profile - half.radix[column]
        bit = half.tops[profile] & column_cells(geo.height, column)
        for q in range(last_q):
            start[profile, q] = used
            for i in range(start[below, q], start[below, q + 1]):
                if not has_line(geo, half.occupied[profile] & ~colourings[i]):
                    colourings[used] = colourings[i]
                    used += 1
            if q > 0:
                for i in range(start[below, q - 1], start[below, q]):
                    if not has_line(geo, colourings[i] | bit):
                        colourings[used] = colourings[i] | bit
                        used += 1
        start[profile, last_q] = used
    return used
