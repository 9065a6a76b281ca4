"""How fast: the numbers of a layer, bit by bit in planes of their own, 64 positions at a time.

A position that is decided has a *number*: h for a win in 2h + 1 plies and for a loss in 2h.
Best play makes winners hurry and losers delay:

    win     the smallest number among the successors that are lost, or 0 if a stone ends it
    loss    one more than the largest number among the successors, which are all won
    draw    no number: a draw ends with the full board

The numbers of a layer with n empty cells are at most n // 2, so they take that number's bits
as so many planes behind `win` and `loss`, the lowest bit first:

    plane    0    1    2        3        4
             win  loss number&1 number&2 number&4      14 empty cells: numbers up to 7

While successors are joined, a position is won so far, or lost so far, never both, so one
number does for both. A successor's number c takes the place of n where that is better:
smaller if the successor is lost, larger if it is won. Both are one comparison, because c < n
says the same as ~c > ~n: where the successor is lost, all bits are turned.

    better = 0;  from the lowest bit on:  better = c ^ lost  where c and n differ, else as it was
    take   = lost & (better | ~win)  |  won & loss & better
    n      = c where taken

Numbers of successors have a bit less than those of this layer at most, and only the last
step, one more where it is lost, can need that bit. `plain_number` is all this in a few lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retro.bits import U0, U1, deposit, extract, popcount
from retro.jit import inner
from retro.walk.halves.planes import LAST, SHIFT
from retro.walk.halves.plans import LOSS, NUMBERS, WIN

if TYPE_CHECKING:
    from collections.abc import Iterable


def plain_number(replies: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Value and number of a position from those of its successors, for their side to move.

    The plain twin of the kernels below.

    >>> plain_number([(1, 4), (-1, 3), (0, 0), (-1, 2)])     # two moves win: in 7 and in 5 plies
    (1, 2)
    >>> plain_number([(1, 4), (1, 0)])                       # all moves lose: in 10 and in 2 plies
    (-1, 5)
    """
    known = list(replies)
    lost = [number for value, number in known if value < 0]
    if lost:
        return 1, min(lost)
    if known and all(value > 0 for value, _ in known):
        return -1, 1 + max(number for _, number in known)
    return 0, 0


def plies_of_number(value: int, number: int, empty: int) -> int:
    """The plies to the end of the game.

    >>> plies_of_number(1, 2, 9), plies_of_number(-1, 2, 9), plies_of_number(0, 0, 9)
    (5, 4, 9)
    """
    return empty if value == 0 else 2 * number + (value > 0)


@inner
def clear_numbers(here, begin, words):
    """All numbers of a row are 0, those of wins at once; in place."""
    for plane in range(NUMBERS, here.shape[0]):
        for word in range(words):
            here[plane, begin + word] = U0


@inner
def join_numbers(here, begin, words, after, planes, source, better):
    """Join successors that lie in the same columns, values and numbers; `here` in place.

    `after` has so many `planes` that count; `better` is a row to work with.
    """
    for word in range(words):
        better[word] = U0
    for plane in range(NUMBERS, planes):
        for word in range(words):
            number, old = after[plane, source + word], better[word]
            differ = number ^ here[plane, begin + word]
            better[word] = old ^ (differ & (old ^ number ^ after[LOSS, source + word]))
    for word in range(words):
        won, lost = after[WIN, source + word], after[LOSS, source + word]
        is_won, is_lost = here[WIN, begin + word], here[LOSS, begin + word]
        better[word] = (lost & (better[word] | ~is_won)) | (won & is_lost & better[word])
        here[WIN, begin + word] = is_won | lost
        here[LOSS, begin + word] = is_lost & won
    for plane in range(NUMBERS, planes):
        for word in range(words):
            here[plane, begin + word] ^= better[word] & (
                here[plane, begin + word] ^ after[plane, source + word]
            )


@inner
def finish_numbers(here, begin, words, carry):
    """All successors are joined: one more where it is lost, nothing where it is drawn; in place.

    `carry` is a row to work with.
    """
    for word in range(words):
        carry[word] = here[LOSS, begin + word]
    for plane in range(NUMBERS, here.shape[0]):
        for word in range(words):
            number = here[plane, begin + word]
            is_decided = here[WIN, begin + word] | here[LOSS, begin + word]
            here[plane, begin + word] = (number ^ carry[word]) & is_decided
            carry[word] &= number


@inner
def compress_planes(bits, after, colour, move, dense):
    """Extract every plane of a row under the move's mask, without gaps; fills `dense` in place."""
    for plane in range(after.shape[0]):
        have, fill, at = U0, U0, U0
        for word in range(move.words):
            mask = colour[move.mask + word] ^ move.flip
            found = extract(bits, after[plane, move.source + word], mask)
            have |= found << fill
            dense[plane, at] = have
            back = LAST - fill
            fill += np.uint64(popcount(mask))
            if fill > LAST:
                have = (found >> U1) >> back
                at += U1
                fill &= LAST
        dense[plane, at] = have


@inner
def spread_planes(bits, dense, planes, stay, stays, words, wide):
    """Put the bits of `dense` where `stay` has ones, in every plane; fills `wide` in place.

    `stays` is where the row's colourings begin in `stay`.
    """
    for plane in range(planes):
        taken = U0
        for word in range(words):
            at, shift = taken >> SHIFT, taken & LAST
            found = (dense[plane, at] >> shift) | ((dense[plane, at + U1] << U1) << (LAST - shift))
            mask = stay[stays + word]
            wide[plane, word] = deposit(bits, found, mask)
            taken += np.uint64(popcount(mask))


@inner
def count_word(values, word, some, counts, first):
    """Add some positions of a word, with their weight, to counts[first + 2 * number]; in place.

    Halves the set by one bit of the numbers after another, the highest first; most words
    have few numbers, so most halves are empty.
    """
    decided, weight = some
    planes = values.shape[0] - NUMBERS
    number, step = 0, 1 << planes
    while number < step:
        there, level = decided, planes
        while level > 0 and there != U0:
            level -= 1
            bit = values[NUMBERS + level, word]
            there &= bit if (number >> level) & 1 else ~bit
        if there != U0:
            counts[first + 2 * number] += weight * popcount(there)
        number += 1 << level  # all with these higher bits, if there are none
