"""m,n,k-games: free placement on a grid, k in a straight line win; 3,3,3 is tic-tac-toe.

The grid, its stones and their bits are drawn in `grid`; here are the lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from retro.errors import BadTextError
from retro.games.cells import require_line
from retro.games.grid import GridBoard, GridPosition, find_order

__all__ = ["MnkBoard", "MnkPosition", "find_order"]

MAX_SIDE = 50  # as of every game on a grid

MnkPosition = GridPosition


@dataclass(frozen=True, repr=False)
class MnkBoard(GridBoard):
    """A board of `rows` x `cols` cells, and the length of a winning line.

    >>> board = MnkBoard(3, 3, 3)
    >>> str(board), board.cells, len(board.lines), len(board.symmetries)
    ('mnk 3x3', 9, 8, 8)
    """

    game_name: ClassVar[str] = "mnk"

    k: int

    def __post_init__(self) -> None:
        if not (1 <= self.rows <= MAX_SIDE and 1 <= self.cols <= MAX_SIDE):
            raise BadTextError(
                f"found a board of {self.cols}x{self.rows}, wanted sides of 1 to {MAX_SIDE}"
            )
        require_line(self.k)

    @classmethod
    def parse(cls, text: str) -> MnkBoard:
        """Read `rows,cols,k`.

        >>> MnkBoard.parse("3,4,3")
        Board('mnk 4x3')
        """
        match = re.fullmatch(r"\s*([0-9]{1,3}),([0-9]{1,3}),([0-9]{1,3})\s*", text, re.ASCII)
        if match is None:
            raise BadTextError(f"found board {text!r}, wanted ROWS,COLS,K such as 3,3,3")
        return cls(int(match[1]), int(match[2]), int(match[3]))

    @property
    def header(self) -> str:
        """As `parse` reads it and grids begin: `3,3,3`."""
        return f"{self.rows},{self.cols},{self.k}"

    @property
    def goal(self) -> str:
        return f"{self.k} in a line"

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """Every winning line as a set of cells."""
        return tuple(sum(ray[: self.k]) for ray in self.rays() if len(ray) >= self.k)
