"""Looking positions up in bulk: from bitboards to values, through a bounded page cache.

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

from retro.games.connect_bits import gravity_holds, has_line, popcount
from retro.index.ranking import NO_RANK
from retro.jit import entry
from tablebase.format import CHUNK_WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tablebase.store import TableFile

# Instead of a rank: what `check_many` says of a position that has no value in the planes.
ILLEGAL, FINISHED = NO_RANK, -2
PAGE_BYTES = 2 * 8 * CHUNK_WORDS


@entry
def check_many(geometry, first, second, plies, ranks):
    """Find the plies of many positions in place, and correct their ranks to ILLEGAL or FINISHED."""
    for i in range(len(first)):
        mine, other = first[i], second[i]
        ply = popcount(mine | other)
        if ply & 1:
            mine, other = other, mine
        plies[i] = ply
        surplus = popcount(first[i]) - popcount(second[i])
        is_counted = (mine & other) == np.uint64(0) and (surplus == 0 or surplus == 1)
        is_legal = is_counted and gravity_holds(geometry, mine | other)
        if not is_legal or has_line(geometry, mine):
            ranks[i] = ILLEGAL
        elif has_line(geometry, other):
            ranks[i] = FINISHED


@entry
def _page_numbers(plies, ranks, first_page, pages):
    """The page of every located position, or -1; in place."""
    for i in range(len(plies)):
        pages[i] = first_page[plies[i]] + (ranks[i] >> 6) // CHUNK_WORDS if ranks[i] >= 0 else -1


@entry
def _gather(ranks, pages, slot_of, cache, values):
    """Read the values of positions whose pages are in memory; fills `values` in place."""
    for i in range(len(ranks)):
        if ranks[i] == FINISHED:
            values[i] = -1
        elif ranks[i] >= 0:
            slot, word = slot_of[pages[i]], (ranks[i] >> 6) % CHUNK_WORDS
            bit = np.uint64(ranks[i] & 63)
            win, loss = cache[slot, 0, word] >> bit, cache[slot, 1, word] >> bit
            values[i] = np.int8(win & np.uint64(1)) - np.int8(loss & np.uint64(1))


class PageCache:
    """Pages of an open table, at most `cache_bytes` of them. Safe to use from several threads."""

    def __init__(self, file: TableFile, layer_words: NDArray[np.int64], cache_bytes: int) -> None:
        self._file = file
        self._words = layer_words
        pages = -(-layer_words // CHUNK_WORDS)
        self._first_page = np.concatenate(([0], np.cumsum(pages)))
        slots = max(1, min(int(self._first_page[-1]), cache_bytes // PAGE_BYTES))
        self._slot_of = np.full(self._first_page[-1], -1, np.int32)
        self._page_in = np.full(slots, -1, np.int64)
        self._last_use = np.zeros(slots, np.int64)
        self._cache = np.empty((slots, 2, CHUNK_WORDS), np.uint64)
        self._clock = 0
        self._lock = threading.Lock()

    def value(self, ply: int, position_rank: int) -> int:
        """The value of one position by its rank."""
        word, bit = position_rank >> 6, position_rank & 63
        page = int(self._first_page[ply]) + word // CHUNK_WORDS
        with self._lock:
            if self._slot_of[page] < 0:
                self._load(np.array([page]))
            slot = self._slot_of[page]
            self._clock += 1
            self._last_use[slot] = self._clock
            win, loss = self._cache[slot, :, word % CHUNK_WORDS].tolist()
        return (win >> bit & 1) - (loss >> bit & 1)

    def values(self, plies: NDArray[np.int64], ranks: NDArray[np.int64]) -> NDArray[np.int8]:
        """The values of many located positions; those that are finished count as lost."""
        pages = np.empty(len(ranks), np.int64)
        _page_numbers(plies, ranks, self._first_page, pages)
        values = np.zeros(len(ranks), np.int8)
        needed = np.flatnonzero(np.bincount(pages[pages >= 0], minlength=1))
        with self._lock:
            if len(needed) <= len(self._page_in):
                self._load(needed)
                _gather(ranks, pages, self._slot_of, self._cache, values)
                return values
            # More pages than memory: take the positions in the order of their pages.
            order = np.argsort(pages, kind="stable")
            for some in np.array_split(needed, -(-len(needed) // len(self._page_in))):
                low, high = np.searchsorted(pages, [some[0], some[-1] + 1], sorter=order)
                here = order[low:high]
                part = np.zeros(len(here), np.int8)
                self._load(some)
                _gather(ranks[here], pages[here], self._slot_of, self._cache, part)
                values[here] = part
            values[ranks == FINISHED] = -1
        return values

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
            self._cache[slot, :, : end - begin] = self._file.read(ply, begin, end)
            self._slot_of[page], self._page_in[slot] = slot, page
            self._last_use[slot] = self._clock
