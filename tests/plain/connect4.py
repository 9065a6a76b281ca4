"""The plain truth: connect-k with gravity by dictionaries and recursion, for small boards.

Shares nothing with the library, on purpose: no bitboards, no index, no layers
of planes. A position is a string with one character per cell, column after
column from the left, each column from the bottom:

    . . .
    . O .          3x3:  "X..XO...." is columns "X..", "XO.", "..."
    X X .

Slow, and obviously right. Good for boards of up to a hundred thousand positions.
"""

from functools import cache
from typing import NamedTuple

WIN, DRAW, LOSS = 1, 0, -1
FIRST, SECOND, EMPTY = "X", "O", "."


class Game(NamedTuple):
    """A board and the length of a line."""

    width: int
    height: int
    connect: int

    def __str__(self):
        return f"{self.width}x{self.height}-k{self.connect}"


class PlyCounts(NamedTuple):
    """What literature counts: finished games included, values for the side to move."""

    ply: int
    positions: int
    win: int
    draw: int
    loss: int
    terminal: int


def empty(game):
    return EMPTY * (game.width * game.height)


def ply_of(position):
    return len(position) - position.count(EMPTY)


def mover(position):
    return FIRST if position.count(FIRST) == position.count(SECOND) else SECOND


@cache
def lines(game):
    """Every line as a slice of the position: its cells are equally far apart."""
    found = []
    for column in range(game.width):
        for row in range(game.height):
            for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                reach = game.connect - 1
                last_column, last_row = column + reach * right, row + reach * up
                if last_column < game.width and 0 <= last_row < game.height:
                    begin = column * game.height + row
                    end = last_column * game.height + last_row
                    found.append(slice(begin, end + 1, right * game.height + up))
    return found


def has_line(game, position, player):
    return any(position[line] == player * game.connect for line in lines(game))


@cache
def line_is_complete(game, position):
    """Whether the last move completed a line; nobody could have had one before."""
    last_mover = SECOND if mover(position) == FIRST else FIRST
    return has_line(game, position, last_mover)


def successors(game, position):
    """The positions after each move, by column; full columns are left out."""
    after = {}
    for column in range(game.width):
        for cell in range(column * game.height, (column + 1) * game.height):
            if position[cell] == EMPTY:
                after[column] = position[:cell] + mover(position) + position[cell + 1 :]
                break
    return after


@cache
def layers(game, root=None):
    """Every position that play can reach, finished ones included but not played on.

    [plies after the root], which is the empty board unless told otherwise.
    """
    layer = {root or empty(game)}
    found = [layer]
    for _ in range(game.width * game.height - ply_of(root or empty(game))):
        layer = {
            after
            for position in layer
            if not line_is_complete(game, position)
            for after in successors(game, position).values()
        }
        found.append(layer)
    return found


@cache
def values(game, root=None):
    """{position: value for the side to move}, of every position reachable from the root."""
    known = {}

    def value(position):
        if position not in known:
            if line_is_complete(game, position):
                known[position] = LOSS  # the other side has just completed it
            elif EMPTY not in position:
                known[position] = DRAW
            else:
                known[position] = max(
                    -value(after) for after in successors(game, position).values()
                )
        return known[position]

    value(root or empty(game))
    return known


@cache
def live_layers(game, root=None):
    """`layers` without the positions with a line (of the last ply: the full drawn boards)."""
    return [{p for p in layer if not line_is_complete(game, p)} for layer in layers(game, root)]


@cache
def counts(game, root=None):
    """[plies after the root] -> PlyCounts."""
    known = values(game, root)
    result = []
    pairs = zip(layers(game, root), live_layers(game, root), strict=True)
    for ply, (layer, live) in enumerate(pairs, start=ply_of(root or empty(game))):
        found = [known[position] for position in layer]
        terminal = len(layer) - len(live)
        by_value = [found.count(value) for value in (WIN, DRAW, LOSS)]
        result.append(PlyCounts(ply, len(layer), *by_value, terminal))
    return result


def after_moves(game, moves):
    """The position after some moves, columns counted from 1: "443"."""
    position = empty(game)
    for move in moves:
        position = successors(game, position)[int(move) - 1]
    return position


def bitboards(game, position):
    """(first, second): one integer per player, bit = column * (height + 1) + row."""
    words = {FIRST: 0, SECOND: 0}
    for cell, player in enumerate(position):
        if player != EMPTY:
            column, row = divmod(cell, game.height)
            words[player] += 2 ** (column * (game.height + 1) + row)
    return words[FIRST], words[SECOND]
