"""The plain truth of Puissance Plus: strings, dictionaries and recursion, for small boards.

Shares nothing with the library, on purpose; the moves are those of `naive_mnk`, the
lines are not. A position is a string with one character per cell, row after row from
the top, as the values are written.
"""

from functools import cache
from typing import NamedTuple

from naive_mnk import EMPTY, last_mover, values_from


class Rules(NamedTuple):
    """A board, what a run must total, and the values row by row from the top."""

    rows: int
    cols: int
    target: int
    values: str

    def __str__(self):
        return f"{self.cols}x{self.rows}-{self.target}-{self.values}"


def has_run(game, position, player):
    """Whether a player has a contiguous straight run, two stones or more, worth the target."""
    for row in range(game.rows):
        for col in range(game.cols):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                total = stones = 0
                r, c = row, col
                while 0 <= r < game.rows and 0 <= c < game.cols:
                    cell = r * game.cols + c
                    if position[cell] != player:
                        break
                    total += int(game.values[cell])
                    stones += 1
                    if stones >= 2 and total >= game.target:
                        return True
                    r, c = r + down, c + right
    return False


@cache
def values(game):
    """{position: value for the side to move}, of every reachable position."""
    return values_from(
        EMPTY * (game.rows * game.cols),
        lambda position: has_run(game, position, last_mover(position)),
    )
