"""Tables with sorted keys on disk. `keyed_format` says what is in them.

A table grows in parts, two small HDF5 files per ply, in a folder beside its place:

    tables/mnk-4x4-connect4.h5.partial/keys-00.h5     walking forward: the keys of a ply
                                       keys-01.h5     and how many games ended there
                                       ...
                                       values-16.h5   walking back: values and counts
                                       values-15.h5
    tables/mnk-4x4-connect4.h5                        at the end joined, synced, renamed

Each part is whole or not there, so a build that dies at any moment goes on
from its parts. Joining copies compressed chunks as they are.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import asdict, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retro.errors import ChecksumError, DamagedFileError, FormatVersionError, WrongBoardError
from retro.walk.sorting import Keys
from tablebase import store_hdf5 as hdf5
from tablebase.files import parts_folder, require_room, storage_errors, write_whole
from tablebase.format import GAME as CONNECT
from tablebase.format import METRIC, ply_name
from tablebase.keyed_format import CHUNK_KEYS, INDEX, VERSION, KeyedHeader, KeyedRecord
from tablebase.store_hdf5 import reading

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Values = NDArray[np.int8]

ZSTD_LEVEL = 3
CACHED_PAGES = 256  # of a quarter of a megabyte


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
    """Undo `pack_values`."""
    codes = packed[:, None] >> np.array([0, 2, 4, 6], np.uint8) & 3
    return codes.ravel()[:count].astype(np.int8) - np.int8(1)


def digest_layer(keys: Keys, packed: NDArray[np.uint8]) -> str:
    """SHA-256 of the bytes of a layer."""
    sha = hashlib.sha256()
    for words in keys:
        sha.update(np.ascontiguousarray(words, "<u8").data)
    sha.update(np.ascontiguousarray(packed).data)
    return sha.hexdigest()


class PartialKeyedTable:
    """The parts of a table being built. Holds no open file between calls."""

    def __init__(self, path: Path, header: KeyedHeader) -> None:
        self.path = path
        self.header = header
        self.folder = parts_folder(path)

    def part(self, kind: str, ply: int) -> Path:
        return self.folder / f"{kind}-{ply:02d}.h5"

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def write_keys(self, ply: int, keys: Keys, ended: NDArray[np.int64]) -> None:
        """Keep the keys of a ply and the counts of games that ended there."""
        self._write("keys", ply, _named(keys), {"ended": ended})

    def read_keys(self, ply: int) -> tuple[Keys, NDArray[np.int64]]:
        """The keys of a ply and the counts of games that ended there."""
        arrays, attributes = self._read("keys", ply)
        return _keys(arrays), np.asarray(attributes["ended"], np.int64)

    def write_values(self, ply: int, values: Values, record: KeyedRecord) -> None:
        """Keep the values and counts of a ply."""
        attributes = asdict(record)
        del attributes["ply"]
        self._write("values", ply, {"values": pack_values(values)}, attributes)

    def read_values(self, ply: int, keys: Keys) -> tuple[Values, KeyedRecord]:
        """The values and counts of a ply; they belong to these keys."""
        arrays, attributes = self._read("values", ply)
        with reading(self.part("values", ply)):
            record = _record(ply, attributes)
        if digest_layer(keys, arrays["values"]) != record.sha256:
            raise ChecksumError(f"{self.part('values', ply)} does not have its digest")
        return unpack_values(arrays["values"], keys.size), record

    def join(self, value: int, records: Sequence[KeyedRecord]) -> None:
        """Join the parts to the finished table, and remove them."""
        require_room(self.path)
        with hdf5.new_file(self.path) as file:
            for record in records:
                self._copy_parts(file, record.ply)
            hdf5.finish_table(file, self.header, value, records, last_ply=records[-1].ply)
        self.discard()

    def _copy_parts(self, file: hdf5.File, ply: int) -> None:
        group = file.create_group(ply_name(ply))
        for kind in ("keys", "values"):
            with hdf5.open_file(self.part(kind, ply)) as part:
                source = part[ply_name(ply)]
                for name in source:
                    part.copy(source[name], group)
                if kind == "values":
                    for name, attribute in source.attrs.items():
                        group.attrs[name] = attribute

    def _write(
        self, kind: str, ply: int, arrays: dict[str, NDArray[Any]], attributes: dict[str, Any]
    ) -> None:
        """Write a part; on return it is safe on disk."""

        def fill(file: hdf5.File) -> None:
            hdf5.write_attributes(file, asdict(self.header))
            group = file.create_group(ply_name(ply))
            for name, array in arrays.items():
                is_key = name in ("a", "b")
                chunk = CHUNK_KEYS if is_key else CHUNK_KEYS // 4
                hdf5.write_array(group, name, array, chunk, level=ZSTD_LEVEL, shuffle=is_key)
            hdf5.write_attributes(group, attributes)

        with storage_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.part(kind, ply), hdf5.file_image(fill))

    def _read(self, kind: str, ply: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        path = self.part(kind, ply)
        with hdf5.open_file(path) as file:
            if _read_header(file, path) != self.header:
                raise DamagedFileError(f"{path} belongs to another table")
            with reading(path):
                group = file[ply_name(ply)]
                return {name: group[name][...] for name in group}, dict(group.attrs)


class Page(NamedTuple):
    """A stretch of a layer, such as a chunk: its keys and their values."""

    keys: Keys
    values: Values


class KeyedTableFile(hdf5.OpenFile):
    """An open table. Use it as a context manager."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.page = lru_cache(CACHED_PAGES)(self._read_page)
        try:
            self.header = _read_header(self._file, path)
            with reading(path):
                root = dict(self._file.attrs)
                hdf5.require_attributes(path, root, ("value", "digest", "last_ply"))
                self.value = int(root["value"])
                self.plies = range(self.header.first_ply, int(root["last_ply"]) + 1)
                self.records = [_record(ply, self._file[ply_name(ply)].attrs) for ply in self.plies]
                hdf5.check_finished(path, root, self.header, self.records)
        except BaseException:
            self.close()
            raise

    def record(self, ply: int) -> KeyedRecord:
        return self.records[ply - self.plies.start]

    def _read_page(self, ply: int, number: int) -> Page:
        with reading(self.path):
            group = self._file[ply_name(ply)]
            begin, end = number * CHUNK_KEYS, min((number + 1) * CHUNK_KEYS, len(group["a"]))
            arrays = {name: group[name][begin:end] for name in ("a", "b") if name in group}
            packed = group["values"][begin // 4 : -(-end // 4)]
        return Page(_keys(arrays), unpack_values(packed, end - begin))

    def read_layer(self, ply: int) -> Page:
        """All keys and values of a ply, checked against their digest."""
        with reading(self.path):
            group = self._file[ply_name(ply)]
            keys = _keys({name: group[name][...] for name in ("a", "b") if name in group})
            packed = group["values"][...]
        if digest_layer(keys, packed) != self.record(ply).sha256:
            raise ChecksumError(f"{self.path}: the layer of ply {ply} does not have its digest")
        return Page(keys, unpack_values(packed, keys.size))


def _named(keys: Keys) -> dict[str, NDArray[Any]]:
    return {"a": keys.a, "b": keys.b} if len(keys.b) else {"a": keys.a}


def _keys(arrays: dict[str, NDArray[Any]]) -> Keys:
    return Keys(arrays["a"], arrays.get("b", np.empty(0, np.uint64)))


def _record(ply: int, attributes: Any) -> KeyedRecord:
    return hdf5.from_attributes(KeyedRecord, attributes, ply=ply)


def _read_header(file: hdf5.File, path: Path) -> KeyedHeader:
    """The header; refuses by name what this program does not understand."""
    with reading(path):
        found = hdf5.root_attributes(file, path)
        if hdf5.attribute_text(found.get("game", b"")) == CONNECT:
            size = "x".join(str(found[name]) for name in ("width", "height"))
            raise WrongBoardError(
                f"{path} holds connect{found['connect']}-{size}, not another game"
            )
        index = hdf5.attribute_text(found.get("index", b""))
        version = int(found.get("format_version", 0))
        if index != INDEX or version != VERSION:
            raise FormatVersionError(
                f"{path} has index {index!r} of version {version}; "
                f"wanted {INDEX!r} of version {VERSION}"
            )
        hdf5.require_attributes(path, found, (field.name for field in fields(KeyedHeader)))
        header = hdf5.from_attributes(KeyedHeader, found)
    if header.metric != METRIC:
        raise FormatVersionError(f"{path} has metric {header.metric!r}, wanted {METRIC!r}")
    return header
