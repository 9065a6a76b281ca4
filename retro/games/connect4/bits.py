"""Connect-k with gravity as jitted functions on 64-bit words: the fast twin of `connect`.

A position is two words, the stones of the first and of the second player,
one bit per cell and a guard bit above each column (picture in `connect`).
What a kernel must know of a board travels in one `Geometry`.

Directions in which a line can lie are shifts of the word; only those that fit
on the board are listed, so every shift is below 64 and no line can wrap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, popcount
from retro.jit import entry, inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.connect4.rules import Connect4Board


class Geometry(NamedTuple):
    """A board as kernels see it."""

    width: int
    height: int
    connect: int
    shifts: NDArray[np.uint64]


def geometry(board: Connect4Board) -> Geometry:
    """The geometry of a board, or of some columns of one seen as a board of its own."""
    across = board.connect <= board.width
    upward = board.connect <= board.height
    shifts = [1] * upward + [board.stride] * across
    if across and upward:
        shifts += [board.stride - 1, board.stride + 1]
    return Geometry(board.width, board.height, board.connect, np.array(shifts, np.uint64))


@inner
def has_line(geometry, stones):
    """Whether the stones of one player contain a line."""
    for shift in geometry.shifts:
        run = stones
        for _ in range(geometry.connect - 1):
            run = stones & (run >> shift)
        if run != U0:
            return True
    return False


@inner
def gravity_holds(geometry, stones):
    """Whether every stone is on the board and none floats."""
    found = U0
    for column in range(geometry.width):
        bits = column_part(geometry, stones, column)
        if bits & (bits + U1):
            return False
        found |= bits << np.uint64(column * (geometry.height + 1))
    return found == stones


@entry
def is_reachable(geometry, root, first, second):
    """Whether some order of moves leads to this position; the jitted twin of `find_moves`.

    `root` are the cells occupied at the start, 0 for the empty board; they hold
    the same stones. Takes stones off the tops, last mover first. The colours
    are given, so a state is just the column heights; each is tried once. Takes
    for granted that the position passes `Position.check`. Memory: 17 bytes per profile.
    """
    width, height_limit = geometry.width, geometry.height
    radix = np.ones(width + 1, np.int64)
    base = np.zeros(width, np.int64)
    for column in range(width):
        base[column] = popcount(column_part(geometry, root, column))
        radix[column + 1] = radix[column] * (height_limit + 1 - base[column])
    tried = np.zeros(radix[width], np.uint8)
    first_stack = np.empty(radix[width] + 1, np.uint64)
    second_stack = np.empty(radix[width] + 1, np.uint64)
    first_stack[0], second_stack[0] = first, second
    depth = 1
    while depth > 0:
        depth -= 1
        first, second = first_stack[depth], second_stack[depth]
        ply = popcount(first | second)
        if first | second == root:
            return True
        last_mover = first if ply & 1 else second
        profile = np.int64(0)
        for column in range(width):
            bits = column_part(geometry, first | second, column)
            profile += (popcount(bits) - base[column]) * radix[column]
        for column in range(width):
            height = popcount(column_part(geometry, first | second, column))
            if height == base[column]:
                continue
            top = U1 << np.uint64(column * (height_limit + 1) + height - 1)
            before = profile - radix[column]
            if last_mover & top and not tried[before] and not has_line(geometry, last_mover & ~top):
                tried[before] = 1
                first_stack[depth], second_stack[depth] = first & ~top, second & ~top
                depth += 1
    return False


@inner
def column_part(geometry, stones, column):
    """The bits of one column, moved to the low end."""
    return (stones >> np.uint64(column * (geometry.height + 1))) & (
        (U1 << np.uint64(geometry.height)) - U1
    )
