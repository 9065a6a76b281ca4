"""The plain truth of Puissance Plus: strings, dictionaries and recursion, for small boards.

Shares nothing with the library, on purpose. A position is a string with one
character per cell, row after row from the top, as the values are written.
"""

from functools import cache
from typing import NamedTuple

WIN, DRAW, LOSS = 1, 0, -1
FIRST, SECOND, EMPTY = "X", "O", "."


class Rules(NamedTuple):
    """A board, what a run must total, and the values row by row from the top."""

    rows: int
    cols: int
    target: int
    values: str

    def __str__(self):
        return f"{self.cols}x{self.rows}-{self.target}-{self.values}"


def mover(position):
    return FIRST if position.count(FIRST) == position.count(SECOND) else SECOND


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


def successors(position):
    return [
        position[:cell] + mover(position) + position[cell + 1 :]
        for cell, stone in enumerate(position)
        if stone == EMPTY
    ]


@cache
def values(game):
    """{position: value for the side to move}, of every reachable position."""
    known = {}

    def value(position):
        if position not in known:
            last_mover = SECOND if mover(position) == FIRST else FIRST
            if has_run(game, position, last_mover):
                known[position] = LOSS
            elif EMPTY not in position:
                known[position] = DRAW
            else:
                known[position] = max(-value(after) for after in successors(position))
        return known[position]

    value(EMPTY * (game.rows * game.cols))
    return known
