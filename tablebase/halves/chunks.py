"""Planes of words in chunks of 32,768, as a table of Connect Four has them: packed, with digests.

Groups of blocks end where they like, so a group gives some whole chunks and a *fragment* of the
chunk at either end; the fragments of a chunk are joined when all groups are there:

    chunks      |        0        |        1        |        2        |
    groups      | group 0 |        group 1        |     group 2       |
                 fragment   fragment  whole   fragment  fragm.  whole
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tablebase.files.frames import NUMBERS, VALUES, Packing, pack
from tablebase.halves.format import CHUNK_WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

VALUE_PLANES = 2  # win and loss; those of numbers follow


class Chunk(NamedTuple):
    """A packed chunk of all planes; an empty frame stands for zeros."""

    number: int
    frames: tuple[bytes, ...]  # of each plane
    digest: bytes


class Fragment(NamedTuple):
    """Some words of a chunk that other groups complete."""

    begin: int  # words, in the layer
    planes: Words  # [plane, word]


def digest_chunk(planes: Words) -> bytes:
    """SHA-256 of the words of all planes of a chunk."""
    return _digest(planes) if planes.any() else _digest_of_zeros(*planes.shape)


def _digest(planes: Words) -> bytes:
    sha = hashlib.sha256()
    for plane in planes:
        sha.update(np.ascontiguousarray(plane, "<u8").data)
    return sha.digest()


@lru_cache
def _digest_of_zeros(planes: int, words: int) -> bytes:
    return _digest(np.zeros((planes, words), np.uint64))


def pack_chunk(
    number: int, planes: Words, chunk_words: int, packing: Packing | None = None
) -> Chunk:
    """Pack one chunk, the last one filled up with zeros to the full length as HDF5 wants it.

    All planes in one way, if one is given.
    """
    missing = chunk_words - planes.shape[1]
    full = np.pad(planes, ((0, 0), (0, missing))) if missing else planes
    usual = [VALUES] * VALUE_PLANES + [NUMBERS] * (len(full) - VALUE_PLANES)
    frames = tuple(
        pack(plane, packing or own) if plane.any() else b""
        for plane, own in zip(full, usual, strict=True)
    )
    return Chunk(number, frames, digest_chunk(planes))


def pack_group(begin: int, planes: Words) -> tuple[list[Chunk], list[Fragment]]:
    """The whole chunks of a group whose first word is the layer's word `begin`, and the rest."""
    chunks: list[Chunk] = []
    fragments: list[Fragment] = []
    end = begin + planes.shape[1]
    for number in range(begin // CHUNK_WORDS, -(-end // CHUNK_WORDS)):
        low, high = max(begin, number * CHUNK_WORDS), min(end, (number + 1) * CHUNK_WORDS)
        part = planes[:, low - begin : high - begin]
        if high - low == CHUNK_WORDS:
            chunks.append(pack_chunk(number, part, CHUNK_WORDS))
        elif high > low:
            fragments.append(Fragment(low, part.copy()))
    return chunks, fragments


class ChunkJoiner:
    """Joins the fragments of chunks as they come. Not for several threads at once."""

    def __init__(self, words: int) -> None:
        self._words = words  # of the layer
        self._waiting: dict[int, list[Fragment]] = {}

    def add(self, fragments: list[Fragment]) -> list[tuple[int, Words]]:
        """Take fragments; give the number and the planes of every chunk that they complete."""
        complete = []
        for fragment in fragments:
            number = fragment.begin // CHUNK_WORDS
            parts = self._waiting.setdefault(number, [])
            parts.append(fragment)
            wanted = min(CHUNK_WORDS, self._words - number * CHUNK_WORDS)
            if sum(part.planes.shape[1] for part in parts) == wanted:
                parts = sorted(self._waiting.pop(number), key=lambda part: part.begin)
                planes = np.concatenate([part.planes for part in parts], axis=1)
                complete.append((number, planes))
        return complete

    def rest(self) -> list[Fragment]:
        """The fragments that still wait for others."""
        return [fragment for parts in self._waiting.values() for fragment in parts]
