"""Games of stones and lines for kernels: free placement, the first complete line wins.

m,n,k-games and Puissance Plus differ in their lines and symmetries only, and
those are data. Cells are numbered row after row from the bottom, without guard bits;
the stones of a player are a set of cell numbers:

    2   3 4 5        words = 1, up to 32 cells:   a = first | second << cells,   b = 0
    1   0 1 2        words = 2, up to 64 cells:   a = first,                     b = second
        a b c

Symmetries permute cells, of both players at once where they share a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, popcount
from retro.errors import DoesNotFitError
from retro.games.kernels import UNDECIDED, GameKernels, register
from retro.games.symmetry import least, turn_tables, turned
from retro.jit import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.grid import GridBoard

MAX_CELLS = 64
BLOCK = 1 << 20  # above every other priority


class Lines(NamedTuple):
    """A board as kernels see it."""

    words: int
    cells: int
    lines: NDArray[np.uint64]  # each a set of cell numbers
    maps: NDArray[np.uint64]  # as `symmetry` has them


def lines_rules(board: GridBoard) -> Lines:
    """The rules of a board.

    >>> from retro.games.mnk.rules import MnkBoard
    >>> rules = lines_rules(MnkBoard(3, 3, 3))
    >>> rules.words, rules.cells, [int(line) for line in rules.lines][:2], rules.maps.shape
    (1, 9, [7, 73], (8, 768))
    """
    cells = board.cells
    if cells > MAX_CELLS:
        raise DoesNotFitError(f"board {board} has {cells} cells, tables and keys take {MAX_CELLS}")
    words = board.words
    number = {bit: cell for cell, bit in enumerate(board.all_bits)}
    lines = [sum(1 << number[b] for b in board.all_bits if line & b) for line in board.lines]
    ways = [[number[goes_to[bit]] for bit in board.all_bits] for goes_to in board.symmetries]
    if words == 1:
        ways = [way + [cells + cell for cell in way] for way in ways]
    return Lines(words, cells, np.array(lines, np.uint64), turn_tables(ways))


@inner
def _stones(rules, a, b):
    """(first, second), each a set of cell numbers."""
    if rules.words == 1:
        cells = np.uint64(rules.cells)
        return a & ((U1 << cells) - U1), a >> cells
    return a, b


@inner
def _start(rules):
    return U0, U0


@inner
def _move_limit(rules):
    return rules.cells


@inner
def _play(rules, a, b, move):
    first, second = _stones(rules, a, b)
    bit = U1 << np.uint64(move)
    if (first | second) & bit:
        return False, a, b
    if popcount(first | second) & 1 == 0:
        return True, a | bit, b
    if rules.words == 1:
        return True, a | bit << np.uint64(rules.cells), b
    return True, a, b | bit


@inner
def _outcome(rules, a, b):
    first, second = _stones(rules, a, b)
    ply = popcount(first | second)
    last_mover = first if ply & 1 else second
    for line in rules.lines:
        if last_mover & line == line:
            return -1
    return 0 if ply == rules.cells else UNDECIDED


@inner
def _mine_and_theirs(rules, a, b):
    """The stones of the side to move, and of the other."""
    first, second = _stones(rules, a, b)
    if popcount(first | second) & 1:
        return second, first
    return first, second


@inner
def _bounds(rules, a, b):
    """A win at once; a loss when two cells need a block; nobody wins without an open line."""
    mine, theirs = _mine_and_theirs(rules, a, b)
    low, high = 0, 0
    to_block = U0
    for line in rules.lines:
        if line & theirs == U0:
            high = 1
            missing = line & ~mine
            if missing & (missing - U1) == U0:
                return 1, 1
        if line & mine == U0:
            low = -1
            missing = line & ~theirs
            if missing & (missing - U1) == U0:
                to_block |= missing
    if to_block & (to_block - U1) != U0:
        return -1, -1
    return low, high


@inner
def _priority(rules, a, b, move):
    """Blocks first, then by open lines through the cell, those with stones counting more."""
    mine, theirs = _mine_and_theirs(rules, a, b)
    bit = U1 << np.uint64(move)
    found = 0
    for line in rules.lines:
        if line & bit:
            missing = line & ~theirs
            if line & mine == U0:
                found += BLOCK if missing == bit else 1 << popcount(line & theirs)
            if line & theirs == U0:
                found += 1 << popcount(line & mine)
    return found


@inner
def _canonical(rules, a, b):
    """The least image of the state under the symmetries."""
    if rules.words == 1:
        return least(rules.maps, a), b
    least_a, least_b = a, b
    for symmetry in range(1, rules.maps.shape[0]):
        turned_a = turned(rules.maps, symmetry, a)
        if turned_a <= least_a:
            turned_b = turned(rules.maps, symmetry, b)
            if turned_a < least_a or turned_b < least_b:
                least_a, least_b = turned_a, turned_b
    return least_a, least_b


@inner
def _orbit(rules, a, b):
    """Symmetries, divided by those that leave the state as it is."""
    kept = 0
    for symmetry in range(rules.maps.shape[0]):
        if turned(rules.maps, symmetry, a) == a and turned(rules.maps, symmetry, b) == b:
            kept += 1
    return rules.maps.shape[0] // kept


@inner
def _cells(rules):
    every = ~U0 >> np.uint64(64 - (2 if rules.words == 1 else 1) * rules.cells)
    return (every, U0) if rules.words == 1 else (every, every)


@inner
def _change(rules, a, b, move):
    first, second = _stones(rules, a, b)
    bit = U1 << np.uint64(move)
    if popcount(first | second) & 1 == 0:
        return bit, U0
    if rules.words == 1:
        return bit << np.uint64(rules.cells), U0
    return U0, bit


@inner
def _symmetries(rules):
    return rules.maps.shape[0]


@inner
def _images_of(rules, a, b, found_a, found_b):
    found_a[0], found_b[0] = a, b
    for symmetry in range(1, rules.maps.shape[0]):
        found_a[symmetry] = turned(rules.maps, symmetry, a)
        found_b[symmetry] = U0 if rules.words == 1 else turned(rules.maps, symmetry, b)


@inner
def _open_moves(rules, a, b):
    first, second = _stones(rules, a, b)
    return ~(first | second) & (~U0 >> np.uint64(64 - rules.cells))


register(
    Lines,
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
