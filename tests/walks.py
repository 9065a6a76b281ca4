"""Both walks in memory, as the tests like them: counts, values and live positions of every ply."""

from typing import NamedTuple

import numpy as np

from retro.walk.halves.blank import count_group
from retro.walk.halves.layer import Own, Room
from retro.walk.halves.layers import backward, block_weights, forward, whole_task
from retro.walk.halves.task import count_task


class Counts(NamedTuple):
    """Legal positions of one ply; win, draw and loss are for the side to move."""

    ply: int
    positions: int
    win: int
    draw: int
    loss: int
    terminal: int


def walk(prepared):
    """(counts of every ply, values of every ply, alive plane of every ply)."""
    marked = [(tally, layer.stored[0].copy()) for tally, layer in forward(prepared)]
    values, counts = {}, []
    first_ply = prepared.layout.first_ply
    for layer in backward(prepared):
        tally, alive = marked[layer.ply - first_ply]
        own, offset = Own(layer.values, 0), prepared.layout.shape.offset
        won = lost = 0
        for group in layer.groups:
            weights = block_weights(prepared, group.left, group.right)
            live = alive[group.begin : group.end]
            more = count_group(offset, own, live, group, weights)
            won, lost = won + more[0], lost + more[1]
        positions, draw = tally.positions, tally.alive - won - lost
        counts.append(
            Counts(layer.ply, positions, won, draw, lost + tally.terminal, tally.terminal)
        )
        values[layer.ply] = layer.stored.copy()
    return counts[::-1], values, [alive for _, alive in marked]


def walk_with_distances(prepared):
    """({ply: planes}, {ply: tally}) of a board that is prepared with distances."""
    alive = {layer.ply: layer.stored[0].copy() for _, layer in forward(prepared)}
    planes, tallies = {}, {}

    def fetch(walk, ply, group, wanted, planes):
        for begin, end, place in wanted:
            planes[0][place : place + end - begin] = alive[ply][begin:end]

    for layer in backward(prepared):
        task = whole_task(prepared, "walk", layer.ply)
        planes[layer.ply] = layer.stored.copy()
        tallies[layer.ply] = count_task(prepared, task, Own(layer.values, 0), fetch, Room())
    return planes, tallies


def bit_at(plane, ranks):
    """The bits of a plane at some ranks."""
    return (plane[ranks // 64] >> (ranks % 64).astype(np.uint64) & np.uint64(1)).astype(np.int64)
