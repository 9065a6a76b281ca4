"""Sorting the keys of a piece: family by family, then by share, each in the order of its keys.

    families   | 3        | 4     | 7           |      as the walk finds them, in each in no order
    arranged   | 3        | 4     | 7           |      in each by share, in each share by key
    shares     | 0  | 1   | 0 | 1 | 0    | 1    |

A radix sort by bytes, which leaves out the bytes that all keys of a family have in common;
few keys are sorted by insertion.
"""

from __future__ import annotations

import numpy as np

from retro.index.keys.groups import share_of
from retro.jit import entry, inner

U0, BYTE = np.uint64(0), np.uint64(255)
FEW = 40  # keys that are sorted by insertion


@entry
def arrange(shares, keys_a, keys_b, families, sizes):
    """Sort keys in the order of families by share and key, in place.

    `families` are their numbers; `sizes` gets the number of keys of every share, [family, share].
    """
    spare_a, spare_b = np.empty(FEW, np.uint64), np.empty(FEW if len(keys_b) > 0 else 0, np.uint64)
    begin = np.int64(0)
    for number in range(len(families)):
        count = families[number]
        if count > len(spare_a):
            spare_a = np.empty(2 * count, np.uint64)
            spare_b = np.empty(2 * count if len(keys_b) > 0 else 0, np.uint64)
        _sort(keys_a, keys_b, begin, count, spare_a, spare_b)
        if shares == 1:
            sizes[number, 0] = count
        elif count > 0:
            _by_share(shares, (keys_a, keys_b, begin, count), spare_a, spare_b, sizes[number])
        begin += count


@inner
def _sort(a, b, begin, count, spare_a, spare_b):
    """Sort some keys, in place."""
    two = len(b) > 0
    if count <= FEW:
        for i in range(begin + 1, begin + count):
            x, y = a[i], b[i] if two else U0
            j = i
            while j > begin and (a[j - 1] > x or (two and a[j - 1] == x and b[j - 1] > y)):
                a[j] = a[j - 1]
                if two:
                    b[j] = b[j - 1]
                j -= 1
            a[j] = x
            if two:
                b[j] = y
        return
    differ_a, differ_b = U0, U0
    for i in range(begin, begin + count):
        differ_a |= a[i] ^ a[begin]
        if two:
            differ_b |= b[i] ^ b[begin]
    ends = np.empty(257, np.int64)
    is_spare, zero = False, np.int64(0)
    for digit in range(0 if two else 8, 16):
        shift = np.uint64(8 * (digit % 8))
        differ = differ_b if digit < 8 else differ_a
        if (differ >> shift) & BYTE == U0:
            continue
        if is_spare:
            _scatter(digit < 8, shift, (spare_a, spare_b, zero), (a, b, begin), count, ends)
        else:
            _scatter(digit < 8, shift, (a, b, begin), (spare_a, spare_b, zero), count, ends)
        is_spare = not is_spare
    if is_spare:  # item by item: numba takes seconds to compile an assignment of slices
        for i in range(count):
            a[begin + i] = spare_a[i]
            if two:
                b[begin + i] = spare_b[i]


@inner
def _scatter(by_b, shift, source, target, count, ends):
    """One pass of a radix sort, by one byte."""
    a, b, begin = source
    to_a, to_b, to = target
    by = b if by_b else a
    for digit in range(257):
        ends[digit] = 0
    for i in range(begin, begin + count):
        ends[((by[i] >> shift) & BYTE) + np.uint64(1)] += 1
    ends[0] = to
    for digit in range(256):
        ends[digit + 1] += ends[digit]
    for i in range(begin, begin + count):
        digit = (by[i] >> shift) & BYTE
        to_a[ends[digit]] = a[i]
        if len(b) > 0:
            to_b[ends[digit]] = b[i]
        ends[digit] += 1


@inner
def _by_share(shares, keys, spare_a, spare_b, sizes):
    """Put sorted keys of a family into the order of their shares, in place; fills `sizes`."""
    a, b, begin, count = keys
    two = len(b) > 0
    ends = np.zeros(shares + 1, np.int64)
    for i in range(count):
        spare_a[i] = a[begin + i]
        if two:
            spare_b[i] = b[begin + i]
        ends[share_of(shares, spare_a[i], spare_b[i] if two else U0) + 1] += 1
    for share in range(shares):
        sizes[share] = ends[share + 1]
        ends[share + 1] += ends[share]
    for i in range(count):
        share = share_of(shares, spare_a[i], spare_b[i] if two else U0)
        a[begin + ends[share]] = spare_a[i]
        if two:
            b[begin + ends[share]] = spare_b[i]
        ends[share] += 1
