"""Segments of the left half, for mirroring: colourings with the same stones in its inner columns.

The left half is cut into outer columns A, as many as the right half has, and the middle M
(`mirror`). Its colourings are in order, M is in the higher bits, so those with the same stones
in M are neighbours, and what they have in A are colourings of A in order:

    left colourings   | M1: a1 a2 a3 | M2: a1 a3 | M3: a1 a2 a3 | ...      a2 has a line with M2
    masks                    1  1  1        1 0 1         1 1 1

No list of the left half is needed: M and A have few colourings, and which of A's make a line
with one of M's is known from the lines that cross from A to M. Most colourings of M bar the
same ones, so masks are kept once for each *kind*, the set of lines that M has its part of:
the 520,000 pairs of a profile of A and a colouring of M of 6x6 have 14,709.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import popcount
from retro.games.connect4.rules import Connect4Board
from retro.index.halves.colourings import make_half
from retro.jit import entry
from retro.walk.halves.planes import ALL, COLOUR, half_planes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from retro.index.halves.colourings import Half

    Words = NDArray[np.uint64]

KEY_BITS = 60  # of the number of a kind, before kinds are counted anew


class Middle(NamedTuple):
    """The colourings of M, sorted in each profile whatever their stones, and the lines from A."""

    start: NDArray[np.int64]  # [profile] one more entry at the end
    colourings: Words
    occupied: Words  # [colouring]
    outer_lines: list[int]  # [line] the part of a line that lies in A ...
    inner_lines: list[int]  # ... and in M


def make_middle(outer_columns: int, columns: int, height: int, connect: int) -> Middle:
    """List the colourings of so many columns behind the outer ones.

    >>> middle = make_middle(2, 1, 2, 3)
    >>> middle.start.tolist(), middle.outer_lines, middle.inner_lines
    ([0, 1, 3, 7], [9, 18], [1, 2])
    """
    half = make_half(columns, height, connect)
    numbers = half.counts().sum(axis=1)
    profiles = np.repeat(np.arange(len(numbers)), numbers)
    order = np.lexsort((half.colourings, profiles))
    cut = outer_columns * (height + 1)
    lines = Connect4Board(outer_columns + columns, height, connect).lines
    crossing = [(line & ((1 << cut) - 1), line >> cut) for line in lines]
    crossing = [(outer, inner) for outer, inner in crossing if outer and inner]
    return Middle(
        np.concatenate(([0], np.cumsum(numbers))),
        half.colourings[order],
        half.occupied[profiles],
        [outer for outer, _ in crossing],
        [inner for _, inner in crossing],
    )


def _owned(middle: Middle, line: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which colourings of M have its part of a line: the first player's, the second's."""
    part = np.uint64(middle.inner_lines[line])
    theirs = middle.occupied & ~middle.colourings
    return (middle.colourings & part) == part, (theirs & part) == part


def find_kinds(
    middle: Middle, outer_occupied: Words
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """For every profile of A: a colouring of M of each kind, and the kind of every colouring."""
    owned = [_owned(middle, line) for line in range(len(middle.inner_lines))]
    for occupied in outer_occupied.tolist():
        kind, bits = np.zeros(len(middle.colourings), np.int64), 0
        for line, owners in enumerate(owned):
            if middle.outer_lines[line] & ~occupied:
                continue  # A has not all cells of its part
            if bits > KEY_BITS:
                kind = np.unique(kind, return_inverse=True)[1]
                bits = int(kind.max()).bit_length()
            kind, bits = 4 * kind + 2 * owners[0] + owners[1], bits + 2
        _, example, kind = np.unique(kind, return_index=True, return_inverse=True)
        yield example, kind


class Masks(NamedTuple):
    """Which of all line-free colourings of A make no line with those of M; for kernels."""

    at: NDArray[np.int64]  # [profile of A, colouring of M] first word in `words`, ...
    q: NDArray[np.int64]  # [profile of A, q] ... and how far behind it A's colourings with q are
    words: Words
    nothing: int  # where `words` stay 0: for a segment that there is not


def mask_words(
    middle: Middle, outer_counts: NDArray[np.int64], outer_occupied: Words
) -> tuple[NDArray[np.int64], int]:
    """Words of a mask, [profile of A], and of all masks; from numbers of colourings alone."""
    words = ((outer_counts + 63) // 64).sum(axis=1)
    kinds = [len(example) for example, _ in find_kinds(middle, outer_occupied)]
    return words, int(words @ np.array(kinds)) + int(outer_counts.max()) // 64 + 1


def make_masks(middle: Middle, outer: Half) -> Masks:
    """The masks of all kinds."""
    planes = half_planes(outer)
    words, total = mask_words(middle, outer.counts(), outer.occupied)
    masks = np.zeros(total, np.uint64)
    at = np.zeros((len(words), len(middle.colourings)), np.int64)
    used = 0
    for profile, (example, kind) in enumerate(find_kinds(middle, outer.occupied)):
        here = masks[used : used + len(example) * words[profile]].reshape(len(example), -1)
        here[:] = _ones(outer.counts()[profile])
        for line, cells in enumerate(middle.outer_lines):
            if cells & ~int(outer.occupied[profile]):
                continue
            for owner, owned in enumerate(_owned(middle, line)):
                have = np.full(words[profile], ALL)
                for plane in _planes_of(outer, profile, cells):
                    first = planes.at[profile, 0, COLOUR] + plane * words[profile]
                    colour = planes.colour[first : first + words[profile]]
                    have &= colour if owner == 0 else ~colour
                here[owned[example]] &= ~have
        at[profile] = used + kind * words[profile]
        used += here.size
    by_q = (outer.counts() + 63) // 64
    q = np.concatenate((np.zeros((len(words), 1), np.int64), np.cumsum(by_q, axis=1)), axis=1)
    return Masks(at, q, masks, used)


def _planes_of(half: Half, profile: int, cells: int) -> Iterator[int]:
    """The numbers of some cells' planes among those of a profile."""
    stride = half.geometry.height + 1
    for bit in range(cells.bit_length()):
        if cells >> bit & 1:
            yield int(half.heights[profile, : bit // stride].sum()) + bit % stride


def _ones(counts: NDArray[np.int64]) -> Words:
    """One bit for every colouring of a profile, from their numbers, [q]."""
    found = [np.full((number + 63) // 64, ALL) for number in counts.tolist()]
    for words, number in zip(found, counts.tolist(), strict=True):
        words[-1:] >>= np.uint64(-number % 64)
    return np.concatenate(found)


def segments_at_most(outer_counts: NDArray[np.int64], middles: int) -> int:
    """So many segments there are at most: one for each colouring of M and stones in A."""
    return int((outer_counts > 0).sum()) * middles


class Segments(NamedTuple):
    """Segments of all (left profile, q), one after another; for kernels."""

    start: NDArray[np.int64]  # [left profile, q] into the next two
    first: NDArray[np.int32]  # [segment] its first column
    middle: NDArray[np.int32]  # [segment] its colouring of M


def make_segments(middle: Middle, masks: Masks, left: Half, outer: Half) -> Segments:
    """List the segments of the left half, with nothing but the numbers of its colourings."""
    most = segments_at_most(outer.counts(), len(middle.colourings))
    room = np.zeros(most, np.int32), np.zeros(most, np.int32)
    segments = Segments(np.zeros_like(left.start), *room)
    _list_segments(left.start, middle.start, middle.colourings, masks, segments)
    return segments


@entry
def _list_segments(left_start, middle_start, colourings, masks, segments):
    """Fill `segments` in place."""
    start, first, middle = segments
    outer_profiles, last_q = masks.q.shape[0], masks.q.shape[1] - 2
    used = 0
    for profile in range(start.shape[0]):
        inner, outer = profile // outer_profiles, profile % outer_profiles
        for q in range(start.shape[1] - 1):
            start[profile, q] = used
            if left_start[profile, q] == left_start[profile, q + 1]:
                continue
            column = 0
            for i in range(middle_start[inner], middle_start[inner + 1]):
                q_outer = q - popcount(colourings[i])
                number = 0
                if 0 <= q_outer <= last_q:
                    at = masks.at[outer, i]
                    for word in range(masks.q[outer, q_outer], masks.q[outer, q_outer + 1]):
                        number += popcount(masks.words[at + word])
                if number > 0:
                    first[used], middle[used] = column, i
                    column += number
                    used += 1
        start[profile, start.shape[1] - 1] = used
