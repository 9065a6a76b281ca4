"""A finished ply on its way into the table: its packed chunks, and a list of them.

Chunks are written as they come, in any order, so that a ply never has to be in
memory; what they are is written last, and says whether the file is whole:

    ply-07.part   | frames ...            | list (JSON) | its SHA-256 | its length: 8 bytes |
                     chunk 2, chunk 0 ...

A part lives only as long as its table is being built, so its form may change
from version to version.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retro.errors import ChecksumError, DamagedFileError
from tablebase.files import storage_errors
from tablebase.format import CHUNK_WORDS, PlyRecord, plane_digest
from tablebase.packing import digest_chunk, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from tablebase.packing import Chunk

TAIL = 32 + 8  # bytes: digest and length of the list


class Entry(NamedTuple):
    """Where the frames of a chunk are: those of `win`, then those of `loss`."""

    number: int
    begin: int
    sizes: tuple[int, int]
    digest: str


class PartWriter:
    """A ply being written, by one thread at a time. Holds no open file between calls."""

    def __init__(self, path: Path) -> None:
        self._path, self._aside = path, path.with_name(path.name + ".tmp")
        self._entries: list[Entry] = []
        self._at = 0
        with storage_errors(path.parent):
            self._aside.write_bytes(b"")

    def add(self, chunks: Sequence[Chunk]) -> None:
        """Write some chunks."""
        for chunk in chunks:
            win, loss = map(len, chunk.frames)
            self._entries.append(Entry(chunk.number, self._at, (win, loss), chunk.digest.hex()))
            self._at += win + loss
        self._append(b"".join(frame for chunk in chunks for frame in chunk.frames))

    def _append(self, content: bytes) -> None:
        with storage_errors(self._path.parent), self._aside.open("ab") as file:
            file.write(content)

    def discard(self) -> None:
        """Remove what was written, unless it is finished."""
        self._aside.unlink(missing_ok=True)

    def finish(self, header: str, counts: PlyRecord, words: int, *, has_planes: bool) -> None:
        """All chunks are there. `header` tells whose part it is."""
        entries = sorted(self._entries)
        if has_planes:
            digest = plane_digest(bytes.fromhex(entry.digest) for entry in entries)
            counts = replace(counts, sha256=digest)
        content = {"header": header, "counts": asdict(counts), "words": words, "chunks": entries}
        text = json.dumps(content).encode()
        tail = hashlib.sha256(text).digest() + len(text).to_bytes(TAIL - 32, "little")
        self._append(text + tail)
        with storage_errors(self._path.parent):
            self._aside.replace(self._path)


@dataclass(frozen=True)
class Part:
    """A ply that was written, ready to be read."""

    path: Path
    header: str
    counts: PlyRecord
    words: int
    entries: list[Entry]  # by number

    def frames(self, plane: int) -> Iterator[tuple[int, bytes]]:
        """(number, frame) of every chunk of a plane."""
        with self.path.open("rb") as file:
            for entry in self.entries:
                yield entry.number, _read_frame(file, entry, plane)

    def check(self) -> None:
        """Unpack every chunk; one that is not what was written raises `ChecksumError`."""
        with self.path.open("rb") as file:
            for entry in self.entries:
                length = min(CHUNK_WORDS, self.words - entry.number * CHUNK_WORDS)
                planes = np.zeros((2, length), np.uint64)
                for plane in range(2):
                    frame = _read_frame(file, entry, plane)
                    if frame:
                        planes[plane] = unpack(frame, str(self.path))[:length]
                if digest_chunk(planes).hex() != entry.digest:
                    raise ChecksumError(f"{self.path}: chunk {entry.number} has another digest")


def _read_frame(file: BinaryIO, entry: Entry, plane: int) -> bytes:
    file.seek(entry.begin + sum(entry.sizes[:plane]))
    return file.read(entry.sizes[plane])


def read_part(path: Path) -> Part:
    """Read what a part holds, but not its chunks."""
    with storage_errors(path), path.open("rb") as file:
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
    found: dict[str, Any] = json.loads(text)
    entries = [Entry(n, begin, (win, loss), sha) for n, begin, (win, loss), sha in found["chunks"]]
    return Part(path, found["header"], PlyRecord(**found["counts"]), found["words"], entries)
