"""Tables of a stranger: honest ones with some things changed, and all digests made anew.

Every case changes one to three things of a small table (`CHANGES`), seals it again and asks it
everything that can be asked (`ask_all`). All is well if every answer is an answer or a named
error, in time, and no process dies. Run it under `NUMBA_BOUNDSCHECK=1`, too.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import shutil
import warnings
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import zstandard

import tablebase as tb
from campaigns.common import Campaign, Case, Guinea, scratch, smallest
from retro.errors import TablebaseError
from tablebase.files.frames import Packing, fletcher32, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator

BOARDS = (
    ("4x3 connect=3", ""), ("4x4", "2233"), ("mnk 3x3", ""), ("mnk 3x3", "b2 a1"),
    ("domineering 3x3", ""), ("notakto 3x3", ""), ("puissance-plus 3x2", ""),
    ("quarto 2x2 attributes=2", ""),
)  # fmt: skip
HALVES = 2  # so many of them, the others have sorted keys
NUMBERS = (
    -(2**63), -5, -1, 0, 1, 2, 3, 7, 64, 65, 100, 255, 1000, 2**31, 2**32 + 1, 2**40, 2**63 - 1,
)  # fmt: skip
ODD = (
    np.float64("inf"), np.float64("nan"), np.float64(4), np.bool_(True), np.int8(4),
    np.uint64(2**64 - 1), np.arange(3), np.zeros((0,)), np.bytes_(b"\xff\xfe"), np.bytes_(b""),
    np.bytes_(b"x" * 60_000), "4", "ü", np.bytes_(b'{"connect": [[[['), np.bytes_(b"[]"),
    np.bytes_(b'{"connect": "99999999999"}'), np.bytes_(b"9x6"), np.bytes_(b"7x7"),
    np.bytes_(b"1x1"), np.bytes_(b"mnk"), np.bytes_(b"connect4"), np.bytes_(b"a1 a1"),
    np.bytes_(b"44444444"), np.complex128(1),
)  # fmt: skip
DTYPES = ("<f8", "<i8", ">u8", "<u4", "|u1", "<u8", "S8", "<f4")


def cases(campaign: Campaign) -> Iterator[Case]:
    guinea = Guinea()
    with scratch() as folder:
        honest = _honest(folder)
        try:
            for number in range(10**9):
                rng = random.Random(f"{campaign.seed} {number}")
                source = rng.choice(honest[number % len(honest)])
                changes = [rng.randrange(2**32) for _ in range(rng.randint(1, 3))]
                path = folder / "hostile.h5"
                name = f"case {number} of {source.stem}, changes {changes}"
                attempt = partial(_attempt, campaign, guinea, source, path, changes)
                yield Case(name, attempt, partial(_keep, guinea, source, path, changes))
        finally:
            guinea.close()


@cache
def _honest(folder: Path) -> list[list[Path]]:
    """Small tables of every game, those of each index."""
    paths = [folder / f"{i}.h5" for i in range(len(BOARDS))]
    for path, (board, root) in zip(paths, BOARDS, strict=True):
        tb.build(board, path, root=root or None, threads=1)
    return [paths[:HALVES], paths[HALVES:]]


def _attempt(
    campaign: Campaign, guinea: Guinea, source: Path, path: Path, changes: list[int]
) -> str | None:
    make_hostile(source, path, changes)
    kind, detail = guinea.ask(ask_all, str(path))
    index = "two-halves" if int(source.stem) < HALVES else "sorted-keys"
    campaign.note(f"{index} {kind}")
    return None if kind in ("answered", "refused") else f"{kind} {detail}"


def _keep(guinea: Guinea, source: Path, path: Path, changes: list[int], out: Path) -> None:
    def fails(fewer: list[int]) -> bool:
        make_hostile(source, path, fewer)
        return guinea.ask(ask_all, str(path))[0] not in ("answered", "refused")

    make_hostile(source, out / "hostile.h5", smallest(changes, fails))


# Making.


def make_hostile(source: Path, path: Path, changes: list[int]) -> None:
    """Copy a table, change some things, seal it again as far as that can be done."""
    shutil.copy(source, path)
    with warnings.catch_warnings(), h5py.File(path, "r+") as file:
        warnings.simplefilter("ignore")
        for change in changes:
            rng = random.Random(change)
            with contextlib.suppress(Exception):  # some changes cannot be made to some files
                rng.choice(CHANGES)(file, rng)
        with contextlib.suppress(Exception):
            seal(file)


def _some_ply(file: h5py.File, rng: random.Random) -> h5py.Group:
    return file[rng.choice(sorted(file))]


def _some_array(file: h5py.File, rng: random.Random) -> tuple[h5py.Group, str]:
    group = _some_ply(file, rng)
    while not len(group):
        group = _some_ply(file, rng)
    return group, rng.choice(sorted(group))


def _change_root(file: h5py.File, rng: random.Random) -> None:
    name = rng.choice(sorted(set(file.attrs) - {"digest"}))
    file.attrs[name] = rng.choice([*map(np.int64, NUMBERS), *ODD])


def _change_plies(file: h5py.File, rng: random.Random) -> None:
    """The same number wherever a board or a range of plies is said."""
    for name in rng.sample(
        ("width", "height", "connect", "left_columns", "first_ply", "last_ply"), 2
    ):
        if name in file.attrs:
            file.attrs[name] = np.int64(rng.randint(-1, 9))


def _change_ply(file: h5py.File, rng: random.Random) -> None:
    group = _some_ply(file, rng)
    group.attrs[rng.choice(sorted(group.attrs))] = rng.choice([*map(np.int64, NUMBERS), *ODD])


def _delete(file: h5py.File, rng: random.Random) -> None:
    group, name = _some_array(file, rng)
    if rng.random() < 0.5:
        del group[name]
    else:
        del file[group.name]


def _change_shape(file: h5py.File, rng: random.Random) -> None:
    """Another length, type, number of dimensions or kind of storage."""
    group, name = _some_array(file, rng)
    old = group[name].shape[0]
    del group[name]
    length = rng.choice([0, 1, max(1, old // 2), old, old + 1, 2 * old, 10**6, 2**40])
    dtype = np.dtype(rng.choice(DTYPES))
    shape: tuple[int, ...] = rng.choice([(length,), (length,), (length, 2), ()])
    chunks: Any
    chunks = rng.choice([None, True, (max(1, min(length, 32_768)),)]) if shape else None
    if length > 10**7:
        chunks = (32_768,) * len(shape)
    group.create_dataset(name, shape, dtype, chunks=chunks if len(shape) == 1 else None)


def _change_link(file: h5py.File, rng: random.Random) -> None:
    group, name = _some_array(file, rng)
    del group[name]
    group[name] = rng.choice(
        [
            h5py.SoftLink(f"{group.name}/{name}"),
            h5py.ExternalLink("/etc/passwd", "/"),
            h5py.ExternalLink("hostile.h5", "/ply-00/a"),
            h5py.SoftLink("/"),
        ]
    )


def _change_frame(file: h5py.File, rng: random.Random) -> None:
    """A chunk that unpacks to one word, to too much, to random bytes, or not at all."""
    group, name = _some_array(file, rng)
    dataset = group[name]
    (length,) = dataset.chunks
    size = length * dataset.dtype.itemsize
    content = rng.choice(
        [b"\1" * 8, rng.randbytes(size), b"\xff" * size, b"\0" * size, b"", bytes(10**7)]
    )
    frame = zstandard.ZstdCompressor(write_checksum=True).compress(content)
    frame = rng.choice([frame, frame, frame[: len(frame) // 2], rng.randbytes(40), b"", frame * 2])
    if dataset.fletcher32:
        frame += fletcher32(frame)
    first = rng.randrange(-(-dataset.shape[0] // length)) * length
    dataset.id.write_direct_chunk((first,), frame)


def _swap_frames(file: h5py.File, rng: random.Random) -> None:
    """A chunk of one array in the place of another's."""
    (group, name), (other, there) = _some_array(file, rng), _some_array(file, rng)
    frame = group[name].id.read_direct_chunk((0,))[1]
    other[there].id.write_direct_chunk((0,), frame)


def _swap_arrays(file: h5py.File, rng: random.Random) -> None:
    (group, name), (other, there) = _some_array(file, rng), _some_array(file, rng)
    file.move(f"{group.name}/{name}", "/aside")
    file.move(f"{other.name}/{there}", f"{group.name}/{name}")
    file.move("/aside", f"{other.name}/{there}")


CHANGES = (
    _change_root, _change_root, _change_plies, _change_ply, _delete, _change_shape, _change_shape,
    _change_link, _change_frame, _change_frame, _swap_frames, _swap_arrays,
)  # fmt: skip


def seal(file: h5py.File) -> None:
    """Make all digests anew, of whatever is there."""
    for group in file.values():
        if group.attrs.get("sha256"):
            with contextlib.suppress(Exception):
                group.attrs["sha256"] = np.bytes_(_layer_digest(group))
    left_out = {"digest", "generator", "finished", "value"}
    if "width" not in file.attrs:  # of sorted keys
        left_out.add("last_ply")
    header = {n: _plain(v) for n, v in file.attrs.items() if n not in left_out}
    plies = [
        {"ply": int(name[4:]), **{n: _plain(v) for n, v in file[name].attrs.items()}}
        for name in sorted(file)
    ]
    content = {"header": header, "value": _plain(file.attrs["value"]), "plies": plies}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    file.attrs["digest"] = np.bytes_(hashlib.sha256(text.encode()).hexdigest())


def _plain(attribute: Any) -> Any:
    if isinstance(attribute, bytes):
        return attribute.decode("ascii")
    return attribute if isinstance(attribute, str) else int(attribute)


def _layer_digest(group: h5py.Group) -> str:
    if "win" in group:
        planes = [_words(group[name]) for name in ("win", "loss")]
        sha = hashlib.sha256()
        for at in range(0, max(map(len, planes)), 32_768):
            chunk = b"".join(plane[at : at + 32_768].tobytes() for plane in planes)
            sha.update(hashlib.sha256(chunk).digest())
        return sha.hexdigest()
    sha = hashlib.sha256()
    for name in ("a", "b", "values"):
        if name in group:
            sha.update(_words(group[name]).tobytes())
    return sha.hexdigest()


def _words(dataset: h5py.Dataset) -> Any:
    """The items of an array, one chunk at most per call; enough for small tables."""
    found = np.zeros(min(dataset.shape[0], 10**6), dataset.dtype)
    with contextlib.suppress(Exception):
        frame = dataset.id.read_direct_chunk((0,))[1]
        if dataset.fletcher32:
            unpack(frame, found, Packing(shuffle=dataset.shuffle, fletcher=True))
        else:
            found[:] = np.frombuffer(zstandard.ZstdDecompressor().decompress(frame), "<u8")
    return found


# Asking.


def ask_all(text: str) -> tuple[str, str]:
    """Ask a table everything: ("answered" or "refused", how), or ("failed", what was raised)."""
    path = Path(text)
    rng = np.random.default_rng(0)
    refusals = []
    for question in QUESTIONS:
        try:
            with tb.open_tablebase(path) as table:
                question(table, rng)
        except TablebaseError as error:
            refusals.append(str(error))
        except BaseException as error:
            return "failed", f"{question.__name__}: {type(error).__name__}: {error}"
    return ("refused", refusals[0]) if refusals else ("answered", "")


def _describe(table: tb.Table, rng: np.random.Generator) -> None:
    assert all((repr(table), table.counts, table._repr_html_(), table.title))


def _probe(table: tb.Table, rng: np.random.Generator) -> None:
    position = table.root
    while not position.is_over():
        found = table.probe(position)
        assert found.value in (-1, 0, 1)
        position = position._play(found.moves[0].number)


def _probe_many(table: tb.Table, rng: np.random.Generator) -> None:
    positions = [table.root]
    for _ in range(30):
        last = positions[-1]
        moves = last._numbers()
        positions.append(last._play(int(rng.choice(moves))) if moves else table.root)
    assert set(table.probe_many(table.board.states(positions)).tolist()) <= {-1, 0, 1}


def _list(table: tb.Table, rng: np.random.Generator) -> None:
    for ply in (table.plies[0], table.plies[len(table.plies) // 2], table.plies[-1]):
        for position, value in table.positions(ply):
            assert value in (-1, 0, 1)
            assert position.ply == ply


def _draw(table: tb.Table, rng: np.random.Generator) -> None:
    for ply in (table.plies[0], table.plies[len(table.plies) // 2]):
        assert table.random_position(rng, ply).ply == ply


def _verify_sample(table: tb.Table, rng: np.random.Generator) -> None:
    tb.verify(table, "sample")


def _verify_full(table: tb.Table, rng: np.random.Generator) -> None:
    """A table that is found sound has the right value."""
    tb.verify(table, "full")
    if table.board.cells < 10:
        assert _value(table.root, {}) == table.value, "a wrong table was found sound"


def _value(position: tb.Position, known: dict[Any, int]) -> int:
    """The value of a position, by looking at all that can follow."""
    outcome = position.outcome()
    if outcome is None:
        outcome = known.get(position._state)
    if outcome is None:
        replies = (_value(position._play(move), known) for move in position._numbers())
        outcome = known[position._state] = -min(replies)
    return outcome


def _leaves(table: tb.Table, rng: np.random.Generator) -> None:
    table.leaves(table.plies[0], 10**6)


QUESTIONS = (_describe, _probe, _probe_many, _list, _draw, _verify_sample, _verify_full, _leaves)
