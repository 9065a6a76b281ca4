"""From a table to the leaves of a search: plies of it, unpacked in memory.

A ply takes 16 bytes per 64 ranks: all of 6x5 takes 0.4 GB. Where memory is
short, the plies nearest to the position asked about serve best: a search that
meets the table early goes no further, whatever comes later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.search.connect4.leaves import Leaves, make_leaves
from tablebase.halves.format import PLANES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tablebase.halves.reader import HalvesReader

BYTES_PER_WORD = 2 * 8  # of both planes


def load_leaves(table: HalvesReader, first_ply: int, max_bytes: int) -> Leaves | None:
    """Read `first_ply` and the plies after it, as many as fit in `max_bytes`; None if none does.

    Every ply is checked against its digest.
    """
    first = last = max(first_ply, table.header.first_ply)
    left = max_bytes
    while last <= table.header.last_ply:
        left -= BYTES_PER_WORD * int(table.kept_layout.stored_words[last])
        if left < 0:
            break
        last += 1
    plies = range(first, last)

    def read(ply: int) -> NDArray[np.uint64]:
        return table.read_checked(ply)[: len(PLANES)]

    return make_leaves(table.kept_layout, plies, read) if plies else None
