"""The transposition table of `keyed_engine`: keys in full, two entries to a bucket.

An entry is the canonical state, one or two words, and one word of data; so a
match is the same position and there are no false hits.

    bucket   | key a | (key b) | data |   | key a | (key b) | data |
              the costliest of its age      whatever came last

    data     | nodes spent : 37 bits | age : 8 | high + WON : 9 | low + WON : 9 | used : 1 |

`low <= score <= high` is what is proved, for the side to move. A score is a value
and a distance, larger for the better: a draw is 0, a win that ends the game in n plies
WON - n, a loss n - WON. Who asks for values alone looks at the sign: low 1 is a win,
however late, high -1 a loss.

    -WON      -129  ...   -1     0     1   ...   129      WON
    lost      lost next   late  draw   late   won next    won
    already    ply        loss         win     ply        already

Age is the number of the question (mod 256): entries of earlier questions still answer,
but make room first. An entry of the same position is narrowed, not overwritten.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retro.bits import U0, U1
from retro.jit import inner

WON = 130  # more than the plies of any game: a move adds at least one bit to two words
LOW_SHIFT, HIGH_SHIFT, AGE_SHIFT, NODES_SHIFT = (np.uint64(n) for n in (1, 10, 19, 27))
NINE_BITS, EIGHT_BITS = np.uint64(511), np.uint64(255)
ODD_A, ODD_B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
FOLD = np.uint64(32)


class Table(NamedTuple):
    """The memory of one search; `cells` is modified in place."""

    cells: np.ndarray  # uint64[buckets * 2 * (words + 1)]
    words: int  # of a key
    mask: np.uint64  # buckets - 1, a power of two less one


def make_table(words: int, size_bytes: int) -> Table:
    """A table of at most `size_bytes`, but at least one bucket."""
    bucket_bytes = 2 * (words + 1) * 8
    buckets = 1 << max(0, (size_bytes // bucket_bytes).bit_length() - 1)
    return Table(np.zeros(buckets * 2 * (words + 1), np.uint64), words, np.uint64(buckets - 1))


@inner
def bucket_of(table, a, b):
    """Index of the first word of the bucket of a key."""
    x = a * ODD_A ^ b * ODD_B
    x = (x ^ x >> FOLD) * ODD_A
    x ^= x >> FOLD
    return np.int64(x & table.mask) * (2 * (table.words + 1))


@inner
def _is(table, at, a, b):
    """Whether the entry at `at` is that of a key."""
    used = table.cells[at + table.words] != U0
    return used and table.cells[at] == a and (table.words == 1 or table.cells[at + 1] == b)


@inner
def fetch(table, at, a, b):
    """(low, high) of a key whose bucket begins at `at`; (-WON, WON) when nothing is known."""
    if not _is(table, at, a, b):
        at += table.words + 1
        if not _is(table, at, a, b):
            return -WON, WON
    data = table.cells[at + table.words]
    low, high = data >> LOW_SHIFT & NINE_BITS, data >> HIGH_SHIFT & NINE_BITS
    return np.int64(low) - WON, np.int64(high) - WON


@inner
def _put(table, at, a, b, low, high, age, nodes):
    table.cells[at] = a
    if table.words == 2:
        table.cells[at + 1] = b
    table.cells[at + table.words] = (
        U1
        | np.uint64(low + WON) << LOW_SHIFT
        | np.uint64(high + WON) << HIGH_SHIFT
        | age << AGE_SHIFT
        | np.uint64(nodes) << NODES_SHIFT
    )


@inner
def store(table, at, a, b, low, high, age, nodes):
    """Keep a proved interval of a key whose bucket begins at `at` (modified in place)."""
    known_low, known_high = fetch(table, at, a, b)
    low, high = max(low, known_low), min(high, known_high)
    data = table.cells[at + table.words]
    spent = np.int64(data >> NODES_SHIFT)
    if _is(table, at, a, b):
        _put(table, at, a, b, low, high, age, max(nodes, spent))
        return
    second = at + table.words + 1
    if data >> AGE_SHIFT & EIGHT_BITS != age or nodes >= spent:
        for i in range(table.words + 1):
            table.cells[second + i] = table.cells[at + i]
        second = at
    _put(table, second, a, b, low, high, age, nodes)
