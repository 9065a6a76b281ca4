"""Tables with sorted keys on disk. `format` says what is in them, `pieces` how they grow."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retro.errors import BadTextError, ChecksumError, FormatVersionError
from retro.games.catalogue import make_board
from retro.index.keys.keys import Keys
from retro.walk.keys.scores import plies_of, scores_of, values_of
from tablebase.files import hdf5
from tablebase.files.opening import (
    Wanted,
    opening,
    own_group,
    read_integer,
    read_text,
    reading,
    require,
    require_arrays,
    require_counts,
    require_digest,
    require_size,
)
from tablebase.files.seal import METRIC, ply_name, said
from tablebase.keys.format import (
    CHUNK_KEYS,
    DIGEST_BYTES,
    DIGESTS,
    INDEX,
    OF_SOME_PLIES,
    VERSION,
    Header,
    PlyRecord,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from retro.games.game import Board
    from tablebase.files.remote import Source

    Values = NDArray[np.int8]

ZSTD_LEVEL = 3
PAGE_BYTES = 17 * CHUNK_KEYS  # at most: two words and a value or score for each key


def pack_values(values: Values) -> NDArray[np.uint8]:
    """Four values a byte, the first in the lowest two bits; 0 loss, 1 draw, 2 win.

    >>> pack_values(np.array([1, 0, -1, 0, 1], np.int8)).tolist()
    [70, 2]
    """
    codes = np.zeros(-(-len(values) // 4) * 4, np.uint8)
    codes[: len(values)] = values + 1
    places = np.array([0, 2, 4, 6], np.uint8)
    packed: NDArray[np.uint8] = np.bitwise_or.reduce(codes.reshape(-1, 4) << places, axis=1)
    return packed


def unpack_values(packed: NDArray[np.uint8], count: int) -> Values:
    """Undo `pack_values`; `ValueError` for what it never writes.

    >>> unpack_values(np.array([70, 3], np.uint8), 5)
    Traceback (most recent call last):
    ValueError: found something that is no value
    """
    codes = (packed[:, None] >> np.array([0, 2, 4, 6], np.uint8) & 3).ravel()
    if len(packed) != -(-count // 4) or (codes[:count] > 2).any() or codes[count:].any():
        raise ValueError("found something that is no value")
    return codes[:count].astype(np.int8) - np.int8(1)


class Packed(NamedTuple):
    """The values of a layer as the file has them."""

    values: NDArray[np.uint8]
    plies: NDArray[np.uint8]  # empty without distances

    def page(self, at: int) -> Packed:
        """What belongs to the page whose first key is that at a place."""
        end = at + CHUNK_KEYS
        return Packed(self.values[at // 4 : end // 4], self.plies[at:end])


def pack_layer(scores: Values, *, distances: bool) -> Packed:
    """Pack values, or with distances scores (`retro.walk.keys.distances`)."""
    plies = plies_of(scores) if distances else np.empty(0, np.uint8)
    return Packed(pack_values(values_of(scores)), plies)


def unpack_layer(packed: Packed, count: int) -> Values:
    """Undo `pack_layer`: values, or scores if there are distances."""
    values = unpack_values(packed.values, count)
    return scores_of(values, packed.plies) if len(packed.plies) else values


def digest_layer(keys: Keys, packed: Packed) -> str:
    """SHA-256 of the bytes of a layer."""
    sha = hashlib.sha256()
    for words in keys:
        sha.update(np.ascontiguousarray(words, "<u8").data)
    for codes in packed:
        sha.update(np.ascontiguousarray(codes).data)
    return sha.hexdigest()


def page_digest(header: Header, ply: int, number: int, content: str) -> bytes:
    """The digest of a page of a layer, from that of its bytes (`digest_layer`).

    It says where the page belongs, so that exchanged pages are found out one by one.
    """
    place = json.dumps(said(header), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{place} {ply} {number} {content}".encode()).digest()


class Page(NamedTuple):
    """A stretch of a layer, such as a chunk: its keys and their values.

    Of a table with distances the values are scores (`retro.walk.keys.distances`).
    """

    keys: Keys
    values: Values


class KeysFile(hdf5.OpenFile):
    """An open table. Use it as a context manager."""

    def __init__(self, path: Source, cache_bytes: int = 64 * PAGE_BYTES) -> None:
        super().__init__(path)
        self._pages = lru_cache(max(1, cache_bytes // PAGE_BYTES))(self._read_page)
        try:
            with self.reading(), opening(path):
                self.header = read_header(self._file, path)
                root = dict(self._file.attrs)
                hdf5.require_attributes(path, root, ("value", "digest", "last_ply"))
                self.value = read_integer(root["value"])
                self.digest = read_text(root["digest"])
                self.board = board_of(self.header)
                self.root = self.board.position(self.header.root)
                self.counted_plies = self._require_plies(read_integer(root["last_ply"]))
                self.plies = self.header.kept(self.counted_plies[-1])
                groups = [own_group(path, self._file, ply_name(ply)) for ply in self.counted_plies]
                self.records = [
                    read_record(ply, group.attrs)
                    for ply, group in zip(self.counted_plies, groups, strict=True)
                ]
                hdf5.check_finished(path, root, self.header, self.records)
                self._require_header()
                self._require_counts()
                self._require_arrays()
        except BaseException:
            self.close()
            raise
        self._digests = lru_cache(len(self.records))(self._read_digests)

    def _require_plies(self, last: int) -> range:
        """The plies that have counts, those that are kept among them."""
        header, end = self.header, self.board.last_ply
        is_range = 0 <= header.first_ply <= last <= end
        require(self.path, is_range, f"plies {header.first_ply}..{last}")
        if header.format_version == OF_SOME_PLIES:
            first, kept = header.first_kept, header.last_kept
            is_kept = header.first_ply <= first <= min(kept, last) and kept <= end
            require(self.path, is_kept, f"plies {first}..{kept} are kept")
        return range(header.first_ply, last + 1)

    def _require_header(self) -> None:
        """The board is written as the board writes itself, the root begins it, the plies fit."""
        path, header, board, root = self.path, self.header, self.board, self.root
        is_ours = board.game.index == INDEX and board.size_text == header.board
        require(path, is_ours and header.words == board.words, f"its board is no {board}")
        is_root = root.ply == header.first_ply and not root.check().is_over()
        require(path, is_root, f"its root {header.root[:40]!r} is no unfinished game")

    def _require_counts(self) -> None:
        for record in self.records:
            require_counts(self.path, record.ply, record)
            require_counts(self.path, record.ply, record, "canonical_")
            if record.ply in self.plies:
                require_digest(self.path, record.ply, record.sha256)
            unfinished = record.canonical_positions - record.canonical_terminal
            is_sound = record.keys == unfinished and record.canonical_positions <= record.positions
            require(self.path, is_sound, f"ply {record.ply} has impossible counts")

    def _require_arrays(self) -> None:
        """Every kept ply has the arrays that its number of keys asks for; the root has a value."""
        nbytes = 0
        for record in map(self.record, self.plies):
            group, pages = self._file[ply_name(record.ply)], -(-record.keys // CHUNK_KEYS)
            arrays = [Wanted(n, "<u8", record.keys, CHUNK_KEYS) for n in self._words(record.ply)]
            arrays.append(Wanted("values", "|u1", -(-record.keys // 4), CHUNK_KEYS // 4))
            if self.header.distances:
                arrays.append(Wanted("plies", "|u1", record.keys, CHUNK_KEYS))
            if DIGESTS in group:
                arrays.append(Wanted(DIGESTS, "|u1", DIGEST_BYTES * pages, CHUNK_KEYS // 4))
            require_arrays(self.path, group, arrays)
            nbytes += sum(array.nbytes for array in arrays)
        require_size(self.path, self.size, f"the keys of {self.board}", nbytes)
        first, last = self.records[0], self.records[-1]
        value = first.canonical_win - first.canonical_loss
        is_value = first.canonical_positions == 1 and value == self.value
        require(self.path, is_value, "the root has no value")
        require(self.path, last.keys == 0, f"its last ply {last.ply} has unfinished games")

    def _words(self, ply: int) -> tuple[str, ...]:
        """The arrays of a ply's keys; a ply without keys has no second one."""
        return ("a", "b")[: self.header.words if self.record(ply).keys else 1]

    def record(self, ply: int) -> PlyRecord:
        return self.records[ply - self.counted_plies.start]

    def page(self, ply: int, number: int) -> Page:
        """A chunk of a ply, checked against its digest if the file has one."""
        self.require_open()
        return self._pages(ply, number)

    def _read_page(self, ply: int, number: int) -> Page:
        keys = self.record(ply).keys
        begin, end = number * CHUNK_KEYS, min((number + 1) * CHUNK_KEYS, keys)
        with self.reading():
            found, packed = self._read_arrays(ply, begin, end)
            digests = self._digests(ply)
            if digests is not None and self._digest(ply, number, found, packed) != digests[number]:
                raise ChecksumError(f"{self.path}: page {number} of ply {ply} has another digest")
            return self._checked(ply, found, packed)

    def _read_arrays(self, ply: int, begin: int, end: int) -> tuple[Keys, Packed]:
        group = self._file[ply_name(ply)]
        pages = range(begin, end, CHUNK_KEYS)
        self.fetch((group, name, page) for name in self._words(ply) for page in pages)
        self.fetch((group, "values", page // 4) for page in pages)
        arrays = {name: hdf5.read_array(group, name, begin, end) for name in self._words(ply)}
        keys = _keys(arrays)
        arrays["values"] = hdf5.read_array(group, "values", begin // 4, -(-end // 4))
        if self.header.distances:
            arrays["plies"] = hdf5.read_array(group, "plies", begin, end)
        return keys, _packed(arrays)

    def _digest(self, ply: int, number: int, keys: Keys, packed: Packed) -> bytes:
        """What `_read_digests` has of a page: of the only one of a ply the digest of the ply."""
        layer = digest_layer(keys, packed)
        if self.record(ply).keys <= CHUNK_KEYS:
            return bytes.fromhex(layer)
        return page_digest(self.header, ply, number, layer)

    def _read_digests(self, ply: int) -> list[bytes] | None:
        """The digests of a ply's pages; None if the file has none."""
        record, group = self.record(ply), self._file[ply_name(ply)]
        if record.keys <= CHUNK_KEYS:
            return [bytes.fromhex(record.sha256)]
        if DIGESTS not in group:
            return None  # written before 0.3.0
        found = hdf5.read_array(group, DIGESTS).tobytes()
        return [found[at : at + DIGEST_BYTES] for at in range(0, len(found), DIGEST_BYTES)]

    def read_layer(self, ply: int) -> Page:
        """All keys and values of a ply, checked against their digest."""
        with self.reading():
            keys, packed = self._read_arrays(ply, 0, self.record(ply).keys)
            if digest_layer(keys, packed) != self.record(ply).sha256:
                raise ChecksumError(f"{self.path}: the layer of ply {ply} does not have its digest")
            return self._checked(ply, keys, packed)

    def _checked(self, ply: int, keys: Keys, packed: Packed) -> Page:
        """Keys and values that kernels can be given: states of the ply, in order, with a value."""
        values = unpack_layer(packed, keys.size)
        b = keys.b if len(keys.b) else np.zeros(keys.size, np.uint64)
        is_state = self.board.is_state(keys.a, b) & (self.board.plies_of(keys.a, b) == ply)
        rises = (keys.a[1:] > keys.a[:-1]) | (keys.a[1:] == keys.a[:-1]) & (b[1:] > b[:-1])
        if not (is_state.all() and rises.all()):
            raise ChecksumError(f"{self.path}: ply {ply} has keys that are no states, or unsorted")
        if self.header.distances and (plies_of(values) > self.board.last_ply - ply).any():
            raise ChecksumError(f"{self.path}: ply {ply} has games that last longer than there is")
        return Page(keys, values)


def board_of(header: Header) -> Board:
    """The board that a header names."""
    try:
        options = json.loads(header.options)
    except ValueError:
        options = None
    if not isinstance(options, dict) or not all(isinstance(v, str) for v in options.values()):
        raise BadTextError(f"options {header.options[:40]!r} are no JSON object of texts")
    return make_board(header.game, header.board, **options)


def _packed(arrays: dict[str, NDArray[Any]]) -> Packed:
    return Packed(arrays["values"], arrays.get("plies", np.empty(0, np.uint8)))


def _keys(arrays: dict[str, NDArray[Any]]) -> Keys:
    return Keys(arrays["a"], arrays.get("b", np.empty(0, np.uint64)))


def read_record(ply: int, attributes: Mapping[str, object]) -> PlyRecord:
    return hdf5.from_attributes(PlyRecord, attributes, ply=ply)


def read_header(file: hdf5.File, path: Source) -> Header:
    """The header; refuses by name what this program does not understand."""
    with reading(path):
        found = hdf5.root_attributes(file, path)
        index = read_text(found.get("index", b""))
        version = read_integer(found.get("format_version", 0))
        if index != INDEX or not VERSION <= version <= OF_SOME_PLIES:
            raise FormatVersionError(
                f"{path} has index {index!r} of version {version}; "
                f"wanted {INDEX!r} of version {VERSION} to {OF_SOME_PLIES}"
            )
        wanted = (field.name for field in fields(Header) if not field.metadata.get("left_out"))
        hdf5.require_attributes(path, found, wanted)
        header = hdf5.from_attributes(Header, found)
        if version != header.right_version:
            raise FormatVersionError(
                f"{path} has version {version} and says distances {header.distances}, kept plies "
                f"{header.first_kept}..{header.last_kept}: that is version {header.right_version}"
            )
    if header.metric != METRIC:
        raise FormatVersionError(f"{path} has metric {header.metric!r}, wanted {METRIC!r}")
    return header
