"""Headers and packed layers of tables with sorted keys. `format` says what is in a file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.errors import BadTextError, FormatVersionError
from retro.games.catalogue import make_board
from retro.walk.keys.scores import plies_of, scores_of, values_of
from tablebase.files import hdf5
from tablebase.files.opening import (
    read_integer,
    read_text,
    reading,
)
from tablebase.files.seal import METRIC, said
from tablebase.keys.format import (
    CHUNK_KEYS,
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
    from retro.index.keys.keys import Keys
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


def board_of(header: Header) -> Board:
    """The board that a header names."""
    try:
        options = json.loads(header.options)
    except ValueError:
        options = None
    if not isinstance(options, dict) or not all(isinstance(v, str) for v in options.values()):
        raise BadTextError(f"options {header.options[:40]!r} are no JSON object of texts")
    return make_board(header.game, header.board, **options)


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
