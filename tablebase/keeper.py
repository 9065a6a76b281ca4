"""What becomes of finished groups: the walks hand them over, threads pack them and write them.

    forward    alive plane  ->  alive-07-0003.zst, with how many positions it counts
    backward   both planes  ->  walk-07-0003.zst, so that the next ply can read it again
                            ->  counted: the alive positions that are won and lost
                            ->  blanked, packed in chunks: the ply as the table will have it

A group on disk is its tally, two words, and then its words.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from retro.walk.blank import blank_blocks, count_blocks, make_scratch
from retro.walk.layers import Tally, block_weights
from tablebase.format import PlyRecord
from tablebase.packing import Chunk, Fragment, join_fragments, pack_group

if TYPE_CHECKING:
    from retro.walk.layer import Group
    from retro.walk.layers import Prepared
    from tablebase.store import PartialTable, Values, Walk


class GroupFiles:
    """Groups of one walk on disk: a `retro.walk.layers.Keeper`."""

    def __init__(self, partial: PartialTable, walk: Walk) -> None:
        self._partial = partial
        self._walk: Walk = walk

    def recall(self, ply: int, group: Group, values: Values) -> Tally | None:
        if not self._partial.group(self._walk, ply, group.number).exists():
            return None
        words = self._partial.read_group(self._walk, ply, group.number)
        values[:, group.begin : group.end] = words[2:].reshape(len(values), -1)
        return Tally(int(words[0]), int(words[1]))

    def finish(self, ply: int, group: Group, values: Values, tally: Tally) -> None:
        if not self._partial.group(self._walk, ply, group.number).exists():
            content = values[:, group.begin : group.end].ravel()
            words = np.concatenate([np.array(tally, np.uint64), content])
            self._partial.write_group(self._walk, ply, group.number, words)

    def tally(self, ply: int, groups: int) -> Tally:
        """What the groups of a ply count together."""
        heads = [self._partial.read_group(self._walk, ply, number)[:2] for number in range(groups)]
        alive, terminal = np.sum(heads, axis=0)
        return Tally(int(alive), int(terminal))


class PlyMaker(GroupFiles):
    """The backward walk's keeper: makes the part of the ply that is being walked, too."""

    def __init__(self, partial: PartialTable, prepared: Prepared) -> None:
        super().__init__(partial, "walk")
        self._prepared = prepared
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._chunks: list[Chunk] = []
        self._fragments: list[Fragment] = []
        self._won = self._lost = 0
        self._reached = Tally(0, 0)

    def finish(self, ply: int, group: Group, values: Values, tally: Tally) -> None:
        super().finish(ply, group, values, tally)
        reached = self._partial.read_group("alive", ply, group.number)
        shape, blocks = self._prepared.layout.shape, (group.left, group.right)
        weights = block_weights(self._prepared, *blocks)
        won, lost = count_blocks(shape, values, reached[2:], group.begin, blocks, weights)
        chunks, fragments = self._pack(ply, group, values)
        with self._lock:
            self._won += int(won)
            self._lost += int(lost)
            alive, terminal = self._reached
            self._reached = Tally(alive + int(reached[0]), terminal + int(reached[1]))
            self._chunks += chunks
            self._fragments += fragments

    def _pack(self, ply: int, group: Group, values: Values) -> tuple[list[Chunk], list[Fragment]]:
        header = self._partial.header
        if ply not in header.plies:
            return [], []
        planes = values[:, group.begin : group.end]
        if ply < header.last_ply or not header.last_is_whole:
            layout, plan = self._prepared.layout, self._prepared.plan
            blocks, scratch = (group.left, group.right), make_scratch(layout, plan)
            planes = np.empty_like(planes)
            blank_blocks(layout.shape, plan, scratch, values, planes, group.begin, blocks)
        return pack_group(group.begin, planes)

    def complete(self, ply: int) -> None:
        """All groups of a ply are there: write its part, and forget what nobody reads again."""
        (alive, terminal), words = self._reached, int(self._prepared.layout.stored_words[ply])
        draw = alive - self._won - self._lost
        counts = (alive + terminal, self._won, draw, self._lost + terminal, terminal)
        chunks = None
        if ply in self._partial.header.plies:
            chunks = self._chunks + join_fragments(self._fragments, words)
        self._partial.write_part(PlyRecord(ply, *counts, sha256=""), words, chunks)
        self._partial.drop_groups("alive", ply)
        self._partial.drop_groups("walk", ply + 1)
        self._begin()
