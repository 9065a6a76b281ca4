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
pair of odd columns, and nothing else: no line in these, no win.

*Zugzwang* (the odd-threat rule): with the follower to move, the leader answers in
the same way and one odd column is left over.  There the follower must at last step
below the leader's threat on a lower row.
"""

from __future__ import annotations

from retro.jit import inlined
from retro.search.connect4.bits import U0, U1, gaps, has_line, popcount


@inlined
def follow_up(board, leader, empty, feet, follower_moves):
    """Return (holds, lost): can the follower keep the leader from winning?

    `feet` are the playable cells, `lost` those upper cells that the follower may
    have to leave to the leader.  A follower to move first takes one odd foot, the
    dangerous one if there is one.
    """
    hope = leader | (empty & board.lower)
    lost = feet & board.upper
    if has_line(board, hope):
        return False, lost
    if follower_moves and lost & (lost - U1) == U0:
        return True, U0
    if lost == U0:
        return True, U0
    danger = gaps(board, hope) & lost
    if follower_moves:
        take = danger if danger else lost
        take &= U0 - take
        lost ^= take
        danger &= ~take
    if danger:
        return False, lost
    # One pair of feet: the leader gets one of them, and none makes a line.
    # More pairs: he may combine them; granting him all of them is safe.
    return popcount(lost) <= 2 or not has_line(board, hope | lost), lost


@inlined
def zugzwang(board, goals, follower, empty, feet):
    """Return the number of cells still empty when the leader wins by zugzwang, or -1.

    The follower is to move.  `goals` are the leader's threats on lower rows.  Each
    odd column with such a goal is tried as the one left over; the feet of the
    other odd columns are paired as in `follow_up`.
    """
    odd = feet & board.upper
    left = odd if goals else U0
    while left:
        foot = left & (U0 - left)
        left ^= foot
        column = empty & ~(empty + foot)  # the carry runs up the column to its guard
        goal = goals & column
        if goal == U0:
            continue
        goal &= U0 - goal
        hope = follower | (empty & board.lower & ~column) | (column & board.upper & (goal - U1))
        if has_line(board, hope):
            continue
        others = odd ^ foot
        if others:
            if gaps(board, hope) & others:
                continue
            if popcount(others) > 2 and has_line(board, hope | others):
                continue
        return popcount(column & ~(goal | (goal - U1)))
    return -1


@inlined
def static_score(board, mover, mask, threat, plies, goal, unknown):
    """Return a proved bound on the score that decides `score >= goal`, else `unknown`.

    The position is quiet: nobody can win at once.  `threat` are the threats of
    the side that is not to move.  The side that has to be shown to win, or not to,
    is the mover when `goal > 0`, the other when `goal <= 0`; only bounds that
    speak about that question are tried.
    """
    empty = board.full & ~mask
    feet = (mask + board.bottom) & board.full
    follower_moves = (board.cells - plies) & 1 == 1
    follower = mover if follower_moves else mask ^ mover
    if follower_moves:
        rest = zugzwang(board, threat & board.lower, follower, empty, feet)
        if rest >= 0 and -(rest // 2 + 1) < goal:
            return -(rest // 2 + 1)
    about_leader = (goal > 0) != follower_moves
    claims = follower | (empty & board.upper)
    if about_leader or ((goal == 1 or goal == 0) and has_line(board, claims)):
        holds, lost = follow_up(board, mask ^ follower, empty, feet, follower_moves)
        if holds and about_leader:
            return 0
        if holds and has_line(board, claims & ~(lost & empty)):
            return 1 if follower_moves else -1
    if not about_leader and not has_line(board, follower | empty):
        return 0
    return unknown
