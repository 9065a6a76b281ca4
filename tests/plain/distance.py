"""The rules and the value of Connect Four, as plainly as possible: the oracle of the tests.

A position is a tuple of columns, each a string of "x" and "o" from the bottom
up; the side to move is handed along.  Nothing here is fast and nothing is shared
with the engine: lines are looked for in strings, values are a dictionary filled by
recursion.  Scores are (value, plies): value +1, 0, -1 for the side to move and
the plies to the end of the game when the winner hurries and the loser stalls.
"""

from __future__ import annotations

from functools import cache


def won(columns: tuple[str, ...], stone: str, connect: int) -> bool:
    """Return whether `stone` has `connect` in a row anywhere."""
    height = max(map(len, columns))
    grid = [column.ljust(height, ".") for column in columns]
    lines = [*grid, *rows(grid), *rows(slanted(grid)), *rows(slanted(grid[::-1]))]
    return any(stone * connect in line for line in lines)


def rows(grid: list[str]) -> list[str]:
    """The rows of a grid that is given by its columns, all of one length."""
    return ["".join(row) for row in zip(*grid, strict=True)]


def slanted(grid: list[str]) -> list[str]:
    """Each column pushed up one cell more than the one before it: diagonals become rows."""
    return ["." * c + column + "." * (len(grid) - c) for c, column in enumerate(grid)]


def play(columns: tuple[str, ...], c: int, stone: str) -> tuple[str, ...]:
    """Return the position after `stone` is dropped into column `c`."""
    return (*columns[:c], columns[c] + stone, *columns[c + 1 :])


def solve(
    columns: tuple[str, ...], height: int, connect: int, mover: str, memo: dict
) -> tuple[int, int]:
    """Return (value, plies to the end) of a position in which nobody has won yet."""
    key = (columns, mover)
    if key not in memo:
        other = "o" if mover == "x" else "x"
        best = None
        for c, column in enumerate(columns):
            if len(column) == height:
                continue
            after = play(columns, c, mover)
            if won(after, mover, connect):
                found = (1, 1)
            else:
                value, plies = solve(after, height, connect, other, memo)
                found = (-value, plies + 1)
            if best is None or rank(found) > rank(best):
                best = found
        memo[key] = best or (0, 0)
    return memo[key]


def rank(found: tuple[int, int]) -> tuple[int, int]:
    """Sort key: win fast, else draw, else lose slowly."""
    value, plies = found
    return value, -value * plies


def bits(columns: tuple[str, ...], height: int, stone: str) -> int:
    """Return the stones of one player as a bitboard, column * (height + 1) + row."""
    return sum(
        1 << (c * (height + 1) + r)
        for c, column in enumerate(columns)
        for r, s in enumerate(column)
        if s == stone
    )


@cache
def positions(width: int, height: int, connect: int):
    """All legal unfinished positions: (mover, mask, value, plies)."""
    memo: dict = {}
    solve(("",) * width, height, connect, "x", memo)
    rows = []
    for (columns, mover), (value, plies) in memo.items():
        x, o = (bits(columns, height, s) for s in "xo")
        if (x | o).bit_count() < width * height:
            rows.append((x if mover == "x" else o, x | o, value, plies))
    return rows
