"""The plain truth of Domineering: strings, dictionaries and recursion, for small boards.

Shares nothing with the library, on purpose. A position is the side to move and
a string with one character per cell, row after row from the bottom:

    . # .
    . # .          2 rows, 3 columns:  ("H", ".#..#.")
"""

from functools import cache
from itertools import product
from typing import NamedTuple

WIN, LOSS = 1, -1
OTHER = {"V": "H", "H": "V"}


class Size(NamedTuple):
    rows: int
    cols: int

    def __str__(self):
        return f"{self.rows}x{self.cols}"


@cache
def dominoes(size, side):
    """Every domino of a side, as two cells; the lower or left one first."""
    up, right = (1, 0) if side == "V" else (0, 1)
    return [
        (r * size.cols + c, (r + up) * size.cols + c + right)
        for r in range(size.rows)
        for c in range(size.cols)
        if r + up < size.rows and c + right < size.cols
    ]


def successors(size, position):
    """{cell: position after the move of that lower or left cell}."""
    side, cells = position
    found = {}
    for one, two in dominoes(size, side):
        if cells[one] == cells[two] == ".":
            after = list(cells)
            after[one] = after[two] = "#"
            found[one] = (OTHER[side], "".join(after))
    return found


@cache
def value(size, position):
    """The value for the side to move."""
    return WIN if LOSS in (value(size, p) for p in successors(size, position).values()) else LOSS


def every_position(size):
    """All sets of covered cells, whoever is to move."""
    for cells in product(".#", repeat=size.rows * size.cols):
        for side in OTHER:
            yield side, "".join(cells)


@cache
def layers(size, side):
    """The positions that play can reach from the empty board, ply by ply."""
    layer = {(side, "." * (size.rows * size.cols))}
    found = []
    while layer:
        found.append(layer)
        layer = {after for position in layer for after in successors(size, position).values()}
    return found


def images(size, cells):
    """The cells under both reflections and the half turn."""
    rows = [cells[r * size.cols : (r + 1) * size.cols] for r in range(size.rows)]
    mirrored = [row[::-1] for row in rows]
    return {"".join(image) for image in (rows, mirrored, rows[::-1], mirrored[::-1])}


def covered_bits(cells):
    """The covered cells as an integer, cell i as bit i."""
    return sum(2**i for i, cell in enumerate(cells) if cell == "#")
