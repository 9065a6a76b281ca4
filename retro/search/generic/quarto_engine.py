"""The fast exact search of Quarto: the node loop that `search` uses for this game.

The question is always "is the value at least `goal`?", goal 0 or 1; the answer
is YES or NO. Only *quiet* positions are nodes: the piece in hand completes
nothing. A line is *dangerous* when one cell of it is empty and its pieces share
a value; what wins on that cell is kept as one byte per cell, brought up to date
with every piece placed:

    danger byte    3 2 1 0 | 3 2 1 0       attribute
                   value 0 | value 1       a piece with one of these values wins there
    danger low     the bytes of cells 0-7;  danger high  those of cells 8-15

All bytes or-ed together tell which pieces win somewhere; SAFE lists the pieces
that win nowhere. A move is a cell and a safe gift, and a cell after which no gift
is safe loses and is no move at all. Moves are tried in this order, which takes a
fifth to a tenth of the nodes of any other that was tried:

    many pieces left to place   few answers of the opponent first; none at all is a win
    fewer                       few safe gifts first
    few                         as they come

With three left or less a look settles it. The recursion is a loop over `Stack`,
one level per ply, and everything it needs to go on is there, so it can stop
after some nodes and be resumed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.games import kernels
from retro.games.quarto.kernels import EIGHT, HAND, HAS_HAND, HIGH, LOW, PIECE, spread
from retro.jit import entry, inlined, inner
from retro.search.connect4.bits import U0, U1, popcount, trailing_zeros
from retro.search.generic.engine import OPEN
from retro.search.generic.table import WON, fetch, hash_of, store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retro.games.quarto.rules import QuartoBoard
    from retro.search.engine import Options, Table
    from retro.search.generic.search import GenericSearch

NO, YES = 0, 1  # and OPEN, not answered yet

# From how many pieces left to place on a node is looked up, its moves sorted, answers counted.
TABLE_PIECES, SORT_PIECES, ANSWER_PIECES = 7, 6, 8

LEVELS = 18  # plies of the longest game, and one more
WORDS = 6  # per level: the position
A, OCCUPIED, STOCK, HELD, DANGER_LOW, DANGER_HIGH = range(WORDS)
INTS = 5  # per level: the question, the moves left, and where its answer is kept
GOAL, NEXT, COUNT, SINCE, HASH = range(INTS)
LEVEL, NODES, TURNED = range(3)  # of the whole search

BYTE = np.uint64(255)
NOT_HIGH = ~HIGH


class Stack(NamedTuple):
    """Scratch memory of one search; all of it is modified in place."""

    words: np.ndarray  # uint64[LEVELS, WORDS]
    keys: np.ndarray  # uint64[LEVELS, 2]
    ints: np.ndarray  # int64[LEVELS, INTS]
    moves: np.ndarray  # int64[LEVELS, slots]: order << 8 | cell << 4 | piece
    place: np.ndarray  # int64[3]: level, nodes, whether the root's question was turned round


def make_stack(slots: int) -> Stack:
    """The memory of a search in a game with at most `slots` moves."""
    return Stack(
        np.zeros((LEVELS, WORDS), np.uint64),
        np.zeros((LEVELS, 2), np.uint64),
        np.zeros((LEVELS, INTS), np.int64),
        np.zeros((LEVELS, slots), np.int64),
        np.zeros(3, np.int64),
    )


def make_search(
    board: QuartoBoard, options: Options, tables: Sequence[Table] = ()
) -> GenericSearch:
    """The generic engine with this node loop."""
    from retro.search.generic.search import GenericSearch

    return GenericSearch(board, options, tables, loop=sys.modules[__name__])


def safe_pieces(attributes: int) -> list[int]:
    """[danger byte] -> the pieces, one bit each, that complete nothing.

    >>> bin(safe_pieces(2)[0b0000_0001])     # danger: attribute 0 of value 1
    '0b101'
    """
    every = (1 << attributes) - 1
    values = [piece | (piece ^ every) << 4 for piece in range(every + 1)]
    return [sum(1 << p for p, has in enumerate(values) if not has & byte) for byte in range(256)]


SAFE = np.array([safe_pieces(attributes) for attributes in range(5)], np.uint64)


@inlined
def _gathered(bits):
    """Bit 0 of each plane, side by side; undoes `spread`."""
    bits |= bits >> np.uint64(15)
    return (bits | bits >> np.uint64(30)) & PIECE


@inlined
def shared_values(a, cells):
    """The values that all pieces on some cells share, as a danger byte."""
    under = cells * LOW
    ones = a & under
    zeros = ones ^ under
    # The highest bit of each plane of `x` tells whether anything was there, exactly.
    not_all_0 = (((ones & NOT_HIGH) + NOT_HIGH) | ones) & HIGH
    not_all_1 = (((zeros & NOT_HIGH) + NOT_HIGH) | zeros) & HIGH
    plane_top = np.uint64(15)
    return _gathered((HIGH ^ not_all_1) >> plane_top) | _gathered(
        (HIGH ^ not_all_0) >> plane_top
    ) << np.uint64(4)


@inlined
def place(lines_at, a, occupied, low, high, cell, piece):
    """Put a piece on a cell. Returns planes, occupied cells and danger bytes after it."""
    bit = U1 << cell
    a |= spread(piece) << cell
    occupied |= bit
    if cell < EIGHT:
        low &= ~(BYTE << (EIGHT * cell))
    else:
        high &= ~(BYTE << (EIGHT * (cell - EIGHT)))
    for i in range(lines_at.shape[1]):
        line = lines_at[cell, i]
        hole = line & ~occupied
        if hole != U0 and hole & (hole - U1) == U0:
            danger = shared_values(a, line ^ hole)
            if hole <= BYTE:
                low |= danger << (EIGHT * trailing_zeros(hole))
            else:
                high |= danger << (EIGHT * (trailing_zeros(hole) - EIGHT))
    return a, occupied, low, high


@inlined
def folded(low, high):
    """All danger bytes or-ed together."""
    danger = low | high
    danger |= danger >> np.uint64(32)
    danger |= danger >> np.uint64(16)
    return (danger | danger >> EIGHT) & BYTE


@inner
def _answers(rules, a, occupied, low, high, stock, hand, empty):
    """How many moves there are: pairs of a cell and a gift that is safe after it."""
    count = 0
    while empty:
        cell = trailing_zeros(empty)
        empty &= empty - U1
        _, _, next_low, next_high = place(rules.lines_at, a, occupied, low, high, cell, hand)
        count += popcount(stock & SAFE[rules.attributes, folded(next_low, next_high)])
    return count


@inner
def _generate(rules, stack, level, empty, left):
    """List the moves of a node, most promising first. Returns YES if one wins at a look, or OPEN.

    When three pieces are left to place, only a move without an answer wins: none is listed.
    """
    words, moves = stack.words, stack.moves
    a, occupied, hand = words[level, A], words[level, OCCUPIED], words[level, HELD]
    stock, low, high = words[level, STOCK], words[level, DANGER_LOW], words[level, DANGER_HIGH]
    look = left == 3 or left >= ANSWER_PIECES
    count, cells = 0, empty
    while cells:
        cell = trailing_zeros(cells)
        cells &= cells - U1
        a2, occupied2, low2, high2 = place(rules.lines_at, a, occupied, low, high, cell, hand)
        gifts = stock & SAFE[rules.attributes, folded(low2, high2)]
        order = popcount(gifts)
        while gifts:
            piece = trailing_zeros(gifts)
            gifts &= gifts - U1
            if look:
                others, empty2 = stock ^ (U1 << piece), empty ^ (U1 << cell)
                order = _answers(rules, a2, occupied2, low2, high2, others, piece, empty2)
                if order == 0:
                    return YES
            moves[level, count] = (order << 8) | np.int64(cell << np.uint64(4) | piece)
            count += 1
    if left >= SORT_PIECES:
        moves[level, :count].sort()
    stack.ints[level, COUNT] = count if left > 3 else 0
    stack.ints[level, NEXT] = 0
    return OPEN


@inner
def _enter(rules, table, stack, level, age):
    """Answer the question of a level by a look, by the table, or list its moves: OPEN."""
    stack.place[NODES] += 1
    words, ints, keys = stack.words, stack.ints, stack.keys
    a, occupied, hand = words[level, A], words[level, OCCUPIED], words[level, HELD]
    stock, goal = words[level, STOCK], ints[level, GOAL]
    empty = (U1 << np.uint64(rules.cells)) - U1 & ~occupied
    left = min(popcount(empty), popcount(stock) + 1)
    if left == 1:
        return YES if goal <= 0 else NO
    if left == 2 or (left == 3 and goal == 0):
        # With a safe gift the opponent cannot win at once, nor later: then it is a draw at least,
        # and with two pieces left at most.
        low, high = words[level, DANGER_LOW], words[level, DANGER_HIGH]
        answers = _answers(rules, a, occupied, low, high, stock, hand, empty)
        return YES if goal == 0 and answers > 0 else NO
    ints[level, HASH] = -1
    if left >= TABLE_PIECES:
        key_a, key_b = kernels.canonical(rules, a, occupied | hand << HAND | HAS_HAND)
        code = hash_of(key_a, key_b)
        keys[level, 0], keys[level, 1], ints[level, HASH] = key_a, key_b, code
        lower, upper = fetch(table, code, key_a, key_b)
        if lower >= goal:
            return YES
        if upper < goal:
            return NO
    ints[level, SINCE] = stack.place[NODES]
    answer = _generate(rules, stack, level, empty, left)
    if answer != OPEN:
        _keep(table, stack, level, answer, age)
    return answer


@inner
def _keep(table, stack, level, answer, age):
    """Store the answer of a node, if it is one that the table keeps."""
    ints, keys = stack.ints, stack.keys
    code, goal = ints[level, HASH], ints[level, GOAL]
    if code >= 0:
        lower, upper = (goal, WON) if answer == YES else (-WON, goal - 1)
        spent = stack.place[NODES] - ints[level, SINCE] + 1
        store(table, code, keys[level, 0], keys[level, 1], lower, upper, age, spent)


@inner
def _descend(lines_at, stack, level):
    """Play the next move of a level: the position and the question of the next level."""
    words, ints = stack.words, stack.ints
    move = np.uint64(stack.moves[level, ints[level, NEXT]])
    ints[level, NEXT] += 1
    cell, piece = (move >> np.uint64(4)) & PIECE, move & PIECE
    a, occupied, hand = words[level, A], words[level, OCCUPIED], words[level, HELD]
    low, high = words[level, DANGER_LOW], words[level, DANGER_HIGH]
    a, occupied, low, high = place(lines_at, a, occupied, low, high, cell, hand)
    after = level + 1
    words[after, A], words[after, OCCUPIED], words[after, HELD] = a, occupied, piece
    words[after, DANGER_LOW], words[after, DANGER_HIGH] = low, high
    words[after, STOCK] = words[level, STOCK] ^ (U1 << piece)
    ints[after, GOAL] = 1 - ints[level, GOAL]


@inner
def _value(stack, goal, answer):
    """What an answer to the root's question says of the value: `>= goal` or `< goal`, or OPEN."""
    if answer == OPEN:
        return np.int64(OPEN)
    return np.int64(goal if (answer == YES) != (stack.place[TURNED] != 0) else goal - 1)


@inner
def _set_up(rules, stack, a, b, hand):
    """Put a position on level 0, piece by piece, so that its dangers are known."""
    words = stack.words
    stock = SAFE[rules.attributes, 0] ^ (U1 << hand)
    planes, occupied, low, high = U0, U0, U0, U0
    for number in range(rules.cells):
        cell = np.uint64(number)
        if b >> cell & U1:
            piece = _gathered(a >> cell & LOW)
            stock ^= U1 << piece
            planes, occupied, low, high = place(
                rules.lines_at, planes, occupied, low, high, cell, piece
            )
    words[0, A], words[0, OCCUPIED], words[0, HELD], words[0, STOCK] = planes, occupied, hand, stock
    words[0, DANGER_LOW], words[0, DANGER_HIGH] = low, high
    return SAFE[rules.attributes, folded(low, high)] >> hand & U1 != U0


@entry
def begin(rules, table, stack, a, b, goal, age):
    """Ask whether the value of a state is at least `goal`, 0 or 1. Returns a value or OPEN.

    Before anything was given all pieces are equal: piece 0 is given, and the
    question is the opponent's. Table and stack are modified in place.
    """
    stack.place[LEVEL] = stack.place[NODES] = stack.place[TURNED] = 0
    known = kernels.outcome(rules, a, b)
    if known != kernels.UNDECIDED:
        return np.int64(known)
    stack.ints[0, GOAL] = goal
    if b & HAS_HAND == U0:
        stack.place[TURNED] = 1
        stack.ints[0, GOAL] = 1 - goal
    quiet = _set_up(rules, stack, a, b, (b >> HAND) & PIECE)
    answer = _enter(rules, table, stack, 0, age) if quiet else YES
    return _value(stack, goal, answer)


@entry
def resume(rules, table, stack, age, budget):
    """Go on with a question that is OPEN for about `budget` nodes. Returns a value or OPEN."""
    goal = 1 - stack.ints[0, GOAL] if stack.place[TURNED] else stack.ints[0, GOAL]
    answer = _go_on(rules, table, stack, age, budget)
    return _value(stack, goal, answer)


@inner
def _go_on(rules, table, stack, age, budget):
    """Search on below the node of the present level. Returns YES, NO or OPEN."""
    last = stack.place[NODES] + budget
    level = stack.place[LEVEL]
    while stack.place[NODES] < last:
        answer = NO  # unless a move is left to try
        if stack.ints[level, NEXT] < stack.ints[level, COUNT]:
            _descend(rules.lines_at, stack, level)
            level += 1
            answer = _enter(rules, table, stack, level, age)
        else:
            _keep(table, stack, level, NO, age)
        while answer != OPEN:
            if level == 0:
                stack.place[LEVEL] = level
                return answer
            level -= 1
            if answer == YES:  # the opponent's: that was no good move, try the next
                break
            answer = YES
            _keep(table, stack, level, YES, age)
    stack.place[LEVEL] = level
    return OPEN
