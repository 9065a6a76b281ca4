"""A tile: 64 words of 64 bits, and its transposition, which swaps words and bits.

    word 0   a b c ...        a p x ...
    word 1   p q r ...   ->   b q y ...
    word 2   x y z ...        c r z ...

Six rounds, one for each binary digit of a word's number: a round swaps the
highest digit with one of the bits' numbers, from their highest to their lowest,
and makes it the lowest. After six rounds all digits are in their places, and
every round has the same form, which suits vector units (Warren, Hacker's
Delight, 2nd ed., section 7-3, has the same rounds in place).
"""

import numpy as np

from retro.bits import U1
from retro.jit import inner

HALF = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)


@inner
def transpose(tile, turn):
    """Transpose a tile in place; `turn` is a second one to work with."""
    shift, mask = HALF, LOW_HALF
    for _ in range(3):
        _round(tile, turn, shift, mask)
        shift >>= U1
        mask ^= mask << shift
        _round(turn, tile, shift, mask)
        shift >>= U1
        mask ^= mask << shift


@inner
def _round(words, turned, shift, mask):
    """Words i and i + 32 become 2i and 2i + 1."""
    for i in range(32):
        low, high = words[i], words[i + 32]
        turned[2 * i] = (low & mask) | ((high & mask) << shift)
        turned[2 * i + 1] = ((low >> shift) & mask) | (high & ~mask)
