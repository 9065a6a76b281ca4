"""The transposition table of `engine`: keys in full, two entries to a bucket.

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

A table begins small, in the processor's cache, and grows as the search does: a few hundred nodes
scattered over a gigabyte take a second, until the system has cleared all those pages. To grow is to
look at one bit more of a key's hash: each entry stays, or moves up by the old size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retro.bits import U0, U1
from retro.jit import entry, inner

WON = 130  # more than the plies of any game: a move adds at least one bit to two words
LOW_SHIFT, HIGH_SHIFT, AGE_SHIFT, NODES_SHIFT = (np.uint64(n) for n in (1, 10, 19, 27))
NINE_BITS, EIGHT_BITS = np.uint64(511), np.uint64(255)
ODD_A, ODD_B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
FOLD = np.uint64(32)
HASH_BITS = np.uint64((1 << 62) - 1)
FIRST_BYTES = 1 << 21


class Table(NamedTuple):
    """The memory of one search; `cells` is modified in place."""

    cells: np.ndarray  # uint64[most buckets * 2 * (words + 1)]
    words: int  # of a key
    mask: np.uint64  # buckets in use - 1, a power of two less one

    @property
    def buckets(self) -> int:
        """Those in use."""
        return int(self.mask) + 1

    @property
    def is_whole(self) -> bool:
        """Whether all memory is in use."""
        return self.buckets * 2 * (self.words + 1) == len(self.cells)


def make_table(words: int, size_bytes: int) -> Table:
    """A table that may grow up to `size_bytes`, of at least one bucket.

    Memory that is not used yet is not taken.
    """
    bucket_bytes = 2 * (words + 1) * 8

    def buckets_of(nbytes: int) -> int:
        return 1 << max(0, (nbytes // bucket_bytes).bit_length() - 1)

    most = buckets_of(size_bytes)
    first = min(most, buckets_of(FIRST_BYTES))
    return Table(np.zeros(most * 2 * (words + 1), np.uint64), words, np.uint64(first - 1))


def larger(table: Table) -> Table:
    """The same table with twice as many buckets in use; the old one must not be used any more."""
    found = table._replace(mask=table.mask << U1 | U1)
    _spread(found)
    return found


@entry
def _spread(table):
    """Move the entries of the lower half whose hash says so to the upper half, in place."""
    entry_words = table.words + 1
    half = np.int64(table.mask >> U1) + 1
    for number in range(2 * half):  # of an entry: two to a bucket
        at = number * entry_words
        if table.cells[at + table.words] != U0:
            b = table.cells[at + 1] if table.words == 2 else U0
            place = _place(table, hash_of(table.cells[at], b))
            if place >= 2 * half * entry_words:
                for i in range(entry_words):
                    table.cells[at + 2 * half * entry_words + i] = table.cells[at + i]
                    table.cells[at + i] = U0


@inner
def hash_of(a, b):
    """What tells the bucket of a key, whatever the size of the table; never negative."""
    x = a * ODD_A ^ b * ODD_B
    x = (x ^ x >> FOLD) * ODD_A
    x ^= x >> FOLD
    return np.int64(x & HASH_BITS)


@inner
def _place(table, code):
    """Index of the first word of the bucket of a hash."""
    return np.int64(np.uint64(code) & table.mask) * (2 * (table.words + 1))


@inner
def _is(table, at, a, b):
    """Whether the entry at `at` is that of a key."""
    used = table.cells[at + table.words] != U0
    return used and table.cells[at] == a and (table.words == 1 or table.cells[at + 1] == b)


@inner
def fetch(table, code, a, b):
    """(low, high) of a key with the hash `code`; (-WON, WON) when nothing is known."""
    at = _place(table, code)
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
def store(table, code, a, b, low, high, age, nodes):
    """Keep a proved interval of a key with the hash `code` (modified in place)."""
    at = _place(table, code)
    known_low, known_high = fetch(table, code, a, b)
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
