"""The plain truth of Puissance Plus: strings, dictionaries and recursion, for small boards.

Shares nothing with the library, on purpose; the moves are those of `naive_mnk`, the
lines are not. A position is a string with one character per cell, row after row from
the top, as the values are written.
"""

from functools import cache
from typing import NamedTuple

from plain.mnk import EMPTY, last_mover, values_from


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


def classic(game, position, player):
    """What the runs of a player count in the classic program; 10,000 if one wins."""
    if has_run(game, position, player):
        return 10_000
    total = 0
    for row in range(game.rows):
        for col in range(game.cols):
            for down in (-1, 0, 1):
                for right in (-1, 0, 1):
                    if down or right:
                        total += _run_from(game, position, player, (row, col), (down, right))
    return total


def _run_from(game, position, player, place, step):
    run, (r, c) = 0, place
    while 0 <= r < game.rows and 0 <= c < game.cols:
        cell = r * game.cols + c
        worth = int(game.values[cell])
        if position[cell] == player:
            run += worth
        elif run and position[cell] == EMPTY:
            return run**2 + {1: 0, 2: 2, 3: 3}[worth]
        else:
            return 0
        r, c = r + step[0], c + step[1]
    return 0
