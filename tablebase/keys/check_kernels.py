"""Every stored position against the rules, in kernels that share nothing with the walk.

A layer is right if, and only if, these hold for each of its keys; `after` is the next layer:

    order      it is larger than the key before it
    canonical  it is the chosen one of its symmetry class
    live       the rules do not decide it, and it has a move
    closed     every undecided successor is in `after`
    value      it is the best over the successors: by the rules, or as `after` has it; and so
               the score, which says the plies to the end, too, if the table has distances
    reached    it is a successor of a key of the layer before, or the root

Closed and reached make the keys exactly those that play can reach, so nothing is
missing and nothing is too much. Every move of every key is played and looked up, by plain
binary search; the walk may stop at a winning move, this may not.

The jitted rules are their own judge here; `check` asks the plain ones about a sample.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.cores import available_cores
from retro.games.kernels import UNDECIDED, canonical, move_limit, outcome, play
from retro.jit import entry, inner

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from retro.games.game import Rules
    from tablebase.keys.store import Page

SOUND, ORDER, NOT_CANONICAL, NOT_LIVE, NOT_CLOSED, WRONG_VALUE, NOT_REACHED = range(7)
STRETCH = 1 << 16  # keys that a thread checks at a time
NOTHING = -200  # below every value and score
# What a game is worth that the side to move has won, and how much less it is worth a ply later.
VALUES, SCORES = (1, 0), (127, 1)
U0 = np.uint64(0)


class Fault(NamedTuple):
    """What is wrong with a layer: which of the above, and the place of the key."""

    kind: int
    place: int
    value: int = 0  # with WRONG_VALUE: the right one


def find_fault(
    rules: Rules,
    layer: Page,
    after: Page,
    met: NDArray[np.bool_],
    report: Callable[[], None] = lambda: None,
    *,
    worth: tuple[int, int] = VALUES,
) -> Fault | None:
    """The first fault of a layer; marks in `met`, in place, the keys of `after` that follow it.

    `met` has a flag for every key of `after`. Threads may set the same flag, all to the same
    value. `report` is called now and then.
    """
    size = layer.keys.size
    cuts = [*range(0, size, STRETCH), size]

    def check(stretch: tuple[int, int]) -> tuple[int, int, int]:
        found: tuple[int, int, int] = check_stretch(
            rules, (*layer.keys, layer.values), stretch, (*after.keys, after.values), met, worth
        )
        return found

    with ThreadPoolExecutor(available_cores()) as pool:
        each = pool.map if len(cuts) > 2 else map
        for found in each(check, pairwise(cuts)):
            report()
            if found[0] != SOUND:
                return Fault(*found)
    return None


def find_unreached(met: NDArray[np.bool_]) -> Fault | None:
    """The first key that no move leads to, when all keys of the layer before were followed."""
    return None if met.all() else Fault(NOT_REACHED, int(np.argmin(met)))


@inner
def _place(keys_a, keys_b, a, b):
    """The place of a key among sorted ones, or -1."""
    low, high = 0, len(keys_a)
    while low < high:
        middle = (low + high) >> 1
        if keys_a[middle] < a or (keys_a[middle] == a and len(keys_b) > 0 and keys_b[middle] < b):
            low = middle + 1
        else:
            high = middle
    is_there = low < len(keys_a) and keys_a[low] == a and (len(keys_b) == 0 or keys_b[low] == b)
    return low if is_there else -1


@entry
def check_stretch(rules, layer, stretch, after, met, worth):
    """(kind, place, right value) of the first fault among the keys of a stretch.

    A layer is (a, b, values), a stretch (begin, end), `worth` VALUES or SCORES.
    """
    won, later = worth
    keys_a, keys_b, values = layer
    after_a, after_b, after_values = after
    begin, end = stretch
    limit = move_limit(rules)
    for i in range(begin, end):
        a, b = keys_a[i], keys_b[i] if len(keys_b) > 0 else U0
        if i > 0 and not (
            keys_a[i - 1] < a or (keys_a[i - 1] == a and len(keys_b) > 0 and keys_b[i - 1] < b)
        ):
            return ORDER, i, 0
        own_a, own_b = canonical(rules, a, b)
        if own_a != a or own_b != b:
            return NOT_CANONICAL, i, 0
        if outcome(rules, a, b) != UNDECIDED:
            return NOT_LIVE, i, 0
        best = NOTHING
        for move in range(limit):
            legal, next_a, next_b = play(rules, a, b, move)
            if legal:
                value = outcome(rules, next_a, next_b)
                if value == UNDECIDED:
                    next_a, next_b = canonical(rules, next_a, next_b)
                    place = _place(after_a, after_b, next_a, next_b)
                    if place < 0:
                        return NOT_CLOSED, i, 0
                    met[place] = True
                    value = np.int64(after_values[place])
                else:
                    value *= won
                best = max(best, -value + later * ((value > 0) - (value < 0)))
        if best == NOTHING:
            return NOT_LIVE, i, 0
        if values[i] != best:
            return WRONG_VALUE, i, best
    return SOUND, 0, 0
