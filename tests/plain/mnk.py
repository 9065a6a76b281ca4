"""The plain truth of m,n,k-games: strings, dictionaries and recursion, for small boards.

Shares nothing with the library, on purpose. A position is a string with one
character per cell, row after row from the bottom:

    . O .
    X X .          2,3,3:  "XX.", ".O." is "XX..O."
"""

from functools import cache
from typing import NamedTuple

WIN, DRAW, LOSS = 1, 0, -1
FIRST, SECOND, EMPTY = "X", "O", "."


class MnkRules(NamedTuple):
    """A board and the length of a line."""

    rows: int
    cols: int
    k: int

    def __str__(self):
        return f"{self.rows},{self.cols},{self.k}"


def mover(position):
    return FIRST if position.count(FIRST) == position.count(SECOND) else SECOND


def last_mover(position):
    return SECOND if mover(position) == FIRST else FIRST


@cache
def lines(game):
    """Every line as a list of cells."""
    cells = [(row, col) for row in range(game.rows) for col in range(game.cols)]
    found = []
    for row, col in cells:
        for up, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            line = [(row + i * up, col + i * right) for i in range(game.k)]
            if all(cell in cells for cell in line):
                found.append([r * game.cols + c for r, c in line])
    return found


def has_line(game, position, player):
    return any(all(position[cell] == player for cell in line) for line in lines(game))


def is_won(game, position):
    """Whether the last move completed a line; nobody could have had one before."""
    return has_line(game, position, last_mover(position))


def successors(position):
    return [
        position[:cell] + mover(position) + position[cell + 1 :]
        for cell, stone in enumerate(position)
        if stone == EMPTY
    ]


@cache
def values(game):
    """{position: value for the side to move}, of every reachable position."""
    return values_from(EMPTY * (game.rows * game.cols), lambda position: is_won(game, position))


def values_from(root, is_won):
    """{position: value} of all that follows a position; `is_won` tells what the last move did."""
    known = {}

    def value(position):
        if position not in known:
            if is_won(position):
                known[position] = LOSS
            elif EMPTY not in position:
                known[position] = DRAW
            else:
                known[position] = max(-value(after) for after in successors(position))
        return known[position]

    value(root)
    return known


def bitboards(game, position):
    """(first, second): one integer per player, bit = row * (cols + 1) + column."""
    words = {FIRST: 0, SECOND: 0}
    for cell, player in enumerate(position):
        if player != EMPTY:
            row, column = divmod(cell, game.cols)
            words[player] += 2 ** (row * (game.cols + 1) + column)
    return words[FIRST], words[SECOND]
