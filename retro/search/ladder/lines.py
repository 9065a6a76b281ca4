"""What all games of stones in a line share: whose line is complete, threatened, live or dead.

A state is three sets of cells, one bit per cell: the stones of the side to
move, of the other side, and grey ones, which are nobody's and only block.

    . . . .        theirs  X         Is the lower left O dead? Its lines (3 in
    X . . .        mine    O         a row) are  OX  upward and  OXO  sideways,
    O X O .                          the diagonal O.. is live: not dead.

A line is *live* for a player while it holds no stone but hers. A stone is
*dead* when no line through it is live for its owner: it can never be part of
a complete line. All it still does is block, and a grey stone blocks as well:
every line through a dead stone already holds stones of both players, or grey.
So a state and its greyed form have the same live lines, the same moves and
the same value, although dead stones of either colour now look alike.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from retro.games.values import DRAW, LOSS, WIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Stones(NamedTuple):
    """A state: cells of the side to move, of the other side, and of nobody (grey)."""

    mine: int = 0
    theirs: int = 0
    grey: int = 0


class Lines:
    """The lines of a board: every question is a walk over them."""

    def __init__(self, lines: Iterable[int], cells: int) -> None:
        self.lines = tuple(lines)
        self.cells = cells

    def complete(self, stones: int) -> bool:
        """Whether these stones of one player contain a line."""
        return any(stones & line == line for line in self.lines)

    def winning_cells(self, stones: int, empty: int) -> int:
        """The empty cells that complete a line of these stones."""
        found = 0
        for line in self.lines:
            rest = line & ~stones
            if rest & empty and not rest & (rest - 1):
                found |= rest
        return found

    def live_cells(self, blocked: int) -> int:
        """The cells of all lines that are free of `blocked` cells."""
        found = 0
        for line in self.lines:
            if not line & blocked:
                found |= line
        return found

    def has_live(self, blocked: int) -> bool:
        """Whether a line is free of `blocked` cells."""
        return any(not line & blocked for line in self.lines)

    def outcome(self, state: Stones) -> int | None:
        """LOSS when the last mover completed a line, DRAW when the board is full, else None."""
        if self.complete(state.theirs):
            return LOSS
        full = (state.mine | state.theirs | state.grey).bit_count() == self.cells
        return DRAW if full else None

    def grey(self, state: Stones) -> Stones:
        """The same state with its dead stones grey."""
        mine, theirs, grey = state
        live_mine = mine & self.live_cells(theirs | grey)
        live_theirs = theirs & self.live_cells(mine | grey)
        dead = (mine | theirs) & ~(live_mine | live_theirs)
        return Stones(live_mine, live_theirs, grey | dead)

    def bounds(self, state: Stones) -> tuple[int, int]:
        """Who has no live line cannot win."""
        mine, theirs, grey = state
        low = LOSS if self.has_live(mine | grey) else DRAW
        high = WIN if self.has_live(theirs | grey) else DRAW
        return low, high

    def worth(self, state: Stones) -> int:
        """The lines still live for the side to move, less those of the other side.

        Greying changes no live line and turning only moves them, so neither changes this.
        Lines weighed by their stones guide worse (docs/search.md).
        """
        mine, theirs, grey = state
        total = 0
        for line in self.lines:
            total += (not line & (theirs | grey)) - (not line & (mine | grey))
        return total


class SymmetryMaps:
    """The symmetries of a board, applied to sets of cells eight bits at a time."""

    def __init__(self, symmetries: Iterable[Mapping[int, int]]) -> None:
        self._forth = [dict(goes_to) for goes_to in symmetries]
        self._back = [{to: bit for bit, to in goes_to.items()} for goes_to in self._forth]
        self._bytes = [_byte_tables(goes_to) for goes_to in self._forth]

    def cells(self, stones: int, symmetry: int) -> int:
        """Where a symmetry takes a set of cells."""
        found = 0
        for table in self._bytes[symmetry]:
            found |= table[stones & 255]
            stones >>= 8
        return found

    def canonical(self, state: Stones) -> tuple[Stones, int]:
        """The least of all turned states, and the symmetry that leads to it."""
        best, number = state, 0
        for symmetry in range(1, len(self._bytes)):
            mine = self.cells(state.mine, symmetry)
            if mine <= best.mine:
                turned = Stones(
                    mine, self.cells(state.theirs, symmetry), self.cells(state.grey, symmetry)
                )
                if turned < best:
                    best, number = turned, symmetry
        return best, number

    def cell(self, bit: int, symmetry: int) -> int:
        return self._forth[symmetry][bit]

    def cell_back(self, bit: int, symmetry: int) -> int:
        return self._back[symmetry][bit]


def _byte_tables(goes_to: Mapping[int, int]) -> list[list[int]]:
    """For each eight bits of a set of cells: what each of their 256 values turns into."""
    length = max(goes_to).bit_length()
    return [
        [
            sum(goes_to.get(1 << (begin + i), 0) for i in range(8) if byte >> i & 1)
            for byte in range(256)
        ]
        for begin in range(0, length, 8)
    ]


class LineGame:
    """What every adapter of such a game has in common; the adapters add moves and knowledge."""

    def __init__(self, lines: Iterable[int], symmetries: Sequence[Mapping[int, int]]) -> None:
        bits = symmetries[0].keys()
        self.lines = Lines(lines, len(bits))
        self._all = sum(bits)
        self._width = self._all.bit_length()
        self._symmetries = symmetries

    @cached_property
    def _maps(self) -> SymmetryMaps:
        """Made when first used: of a large board they are large, too."""
        return SymmetryMaps(self._symmetries)

    def start(self) -> Stones:
        return Stones()

    def play(self, state: Stones, move: int) -> Stones:
        return Stones(state.theirs, state.mine | move, state.grey)

    def outcome(self, state: Stones) -> int | None:
        return self.lines.outcome(state)

    def side_to_move(self, state: Stones) -> int:
        return -1 if self.plies_left(state) % 2 else 1

    def plies_left(self, state: Stones) -> int:
        return self.empty(state).bit_count()

    def key(self, state: Stones) -> int:
        return (state.grey << self._width | state.theirs) << self._width | state.mine

    def canonical_key(self, state: Stones) -> tuple[int, int]:
        turned, symmetry = self._maps.canonical(state)
        return self.key(turned), symmetry

    def turn(self, move: int, symmetry: int) -> int:
        return self._maps.cell(move, symmetry)

    def turn_back(self, move: int, symmetry: int) -> int:
        return self._maps.cell_back(move, symmetry)

    def grey(self, state: Stones) -> Stones:
        return self.lines.grey(state)

    def urgency(self, state: Stones, move: int) -> int:
        """A complete line, else one prevented, else the number of cells that would complete one."""
        if self.lines.complete(state.mine | move):
            return 2 * self.lines.cells
        if self.lines.complete(state.theirs | move):
            return self.lines.cells
        empty = self.empty(state) & ~move
        return self.lines.winning_cells(state.mine | move, empty).bit_count()

    def worth(self, state: Stones) -> int:
        return self.lines.worth(state)

    def empty(self, state: Stones) -> int:
        """The set of empty cells."""
        return self._all & ~(state.mine | state.theirs | state.grey)
