"""Table files: what is written is read back, and each kind of damage has its own name."""

import contextlib
import re
import shutil

import h5py
import hdf5plugin
import naive
import numpy as np
import pytest

from retro.errors import (
    ChecksumError,
    DamagedFileError,
    FormatVersionError,
    IncompleteTableError,
    MissingTableError,
    StorageError,
    TablebaseError,
)
from retro.games.connect import Board
from retro.index import plain
from retro.walk.layers import backward, forward, prepare
from tablebase.format import CHUNK_WORDS, Header, header_for
from tablebase.store import PartialTable, TableFile

assert hdf5plugin  # importing it is what teaches h5py to read zstd

BOARD = Board(4, 3, 3)
GAME = naive.Game(4, 3, 3)
LEFT_COLUMNS = 2


@pytest.fixture(scope="module")
def walked():
    """(values by ply, counts) of the board that most tests here store."""
    prepared = prepare(BOARD, LEFT_COLUMNS)
    values = dict(backward(prepared))
    return values, [counts for counts, _ in forward(prepared, values.get)]


@pytest.fixture(scope="module")
def sound(walked, tmp_path_factory):
    """An undamaged table."""
    values, counts = walked
    path = tmp_path_factory.mktemp("sound") / "table.h5"
    partial = PartialTable(path, header_for(BOARD, LEFT_COLUMNS))
    for ply, planes in values.items():
        partial.write(ply, planes)
    partial.join(counts[0].win - counts[0].loss, counts)
    return path


@pytest.fixture
def path(sound, tmp_path):
    """A table to damage."""
    return shutil.copy(sound, tmp_path / "table.h5")


def read_everything(path):
    """All that a file says, or a named error."""
    with TableFile(path) as table:
        planes = [table.read_checked(ply).tobytes() for ply in table.header.plies]
        return table.header, table.value, table.digest, table.records, planes


def chunks(path):
    """(ply, plane, offset, size) of every stretch of compressed data in a file."""
    with h5py.File(path) as file:
        for group in file:
            for plane in ("win", "loss"):
                dataset = file[group][plane].id
                for i in range(dataset.get_num_chunks()):
                    info = dataset.get_chunk_info(i)
                    yield int(group[-2:]), plane, info.byte_offset, info.size


def flip(path, offset, bits=0x01):
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ bits]))


def test_a_table_comes_back_as_it_was_stored(sound, walked):
    values, counts = walked
    with TableFile(sound) as table:
        assert table.header == Header(4, 3, 3, LEFT_COLUMNS, first_ply=0, last_ply=12)
        assert table.header.board == BOARD
        assert table.value == naive.values(GAME)[naive.empty(GAME)]
        assert table.size == sound.stat().st_size
        for ply, planes in values.items():
            assert table.words(ply) == planes.shape[1]
            np.testing.assert_array_equal(table.read_checked(ply), planes)
            half = planes.shape[1] // 2
            np.testing.assert_array_equal(table.read(ply, half), planes[:, half:])
            np.testing.assert_array_equal(table.read(ply, 0, half), planes[:, :half])
        stored = [(r.ply, r.positions, r.win, r.draw, r.loss, r.terminal) for r in table.records]
        assert stored == [tuple(c) for c in counts]


def test_joining_leaves_nothing_but_the_table(sound):
    assert [path.name for path in sound.parent.iterdir()] == ["table.h5"]


def test_someone_with_only_h5py_reads_the_right_values(sound):
    """Follows the recipe of `tablebase.format`; the plain index lists the places in order."""
    known = {naive.bitboards(GAME, p): v for p, v in naive.values(GAME).items()}
    checked = 0
    with h5py.File(sound) as file:
        board = Board(*(int(file.attrs[name]) for name in ("width", "height", "connect")))
        assert file.attrs["format"] == b"retro-tablebase"
        assert file.attrs["format_version"] == 1
        assert file.attrs["finished"] == 1
        for ply in range(file.attrs["first_ply"], file.attrs["last_ply"] + 1):
            group = file[f"ply-{ply:02d}"]
            win, loss = group["win"][:], group["loss"][:]
            places = plain.layer(board, int(file.attrs["left_columns"]), ply)
            for rank, position in enumerate(places):
                bit = np.uint64(1 << rank % 64)
                value = bool(win[rank // 64] & bit) - bool(loss[rank // 64] & bit)
                key = position and (position.first, position.second)
                if key in known and not (position.winner()):
                    assert value == known[key]
                    checked += 1
    assert checked == sum(map(len, naive.live_layers(GAME)))


def test_the_file_is_stored_as_the_format_says(sound):
    with h5py.File(sound) as file:
        for group in file.values():
            for plane in (group["win"], group["loss"]):
                assert plane.dtype == np.dtype("<u8")
                assert plane.fletcher32
                assert plane.chunks[0] <= CHUNK_WORDS
                assert "32015" in plane._filters  # zstd's registered number


def test_parts_are_read_back_checked_and_listed_from_the_fullest(walked, tmp_path):
    values, _ = walked
    partial = PartialTable(tmp_path / "table.h5", header_for(BOARD, LEFT_COLUMNS))
    assert partial.finished_plies() == []
    for ply in (12, 11, 9):
        partial.write(ply, values[ply])
    assert partial.finished_plies() == [12, 11]  # 9 is no use without 10
    np.testing.assert_array_equal(partial.read(11), values[11])
    partial.discard()
    assert partial.finished_plies() == []


def test_a_part_of_another_table_is_refused(walked, tmp_path):
    values, _ = walked
    PartialTable(tmp_path / "t.h5", header_for(BOARD, LEFT_COLUMNS)).write(12, values[12])
    with pytest.raises(DamagedFileError, match="belongs to another table"):
        PartialTable(tmp_path / "t.h5", header_for(BOARD, 1)).read(12)


def test_a_part_whose_values_were_changed_properly_fails_its_digest(walked, tmp_path):
    # Written by HDF5 itself, so its own checksums fit: only the digest can tell.
    partial = PartialTable(tmp_path / "t.h5", header_for(BOARD, LEFT_COLUMNS))
    partial.write(5, walked[0][5])
    with h5py.File(partial.part(5), "r+") as file:
        file["ply-05/win"][0] ^= np.uint64(1)
    with pytest.raises(ChecksumError, match="values of ply 5 do not have their digest"):
        partial.read(5)


@pytest.mark.parametrize("name", ["table.h5.tmp", "table.h5.partial/ply-12.h5.tmp"])
def test_leftovers_of_a_dead_build_are_harmless(walked, tmp_path, name):
    values, counts = walked
    leftover = tmp_path / name
    leftover.parent.mkdir(exist_ok=True)
    leftover.write_bytes(b"half a file")
    partial = PartialTable(tmp_path / "table.h5", header_for(BOARD, LEFT_COLUMNS))
    assert partial.finished_plies() == []
    for ply, planes in values.items():
        partial.write(ply, planes)
    partial.join(1, counts)
    assert [path.name for path in tmp_path.iterdir()] == ["table.h5"]
    assert read_everything(tmp_path / "table.h5")[1] == 1


@pytest.mark.parametrize("share", [0.999, 0.9, 0.5, 0.1, 0.01, 0.0001])
def test_a_truncated_file_is_damaged(path, share):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(DamagedFileError, match=re.escape(str(path))):
        read_everything(path)


@pytest.mark.parametrize("content", [b"", b"PK not hdf5 at all" * 100])
def test_what_is_no_hdf5_file_is_damaged(path, content):
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match=f"{path} is damaged or no table"):
        TableFile(path)


def test_an_hdf5_file_of_someone_else_is_no_table(path):
    with h5py.File(path, "w") as file:
        file["temperatures"] = [1, 2, 3]
    with pytest.raises(DamagedFileError, match="an HDF5 file, but not a retro-tablebase file"):
        TableFile(path)


def test_no_file_is_a_missing_table(tmp_path):
    with pytest.raises(MissingTableError, match=f"no table at {tmp_path / 'no.h5'}"):
        TableFile(tmp_path / "no.h5")


def test_a_flipped_byte_in_any_chunk_fails_its_checksum(path):
    whole = path.read_bytes()
    found = list(chunks(path))
    assert len(found) == 2 * (BOARD.cells + 1)
    for ply, _, offset, size in found:
        path.write_bytes(whole)
        flip(path, offset + size // 2)
        with TableFile(path) as table, pytest.raises(ChecksumError, match=re.escape(str(path))):
            table.read(ply)


def test_a_flipped_byte_anywhere_is_named_or_does_no_harm(path):
    """Either the answers are the same, or the error is one of ours; never a wrong answer.

    Strings are of fixed length for this: HDF5 keeps others in a heap without a checksum, and
    loops for ever over some damaged ones.
    """
    expected, whole = read_everything(path), path.read_bytes()
    assert b"GCOL" not in whole
    rng = np.random.default_rng(3)
    offsets = [int(o) for o in rng.integers(len(whole), size=150)]
    harmless = 0
    for offset in offsets:
        path.write_bytes(whole)
        flip(path, offset, bits=int(rng.integers(1, 256)))
        with contextlib.suppress(TablebaseError):
            assert read_everything(path) == expected
            harmless += 1
    assert harmless < len(offsets)


@pytest.mark.parametrize("name", ["positions", "win", "draw", "loss", "terminal"])
def test_a_changed_count_fails_the_digest(path, name):
    with h5py.File(path, "r+") as file:
        file["ply-05"].attrs[name] += 1
    with pytest.raises(ChecksumError, match="header or counts do not have their digest"):
        TableFile(path)


@pytest.mark.parametrize(("name", "value"), [("value", 0), ("left_columns", 1), ("connect", 4)])
def test_a_changed_root_attribute_fails_the_digest(path, name, value):
    with h5py.File(path, "r+") as file:
        assert file.attrs[name] != value
        file.attrs[name] = value
    with pytest.raises(ChecksumError, match="header or counts do not have their digest"):
        TableFile(path)


def test_swapped_plies_fail_the_digest(path):
    with h5py.File(path, "r+") as file:
        file.move("ply-05", "aside")
        file.move("ply-06", "ply-05")
        file.move("aside", "ply-06")
    with pytest.raises(ChecksumError, match="do not have their digest"):
        TableFile(path)


def test_values_swapped_between_plies_fail_when_checked(path):
    with h5py.File(path, "r+") as file:
        file.move("ply-05/win", "aside")
        file.move("ply-06/win", "ply-05/win")
        file.move("aside", "ply-06/win")
    with TableFile(path) as table, pytest.raises(ChecksumError):
        table.read_checked(5)


def test_swapped_planes_fail_when_checked(path):
    with h5py.File(path, "r+") as file:
        file.move("ply-05/win", "aside")
        file.move("ply-05/loss", "ply-05/win")
        file.move("aside", "ply-05/loss")
    with TableFile(path) as table:
        with pytest.raises(ChecksumError, match="values of ply 5 do not have their digest"):
            table.read_checked(5)
        table.read_checked(6)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("format_version", 2, "format version 2; this program reads version 1"),
        ("game", "gomoku", "game 'gomoku'"),
        ("index", "hashed", "index 'hashed'"),
        ("metric", "dtw", "metric 'dtw'"),
        ("root", "44", "root '44'"),
    ],
)
def test_what_this_program_does_not_know_is_refused_by_name(path, name, value, message):
    with h5py.File(path, "r+") as file:
        file.attrs[name] = value
    with pytest.raises(FormatVersionError, match=message):
        TableFile(path)


def test_a_missing_ply_is_damage(path):
    with h5py.File(path, "r+") as file:
        del file["ply-07"]
    with pytest.raises(DamagedFileError, match="ply-07"):
        TableFile(path)


@pytest.mark.parametrize("name", ["width", "left_columns", "metric", "value", "digest"])
def test_a_missing_attribute_is_damage(path, name):
    with h5py.File(path, "r+") as file:
        del file.attrs[name]
    with pytest.raises(DamagedFileError, match=name):
        TableFile(path)


@pytest.mark.parametrize("finished", [None, 0])
def test_a_table_that_was_never_finished_is_incomplete(path, finished):
    with h5py.File(path, "r+") as file:
        del file.attrs["finished"]
        if finished is not None:
            file.attrs["finished"] = finished
    with pytest.raises(IncompleteTableError, match="never finished"):
        TableFile(path)


def test_a_full_disk_has_a_name(walked, tmp_path, monkeypatch):
    values, counts = walked
    partial = PartialTable(tmp_path / "table.h5", header_for(BOARD, LEFT_COLUMNS))
    for ply, planes in values.items():
        partial.write(ply, planes)
    full = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: full)
    with pytest.raises(StorageError, match=r"needs .* bytes, .* has 1,000 free"):
        partial.join(1, counts)
    assert len(partial.finished_plies()) == len(values)  # nothing is lost
