"""Domineering at a glance: places for a domino.

mobility  places of the side to move, less the opponent's
safe      also places that the opponent can never take away
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retro.games.domineering.rules import DomineeringPosition


def mobility(position: DomineeringPosition) -> int:
    """Places for a domino of the side to move, less the opponent's."""
    ours, theirs = _places(position)
    return len(ours) - len(theirs)


def safe_places(position: DomineeringPosition) -> int:
    """Mobility, where a place that shares no cell with any of the opponent's counts thrice.

    Such places never go away; of those that overlap one another only one can be used.
    """
    ours, theirs = _places(position)
    safe = disjoint(ours, avoid=theirs) - disjoint(theirs, avoid=ours)
    return len(ours) - len(theirs) + 2 * safe


def _places(position: DomineeringPosition) -> tuple[list[int], list[int]]:
    """The free places of the side to move and of the other side."""
    by_side = {
        side: [domino for domino in places if not domino & position.covered]
        for side, places in position.board.dominoes.items()
    }
    ours = by_side.pop(position.turn)
    (theirs,) = by_side.values()
    return ours, theirs


def disjoint(dominoes: Iterable[int], avoid: Iterable[int] = ()) -> int:
    """How many of these dominoes, all of one side, lie side by side, clear of the others.

    Taking each that still fits, from the left or from below, gives the most:
    they lie in straight lines.
    """
    taken = 0
    for domino in avoid:
        taken |= domino
    count = 0
    for domino in dominoes:
        if not domino & taken:
            taken |= domino
            count += 1
    return count


EVALUATIONS = {"safe": safe_places, "mobility": mobility}
