"""The node loop of `search`: exact values and distances in any game that `kernels` knows.

The question is always "is the score at least `goal`?", a null window. An answer
is a score: `>= goal` means "at least this", `< goal` means "at most this". Scores
are those of `table`, but counted from the root, so that one level's score is the
next one's with the other sign:

    goal 1          a win, however late?          goal 0       no loss?
    goal WON - n    a win within n plies?         goal n - WON + 1   no loss within n plies?

The table counts from the position itself: `_from_root` and `_from_here` translate. What
rules and bounds decide says nothing of distances but that a game goes on for one ply.

A node is expanded in three passes over its successors:

    1. play; what the rules or the game's bounds decide is not searched;
    2. look the others up in the table; a single good one ends the node;
    3. search what is left, highest priority first.

The recursion is a loop over `Stack`: level d + 1 holds the successors of the node
of level d, so a node is a pair (level, slot). Everything the loop needs to go on
is in the stack, so it can stop after some nodes and be resumed.

                 slot 0      slot 1      slot 2
    level 0      the root
    level 1      successor   successor   [node]       <- being searched
    level 2      successor   successor                   its successors
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retro.games import kernels
from retro.jit import entry, inlined, inner
from retro.search.generic.table import WON, fetch, hash_of, store

OPEN = WON + 1  # no score: not decided yet
LEVELS = WON
WORDS = 4  # per slot: state a, b, canonical state a, b
INTS = 2  # per slot: hash of the canonical state, priority
HASH, ORDER = range(INTS)
FRAME = 5  # per level, of the node being searched there:
GOAL, BEST, LEFT, SINCE, SLOT = range(FRAME)
LEVEL, NODES = range(2)  # of the whole search


class Stack(NamedTuple):
    """Scratch memory of one search; all of it is modified in place."""

    words: np.ndarray  # uint64[LEVELS, slots, WORDS]
    ints: np.ndarray  # int64[LEVELS, slots, INTS]
    frames: np.ndarray  # int64[LEVELS, FRAME]
    place: np.ndarray  # int64[2]: level and nodes


def make_stack(slots: int) -> Stack:
    """The memory of a search in a game with at most `slots` moves."""
    return Stack(
        np.zeros((LEVELS, slots, WORDS), np.uint64),
        np.zeros((LEVELS, slots, INTS), np.int64),
        np.zeros((LEVELS, FRAME), np.int64),
        np.zeros(2, np.int64),
    )


# Inlined, because a call would count the references of every array in its tuples.


@inlined
def _from_root(score, level):
    """A score of the table as the root sees it: later, but a win stays a win."""
    if score > 0:
        return max(score - level, 1)
    if score < 0:
        return min(score + level, -1)
    return score


@inlined
def _from_here(score, level):
    """A score of the search as the table keeps it."""
    if score > 0:
        return score + level
    if score < 0:
        return score - level
    return score


@inlined
def _look(rules, a, b, level):
    """(low, high) of a state's score by rules and bounds alone."""
    decided = kernels.outcome(rules, a, b)
    if decided != kernels.UNDECIDED:
        return decided * (WON - level), decided * (WON - level)
    low, high = kernels.bounds(rules, a, b)
    next_ply = WON - level - 1
    return (low if low >= 0 else -next_ply), (high if high <= 0 else next_ply)


@inlined
def _remembered(table, stack, level, slot):
    """(low, high) of a node's score by the table."""
    key = stack.words[level, slot]
    low, high = fetch(table, stack.ints[level, slot, HASH], key[2], key[3])
    return _from_root(low, level), _from_root(high, level)


@inner
def _put(rules, stack, level, slot, a, b):
    """Write a state and what tells its place in a table to a slot."""
    key_a, key_b = kernels.canonical(rules, a, b)
    words = stack.words[level, slot]
    words[0], words[1], words[2], words[3] = a, b, key_a, key_b
    stack.ints[level, slot, HASH] = hash_of(key_a, key_b)


@inner
def _generate(rules, table, stack, level, slot, goal):
    """Pass 1: write the undecided successors of a node to the next level.

    Returns (best, count). A best `>= goal` ends the node; otherwise it is the
    most that any successor decided here can be worth.
    """
    a, b = stack.words[level, slot, 0], stack.words[level, slot, 1]
    best, count = np.int64(-WON), np.int64(0)
    for move in range(kernels.move_limit(rules)):
        legal, next_a, next_b = kernels.play(rules, a, b, move)
        if not legal:
            continue
        low, high = _look(rules, next_a, next_b, level + 1)
        if -high >= goal:
            return np.int64(-high), np.int64(0)
        if -low < goal:
            best = max(best, np.int64(-low))
            continue
        _put(rules, stack, level + 1, count, next_a, next_b)
        stack.ints[level + 1, count, ORDER] = kernels.priority(rules, a, b, move)
        count += 1
    return best, count


@inner
def _swap(stack, level, i, j):
    """Exchange two successors of one level."""
    for n in range(WORDS):
        words = stack.words[level]
        words[i, n], words[j, n] = words[j, n], words[i, n]
    for n in range(INTS):
        ints = stack.ints[level]
        ints[i, n], ints[j, n] = ints[j, n], ints[i, n]


@inner
def _look_up(table, stack, level, count, goal, best):
    """Pass 2: drop the successors, at `level`, that the table decides. Returns (best, count)."""
    i = np.int64(0)
    while i < count:
        low, high = _remembered(table, stack, level, i)
        if -high >= goal:
            return np.int64(-high), np.int64(0)
        if -low < goal:
            best = max(best, np.int64(-low))
            count -= 1
            _swap(stack, level, i, count)
        else:
            i += 1
    return best, count


@inner
def _next(stack, level):
    """Pass 3: move the best successor left to the end of the list; return its slot."""
    left = stack.frames[level, LEFT] - 1
    stack.frames[level, LEFT] = left
    top = left
    for i in range(left):
        if stack.ints[level + 1, i, ORDER] > stack.ints[level + 1, top, ORDER]:
            top = i
    if top != left:
        _swap(stack, level + 1, top, left)
    return left


@inner
def _keep(table, stack, level, slot, score, goal, age, nodes):
    """Store the answer of a node."""
    key = stack.words[level, slot]
    known = _from_here(score, level)
    low, high = (known, WON) if score >= goal else (-WON, known)
    store(table, stack.ints[level, slot, HASH], key[2], key[3], low, high, age, nodes)


@inner
def _enter(rules, table, stack, level, slot, goal, age):
    """Ask the table about a node, else expand it. Returns its score or OPEN."""
    # Its predecessor has asked, but siblings searched since may be the same but for symmetry.
    low, high = _remembered(table, stack, level, slot)
    if low >= goal:
        return np.int64(low)
    if high < goal:
        return np.int64(high)
    stack.place[NODES] += 1
    best, count = _generate(rules, table, stack, level, slot, goal)
    if count:
        best, count = _look_up(table, stack, level + 1, count, goal, best)
    if count == 0:
        _keep(table, stack, level, slot, best, goal, age, 1)
        return best
    frame = stack.frames[level]
    frame[GOAL], frame[BEST], frame[LEFT], frame[SLOT] = goal, best, count, slot
    frame[SINCE] = stack.place[NODES]
    return np.int64(OPEN)


@inner
def _leave(table, stack, score, age):
    """Hand a score down the levels while it decides their nodes. Returns OPEN or the root's."""
    while stack.place[LEVEL] > 0:
        level = stack.place[LEVEL] - 1
        stack.place[LEVEL] = level
        frame = stack.frames[level]
        best = max(frame[BEST], -score)
        if best < frame[GOAL] and frame[LEFT] > 0:
            frame[BEST] = best
            return np.int64(OPEN)
        spent = stack.place[NODES] - frame[SINCE] + 1
        _keep(table, stack, level, frame[SLOT], best, frame[GOAL], age, spent)
        score = best
    return np.int64(score)


@entry
def begin(rules, table, stack, a, b, goal, age):
    """Ask whether the score of a state is at least `goal`. Returns a score or OPEN."""
    stack.place[LEVEL] = stack.place[NODES] = 0
    low, high = _look(rules, a, b, 0)
    if low >= goal:
        return np.int64(low)
    if high < goal:
        return np.int64(high)
    _put(rules, stack, 0, 0, a, b)
    return _enter(rules, table, stack, 0, 0, goal, age)


@entry
def resume(rules, table, stack, age, budget):
    """Go on with an OPEN question, for at most `budget` nodes. Returns a score or OPEN."""
    last = stack.place[NODES] + budget
    while stack.place[NODES] < last:
        level = stack.place[LEVEL]
        slot = _next(stack, level)
        goal = 1 - stack.frames[level, GOAL]
        stack.place[LEVEL] = level + 1
        score = _enter(rules, table, stack, level + 1, slot, goal, age)
        if score != OPEN:
            score = _leave(table, stack, score, age)
            if score != OPEN:
                return score
    return np.int64(OPEN)


@entry
def values_of(rules, table, stack, a, b, values, age, budget):
    """The values of many states, one after the other, until the budget of nodes is spent.

    Returns (nodes, done): the first `done` of `values` are filled.
    """
    nodes = np.int64(0)
    for i in range(len(a)):
        score = begin(rules, table, stack, a[i], b[i], 1, age)
        if score == OPEN:
            score = resume(rules, table, stack, age, budget - nodes)
        nodes += stack.place[NODES]
        if score == 0:  # at most a draw
            score = begin(rules, table, stack, a[i], b[i], 0, age)
            if score == OPEN:
                score = resume(rules, table, stack, age, budget - nodes)
            nodes += stack.place[NODES]
        if score == OPEN:
            return nodes, i
        values[i] = np.sign(score)
    return nodes, len(a)
