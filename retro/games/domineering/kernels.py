"""Domineering for kernels: the fast twin of `domineering`, on a state of one or two words.

Cells are numbered as in `domineering`, without gaps. The side to move is part
of the state (0 Vertical, 1 Horizontal), because a board may have holes, so
that the number of covered cells does not tell.

    words = 1, up to 63 cells:   a = covered cells | side << cells,  b = 0
    words = 2,       64 cells:   a = covered cells,                  b = side

A move is the number of the lower or left cell of its domino. Dominoes of a
side are two cells that are a `step` apart: cols for Vertical, 1 for
Horizontal. A step to the right may leave the row, so it starts only from
`inner` cells; a step upward leaves the board, where no cell is free.

    places(free, step, inner) = the lower or left cells of all dominoes that fit
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1
from retro.errors import DoesNotFitError
from retro.games.domineering.bounds import Ways, is_won, packed, places
from retro.games.domineering.rules import SIDES
from retro.games.kernels import UNDECIDED, GameKernels, register
from retro.games.symmetry import turn_tables, turned
from retro.jit import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.domineering.rules import DomineeringBoard

MAX_CELLS = 64
FARTHEST = 2 * MAX_CELLS  # more than any distance from the middle


class Dominoes(NamedTuple):
    """A board as kernels see it."""

    words: int
    rows: int
    cols: int
    first: np.uint64  # the side that starts
    full: np.uint64  # every cell
    inner: np.uint64  # every cell but those of the last column
    maps: NDArray[np.uint64]  # as `symmetry` has them: half turn, upside down, mirrored


def dominoes_rules(board: DomineeringBoard) -> Dominoes:
    """The rules of a board.

    >>> from retro.games.domineering.rules import DomineeringBoard
    >>> rules = dominoes_rules(DomineeringBoard(2, 3))
    >>> rules.words, bin(rules.full), bin(rules.inner)
    (1, '0b111111', '0b11011')
    """
    if board.cells > MAX_CELLS:
        raise DoesNotFitError(
            f"board {board} has {board.cells} cells, tables and keys take {MAX_CELLS}"
        )
    rows, cols = board.rows, board.cols
    ways = [
        [(rows - 1 - row if flips & 2 else row) * cols + (cols - 1 - col if flips & 1 else col)
         for row in range(rows) for col in range(cols)]
        for flips in (0, 3, 2, 1)
    ]  # fmt: skip
    last_column = sum(board.bit(row, board.cols - 1) for row in range(board.rows))
    return Dominoes(
        board.words,
        board.rows,
        board.cols,
        np.uint64(SIDES.index(board.first)),
        np.uint64(board.full),
        np.uint64(board.full & ~last_column),
        turn_tables(ways),
    )


@inner
def free_and_side(rules, a, b):
    """(free cells, side to move) of a state."""
    if rules.words == 1:
        return rules.full & ~a, a >> np.uint64(rules.rows * rules.cols)
    return rules.full & ~a, b


@inner
def ways_of(rules, side):
    """The directions of both sides as `side` sees them."""
    if side == U0:
        return Ways(np.uint64(rules.cols), rules.full, U1, rules.inner)
    return Ways(U1, rules.inner, np.uint64(rules.cols), rules.full)


@inner
def _start(rules):
    if rules.words == 1:
        return rules.first << np.uint64(rules.rows * rules.cols), U0
    return U0, rules.first


@inner
def _move_limit(rules):
    return rules.rows * rules.cols


@inner
def _play(rules, a, b, move):
    free, side = free_and_side(rules, a, b)
    ways = ways_of(rules, side)
    bit = U1 << np.uint64(move)
    if places(free, ways.step, ways.inner) & bit == U0:
        return False, a, b
    a |= bit | bit << ways.step
    if rules.words == 1:
        return True, a ^ (U1 << np.uint64(rules.rows * rules.cols)), b
    return True, a, b ^ U1


@inner
def _outcome(rules, a, b):
    free, side = free_and_side(rules, a, b)
    ways = ways_of(rules, side)
    return UNDECIDED if places(free, ways.step, ways.inner) else -1


@inner
def _images(rules, cells):
    """The cells under the three symmetries besides the identity."""
    maps = rules.maps
    return turned(maps, 1, cells), turned(maps, 2, cells), turned(maps, 3, cells)


@inner
def _canonical(rules, a, b):
    """The least image of the covered cells; the side stays."""
    covered = a & rules.full
    half, upside_down, mirrored = _images(rules, covered)
    return min(min(covered, half), min(upside_down, mirrored)) | (a & ~rules.full), b


@inner
def _orbit(rules, a, b):
    """4 symmetries, divided by those that leave the state as it is."""
    covered = a & rules.full
    half, upside_down, mirrored = _images(rules, covered)
    fixed = 1 + (covered == half) + (covered == upside_down) + (covered == mirrored)
    return 4 // fixed


@inner
def _bounds(rules, a, b):
    """The value, where one side is sure of enough moves."""
    free, side = free_and_side(rules, a, b)
    if is_won(ways_of(rules, side), free, 1):
        return 1, 1
    if is_won(ways_of(rules, side ^ U1), free, 0):
        return -1, -1
    return -1, 1


@inner
def _priority(rules, a, b, move):
    """Keep us many dominoes and them few; among equals the one farthest from the middle."""
    free, side = free_and_side(rules, a, b)
    ways = ways_of(rules, side)
    bit = U1 << np.uint64(move)
    free &= ~(bit | bit << ways.step)
    promise = _promise(ways, free) - _promise(ways_of(rules, side ^ U1), free)
    return promise * (2 * FARTHEST) + _from_middle(rules, side, move)


@inner
def _promise(ways, free):
    """Dominoes that one side could place if the other did nothing, twice, and its safe ones."""
    theirs = places(free, ways.their_step, ways.their_inner)
    safe = free & ~(theirs | theirs << ways.their_step)
    return 2 * packed(free, ways.step, ways.inner)[0] + packed(safe, ways.step, ways.inner)[0]


@inner
def _from_middle(rules, side, move):
    """Twice the distance of a domino from the middle of the board, rows and columns added."""
    row, column = move // rules.cols, move % rules.cols
    upright = np.int64(U1 - side)
    return abs(2 * row - rules.rows + 1 + upright) + abs(2 * column - rules.cols + 2 - upright)


@inner
def _cells(rules):
    return rules.full, U0


@inner
def _change(rules, a, b, move):
    """Two cells, and the side to move."""
    _, side = free_and_side(rules, a, b)
    bit = U1 << np.uint64(move)
    ways = ways_of(rules, side)
    if places(rules.full, ways.step, ways.inner) & bit == U0:
        return U0, U0  # never legal
    covered = bit | bit << ways.step
    if rules.words == 1:
        return covered ^ (U1 << np.uint64(rules.rows * rules.cols)), U0
    return covered, U1


@inner
def _symmetries(rules):
    return 4


@inner
def _images_of(rules, a, b, found_a, found_b):
    covered, rest = a & rules.full, a & ~rules.full
    half, upside_down, mirrored = _images(rules, covered)
    found_a[0], found_a[1], found_a[2], found_a[3] = (
        a,
        half | rest,
        upside_down | rest,
        mirrored | rest,
    )
    found_b[0] = found_b[1] = found_b[2] = found_b[3] = b


@inner
def _open_moves(rules, a, b):
    free, side = free_and_side(rules, a, b)
    ways = ways_of(rules, side)
    return places(free, ways.step, ways.inner)


register(
    Dominoes,
    GameKernels(
        start=_start,
        move_limit=_move_limit,
        play=_play,
        outcome=_outcome,
        canonical=_canonical,
        orbit=_orbit,
        bounds=_bounds,
        priority=_priority,
        cells=_cells,
        change=_change,
        symmetries=_symmetries,
        images=_images_of,
        open_moves=_open_moves,
    ),
)
