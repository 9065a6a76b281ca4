"""The transposition table: one 64-bit word per position, exact keys, no clearing.

A position's code (B = W * (H + 1) bits) is scrambled by a *bijection* of B-bit
numbers.  The low n bits choose a bucket of two neighbouring words; the other
B - n bits are stored in full as the tag.  Bucket and tag together give the code
back, so a match is the same position: there are no false hits.  A word, high bit
first:

    | tag: B - n bits, <= 44 | lower + 32 : 6 | upper + 32 : 6 | work : 5 | age : 3 |

`lower <= score <= upper` is what is proved about the position, for its side to
move.  A used word is never 0 because lower + 32 >= 1.  `work` is the base-2
logarithm of the nodes spent, `age` the number of the solve (mod 8): the first
word of a bucket is kept for the costliest entry of the present age, the second
takes whatever comes.  Words are read and written whole, so threads may share a
table without locks: the worst that a race can do is to lose an entry.

A table begins small, in the processor's cache, and *grows* as the search does: a node of a table
that fills a gigabyte waits for memory, and takes twice the time.  To grow is to take one bit
more of the scrambled code, the lowest of the tag, into the number of the bucket:

    bucket    tag                    bucket    tag
     0101     110011 | 1      ->     1 0101    110011          the word moves half a table up
     0110     001010 | 0      ->     0 0110    001010          or stays
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retro.jit import entry, inlined, inner
from retro.search.connect4.bits import U0, U1, Board

FIRST_BYTES = 1 << 21
MIRROR_PLIES = 16  # later, a mirror image hardly ever comes up in the same search
DATA_BITS = 20
MAX_BUCKET_BITS = 58  # 2 ** 62 bytes: no memory is larger, and sizes stay within 64 bits
MAX_TAG_BITS = 64 - DATA_BITS
SIX = np.uint64(63)
WORK_SHIFT = np.uint64(3)
UPPER_SHIFT = np.uint64(8)
LOWER_SHIFT = np.uint64(14)
TAG_SHIFT = np.uint64(DATA_BITS)
AGES = np.uint64(7)
WORKS = np.uint64(31)
ODD_A = np.uint64(0x9E3779B97F4A7C15)
ODD_B = np.uint64(0xD6E8FEB86659FD93)


class Hashing(NamedTuple):
    """How codes of one board are scrambled and split for a table of one size."""

    code_mask: np.uint64  # B ones
    fold: np.uint64  # ceil(B / 2)
    bucket_mask: np.uint64  # n ones
    bucket_bits: np.uint64  # n


def make_hashing(board: Board, bucket_bits: int) -> Hashing:
    """How codes are split for a table of 2 ** `bucket_bits` buckets."""
    code_bits = int(board.width * board.step)
    return Hashing(
        np.uint64((1 << code_bits) - 1),
        np.uint64((code_bits + 1) // 2),
        np.uint64((1 << bucket_bits) - 1),
        np.uint64(bucket_bits),
    )


def make_table(board: Board, size_bytes: int) -> tuple[np.ndarray, int]:
    """Allocate a table of at most `size_bytes` (a power of two of 16-byte buckets).

    Returns it and the bucket bits it begins with: memory that is not used yet is not taken.

    Raises
    ------
    ValueError
        If the tags would not fit: a board of B bits needs 2 ** (B - 44) buckets,
        which is 16 MB for B = 64 and nothing worth mentioning for 7x6 (B = 49).
    MemoryError
        If there is not so much memory.
    """
    code_bits = int(board.width * board.step)
    bucket_bits = max(0, size_bytes // 16).bit_length() - 1
    if bucket_bits < max(1, code_bits - MAX_TAG_BITS):
        need = 16 << max(1, code_bits - MAX_TAG_BITS)
        raise ValueError(f"table of {size_bytes} bytes is too small: need {need}")
    if bucket_bits > MAX_BUCKET_BITS:
        raise MemoryError(f"table of {size_bytes} bytes")
    first_bits = max(FIRST_BYTES.bit_length() - 5, code_bits - MAX_TAG_BITS)
    return np.zeros(2 << bucket_bits, np.uint64), min(first_bits, bucket_bits)


@inner
def mirrored(board, cells):
    """Left-right mirror image of a board or of a code."""
    image = U0
    column = (board.column << U1) | U1
    for _ in range(board.width):
        image = (image << board.step) | (cells & column)
        cells >>= board.step
    return image


@inlined
def code_of(board, mover, mask, plies):
    """Return the code of a position or, early in the game, the lesser of it and its mirror's.

    In each column `mover + mask` is the mover's stones plus a full run up to the top
    stone: it cannot carry into the next column, and mask is its highest bits.
    """
    code = mover + mask
    if plies < MIRROR_PLIES:
        return min(code, mirrored(board, code))
    return code


@inlined
def scramble(hashing, code):
    """Map codes one to one onto B-bit numbers; every step can be undone."""
    x = (code * ODD_A) & hashing.code_mask
    x ^= x >> hashing.fold
    x = (x * ODD_B) & hashing.code_mask
    return x ^ (x >> hashing.fold)


@inlined
def slot(hashing, x):
    """Index of the first word of the bucket of a scrambled code."""
    return (x & hashing.bucket_mask) << U1


@inlined
def fetch(table, hashing, x):
    """Return the data of the entry of scrambled code `x`, or 0."""
    i = slot(hashing, x)
    tag = x >> hashing.bucket_bits
    entry = table[i]
    if entry >> TAG_SHIFT == tag and entry != U0:
        return entry
    entry = table[i + U1]
    if entry >> TAG_SHIFT == tag:
        return entry
    return U0


@inlined
def lower_of(entry):
    """Return the proved lower bound in an entry."""
    return np.int64((entry >> LOWER_SHIFT) & SIX) - 32


@inlined
def upper_of(entry):
    """Return the proved upper bound in an entry."""
    return np.int64((entry >> UPPER_SHIFT) & SIX) - 32


@entry
def store(table, hashing, x, lower, upper, nodes, age):
    """Put a proved interval of scores into the table (modified in place).

    An entry of the same position is narrowed, not overwritten.
    """
    i = slot(hashing, x)
    tag = x >> hashing.bucket_bits
    work = U0
    while nodes > 1 and work < WORKS:
        nodes >>= 1
        work += U1
    first = table[i]
    second = table[i + U1]
    target = i + U1
    if first >> TAG_SHIFT == tag and first != U0:
        target = i
        lower = max(lower, lower_of(first))
        upper = min(upper, upper_of(first))
        work = max(work, (first >> WORK_SHIFT) & WORKS)
    elif second >> TAG_SHIFT == tag and second != U0:
        lower = max(lower, lower_of(second))
        upper = min(upper, upper_of(second))
        work = max(work, (second >> WORK_SHIFT) & WORKS)
    elif (first & AGES) != age or work >= (first >> WORK_SHIFT) & WORKS:
        table[i + U1] = first
        target = i
    table[target] = (
        (tag << TAG_SHIFT)
        | (np.uint64(lower + 32) << LOWER_SHIFT)
        | (np.uint64(upper + 32) << UPPER_SHIFT)
        | (work << WORK_SHIFT)
        | age
    )


@entry
def grow(table, hashing):
    """Split every bucket in two, one bit more of the code tells which (modified in place).

    Nobody else may search meanwhile.  The table must have room for as much again.
    """
    words = (hashing.bucket_mask + U1) << U1
    for i in range(words):
        entry = table[i]
        data = entry & ((U1 << TAG_SHIFT) - U1)
        tag = entry >> TAG_SHIFT
        entry = ((tag >> U1) << TAG_SHIFT) | data
        goes_up = tag & U1 == U1
        table[i] = U0 if goes_up else entry
        table[i + words] = entry if goes_up else U0
