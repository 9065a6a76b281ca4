"""Planes over the colourings of a half, 64 colourings a word, made without any list of them.

For each (half-profile, q) a stretch of words, one bit per colouring in the order of the index:

    colour   one plane for every cell of the profile: has the first player a stone there?
    stay     one plane for every open column and either mover, a *lane*: does the colouring
             stay line-free when the mover drops a stone there? Only then has the successor a
             rank. Lanes are numbered mover * columns + column.

A profile has the planes that it needs and no others, one behind another: four columns of six
rows take 145 MB, with room for all cells of all profiles it was 199 MB.

    colour   | profile 1    | profile 2: a  b          | ...        profile 2: two stones, a
             |  q=0 | q=1   | q=0 | 1 | 2 | q=0 | 1 | 2 |            below b, in one column

A profile is made from the one below it, as `index.halves.colourings` lists it: take the top
stone off the last column that has one. The colourings that stay line-free with a stone of the
second player, then those that stay so with one of the first, are in order as they stand. So
every plane is two of the planes below, with the bits extracted that `stay` has there:

    below    colour of b   0 1 1 0        profile   colour of b   0 1 0 | 1 1 0
             stay, second  1 1 0 1                  top stone     0 0 0 | 1 1 1
             stay, first   0 1 1 1                                second| first
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, bit_instructions, extract, popcount
from retro.games.connect4.rules import Connect4Board
from retro.jit import entry, inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.index.halves.colourings import Half

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
LAST, SHIFT = np.uint64(63), np.uint64(6)
NOWHERE = -(1 << 62)  # no place


class HalfPlanes(NamedTuple):
    """Planes over the colourings of a half."""

    at: NDArray[np.int64]  # [profile, q, field] where its stretches are; fields below
    gone: NDArray[np.int32]  # [lane, profile, q] how many colourings do not stay
    colour: NDArray[np.uint64]
    stay: NDArray[np.uint64]


# Fields of HalfPlanes.at: the words of one plane of the profile; the first word of the stretch of
# its lowest cell in `colour`, whose other planes follow column by column, from the bottom to the
# top; and that of every lane's stretch in `stay` (NOWHERE: the column is full). One table for all:
# kernels pay for every array that they take out of a tuple.
WORDS, COLOUR, STAY = 0, 1, 2


def plane_words(
    counts: NDArray[np.int64], heights: NDArray[np.int64], height: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The words of one plane, of all colour planes and of all stay planes, [profile].

    From numbers of colourings alone, so that a plan can know them.
    """
    words = ((counts + 63) // 64).sum(axis=1)
    return words, words * heights.sum(axis=1), words * 2 * (heights < height).sum(axis=1)


def half_planes(half: Half) -> HalfPlanes:
    """Make the planes of a half, of which no colouring but the root's need be listed."""
    width, height = half.geometry.width, half.geometry.height
    by_q = (half.counts() + 63) // 64
    words, colour, stay = plane_words(half.counts(), half.heights, height)
    is_open = np.tile(half.heights < height, 2)
    lanes = np.cumsum(is_open * words[:, None]).reshape(is_open.shape) - is_open * words[:, None]
    within = (np.cumsum(by_q, axis=1) - by_q)[:, :, None]
    at = np.empty((*by_q.shape, STAY + 2 * width), np.int64)
    at[:, :, WORDS] = words[:, None]
    at[:, :, COLOUR : COLOUR + 1] = (np.cumsum(colour) - colour)[:, None, None] + within
    at[:, :, STAY:] = np.where(is_open[:, None, :], lanes[:, None, :] + within, NOWHERE)
    planes = HalfPlanes(
        at,
        np.zeros((2 * width, *by_q.shape), np.int32),
        np.zeros(int(colour.sum()), np.uint64),
        np.zeros(int(stay.sum()), np.uint64),
    )
    lines = Connect4Board(width, height, half.geometry.connect).lines if width else ()
    _fill_planes(bit_instructions(), half, planes, np.array(lines, np.uint64))
    return planes


@inner
def _cell_plane(half, planes, profile, q, column, row):
    """The first word of a cell's stretch in `colour`."""
    for before in range(column):
        row += half.heights[profile, before]
    return planes.at[profile, q, COLOUR] + row * planes.at[profile, q, WORDS]


@entry
def _fill_planes(bits, half, planes, lines):
    """Fill colour, stay and gone in place; `lines` are those of the half as a board."""
    geo, start = half.geometry, half.start
    others = np.zeros((geo.connect, 3), np.int64)  # column, row, first word
    for profile in range(len(half.stones)):
        if profile == 0:
            _colour_root(half, planes)
        else:
            _colour_profile(bits, half, planes, profile)
        for q in range(start.shape[1] - 1):
            number = start[profile, q + 1] - start[profile, q]
            for lane in range(2 * geo.width if number > 0 else 0):
                if half.heights[profile, lane % geo.width] < geo.height:
                    # Until a line says otherwise, all stay.
                    _set_bits(planes.stay, planes.at[profile, q, STAY + lane], 0, number)
        for line in lines:
            column = _arm(geo, half.playable[profile], half.occupied[profile], line, others)
            for q in range(start.shape[1] - 1 if column >= 0 else 0):
                if start[profile, q + 1] > start[profile, q]:
                    for mover in range(2):
                        lane = mover * geo.width + column
                        _leave_out(half, planes, lane, (profile, q), others)


@inner
def _colour_root(half, planes):
    """The one colouring of profile 0; in place."""
    first = half.colourings[0]
    for column in range(half.geometry.width):
        for row in range(half.heights[0, column]):
            bit = np.uint64(column * (half.geometry.height + 1) + row)
            at = _cell_plane(half, planes, 0, popcount(first), column, row)
            planes.colour[at] = (first >> bit) & U1


@inner
def _colour_profile(bits, half, planes, profile):
    """The colours of a profile from those of the profile below; in place."""
    geo, start = half.geometry, half.start
    last = geo.width - 1
    while half.heights[profile, last] == half.base[last]:
        last -= 1
    below = profile - half.radix[last]
    for q in range(start.shape[1] - 1):
        number = start[profile, q + 1] - start[profile, q]
        if number == 0:
            continue
        second = start[below, q + 1] - start[below, q] - planes.gone[geo.width + last, below, q]
        top = _cell_plane(half, planes, profile, q, last, half.heights[profile, last] - 1)
        _set_bits(planes.colour, top, second, number)
        for column in range(geo.width):
            for row in range(half.heights[below, column]):
                to = _cell_plane(half, planes, profile, q, column, row)
                place = 0
                for mover in (1, 0):
                    if q + mover > 0:
                        old = q - 1 + mover
                        words = (start[below, old + 1] - start[below, old] + 63) >> 6
                        source = _cell_plane(half, planes, below, old, column, row)
                        mask = planes.at[below, old, STAY + mover * geo.width + last]
                        place = _append(bits, planes, (source, mask, words), to, place)


@inner
def _append(bits, planes, source, to, place):
    """Put the bits of a stretch that stay behind the `place` bits that are at `to`; in place.

    `source` is (first word in colour, first word in stay, words). Returns the next place.
    """
    colour, stay = planes.colour, planes.stay
    at, mask_at, words = source
    for word in range(words):
        mask = stay[mask_at + word]
        found = extract(bits, colour[at + word], mask)
        number = popcount(mask)
        here, shift = to + (place >> 6), place & 63
        if number > 0:
            colour[here] |= found << np.uint64(shift)
        if shift + number > 64:
            colour[here + 1] |= found >> np.uint64(64 - shift)
        place += number
    return place


@inner
def _set_bits(plane, at, begin, end):
    """Set the bits from `begin` to before `end` of a stretch that is 0; in place."""
    for word in range(begin >> 6, (end + 63) >> 6):
        ones = ALL if end >= 64 * word + 64 else ALL >> np.uint64(64 - (end & 63))
        if begin > 64 * word:
            ones &= ALL << np.uint64(begin & 63)
        plane[at + word] = ones


@inner
def _arm(geometry, playable, occupied, line, others):
    """The column where one stone would complete a line whose other cells are taken, or -1.

    Fills `others` in place: column and row of these cells.
    """
    empty = line & ~occupied
    if empty & playable != empty or popcount(empty) != 1:
        return -1
    found, place = -1, 0
    for column in range(geometry.width):
        for row in range(geometry.height):
            cell = U1 << np.uint64(column * (geometry.height + 1) + row)
            if cell == empty:
                found = column
            elif cell & line:
                others[place, 0], others[place, 1] = column, row
                place += 1
    return found


@inner
def _leave_out(half, planes, lane, of, others):
    """Take from a lane the colourings that have all other cells of a line; in place.

    `of` is (profile, q).
    """
    profile, q = of
    colour, stay = planes.colour, planes.stay
    flip = U0 if lane < half.geometry.width else ALL
    for i in range(len(others) - 1):
        others[i, 2] = _cell_plane(half, planes, profile, q, others[i, 0], others[i, 1])
    at, number = planes.at[profile, q, STAY + lane], 0
    for word in range((half.start[profile, q + 1] - half.start[profile, q] + 63) >> 6):
        complete = stay[at + word]
        for i in range(len(others) - 1):
            complete &= colour[others[i, 2] + word] ^ flip
        stay[at + word] ^= complete
        number += popcount(complete)
    planes.gone[lane, profile, q] += number
