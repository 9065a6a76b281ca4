"""Words packed by zstd, on all cores: what goes to disk, and how it is told to be whole.

zstd releases the interpreter's lock, and a frame carries a checksum of its
content, so threads pack and unpack side by side and a damaged frame is found
when it is read. Level 1: the others gain a tenth at a sixth of the speed (see `format`).

A plane is packed in chunks of 32,768 words. Groups of blocks end where they
like, so a group gives some whole chunks and a *fragment* of the chunk at
either end; the fragments of a chunk are joined when all groups are there:

    chunks      |        0        |        1        |        2        |
    groups      | group 0 |        group 1        |     group 2       |
                 fragment   fragment  whole   fragment  fragm.  whole
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import zstandard

from retro.errors import ChecksumError
from tablebase.format import CHUNK_WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

LEVEL = 1


def pack(words: Words) -> bytes:
    """Words as one zstd frame."""
    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    return packer.compress(np.ascontiguousarray(words, "<u8").data)


def unpack(frame: bytes, what: str) -> Words:
    """The words of a frame. `what` names it should it be damaged."""
    try:
        content = zstandard.ZstdDecompressor().decompress(frame)
        return np.frombuffer(content, "<u8")
    except (zstandard.ZstdError, ValueError) as error:
        raise ChecksumError(f"{what} is damaged: {error}") from None


class Chunk(NamedTuple):
    """A packed chunk of both planes; an empty frame stands for zeros."""

    number: int
    frames: tuple[bytes, bytes]  # win, loss
    digest: bytes


class Fragment(NamedTuple):
    """Some words of a chunk that other groups complete."""

    begin: int  # words, in the layer
    planes: Words  # [2, word]


def digest_chunk(planes: Words) -> bytes:
    """SHA-256 of the words of both planes of a chunk."""
    sha = hashlib.sha256()
    for plane in planes:
        sha.update(np.ascontiguousarray(plane, "<u8").data)
    return sha.digest()


def pack_chunk(number: int, planes: Words, chunk_words: int) -> Chunk:
    """Pack one chunk, the last one filled up with zeros to the full length as HDF5 wants it."""
    missing = chunk_words - planes.shape[1]
    full = np.pad(planes, ((0, 0), (0, missing))) if missing else planes
    win, loss = (pack(plane) if plane.any() else b"" for plane in full)
    return Chunk(number, (win, loss), digest_chunk(planes))


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


def join_fragments(fragments: list[Fragment], words: int) -> list[Chunk]:
    """Pack the chunks that were left in fragments; the layer has so many words."""
    by_chunk: dict[int, list[Fragment]] = {}
    for fragment in sorted(fragments, key=lambda f: f.begin):
        by_chunk.setdefault(fragment.begin // CHUNK_WORDS, []).append(fragment)
    chunk_words = min(CHUNK_WORDS, words)
    return [
        pack_chunk(number, np.concatenate([f.planes for f in parts], axis=1), chunk_words)
        for number, parts in by_chunk.items()
    ]
