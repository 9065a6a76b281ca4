"""The generic walk's kernels: a stretch of keys, one state at a time, any game.

A layer is its live keys (`sorting.Keys`), sorted. Successors are found in the
next layer by binary search within a bucket of equal top bits:

    starts   0      5      5      9  ...      keys with a >> shift == 1 are 5 .. 5 - 1: none,
    a        0..    1..    2..                those with 2 are 5 .. 9 - 1

A kernel that finds the rules inconsistent (an undecided state without a move,
a successor that is not in the next layer) returns the place of the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.games.kernels import UNDECIDED, canonical, move_limit, orbit, outcome, play
from retro.index.keys.sorting import empty_keys
from retro.jit import entry, inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.index.keys.keys import Keys

SOUND = -1
U0 = np.uint64(0)
NOTHING = -2  # below every value
# Successors seen lately, by hash: most repeats are near, and need not be sorted.
RECENT_BITS = 14
HASH = np.uint64(0x9E3779B97F4A7C15)
KEYS_PER_BUCKET = 8


class Solved(NamedTuple):
    """A layer whose values are known, ready to be looked up."""

    a: NDArray[np.uint64]
    b: NDArray[np.uint64]
    starts: NDArray[np.int64]
    shift: np.uint64
    values: NDArray[np.int8]


def solved(keys: Keys, values: NDArray[np.int8]) -> Solved:
    """Make a layer ready to be looked up."""
    bits = int(keys.a[-1]).bit_length() if keys.size else 0
    # At least one bit: a word cannot be shifted by 64.
    bucket_bits = min(bits, max(1, (keys.size // KEYS_PER_BUCKET).bit_length()))
    shift = bits - bucket_bits
    tops = np.arange(1 << bucket_bits, dtype=np.uint64) << np.uint64(shift)
    starts = np.append(np.searchsorted(keys.a, tops), keys.size).astype(np.int64)
    return Solved(keys.a, keys.b, starts, np.uint64(shift), values)


def nothing(words: int) -> Solved:
    """A layer without a position."""
    return solved(empty_keys(0, words), np.empty(0, np.int8))


@inner
def find(keys_a, keys_b, starts, shift, a, b):
    """The place of a key in a sorted layer, or -1."""
    if a >> shift >= np.uint64(len(starts) - 1):
        return -1
    bucket = np.int64(a >> shift)
    low, high = starts[bucket], starts[bucket + 1]
    while low < high:
        middle = (low + high) >> 1
        here = keys_a[middle]
        if here < a or (here == a and len(keys_b) > 0 and keys_b[middle] < b):
            low = middle + 1
        else:
            high = middle
    if low < len(keys_a) and keys_a[low] == a and (len(keys_b) == 0 or keys_b[low] == b):
        return low
    return -1


@entry
def look_up(rules, layer, a, b, values):
    """Fill in the values of states, canonical or not; returns the place of one that is missing."""
    keys_a, keys_b, starts, keys_values = layer.a, layer.b, layer.starts, layer.values
    for i in range(len(a)):
        value = outcome(rules, a[i], b[i])
        if value == UNDECIDED:
            key_a, key_b = canonical(rules, a[i], b[i])
            place = find(keys_a, keys_b, starts, layer.shift, key_a, key_b)
            if place < 0:
                return i
            value = np.int64(keys_values[place])
        values[i] = value
    return SOUND


@entry
def expand(rules, keys_a, keys_b, out_a, out_b):
    """Write the canonical successors of live states, some more than once; returns how many.

    `out_a` has room for move_limit successors of every state.
    """
    recent = np.full(1 << RECENT_BITS, -1, np.int64)
    limit = move_limit(rules)
    count = 0
    for i in range(len(keys_a)):
        b = keys_b[i] if len(keys_b) > 0 else U0
        for move in range(limit):
            legal, next_a, next_b = play(rules, keys_a[i], b, move)
            if legal:
                next_a, next_b = canonical(rules, next_a, next_b)
                slot = ((next_a ^ (next_b * HASH)) * HASH) >> np.uint64(64 - RECENT_BITS)
                seen = recent[slot]
                if seen < 0 or out_a[seen] != next_a or (len(out_b) > 0 and out_b[seen] != next_b):
                    recent[slot] = count
                    out_a[count] = next_a
                    if len(out_b) > 0:
                        out_b[count] = next_b
                    count += 1
    return count


@entry
def set_aside_ended(rules, keys_a, keys_b, counts):
    """Move the undecided states to the front, in place; count the others. Returns how many.

    Adds to counts[0] the ended states, to counts[1] their symmetry classes'
    sizes, by value: loss, draw, win.
    """
    kept = 0
    for i in range(len(keys_a)):
        a, b = keys_a[i], keys_b[i] if len(keys_b) > 0 else U0
        value = outcome(rules, a, b)
        if value == UNDECIDED:
            keys_a[kept] = a
            if len(keys_b) > 0:
                keys_b[kept] = b
            kept += 1
        else:
            counts[0, value + 1] += 1
            counts[1, value + 1] += orbit(rules, a, b)
    return kept


@entry
def evaluate(rules, keys_a, keys_b, after, values):
    """Fill in the values of live states from the solved layer after theirs."""
    after_a, after_b, starts, after_values = after.a, after.b, after.starts, after.values
    shift = after.shift
    limit = move_limit(rules)
    for i in range(len(keys_a)):
        b = keys_b[i] if len(keys_b) > 0 else U0
        best = NOTHING
        for move in range(limit):
            legal, next_a, next_b = play(rules, keys_a[i], b, move)
            if legal:
                value = outcome(rules, next_a, next_b)
                if value == UNDECIDED:
                    next_a, next_b = canonical(rules, next_a, next_b)
                    place = find(after_a, after_b, starts, shift, next_a, next_b)
                    if place < 0:
                        return i
                    value = np.int64(after_values[place])
                best = max(best, -value)
                if best == 1:
                    break
        if best == NOTHING:
            return i
        values[i] = best
    return SOUND


@entry
def count_values(rules, keys_a, keys_b, values, counts):
    """Add to counts[0] the live states, to counts[1] their symmetry classes' sizes, by value."""
    for i in range(len(keys_a)):
        b = keys_b[i] if len(keys_b) > 0 else U0
        counts[0, values[i] + 1] += 1
        counts[1, values[i] + 1] += orbit(rules, keys_a[i], b)
