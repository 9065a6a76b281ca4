"""Symmetries of a board for kernels: permutations of bits, applied byte by byte with tables.

    way     [2, 1, 0]             bit 0 goes to bit 2, bit 1 stays, bit 2 goes to bit 0
    maps    [symmetry, 256 * byte + value]    where the set bits of that byte go

`turn_tables` makes the tables from permutations, `turned` applies one of them
to a word, `least` chooses the canonical one of all images of a word, `images`
counts the different ones. The first symmetry is the identity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retro.jit import inner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BYTE, EIGHT, ONE_TABLE = np.uint64(255), np.uint64(8), np.uint64(256)


def turn_tables(ways: Sequence[Sequence[int]]) -> NDArray[np.uint64]:
    """The tables of some permutations of the same bits.

    >>> turn_tables([[0, 1, 2], [2, 1, 0]])[1, 0b011]
    np.uint64(6)
    """
    values = np.arange(256)
    tables = np.zeros((len(ways), (len(ways[0]) + 7) // 8, 256), np.uint64)
    for table, way in zip(tables, ways, strict=True):
        for bit, goes_to in enumerate(way):
            table[bit // 8, values >> bit % 8 & 1 == 1] |= np.uint64(1 << goes_to)
    return tables.reshape(len(ways), -1)


@inner
def turned(maps, symmetry, word):
    """A word after one of the symmetries."""
    table = maps[symmetry]
    image = place = np.uint64(0)
    while word:
        image |= table[place + (word & BYTE)]
        word >>= EIGHT
        place += ONE_TABLE
    return image


@inner
def least(maps, word):
    """The least of all images of a word."""
    found = word
    for symmetry in range(1, maps.shape[0]):
        image = turned(maps, symmetry, word)
        if image < found:
            found = image
    return found


@inner
def images(maps, word):
    """How many different images a word has: the symmetries, divided by those that keep it."""
    kept = 0
    for symmetry in range(maps.shape[0]):
        if turned(maps, symmetry, word) == word:
            kept += 1
    return maps.shape[0] // kept
