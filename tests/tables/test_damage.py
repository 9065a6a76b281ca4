"""Damaged table files: each kind of damage has its own name, and none gives a wrong answer."""

import contextlib
import re

import h5py
import numpy as np
import pytest
from store_cases import BOARD, flip, read_everything

from retro.errors import (
    ChecksumError,
    DamagedFileError,
    FormatVersionError,
    IncompleteTableError,
    MissingTableError,
    TablebaseError,
)
from tablebase.halves.store import TableFile


def chunks(path):
    """(ply, plane, offset, size) of every stretch of compressed data in a file."""
    with h5py.File(path) as file:
        for group in file:
            for plane in ("win", "loss"):
                dataset = file[group][plane].id
                for i in range(dataset.get_num_chunks()):
                    info = dataset.get_chunk_info(i)
                    yield int(group[-2:]), plane, info.byte_offset, info.size


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
    """Or does no harm: a few bits of a zstd frame mean nothing."""
    whole = path.read_bytes()
    found = list(chunks(path))
    assert len(found) > BOARD.cells  # chunks of zeros are left out
    harmless = 0
    for ply, _, offset, size in found:
        path.write_bytes(whole)
        with TableFile(path) as table:
            expected = table.read(ply)
        flip(path, offset + size // 2)
        with TableFile(path) as table, contextlib.suppress(ChecksumError):
            np.testing.assert_array_equal(table.read(ply), expected)
            harmless += 1
    assert harmless < len(found) / 4


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


@pytest.mark.parametrize(
    ("name", "value"), [("value", 0), ("left_columns", 1), ("connect", 4), ("mirror", 0)]
)
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
    with pytest.raises(DamagedFileError, match=r"ply-05/loss has shape"):
        TableFile(path)


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
        ("format_version", 4, "format version 4; this program reads versions 2 and 3"),
        ("format_version", 3, "format version 3 and says distances 0"),
        ("format_version", 1, "format version 1; .* reads versions 2 and 3; build the table again"),
        ("game", "gomoku", "game 'gomoku'"),
        ("index", "hashed", "index 'hashed'"),
        ("metric", "dtw", "metric 'dtw'"),
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
