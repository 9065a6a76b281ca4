"""How many moves a side of Domineering is sure of, and how many the other can make at most.

Who runs out of moves first loses. So a side ("we") wins when it is sure of more
moves than the opponent ("they") can ever make; of as many, if they are to move.

**Ours, at least.** Choose separate *areas* of free cells (here we are Vertical):

    safe        # x #      two cells that they cannot use, because no cell beside
                # x #      them is free. Ours for ever: 1 move each.

    protective  # x x .    a block that we cut in two: once we have its column away
                # x x .    from the wall (#), the other is safe. Worth 2 moves if we
                           are there first, nothing if they are.
    vulnerable  . x .      any two cells: 1 move if we are there first.
                . x .

No domino of theirs touches two protective or vulnerable areas. What is left
over is packed with *loose* areas, vulnerable ones which may touch any other, so
that they can spoil two areas at once if one of them is loose. Now both sides
take turns: we take an area, protective ones first, then loose ones, and they
spoil what they can (`taken_in_turn`).

**Theirs, at most.** n free cells in a row take n // 2 of their dominoes. That
counts as if we did nothing. Better: of the cells that they can use we take
some with our areas, and of the rest they fill at most half. A row with an odd
number of cells wastes one; but only if it touches no area, or we might take it.

After N. Bullock, Domineering: Solving Large Combinatorial Search Spaces (2002),
who has the areas; every set of free cells of boards up to 5x5 is tested against
the truth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retro.bits import U0, U1, popcount
from retro.jit import inner

if TYPE_CHECKING:
    import numpy as np


class Ways(NamedTuple):
    """How the dominoes of both sides lie, as one side sees it; `kernels` explains."""

    step: np.uint64
    inner: np.uint64
    their_step: np.uint64
    their_inner: np.uint64


@inner
def places(free, step, inner):
    """The lower or left cells of all dominoes that fit on the free cells."""
    return free & (free >> step) & inner


@inner
def packed(cells, step, inner):
    """(number, cells) of the most dominoes that fit, side by side from the start of every run."""
    fits = places(cells, step, inner)
    begin = fits & ~(fits << step)
    used = U0
    while begin:
        used |= begin | begin << step
        begin = (((begin << step) & inner) << step) & fits
    return popcount(used) >> 1, used


@inner
def taken_in_turn(protective, vulnerable, loose, we_move):
    """How many moves we are sure of when they spoil our areas and we take them, in turn."""
    ours = (protective + we_move) >> 1
    moves = 2 * ours
    loose -= protective - ours  # each time they spoil a loose one, too
    if protective & 1:
        we_move = 1 - we_move
    while loose > 0:
        loose -= 1
        if we_move:
            moves += 1
        elif vulnerable > 0:
            vulnerable -= 1
        else:
            loose -= 1
        we_move = 1 - we_move
    return moves + ((vulnerable + we_move) >> 1)


@inner
def _reach(cells, their_places, their_step):
    """Cells, and those that a domino of theirs could cover together with one of them."""
    return cells | (cells & their_places) << their_step | (cells >> their_step) & their_places


@inner
def _protective(ways, free, rest, their_places):
    """(number, cells, cells out of their reach) of protective areas among the rest."""
    fits = places(rest, ways.step, ways.inner)
    blocks = fits & (fits >> ways.their_step) & ways.their_inner
    last = free & ~their_places  # nothing free behind
    first = free & ~(their_places << ways.their_step)  # nothing free before
    blocks &= (first & (first >> ways.step)) | (last & (last >> ways.step)) >> ways.their_step
    count, areas = 0, U0
    while blocks:
        corner = blocks & (~blocks + U1)
        area = corner | corner << ways.step
        area |= area << ways.their_step
        count += 1
        areas |= area
        rest &= ~_reach(area, their_places, ways.their_step)
        fits = rest & (rest >> ways.step)
        blocks &= fits & (fits >> ways.their_step)
    return count, areas, rest


@inner
def _vulnerable(ways, rest, their_places):
    """(number, cells) of vulnerable areas among the rest."""
    count, areas = 0, U0
    fits = places(rest, ways.step, ways.inner)
    while fits:
        corner = fits & (~fits + U1)
        area = corner | corner << ways.step
        count += 1
        areas |= area
        rest &= ~_reach(area, their_places, ways.their_step)
        fits = places(rest, ways.step, ways.inner)
    return count, areas


@inner
def _wasted(ways, their_places, their_packed, areas):
    """How many cells they can use are left over in rows that touch none of our areas."""
    usable = their_places | their_places << ways.their_step
    touched = areas & usable
    more = _reach(touched, their_places, ways.their_step)
    while more != touched:
        touched = more
        more = _reach(touched, their_places, ways.their_step)
    return popcount(usable & ~their_packed & ~touched)


@inner
def is_won(ways, free, we_move):
    """Whether we are sure to win; `we_move` is 1 if we are to move, else 0."""
    lead = 1 - we_move  # of moves that they have to be behind
    their_places = places(free, ways.their_step, ways.their_inner)
    usable = their_places | their_places << ways.their_step
    most, their_packed = packed(free, ways.their_step, ways.their_inner)
    safe, safe_cells = packed(free & ~usable, ways.step, ways.inner)
    if safe + lead > most:
        return True
    rest = free & ~safe_cells
    # Areas are dominoes that fit, and we get half of them, or two more: is it worth while?
    sure = (packed(rest, ways.step, ways.inner)[0] + 2) >> 1
    if safe + lead + 2 * sure <= most:
        return False
    protective, areas, out_of_reach = _protective(ways, free, rest, their_places)
    vulnerable, more = _vulnerable(ways, out_of_reach, their_places)
    loose, loose_cells = packed(rest & ~areas & ~more, ways.step, ways.inner)
    areas |= more | loose_cells
    sure = taken_in_turn(protective, vulnerable, loose, we_move)
    if safe + sure + lead > most:
        return True
    # A move of ours there takes two cells from them, or one where they could not use the other.
    taken = 2 * sure - min(sure, popcount(areas & ~usable))
    room = popcount(usable) - _wasted(ways, their_places, their_packed, areas)
    return 2 * (safe + sure + lead) + taken > room
