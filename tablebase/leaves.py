"""From a table to the leaves of a search: plies of it, unpacked in memory.

A ply takes 16 bytes per 64 ranks: all of 6x5 takes 0.4 GB. Where memory is
short, the plies nearest to the position asked about serve best: a search that
meets the table early goes no further, whatever comes later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.search.engine_leaves import Leaves, make_leaves

if TYPE_CHECKING:
    from tablebase.probe import Tablebase

BYTES_PER_WORD = 2 * 8  # of both planes


def load_leaves(table: Tablebase, first_ply: int, max_bytes: int) -> Leaves | None:
    """Read `first_ply` and the plies after it, as many as fit in `max_bytes`; None if none does.

    Every ply is checked against its digest.
    """
    first = last = max(first_ply, table.header.first_ply)
    left = max_bytes
    while last <= table.header.last_ply:
        left -= BYTES_PER_WORD * int(table.layout.stored_words[last])
        if left < 0:
            break
        last += 1
    plies = range(first, last)
    return make_leaves(table.layout, plies, table.read_checked) if plies else None
