"""Tables as perfect leaves of the search: the value of a position from planes in memory.

A table's plies are handed to the engine as arrays, no file and no Python in the loop:

    words   | ply 8: w l w l w l ... | ply 9: w l w l ... |    uint64, a win word, a loss
              ^ start[8]               ^ start[9]              word, and so on: an answer
                                                               costs one cache line

The place of a position comes from `retro.index.halves.ranking`, whatever that does.

*When a table may be asked.* Only about quiet positions: the side to move cannot
complete a line at once, and neither could the other side if it were to move.
Every successor that the engine writes to its stack is quiet (`settle` sees to
it), so tables may leave everything else blank.

*What an answer means.* The value is for the side to move: WIN says score >= 1,
DRAW score = 0, LOSS score <= -1. That decides every question about the value
and, of those about the distance, the ones it contradicts; the rest is searched.

*Whether it pays.* Asking takes as long as some nodes, so only positions that hold the
stones of the table's root are asked about, and `tally` counts what came of it: where
few answers decide anything (a table of wins and draws, a question about distances),
the solver goes on without.

The engine chooses by *type*: with `NoLeaves` the code is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba.core.errors import TypingError
from numba.extending import overload

from retro.index.halves.ranking import rank_many
from retro.jit import inner
from retro.search.connect4.bits import U1, popcount

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from retro.index.halves.layout import Layout, Shape

    Run = tuple[NDArray[np.uint64] | NDArray[np.int64], int, int]  # array, first place, step

NO_VALUE = np.int64(2)
MOST = 32  # positions asked about at a time, the width of the widest board
ASKED, ANSWERED, DECIDED = range(3)  # what is counted: positions


class NoLeaves(NamedTuple):
    """Search to the end of the game. No ply is between first and last."""

    first_ply: np.int64 = np.int64(1)
    last_ply: np.int64 = np.int64(0)
    root_first: np.uint64 = np.uint64(0)
    root_second: np.uint64 = np.uint64(0)


class Leaves(NamedTuple):
    """Plies first..last of a table, and scratch memory for asking; two threads need two."""

    first_ply: np.int64
    last_ply: np.int64
    root_first: np.uint64  # the stones of the table's root: what lacks one is not in the table
    root_second: np.uint64
    words: NDArray[np.uint64]
    start: NDArray[np.int64]  # [ply] its first word in `words`
    first: NDArray[np.uint64]  # the positions being asked about
    second: NDArray[np.uint64]
    ranks: NDArray[np.int64]
    tally: NDArray[np.int64]  # [3] ASKED, ANSWERED and DECIDED so far
    shape: Shape


def make_leaves(layout: Layout, plies: range, read: Callable[[int], NDArray[np.uint64]]) -> Leaves:
    """Take some plies of a table into memory; `read` gives the planes of one, [2, words]."""
    ends = 2 * np.cumsum(layout.stored_words[plies.start : plies.stop])
    start = np.zeros(layout.plies, np.int64)
    start[plies.start + 1 : plies.stop] = ends[:-1]
    words = np.empty(ends[-1], np.uint64)
    for ply, end in zip(plies, ends, strict=True):
        words[start[ply] : end].reshape(-1, 2)[:] = read(ply).T
    return Leaves(
        first_ply=np.int64(plies.start),
        last_ply=np.int64(plies.stop - 1),
        root_first=layout.shape.root_first,
        root_second=layout.shape.root_second,
        words=words,
        start=start,
        first=np.zeros(MOST, np.uint64),
        second=np.zeros(MOST, np.uint64),
        ranks=np.zeros(MOST, np.int64),
        tally=np.zeros(3, np.int64),
        shape=layout.shape,
    )


def fork_leaves(leaves: Leaves | NoLeaves) -> Leaves | NoLeaves:
    """The same plies with scratch memory of their own; all count together, roughly."""
    if isinstance(leaves, NoLeaves):
        return leaves
    return leaves._replace(
        first=leaves.first.copy(), second=leaves.second.copy(), ranks=leaves.ranks.copy()
    )


def leaf_values(leaves: Leaves | NoLeaves, stones: Run, count: int, values: Run) -> None:
    """Find the values of `count` quiet positions for their sides to move, or NO_VALUE.

    `stones` holds mover and mask of each, `values` takes the answers: both as
    (array, place of the first, step from one to the next). Plain twin; kernels
    get the fast one.
    """
    (words, at, step), (out, into, out_step) = stones, values
    for i in range(count):
        mover, mask = (int(words[at + i * step + word]) for word in range(2))
        out[into + i * out_step] = _value(leaves, mover, mask)


def _value(leaves: Leaves | NoLeaves, mover: int, mask: int) -> int:
    ply = mask.bit_count()
    if isinstance(leaves, NoLeaves) or not leaves.first_ply <= ply <= leaves.last_ply:
        return int(NO_VALUE)
    sides = np.array([mover, mask ^ mover], np.uint64)
    first, second = sides[ply % 2 :][:1], sides[1 - ply % 2 :][:1]
    rank_many(leaves.shape, first, second, rank := np.empty(1, np.int64))
    if rank[0] < 0:
        return int(NO_VALUE)
    word = leaves.start[ply] + 2 * (rank[0] >> 6)
    win, loss = (int(leaves.words[word + plane]) >> int(rank[0] & 63) & 1 for plane in range(2))
    return win - loss


@inner
def _find(leaves, words, at, step, count, values, into, out_step):
    """As `leaf_values`. One call for all positions: each counts references of two dozen arrays."""
    first, second, ranks = leaves.first[:count], leaves.second[:count], leaves.ranks[:count]
    for i in range(count):
        mover, mask = words[at + i * step], words[at + i * step + 1]
        is_odd = popcount(mask) & 1
        first[i] = mask ^ mover if is_odd else mover
        second[i] = mover if is_odd else mask ^ mover
    rank_many(leaves.shape, first, second, ranks)
    leaves.tally[ASKED] += count
    for i in range(count):
        ply = popcount(first[i] | second[i])
        value = NO_VALUE
        if ranks[i] >= 0 and leaves.first_ply <= ply <= leaves.last_ply:
            word = leaves.start[ply] + 2 * (ranks[i] >> 6)
            bit = np.uint64(ranks[i] & 63)
            win, loss = leaves.words[word] >> bit, leaves.words[word + 1] >> bit
            value = np.int64(win & U1) - np.int64(loss & U1)
            leaves.tally[ANSWERED] += 1
        values[into + i * out_step] = value


@overload(leaf_values, jit_options={"nogil": True})
def _leaf_values(leaves, stones, count, values):
    def none(leaves, stones, count, values):
        pass

    def find(leaves, stones, count, values):
        _find(leaves, *stones, count, *values)

    if leaves.instance_class is NoLeaves:
        return none
    if leaves.instance_class is Leaves:
        return find
    raise TypingError(f"wanted NoLeaves or Leaves, found {leaves}")


def count_decided(leaves: Leaves | NoLeaves, number: int) -> None:
    """Note that so many answers made a search needless."""
    if isinstance(leaves, Leaves):
        leaves.tally[DECIDED] += number


@overload(count_decided, jit_options={"nogil": True})
def _count_decided(leaves, number):
    def none(leaves, number):
        pass

    def add(leaves, number):
        leaves.tally[DECIDED] += number

    return none if leaves.instance_class is NoLeaves else add
