"""Connect-k with gravity for the generic walk: a second opinion on the bit-sliced one.

A state is one word, as the classic programs have it (John Tromp's encoding):
the cells below the top of each column hold the colours, and one bit above the
top stone marks where the column ends.

    . .        column 0: X then O, marker       0b1 0 1 = marker, O = 0, X = 1
    O .        column 1: empty, marker          0b0 0 1
    X .        a column takes height + 1 bits
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.games.connect_bits import U0, U1, geometry, has_line, popcount
from retro.games.keyed import UNDECIDED, register
from retro.jit import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.connect import Board, Position


class Gravity(NamedTuple):
    """A board as kernels see it; also a `Geometry`, in its field names."""

    words: int
    width: int
    height: int
    connect: int
    shifts: NDArray[np.uint64]


def connect_rules(board: Board) -> Gravity:
    """The rules of a board."""
    return Gravity(1, *geometry(board))


def pack(position: Position) -> tuple[int, int]:
    """The state of a position.

    >>> from retro.games.connect import Board, Position
    >>> f"{pack(Position(Board(2, 2)).play(0).play(0))[0]:06b}"
    '001101'
    """
    board = position.board
    tops = sum(board.bit(c, 0) << position.height(c) for c in range(board.width))
    return tops | position.first, 0


def unpack(board: Board, a: int) -> tuple[int, int]:
    """The stones of both players; undoes `pack`."""
    first = second = 0
    for column in range(board.width):
        place = column * board.stride
        part = a >> place & (1 << board.stride) - 1
        marker = 1 << part.bit_length() - 1
        first |= (part ^ marker) << place
        second |= (marker - 1 & ~part) << place
    return first, second


@inner
def _split(rules, a):
    """(first, second, the markers above their stones) of a state."""
    first, second, markers = U0, U0, U0
    stride = np.uint64(rules.height + 1)
    mask = (U1 << stride) - U1
    for column in range(rules.width):
        place = np.uint64(column) * stride
        part = (a >> place) & mask
        marker = U1
        while marker << U1 <= part:
            marker <<= U1
        first |= (part ^ marker) << place
        second |= ((marker - U1) & ~part) << place
        markers |= marker << place
    return first, second, markers


@inner
def _start(rules):
    a = U0
    for column in range(rules.width):
        a |= U1 << np.uint64(column * (rules.height + 1))
    return a, U0


@inner
def _move_limit(rules):
    return rules.width


@inner
def _play(rules, a, b, move):
    first, second, markers = _split(rules, a)
    place = np.uint64(move * (rules.height + 1))
    marker = markers & (((U1 << np.uint64(rules.height + 1)) - U1) << place)
    if marker == U1 << (place + np.uint64(rules.height)):
        return False, a, b
    # The marker moves up; the bit it leaves is the new stone, set for the first player.
    after = a | marker << U1
    return True, after ^ marker if popcount(first | second) & 1 else after, b


@inner
def _outcome(rules, a, b):
    first, second, _ = _split(rules, a)
    ply = popcount(first | second)
    if has_line(rules, first if ply & 1 else second):
        return -1
    return 0 if ply == rules.width * rules.height else UNDECIDED


@inner
def _mirror(rules, a):
    mirrored = U0
    stride = rules.height + 1
    mask = (U1 << np.uint64(stride)) - U1
    for column in range(rules.width):
        part = (a >> np.uint64(column * stride)) & mask
        mirrored |= part << np.uint64((rules.width - 1 - column) * stride)
    return mirrored


@inner
def _canonical(rules, a, b):
    return min(a, _mirror(rules, a)), b


@inner
def _orbit(rules, a, b):
    return 1 if _mirror(rules, a) == a else 2


register(
    Gravity,
    start=_start,
    move_limit=_move_limit,
    play=_play,
    outcome=_outcome,
    canonical=_canonical,
    orbit=_orbit,
)
