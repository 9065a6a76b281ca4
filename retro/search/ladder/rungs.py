"""The rungs of the ladder: what a search may use, each switched on its own.

    minimax            the definition: two players, one value for each position
    negamax            the same from the mover's side: one rule instead of two
    alpha_beta         leave out what cannot change the answer
    table              never search a position twice
    symmetry           nor its mirror image
    dead_stones        nor the same position with irrelevant stones recoloured
    static_order       centre first
    threats            wins, blocks of a win and threats first
    history            moves that cut elsewhere first
    forced             moves that a look can rule out are not searched
    bounds             values that a look can rule out are not searched
    deepening          shallow searches first: near wins are cheap to prove
    table_move         the move that was best before first
    doubling           deepen to 1, 2, 4, 8 ... plies: a guide need not be exact
    graded             an evaluation says what looks best, where the depth ends and in between

`climb` climbs them one by one. Every set of rungs gives the same value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from retro.search.ladder.table import Replacement

Core = Literal["minimax", "negamax", "alpha-beta"]


@dataclass(frozen=True)
class Rungs:
    """Which rungs a search uses; by default all but deepening, which a solver pays for twice.

    `doubling` is a way of deepening and means nothing without it.

    `core="minimax"` is the definition and takes no other rung. Without the
    table, the rungs about its keys and its moves have nothing to work on.
    """

    core: Core = "alpha-beta"
    table: bool = True
    replacement: Replacement = "two-tier"
    slots: int = 1 << 18
    symmetry: bool = True
    dead_stones: bool = True
    static_order: bool = True
    threats: bool = True
    table_move: bool = True
    history: bool = True
    forced: bool = True
    bounds: bool = True
    deepening: bool = False
    doubling: bool = False
    graded: bool = False


MINIMAX = Rungs(
    core="minimax",
    table=False,
    symmetry=False,
    dead_stones=False,
    static_order=False,
    threats=False,
    table_move=False,
    history=False,
    forced=False,
    bounds=False,
)
# In the order in which they are climbed; each adds to all before it.
_STEPS: tuple[tuple[str, dict[str, object]], ...] = (
    ("negamax", {"core": "negamax"}),
    ("alpha-beta", {"core": "alpha-beta"}),
    ("table", {"table": True}),
    ("symmetry", {"symmetry": True}),
    ("dead stones", {"dead_stones": True}),
    ("centre first", {"static_order": True}),
    ("threats", {"threats": True}),
    ("history", {"history": True}),
    ("forced moves", {"forced": True}),
    ("bounds", {"bounds": True}),
    ("deepening", {"deepening": True}),
    ("table move", {"table_move": True}),
    ("doubling", {"doubling": True}),
    ("graded", {"graded": True}),
)


def guided(rungs: Rungs) -> Rungs:
    """The same rungs with guided deepening, the top of the ladder."""
    return replace(rungs, deepening=True, table_move=True, doubling=True, graded=True)


def climb(slots: int = 1 << 20, replacement: Replacement = "two-tier") -> list[tuple[str, Rungs]]:
    """The ladder from the ground up: names and rungs, each with all the rungs below it.

    >>> [name for name, _ in climb()][:4]
    ['minimax', 'negamax', 'alpha-beta', 'table']
    """
    rungs = replace(MINIMAX, slots=slots, replacement=replacement)
    ladder = [("minimax", rungs)]
    for name, step in _STEPS:
        rungs = replace(rungs, **step)  # type: ignore[arg-type]
        ladder.append((name, rungs))
    return ladder
