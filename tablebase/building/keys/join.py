"""A finished ply from its pieces: all keys in the order of the file, packed chunk by chunk.

Pieces are sorted by group, the file by key. A ply that does not fit into memory is sorted in
*stretches* of keys, each with about as many as fit; bounds come from a sample:

    pieces      group 0 ... | group 312 ...  | ...          each read once for every stretch
    stretches   [0, 8f21..) | [8f21.., c004..) | ...        selected, sorted, packed

Chunks do not end where stretches do: what is left of one goes to the next. The bytes do not depend
on where the stretches are cut. Reading and sorting stretches, and packing chunks, goes on threads.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retro.index.keys.keys import Keys
from retro.index.keys.sorting import empty_keys
from tablebase.building.partial import ply_part
from tablebase.files import hdf5
from tablebase.files.frames import Packing, unpack
from tablebase.files.seal import ply_name, said
from tablebase.keys.format import CHUNK_KEYS, DIGESTS, PlyRecord, record_of
from tablebase.keys.store import (
    ZSTD_LEVEL,
    Packed,
    Page,
    digest_layer,
    pack_layer,
    page_digest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from retro.walk.keys.layers import Distances, LayerCounts
    from retro.walk.task import Task
    from tablebase.building.keys.tasks import KeysTasks
    from tablebase.files.frames import FrameWriter
    from tablebase.keys.format import Header

SAMPLES = 4000  # keys of a ply, from which the bounds of stretches are taken


class Bound(NamedTuple):
    """A key: a stretch holds what is not below one and below the next; None is without end."""

    a: int
    b: int


def stretches(
    tasks: KeysTasks, pieces: Sequence[Task], keys: int, limit: int
) -> list[tuple[Bound | None, Bound | None]]:
    """Bounds of stretches of about `limit` keys at most."""
    if keys <= limit:
        return [(None, None)]
    step = max(1, keys // SAMPLES)
    samples: list[tuple[int, int]] = []
    for task in pieces:
        found = tasks.fetch(task).keys
        a = found.a[::step].tolist()
        samples += zip(a, found.b[::step].tolist() if len(found.b) else [0] * len(a), strict=True)
    samples.sort()
    number = -(-keys * 5 // (4 * limit))  # a sample may err
    cuts = sorted({samples[len(samples) * i // number] for i in range(1, number)})
    bounds = [None, *(Bound(*cut) for cut in cuts), None]
    return list(pairwise(bounds))


def read_stretch(
    tasks: KeysTasks, pieces: Sequence[Task], low: Bound | None, high: Bound | None
) -> Page:
    """The keys and values of a ply from `low` to below `high`, sorted by key."""
    keys, values = [], []
    for task in pieces:
        piece = tasks.fetch(task._replace(walk="walk"))
        if low is None and high is None:
            keys.append(piece.keys)
            values.append(piece.values)
            continue
        chosen = _not_below(piece.keys, low) & ~_not_below(piece.keys, high, at_none=False)
        keys.append(Keys(*(w[chosen] if len(w) else w for w in piece.keys)))
        values.append(piece.values[chosen])
    words = tasks.header.words
    both = Keys(
        np.concatenate([empty_keys(0, words).a, *(k.a for k in keys)]),
        np.concatenate([empty_keys(0, words).b, *(k.b for k in keys)]),
    )
    del keys
    return sort_page(both, np.concatenate([np.empty(0, np.int8), *values]))


def _not_below(keys: Keys, bound: Bound | None, *, at_none: bool = True) -> NDArray[np.bool_]:
    if bound is None:
        return np.full(keys.size, at_none)
    a = np.uint64(bound.a)
    if not len(keys.b):
        return np.asarray(keys.a >= a, np.bool_)
    above = (keys.a > a) | ((keys.a == a) & (keys.b >= np.uint64(bound.b)))
    return np.asarray(above, np.bool_)


def sort_page(keys: Keys, values: NDArray[np.int8]) -> Page:
    """Sort keys with their values or scores; `keys` is used as scratch.

    A key of one word that leaves bits free (two for values, eight for scores) takes its value
    along there, so that plain words can be sorted. They come in runs, the families of each piece,
    which merging finds: 26 ns a key where a quicksort takes 65. The half as much again that it
    takes is less than what has just been joined.
    """
    if len(keys.b):
        order = np.lexsort((keys.b, keys.a))
        return Page(Keys(keys.a[order], keys.b[order]), values[order])
    if not keys.size:
        return Page(keys, values)
    least = values.min()
    bits = (int(values.max()) - int(least)).bit_length()
    if int(keys.a.max()) >> (64 - bits):
        order = np.argsort(keys.a, kind="stable")
        return Page(Keys(keys.a[order], keys.b), values[order])
    a, low = keys.a, least.view(np.uint8)  # bytes wrap around, there and back
    a <<= np.uint64(bits)
    a |= (values.view(np.uint8) - low).astype(np.uint64)
    a.sort(kind="stable")
    values = ((a & np.uint64((1 << bits) - 1)).astype(np.uint8) + low).view(np.int8)
    a >>= np.uint64(bits)
    return Page(Keys(a, keys.b), values)


def _one_ahead(pool: Executor, calls: Sequence[Callable[[], Page]]) -> Iterator[Page]:
    """What calls give, in order; while one is used, the next is made."""
    future = pool.submit(calls[0])
    for call in calls[1:]:
        page, future = future.result(), pool.submit(call)
        yield page
        del page
    yield future.result()


class _Array(NamedTuple):
    """An array of a ply as the table will have it, and which frames of its part are its chunks."""

    dtype: str
    size: int
    chunk: int
    packing: Packing
    frames: list[int]

    @property
    def length(self) -> int:
        """Items of each of its chunks."""
        return min(self.size, self.chunk)


class PlyWriter:
    """Packs a ply and writes it as its keys come, in order; knows its digest at the end."""

    def __init__(self, part: FrameWriter, header: Header, ply: int, keys: int) -> None:
        self._part, self._header, self._ply = part, header, ply
        self._pages: list[bytes] = []  # their digests
        words, codes = (Packing(ZSTD_LEVEL, shuffle=s, fletcher=True) for s in (True, False))
        names = ["a", "b"][: header.words if keys else 1]  # a ply without keys has no second word
        self.arrays = {name: _Array("<u8", keys, CHUNK_KEYS, words, []) for name in names}
        self.arrays["values"] = _Array("u1", -(-keys // 4), CHUNK_KEYS // 4, codes, [])
        if header.distances:
            self.arrays["plies"] = _Array("u1", keys, CHUNK_KEYS, codes, [])
        self._frames = 0  # written so far
        self._rest = Page(empty_keys(0, header.words), np.empty(0, np.int8))
        self._sha = hashlib.sha256()  # of a; the others follow when all of a is there
        self._first = 0

    def add(self, page: Page, pool: Executor, *, is_last: bool) -> None:
        """Take the next keys; what does not fill a chunk waits for more."""
        a, b = (np.concatenate(pair) for pair in zip(self._rest.keys, page.keys, strict=True))
        values = np.concatenate([self._rest.values, page.values])
        end = len(values) if is_last else len(values) // CHUNK_KEYS * CHUNK_KEYS
        packed = pack_layer(values[:end], distances="plies" in self.arrays)
        here = Keys(a[:end], b[:end])
        self._sha.update(np.ascontiguousarray(here.a, "<u8").data)
        arrays: tuple[NDArray[Any], ...] = (*here, *packed)
        for name, items in zip(("a", "b", "values", "plies"), arrays, strict=True):
            if name in self.arrays:
                self._write(name, items, pool)
        self._pages += pool.map(partial(self._page, here, packed), range(0, end, CHUNK_KEYS))
        self._rest = Page(Keys(a[end:].copy(), b[end:].copy()), values[end:].copy())
        self._first += end

    def _write(self, name: str, items: NDArray[Any], pool: Executor) -> None:
        """Write items of an array that begin where a chunk does; chunks are packed side by side."""
        array = self.arrays[name]
        begins = range(0, len(items), max(1, array.length))

        def packed(begin: int) -> bytes:
            part = items[begin : begin + array.length]
            return hdf5.pack_chunk(part, array.length, array.packing)

        self._part.add_frames(pool.map(packed, begins))
        array.frames.extend(range(self._frames, self._frames + len(begins)))
        self._frames += len(begins)

    def _page(self, keys: Keys, packed: Packed, at: int) -> bytes:
        """The digest of the page that begins there among what was just added."""
        number = (self._first + at) // CHUNK_KEYS
        content = digest_layer(keys.part(at, at + CHUNK_KEYS), packed.page(at))
        return page_digest(self._header, self._ply, number, content)

    def finish(self, pool: Executor) -> str:
        """Write the digests of pages, if there are several; SHA-256 of a, b, values and plies."""
        for name in [name for name in self.arrays if name != "a"]:
            array = self.arrays[name]
            chunk = np.empty(array.length, array.dtype)
            for number, frame in enumerate(array.frames):
                unpack(self._part.frame(frame), chunk, array.packing)
                self._sha.update(chunk[: array.size - number * array.length].data)
        if len(self._pages) > 1:
            digests = np.frombuffer(b"".join(self._pages), np.uint8)
            packing = self.arrays["values"].packing
            self.arrays[DIGESTS] = _Array("u1", len(digests), CHUNK_KEYS // 4, packing, [])
            self._write(DIGESTS, digests, pool)
        return self._sha.hexdigest()


def write_ply(
    tasks: KeysTasks, counts: LayerCounts, ends: Distances | None, pool: Executor, most: int
) -> PlyRecord:
    """Write the finished part of a ply, in stretches of at most about so many keys.

    Of a ply that is not kept it has the counts alone.
    """
    ply, header = counts.ply, tasks.header
    keys, digest, arrays = int(tasks.sizes(ply).sum()), "", {}
    with tasks.partial.write(ply_part(ply), synced=True) as part:
        if header.keeps(ply):
            pieces = tasks.pieces(ply)
            bounds = stretches(tasks, pieces, keys, most)
            writer = PlyWriter(part, header, ply, keys)
            calls = [partial(read_stretch, tasks, pieces, *bound) for bound in bounds]
            for number, page in enumerate(_one_ahead(pool, calls)):
                writer.add(page, pool, is_last=number == len(bounds) - 1)
            digest, arrays = writer.finish(pool), writer.arrays
        record = record_of(counts, keys, digest, ends)
        part.finish({"record": asdict(record), "arrays of the ply": arrays})
    return record


def read_record(said: Mapping[str, Any]) -> PlyRecord:
    """The counts that a finished ply tells."""
    found: dict[str, Any] = said["record"]
    for name in ("win_in", "draw_in", "loss_in"):
        found[name] = tuple(found[name])
    return PlyRecord(**found)


def join_table(tasks: KeysTasks, value: int, plies: Sequence[int]) -> None:
    """Join the finished plies to the table, and remove them. Packed chunks are copied."""
    records = []
    with hdf5.new_file(tasks.partial.path) as file:
        for ply in plies:
            group = file.create_group(ply_name(ply))
            with tasks.partial.read(ply_part(ply)) as part:
                records.append(read_record(part.said))
                arrays = part.said["arrays of the ply"]
                for name, (dtype, size, chunk, packing, frames) in sorted(arrays.items()):
                    shape, packed = (size, np.dtype(dtype)), map(part.frame, frames)
                    hdf5.write_chunks(group, name, shape, chunk, Packing(*packing), packed)
            record = said(records[-1])
            del record["ply"]  # the group's name says it
            hdf5.write_attributes(group, record)
        hdf5.finish_table(file, tasks.header, value, records, last_ply=plies[-1])
