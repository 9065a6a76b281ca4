"""Notakto for kernels: a state is one word, one bit per cell, as `rules` draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.games.kernels import UNDECIDED, GameKernels, register
from retro.games.symmetry import images, least, turn_tables, turned
from retro.jit import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.notakto.rules import NotaktoBoard


class Notakto(NamedTuple):
    """A board as kernels see it."""

    words: int
    cells: int
    lines: NDArray[np.uint64]
    maps: NDArray[np.uint64]


def notakto_rules(board: NotaktoBoard) -> Notakto:
    """The rules of a board."""
    lines = np.array(board.lines, np.uint64)
    return Notakto(1, board.cells, lines, turn_tables(board.symmetries))


@inner
def _start(rules):
    return np.uint64(0), np.uint64(0)


@inner
def _move_limit(rules):
    return rules.cells


@inner
def _play(rules, a, b, move):
    bit = np.uint64(1) << np.uint64(move)
    return a & bit == np.uint64(0), a | bit, b


@inner
def _outcome(rules, a, b):
    for line in rules.lines:
        if a & line == line:
            return 1
    full = ~np.uint64(0) >> np.uint64(64 - rules.cells)
    return 0 if a == full else UNDECIDED


@inner
def _canonical(rules, a, b):
    return least(rules.maps, a), b


@inner
def _orbit(rules, a, b):
    return images(rules.maps, a)


@inner
def _cells(rules):
    return ~np.uint64(0) >> np.uint64(64 - rules.cells), np.uint64(0)


@inner
def _change(rules, a, b, move):
    return np.uint64(1) << np.uint64(move), np.uint64(0)


@inner
def _symmetries(rules):
    return rules.maps.shape[0]


@inner
def _images_of(rules, a, b, found_a, found_b):
    for symmetry in range(rules.maps.shape[0]):
        found_a[symmetry], found_b[symmetry] = turned(rules.maps, symmetry, a), b


@inner
def _open_moves(rules, a, b):
    return ~a & (~np.uint64(0) >> np.uint64(64 - rules.cells))


register(
    Notakto,
    GameKernels(
        start=_start,
        move_limit=_move_limit,
        play=_play,
        outcome=_outcome,
        canonical=_canonical,
        orbit=_orbit,
        cells=_cells,
        change=_change,
        symmetries=_symmetries,
        images=_images_of,
        open_moves=_open_moves,
    ),
)
