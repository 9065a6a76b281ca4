"""A game as programs see it: moves are numbers, positions are arrays of 0 and 1.

Both read the board as people do, row after row from the top, left to right, so where a move
fills a cell its action is the cell's place in a plane:

    planes[i, 0]  0 0 0     actions  0 1 2        after b2 a1 of `mnk 3x3`; X moves
                  0 1 0              3 4 5
                  0 0 0              6 7 8

Each game keeps its `Arrays` in its folder (games on grids of stones share `grid_arrays`) and
names them in its `Game`; boards and positions ask there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from retro.errors import BadTextError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from retro.games.game import States

    Cells = NDArray[np.uint8]
    Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Arrays:
    """How a game numbers its moves, and what its planes are."""

    rule: str  # how moves are numbered, in a line or two
    count: Callable[[Any], int]  # of a board
    action: Callable[[Any, int], int]  # of a position, from the number of a move
    number: Callable[[Any, int], int | None]  # back; None: nobody moves so here
    kernel_numbers: Callable[[Any], Sequence[int]]  # of a board: those of kernels' moves, in order
    names: Callable[[Any], tuple[str, ...]]  # what the planes of a board show
    shape: Callable[[Any], tuple[int, int]]  # rows and columns
    planes: Callable[[Any, States], Cells]  # [n, planes, rows, columns]
    words: Callable[[Any, Cells], tuple[Words, Words]]  # of states, from planes of 0 and 1


def read_planes(arrays: Arrays, board: object, array: ArrayLike) -> Cells:
    """An array that has the shape of planes, of 0 and 1; anything else is refused."""
    found = np.asarray(array)
    wanted = (len(arrays.names(board)), *arrays.shape(board))
    if found.shape[1:] != wanted:
        shape = " x ".join(map(str, wanted))
        raise BadTextError(f"an array of shape {found.shape} is none of {board}: n x {shape}")
    if not np.isin(found, (0, 1)).all():
        raise BadTextError("planes have 0 and 1 alone")
    return found.astype(np.uint8)


def spread(words: Words, places: NDArray[np.uint64]) -> Cells:
    """The bits of many words at some places, [word, *shape of the places].

    >>> spread(np.array([0b10], np.uint64), np.array([[0, 1]], np.uint64)).tolist()
    [[[0, 1]]]
    """
    shifted = words.reshape(-1, *[1] * places.ndim) >> places
    return (shifted & np.uint64(1)).astype(np.uint8)


def gather(cells: Cells, places: NDArray[np.uint64]) -> Words:
    """The words of such bits; undoes `spread`."""
    bits = cells.astype(np.uint64) << places
    found: Words = bits.reshape(len(cells), -1).sum(axis=1, dtype=np.uint64)
    return found


def places_of(rows: int, columns: int, place: Callable[[int, int], int]) -> NDArray[np.uint64]:
    """[row from the top, column] -> the place of the cell's bit, of (row from below, column)."""
    found = [[place(row, column) for column in range(columns)] for row in reversed(range(rows))]
    return np.array(found, np.uint64).reshape(rows, columns)


def two_colours(
    places: NDArray[np.uint64], ply: NDArray[np.int64], first: Words, second: Words
) -> Cells:
    """The planes of the mover's stones and of the other's."""
    turn = (ply & 1).astype(np.bool_)
    mover, other = np.where(turn, second, first), np.where(turn, first, second)
    return np.stack([spread(mover, places), spread(other, places)], axis=1)


def two_words(places: NDArray[np.uint64], planes: Cells) -> tuple[Words, Words]:
    """The stones of the first and of the second player: who has as many as the other moves."""
    mover, other = gather(planes[:, 0], places), gather(planes[:, 1], places)
    turn = np.bitwise_count(mover) < np.bitwise_count(other)
    return np.where(turn, other, mover), np.where(turn, mover, other)
