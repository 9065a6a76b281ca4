"""Which move is tried first: what each successor looks worth to the player who made the move.

A weighted sum of threats, replies and forced moves. The side that tries to win and the
one that tries to hold weigh differently.
"""

from __future__ import annotations

import numpy as np

from retro.jit import inlined
from retro.search.connect4.bits import U1, popcount

# Weights of the ordering: 14 for the side that tries to win, then 14 for the one that
# tries to hold; found by hill climbing on nodes (docs/solver.md). `order_of` tells what they
# weigh; OUTWARDS is how far from the middle a move is, LINES how many lines go through its cell.
(
    MINE, HIS, MINE_GOOD, HIS_GOOD, ABOVE_HIS, HIS_REPLIES, MY_REPLIES, FORCED, STACKED,
    MINE_NEXT, HIS_NEXT, OUTWARDS, LINES, ABOVE_MINE,
) = range(14)  # fmt: skip
ATTACK = (6, 0, 6, 4, 7, 2, 1, 5, 5, 5, 3, 1, 3, 10)
HOLD = (10, -2, 4, 4, 10, 4, 2, 6, 4, 3, 4, 1, 5, 4)
WEIGHTS = np.array(ATTACK + HOLD)


@inlined
def order_of(board, first, leads, threats, mask, replies, played):
    """How promising a successor is for the player who made the move.

    `threats` are those of that player and of his opponent, `replies` the moves that are
    left and the sign of who makes them.  The leader
    profits from threats on lower rows, the follower from those on upper rows; a
    threat directly above one of the opponent's is worth little.
    Successors with few replies and those reached by long forced lines come first:
    they are cheap.
    """
    mine, his = threats
    moves, sign = replies
    good = board.lower if leads else board.upper
    next_up = ((mask + board.bottom) & board.full) << U1
    value = popcount(mine) * WEIGHTS[first + MINE] - popcount(his) * WEIGHTS[first + HIS]
    value += popcount(mine & good) * WEIGHTS[first + MINE_GOOD]
    value -= popcount(his & ~good) * WEIGHTS[first + HIS_GOOD]
    value -= popcount(mine & (his << U1)) * WEIGHTS[first + ABOVE_HIS]
    value -= popcount(moves) * WEIGHTS[first + (HIS_REPLIES if sign < 0 else MY_REPLIES)]
    value += played * WEIGHTS[first + FORCED]
    value += popcount(mine & (mine << U1)) * WEIGHTS[first + STACKED]
    value += popcount(mine & next_up) * WEIGHTS[first + MINE_NEXT]
    value -= popcount(his & next_up) * WEIGHTS[first + HIS_NEXT]
    return value + popcount(his & (mine << U1)) * WEIGHTS[first + ABOVE_MINE]
