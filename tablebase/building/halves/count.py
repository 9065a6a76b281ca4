"""How many positions there are, ply by ply, without building a table: in closed form.

>>> from retro.games.connect4.rules import Connect4Board
>>> [counted.positions for counted in count_positions(Connect4Board(2, 2).start(), threads=1)]
[1, 2, 4, 6, 5]
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from retro.cores import available_cores
from retro.errors import DoesNotFitError
from retro.index.halves.layout import make_layout
from retro.index.halves.sizes import count_sizes
from retro.walk.halves.layer import Rooms
from retro.walk.halves.layers import count_layer
from retro.walk.halves.prepared import prepare_layout
from tablebase.answers import PlyPositions
from tablebase.building.halves.memory import BASE, lists_memory, worker_memory
from tablebase.building.halves.plan import make_header
from tablebase.machine import available_memory
from tablebase.units import size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retro.games.connect4.rules import Connect4Position


def count_positions(
    root: Connect4Position, plies: range | None = None, threads: int | None = None
) -> Iterator[PlyPositions]:
    """Count what play can reach from a position, any plies by themselves; by default all."""
    board, threads = root.board, threads or available_cores()
    header = make_header(root)
    counted = count_sizes(board, header.left_columns, root)
    needed = BASE + lists_memory(counted, header) + threads * worker_memory(counted, header, 0)
    free = available_memory()
    if free is not None and needed > free:
        raise DoesNotFitError(
            f"counting {board.name} takes {size(needed)} of memory; {size(free)} are free"
        )
    prepared, rooms = prepare_layout(make_layout(*header.cut, listed=False), threads), Rooms()
    with ThreadPoolExecutor(threads) as pool:
        for ply in plies or range(root.ply, board.cells + 1):
            found = count_layer(prepared, ply, pool, rooms)
            is_full = ply == board.cells
            yield PlyPositions(ply, found.positions, found.positions if is_full else found.terminal)
