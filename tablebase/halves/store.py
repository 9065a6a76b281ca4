"""Table files on disk, written once and read often. `format` says what is in them."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.errors import ChecksumError, FormatVersionError
from retro.games.values import DRAW, LOSS, WIN
from retro.index.halves import one
from tablebase.files import hdf5
from tablebase.files.frames import VALUES, unpack
from tablebase.files.opening import (
    Wanted,
    length_of,
    opening,
    own_group,
    read_integer,
    read_plain,
    read_text,
    reading,
    require,
    require_arrays,
    require_counts,
    require_digest,
    require_size,
)
from tablebase.files.seal import ply_name, said
from tablebase.halves.chunks import digest_chunk
from tablebase.halves.format import (
    CHUNK_WORDS,
    DIGEST_BYTES,
    DIGESTS,
    PLANES,
    VERSION,
    WITH_DISTANCES,
    Header,
    PlyRecord,
    plane_digest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tablebase.files.remote import Source

    Values = NDArray[np.uint64]

# Bytes of HDF5's own, at most about: headers and attributes; places and digests of chunks.
CONTENTS_PER_PLY, CONTENTS_PER_CHUNK = 1_600, 80
MOST_CONTENTS = 4_000_000  # together: those of a giant are not read at once


class PlyContent(NamedTuple):
    """A finished ply: its counts, the length of its planes, their packed chunks and digests."""

    record: PlyRecord
    words: int
    frames: Iterable[tuple[int, Sequence[bytes]]]  # by number, of all planes
    digests: bytes  # of all chunks, in order


def write_table(path: Path, header: Header, plies: Iterable[PlyContent], words: int) -> None:
    """Write a finished table, the root's ply first: copies packed chunks, then renames.

    `words` are those of all plies together.
    """
    chunks = words // CHUNK_WORDS
    contents = CONTENTS_PER_PLY * len(header.counted_plies) + CONTENTS_PER_CHUNK * chunks
    contents = contents * len(header.planes(header.first_ply)) // len(PLANES)
    with hdf5.new_file(path, min(contents, MOST_CONTENTS)) as file:
        records = [_copy_ply(file, header, content) for content in plies]
        value = records[0].win - records[0].loss
        hdf5.finish_table(file, header, value, records)


def _copy_ply(file: hdf5.File, header: Header, content: PlyContent) -> PlyRecord:
    group = file.create_group(ply_name(content.record.ply))
    if content.record.sha256:  # the planes may be empty: then they are there, with no chunk
        names = header.planes(content.record.ply)
        hdf5.write_frames(
            group, names, content.words, CHUNK_WORDS, content.frames, level=VALUES.level
        )
        if content.words > CHUNK_WORDS:
            hdf5.write_plain(group, DIGESTS, content.digests)
    record = said(content.record)
    del record["ply"]
    hdf5.write_attributes(group, record)
    return content.record


class TableFile(hdf5.OpenFile):
    """An open table. Use it as a context manager, from any thread."""

    def __init__(self, path: Source) -> None:
        super().__init__(path)
        try:
            with self.reading(), opening(path):
                self.header = _read_header(self._file, path)
                root = dict(self._file.attrs)
                hdf5.require_attributes(path, root, ("value", "digest"))
                self.value = read_integer(root["value"])
                self.digest = read_text(root["digest"])
                plies = self.header.counted_plies
                self.records = [self._read_record(ply) for ply in plies]
                hdf5.check_finished(path, root, self.header, self.records)
                require_header(path, self.header, self.size)
                for record in self.records:
                    require_counts(path, record.ply, record)
                self._words = {ply: self._require_planes(ply) for ply in self.header.plies}
                if one.has_few_profiles(*self.header.cut):
                    self.require_words(one.stored_words(*self.header.cut))
                planes = self.header.planes
                nbytes = sum(8 * len(planes(ply)) * words for ply, words in self._words.items())
                require_size(path, self.size, f"the values of {self.header.name}", nbytes)
                first = self.records[0]
                is_value = self.value in (WIN, DRAW, LOSS) and self.value == first.win - first.loss
                require(path, is_value and first.positions == 1, "the root has no value")
        except BaseException:
            self.close()
            raise
        self._digests = lru_cache(len(self.records))(self._read_digests)

    def _read_record(self, ply: int) -> PlyRecord:
        group = own_group(self.path, self._file, ply_name(ply))
        return hdf5.from_attributes(PlyRecord, group.attrs, ply=ply)

    def _require_planes(self, ply: int) -> int:
        """The length of the planes of a ply, which have what every ply has."""
        group = self._file[ply_name(ply)]
        words = length_of(self.path, group, PLANES[0])
        require_digest(self.path, ply, self.record(ply).sha256)
        names = self.header.planes(ply)
        require_arrays(self.path, group, [Wanted(n, "<u8", words, CHUNK_WORDS) for n in names])
        return words

    def require_words(self, stored_words: NDArray[np.int64]) -> None:
        """Refuse planes of other lengths than the index of the board gives them, [ply].

        At opening where boards are small; large ones are counted by whoever asks for a ply.
        """
        for ply in self._words:
            self.require_length(ply, int(stored_words[ply]))

    def require_length(self, ply: int, wanted: int) -> None:
        """Refuse planes of a ply that have another length."""
        found = self._words[ply]
        complaint = f"ply {ply} has {found:,} words, wanted {wanted:,}"
        require(self.path, found == wanted, complaint)

    def record(self, ply: int) -> PlyRecord:
        """The counts of a ply."""
        return self.records[ply - self.header.counted_plies.start]

    def words(self, ply: int) -> int:
        """Length of the planes of a ply."""
        return self._words[ply]

    def read(self, ply: int, begin: int = 0, end: int | None = None) -> Values:
        """The planes of a ply, or a stretch, [plane, word], every chunk checked by its digest."""
        end = self.words(ply) if end is None else end
        values = np.zeros((len(self.header.planes(ply)), end - begin), np.uint64)
        with self.reading():
            digests = self._digests(ply)
            for number in range(begin // CHUNK_WORDS, -(-end // CHUNK_WORDS)):
                first = number * CHUNK_WORDS
                chunk = self._read_chunk(ply, number)
                if digests is not None:
                    self._require_chunk(ply, number, digest_chunk(chunk), digests)
                low, high = max(begin, first), min(end, first + CHUNK_WORDS)
                values[:, low - begin : high - begin] = chunk[:, low - first : high - first]
        return values

    def _read_chunk(self, ply: int, number: int) -> Values:
        """A chunk of all planes, [plane, word], as far as the ply goes."""
        group, words = self._file[ply_name(ply)], self.words(ply)
        first = number * CHUNK_WORDS
        packed, here = min(CHUNK_WORDS, words), min(CHUNK_WORDS, words - first)
        names = self.header.planes(ply)
        planes = np.zeros((len(names), here), np.uint64)
        self.fetch((group, name, first) for name in names)
        for name, plane in zip(names, planes, strict=True):
            frame = hdf5.read_frame(group, name, first)
            if frame and here == packed:
                unpack(frame, plane)
            elif frame:
                plane[:] = unpack(frame, np.empty(packed, "<u8"))[:here]
        return planes

    def _read_digests(self, ply: int) -> bytes | None:
        """The digests of a ply's chunks, which have that of the ply; None: the file has none.

        In one piece: 7x6 has 200,000 of a ply, and a question wants one.
        """
        chunks = self.chunks(ply)
        if chunks == 1:
            found = digest_chunk(self._read_chunk(ply, 0))
        else:
            group = self._file[ply_name(ply)]
            found = read_plain(self.path, group, DIGESTS, DIGEST_BYTES * chunks)
            if not found and chunks:
                return None  # written before 0.3.0
        self.require_digest(ply, [found])
        return found

    def _require_chunk(self, ply: int, number: int, found: bytes, digests: bytes) -> None:
        if found != digests[DIGEST_BYTES * number : DIGEST_BYTES * (number + 1)]:
            raise ChecksumError(
                f"{self.path}: ply {ply}, chunk {number}: values do not have their digest"
            )

    def require_digest(self, ply: int, chunk_digests: Iterable[bytes]) -> None:
        """Refuse chunks whose digests, one after another, are not together that of their ply."""
        if plane_digest(chunk_digests) != self.record(ply).sha256:
            raise ChecksumError(f"{self.path}: the values of ply {ply} do not have their digest")

    def read_checked(self, ply: int) -> Values:
        """The whole planes of a ply, checked against their digest."""
        values = np.zeros((len(self.header.planes(ply)), self.words(ply)), np.uint64)
        for number, chunk in enumerate(self.chunks_checked(ply)):
            at = number * CHUNK_WORDS
            values[:, at : at + chunk.shape[1]] = chunk
        return values

    def chunks(self, ply: int) -> int:
        """The number of chunks of a ply."""
        return -(-self.words(ply) // CHUNK_WORDS)

    def chunk_checked(self, ply: int, number: int) -> tuple[Values, bytes]:
        """A chunk, [plane, word], and its digest, compared with that in the file if there is one.

        Whoever has those of all chunks should `require_digest`.
        """
        with self.reading():
            digests = self._digests(ply)
            chunk = self._read_chunk(ply, number)
        found = digest_chunk(chunk)
        if digests is not None:
            self._require_chunk(ply, number, found, digests)
        return chunk, found

    def chunks_checked(self, ply: int) -> Iterator[Values]:
        """All chunks of a ply, [plane, word]; after the last their digest is compared."""
        found = []
        for number in range(self.chunks(ply)):
            chunk, digest = self.chunk_checked(ply, number)
            found.append(digest)
            yield chunk
        self.require_digest(ply, found)


def require_header(path: Source, header: Header, size: int) -> None:
    """Refuse a header whose board, root, cut or plies do not go together, or not with the size.

    Finding places in the planes takes lists of both halves of the board; a file of a
    large board is large itself.
    """
    board = header.board
    root = header.root_position
    is_root = len(header.root) == root.ply and not root.is_over()
    require(path, is_root, f"its root {header.root[:40]!r} is no unfinished game")
    require(path, 0 <= header.left_columns < board.width, f"cut at {header.left_columns}")
    mirrored = 2 * header.left_columns >= board.width and not root.ply
    require(path, header.mirror == int(mirrored), f"mirror is {header.mirror}")
    require(path, header.counts in (0, 1), f"counts is {header.counts}")
    require(path, header.distances in (0, 1), f"distances is {header.distances}")
    is_range = root.ply <= header.first_ply <= header.last_ply <= board.cells
    require(path, is_range, f"plies {header.first_ply}..{header.last_ply}")
    cost = one.listed_bytes(board, header.left_columns, root)
    require_size(path, size, f"a table of {header.name}: its lists", cost)


def _read_header(file: hdf5.File, path: Source) -> Header:
    """The header; refuses by name what this program does not understand."""
    with reading(path):
        found = hdf5.root_attributes(file, path)
        version = read_integer(found.get("format_version", 0))
        if version not in (VERSION, WITH_DISTANCES):
            older = "; build the table again" if version < VERSION else ""
            raise FormatVersionError(
                f"{path} has format version {version}; this program reads versions {VERSION} and "
                f"{WITH_DISTANCES}{older}"
            )
        wanted = (f.name for f in fields(Header) if not f.metadata.get("left_out"))
        hdf5.require_attributes(path, found, wanted)
        header = hdf5.from_attributes(Header, found)
        if (version == WITH_DISTANCES) != bool(header.distances):
            raise FormatVersionError(
                f"{path} has format version {version} and says distances {header.distances}: "
                f"version {WITH_DISTANCES} is that of tables with distances"
            )
    if (header.game, header.index, header.metric) != (Header.game, Header.index, Header.metric):
        raise FormatVersionError(
            f"{path} holds game {header.game!r}, index {header.index!r}, metric "
            f"{header.metric!r}: not known to this program"
        )
    return header
