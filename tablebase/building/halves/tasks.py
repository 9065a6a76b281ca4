"""The tasks of a build of Connect Four, with the parts that they read and leave.

    walk-07-00003-00004.group   the values of a group, every position: what the next layer reads
    walk-07-00003-00008.part    what the task of groups 3 to 7 has left for the table: packed
                                chunks, fragments of the chunks at either end, and its counts

A task (`retro.walk.halves.task`) is walked, counted and blanked; its groups are written, then its
part, which commits it. Threads may keep the last two layers in memory; then groups are written for
those who go on, or, in a short build, not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retro.index.halves.layout import make_layout
from retro.once import once
from retro.version import VERSION
from retro.walk.halves import layer as layers
from retro.walk.halves.layer import Own, Rooms, View
from retro.walk.halves.layers import Layer, Layers
from retro.walk.halves.prepared import Prepared, prepare_layout
from retro.walk.halves.task import (
    Place,
    Stretch,
    count_task,
    is_first_layer,
    is_mirrored,
    kept_groups,
    task_groups,
    walk_alone,
    walk_task,
)
from retro.walk.task import Tally, Task
from tablebase.building.partial import part_name
from tablebase.files.frames import VALUES
from tablebase.halves.chunks import ChunkJoiner, Fragment, pack_chunk, pack_group
from tablebase.halves.format import CHUNK_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from retro.walk.halves.layer import Group, Room
    from tablebase.building.partial import Partial
    from tablebase.files.frames import FrameReader, FrameWriter
    from tablebase.halves.format import Header

    Words = NDArray[np.uint64]

NUMBERS, DIGESTS, FRAGMENTS = 0, 1, 2  # the arrays of a part; of fragments the first


def group_rule() -> str:
    """By which rule groups are cut and written: files of different rules do not go together."""
    least, most = layers.GROUP_WORDS
    groups = f"{layers.GROUPS_PER_LAYER} groups of {least:,} to {most:,} words"
    return f"retro-tablebase {VERSION}, {groups}"


class HalvesTasks:
    """What the tasks of a table of Connect Four need, wherever they run."""

    def __init__(self, partial: Partial, header: Header, *, writes_groups: bool = True) -> None:
        self.partial, self.header, self._writes_groups = partial, header, writes_groups
        self._get_ready(1)

    def _get_ready(self, threads: int) -> None:
        self.threads = threads  # that list the halves of the board
        self.rooms = Rooms()
        self._layers: Layers | None = None
        self._here: Layer | None = None  # the layer that is walked, if it is in memory
        self._view: View | None = None  # of the one that it reads

    def __getstate__(self) -> dict[str, object]:
        return {"partial": self.partial, "header": self.header, "_writes_groups": True}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._get_ready(1)

    @once
    def prepared(self) -> Prepared:
        header = self.header
        root = header.root_position if header.root else None
        layout = make_layout(header.board, header.left_columns, root, listed=False)
        prepared = prepare_layout(layout, self.threads, distances=bool(header.distances))
        assert prepared.endings  # before any task takes its memory
        return prepared

    def require_worker(self) -> None:
        """Refuse to work here by another rule or without the files."""
        self.partial.require_worker(group_rule())

    # Tasks.

    def do(self, task: Task) -> None:
        """Walk a task, write what it leaves, commit it."""
        here, prepared = self._here, self.prepared
        with self.rooms.one() as room:
            if here is not None and here.ply == task.ply and not is_mirrored(prepared, task):
                own = Own(here.values, 0)
                walk_task(prepared, task, Place(own, self._view), room)
            else:
                own = walk_alone(prepared, task, self.fetch, room)
            if self._writes_groups:
                for group in task_groups(prepared, task):
                    self.write_group(task.ply, group, _planes(own, group))
            with self.partial.write(part_name(task), synced=True) as part:
                self._write_part(task, own, room, part)

    def _write_part(self, task: Task, own: Own, room: Room, part: FrameWriter) -> None:
        numbers: list[int] = []
        digests, rest, tally = b"", list[Fragment](), Tally()
        if not is_mirrored(self.prepared, task):
            tally = count_task(self.prepared, task, own, room)
            if task.ply in self.header.plies:
                words = self.words(task.ply)
                joiner = ChunkJoiner(words)
                blanked = task.ply < self.header.last_ply or not self.header.last_is_whole
                for begin, planes in kept_groups(self.prepared, task, own, room, blanked=blanked):
                    chunks, fragments = pack_group(begin, planes)
                    joined = joiner.add(fragments)
                    chunks += [pack_chunk(*chunk, min(CHUNK_WORDS, words)) for chunk in joined]
                    for chunk in chunks:
                        part.add_frames(chunk.frames)
                        numbers.append(chunk.number)
                        digests += chunk.digest
                rest = joiner.rest()
        part.add(np.array(numbers, "<i8"))
        part.add(np.frombuffer(digests, np.uint8))
        for fragment in rest:
            part.add(fragment.planes.ravel(), VALUES)
        begins = [fragment.begin for fragment in rest]
        part.finish({"tally": list(tally), "fragments": begins})

    def fragments(self, part: FrameReader, planes: int) -> list[Fragment]:
        """The fragments in a part."""
        return [
            Fragment(begin, part.array(number, "<u8", VALUES).reshape(planes, -1))
            for number, begin in enumerate(part.said["fragments"], FRAGMENTS)
        ]

    def words(self, ply: int) -> int:
        """Length of the planes of a ply."""
        return int(self.prepared.layout.stored_words[ply])

    # Groups.

    def write_group(self, ply: int, group: Group, planes: Words) -> None:
        """Keep the words of a group."""
        with self.partial.write(part_name(group_task(ply, group.number), "group")) as part:
            for plane in planes:
                part.add(plane)
            part.finish({"words": planes.shape[1]})

    def fetch(self, ply: int, group: Group, wanted: Sequence[Stretch], planes: Words) -> None:
        """Fill planes in place with stretches of a group; raises `LostGroupError`."""
        inside = [(a - group.begin, b - group.begin, place) for a, b, place in wanted]
        with self.partial.read_task(group_task(ply, group.number), "group") as part:
            if part.said["words"] != group.end - group.begin:
                raise ValueError("it has another length")
            for number, plane in enumerate(planes):
                part.fill_some(number, inside, plane)

    # Whole layers in memory.

    def keep_layers(self, ply: int, done: Sequence[Task], pool: Executor) -> None:
        """Have the layer that is read in memory, and what is done of the one to be walked."""
        if self._layers is None:
            self._layers = Layers(self.prepared, self.rooms)
        there, view = self._here, None
        self._here = self._view = None
        if not is_first_layer(self.prepared, group_task(ply, 0)):
            if there is None or there.ply != ply + 1:
                there = self._layers.new(ply + 1)
                self._load(there, there.groups, pool)
            view = self._layers.view(pool, there)
        here = self._layers.new(ply)
        for task in done:
            self._load(here, here.groups[task.first : task.last], pool)
        self._here, self._view = here, view

    def _load(self, layer: Layer, groups: Sequence[Group], pool: Executor) -> None:
        def fetch(group: Group) -> None:
            whole = [Stretch(group.begin, group.end, group.begin)]
            self.fetch(layer.ply, group, whole, layer.values)

        list(pool.map(fetch, groups))


def group_task(ply: int, number: int) -> Task:
    """The task of one group."""
    return Task("walk", ply, number, number + 1)


def _planes(own: Own, group: Group) -> Words:
    return own.values[:, group.begin - own.origin : group.end - own.origin]
