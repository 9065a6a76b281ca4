"""What play reaches in Connect Four, by sets of positions: shares nothing with the library.

A position is a tuple of columns, a column the text of its stones from the bottom: "X" the first
player's, "O" the second's.
"""

from functools import cache


@cache
def lines(width, height, connect):
    return [
        [(c + i * dc, r + i * dr) for i in range(connect)]
        for c in range(width)
        for r in range(height)
        for dc, dr in ((1, 0), (0, 1), (1, 1), (1, -1))
        if c + (connect - 1) * dc < width and 0 <= r + (connect - 1) * dr < height
    ]


def has_line(position, size):
    return any(
        all(len(position[c]) > r for c, r in line) and len({position[c][r] for c, r in line}) == 1
        for line in lines(*size)
    )


def moves(position, size):
    stone = "XO"[sum(map(len, position)) % 2]
    return [
        (*position[:c], column + stone, *position[c + 1 :])
        for c, column in enumerate(position)
        if len(column) < size[1]
    ]


def counts(size, plies):
    """[(positions, finished by a line)] of the first plies."""
    layer, found = {("",) * size[0]}, []
    for _ in range(plies):
        over = {position for position in layer if has_line(position, size)}
        found.append((len(layer), len(over)))
        layer = {after for position in layer - over for after in moves(position, size)}
    return found


@cache
def can_be_taken_apart(columns, mover):
    """Whether the stones come off the tops in turns, the mover's first, down to nothing."""
    if not any(columns):
        return True
    return any(
        can_be_taken_apart((*columns[:c], column[:-1], *columns[c + 1 :]), 1 - mover)
        for c, column in enumerate(columns)
        if column and column[-1] == "XO"[mover]
    )
