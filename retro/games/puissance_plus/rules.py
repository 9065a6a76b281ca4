"""Puissance Plus, plainly: stones in a straight run, worth as much as the cells they lie on.

Free placement on a grid whose cells are worth 1, 2 or 3. The first player with
a contiguous straight run of own stones (row, column or diagonal, at least two
stones) whose cells total at least the target wins; a full board is a draw. With
all cells worth 1 it is the m,n,k-game.

    1 2 1        target 5: the middle row's 2 3 wins, and so do the middle column's;
    2 3 2        a diagonal 1 3 1 wins with all three
    1 2 1

A run that wins contains a shortest one that wins, so the lines of the board are
the runs that win while neither end could be left out. Symmetries are those of
the grid that keep every cell's value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from retro.errors import BadTextError
from retro.games.grid import GridBoard

MIN_SIDE, MAX_SIDE = 2, 50
WORTH = (1, 2, 3)
SHORTEST_RUN = 2
USUAL_TARGET = 5


@dataclass(frozen=True, repr=False)
class PuissanceBoard(GridBoard):
    """A board, what a run must total to win, and the worth of every cell from the bottom left.

    >>> board = PuissanceBoard(3, 3, 5, (1, 2, 1, 2, 3, 2, 1, 2, 1))
    >>> len(board.lines), len(board.symmetries)
    (6, 8)
    """

    game_name: ClassVar[str] = "puissance-plus"

    target: int
    values: tuple[int, ...]  # row after row from the bottom, as `all_bits`

    def __post_init__(self) -> None:
        if not (MIN_SIDE <= self.rows <= MAX_SIDE and MIN_SIDE <= self.cols <= MAX_SIDE):
            raise BadTextError(
                f"found a board of {self.cols}x{self.rows}, "
                f"wanted sides of {MIN_SIDE} to {MAX_SIDE}"
            )
        if self.target < 1:
            raise BadTextError(f"found target {self.target}, wanted at least 1")
        if len(self.values) != self.cells:
            raise BadTextError(
                f"found {len(self.values)} values, a {self.cols}x{self.rows} board "
                f"has {self.cells} cells"
            )
        strange = next((value for value in self.values if value not in WORTH), None)
        if strange is not None:
            raise BadTextError(f"found a cell worth {strange}, wanted 1, 2 or 3")

    def __str__(self) -> str:
        from retro.games.puissance_plus.text import values_name  # which knows the patterns

        target = "" if self.target == USUAL_TARGET else f" target={self.target}"
        values = values_name(self)
        return f"{self.game_name} {self.size_text}{target}{values and f' values={values}'}"

    @property
    def goal(self) -> str:
        return f"a run worth {self.target}"

    @cached_property
    def worth(self) -> dict[int, int]:
        """{bit of a cell: its value}."""
        return dict(zip(self.all_bits, self.values, strict=True))

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """The shortest runs that win: each as a set of cells."""
        found = []
        for ray in self.rays():
            total = 0
            for length, bit in enumerate(ray, start=1):
                total += self.worth[bit]
                if length >= SHORTEST_RUN and total >= self.target:
                    # Shortest at this end; at the other, too, unless the rest wins without it.
                    if length == SHORTEST_RUN or total - self.worth[ray[0]] < self.target:
                        found.append(sum(ray[:length]))
                    break
        return tuple(found)

    @cached_property
    def symmetries(self) -> tuple[dict[int, int], ...]:
        ways = super().symmetries
        return tuple(
            way for way in ways if all(self.worth[b] == self.worth[to] for b, to in way.items())
        )
