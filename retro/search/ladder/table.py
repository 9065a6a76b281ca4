"""The transposition table: what is known of a position's value, in bounded memory.

An entry keeps two intervals. The *proved* one holds for ever. The *prudent*
one was found by a search of `depth` plies that called the horizon a draw, or graded
it; it answers a search of the same depth and nothing else.

    -1    0    +1
     |----[=====]     proved  [0, 1]: never a loss
     |----[]----|     prudent [0, 0]: no win within 6 plies, depth 6

Every store narrows an interval, never widens it. A slot holds one entry; when
two positions want it, the replacement scheme decides:

    newest      the newcomer takes the slot
    costliest   the entry that took more work (nodes) keeps it
    two-tier    two slots per place: the costliest and, beside it, the newest

An entry carries its full key, so a wrong position is never believed, whatever
was thrown out. Losing an entry costs time, not truth.
"""

from __future__ import annotations

from typing import Literal

from retro.games.values import LOSS, WIN

Replacement = Literal["newest", "costliest", "two-tier"]

NO_DEPTH = -1


class Entry:
    """What is known of one key. Modified in place by `narrow`."""

    __slots__ = ("at_least", "at_most", "depth", "high", "key", "low", "move", "work")

    def __init__(self, key: int) -> None:
        self.key = key
        self.low: float = LOSS
        self.high: float = WIN
        self.at_least: float = LOSS
        self.at_most: float = WIN
        self.depth = NO_DEPTH
        self.move: int | None = None
        self.work = 0

    def narrow(self, low: float, high: float, depth: int, proved: bool) -> None:
        """Add that the value is in [low, high]: for ever, or as a search of `depth` sees it."""
        if proved:
            self.low, self.high = max(self.low, low), min(self.high, high)
            return
        if depth != self.depth:
            self.at_least, self.at_most, self.depth = LOSS, WIN, depth
        self.at_least, self.at_most = max(self.at_least, low), min(self.at_most, high)


class Table:
    """A fixed number of slots.

    >>> table = Table(1, "newest")
    >>> table.entry_for(7).narrow(0, 1, depth=3, proved=True)
    >>> table.keep(table.entry_for(8), work=1)
    >>> table.find(7) is None, table.find(8) is None
    (True, False)
    """

    def __init__(self, slots: int, replacement: Replacement = "two-tier") -> None:
        if slots < 1:
            raise ValueError(f"a table has at least one slot, not {slots}")
        self.replacement = replacement
        tiers = 2 if replacement == "two-tier" and slots > 1 else 1
        self._places = slots // tiers
        # One list per tier; the last one always takes the newcomer unless the scheme forbids it.
        self._tiers: list[list[Entry | None]] = [[None] * self._places for _ in range(tiers)]

    @property
    def slots(self) -> int:
        return self._places * len(self._tiers)

    def __len__(self) -> int:
        """The number of entries held."""
        return sum(entry is not None for tier in self._tiers for entry in tier)

    def _place(self, key: int) -> int:
        # Python hashes an integer to itself, and neighbouring positions share most of their bits;
        # the hash of a tuple mixes them.
        return hash((key,)) % self._places

    def find(self, key: int) -> Entry | None:
        place = self._place(key)
        for tier in self._tiers:
            entry = tier[place]
            if entry is not None and entry.key == key:
                return entry
        return None

    def entry_for(self, key: int) -> Entry:
        """The entry of a key if it is still held, else a new one, not held yet."""
        return self.find(key) or Entry(key)

    def keep(self, entry: Entry, work: int) -> None:
        """Put an entry that took `work` nodes into the table, if the scheme lets it in."""
        entry.work += work
        place = self._place(entry.key)
        if self.find(entry.key) is entry:
            return
        held = self._tiers[0][place]
        if self.replacement == "newest" or held is None or entry.work >= held.work:
            self._tiers[0][place], entry = entry, held  # type: ignore[assignment]
        if len(self._tiers) == 2 and entry is not None:
            self._tiers[1][place] = entry
