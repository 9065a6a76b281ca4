"""The plain truth of small Quarto games: strings, dictionaries and recursion.

Shares nothing with the library, on purpose. A state is a pair of strings: the
cells, row after row from the bottom ("." empty, else a hexadecimal digit), and
the piece in hand ("" none).

    . 3
    0 .        2x2 with piece 1 in hand: ("0..3", "1")
"""

from functools import cache
from itertools import permutations
from typing import NamedTuple

WIN, DRAW, LOSS = 1, 0, -1
EMPTY = "."


class QuartoRules(NamedTuple):
    """Size of the board, number of attributes, whether squares win."""

    size: int
    attributes: int
    squares: bool = False

    def __str__(self):
        return f"{self.size}x{self.size}-{self.attributes}{'-squares' if self.squares else ''}"


def pieces(game):
    return [f"{piece:x}" for piece in range(2**game.attributes)]


@cache
def lines(game):
    n = game.size
    at = [[row * n + col for col in range(n)] for row in range(n)]
    found = [list(row) for row in at] + [list(column) for column in zip(*at, strict=True)]
    found += [[at[i][i] for i in range(n)], [at[i][n - 1 - i] for i in range(n)]]
    if game.squares:
        for r in range(n - 1):
            for c in range(n - 1):
                found.append([at[r][c], at[r][c + 1], at[r + 1][c], at[r + 1][c + 1]])
    return found


def is_won(game, cells):
    """Whether some line is full and all its pieces have a 1, or all a 0, in some attribute."""
    for line in lines(game):
        stones = [cells[cell] for cell in line]
        if EMPTY in stones:
            continue
        for attribute in range(game.attributes):
            if len({int(stone, 16) // 2**attribute % 2 for stone in stones}) == 1:
                return True
    return False


def stock(game, state):
    cells, hand = state
    return [piece for piece in pieces(game) if piece not in cells and piece != hand]


def is_over(game, state):
    cells, hand = state
    started = hand != "" or cells.strip(EMPTY) != ""
    return is_won(game, cells) or (started and hand == "")


def successors(game, state):
    """Every state after one action; the state is not over."""
    cells, hand = state
    if hand == "":
        return [(cells, piece) for piece in stock(game, state)]
    after = []
    for cell, stone in enumerate(cells):
        if stone == EMPTY:
            filled = cells[:cell] + hand + cells[cell + 1 :]
            left = stock(game, state)
            if is_won(game, filled) or EMPTY not in filled or not left:
                after.append((filled, ""))
            else:
                after += [(filled, piece) for piece in left]
    return after


@cache
def values(game):
    """{state: value for the side to move}, of every reachable state."""
    known = {}

    def value(state):
        if state not in known:
            if is_won(game, state[0]):
                known[state] = LOSS
            elif is_over(game, state):
                known[state] = DRAW
            else:
                known[state] = max(-value(after) for after in successors(game, state))
        return known[state]

    value((EMPTY * game.size**2, ""))
    return known


@cache
def symmetries(game):
    """Every (cell permutation, piece permutation), by trying all that keep lines and likeness."""
    wanted = {frozenset(line) for line in lines(game)}
    if game.size < 4:
        ways = [
            way
            for way in permutations(range(game.size**2))
            if {frozenset(way[cell] for cell in line) for line in lines(game)} == wanted
        ]
    else:
        ways = _ways_4x4(wanted)
    bits = range(game.attributes)
    piece_ways = [
        {
            f"{p:x}": f"{sum((p >> i & 1) << order[i] for i in bits) ^ flip:x}"
            for p in range(2**game.attributes)
        }
        for order in permutations(bits)
        for flip in range(2**game.attributes)
    ]
    return [(way, piece_way) for way in ways for piece_way in piece_ways]


def _ways_4x4(wanted):
    """Permute rows and columns alike or mirrored, transpose or not; keep what keeps the lines."""
    found = set()
    for rows in permutations(range(4)):
        for columns in permutations(range(4)):
            for transposed in (False, True):
                way = tuple(
                    columns[c] * 4 + rows[r] if transposed else rows[r] * 4 + columns[c]
                    for r in range(4)
                    for c in range(4)
                )
                if {frozenset(way[cell] for cell in line) for line in wanted} == wanted:
                    found.add(way)
    return sorted(found)


def image(state, symmetry):
    way, piece_way = symmetry
    cells, hand = state
    turned = [EMPTY] * len(cells)
    for cell, stone in enumerate(cells):
        turned[way[cell]] = piece_way.get(stone, EMPTY)
    return "".join(turned), piece_way.get(hand, "")


def class_of(game, state):
    """Every state that is the same up to symmetry."""
    return {image(state, symmetry) for symmetry in symmetries(game)}
