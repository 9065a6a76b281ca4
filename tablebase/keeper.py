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
from tablebase.format import CHUNK_WORDS, PlyRecord
from tablebase.packing import Chunk, ChunkJoiner, Fragment, pack_chunk, pack_group

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
        tally = np.empty(2, np.uint64)
        pieces = [tally, *(plane[group.begin : group.end] for plane in values)]
        self._partial.read_group(self._walk, ply, group.number, pieces)
        return Tally(*map(int, tally))

    def finish(self, ply: int, group: Group, values: Values, tally: Tally) -> None:
        if not self._partial.group(self._walk, ply, group.number).exists():
            planes = (plane[group.begin : group.end] for plane in values)
            pieces = [np.array(tally, np.uint64), *planes]
            self._partial.write_group(self._walk, ply, group.number, pieces)


class PlyMaker(GroupFiles):
    """The backward walk's keeper: makes the part of the ply that is being walked, too."""

    def __init__(self, partial: PartialTable, prepared: Prepared, first_ply: int) -> None:
        super().__init__(partial, "walk")
        self._prepared = prepared
        self._lock = threading.Lock()
        self._own = threading.local()  # buffers of each thread
        self._begin(first_ply)

    def _begin(self, ply: int) -> None:
        """Be ready for the groups of a ply."""
        self._words = int(self._prepared.layout.stored_words[ply])
        self._chunks: list[Chunk] = []
        self._joiner = ChunkJoiner(self._words)
        self._won = self._lost = 0
        self._reached = Tally(0, 0)

    def finish(self, ply: int, group: Group, values: Values, tally: Tally) -> None:
        super().finish(ply, group, values, tally)
        tally, reached = self._reached_in(ply, group)
        shape, blocks = self._prepared.layout.shape, (group.left, group.right)
        weights = block_weights(self._prepared, *blocks)
        won, lost = count_blocks(shape, values, reached, group.begin, blocks, weights)
        chunks, fragments = self._pack(ply, group, values)
        with self._lock:
            self._won += int(won)
            self._lost += int(lost)
            alive, terminal = self._reached
            self._reached = Tally(alive + tally.alive, terminal + tally.terminal)
            self._chunks += chunks
            joined = self._joiner.add(fragments)
        chunks = [pack_chunk(*chunk, min(CHUNK_WORDS, self._words)) for chunk in joined]
        with self._lock:
            self._chunks += chunks

    def _buffer(self, name: str, words: int) -> Values:
        """Room for so many words that this thread uses again and again."""
        room: Values | None = getattr(self._own, name, None)
        if room is None or len(room) < words:
            room = np.empty(words, np.uint64)
            setattr(self._own, name, room)
        return room[:words]

    def _reached_in(self, ply: int, group: Group) -> tuple[Tally, Values]:
        """What the forward walk found in a group: its tally and its alive plane."""
        tally, alive = np.empty(2, np.uint64), self._buffer("alive", group.end - group.begin)
        self._partial.read_group("alive", ply, group.number, [tally, alive])
        return Tally(*map(int, tally)), alive

    def _pack(self, ply: int, group: Group, values: Values) -> tuple[list[Chunk], list[Fragment]]:
        header = self._partial.header
        if ply not in header.plies:
            return [], []
        planes = values[:, group.begin : group.end]
        if ply < header.last_ply or not header.last_is_whole:
            layout, plan = self._prepared.layout, self._prepared.plan
            blocks, scratch = (group.left, group.right), make_scratch(layout, plan)
            planes = self._buffer("kept", planes.size).reshape(2, -1)
            blank_blocks(layout.shape, plan, scratch, values, planes, group.begin, blocks)
        return pack_group(group.begin, planes)

    def complete(self, ply: int) -> None:
        """All groups of a ply are there: write its part, and forget what nobody reads again."""
        alive, terminal = self._reached
        draw = alive - self._won - self._lost
        counts = (alive + terminal, self._won, draw, self._lost + terminal, terminal)
        chunks = self._chunks if ply in self._partial.header.plies else None
        self._partial.write_part(PlyRecord(ply, *counts, sha256=""), self._words, chunks)
        self._partial.drop_groups("alive", ply)
        self._partial.drop_groups("walk", ply + 1)
        self._begin(max(0, ply - 1))
