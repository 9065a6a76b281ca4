r"""All successors of many states at once, in any game that kernels know.

states      s0        s1  s2
moves       / | \     |   (finished: none)
listed     0  0  0    1          `parent`: whose successor it is, in the order of `moves`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.games.kernels import UNDECIDED, move_limit_of, outcome, play
from retro.jit import entry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.game import Board


class Successors(NamedTuple):
    """One entry for every legal move of every state."""

    a: NDArray[np.uint64]
    b: NDArray[np.uint64]
    parent: NDArray[np.int64]
    outcome: NDArray[np.int8]  # for the side to move there, or UNDECIDED

    def some(self, chosen: slice | NDArray[np.integer | np.bool_]) -> Successors:
        """Those at some places."""
        return Successors(self.a[chosen], self.b[chosen], self.parent[chosen], self.outcome[chosen])


def list_successors(board: Board, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> Successors:
    """The successors of unfinished states, the moves of each as people list them.

    >>> from retro.games.catalogue import make_board
    >>> zero = np.zeros(1, np.uint64)
    >>> list_successors(make_board("3x2"), zero, zero).a            # the centre first
    array([ 8,  1, 64], dtype=uint64)
    """
    rules = board.rules
    limit = int(move_limit_of(rules))
    moves = np.array(board.game.in_order(board, list(range(limit))), np.int64)
    room = len(a) * limit
    found = Successors(
        np.empty(room, np.uint64),
        np.empty(room, np.uint64),
        np.empty(room, np.int64),
        np.empty(room, np.int8),
    )
    number = _list(rules, a, b, moves, found)
    return found.some(slice(number))


@entry
def _list(rules, a, b, moves, found):
    """Fill `found` in place; returns how many there are."""
    number = 0
    for i in range(len(a)):
        for move in moves:
            legal, next_a, next_b = play(rules, a[i], b[i], move)
            if legal:
                found.a[number], found.b[number] = next_a, next_b
                found.parent[number] = i
                found.outcome[number] = outcome(rules, next_a, next_b)
                number += 1
    return number


__all__ = ["UNDECIDED", "Successors", "list_successors"]
