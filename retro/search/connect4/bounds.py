"""Who can hold, who must give way: bounds by pairing strategies, no search.

Count rows from the top: `upper` rows are the top row, the third from the top and
so on, `lower` rows the others.  A column with an even number of empty cells is
made of (lower, upper) pairs, and who answers in the same column gets the upper
cell of each pair.  If the number of all empty cells is even, the side to move is
the *leader* and the other the *follower*; if odd, the follower is to move.  The
lowest empty cell of a column is its foot; odd columns have their foot on an upper
row:

    row 5  u   .  .  .        column a: 4 empty, (l u)(l u)
    row 4  l   .  .  .        column b: 3 empty, its foot is an upper cell,
    row 3  u   .  b  .                  then (l u)
    row 2  l   a  #  c        column c: 4 empty

*Follow-up* (claim-even, with baseinverse for odd columns; Allis 1988, ch. 3): with
the leader to move the follower answers above him, or in another odd column when
he takes the foot of one.  So the leader gets lower cells and one foot of each
pair of odd columns, and nothing else: no line in these, no win.  A threat of the
follower on an upper cell ends its column (aftereven of one cell): who steps below it has
lost, so the cells above it help nobody.  Nor does a line of the leader that has a cell
above each empty cell of a line which such answers complete (aftereven): it comes too late.

*Zugzwang* (the odd-threat rule): with the follower to move, the leader answers in
the same way, and one column with a threat of his on a lower row is left over.  There the follower
must at last step below the threat.  The column must be odd when it is left: an even one
gives its foot away first, and that foot is paired like those of the odd columns.

In either, who is to move and wants to answer takes one of the feet first.
"""

from __future__ import annotations

import numpy as np

from retro.jit import inlined
from retro.search.connect4.bits import (
    U0,
    U1,
    bit_steps,
    flat_feet,
    gaps,
    has_flat_line,
    has_line,
    popcount,
)


@inlined
def up_to(empty, ends):
    """Of every column its empty cells below the lowest of `ends`, or all; maybe upper `ends` too.

    A column's empty cells are a run of ones below a guard bit: the sum carries from the
    lowest end up to the guard and leaves zeros, but for further ends.
    """
    return empty & (empty + ends)


@inlined
def are_late(board, hope, empty, stones, claims):
    """Whether the lines in `hope` come too late: the other side, `stones`, has its own before.

    Of its `claims` those below the cells of a line are taken when that line is complete.
    """
    if not has_line(board, stones | claims):
        return False
    top = np.uint64(board.height)
    for direction in range(1, board.reach):
        step = bit_steps(board)[direction]
        feet = flat_feet(board, hope, direction)
        while feet:
            foot = feet & (U0 - feet)
            feet ^= foot
            line = foot
            for i in range(1, board.connect):
                line |= foot << (step * np.uint64(i))
            carried = empty + (line & empty)  # runs up each column of the line to its guard
            guards = carried & (board.bottom << top)
            if not has_line(board, stones | (claims & carried & (guards - (guards >> top)))):
                return False
    return True


@inlined
def pair_up(board, hope, feet, moves):
    """Return (holds, lost): can one side keep the other from a line in `hope` and some feet?

    `hope` is what the other side gets anyway; its lines, if it has any, harm nobody.  Of the
    feet, who holds takes one whenever the other does, and one before that if he `moves`, a
    dangerous one if there is one; `lost` are those that he may have to leave.
    """
    if feet == U0 or (moves and feet & (feet - U1) == U0):
        return True, U0
    danger = gaps(board, hope) & feet
    if moves:
        take = danger if danger else feet
        take &= U0 - take
        feet ^= take
        danger &= ~take
    if danger:
        return False, feet
    # One pair of feet: the other side gets one of them, and none makes a line.
    # More pairs: he may combine them; granting him all of them is safe.
    return popcount(feet) <= 2 or not has_line(board, hope | feet), feet


@inlined
def follow_up(board, stones, cells, ends, follower_moves):
    """Return (holds, lost): can the follower keep the leader from winning?

    `stones` are the leader's and the follower's, `cells` the empty ones and the playable ones of
    them, `ends` the follower's threats on upper rows, `lost` those upper cells that he may have
    to leave to the leader.
    """
    leader, follower = stones
    empty, feet = cells
    hope = leader | (up_to(empty, ends) & board.lower)
    lost = feet & board.upper
    if has_line(board, hope):
        claims = empty & board.upper & ~lost
        if not are_late(board, hope, empty, follower, claims):
            return False, lost
    return pair_up(board, hope, lost, follower_moves)


@inlined
def zugzwang(board, follower, cells, threats, leader_moves):
    """Return the number of cells still empty when the leader wins by zugzwang, or -1.

    Each column in which the lowest of the leader's `threats` on lower rows is not yet playable
    is tried as the one left over.  In the others his threats on upper rows are ends.  Late lines
    are not looked for: they would save 1 % of the nodes, and cost 3 % of time.
    """
    empty, feet = cells
    goals, ends = threats & board.lower, threats & board.upper
    odd = feet & board.upper
    left = feet if goals else U0
    while left:
        foot = left & (U0 - left)
        left ^= foot
        column = empty & ~(empty + foot)  # the carry runs up the column to its guard
        goal = goals & column
        if goal == U0:
            continue
        goal &= U0 - goal
        others = up_to(empty, ends) & ~column
        hope = follower | (others & board.lower) | (column & board.upper & (goal - U1))
        if has_line(board, hope):
            continue
        holds, _ = pair_up(board, hope, odd ^ foot, leader_moves)
        if holds:
            above = empty & ~(empty + ends) & ~(ends | column)
            return popcount(above | (column & ~(goal | (goal - U1))))
    return -1


@inlined
def static_score(board, mover, mask, threats, plies, goal, unknown):
    """Return a proved bound on the score that decides `score >= goal`, else `unknown`.

    The position is quiet: nobody can win at once.  `threats` are those of the mover
    and of the other.  The side that has to be shown to win, or not to,
    is the mover when `goal > 0`, the other when `goal <= 0`; only bounds that
    speak about that question are tried.
    """
    empty = board.full & ~mask
    feet = (mask + board.bottom) & board.full
    cells = (empty, feet)
    follower_moves = (board.cells - plies) & 1 == 1
    follower = mover if follower_moves else mask ^ mover
    his, leaders = threats if follower_moves else (threats[1], threats[0])
    rest = zugzwang(board, follower, cells, leaders, not follower_moves)
    if rest >= 0:
        score = rest // 2 + 1
        if follower_moves and -score < goal:
            return -score
        if not follower_moves and score >= goal:
            return score
    about_leader = (goal > 0) != follower_moves
    ends = his & board.upper
    # The cells above his threats stay empty if he holds, and he wins.
    score = popcount(empty & ~(empty + ends) & ~ends) // 2 + 1 if ends else 0
    claims = follower | (empty & board.upper)
    soon = goal if follower_moves else 1 - goal  # the score that the follower is asked for
    if about_leader or score >= soon or (0 <= goal <= 1 and has_line(board, claims)):
        holds, lost = follow_up(board, (mask ^ follower, follower), cells, ends, follower_moves)
        if holds and (about_leader or score >= soon):
            return score if follower_moves else -score
        if holds and has_line(board, claims & ~(lost & empty)):
            return 1 if follower_moves else -1
    # A vertical line alone is stopped on top of three of its stones.
    side = mask ^ follower if about_leader else follower
    if not has_flat_line(board, side | empty):
        return 0
    return unknown
