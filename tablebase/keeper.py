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
from retro.walk.layer import group_strips
from retro.walk.layers import Tally, block_weights
from tablebase.files import Closing
from tablebase.format import CHUNK_WORDS, PlyRecord
from tablebase.packing import ChunkJoiner, pack_chunk, pack_group

if TYPE_CHECKING:
    from retro.walk.layer import Group
    from retro.walk.layers import Prepared, Profiles
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


class PlyMaker(GroupFiles, Closing):
    """The backward walk's keeper: makes the part of the ply that is being walked, too.

    Use it as a context manager: what is begun and not finished is removed.
    """

    def __init__(self, partial: PartialTable, prepared: Prepared, first_ply: int) -> None:
        super().__init__(partial, "walk")
        self._prepared = prepared
        self._lock = threading.Lock()
        self._own = threading.local()  # buffers of each thread
        self._begin(first_ply)

    def _begin(self, ply: int) -> None:
        """Be ready for the groups of a ply."""
        self._words = int(self._prepared.layout.stored_words[ply])
        self._writer = self._partial.part_writer(ply)
        self._joiner = ChunkJoiner(self._words)
        self._won = self._lost = 0
        self._reached = Tally(0, 0)

    def finish(self, ply: int, group: Group, values: Values, tally: Tally) -> None:
        super().finish(ply, group, values, tally)
        blocks = (group.left, group.right)
        weights = block_weights(self._prepared, *blocks)
        offset = self._prepared.layout.shape.offset
        reached = np.empty(2, np.uint64)
        with self._partial.group_reader("alive", ply, group.number) as reader:
            reader.fill(reached)
            for strip in group_strips(self._prepared.layout, group):
                alive = self._buffer("alive", strip[1] - strip[0])
                reader.fill(alive)
                won, lost = count_blocks(offset, values, alive, strip, blocks, weights)
                with self._lock:
                    self._won += int(won)
                    self._lost += int(lost)
                if ply in self._partial.header.plies:
                    self._pack(ply, values, strip, blocks)
        with self._lock:
            alive_before, ended_before = self._reached
            self._reached = Tally(alive_before + int(reached[0]), ended_before + int(reached[1]))

    def close(self) -> None:
        self._writer.discard()

    def _buffer(self, name: str, words: int) -> Values:
        """Room for so many words that this thread uses again and again."""
        room: Values | None = getattr(self._own, name, None)
        if room is None or len(room) < words:
            room = np.empty(words, np.uint64)
            setattr(self._own, name, room)
        return room[:words]

    def _pack(
        self, ply: int, values: Values, strip: tuple[int, int], blocks: tuple[Profiles, Profiles]
    ) -> None:
        """Write a strip of a layer as the table will have it."""
        header = self._partial.header
        planes = values[:, strip[0] : strip[1]]
        if ply < header.last_ply or not header.last_is_whole:
            layout, plan = self._prepared.layout, self._prepared.plan
            planes = self._buffer("kept", planes.size).reshape(2, -1)
            scratch = make_scratch(layout, plan)
            blank_blocks(layout.shape, plan, scratch, values, planes, strip, blocks)
        chunks, fragments = pack_group(strip[0], planes)
        with self._lock:
            joined = self._joiner.add(fragments)
        chunks += [pack_chunk(*chunk, min(CHUNK_WORDS, self._words)) for chunk in joined]
        with self._lock:
            self._writer.add(chunks)

    def complete(self, ply: int) -> None:
        """All groups of a ply are there: finish its part, and forget what nobody reads again."""
        alive, terminal = self._reached
        draw = alive - self._won - self._lost
        counts = (alive + terminal, self._won, draw, self._lost + terminal, terminal)
        self._partial.finish_part(self._writer, PlyRecord(ply, *counts, sha256=""), self._words)
        self._partial.drop_groups("alive", ply)
        self._partial.drop_groups("walk", ply + 1)
        if ply > self._prepared.layout.first_ply:
            self._begin(ply - 1)
