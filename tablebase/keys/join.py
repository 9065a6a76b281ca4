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
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.errors import ChecksumError, DamagedFileError
from retro.index.keys.keys import Keys
from retro.index.keys.sorting import empty_keys
from tablebase.files import hdf5
from tablebase.files.atomic import require_room
from tablebase.files.opening import reading
from tablebase.files.seal import ply_name, said
from tablebase.keys.format import CHUNK_KEYS, DIGESTS, record_of
from tablebase.keys.store import (
    ZSTD_LEVEL,
    Packed,
    Page,
    digest_layer,
    pack_layer,
    page_digest,
    read_header,
    read_record,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from retro.walk.keys.layers import Distances, LayerCounts
    from retro.walk.task import Task
    from tablebase.keys.format import Header, PlyRecord
    from tablebase.keys.pieces import PieceStore

SAMPLES = 4000  # keys of a ply, from which the bounds of stretches are taken
AT_ONCE = 1 << 20  # items of a part that are checked


class Bound(NamedTuple):
    """A key: a stretch holds what is not below one and below the next; None is without end."""

    a: int
    b: int


def stretches(
    store: PieceStore, tasks: Sequence[Task], keys: int, limit: int
) -> list[tuple[Bound | None, Bound | None]]:
    """Bounds of stretches of about `limit` keys at most."""
    if keys <= limit:
        return [(None, None)]
    step = max(1, keys // SAMPLES)
    samples: list[tuple[int, int]] = []
    for task in tasks:
        found = store.fetch(task).keys
        a = found.a[::step].tolist()
        samples += zip(a, found.b[::step].tolist() if len(found.b) else [0] * len(a), strict=True)
    samples.sort()
    number = -(-keys * 5 // (4 * limit))  # a sample may err
    cuts = sorted({samples[len(samples) * i // number] for i in range(1, number)})
    bounds = [None, *(Bound(*cut) for cut in cuts), None]
    return list(pairwise(bounds))


def read_stretch(
    store: PieceStore, tasks: Sequence[Task], low: Bound | None, high: Bound | None
) -> Page:
    """The keys and values of a ply from `low` to below `high`, sorted by key."""
    keys, values = [], []
    for task in tasks:
        piece = store.fetch(task._replace(walk="walk"))
        if low is None and high is None:
            keys.append(piece.keys)
            values.append(piece.values)
            continue
        chosen = _not_below(piece.keys, low) & ~_not_below(piece.keys, high, at_none=False)
        keys.append(Keys(*(w[chosen] if len(w) else w for w in piece.keys)))
        values.append(piece.values[chosen])
    words = store.header.words
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


class PlyWriter:
    """Packs a ply and writes it as its keys come, in order; knows its digest at the end."""

    def __init__(self, group: hdf5.Group, header: Header, ply: int, keys: int) -> None:
        names = ["a", "b"][: header.words if keys else 1]  # a ply without keys has no second word
        plain = hdf5.Filters(ZSTD_LEVEL, checksum=True)
        self._group, self._header, self._ply = group, header, ply
        self._pages: list[bytes] = []  # their digests
        self._keys = {
            name: hdf5.ChunkedArray(
                group,
                name,
                (keys, np.dtype("<u8")),
                CHUNK_KEYS,
                hdf5.Filters(ZSTD_LEVEL, shuffle=True, checksum=True),
            )
            for name in names
        }
        self._values = hdf5.ChunkedArray(
            group,
            "values",
            (-(-keys // 4), np.dtype("u1")),
            CHUNK_KEYS // 4,
            plain,
        )
        self._plies: hdf5.ChunkedArray | None = None
        if header.distances:
            shape = (keys, np.dtype("u1"))
            self._plies = hdf5.ChunkedArray(group, "plies", shape, CHUNK_KEYS, plain)
        self._packed: list[NDArray[np.uint8]] = []
        self._rest = Page(empty_keys(0, header.words), np.empty(0, np.int8))
        self._sha = hashlib.sha256()  # of a; b follows when all of a is there
        self._first = 0

    def add(self, page: Page, pool: Executor, *, is_last: bool) -> None:
        """Take the next keys; what does not fill a chunk waits for more."""
        joined = [np.concatenate(pair) for pair in zip(self._rest.keys, page.keys, strict=True)]
        values = np.concatenate([self._rest.values, page.values])
        end = len(values) if is_last else len(values) // CHUNK_KEYS * CHUNK_KEYS
        for (name, array), words in zip(self._keys.items(), joined, strict=False):
            if name == "a":
                self._sha.update(np.ascontiguousarray(words[:end], "<u8").data)
            array.write(self._first, words[:end], pool)
        packed = pack_layer(values[:end], distances=self._plies is not None)
        self._values.write(self._first // 4, packed.values, pool)
        self._packed.append(packed.values)
        if self._plies is not None:
            self._plies.write(self._first, packed.plies, pool)
        here = Keys(joined[0][:end], joined[1][:end])
        self._pages += pool.map(partial(self._page, here, packed), range(0, end, CHUNK_KEYS))
        self._rest = Page(Keys(*(words[end:].copy() for words in joined)), values[end:].copy())
        self._first += end

    def _page(self, keys: Keys, packed: Packed, at: int) -> bytes:
        """The digest of the page that begins there among what was just added."""
        number = (self._first + at) // CHUNK_KEYS
        content = digest_layer(keys.part(at, at + CHUNK_KEYS), packed.page(at))
        return page_digest(self._header, self._ply, number, content)

    def write_digests(self) -> None:
        """Write the digests of pages, if there are several."""
        if len(self._pages) > 1:
            digests = np.frombuffer(b"".join(self._pages), np.uint8)
            chunk = CHUNK_KEYS // 4
            hdf5.write_array(self._group, DIGESTS, digests, chunk, level=ZSTD_LEVEL, shuffle=False)

    def digest(self) -> str:
        """SHA-256 over all of a, then b, then the values, then the plies."""
        sha = self._sha.copy()
        for name in list(self._keys)[1:]:
            for chunk in self._keys[name].chunks():
                sha.update(np.ascontiguousarray(chunk, "<u8").data)
        for packed in self._packed:
            sha.update(packed.data)
        if self._plies is not None:
            for chunk in self._plies.chunks():
                sha.update(np.ascontiguousarray(chunk).data)
        return sha.hexdigest()


def write_ply(
    store: PieceStore, counts: LayerCounts, ends: Distances | None, pool: Executor, most: int
) -> PlyRecord:
    """Write the finished part of a ply, in stretches of at most about so many keys.

    Of a ply that is not kept it has the counts alone.
    """
    ply = counts.ply
    keys = int(store.sizes(ply).sum())
    with hdf5.new_file(store.ply_part(ply)) as file:
        hdf5.write_attributes(file, said(store.header))
        group = file.create_group(ply_name(ply))
        digest = _write_keys(store, group, ply, pool, most) if store.header.keeps(ply) else ""
        record = record_of(counts, keys, digest, ends)
        hdf5.write_attributes(group, _attributes(record))
    return record


def _write_keys(store: PieceStore, group: hdf5.Group, ply: int, pool: Executor, most: int) -> str:
    """Write keys and values of a ply; returns their digest."""
    tasks, keys = store.pieces(ply), int(store.sizes(ply).sum())
    bounds = stretches(store, tasks, keys, most)
    writer = PlyWriter(group, store.header, ply, keys)
    calls = [partial(read_stretch, store, tasks, *bound) for bound in bounds]
    for number, page in enumerate(_one_ahead(pool, calls)):
        writer.add(page, pool, is_last=number == len(bounds) - 1)
    writer.write_digests()
    return writer.digest()


def _attributes(record: PlyRecord) -> dict[str, object]:
    """What the group of a ply says; its name says the ply."""
    return {name: value for name, value in said(record).items() if name != "ply"}


def check_ply(store: PieceStore, ply: int) -> PlyRecord:
    """The counts of a finished part; `DamagedFileError` if it is not whole or another table's."""
    path = store.ply_part(ply)
    with hdf5.open_file(path) as file, reading(path):
        if read_header(file, path) != store.header:
            raise DamagedFileError(f"{path} belongs to another table")
        group = file[ply_name(ply)]
        record = read_record(ply, group.attrs)
        if not store.header.keeps(ply):
            return record
        sha = hashlib.sha256()
        for name in ("a", "b", "values", "plies"):
            size = len(group[name]) if name in group else 0
            for begin in range(0, size, AT_ONCE):
                sha.update(hdf5.read_array(group, name, begin, begin + AT_ONCE).data)
        if sha.hexdigest() != record.sha256:
            raise ChecksumError(f"{path} does not have its digest")
        return record


def join_table(store: PieceStore, value: int, records: Sequence[PlyRecord]) -> None:
    """Join the finished plies to the table, and remove them. Packed chunks are copied."""
    require_room(store.path, store.beside)
    with hdf5.new_file(store.path) as file:
        for record in records:
            group = file.create_group(ply_name(record.ply))
            with hdf5.open_file(store.ply_part(record.ply)) as part:
                for name in part[group.name]:
                    hdf5.copy_array(part[group.name], name, group, level=ZSTD_LEVEL)
            hdf5.write_attributes(group, _attributes(record))
        hdf5.finish_table(file, store.header, value, records, last_ply=records[-1].ply)
    store.discard()
