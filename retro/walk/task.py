"""What a task of a walk is: some neighbouring groups of one layer, and what is counted in them.

A layer is cut into groups, and consecutive groups that fit into a memory are a task:

    layer of ply 7   | group 0  group 1  group 2 | group 3  group 4 | ...
                       Task("walk", 7, 0, 3)       Task("walk", 7, 3, 5)

A task is a pure function of the board and of the groups that it reads (`halves.task`): it
can run anywhere, twice, or in two places at once, and always gives the same words.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Literal, NamedTuple

Walk = Literal["alive", "walk"]  # forward, which only sorted keys need, and back
STEP: dict[Walk, int] = {"alive": -1, "walk": 1}  # to the ply that is read


class Planes(NamedTuple):
    """How many planes the layers of a board have.

    With distances the numbers of a layer (`halves.distances`) are at most half of its empty
    cells, and every bit of them has a plane.

    >>> [Planes(42).of(0), *(Planes(42, True).of(ply) for ply in (0, 30, 42))]
    [2, 7, 5, 2]
    """

    cells: int
    distances: bool = False

    def of(self, ply: int) -> int:
        return 2 + self.numbers(ply)

    def numbers(self, ply: int) -> int:
        """Planes for the bits of numbers."""
        return ((self.cells - ply) // 2).bit_length() if self.distances else 0


class Task(NamedTuple):
    """Groups `first` to before `last` of a ply, and the bytes that its words may take.

    What a task gives does not depend on its memory: with less it goes in more, smaller steps.
    """

    walk: Walk
    ply: int
    first: int
    last: int
    memory: int = 1 << 62


class Tally(NamedTuple):
    """What is counted: live positions, finished ones; of the live ones the won and the lost.

    With distances these are also counted by the plies to the end: odd ones won, even ones lost.

    >>> Tally(alive=3, won=1).plus(Tally(alive=2, lost=2))
    Tally(alive=5, terminal=0, won=1, lost=2, distances=())
    >>> Tally(distances=(0, 1)).plus(Tally(distances=(0, 2, 5))).distances
    (0, 3, 5)
    """

    alive: int = 0
    terminal: int = 0
    won: int = 0
    lost: int = 0
    distances: tuple[int, ...] = ()

    def plus(self, other: Tally) -> Tally:
        both = zip_longest(self.distances, other.distances, fillvalue=0)
        return Tally(
            self.alive + other.alive,
            self.terminal + other.terminal,
            self.won + other.won,
            self.lost + other.lost,
            tuple(a + b for a, b in both),
        )

    @property
    def positions(self) -> int:
        return self.alive + self.terminal
