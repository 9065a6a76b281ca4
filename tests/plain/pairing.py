"""The static bounds of Connect Four again, with sets of cells and a list of lines.

A cell is (column, row), row 0 at the bottom.  What the rules mean and why they hold is told in
`retro/search/connect4/bounds.py`; here each is written as it is said there, without a
bitboard, so that the two can be compared position by position.
"""

from __future__ import annotations

from functools import cache, cached_property

Cell = tuple[int, int]
Cells = frozenset[Cell] | set[Cell]


@cache
def all_lines(width: int, height: int, connect: int) -> list[frozenset[Cell]]:
    """Every line of a board."""
    lines = []
    for column in range(width):
        for row in range(height):
            for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(column + i * right, row + i * up) for i in range(connect)]
                if all(0 <= c < width and 0 <= r < height for c, r in cells):
                    lines.append(frozenset(cells))
    return lines


class Pairing:
    """A quiet position, its lines and columns; `bound` is what can be said of it."""

    def __init__(self, shape: tuple[int, int, int], mover: Cells, other: Cells) -> None:
        width, self.height, _ = shape
        self.lines = all_lines(*shape)
        taken = mover | other
        rest = [[(c, r) for r in range(self.height) if (c, r) not in taken] for c in range(width)]
        self.columns = [column for column in rest if column]
        self.empty = {cell for column in self.columns for cell in column}
        self.follower_moves = len(self.empty) % 2 == 1
        self.follower, self.leader = (mover, other) if self.follower_moves else (other, mover)
        self.odd_feet = {column[0] for column in self.columns if len(column) % 2}

    def is_upper(self, cell: Cell) -> bool:
        return (self.height - cell[1]) % 2 == 1

    def has_line(self, cells: Cells) -> bool:
        return any(line <= cells for line in self.lines)

    def threats(self, stones: Cells, upper: bool) -> set[Cell]:
        missing = [line - stones for line in self.lines if len(line - stones) == 1]
        cells = {cell for cells in missing for cell in cells} & self.empty
        return {cell for cell in cells if self.is_upper(cell) == upper}

    def parts(self, ends: set[Cell]) -> tuple[set[Cell], set[Cell]]:
        """Of columns with an end the cells below and above the lowest one; others are all below."""
        below, above = set(), set()
        for column in self.columns:
            lowest = min((cell for cell in column if cell in ends), default=(0, self.height))
            below |= {cell for cell in column if cell[1] < lowest[1]}
            above |= {cell for cell in column if cell[1] > lowest[1]}
        return below, above - ends

    def pair_up(self, hope: Cells, feet: set[Cell], moves: bool) -> tuple[bool, set[Cell]]:
        """Who answers takes one foot for each of the other's, and one first if he `moves`."""
        danger = {foot for line in self.lines for foot in feet & line if line <= hope | {foot}}
        if moves and feet:
            taken = min(danger or feet)
            feet, danger = feet - {taken}, danger - {taken}
        if danger:
            return False, feet
        return len(feet) <= 2 or not self.has_line(hope | feet), feet

    @cached_property
    def zugzwang(self) -> int | None:
        """The score of the leader, who leaves a column with a threat of his for the last."""
        goals, ends = self.threats(self.leader, False), self.threats(self.leader, True)
        below, above = self.parts(ends)
        for column in self.columns:
            goal = min((cell for cell in column if cell in goals), default=None)
            if goal is None:
                continue
            hope = self.follower | {cell for cell in below if not self.is_upper(cell)} - {*column}
            hope |= {cell for cell in column if self.is_upper(cell) and cell < goal}
            if self.has_line(hope):
                continue
            if self.pair_up(hope, self.odd_feet ^ {column[0]}, not self.follower_moves)[0]:
                rest = (above - {*column}) | {cell for cell in column if cell > goal}
                return len(rest) // 2 + 1
        return None

    @cached_property
    def follow_up(self) -> tuple[bool, set[Cell], int]:
        """Whether the follower holds, what he may lose, and what his ends are worth."""
        ends = self.threats(self.follower, True)
        below, above = self.parts(ends)
        hope = self.leader | {cell for cell in below if not self.is_upper(cell)}
        holds, lost = self.pair_up(hope, self.odd_feet, self.follower_moves)
        lines = [line for line in self.lines if line <= hope]
        holds = holds and all(self.is_late(line) for line in lines)
        return holds, lost, len(above) // 2 + 1 if ends else 0

    def is_late(self, line: Cells) -> bool:
        """Whether the follower's answers below the line's cells complete one of his before it."""
        top = {cell[0]: cell[1] for cell in line & self.empty}
        answers = {cell for cell in self.empty - self.odd_feet if self.is_upper(cell)}
        return self.has_line(self.follower | {c for c in answers if c[1] < top.get(c[0], 0)})

    def claims(self, lost: set[Cell]) -> bool:
        """Whether the upper cells that the follower does not lose complete a line of his."""
        return self.has_line(self.follower | {c for c in self.empty - lost if self.is_upper(c)})

    def bound(self, goal: int) -> int | None:
        """A score that decides whether the mover's is at least `goal`, or None."""
        sign = 1 if self.follower_moves else -1  # of the follower's scores
        wins = self.zugzwang
        if wins is not None and (-wins < goal if self.follower_moves else wins >= goal):
            return -sign * wins
        about_leader = (goal > 0) != self.follower_moves
        holds, lost, worth = self.follow_up
        asked = goal if self.follower_moves else 1 - goal
        if holds and (about_leader or worth >= asked):
            return sign * worth
        if holds and goal in (0, 1) and self.claims(lost):
            return sign
        side = self.leader if about_leader else self.follower
        flat = [line for line in self.lines if len({column for column, _ in line}) > 1]
        if not any(line <= side | self.empty for line in flat):
            return 0
        return None
