"""The walk in memory, as the tests like it: counts, values and live positions of every ply."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from retro.walk.halves.layer import Own, Room, Rooms
from retro.walk.halves.layers import backward, count_layer, whole_task
from retro.walk.halves.task import count_task, live_blocks


class Counts(NamedTuple):
    """Legal positions of one ply; win, draw and loss are for the side to move."""

    ply: int
    positions: int
    win: int
    draw: int
    loss: int
    terminal: int


def live_plane(prepared, ply):
    """The plane of a ply's live positions that play can reach."""
    planes = [plane for _, plane in live_blocks(prepared, ply)]
    return np.concatenate([np.zeros(0, np.uint64), *planes])


def walk(prepared):
    """(counts of every ply, values of every ply, live plane of every ply)."""
    values, counts, live = {}, [], []
    for layer in backward(prepared):
        task = whole_task(prepared, layer.ply)
        tally = count_task(prepared, task, Own(layer.values, 0), Room())
        draw = tally.alive - tally.won - tally.lost
        counts.append(
            Counts(layer.ply, tally.positions, tally.won, draw, tally.lost + tally.terminal,
                   tally.terminal)
        )  # fmt: skip
        values[layer.ply] = layer.stored.copy()
        live.append(live_plane(prepared, layer.ply))
    return counts[::-1], values, live[::-1]


def count_alone(prepared):
    """{ply: tally}, of no values and in no order of plies."""
    plies = list(range(prepared.layout.first_ply, prepared.layout.plies))
    rooms = Rooms()
    with ThreadPoolExecutor(2) as pool:
        return {
            ply: count_layer(prepared, ply, pool, rooms)
            for ply in sorted(plies, key=lambda ply: (ply * 7) % 11)
        }


def walk_with_distances(prepared):
    """({ply: planes}, {ply: tally}) of a board that is prepared with distances."""
    planes, tallies = {}, {}
    for layer in backward(prepared):
        task = whole_task(prepared, layer.ply)
        planes[layer.ply] = layer.stored.copy()
        tallies[layer.ply] = count_task(prepared, task, Own(layer.values, 0), Room())
    return planes, tallies


def bit_at(plane, ranks):
    """The bits of a plane at some ranks."""
    return (plane[ranks // 64] >> (ranks % 64).astype(np.uint64) & np.uint64(1)).astype(np.int64)
