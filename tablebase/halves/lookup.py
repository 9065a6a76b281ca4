"""Looking positions up in bulk: from bitboards to values, through a bounded page cache.

A position that one look decides is blank in the file, and so is one whose move
is forced; `settle_many` plays forced moves until the look decides or a position
is reached that the file has. Each move changes sides and thus the sign:

    value of asked position  =  sign * value of settled position

Planes are read in pages, the file's own chunks. Pages that were read stay in
one fixed block of memory, and two small tables say which page lies where:

    page number = first page of the ply + word // 32,768
    slot_of[page]       where it lies in memory, or -1
    cache[slot, plane, word % 32,768]

so that millions of positions are answered by one pass of jitted code. When
the memory is full, the pages used longest ago make room.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from retro.bits import U0, U1, popcount
from retro.games.connect4.bits import column_part, gravity_holds, has_line
from retro.jit import entry, inner
from tablebase.halves.format import CHUNK_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tablebase.halves.store import TableFile

# What `check_many` and `settle_many` find of a position.
OPEN, ILLEGAL, FINISHED, SETTLED = 0, 1, 2, 3
PLANE_BYTES = 8 * CHUNK_WORDS  # of a page


@entry
def check_many(geometry, first, second, plies, states):
    """Find the plies of many positions, and which are ILLEGAL or FINISHED; in place."""
    for i in range(len(first)):
        mine, other = first[i], second[i]
        ply = popcount(mine | other)
        if ply & 1:
            mine, other = other, mine
        plies[i] = ply
        surplus = popcount(first[i]) - popcount(second[i])
        is_counted = (mine & other) == U0 and (surplus == 0 or surplus == 1)
        is_legal = is_counted and gravity_holds(geometry, mine | other)
        states[i] = OPEN
        if not is_legal or has_line(geometry, mine):
            states[i] = ILLEGAL
        elif has_line(geometry, other):
            states[i] = FINISHED


@inner
def _next_cell(geometry, both, column):
    """The cell that takes the next stone of a column, or 0."""
    height = popcount(column_part(geometry, both, column))
    if height == geometry.height:
        return U0
    return U1 << np.uint64(column * (geometry.height + 1) + height)


@entry
def settle_many(geometry, whole_ply, first, second, plies, states, values):
    """Play the forced moves of many open positions; all arrays are modified in place.

    Where a look decides, the state becomes SETTLED and `values` has the value
    for the side that was to move at first. Elsewhere `values` is the sign: what
    the value of the position now in first and second must be multiplied with.
    Positions of ply `whole_ply` stay as they are.
    """
    for i in range(len(first)):
        values[i] = 1
        while states[i] == OPEN and plies[i] != whole_ply:
            mine, other = (second[i], first[i]) if plies[i] & 1 else (first[i], second[i])
            both = mine | other
            threats, forced, is_won = 0, U0, False
            for column in range(geometry.width):
                cell = _next_cell(geometry, both, column)
                if cell != U0:
                    is_won |= has_line(geometry, mine | cell)
                    if has_line(geometry, other | cell):
                        threats += 1
                        forced = cell
            if is_won or threats > 1:
                states[i] = SETTLED
                values[i] = values[i] if is_won else -values[i]
            elif threats == 0:
                break
            else:
                if plies[i] & 1:
                    second[i] |= forced
                else:
                    first[i] |= forced
                plies[i] += 1
                values[i] = -values[i]
        if states[i] == FINISHED:
            values[i] = -1


@entry
def _page_numbers(plies, ranks, first_page, pages):
    """The page of every located position, or -1; in place."""
    for i in range(len(plies)):
        pages[i] = first_page[plies[i]] + (ranks[i] >> 6) // CHUNK_WORDS if ranks[i] >= 0 else -1


@entry
def gather_values(ranks, pages, slot_of, cache, values):
    """Multiply signs with the values of positions whose pages are in memory; in place."""
    for i in range(len(ranks)):
        if ranks[i] >= 0:
            slot, word = slot_of[pages[i]], (ranks[i] >> 6) % CHUNK_WORDS
            bit = np.uint64(ranks[i] & 63)
            win, loss = cache[slot, 0, word] >> bit, cache[slot, 1, word] >> bit
            values[i] *= np.int8(win & U1) - np.int8(loss & U1)


@entry
def gather_numbers(ranks, pages, slot_of, cache, numbers):
    """Write the numbers of positions whose pages are in memory; in place."""
    for i in range(len(ranks)):
        if ranks[i] >= 0:
            slot, word = slot_of[pages[i]], (ranks[i] >> 6) % CHUNK_WORDS
            bit = np.uint64(ranks[i] & 63)
            number = 0
            for plane in range(2, cache.shape[1]):
                number |= np.int64((cache[slot, plane, word] >> bit) & U1) << (plane - 2)
            numbers[i] = number


class PageCache:
    """Pages of an open table, at most `cache_bytes` of them. Safe to use from several threads."""

    def __init__(self, file: TableFile, layer_words: NDArray[np.int64], cache_bytes: int) -> None:
        self._file = file
        self._words = layer_words
        planes = max(len(file.header.planes(ply)) for ply in file.header.plies)
        pages = -(-layer_words // CHUNK_WORDS)
        self._first_page = np.concatenate(([0], np.cumsum(pages)))
        slots = max(1, min(int(self._first_page[-1]), cache_bytes // (planes * PLANE_BYTES)))
        self._slot_of = np.full(self._first_page[-1], -1, np.int32)
        self._page_in = np.full(slots, -1, np.int64)
        self._last_use = np.zeros(slots, np.int64)
        self._cache = np.empty((slots, planes, CHUNK_WORDS), np.uint64)
        self._clock = 0
        self._lock = threading.Lock()

    def look_up(
        self,
        plies: NDArray[np.int64],
        ranks: NDArray[np.int64],
        values: NDArray[np.int8] | NDArray[np.int16],
        gather: Callable[..., None] = gather_values,
    ) -> None:
        """Gather what the pages have of many positions, in place; those of rank -1 stay.

        `gather_values` multiplies signs with values, `gather_numbers` writes numbers.
        """
        pages = np.empty(len(ranks), np.int64)
        _page_numbers(plies, ranks, self._first_page, pages)
        needed = np.flatnonzero(np.bincount(pages[pages >= 0], minlength=1))
        if not (pages >= 0).any():
            return
        with self._lock:
            if len(needed) <= len(self._page_in):
                self._load(needed)
                gather(ranks, pages, self._slot_of, self._cache, values)
                return
            # More pages than memory: take the positions in the order of their pages.
            order = np.argsort(pages, kind="stable")
            for some in np.array_split(needed, -(-len(needed) // len(self._page_in))):
                low, high = np.searchsorted(pages, [some[0], some[-1] + 1], sorter=order)
                here = order[low:high]
                part = values[here]
                self._load(some)
                gather(ranks[here], pages[here], self._slot_of, self._cache, part)
                values[here] = part

    def _load(self, needed: NDArray[np.int64]) -> None:
        """Bring these pages, no more than there are slots, into memory."""
        self._clock += 1
        missing = needed[self._slot_of[needed] < 0]
        present = self._slot_of[needed]
        self._last_use[present[present >= 0]] = self._clock
        if not len(missing):
            return
        for page, slot in zip(missing, np.argsort(self._last_use, kind="stable"), strict=False):
            if self._page_in[slot] >= 0:
                self._slot_of[self._page_in[slot]] = -1
                self._page_in[slot] = -1
            ply = int(np.searchsorted(self._first_page, page, side="right")) - 1
            begin = int(page - self._first_page[ply]) * CHUNK_WORDS
            end = min(begin + CHUNK_WORDS, int(self._words[ply]))
            planes = self._file.read(ply, begin, end)
            self._cache[slot, : len(planes), : end - begin] = planes
            self._cache[slot, len(planes) :] = 0
            self._page_in[slot] = page  # before it is told where the page is: Ctrl-C may come here
            self._slot_of[page] = slot
            self._last_use[slot] = self._clock
