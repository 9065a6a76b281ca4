"""Halves in which the game has just ended: a line that taking one top stone away breaks.

The index leaves out every colouring with a line inside its half. Nobody asks
for the value of such a position, but published counts include it, so the
forward walk counts it: in rows and columns of its own, one for each *just
ended* colouring, grouped and sorted exactly as the live ones are.

    live colouring  --- stone that completes a line --->  just ended colouring
    (bit 0 in `stay`: it does not stay line-free)         (several may lead to the same one)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, popcount
from retro.games.connect4.bits import has_line
from retro.index.halves.colourings import Half, column_cells, find_sorted
from retro.jit import entry, inner
from retro.walk.halves.plans import ALL, HalfPlanes, half_planes

if TYPE_CHECKING:
    from numpy.typing import NDArray


class EndedRows(NamedTuple):
    """Just ended colourings of the right half, as rows."""

    start: NDArray[np.int64]  # [right profile, q] as Half.start
    at: NDArray[np.int32]  # [row] so many live rows of the same profile and q sort before it
    down: NDArray[np.int32]  # [mover, column, row] the live row before the ending stone, or -1


class EndedColumns(NamedTuple):
    """Just ended colourings of the left half, as columns of a plane."""

    first_word: NDArray[np.int64]  # [left profile, q]
    words: NDArray[np.int64]  # [left profile, q]
    ended_by: NDArray[np.uint64]  # [lane, word] ended by the mover's top stone in that column


def ended_rows(right: Half) -> EndedRows:
    """The just ended colourings of a right half, and the rows they come from."""
    ended = list_ended(right, half_planes(right))
    down = np.full((2, right.geometry.width, len(ended.colourings)), -1, np.int32)
    _fill_down(right, ended, down)
    return EndedRows(ended.start, _live_before(right, ended), down)


def _live_before(half: Half, ended: Half) -> NDArray[np.int32]:
    at = np.zeros(len(ended.colourings), np.int32)
    for profile, q in np.argwhere(ended.counts() > 0):
        live = half.colourings[half.start[profile, q] : half.start[profile, q + 1]]
        just = slice(ended.start[profile, q], ended.start[profile, q + 1])
        at[just] = np.searchsorted(live, ended.colourings[just])
    return at


def ended_columns(left: Half, planes: HalfPlanes) -> EndedColumns:
    """The just ended colourings of a left half, and the stones that ended them."""
    ended = list_ended(left, planes)
    words = (ended.counts() + 63) // 64
    ends = np.cumsum(words).reshape(words.shape)
    ended_by = np.zeros((2 * left.geometry.width, ends[-1, -1]), np.uint64)
    _fill_ended_by(ended, ends - words, ended_by)
    return EndedColumns(ends - words, words, ended_by)


def list_ended(half: Half, planes: HalfPlanes) -> Half:
    """The just ended colourings of a half, grouped by profile and q and sorted."""
    is_open = half.heights < half.geometry.height  # [profile, column]
    candidates = 2 * int((half.counts().sum(axis=1)[:, None] * is_open).sum())
    candidates -= int(np.bitwise_count(planes.stay).sum())
    start = np.zeros_like(half.start)
    colourings = np.empty(candidates, np.uint64)
    used = _list_ended(half, planes, start, colourings)
    colourings = colourings[:used].copy()
    for begin, end in np.column_stack((start[:, :-1].ravel(), start[:, 1:].ravel())):
        if end - begin > 1:
            colourings[begin:end].sort()
    return half._replace(start=start, colourings=colourings)


@inner
def _ended_in(geometry, tops, column, mine):
    """Whether the top stone of a column is one of these, and no line is left without it."""
    top = tops & column_cells(geometry.height, column)
    return (mine & top) != U0 and not has_line(geometry, mine & ~top)


@inner
def _is_first(geometry, tops, column, mine):
    """Whether no column before this one could have ended the game, too."""
    for earlier in range(column):
        if _ended_in(geometry, tops, earlier, mine):
            return False
    return True


@entry
def _list_ended(half, planes, ended_start, ended):
    """Fill `ended_start` and `ended` in place; return how many there are.

    Within (profile, q) they come in no order. Each is listed at the *first*
    column whose top stone ended it, so none comes twice.
    """
    geo, start = half.geometry, half.start
    used = 0
    for profile in range(len(half.stones)):
        for q in range(start.shape[1] - 1):
            ended_start[profile, q] = used
            for column in range(geo.width):
                top = half.tops[profile] & column_cells(geo.height, column)
                if top == U0:
                    continue
                below = profile - half.radix[column]
                for colour in range(min(q, 1) + 1):
                    lane = (1 - colour) * geo.width + column
                    bit = top if colour == 1 else U0
                    flip = U0 if colour == 1 else half.occupied[profile]
                    low = start[below, q - colour]
                    count = start[below, q - colour + 1] - low
                    word = planes.first_word[below, q - colour]
                    for i in range(0, count, 64):
                        gone = ~planes.stay[lane, word + (i >> 6)]
                        if count - i < 64:
                            gone &= ALL >> np.uint64(64 - (count - i))
                        while gone != U0:
                            place = popcount((gone & (~gone + U1)) - U1)
                            gone &= gone - U1
                            after = half.colourings[low + i + place] | bit
                            if _is_first(geo, half.tops[profile], column, after ^ flip):
                                ended[used] = after
                                used += 1
        ended_start[profile, start.shape[1] - 1] = used
    return used


@entry
def _fill_down(half, ended, down):
    """Fill `down` in place."""
    geo, start = half.geometry, half.start
    for profile in range(len(half.stones)):
        for q in range(start.shape[1] - 1):
            for i in range(ended.start[profile, q], ended.start[profile, q + 1]):
                for mover in range(2):
                    mine = ended.colourings[i] ^ (U0 if mover == 0 else half.occupied[profile])
                    if not has_line(geo, mine):
                        continue
                    for column in range(geo.width):
                        if _ended_in(geo, half.tops[profile], column, mine):
                            top = half.tops[profile] & column_cells(geo.height, column)
                            before = profile - half.radix[column]
                            low, high = start[before, q - 1 + mover], start[before, q + mover]
                            wanted = ended.colourings[i] & ~top
                            row = find_sorted(half.colourings, low, high, wanted)
                            down[mover, column, i] = row - low


@entry
def _fill_ended_by(ended, first_word, ended_by):
    """Fill `ended_by` in place."""
    geo = ended.geometry
    for profile in range(len(ended.stones)):
        for q in range(ended.start.shape[1] - 1):
            low = ended.start[profile, q]
            for i in range(ended.start[profile, q + 1] - low):
                word = first_word[profile, q] + (i >> 6)
                for mover in range(2):
                    flip = U0 if mover == 0 else ended.occupied[profile]
                    mine = ended.colourings[low + i] ^ flip
                    if not has_line(geo, mine):
                        continue
                    for column in range(geo.width):
                        if _ended_in(geo, ended.tops[profile], column, mine):
                            lane = mover * geo.width + column
                            ended_by[lane, word] |= U1 << np.uint64(i & 63)
