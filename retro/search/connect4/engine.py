"""The fast exact search of Connect Four: one question at a time, one loop.

The question is always "is the score at least `goal`?".  Scores are for the side to
move: 0 a draw, s > 0 a win on ply `cells - 2 * s + 2` or the ply before (whichever
is the winner's), negative a loss alike; so +1 is a win at the last moment.  An
answer is a number: `>= goal` means "the score is at least this", `< goal` means
"the score is at most this".

Only *quiet* positions are nodes: nobody can win at once and at least two moves do
not lose at once.  From any other position `settle` plays the forced moves.  A node
is expanded in three passes over its successors:

    1. play, settle, try the static bounds, start loading the table word;
    2. look all of them up in the table; a single good one ends the node;
    3. search what is left, most promising first.

The recursion is a loop over `Stack`: level d + 1 holds the successors of the node
of level d, so a node is a pair (level, slot).  A budget of nodes stops the loop
without an answer; everything it needs to go on is in the stack, so asking the same
question again goes on where it stopped, however little the table remembers:

    level 0   [root]                          place: the question that is OPEN (root,
    level 1   slot 0  [slot 1]  slot 2               goal, bounds, age) and the node
    level 2   slot 0   slot 1  [slot 2]  <- next     that is entered next

Threads that share a table look, when they go on, whether another one has meanwhile
decided a node on their way (`_catch_up`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retro.bits import prefetch
from retro.jit import inlined, inner
from retro.search.connect4.bits import (
    U0,
    U1,
    Board,
    lines_through,
    popcount,
    threats,
    trailing_zeros,
)
from retro.search.connect4.bounds import static_score
from retro.search.connect4.leaves import NO_VALUE, count_decided, leaf_values
from retro.search.connect4.order import ATTACK, LINES, OUTWARDS, WEIGHTS, order_of
from retro.search.connect4.table import (
    code_of,
    fetch,
    lower_of,
    scramble,
    slot,
    store,
    upper_of,
)

UNKNOWN = 1000  # no score
BEYOND = np.int64(31)  # no score is larger: a line needs at least two stones of its owner
ONE = np.int64(1)
SLOTS = 32  # successors per level, the width of the widest board
WORDS = 8  # per slot: mover, mask, own threats, other's threats, scrambled code
MOVER, MASK, OWN, OTHER, CODE = range(5)
INTS = 3  # per slot: order, whose score it is: +1 the predecessor's mover's, -1 not, and its value
ORDER, SIGN, VALUE = range(3)
FRAME = 8  # per level: the node being searched there
GOAL, BEST, LEFT, SINCE, SLOT = range(5)
PLACE = 10  # where a search stopped: the question, the node to enter next, and who searches
IS_OPEN, ROOT_GOAL, ROOT_SIGN, LOW, HIGH, AT_LEVEL, AT_NODE, AT_GOAL, SPENT, TEAM = range(PLACE)
ALONE, LEADER, HELPER = range(3)  # TEAM: threads that share a table


class Stack(NamedTuple):
    """Scratch memory of one search; two threads need two."""

    words: np.ndarray  # uint64[levels * SLOTS * WORDS]
    ints: np.ndarray  # int64[levels * SLOTS * INTS]
    frames: np.ndarray  # int64[levels * FRAME]
    clock: np.ndarray  # int64[1]: positions solved so far, the age of new entries
    worth: np.ndarray  # int64[64]: what a stone on each cell adds to the order
    place: np.ndarray  # int64[PLACE]: where the search stopped, if its question IS_OPEN
    root: np.ndarray  # uint64[2]: mover and mask of that question


def make_stack(board: Board, seed: int = 0) -> Stack:
    """Allocate the scratch memory of a search on `board`.

    A cell is worth the lines through it; with a seed some are worth one more, so
    that threads that share a table take different ways.
    """
    levels = int(board.cells) + 2
    worth = lines_through(board)
    if seed:
        worth += np.random.default_rng(seed).integers(0, 2, len(worth))
    return Stack(
        np.zeros(levels * SLOTS * WORDS, np.uint64),
        np.zeros(levels * SLOTS * INTS, np.int64),
        np.zeros(levels * FRAME, np.int64),
        np.zeros(1, np.int64),
        worth,
        np.zeros(PLACE, np.int64),
        np.zeros(2, np.uint64),
    )


@inlined
def win_score(board, ply):
    """Score of a line completed on `ply`, for its owner; 0 beyond the last ply."""
    return (board.cells - ply) // 2 + 1 if ply <= board.cells else 0


@inlined
def settle(board, mover, mask, own, other, plies):
    """Play moves while there is just one that does not lose at once.

    The mover must have no immediate win.  Returns (score, sign, mover, mask, own,
    other, plies, moves): if the game is decided `score` is for the mover given,
    else it is UNKNOWN and the rest describes the quiet position reached; `sign` is
    +1 if the same side is to move there, else -1.
    """
    sign = 1
    while True:
        feet = (mask + board.bottom) & board.full
        forced = other & feet
        moves = feet & ~(other >> U1)
        if forced:
            moves &= forced
            if forced & (forced - U1):
                moves = U0
        if moves == U0:
            score = -sign * win_score(board, plies + 2) if feet else 0
            return score, sign, mover, mask, own, other, plies, moves
        if moves & (moves - U1):
            return UNKNOWN, sign, mover, mask, own, other, plies, moves
        mover |= moves
        mask |= moves
        plies += 1
        made = threats(board, mover) & board.full & ~mask
        mover ^= mask
        own, other = other & ~moves, made
        sign = -sign


@inner
def _swap(words, ints, level, i, j):
    """Exchange two successors of one level (modified in place)."""
    a = (level * SLOTS + i) * WORDS
    b = (level * SLOTS + j) * WORDS
    for n in range(5):
        words[a + n], words[b + n] = words[b + n], words[a + n]
    a = (level * SLOTS + i) * INTS
    b = (level * SLOTS + j) * INTS
    for n in range(INTS):
        ints[a + n], ints[b + n] = ints[b + n], ints[a + n]


@inlined
def _put(words, level, node, mover, mask, own, other, code):
    """Write a quiet position to a slot (modified in place)."""
    base = (level * SLOTS + node) * WORDS
    words[base + MOVER] = mover
    words[base + MASK] = mask
    words[base + OWN] = own
    words[base + OTHER] = other
    words[base + CODE] = code


@inlined
def _judge(board, mover, mask, threats, plies, goal):
    """Return a score that decides `score >= goal` for a quiet position, or UNKNOWN.

    At best the mover wins on the third ply from here, at worst he loses on the fourth.
    """
    score = win_score(board, plies + 3)
    if score < goal:
        return score
    score = -win_score(board, plies + 4)
    if score >= goal:
        return score
    return static_score(board, mover, mask, threats, plies, goal, UNKNOWN)


@inner
def _generate(board, table, hashing, stack, level, node, goal):
    """Pass 1: write the undecided successors of a node to the level above it.

    Returns (best, count).  A best score `>= goal` ends the node; otherwise it is the
    best of the successors that were decided here.
    """
    words, ints, worth = stack.words, stack.ints, stack.worth
    base = (level * SLOTS + node) * WORDS
    mover = words[base + MOVER]
    mask = words[base + MASK]
    other = words[base + OTHER]
    plies = popcount(mask)
    leads = (board.cells - plies) & 1 == 0
    first = 0 if goal > 0 else len(ATTACK)  # weights of the side that attacks, or holds
    moves = (mask + board.bottom) & board.full & ~(other >> U1)
    best = np.int64(-32)
    count = 0
    middle = (board.width - 1) >> 1
    for i in range(board.width):
        away = (i + 1) >> 1
        column = middle + away if i & 1 else middle - away  # from the middle outwards
        move = moves & (board.column << (np.uint64(column) * board.step))
        if move == U0:
            continue
        after = mask | move
        made = threats(board, mover | move) & board.full & ~after
        score, sign, k_mover, k_mask, k_own, k_other, k_plies, k_moves = settle(
            board, after ^ mover ^ move, after, other & ~move, made, plies + 1
        )
        sign = -sign
        if score != UNKNOWN:
            score = -score
        else:
            k_goal = goal if sign > 0 else 1 - goal
            score = _judge(board, k_mover, k_mask, (k_own, k_other), k_plies, k_goal)
            if score != UNKNOWN:
                score *= sign
        if score != UNKNOWN:
            best = max(best, score)
            if score >= goal:
                return best, 0
            continue
        code = scramble(hashing, code_of(board, k_mover, k_mask, k_plies))
        prefetch(table, slot(hashing, code))
        _put(words, level + 1, count, k_mover, k_mask, k_own, k_other, code)
        if sign < 0:
            k_own, k_other = k_other, k_own
        threats_now, replies = (k_own, k_other), (k_moves, sign)
        order = order_of(board, first, leads, threats_now, k_mask, replies, k_plies - plies)
        base = ((level + 1) * SLOTS + count) * INTS
        order = 64 * order - i * WEIGHTS[first + OUTWARDS]
        ints[base + ORDER] = order + 16 * worth[trailing_zeros(move)] * WEIGHTS[first + LINES]
        ints[base + SIGN] = sign
        count += 1
    return best, count


@inner
def _look_up(table, hashing, stack, level, count, goal, best):
    """Pass 2: drop the successors (of `level`) that the table decides.  Returns (best, count)."""
    words, ints = stack.words, stack.ints
    i = 0
    while i < count:
        entry = fetch(table, hashing, words[(level * SLOTS + i) * WORDS + CODE])
        if entry != U0:
            low = lower_of(entry)
            high = upper_of(entry)
            if ints[(level * SLOTS + i) * INTS + SIGN] < 0:
                low, high = -high, -low
            if low >= goal:
                return low, 0
            if high < goal:
                best = max(best, high)
                count -= 1
                if i != count:
                    _swap(words, ints, level, i, count)
                continue
        i += 1
    return best, count


@inlined
def _reaches(words, level, count, first_ply, last_ply, root_first, root_second):
    """Whether any successor (of `level`) is on one of these plies and holds a root's stones."""
    for i in range(count):
        base = (level * SLOTS + i) * WORDS
        ply = popcount(words[base + MASK])
        if first_ply <= ply <= last_ply:
            mover, other = words[base + MOVER], words[base + MASK] ^ words[base + MOVER]
            if ply & 1:
                mover, other = other, mover
            if mover & root_first == root_first and other & root_second == root_second:
                return True
    return False


@inner
def _consult(leaves, stack, level, count, goal, best):
    """As `_look_up`, asking a tablebase.  All it gives is the sign of a score."""
    words, ints = stack.words, stack.ints
    # The loop is that of `_look_up` again: to share it, it would have to be handed a function
    # (numba keeps no such kernel on disk) or go over the successors once more.
    answers = (ints, level * SLOTS * INTS + VALUE, INTS)
    leaf_values(leaves, (words, level * SLOTS * WORDS, WORDS), count, answers)
    i = 0
    while i < count:
        value = ints[(level * SLOTS + i) * INTS + VALUE]
        if value != NO_VALUE:
            value *= ints[(level * SLOTS + i) * INTS + SIGN]
            low = value if value >= 0 else -BEYOND
            high = value if value <= 0 else BEYOND
            if low >= goal:
                count_decided(leaves, count)
                return low, 0
            if high < goal:
                count_decided(leaves, 1)
                best = max(best, high)
                count -= 1
                if i != count:
                    _swap(words, ints, level, i, count)
                continue
        i += 1
    return best, count


@inner
def _keep(table, hashing, code, score, goal, nodes, age):
    """Store the answer of a node (table modified in place)."""
    if score >= goal:
        store(table, hashing, code, score, BEYOND, nodes, age)
    else:
        store(table, hashing, code, -BEYOND, score, nodes, age)


@inner
def _next(stack, level):
    """Pass 3: move the most promising successor left to the end of the list; return its slot."""
    words, ints, frames = stack.words, stack.ints, stack.frames
    left = frames[level * FRAME + LEFT] - 1
    frames[level * FRAME + LEFT] = left
    base = (level + 1) * SLOTS * INTS + ORDER
    top = left
    for i in range(left):
        if ints[base + i * INTS] > ints[base + top * INTS]:
            top = i
    if top != left:
        _swap(words, ints, level + 1, top, left)
    return left


@inner
def _catch_up(table, hashing, stack, level):
    """Look for a node on the way down to `level` that the table decides, the first one from above.

    Returns (level, node, goal, score) of it; a score of UNKNOWN if there is none.
    """
    words, frames = stack.words, stack.frames
    for above in range(level):
        node, goal = frames[above * FRAME + SLOT], frames[above * FRAME + GOAL]
        entry = fetch(table, hashing, words[(above * SLOTS + node) * WORDS + CODE])
        if entry != U0 and lower_of(entry) >= goal:
            return above, node, goal, lower_of(entry)
        if entry != U0 and upper_of(entry) < goal:
            return above, node, goal, upper_of(entry)
    return level, np.int64(0), np.int64(0), np.int64(UNKNOWN)


@inner
def _search(board, table, hashing, leaves, stack, budget, age):
    """Go on from the place where the stack stands.  Returns (score of the root or UNKNOWN, nodes).

    When the budget is spent the stack holds the place to go on from.
    """
    words, ints, frames, place = stack.words, stack.ints, stack.frames, stack.place
    # Scalars taken out here: handing all arrays of `leaves` to a function at every node
    # would cost as much as the node.
    first_ply, last_ply = leaves.first_ply, leaves.last_ply
    root_first, root_second = leaves.root_first, leaves.root_second
    level, node, goal = place[AT_LEVEL], place[AT_NODE], place[AT_GOAL]
    nodes = place[SPENT]
    last = nodes + budget
    score = np.int64(UNKNOWN)
    if place[TEAM] != ALONE:
        at, at_node, at_goal, score = _catch_up(table, hashing, stack, level)
        if score != UNKNOWN:
            level, node, goal = at, at_node, at_goal
    while True:
        # Enter a node.  Its predecessor has just looked it up; asking the table once
        # more, after its siblings were searched, saves 1 node in 5000 and costs time.
        if score == UNKNOWN:
            if nodes == last:
                place[AT_LEVEL], place[AT_NODE], place[AT_GOAL] = level, node, goal
                spent = nodes - place[SPENT]
                place[SPENT] = nodes
                return score, spent
            nodes += 1
            score, count = _generate(board, table, hashing, stack, level, node, goal)
            if _reaches(words, level + 1, count, first_ply, last_ply, root_first, root_second):
                score, count = _consult(leaves, stack, level + 1, count, goal, score)
            if count:
                score, count = _look_up(table, hashing, stack, level + 1, count, goal, score)
            if count:
                base = level * FRAME
                frames[base + GOAL] = goal
                frames[base + BEST] = score
                frames[base + LEFT] = count
                frames[base + SINCE] = nodes
                frames[base + SLOT] = node
                score = np.int64(UNKNOWN)
            else:
                code = words[(level * SLOTS + node) * WORDS + CODE]
                _keep(table, hashing, code, score, goal, ONE, age)
        # Leave every node that is decided now.
        while score != UNKNOWN:
            if level == 0:
                return score, nodes - place[SPENT]
            score *= ints[(level * SLOTS + node) * INTS + SIGN]
            level -= 1
            base = level * FRAME
            goal = frames[base + GOAL]
            node = frames[base + SLOT]
            score = max(score, frames[base + BEST])
            if score < goal and frames[base + LEFT]:
                frames[base + BEST] = score
                score = np.int64(UNKNOWN)
            else:
                spent = nodes - frames[base + SINCE] + 1
                code = words[(level * SLOTS + node) * WORDS + CODE]
                _keep(table, hashing, code, score, goal, spent, age)
        # Go down to the next successor.
        node = _next(stack, level)
        level += 1
        if ints[(level * SLOTS + node) * INTS + SIGN] < 0:
            goal = 1 - goal


@inner
def is_open(stack, mover, mask):
    """Whether a question about this position was stopped and can go on."""
    return stack.place[IS_OPEN] != 0 and stack.root[0] == mover and stack.root[1] == mask


@inner
def _begin(board, table, hashing, leaves, stack, mover, mask, goal):
    """Put a position at the root of the stack, unless a look decides the question.

    Returns the score that does, or UNKNOWN; then the question IS_OPEN.
    """
    place = stack.place
    place[IS_OPEN] = 0
    stack.root[0], stack.root[1] = mover, mask
    place[ROOT_GOAL] = goal
    plies = popcount(mask)
    feet = (mask + board.bottom) & board.full
    own = threats(board, mover) & board.full & ~mask
    other = threats(board, mask ^ mover) & board.full & ~mask
    if own & feet:
        return win_score(board, plies + 1)
    score, sign, mover, mask, own, other, plies, _ = settle(board, mover, mask, own, other, plies)
    if score != UNKNOWN:
        return score
    if sign < 0:
        goal = 1 - goal
    code = scramble(hashing, code_of(board, mover, mask, plies))
    _put(stack.words, np.int64(0), np.int64(0), mover, mask, own, other, code)
    stack.ints[SIGN] = 1
    if leaves.first_ply <= plies <= leaves.last_ply:
        score, count = _consult(leaves, stack, np.int64(0), 1, goal, -BEYOND)
        if count == 0:
            return sign * score
    entry = fetch(table, hashing, code)
    if entry != U0 and lower_of(entry) >= goal:
        return sign * lower_of(entry)
    if entry != U0 and upper_of(entry) < goal:
        return sign * upper_of(entry)
    place[IS_OPEN], place[ROOT_SIGN] = 1, sign
    place[AT_LEVEL], place[AT_NODE], place[AT_GOAL], place[SPENT] = 0, 0, goal, 0
    return np.int64(UNKNOWN)


@inner
def ask(board, table, hashing, leaves, stack, position, goal, limit):
    """Is the score of an unfinished position, (mover, mask), at least `goal`?

    `limit` is (nodes, age): how far to go, and how old the entries of this question are.

    Returns (score, nodes): `score >= goal` proves at least that score, a lesser one
    proves at most that score; UNKNOWN if the budget ran out, and the same question
    then goes on from there.  Table and stack are modified in place.
    """
    place = stack.place
    mover, mask = position
    budget, age = limit
    if not is_open(stack, mover, mask) or place[ROOT_GOAL] != goal:
        score = _begin(board, table, hashing, leaves, stack, mover, mask, goal)
        if score != UNKNOWN:
            return score, 0
    score, nodes = _search(board, table, hashing, leaves, stack, budget, age)
    if score != UNKNOWN:
        place[IS_OPEN] = 0
        score *= place[ROOT_SIGN]
    return score, nodes
