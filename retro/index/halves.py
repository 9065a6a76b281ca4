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

*Ended* colourings hold a line that taking one top stone away breaks: half of
a position in which the game has just ended. Nobody asks for their value, but
the forward walk counts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from retro.games.connect import Board
from retro.games.connect_bits import U0, U1, Geometry, geometry, has_line

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Half(NamedTuple):
    """The colourings of half a board, as kernels see them."""

    geometry: Geometry
    stones: NDArray[np.int64]  # [profile] stones in it
    occupied: NDArray[np.uint64]  # [profile] cells in it
    start: NDArray[np.int64]  # [profile, q] into colourings; q runs one past the last
    colourings: NDArray[np.uint64]

    @property
    def profiles(self) -> int:
        return len(self.stones)

    def counts(self) -> NDArray[np.int64]:
        """Number of colourings, [profile, q]."""
        return np.diff(self.start, axis=1)


def line_free_strings(length: int, connect: int) -> list[list[int]]:
    """[cells][ones]: strings of two symbols without `connect` equal neighbours, a column's worth.

    >>> [sum(by_ones) for by_ones in line_free_strings(6, connect=4)]
    [1, 2, 4, 8, 14, 26, 48]
    """
    # runs[symbol][run length][ones]
    table = [[1] + [0] * length]
    runs = {(s, 1): [int(ones == s) for ones in range(length + 1)] for s in (0, 1)}
    for cells in range(1, length + 1):
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
        if cells == length:
            break
    return table


def capacity(columns: int, height: int, connect: int) -> int:
    """Upper bound of the colourings of a half: only its columns' own lines left out."""
    per_column = sum(map(sum, line_free_strings(height, connect)))
    return int(per_column**columns)


def make_half(columns: int, height: int, connect: int) -> Half:
    """List every line-free colouring of `columns` columns. Memory: 8 bytes per colouring."""
    geo = geometry(Board(columns, height, connect)) if columns else _no_columns(height, connect)
    profiles = (height + 1) ** columns
    half = Half(
        geo,
        np.zeros(profiles, np.int64),
        np.zeros(profiles, np.uint64),
        np.zeros((profiles, columns * height + 2), np.int64),
        np.empty(capacity(columns, height, connect), np.uint64),
    )
    used = _list_colourings(half)
    return half._replace(colourings=half.colourings[:used].copy())


def _no_columns(height: int, connect: int) -> Geometry:
    return Geometry(0, height, connect, np.zeros(0, np.uint64))


def make_ended(half: Half) -> Half:
    """List the just ended colourings of a half, grouped as the live ones are."""
    start = np.zeros_like(half.start)
    return half._replace(start=start, colourings=_list_ended(half, start))


@njit(cache=True, nogil=True)
def profile_height(geometry, profile, column):
    """Height of one column of a half-profile."""
    for _ in range(column):
        profile //= geometry.height + 1
    return profile % (geometry.height + 1)


@njit(cache=True, nogil=True)
def column_radix(geometry, column):
    """What one more stone in a column adds to the number of a half-profile."""
    return (geometry.height + 1) ** column


@njit(cache=True, nogil=True)
def cell_bit(geometry, column, row):
    return U1 << np.uint64(column * (geometry.height + 1) + row)


@njit(cache=True, nogil=True)
def find_sorted(values, low, high, wanted):
    """Place of `wanted` in the sorted values[low:high], or -1."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and values[low] == wanted else -1


@njit(cache=True, nogil=True)
def _list_colourings(half):
    """Fill stones, occupied, start and colourings in place; return how many there are."""
    geo, start, colourings = half.geometry, half.start, half.colourings
    colourings[0] = U0
    start[0, 1:] = 1
    used = 1
    for profile in range(1, len(half.stones)):
        last = geo.width - 1
        while profile_height(geo, profile, last) == 0:
            last -= 1
        below = profile - column_radix(geo, last)
        bit = cell_bit(geo, last, profile_height(geo, profile, last) - 1)
        occupied = half.occupied[below] | bit
        half.stones[profile] = half.stones[below] + 1
        half.occupied[profile] = occupied
        for q in range(start.shape[1] - 1):
            start[profile, q] = used
            for i in range(start[below, q], start[below, q + 1]):
                if not has_line(geo, occupied & ~colourings[i]):
                    colourings[used] = colourings[i]
                    used += 1
            if q > 0:
                for i in range(start[below, q - 1], start[below, q]):
                    if not has_line(geo, colourings[i] | bit):
                        colourings[used] = colourings[i] | bit
                        used += 1
        start[profile, start.shape[1] - 1] = used
    return used


@njit(cache=True, nogil=True)
def top_bits(half, profile, tops):
    """Write the top stone's bit of each column (0 where it is empty); in place."""
    geo = half.geometry
    for column in range(geo.width):
        height = profile_height(geo, profile, column)
        tops[column] = cell_bit(geo, column, height - 1) if height > 0 else U0


@njit(cache=True, nogil=True)
def ends_with(geometry, mine, top):
    """Whether `top` is one of these stones of one player and taking it away breaks every line."""
    return (mine & top) != U0 and not has_line(geometry, mine & ~top)


@njit(cache=True, nogil=True)
def _list_ended(half, ended_start):
    """Fill `ended_start` in place and return the just ended colourings."""
    tops = np.zeros(half.geometry.width + 1, np.uint64)
    ended = np.empty(1024, np.uint64)
    used = 0
    last = half.start.shape[1] - 1
    widest = np.max(half.start[:, last] - half.start[:, 0])
    room = half.geometry.width * widest  # each column comes from one smaller profile
    for profile in range(len(half.stones)):
        top_bits(half, profile, tops)
        for q in range(last):
            begin = used
            ended_start[profile, q] = begin
            while used + room > len(ended):
                ended = np.concatenate((ended, np.empty_like(ended)))
            used = _append_ended(half, profile, q, tops, ended, used)
            ended[begin:used].sort()
        ended_start[profile, last] = used
    return ended[:used].copy()


@njit(cache=True, nogil=True)
def _append_ended(half, profile, q, tops, ended, used):
    """Append the just ended colourings of (profile, q) in no order; return the new `used`.

    Each is appended at the *first* column whose top stone ended it, so none comes twice.
    """
    geo = half.geometry
    for column in range(geo.width):
        if tops[column] == U0:
            continue
        below = profile - column_radix(geo, column)
        for colour in range(min(q, 1) + 1):
            bit = tops[column] if colour == 1 else U0
            flip = U0 if colour == 1 else half.occupied[profile]
            low, high = half.start[below, q - colour], half.start[below, q - colour + 1]
            for before in half.colourings[low:high]:
                mine = (before | bit) ^ flip
                if has_line(geo, mine):
                    first = 0
                    while not ends_with(geo, mine, tops[first]):
                        first += 1
                    if first == column:
                        ended[used] = before | bit
                        used += 1
    return used
