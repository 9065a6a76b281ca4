"""Connect-k with gravity for kernels of any game: the jitted twin of `rules`.

A state is the stones of both players, `a` the first player's, `b` the second's, bits as
`rules` draws them. A move is a column; adding the column's lowest bit to all
stones carries through them to the first empty cell:

    column 0 of 3 cells     0 0 1 1      two stones
    plus its lowest bit     0 1 0 0      the cell that takes the next one
    of a full column        1 0 0 0      the guard: no cell
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, popcount
from retro.games.connect4.bits import geometry, has_line
from retro.games.kernels import UNDECIDED, GameKernels, register
from retro.jit import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.connect4.rules import Connect4Board


class Gravity(NamedTuple):
    """A board as kernels see it; also a `Geometry`, in its field names."""

    words: int
    width: int
    height: int
    connect: int
    shifts: NDArray[np.uint64]


def connect_rules(board: Connect4Board) -> Gravity:
    """The rules of a board."""
    return Gravity(2, *geometry(board))


@inner
def _start(rules):
    return U0, U0


@inner
def _move_limit(rules):
    return rules.width


@inner
def _play(rules, a, b, move):
    place = np.uint64(move * (rules.height + 1))
    cells = ((U1 << np.uint64(rules.height)) - U1) << place
    stones = a | b
    cell = ((stones & cells) + (U1 << place)) & cells
    if cell == U0:
        return False, a, b
    if popcount(stones) & 1:
        return True, a, b | cell
    return True, a | cell, b


@inner
def _outcome(rules, a, b):
    ply = popcount(a | b)
    if has_line(rules, a if ply & 1 else b):
        return -1
    return 0 if ply == rules.width * rules.height else UNDECIDED


@inner
def _mirror(rules, stones):
    mirrored = U0
    stride = rules.height + 1
    mask = (U1 << np.uint64(stride)) - U1
    for column in range(rules.width):
        part = (stones >> np.uint64(column * stride)) & mask
        mirrored |= part << np.uint64((rules.width - 1 - column) * stride)
    return mirrored


@inner
def _canonical(rules, a, b):
    mirrored_a = _mirror(rules, a)
    mirrored_b = _mirror(rules, b)
    if mirrored_a < a or (mirrored_a == a and mirrored_b < b):
        return mirrored_a, mirrored_b
    return a, b


@inner
def _orbit(rules, a, b):
    return 1 if _mirror(rules, a) == a and _mirror(rules, b) == b else 2


register(
    Gravity,
    GameKernels(
        start=_start,
        move_limit=_move_limit,
        play=_play,
        outcome=_outcome,
        canonical=_canonical,
        orbit=_orbit,
    ),
)
