"""Quarto's states, plainly: two words, one bit plane per attribute.

    a   four planes of 16 bits; bit `cell` of plane i is bit i of the piece there
    b   bits 0-15   the occupied cells
        bits 16-19  the piece in hand
        bit 20      whether there is one

          plane 3       plane 2       plane 1       plane 0
    a   15 ... 1 0    15 ... 1 0    15 ... 1 0    15 ... 1 0

The canonical state is the image with the least b, then the least a; `kernels` says why
so few of the images need to be tried. Here the pieces' images are not tried one by one either:
exchanging the values of an attribute makes the piece in hand 0 (without one: each plane
least), and exchanging attributes sorts the planes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from retro.games.quarto.rules import QuartoBoard, QuartoPosition

    Words = NDArray[np.uint64]

CELLS = 0xFFFF
HAND_PLACE, HAS_HAND = 16, 1 << 20


def pack(position: QuartoPosition) -> tuple[int, int]:
    """The two words of a position.

    >>> from retro.games.quarto.rules import QuartoBoard
    >>> from retro.games.quarto.text import read_moves
    >>> [hex(word) for word in pack(read_moves(QuartoBoard(4), "6 a1-d b1-3"))]
    ['0x2000300010002', '0x130003']
    """
    a = b = 0
    for cell, piece in enumerate(position.cells):
        if piece is not None:
            b |= 1 << cell
            a |= sum((piece >> i & 1) << (16 * i + cell) for i in range(position.board.attributes))
    if position.hand is not None:
        b |= position.hand << HAND_PLACE | HAS_HAND
    return a, b


def unpack(board: QuartoBoard, a: int, b: int) -> tuple[tuple[int | None, ...], int | None]:
    """What lies on each cell, and the piece in hand; undoes `pack`."""
    cells = tuple(
        sum((a >> (16 * i + cell) & 1) << i for i in range(board.attributes))
        if b >> cell & 1
        else None
        for cell in range(board.cells)
    )
    return cells, b >> HAND_PLACE & 15 if b & HAS_HAND else None


def canonical(board: QuartoBoard, a: int, b: int) -> tuple[int, int]:
    """The chosen state of the symmetry class."""
    has_hand, hand = b & HAS_HAND, b >> HAND_PLACE & 15
    planes = [a >> 16 * i & CELLS for i in range(board.attributes)]
    best = None
    for way in board.symmetries:
        occupied = _moved(way, b & CELLS)
        images = [_moved(way, plane) for plane in planes]
        if has_hand:
            images = [image ^ occupied * (hand >> i & 1) for i, image in enumerate(images)]
        else:
            images = [min(image, image ^ occupied) for image in images]
        images.sort(reverse=True)
        found = occupied, sum(image << 16 * i for i, image in enumerate(images))
        best = found if best is None else min(best, found)
    occupied, least = best or (0, 0)
    return least, occupied | has_hand


def _moved(way: Sequence[int], cells: int) -> int:
    return sum(1 << image for cell, image in enumerate(way) if cells >> cell & 1)


def plies_of(b: Words) -> NDArray[np.int64]:
    """How many actions were played: the first only gave, each other one placed a piece."""
    placed = np.bitwise_count(b & np.uint64(CELLS)).astype(np.int64)
    plies: NDArray[np.int64] = placed + ((placed > 0) | (b & np.uint64(HAS_HAND) != 0))
    return plies


def is_state(board: QuartoBoard, a: Words, b: Words) -> NDArray[np.bool_]:
    """Pieces on occupied cells of the board only, of the attributes there are."""
    full = np.uint64((1 << board.cells) - 1)
    hand = (b >> np.uint64(HAND_PLACE)) & np.uint64(15)
    found: NDArray[np.bool_] = (b >> np.uint64(21) == 0) & (b & np.uint64(CELLS) & ~full == 0)
    found &= (hand < board.pieces) & ((hand == 0) | (b & np.uint64(HAS_HAND) != 0))
    for i in range(4):
        plane = (a >> np.uint64(16 * i)) & np.uint64(CELLS)
        found &= plane & ~(b & full) == 0 if i < board.attributes else plane == 0
    return found
