"""What the driver is told of a build of Connect Four: what is to be done of a ply, and its end.

    backward   full board ... root: values; every task counts, packs and writes its own

A ply is cut into tasks that fit the memory of a worker: first those that make mirrored blocks of
the layer before, unless that is in memory, then those that walk. When all are done the fragments
of chunks between them are joined. Groups of two layers are kept, so that one that is lost can be
made again; a finished ply that is damaged cannot, and the build starts over.
"""

from __future__ import annotations

import heapq
from dataclasses import asdict
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from retro.errors import ChecksumError, DamagedFileError, StorageError
from retro.index.halves.sizes import layout_sizes
from retro.walk.halves.batches import Cutter, groups_side
from retro.walk.halves.layer import Rooms
from retro.walk.halves.layers import split_task, whole_task
from retro.walk.halves.mirroring import mirror_tasks
from retro.walk.halves.task import is_first_layer
from retro.walk.task import Tally, Task
from tablebase.building.driver import Pending
from tablebase.building.halves.plan import Detail
from tablebase.building.halves.tasks import DIGESTS, NUMBERS, HalvesTasks, group_rule, group_task
from tablebase.building.partial import InMemory, Partial, gaps, new_partial, part_name, ply_part
from tablebase.halves.chunks import ChunkJoiner, pack_chunk
from tablebase.halves.format import CHUNK_WORDS, DIGEST_BYTES, PlyRecord, plane_digest
from tablebase.halves.store import PlyContent, write_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from retro.errors import LostGroupError
    from tablebase.building.plan import Phase, Plan
    from tablebase.building.workers import Workers

TASKS_PER_WORKER = 4  # of a layer, at least: so that all end at about the same time


class HalvesBuild:
    """A build of Connect Four, as the driver knows it."""

    def __init__(
        self, plan: Plan, path: Path, beside: Path, workers: Workers, *, force: bool
    ) -> None:
        assert isinstance(plan.detail, Detail)
        self._detail, self._workers = plan.detail, workers
        header = plan.detail.header
        parts = Partial(path, header, group_rule(), beside)
        in_memory = plan.detail.in_memory and workers.shares_memory
        parts = new_partial(parts, force=force, in_memory=in_memory)
        self.tasks = HalvesTasks(parts, header, writes_groups=not isinstance(parts, InMemory))
        self.tasks.threads = plan.workers
        self.positions = 64 * plan.detail.words
        self._at_once = plan.workers
        self._records: dict[int, PlyRecord] = {}

    def unusable(self) -> str:
        """What is damaged of a finished ply cannot be made again: only two layers are kept."""
        parts = self.tasks.partial
        try:
            for ply in reversed(self.tasks.header.counted_plies):
                if not parts.names(ply_part(ply)):
                    break
                self._records[ply] = self._check_ply(ply)
        except (DamagedFileError, StorageError) as error:
            self._records.clear()
            parts.discard()
            parts.open()
            return f"a finished ply cannot be used: {error}"
        return ""

    def _check_ply(self, ply: int) -> PlyRecord:
        parts = self.tasks.partial
        for name in [ply_part(ply), *parts.check(ply_part(ply))["parts"]]:
            parts.check(name)
        content = self._content(ply)
        if content.record.sha256 not in ("", plane_digest([content.digests])):
            raise ChecksumError(f"{parts.folder / ply_part(ply)}: chunks of the ply are missing")
        return content.record

    def left(self) -> str:
        plies = self.tasks.header.counted_plies
        return f"{len(self._records)} of {len(plies)} plies are finished"

    def plies(self, phase: Phase) -> range:
        plies = self.tasks.header.counted_plies
        return plies[:0] if phase == "forward" else plies[::-1]

    def size(self, phase: Phase, ply: int) -> int:
        return 64 * self.tasks.words(ply)

    def pending(self, phase: Phase, ply: int) -> Pending:
        if ply in self._records:
            return Pending([])
        tasks, prepared, work = self.tasks, self.tasks.prepared, self._detail.work[ply]
        whole = whole_task(prepared, ply)
        todo = self._gaps(whole)
        if not todo:
            return Pending([])
        pieces = TASKS_PER_WORKER * work.at_once
        if work.task_memory is None:
            self._have_rooms(work.at_once)
            tasks.keep_layers(ply, self._done(whole), self._workers.threads)
            cut = [task for gap in todo for task in split_task(gap, pieces)]
            return Pending(cut, work.at_once, lambda: not self._gaps(whole))
        if not is_first_layer(prepared, whole):
            mirrored = self._mirrored(ply + 1)
            making = work.mirroring or work
            if mirrored and making.task_memory is not None:
                each = TASKS_PER_WORKER * making.at_once
                memory = making.task_memory
                self._have_rooms(making.at_once)
                cut = [t for gap in mirrored for t in mirror_tasks(prepared, gap, memory, each)]
                return Pending(
                    cut, making.at_once, lambda: not self._mirrored(ply + 1), prepares=True
                )
        self._have_rooms(work.at_once)
        sizes = layout_sizes(prepared.layout)
        cutter = Cutter(sizes, distances=prepared.planes.distances)
        side = groups_side(sizes, prepared.groups(ply))
        cut = [t for gap in todo for t in cutter.batches(gap, side, work.task_memory, pieces)]
        return Pending(cut, work.at_once, lambda: not self._gaps(whole))

    def _have_rooms(self, at_once: int) -> None:
        """Keep no memory of tasks of another size."""
        if at_once != self._at_once:
            self._at_once, self.tasks.rooms = at_once, Rooms()

    def _done(self, whole: Task) -> list[Task]:
        """The tasks within another that are done."""
        found = self.tasks.partial.done("walk", whole.ply)
        return [task for task in found if whole.first <= task.first < whole.last]

    def _gaps(self, whole: Task) -> list[Task]:
        return gaps(whole, self._done(whole))

    def _mirrored(self, ply: int) -> list[Task]:
        """The mirrored groups of a ply that no task has made yet."""
        prepared = self.tasks.prepared
        stored = whole_task(prepared, ply)
        last = len(prepared.readable(ply))
        return self._gaps(stored._replace(first=stored.last, last=last))

    def split(self, task: Task, error: Exception) -> list[Task]:
        raise error  # every task fits: sizes are known

    def rebuild(self, lost: LostGroupError) -> list[Task]:
        memory, ply = self._detail.least_task_memory, lost.ply
        task = group_task(ply, lost.number)._replace(memory=memory)
        name = part_name(task, "group")
        found = [] if self.tasks.partial.names(name) else [task]
        if ply not in self._records:
            whole = whole_task(self.tasks.prepared, ply)
            found += [gap._replace(memory=memory) for gap in self._gaps(whole) if not found]
        return found

    def finish(self, phase: Phase, ply: int) -> int:
        """Join the chunks between tasks, count, forget."""
        if ply not in self._records:
            self._records[ply] = self._finish(ply)
            self.tasks.partial.forget("walk", [ply + 2, ply + 3], "group")
        return self.size(phase, ply)

    def _finish(self, ply: int) -> PlyRecord:
        tasks, header = self.tasks, self.tasks.header
        words, planes = tasks.words(ply), len(header.planes(ply))
        done, tally = self._done(whole_task(tasks.prepared, ply)), Tally()
        joiner, digests, own = ChunkJoiner(words), dict[int, bytes](), dict[int, bytes]()
        with tasks.partial.write(ply_part(ply), synced=True) as ply_writer:
            for task in done:
                with tasks.partial.read_task(task) as part:
                    tally = tally.plus(_tally(part.said["tally"]))
                    numbers, found = part.array(NUMBERS, "<i8"), part.array(DIGESTS, "u1")
                    digests.update(_by_number(numbers.tolist(), found.tobytes()))
                    complete = joiner.add(tasks.fragments(part, planes))
                for chunk in complete:
                    packed = pack_chunk(*chunk, min(CHUNK_WORDS, words))
                    own[packed.number] = packed.digest
                    ply_writer.add_frames(packed.frames)
            digests.update(own)
            is_kept = ply in header.plies
            sha = plane_digest(digests[n] for n in sorted(digests)) if is_kept else ""
            record = _record(ply, tally, sha)
            ply_writer.add(np.array(list(own), "<i8"))
            ply_writer.add(np.frombuffer(b"".join(own.values()), np.uint8))
            ply_writer.finish({"record": asdict(record), "parts": [part_name(t) for t in done]})
        return record

    def _content(self, ply: int) -> PlyContent:
        """A finished ply as the table will have it."""
        parts, planes = self.tasks.partial, len(self.tasks.header.planes(ply))
        with parts.read(ply_part(ply)) as part:
            names, said = part.said["parts"], part.said["record"]
        digests: dict[int, bytes] = {}
        for name in [ply_part(ply), *names]:
            with parts.read(name) as part:
                found = part.array(DIGESTS, "u1").tobytes()
                digests.update(_by_number(part.array(NUMBERS, "<i8").tolist(), found))

        def frames_of(name: str) -> Iterator[tuple[int, tuple[bytes, ...]]]:
            with parts.read(name) as part:
                numbers = part.array(NUMBERS, "<i8")
                for at in np.argsort(numbers).tolist():
                    frames = (part.frame(at * planes + plane) for plane in range(planes))
                    yield int(numbers[at]), tuple(frames)

        others = chain.from_iterable(map(frames_of, names))
        frames = heapq.merge(frames_of(ply_part(ply)), others, key=itemgetter(0))
        record = PlyRecord(**{**said, "distances": tuple(said["distances"])})
        in_order = b"".join(digests[number] for number in sorted(digests))
        return PlyContent(record, self.tasks.words(ply), frames, in_order)

    def join(self) -> None:
        header = self.tasks.header
        contents = map(self._content, header.counted_plies)
        write_table(self.tasks.partial.path, header, contents, self._detail.words)


def _by_number(numbers: list[int], digests: bytes) -> dict[int, bytes]:
    """The digests of chunks, which are one after another."""
    each = (digests[at : at + DIGEST_BYTES] for at in range(0, len(digests), DIGEST_BYTES))
    return dict(zip(numbers, each, strict=True))


def _tally(said: list[Any]) -> Tally:
    alive, terminal, won, lost, distances = said
    return Tally(alive, terminal, won, lost, tuple(distances))


def _record(ply: int, tally: Tally, sha256: str) -> PlyRecord:
    alive, terminal, won, lost, distances = tally
    counts = (alive + terminal, won, alive - won - lost, lost + terminal, terminal)
    if distances:
        distances = (terminal, *distances[1:])
    return PlyRecord(ply, *counts, sha256=sha256, distances=distances)
