"""Quarto for kernels: a state is two words, one bit plane per attribute.

    a   planes of 16 bits, b the occupied cells and the piece in hand: `key` draws them

Planes make the rules and the symmetries cheap. A full line wins when under its
cells some plane is all 0 or all 1. Exchanging attributes permutes the planes,
so the least of those images has its planes *sorted*; exchanging the values of
an attribute complements its plane on the occupied cells, so the least image has
nothing but 0 in hand. Of 384 images of the pieces none has to be tried, and of
the 32 of the board only those that make the occupied cells least: `ways` lists
them, for most positions one or two.

The canonical state is the image with the least b, then the least a.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, popcount
from retro.games.kernels import UNDECIDED, GameKernels, register
from retro.jit import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.quarto.rules import QuartoBoard

PLANE = np.uint64(16)
CELLS = np.uint64(0xFFFF)
BYTE, EIGHT = np.uint64(0xFF), np.uint64(8)
HAND = np.uint64(16)
PIECE = np.uint64(15)
HAS_HAND = np.uint64(1 << 20)
# One bit of each plane: the lowest, the highest. Multiplying by LOW copies cells to all planes.
LOW, HIGH = np.uint64(0x0001000100010001), np.uint64(0x8000800080008000)


class Quarto(NamedTuple):
    """A board as kernels see it."""

    words: int
    cells: int
    attributes: int
    lines_at: NDArray[np.uint64]  # [cell, i]: lines through the cell as sets of cells; 0: no more
    maps: NDArray[np.uint16]  # [symmetry, byte of a plane, its value]: where its cells go
    ways: NDArray[np.uint32]  # [occupied cells]: symmetries that make them least, one bit each


def quarto_rules(board: QuartoBoard) -> Quarto:
    """The rules of a board.

    >>> from retro.games.quarto.rules import QuartoBoard
    >>> rules = quarto_rules(QuartoBoard(4))
    >>> rules.lines_at.shape, rules.maps.shape, rules.ways.shape
    ((16, 4), (32, 2, 256), (65536,))
    """
    masks = [sum(1 << cell for cell in line) for line in board.lines]
    through = [[mask for mask in masks if mask >> cell & 1] for cell in range(board.cells)]
    lines_at = np.zeros((board.cells, 1 + max(map(len, through))), np.uint64)
    for cell, found in enumerate(through):
        lines_at[cell, : len(found)] = found
    maps = np.stack([_byte_tables(way) for way in board.symmetries])
    return Quarto(2, board.cells, board.attributes, lines_at, maps, _ways(board.cells, maps))


def _byte_tables(way: tuple[int, ...]) -> NDArray[np.uint16]:
    """[byte, value] -> where the set bits of that byte go under a permutation of cells."""
    tables = np.zeros((2, 256), np.uint16)
    values = np.arange(256)
    for cell, image in enumerate(way):
        tables[cell // 8, values >> cell % 8 & 1 == 1] |= np.uint16(1 << image)
    return tables


def _ways(cells: int, maps: NDArray[np.uint16]) -> NDArray[np.uint32]:
    occupied = np.arange(1 << cells)
    images = maps[:, 0, occupied & 255] | maps[:, 1, occupied >> 8]
    least = images == images.min(axis=0)
    bits = np.uint32(1) << np.arange(len(maps), dtype=np.uint32)
    return (least * bits[:, np.newaxis]).sum(axis=0, dtype=np.uint32)


@inner
def spread(piece):
    """The piece's bits, each at the lowest place of its plane."""
    return (
        (piece & U1)
        | (piece & np.uint64(2)) << np.uint64(15)
        | (piece & np.uint64(4)) << np.uint64(30)
        | (piece & np.uint64(8)) << np.uint64(45)
    )


@inner
def shares(a, line, attributes):
    """Whether under a full line some of the planes in use is all 0 or all 1."""
    spread_line = line * LOW
    ones = a & spread_line
    zeros = ones ^ spread_line
    # The classic test for a zero field; planes not in use are 0 and lie above, out of its reach.
    empty = ((ones - LOW) & ~ones) | ((zeros - LOW) & ~zeros)
    return empty & (HIGH >> (PLANE * np.uint64(4 - attributes))) != U0


@inner
def wins_at(rules, a, occupied, cell):
    """Whether the piece on the cell completes a line."""
    for i in range(rules.lines_at.shape[1]):
        line = rules.lines_at[cell, i]
        if line == U0:
            return False
        if line & occupied == line and shares(a, line, rules.attributes):
            return True
    return False


@inner
def in_stock(a, b, piece):
    """Whether the piece is neither on the board nor in hand."""
    if b & HAS_HAND and (b >> HAND) & PIECE == piece:
        return False
    occupied = b & CELLS
    differs = a ^ (spread(piece) * CELLS)
    differs = differs | differs >> np.uint64(32)
    return (differs | differs >> PLANE) & occupied == occupied


@inner
def _start(rules):
    return U0, U0


@inner
def _move_limit(rules):
    return (rules.cells + 1) * ((1 << rules.attributes) + 1)


@inner
def _play(rules, a, b, move):
    pieces = 1 << rules.attributes
    cell, piece = move // (pieces + 1) - 1, move % (pieces + 1) - 1
    over = False
    after, occupied = a, b & CELLS
    if b & HAS_HAND:
        if cell < 0 or (occupied >> np.uint64(cell)) & U1:
            return False, a, b
        after |= spread((b >> HAND) & PIECE) << np.uint64(cell)
        occupied |= U1 << np.uint64(cell)
        over = popcount(occupied) == min(rules.cells, pieces) or wins_at(
            rules, after, occupied, cell
        )
    elif cell >= 0:
        return False, a, b
    if over or piece < 0:
        return over and piece < 0, after, occupied
    given = np.uint64(piece)
    return in_stock(a, b, given), after, occupied | given << HAND | HAS_HAND


@inner
def _outcome(rules, a, b):
    """A piece in hand, or nothing on the board yet: the game goes on; `play` sees to that."""
    occupied = b & CELLS
    if b & HAS_HAND or occupied == U0:
        return UNDECIDED
    for cell in range(rules.cells):
        if wins_at(rules, a, occupied, cell):
            return -1
    return 0


@inner
def turned(maps, symmetry, plane):
    """Where a symmetry of the board takes a set of cells."""
    return np.uint64(maps[symmetry, 0, plane & BYTE]) | np.uint64(maps[symmetry, 1, plane >> EIGHT])


@inner
def _sorted(p, q, r, s):
    """Four planes as one word, the least on top; planes not in use are 0 and end there."""
    p, q = max(p, q), min(p, q)
    r, s = max(r, s), min(r, s)
    p, r = max(p, r), min(p, r)
    q, s = max(q, s), min(q, s)
    q, r = max(q, r), min(q, r)
    return p | q << PLANE | r << np.uint64(32) | s << np.uint64(48)


@inner
def _zero_in_hand(a, b):
    """The planes after exchanging values so that piece 0 is in hand, if there is one."""
    return a ^ (spread((b >> HAND) & PIECE) * (b & CELLS))


@inner
def _least(maps, a, b, symmetry):
    """The least planes among the images under one symmetry of the board and all of the pieces.

    `a` has been through `_zero_in_hand`.
    """
    p = turned(maps, symmetry, a & CELLS)
    q = turned(maps, symmetry, (a >> PLANE) & CELLS)
    r = turned(maps, symmetry, (a >> np.uint64(32)) & CELLS)
    s = turned(maps, symmetry, a >> np.uint64(48))
    if b & HAS_HAND:
        return _sorted(p, q, r, s)
    # No hand decides which value is called 0: take for each plane what makes it least.
    occupied = turned(maps, symmetry, b & CELLS)
    return _sorted(
        min(p, p ^ occupied), min(q, q ^ occupied), min(r, r ^ occupied), min(s, s ^ occupied)
    )


@inner
def _canonical(rules, a, b):
    maps = rules.maps
    ways = rules.ways[b & CELLS]
    a = _zero_in_hand(a, b)
    best = ~U0
    symmetry = 0
    occupied = b & CELLS
    while ways:
        if ways & np.uint32(1):
            image = _least(maps, a, b, symmetry)
            if image <= best:
                best = image
                occupied = turned(maps, symmetry, b & CELLS)
        ways >>= np.uint32(1)
        symmetry += 1
    return best, occupied | (b & HAS_HAND)


@inner
def _orbit(rules, a, b):
    """All symmetries, divided by those that leave the state as it is."""
    if b == U0:
        return 1
    maps = rules.maps
    a = _zero_in_hand(a, b)
    own = _least(maps, a, b, 0)
    fixed = 0
    for symmetry in range(maps.shape[0]):
        if turned(maps, symmetry, b & CELLS) == b & CELLS:
            fixed += _least(maps, a, b, symmetry) == own
    # Equal planes may change places; they stand side by side. Meanwhile count all orders.
    group, run = maps.shape[0], 1
    for i in range(rules.attributes):
        group *= 2 * (i + 1)
        shift = PLANE * np.uint64(i)
        equal = i > 0 and (own >> shift) & CELLS == (own >> (shift - PLANE)) & CELLS
        run = run + 1 if equal else 1
        fixed *= run
    return group // fixed


@inner
def _cells(rules):
    """Symmetries of pieces leave the occupied cells alone."""
    return U0, (U1 << np.uint64(rules.cells)) - U1


@inner
def _change(rules, a, b, move):
    cell = move // ((1 << rules.attributes) + 1) - 1
    return U0, U0 if cell < 0 else U1 << np.uint64(cell)


register(
    Quarto,
    GameKernels(
        start=_start,
        move_limit=_move_limit,
        play=_play,
        outcome=_outcome,
        canonical=_canonical,
        orbit=_orbit,
        cells=_cells,
        change=_change,
    ),
)
