"""Halves in which the game has just ended: a line that taking one top stone away breaks.

The index leaves out every colouring with a line inside its half. Nobody asks for the value of
such a position, but published counts include it, so it is counted: from lists of all *just ended*
colourings, grouped and sorted exactly as the live ones are.

    live colouring  --- stone that completes a line --->  just ended colouring
    (bit 0 in `stay`: it does not stay line-free)         (several may lead to the same one)

Of the right half there are few: each is listed with the classes that it had before (`classes`).
Of the left half one bit is kept for every stone that may have come last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, popcount
from retro.games.connect4.bits import has_line
from retro.index.halves.colourings import Half, column_cells
from retro.jit import entry, inner
from retro.walk.halves.classes import group_of, line_bits
from retro.walk.halves.planes import ALL, COLOUR, STAY, WORDS, HalfPlanes, half_planes
from retro.walk.halves.plans import board_column
from retro.walk.halves.tile import transpose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from retro.index.halves.layout import Layout
    from retro.walk.halves.classes import Classes
    from retro.walk.halves.plans import Plan


class Endings(NamedTuple):
    """How rows and just ended halves come about; for kernels."""

    below: NDArray[np.uint16]  # [0, right colouring] class; [1 + column, ..] without its top stone
    start: NDArray[np.int64]  # [mover, right profile, q] just ended right colourings
    right: NDArray[np.uint16]  # [1 + column, those] class without the stone that ended them, or 0
    right_lines: NDArray[np.uint64]  # [player, those, word] as `right_lines` has them
    right_tops: NDArray[np.uint64]  # [right profile, column, word] lines through its top stone
    left: EndedColumns


class EndedColumns(NamedTuple):
    """Just ended colourings of the left half, as columns of a plane."""

    first_word: NDArray[np.int64]  # [left profile, q] in every lane
    words: NDArray[np.int64]  # [left profile, q]
    ended_by: NDArray[np.uint64]  # lane after lane: ended by the mover's top stone in its column


class Ended(NamedTuple):
    """Just ended colourings of one profile, grouped by q and sorted; for kernels."""

    profile: int
    start: NDArray[np.int64]  # [q] as a row of Half.start
    colourings: NDArray[np.uint64]


def make_endings(layout: Layout, plan: Plan, classes: Classes) -> Endings:
    """Prepare counting what has ended."""
    half = layout.right
    width, height = half.geometry.width, half.geometry.height
    profile, _, q = group_of(half)
    below = np.zeros((1 + width, len(profile)), np.uint16)
    below[0] = classes.right
    ends = [np.zeros((6, 0), np.uint64)]  # mover, profile, q, colouring, column, class before
    for mover in range(2):
        for c in range(width):
            i = np.flatnonzero((half.heights[profile, c] < height) & (classes.right > 0))
            after, q_after = profile[i] + half.radix[c], q[i] + 1 - mover
            up = plan.up[mover, c, i]
            is_live = up >= 0
            below[1 + c, half.start[after, q_after][is_live] + up[is_live]] = classes.right[
                i[is_live]
            ]
            i, after, q_after = i[~is_live], after[~is_live], q_after[~is_live]
            cell = half.playable[profile[i]] & np.uint64(board_column(height, c))
            made = half.colourings[i] | (cell if mover == 0 else U0)
            same = np.ones_like(i)
            some = (same * mover, after, q_after, made, same * c, classes.right[i])
            ends.append(np.array([values.astype(np.uint64) for values in some]))
    found = np.concatenate(ends, axis=1)
    found = found[:, np.lexsort(found[3::-1])]
    is_new = np.ones(found.shape[1], np.bool_)
    is_new[1:] = (np.diff(found[:4].astype(np.int64), axis=1) != 0).any(axis=0)
    movers, profiles, qs, colourings = found[:4, is_new]
    right = np.zeros((1 + width, len(colourings)), np.uint16)
    right[1 + found[4].astype(np.int64), np.cumsum(is_new) - 1] = found[5]
    shape = 2, len(half.stones), half.start.shape[1]
    place = np.ravel_multi_index(tuple(a.astype(np.int64) for a in (movers, profiles, qs)), shape)
    start = np.searchsorted(place, np.arange(np.prod(shape) + 1))
    of = half.occupied[profiles.astype(np.int64)]
    lines = line_bits(of, colourings, plan.cross_right)
    planes = HalfPlanes(plan.at, plan.gone, plan.colour, plan.stay)
    tops = _lines_through_tops(half, plan.cross_right)
    return Endings(below, start, right, lines, tops, ended_columns(layout.left, planes))


def _lines_through_tops(half: Half, cells: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """[profile, column, word], a bit for every part of a line that has the column's top stone."""
    width, height = half.geometry.width, half.geometry.height
    found = np.zeros((len(half.tops), width, max(1, -(-len(cells) // 64))), np.uint64)
    for line, some in enumerate(cells):
        for c in range(width):
            is_on = (half.tops & some & np.uint64(board_column(height, c))) != 0
            found[:, c, line // 64] |= is_on.astype(np.uint64) << np.uint64(line % 64)
    return found


def ended_columns(left: Half, planes: HalfPlanes) -> EndedColumns:
    """The just ended colourings of a left half, and the stones that ended them."""
    words = (_stones_that_end(left, planes) + 63) // 64  # room for each; some end it twice
    ends = np.cumsum(words).reshape(words.shape)
    first_word = ends - words
    ended_by = np.zeros(2 * left.geometry.width * ends[-1, -1], np.uint64)
    for ended in list_ended(left, planes):
        _fill_ended_by(left, ended, first_word, ended_by)
        words[ended.profile] = (np.diff(ended.start) + 63) // 64
    return EndedColumns(first_word, words, ended_by)


def _stones_that_end(half: Half, planes: HalfPlanes) -> NDArray[np.int64]:
    """[profile, q]: how many live colourings and stones lead to just ended colourings there."""
    width = half.geometry.width
    found = np.zeros((len(half.stones), half.start.shape[1] - 1), np.int64)
    for column in range(width):
        here = np.flatnonzero(half.heights[:, column] > half.base[column])
        below = here - half.radix[column]
        found[here, 1:] += planes.gone[column, below, :-1]
        found[here] += planes.gone[width + column, below]
    return found


def list_ended(half: Half, planes: HalfPlanes | None = None) -> Iterator[Ended]:
    """The just ended colourings of every profile; each is lost when the next one is asked for."""
    planes = half_planes(half) if planes is None else planes
    most = _stones_that_end(half, planes).sum(axis=1).max()
    start = np.zeros(half.start.shape[1], np.int64)
    colourings = np.empty(most, np.uint64)
    for profile in range(len(half.stones)):
        used = _list_ended(half, planes, Ended(profile, start, colourings))
        for q in np.flatnonzero(np.diff(start) > 1):
            colourings[start[q] : start[q + 1]].sort()
        yield Ended(profile, start, colourings[:used])


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
def _list_ended(half, planes, ended):
    """Fill `ended` in place, but for its order within q; return how many there are.

    Each is listed at the *first* column whose top stone ended it, so none comes twice.
    """
    geo, profile = half.geometry, ended.profile
    tile, turn = np.zeros(64, np.uint64), np.zeros(64, np.uint64)
    used = 0
    for q in range(len(ended.start) - 1):
        ended.start[q] = used
        for column in range(geo.width):
            top = half.tops[profile] & column_cells(geo.height, column)
            for colour in range(min(q, 1) + 1 if top != U0 else 0):
                lane = (1 - colour) * geo.width + column
                below, q_below = profile - half.radix[column], q - colour
                if planes.gone[lane, below, q_below] == 0:
                    continue
                bit = top if colour == 1 else U0
                flip = U0 if colour == 1 else half.occupied[profile]
                count = half.start[below, q_below + 1] - half.start[below, q_below]
                at = planes.at[below, q_below, STAY + lane]
                for i in range(0, count, 64):
                    gone = ~planes.stay[at + (i >> 6)]
                    if count - i < 64:
                        gone &= ALL >> np.uint64(64 - (count - i))
                    if gone != U0:
                        _read_colourings(half, planes, (below, q_below, i >> 6), tile, turn)
                    while gone != U0:
                        place = popcount((gone & (~gone + U1)) - U1)
                        gone &= gone - U1
                        after = tile[place] | bit
                        if _is_first(geo, half.tops[profile], column, after ^ flip):
                            ended.colourings[used] = after
                            used += 1
    ended.start[len(ended.start) - 1] = used
    return used


@inner
def _read_colourings(half, planes, where, tile, turn):
    """The 64 colourings of a word, which is (profile, q, word), from the planes; fills `tile`."""
    profile, q, word = where
    for i in range(64):
        tile[i] = U0
    at = planes.at[profile, q, COLOUR] + word
    for column in range(half.geometry.width):
        for row in range(half.heights[profile, column]):
            tile[column * (half.geometry.height + 1) + row] = planes.colour[at]
            at += planes.at[profile, q, WORDS]
    transpose(tile, turn)


@entry
def _fill_ended_by(half, ended, first_word, ended_by):
    """Fill the planes of one profile in place."""
    geo, profile = half.geometry, ended.profile
    lane_words = len(ended_by) // (2 * max(geo.width, 1))
    for q in range(len(ended.start) - 1):
        low = ended.start[q]
        for i in range(ended.start[q + 1] - low):
            for mover in range(2):
                flip = U0 if mover == 0 else half.occupied[profile]
                mine = ended.colourings[low + i] ^ flip
                if not has_line(geo, mine):
                    continue
                for column in range(geo.width):
                    if _ended_in(geo, half.tops[profile], column, mine):
                        at = (mover * geo.width + column) * lane_words + first_word[profile, q]
                        ended_by[at + (i >> 6)] |= U1 << np.uint64(i & 63)
