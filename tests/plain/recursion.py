"""The plain truth of any game: every position that play can reach, valued by recursion.

Asks the game for `legal_moves`, `play` and `outcome` alone; remembers states.
"""

from functools import cache
from typing import NamedTuple

from retro.games.game import Position


class Known(NamedTuple):
    """A position that play can reach."""

    position: Position
    value: int  # for the side to move
    is_over: bool


@cache
def every_position(start):
    """{state: Known} of all that can follow a position, itself among them."""
    known = {}

    def value(position):
        state = position._state
        if state not in known:
            best = outcome = position.outcome()
            if outcome is None:
                best = max(-value(position._play(move)) for move in position._numbers())
            known[state] = Known(position, best, outcome is not None)
        return known[state].value

    value(start)
    return known


def layer(start, ply):
    """The unfinished ones of a ply: {state: value}."""
    found = every_position(start).items()
    return {
        state: this.value for state, this in found if this.position.ply == ply and not this.is_over
    }
