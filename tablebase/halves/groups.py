"""Where a build keeps its groups and what its tasks leave: in memory, or in files.

Both kinds of store promise the same (`GroupStore`): a group that was written can be
fetched until it is forgotten, a task that was committed is known, and its tally and
chunks are there. What is lost or damaged is named by `LostGroupError`, so that
whoever drives the build can have that group made again.

    in memory   for builds that are short: nothing touches the disk but the finished table
    files       `tablebase.halves.partial`: for all others; they survive the process
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from retro.walk.halves.layer import Group
    from retro.walk.halves.task import Stretch
    from retro.walk.task import Tally, Task
    from tablebase.files.packing import Chunk, Fragment
    from tablebase.halves.format import Header, PlyRecord

    Words = NDArray[np.uint64]
    Recorder = Callable[[dict[int, bytes]], PlyRecord]  # from the digests of joined chunks


class Chunks(Protocol):
    """Packed chunks, by number, and fragments of others."""

    def digests(self) -> Iterable[tuple[int, bytes]]: ...
    def frames(self, plane: int) -> Iterator[tuple[int, bytes]]: ...
    def fragments(self) -> list[Fragment]: ...


class TaskWriter(Protocol):
    """Takes the chunks of a task as they come."""

    def add(self, chunks: Sequence[Chunk]) -> None: ...
    def add_fragments(self, fragments: Sequence[Fragment]) -> None: ...
    def discard(self) -> None: ...


class Committed(NamedTuple):
    """A task that is done."""

    task: Task
    tally: Tally
    chunks: Chunks


class PlyContent(NamedTuple):
    """A finished ply: its counts, the length of its planes, and the parts that hold its chunks."""

    record: PlyRecord
    words: int
    joined: Chunks
    parts: list[Chunks]

    def frames(self, planes: int) -> Iterator[tuple[int, tuple[bytes, ...]]]:
        """(number, frames of all planes) of every chunk, in order."""
        each = [
            _in_order(
                self.joined.frames(plane),
                chain.from_iterable([part.frames(plane) for part in self.parts]),
            )
            for plane in range(planes)
        ]
        for chunk in zip(*each, strict=True):
            yield chunk[0][0], tuple(frame for _, frame in chunk)

    def digests(self) -> list[bytes]:
        """The digests of all chunks, in order."""
        found = {n: digest for part in (self.joined, *self.parts) for n, digest in part.digests()}
        return [found[number] for number in sorted(found)]


def _in_order(
    some: Iterator[tuple[int, bytes]], others: Iterator[tuple[int, bytes]]
) -> Iterator[tuple[int, bytes]]:
    waiting = next(some, None)
    for other in others:
        while waiting is not None and waiting[0] < other[0]:
            yield waiting
            waiting = next(some, None)
        yield other
    while waiting is not None:
        yield waiting
        waiting = next(some, None)


class GroupStore(Protocol):
    """What a build writes and reads again. Called from several threads or processes."""

    header: Header
    keeps_values: bool  # whether groups are written

    def write_group(self, ply: int, group: Group, planes: Words) -> None:
        """Keep the words of a group."""
        ...

    def fetch(self, ply: int, group: Group, wanted: Sequence[Stretch], planes: Words) -> None:
        """Fill planes in place with stretches of a group; raises `LostGroupError`."""
        ...

    def forget_groups(self, plies: Iterable[int]) -> None:
        """The groups of these plies are not read any more."""
        ...

    def begin(self, task: Task) -> TaskWriter:
        """Begin to write what a task leaves."""
        ...

    def commit(self, task: Task, writer: TaskWriter, tally: Tally) -> None:
        """A task is done: the last thing that is written of it."""
        ...

    def committed(self, ply: int) -> list[Committed]:
        """The tasks of a ply that are done, in order; no group is in two of them."""
        ...

    def finish_ply(self, ply: int, words: int, joined: Iterable[Chunk], record: Recorder) -> None:
        """All tasks of a ply are done; `joined` are the chunks made of their fragments.

        They are taken one at a time: packed ones that wait side by side leave holes in memory.
        """
        ...

    def content(self, ply: int) -> PlyContent:
        """A finished ply."""
        ...


class MemoryChunks:
    """Chunks in memory; also a `TaskWriter`."""

    def __init__(self) -> None:
        self._chunks: list[Chunk] = []
        self._fragments: list[Fragment] = []

    def add(self, chunks: Sequence[Chunk]) -> None:
        self._chunks += chunks

    def add_fragments(self, fragments: Sequence[Fragment]) -> None:
        self._fragments += fragments

    def discard(self) -> None:
        self._chunks, self._fragments = [], []

    def digests(self) -> Iterable[tuple[int, bytes]]:
        return [(chunk.number, chunk.digest) for chunk in sorted(self._chunks)]

    def frames(self, plane: int) -> Iterator[tuple[int, bytes]]:
        return iter([(chunk.number, chunk.frames[plane]) for chunk in sorted(self._chunks)])

    def fragments(self) -> list[Fragment]:
        return self._fragments


class MemoryStore:
    """Everything in memory, for builds that are short. Only threads of one process use it."""

    keeps_values = False  # whoever walks in memory has the last layer at hand

    def __init__(self, header: Header) -> None:
        self.header = header
        self._done: dict[Task, tuple[Tally, MemoryChunks]] = {}
        self._plies: dict[int, PlyContent] = {}

    def write_group(self, ply: int, group: Group, planes: Words) -> None:
        raise AssertionError("groups stay in the layer that was walked")

    def fetch(self, ply: int, group: Group, wanted: Sequence[Stretch], planes: Words) -> None:
        raise AssertionError("groups stay in the layer that was walked")

    def forget_groups(self, plies: Iterable[int]) -> None:
        pass

    def begin(self, task: Task) -> MemoryChunks:
        return MemoryChunks()

    def commit(self, task: Task, writer: TaskWriter, tally: Tally) -> None:
        assert isinstance(writer, MemoryChunks)
        self._done[task] = (tally, writer)

    def committed(self, ply: int) -> list[Committed]:
        tasks = sorted(task for task in self._done if task.ply == ply)
        return [Committed(task, *self._done[task]) for task in tasks]

    def finish_ply(self, ply: int, words: int, joined: Iterable[Chunk], record: Recorder) -> None:
        chunks = MemoryChunks()
        chunks.add(list(joined))
        done = [member.chunks for member in self.committed(ply)]
        self._plies[ply] = PlyContent(record(dict(chunks.digests())), words, chunks, done)

    def content(self, ply: int) -> PlyContent:
        return self._plies[ply]
