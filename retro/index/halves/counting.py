"""How many colourings a half has, for every profile and number of stones, without listing them.

All columns of a half but the last are tried in every way. What they leave to the last
one is known from two sets of its cells:

    barred first    where a first-player stone would complete a line with the columns before
    barred second   where a second-player stone would

and the strings of the last column that keep off both, by height and number of
first-player stones, are counted once for each such pair of sets (`_fill_row`) and
looked up ever after. Four columns of six rows have 112 million colourings, but three
only 1.1 million: the halves of 8x6 are counted in a tenth of a second.

`colourings.make_half(...).counts()` is the plain twin: it lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, popcount
from retro.index.halves.colourings import root_columns
from retro.jit import entry, inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST_ROWS = 1 << 10  # of the table of pairs: grows as needed


class Strings(NamedTuple):
    """What may stand in the columns before the last one; flat, by column."""

    start: NDArray[np.int64]  # [column] into the others; one more entry at the end
    first: NDArray[np.uint64]  # cells of first-player stones
    second: NDArray[np.uint64]
    profile: NDArray[np.int64]  # what the string's height adds to the profile's number


class Last(NamedTuple):
    """The last column."""

    height: int
    connect: int
    radix: int
    below: NDArray[np.int64]  # the root's stones in it, from the bottom


class Pairs(NamedTuple):
    """Counts of the strings of the last column by barred cells: an open hash table."""

    first: NDArray[np.uint64]  # [place] barred for the first player
    second: NDArray[np.uint64]
    is_known: NDArray[np.bool_]
    counts: NDArray[np.int64]  # [place, stones above the root's, first-player stones]


def count_half(
    columns: int, height: int, connect: int, first: int = 0, second: int = 0
) -> NDArray[np.int64]:
    """Number of line-free colourings, [profile, q]; arguments as `make_half`.

    >>> count_half(2, 2, 4).sum(), count_half(4, 6, 4).sum()
    (np.int64(49), np.int64(49041161))
    """
    below = root_columns(columns, height, first, second)
    spans = np.array([height + 1 - len(stones) for stones in below], np.int64)
    radix = np.cumprod(spans) // spans
    counts = np.zeros((int(spans.prod()), columns * height + 1), np.int64)
    if not columns:
        counts[0, 0] = 1
        return counts
    listed = [_list_strings(height, connect, stones) for stones in below[:-1]]
    strings = Strings(
        np.concatenate(([0], np.cumsum([len(one) for one, _, _ in listed]))).astype(np.int64),
        np.concatenate([one for one, _, _ in listed] or [np.zeros(0, np.uint64)]),
        np.concatenate([other for _, other, _ in listed] or [np.zeros(0, np.uint64)]),
        np.concatenate([up * r for (_, _, up), r in zip(listed, radix, strict=False)] or [spans]),
    )
    last = Last(height, connect, int(radix[-1]), np.array(below[-1], np.int64))
    rows = FIRST_ROWS
    while True:
        pairs = Pairs(
            np.zeros(rows, np.uint64),
            np.zeros(rows, np.uint64),
            np.zeros(rows, np.bool_),
            np.zeros((rows, int(spans[-1]), height + 1), np.int64),
        )
        counts[:] = 0
        if _count(strings, last, pairs, counts):
            return counts
        rows *= 4


def _list_strings(
    height: int, connect: int, below: list[int]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
    """Every line-free string above `below`: cells of both players, stones above `below`."""
    masks, symbols, runs = np.zeros(1, np.uint64), np.zeros(1, np.int64), np.zeros(1, np.int64)
    found = []
    for row in range(height + 1):
        if row >= len(below):
            occupied = np.uint64((1 << row) - 1)
            found.append((masks, masks ^ occupied, np.full(len(masks), row - len(below))))
        grown = []
        for symbol in (0, 1) if row >= len(below) else (below[row],):
            run = np.where(symbols == symbol, runs + 1, 1)
            keep = run < connect
            bit = np.uint64(symbol << row)
            grown.append((masks[keep] | bit, np.full(keep.sum(), symbol), run[keep]))
        masks, symbols, runs = (np.concatenate(parts) for parts in zip(*grown, strict=True))
    first, second, up = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return first, second, up


@entry
def _count(strings, last, pairs, counts):
    """Add up `counts` in place, trying every string in every column but the last.

    False if the table of pairs was too small.
    """
    columns = len(strings.start) - 1
    at = np.zeros(columns + 1, np.int64)  # the string that is tried in each column
    barred = np.zeros((columns + 1, 2), np.uint64)
    profile = np.zeros(columns + 1, np.int64)  # of the columns before
    stones = np.zeros(columns + 1, np.int64)  # first-player stones of the columns before
    known = 0
    column = 0
    if columns > 0:
        at[0] = strings.start[0]
    while column >= 0:
        if column == columns:
            place = _find_pair(pairs, barred[column, 0], barred[column, 1])
            if not pairs.is_known[place]:
                if 2 * known > len(pairs.is_known):
                    return False
                known += 1
                _fill_row(pairs, last, place, barred[column, 0], barred[column, 1])
            for up in range(pairs.counts.shape[1]):
                to = profile[column] + up * last.radix
                for q in range(len(last.below) + up + 1):
                    number = pairs.counts[place, up, q]
                    if number > 0:
                        counts[to, stones[column] + q] += number
            column -= 1
            if column >= 0:
                at[column] += 1
            continue
        if at[column] == strings.start[column + 1]:
            column -= 1
            if column >= 0:
                at[column] += 1
            continue
        i = at[column]
        if (strings.first[i] & barred[column, 0]) | (strings.second[i] & barred[column, 1]):
            at[column] += 1
            continue
        profile[column + 1] = profile[column] + strings.profile[i]
        stones[column + 1] = stones[column] + popcount(strings.first[i])
        barred[column + 1, 0] = _bar(strings.first, at, column + 1, last)
        barred[column + 1, 1] = _bar(strings.second, at, column + 1, last)
        column += 1
        if column < columns:
            at[column] = strings.start[column]
    return True


@inner
def _bar(cells, at, column, last):
    """The cells of a column that would complete a line with the columns before it."""
    if column < last.connect - 1:
        return U0
    level = rising = falling = ~U0
    for back in range(1, last.connect):
        mine = cells[at[column - back]]
        level &= mine
        rising &= mine << np.uint64(back)
        falling &= mine >> np.uint64(back)
    return (level | rising | falling) & ((U1 << np.uint64(last.height)) - U1)


@inner
def _find_pair(pairs, first, second):
    """Where a pair is in the hash table, or would be."""
    mask = np.uint64(len(pairs.is_known) - 1)
    mixed = (first * np.uint64(0x9E3779B97F4A7C15)) ^ (second * np.uint64(0xC2B2AE3D27D4EB4F))
    place = (mixed >> np.uint64(29)) & mask
    while pairs.is_known[place] and (pairs.first[place] != first or pairs.second[place] != second):
        place = (place + U1) & mask
    return place


@inner
def _fill_row(pairs, last, place, first, second):
    """Count the strings of the last column that keep off the barred cells; in place."""
    pairs.first[place], pairs.second[place] = first, second
    pairs.is_known[place] = True
    base = len(last.below)
    ways = np.zeros((2, last.connect, last.height + 1), np.int64)  # [last symbol, its run, q]
    ways[0, 0, 0] = 1
    for row in range(last.height + 1):
        if row >= base:
            for symbol in range(2):
                for run in range(last.connect):
                    for q in range(row + 1):
                        pairs.counts[place, row - base, q] += ways[symbol, run, q]
        grown = np.zeros_like(ways)
        if row == last.height:
            break
        for symbol in range(2):
            bars = first if symbol == 1 else second
            if (bars >> np.uint64(row)) & U1 or (row < base and last.below[row] != symbol):
                continue
            for old in range(2):
                for run in range(last.connect):
                    longer = run + 1 if old == symbol else 1
                    if longer < last.connect:
                        for q in range(row + 1):
                            grown[symbol, longer, q + symbol] += ways[old, run, q]
        ways = grown
