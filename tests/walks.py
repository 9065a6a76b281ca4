"""Both walks in memory, as the tests like them: counts, values and live positions of every ply."""

from typing import NamedTuple

import numpy as np

from retro.walk.blank import count_blocks
from retro.walk.layers import NoKeeper, backward, block_weights, forward


class Counts(NamedTuple):
    """Legal positions of one ply; win, draw and loss are for the side to move."""

    ply: int
    positions: int
    win: int
    draw: int
    loss: int
    terminal: int


class MemoryKeeper(NoKeeper):
    """Keeps every group in a dictionary."""

    def __init__(self):
        self.groups, self.finished, self.recalled = {}, [], 0

    def recall(self, ply, group, values):
        if (ply, group.number) not in self.groups:
            return None
        self.recalled += 1
        content, tally = self.groups[ply, group.number]
        values[:, group.begin : group.end] = content
        return tally

    def finish(self, ply, group, values, tally):
        self.finished.append((ply, group.number))
        self.groups[ply, group.number] = values[:, group.begin : group.end].copy(), tally


def walk(prepared):
    """(counts of every ply, values of every ply, alive plane of every ply)."""
    marked = [(tally, layer.stored[0].copy()) for tally, layer in forward(prepared)]
    values, counts = {}, []
    first_ply = prepared.layout.first_ply
    for layer in backward(prepared):
        tally, alive = marked[layer.ply - first_ply]
        blocks = tuple(np.concatenate([g[side] for g in layer.groups]) for side in (1, 2))
        weights = block_weights(prepared, *blocks)
        won, lost = count_blocks(
            prepared.layout.shape.offset, layer.values, alive, (0, len(alive)), blocks, weights
        )
        positions, draw = sum(tally), tally.alive - won - lost
        counts.append(
            Counts(layer.ply, positions, won, draw, lost + tally.terminal, tally.terminal)
        )
        values[layer.ply] = layer.stored.copy()
    return counts[::-1], values, [alive for _, alive in marked]
