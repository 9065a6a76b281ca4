"""What a task leaves for the table: packed chunks, a list of them, and its tally last of all.

Chunks are written as they come, so that nothing large has to be in memory; what
they are is written last, and says whether the file is whole:

    walk-07-0003-0008.part   | frames ...    | list (JSON) | its SHA-256 | its length: 8 bytes |
                                chunk 2 ...

Groups end where they like, so a task also leaves *fragments* of the chunks at either end.
When all tasks of a ply are done, their fragments are joined to chunks; these and the ply's
counts make one more part, `ply-07.part`, which names the others.

A part lives only as long as its table is being built, so its form may change
from version to version.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.errors import ChecksumError, DamagedFileError
from tablebase.files.atomic import replace, storage_errors, sync
from tablebase.files.packing import Fragment, digest_chunk, pack, unpack
from tablebase.halves.format import CHUNK_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from numpy.typing import NDArray

    from tablebase.answers import Json
    from tablebase.files.packing import Chunk

TAIL = 32 + 8  # bytes: digest and length of the list


class Entry(NamedTuple):
    """Where the frames of some words are, those of one plane after another."""

    number: int  # of a chunk; of a fragment its first word
    begin: int
    sizes: tuple[int, ...]  # [plane]
    digest: str


class PartWriter:
    """A part being written, by one thread. Holds no open file between calls.

    It is written aside, under a name of its own: two writers of the same part do not meet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._aside = path.with_name(f"{path.name}.{uuid.uuid4().hex[:12]}.tmp")
        self._chunks: list[Entry] = []
        self._fragments: list[Entry] = []
        self._at = 0
        with storage_errors(path.parent):
            self._aside.write_bytes(b"")

    def add(self, chunks: Sequence[Chunk]) -> None:
        """Write some chunks."""
        for chunk in chunks:
            self._chunks.append(self._entry(chunk.number, chunk.frames, chunk.digest))
        self._append(b"".join(frame for chunk in chunks for frame in chunk.frames))

    def add_fragments(self, fragments: Sequence[Fragment]) -> None:
        """Write fragments of chunks that other tasks complete."""
        for fragment in fragments:
            frames = tuple(map(pack, fragment.planes))
            digest = digest_chunk(fragment.planes)
            self._fragments.append(self._entry(fragment.begin, frames, digest))
            self._append(b"".join(frames))

    def _entry(self, number: int, frames: tuple[bytes, ...], digest: bytes) -> Entry:
        sizes = tuple(map(len, frames))
        entry = Entry(number, self._at, sizes, digest.hex())
        self._at += sum(sizes)
        return entry

    def _append(self, content: bytes) -> None:
        with storage_errors(self.path.parent), self._aside.open("ab") as file:
            file.write(content)

    def discard(self) -> None:
        """Remove what was written, unless it is finished."""
        self._aside.unlink(missing_ok=True)

    def finish(self, said: Json) -> None:
        """All is written; `said` is what else the part tells."""
        lists = {"chunks": sorted(self._chunks), "fragments": self._fragments}
        text = json.dumps({**said, **lists}).encode()
        tail = hashlib.sha256(text).digest() + len(text).to_bytes(TAIL - 32, "little")
        self._append(text + tail)
        with storage_errors(self.path.parent):
            sync(self._aside)  # a part that is there is whole, even after a power cut
            replace(self._aside, self.path)
            sync(self.path.parent)


@dataclass(frozen=True)
class Part:
    """A part that was written, ready to be read."""

    path: Path
    said: Json
    chunks: list[Entry]  # by number
    fragment_entries: list[Entry]

    def digests(self) -> Iterator[tuple[int, bytes]]:
        """(number, digest) of every chunk."""
        for entry in self.chunks:
            yield entry.number, bytes.fromhex(entry.digest)

    def frames(self, plane: int) -> Iterator[tuple[int, bytes]]:
        """(number, frame) of every chunk of a plane."""
        if self.chunks:
            with self.path.open("rb") as file:
                for entry in self.chunks:
                    yield entry.number, _read_frame(file, entry, plane)

    def fragments(self) -> list[Fragment]:
        """The fragments, each as it was written."""
        found = []
        with self.path.open("rb") as file:
            for entry in self.fragment_entries:
                frames = [_read_frame(file, entry, plane) for plane in range(len(entry.sizes))]
                planes = np.stack([unpack(frame, str(self.path)) for frame in frames])
                self._require(planes, entry)
                found.append(Fragment(entry.number, planes))
        return found

    def check(self, words: int) -> None:
        """Unpack all; what is not as it was written raises `ChecksumError`."""
        self.fragments()
        with self.path.open("rb") as file:
            for entry in self.chunks:
                length = min(CHUNK_WORDS, words - entry.number * CHUNK_WORDS)
                planes = np.zeros((len(entry.sizes), length), np.uint64)
                for plane in range(len(entry.sizes)):
                    frame = _read_frame(file, entry, plane)
                    if frame:
                        planes[plane] = unpack(frame, str(self.path))[:length]
                self._require(planes, entry)

    def _require(self, planes: NDArray[np.uint64], entry: Entry) -> None:
        if digest_chunk(planes).hex() != entry.digest:
            raise ChecksumError(f"{self.path}: chunk {entry.number} has another digest")


def _read_frame(file: BinaryIO, entry: Entry, plane: int) -> bytes:
    file.seek(entry.begin + sum(entry.sizes[:plane]))
    return file.read(entry.sizes[plane])


def read_part(path: Path) -> Part:
    """Read what a part holds, but not its chunks."""
    with storage_errors(path, "read"), path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL))
        tail = file.read()
        length = int.from_bytes(tail[32:], "little")
        if len(tail) < TAIL or length > size - TAIL:
            raise DamagedFileError(f"{path} is damaged: its list of chunks is not there")
        file.seek(size - TAIL - length)
        text = file.read(length)
    if hashlib.sha256(text).digest() != tail[:32]:
        raise ChecksumError(f"{path} is damaged: its list of chunks does not have its digest")
    found: Json = json.loads(text)
    lists = [
        [Entry(n, begin, tuple(sizes), sha) for n, begin, sizes, sha in found.pop(name)]
        for name in ("chunks", "fragments")
    ]
    return Part(path, found, *lists)
