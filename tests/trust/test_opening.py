"""A table from a stranger is refused when it is opened, by name, whatever its digests say."""

import contextlib
import json
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
import zstandard
from trust.hostile_tables import reseal

import tablebase as tb
from retro.errors import (
    ChecksumError,
    DamagedFileError,
    FormatVersionError,
    IllegalPositionError,
    NotCoveredError,
    StorageError,
    TablebaseError,
)
from tablebase.files.frames import fletcher32
from tablebase.keys import store as keys_store

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
HALVES, KEYS = GOLDEN / "halves-2-whole.h5", GOLDEN / "keys-1-mnk.h5"


@pytest.fixture
def halves(tmp_path):
    return Path(shutil.copy(HALVES, tmp_path / "halves.h5"))


@pytest.fixture
def keys(tmp_path):
    return Path(shutil.copy(KEYS, tmp_path / "keys.h5"))


def change(path, **attributes):
    """Change root attributes and seal the table again."""
    with h5py.File(path, "r+") as file:
        for name, value in attributes.items():
            file.attrs[name] = np.bytes_(value) if isinstance(value, str) else value
        with contextlib.suppress(OverflowError, TypeError):  # some numbers are in no digest
            reseal(file)


def refuse(path, message=""):
    with pytest.raises((DamagedFileError, FormatVersionError), match=message):
        tb.open_tablebase(path)


def test_sealing_again_changes_nothing(halves, keys):
    for path in (halves, keys):
        change(path)
        with tb.open_tablebase(path) as table:
            assert table.probe("").value in (-1, 0, 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("width", np.float64("inf")),
        ("width", np.int64(0)),
        ("width", np.int64(2**62)),
        ("height", np.arange(3)),
        ("height", "4"),
        ("connect", np.int64(-1)),
        ("connect", np.int64(10**12)),
        ("left_columns", np.int64(100)),
        ("left_columns", np.int64(-1)),
        ("mirror", np.int64(7)),
        ("first_ply", np.int64(-5)),
        ("last_ply", np.int64(10**6)),
        ("root", "4444444"),
        ("root", "x" * 5_000),
        ("value", np.int64(3)),
        ("value", np.int64(0)),
        ("counts", np.int64(9)),
    ],
)
def test_a_header_of_two_halves_is_held_to_its_board(halves, name, value):
    change(halves, **{name: value})
    refuse(halves, "halves.h5")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("options", "no JSON"),
        ("options", "[]"),
        ("options", '{"connect": 3}'),
        ("options", "[" * 4_000),
        ("board", "9x9"),
        ("board", "03x3"),
        ("game", "connect4"),
        ("game", "../mnk"),
        ("words", np.int64(2)),
        ("words", np.float64(1)),
        ("root", "a1 a1"),
        ("first_ply", np.int64(-5)),
        ("last_ply", np.int64(2**60)),
        ("last_ply", np.int64(5)),
    ],
)
def test_a_header_of_sorted_keys_is_held_to_its_board(keys, name, value):
    change(keys, **{name: value})
    refuse(keys, "keys.h5")


@pytest.mark.parametrize(("width", "left"), [(9, 5), (9, 8), (9, 1), (8, 4)])
def test_a_small_file_cannot_ask_for_gigabytes(halves, width, left):
    """A 9x6 header asked for 2.3 GB and a minute, another cut for 8.7 TiB."""
    with h5py.File(halves, "r+") as file:
        for ply in range(13, width * 6 + 1):
            file.copy("ply-12", f"ply-{ply:02d}")
    change(
        halves,
        width=np.int64(width), height=np.int64(6), left_columns=np.int64(left),
        mirror=np.int64(int(2 * left >= width)), last_ply=np.int64(width * 6),
    )  # fmt: skip
    refuse(halves, "cannot be a table of connect3-.x6")


def test_what_unpacks_to_far_more_than_the_file_is_refused(keys):
    """212 kB unpacked to 6 GB."""
    with h5py.File(keys, "r+") as file:
        group, number = file["ply-04"], 10**9
        for name, dtype, items in (("a", "<u8", number), ("values", "u1", number // 4)):
            del group[name]
            group.create_dataset(name, (items,), dtype, chunks=(32_768 if name == "a" else 8_192,))
        terminal = int(group.attrs["canonical_terminal"])
        for name in ("keys", "positions", "canonical_positions", "draw", "canonical_draw"):
            group.attrs[name] = np.int64(number + (terminal if "canonical" in name else 0))
        for name in ("win", "loss", "canonical_win", "canonical_loss"):
            group.attrs[name] = np.int64(0)
        group.attrs["positions"] = group.attrs["draw"] = np.int64(2 * number)
        reseal(file)
    refuse(keys, "cannot be the keys of mnk")


@pytest.mark.parametrize("name", ["positions", "win", "terminal"])
@pytest.mark.parametrize("number", [-1, 2**62])
def test_counts_are_counts(halves, keys, name, number):
    for path in (halves, keys):
        with h5py.File(path, "r+") as file:
            file["ply-03"].attrs[name] = np.int64(number)
            reseal(file)
        refuse(path, "impossible counts")


def replace_array(path, name, make):
    with h5py.File(path, "r+") as file:
        group = file["ply-05"]
        shape = group[name].shape
        del group[name]
        make(group, name, shape)
        reseal(file)


ARRAYS = {
    "shorter": lambda g, n, s: g.create_dataset(n, (s[0] - 1,), "<u8", chunks=(s[0] - 1,)),
    "longer": lambda g, n, s: g.create_dataset(n, (s[0] + 1,), "<u8", chunks=(s[0] + 1,)),
    "huge": lambda g, n, s: g.create_dataset(n, (2**40,), "<u8", chunks=(32_768,)),
    "floats": lambda g, n, s: g.create_dataset(n, s, "<f8", chunks=s),
    "signed": lambda g, n, s: g.create_dataset(n, s, "<i8", chunks=s),
    "plane": lambda g, n, s: g.create_dataset(n, (*s, 2), "<u8", chunks=(*s, 2)),
    "plain": lambda g, n, s: g.create_dataset(n, s, "<u8"),
    "chunks": lambda g, n, s: g.create_dataset(n, s, "<u8", chunks=(1,)),
    "scalar": lambda g, n, s: g.create_dataset(n, (), "<u8"),
    "group": lambda g, n, s: g.create_group(n),
    "nothing": lambda g, n, s: None,
    "soft link": lambda g, n, s: g.__setitem__(n, h5py.SoftLink("/ply-04/" + n)),
    "link to itself": lambda g, n, s: g.__setitem__(n, h5py.SoftLink("/ply-05/" + n)),
    "external link": lambda g, n, s: g.__setitem__(n, h5py.ExternalLink("x.h5", "/")),
    "external bytes": lambda g, n, s: g.create_dataset(
        n, s, "<u8", external=[("/etc/hostname", 0, 8 * s[0])]
    ),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_are_what_the_ply_makes_them(halves, keys, kind):
    for path, name in ((halves, "win"), (halves, "loss"), (keys, "a"), (keys, "values")):
        shutil.copy(HALVES if path == halves else KEYS, path)
        replace_array(path, name, ARRAYS[kind])
        refuse(path, path.name)


def write_frame(path, name, content):
    """Another frame in the place of a chunk, with whatever checksum it needs."""
    with h5py.File(path, "r+") as file:
        dataset = file["ply-05"][name]
        frame = zstandard.ZstdCompressor(write_checksum=True).compress(content)
        if dataset.fletcher32:
            frame += fletcher32(frame)
        dataset.id.write_direct_chunk((0,), frame)
        reseal(file)


def ask_some(table, ply):
    """Ask for positions of a ply, one by one, without kernels."""
    rng = np.random.default_rng(1)
    for _ in range(90):
        position = table.root
        while position.ply < ply and not position.is_over():
            position = position._play(int(rng.choice(position._numbers())))
        if not position.is_over():
            table.probe_wdl(position)


@pytest.mark.parametrize("content", [b"\1" * 8, b"", bytes(10**8)], ids=["word", "none", "bomb"])
def test_a_frame_of_another_size_is_damage(halves, keys, content):
    """One word was spread over a chunk."""
    for path, name in ((halves, "win"), (keys, "a"), (keys, "values")):
        write_frame(path, name, content)
        with tb.open_tablebase(path) as table, pytest.raises(ChecksumError):
            ask_some(table, 5)


@pytest.mark.parametrize("name", ["a", "values"])
def test_a_chunk_that_was_never_written_is_damage(keys, name):
    """HDF5 knows nothing to read there, and h5py calls that a lack of memory."""
    with h5py.File(keys, "r+") as file:
        group = file["ply-05"]
        old = group[name]
        properties = old.id.get_create_plist()
        kind, space = old.id.get_type(), old.id.get_space()
        del group[name]
        h5py.h5d.create(group.id, name.encode(), kind, space, properties)
    with tb.open_tablebase(keys) as table, pytest.raises(ChecksumError, match="never written"):
        ask_some(table, 5)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a", lambda items: np.arange(len(items), dtype="<u8")),
        ("a", lambda items: items[::-1].copy()),
        ("a", lambda items: np.full_like(items, items[0])),
        ("a", lambda items: items | np.uint64(1 << 63)),
        ("values", lambda items: np.full_like(items, 0xFF)),
    ],
    ids=["other plies", "backwards", "the same", "off the board", "no values"],
)
def test_keys_and_values_reach_no_kernel_unless_they_are_some(keys, name, make):
    """Random keys, and values that are none, sealed again."""
    with tb.open_tablebase(keys) as table:
        layer = table.reader.stored(5)
        items = layer.keys.a if name == "a" else keys_store.pack_values(layer.values)
    changed = make(items)
    shuffled = changed.view(np.uint8).reshape(len(changed), -1).T if name == "a" else changed
    write_frame(keys, name, np.ascontiguousarray(shuffled).tobytes())
    with tb.open_tablebase(keys) as table:
        for ask in (table.reader.stored, lambda ply: table.reader.find(ply, (1, 0))):
            with pytest.raises(ChecksumError):
                ask(5)


def test_a_probe_notices_a_frame_in_the_place_of_another(halves):
    """The frame is whole, of the right length, and has its checksum."""
    with tb.open_tablebase(halves) as table:
        assert table.probe_wdl("14") == 1
    with h5py.File(halves, "r+") as file:
        frame = file["ply-02/win"].id.read_direct_chunk((0,))[1]
        file["ply-02/loss"].id.write_direct_chunk((0,), frame)
    with tb.open_tablebase(halves) as table, pytest.raises(ChecksumError, match="ply 2"):
        table.probe_wdl("14")


def test_a_probe_notices_pages_exchanged_within_a_ply(tmp_path, monkeypatch):
    """Every frame of both pages is whole, and so is its checksum."""
    from tablebase.building.keys import join as keys_join
    from tablebase.keys import file as keys_file

    for module in (keys_store, keys_file, keys_join):
        monkeypatch.setattr(module, "CHUNK_KEYS", 8)
    path = tb.build("mnk 3x3", tmp_path / "pages.h5").path
    with h5py.File(path, "r+") as file:
        group = file["ply-04"]
        assert "digests" in group
        for name, chunk in (("a", 8), ("values", 2)):
            data = group[name].id
            first, second = (data.read_direct_chunk((at * chunk,))[1] for at in (0, 1))
            data.write_direct_chunk((0,), second)
            data.write_direct_chunk((chunk,), first)
    with tb.open_tablebase(path) as table:
        with pytest.raises(ChecksumError, match=r"page . of ply 4 has another digest"):
            table.reader.find(4, (0, 0))
        assert table.reader.find(3, table.board.position("a1 b1 c1")._state) is not None


@pytest.mark.parametrize(
    ("a", "b", "error"),
    [
        ([0, 1], [0], IllegalPositionError),
        ([-1], [0], IllegalPositionError),
        ([1 << 63], [0], IllegalPositionError),
        ([0.0], [0], TablebaseError),
        ([[0]], [[0]], IllegalPositionError),
        (["x"], [0], TablebaseError),
        ([None], [0], TablebaseError),
        (7, 7, IllegalPositionError),
    ],
)
def test_questions_in_bulk_are_checked_alike_in_every_game(halves, keys, a, b, error):
    for path in (halves, keys):
        with tb.open_tablebase(path) as table:
            with pytest.raises(error):
                table.probe_many(a, b)
            asked = tb.States(np.asarray(a), np.asarray(b), np.zeros(1, np.int64))
            with pytest.raises(error):
                table.probe_many(asked)


def test_states_of_another_ply_than_they_say_do_no_harm(keys):
    with tb.open_tablebase(keys) as table:
        right = table.board.states(["a1 b1", "a2 b2"])
        wrong = right._replace(ply=np.array([10**9, -5]))
        assert table.probe_many(wrong).tolist() == table.probe_many(right).tolist()


def test_after_close_a_table_says_so(halves, keys):
    for path in (halves, keys):
        table = tb.open_tablebase(path)
        table.probe("")
        table.close()
        for ask in (
            lambda table=table: table.probe(""),
            lambda table=table: table.probe_many([0], [0]),
            lambda table=table: tb.verify(table),
        ):
            with pytest.raises(StorageError, match="is closed"):
                ask()
        assert json.dumps(table.value)  # what was read at opening is still known


def test_a_table_does_not_hold_what_its_header_does_not_say(keys):
    with tb.open_tablebase(keys) as table, pytest.raises((NotCoveredError, IllegalPositionError)):
        table.probe_wdl("a1 b1 a2 b2 a3" if table.plies[-1] < 5 else "a1 b1 b1")
