"""Parts of a table: what a build keeps until it is finished comes back, or is found damaged."""

import errno
import io
import pickle
import shutil
from itertools import pairwise

import numpy as np
import pytest
from store_cases import BOARD, HEADER, WORDS, flip, read_everything

from retro.errors import ChecksumError, DamagedFileError, LostGroupError, StorageError
from retro.walk.halves.layer import Group
from retro.walk.halves.task import Stretch
from tablebase.files.packing import (
    ChunkJoiner,
    FramedReader,
    pack_chunk,
    pack_group,
    unpack,
    write_framed,
)
from tablebase.halves.format import CHUNK_WORDS, PlyRecord, plane_digest
from tablebase.halves.partial import PartialTable
from tablebase.halves.plan import estimate_build

GROUP = Group(3, np.zeros(1, np.int64), np.zeros(1, np.int64), 0, 0)


def write_parts(partial, plies=HEADER.counted_plies):
    """Parts of the right length with one position that is won, and values that tell them apart."""
    partial.open()
    for ply in plies:
        words = int(WORDS[ply])
        planes = np.zeros((2, words), np.uint64)
        planes[0, :1] = 1 << ply
        chunks = [pack_chunk(0, planes, words)] if words else []
        record = PlyRecord(ply, 1, 1, 0, 0, 0, plane_digest(chunk.digest for chunk in chunks))
        partial.finish_ply(record.ply, words, chunks, lambda _, found=record: found)


def test_parts_are_listed_from_the_fullest(tmp_path):
    partial = PartialTable(tmp_path / "table.h5", HEADER)
    assert partial.finished_plies() == []
    write_parts(partial, (12, 11, 9))
    assert partial.finished_plies() == [12, 11]  # 9 is no use without 10
    assert partial.check_ply(11).positions == 1
    partial.discard()
    assert partial.finished_plies() == []


def test_parts_of_other_options_are_thrown_away(tmp_path):
    write_parts(PartialTable(tmp_path / "t.h5", HEADER), (12,))
    other = PartialTable(tmp_path / "t.h5", estimate_build(BOARD, plies=range(3)).header)
    with pytest.raises(DamagedFileError, match="another part, or of another table"):
        other.check_ply(12)
    other.open()
    assert other.finished_plies() == []


def some_words(length):
    """Two planes: noise, and noise with a long stretch of zeros in its middle."""
    words = np.random.default_rng(length).integers(0, 2**63, (2, length)).astype(np.uint64)
    words[1, length // 8 : -length // 8] = 0
    return words


def test_stretches_of_groups_come_back_and_damaged_groups_are_removed(tmp_path):
    partial = PartialTable(tmp_path / "t.h5", HEADER)
    partial.open()
    group = GROUP._replace(begin=1000, end=151_000)
    words = some_words(150_000)
    partial.write_group(7, group, words)
    wanted = [Stretch(1000, 1001, 5), Stretch(33_000, 70_000, 10), Stretch(150_999, 151_000, 0)]
    found = np.zeros((2, 50_000), np.uint64)
    partial.fetch(7, group, wanted, found)
    expected = np.zeros_like(found)
    for begin, end, place in wanted:
        expected[:, place : place + end - begin] = words[:, begin - 1000 : end - 1000]
    np.testing.assert_array_equal(found, expected)
    path = partial.group(7, 3)
    flip(path, path.stat().st_size // 3)
    for _ in range(2):  # damaged, then missing
        with pytest.raises(LostGroupError, match="is damaged") as lost:
            partial.fetch(7, group, [Stretch(1000, 51_000, 0)], found)
        assert not path.exists()
        again = pickle.loads(pickle.dumps(lost.value))
        assert (again.walk, again.ply, again.number) == ("walk", 7, 3)
        assert str(again) == str(lost.value)


@pytest.mark.parametrize("length", [99_999, 100_001, 1, 0])
@pytest.mark.parametrize("planes", [1, 2])
def test_a_group_of_another_length_is_damaged(tmp_path, planes, length):
    partial = PartialTable(tmp_path / "t.h5", HEADER)
    partial.open()
    partial.write_group(7, GROUP._replace(begin=0, end=100_000), some_words(100_000))
    found = np.empty((planes, length), np.uint64)
    group = GROUP._replace(begin=0, end=length)
    with pytest.raises(LostGroupError, match="is damaged"):
        partial.fetch(7, group, [Stretch(0, length, 0)], found)


@pytest.mark.parametrize("length", [0, 1, 32_768, 32_769])
def test_every_byte_of_a_group_is_guarded(tmp_path, length):
    partial = PartialTable(tmp_path / "t.h5", HEADER)
    partial.open()
    group, words = GROUP._replace(begin=0, end=length), some_words(length)[:, :length]
    path, found = partial.group(7, 3), np.empty((2, length), np.uint64)
    partial.write_group(7, group, words)
    size = path.stat().st_size
    for place in {*range(0, size, max(1, size // 40)), *range(max(0, size - 20), size)}:
        partial.write_group(7, group, words)
        flip(path, place)
        with pytest.raises(LostGroupError):
            partial.fetch(7, group, [Stretch(0, length, 0)], found)


@pytest.mark.parametrize(
    ("error", "named"),
    [(MemoryError("no room"), MemoryError), (OSError(errno.EMFILE, "too many"), StorageError)],
)
def test_a_group_that_cannot_be_read_now_is_not_damaged(tmp_path, monkeypatch, error, named):
    def fail(*_):
        raise error

    partial = PartialTable(tmp_path / "t.h5", HEADER)
    partial.open()
    words = some_words(1000)
    partial.write_group(7, GROUP._replace(end=1000), words)
    wanted = (7, GROUP._replace(end=1000), [Stretch(0, 1000, 0)])
    found = np.empty_like(words)
    with monkeypatch.context() as patch:
        patch.setattr(FramedReader, "fill", fail)
        with pytest.raises(named):
            partial.fetch(*wanted, found)
    partial.fetch(*wanted, found)
    np.testing.assert_array_equal(found, words)


@pytest.mark.parametrize("name", ["table.h5.tmp", "table.h5.partial/ply-12.part.0123.tmp"])
def test_leftovers_of_a_dead_build_are_harmless(tmp_path, name):
    partial = PartialTable(tmp_path / "table.h5", HEADER)
    partial.open()
    (tmp_path / name).write_bytes(b"half a file")
    assert partial.finished_plies() == []
    write_parts(partial)
    partial.join(int(WORDS.sum()))
    assert [path.name for path in tmp_path.iterdir()] == ["table.h5"]
    assert read_everything(tmp_path / "table.h5")[1] == 1


@pytest.mark.parametrize("words", [1, 5, CHUNK_WORDS - 1, CHUNK_WORDS, 3 * CHUNK_WORDS + 7])
@pytest.mark.parametrize("cuts", [[], [3], [CHUNK_WORDS], [10, CHUNK_WORDS + 1, CHUNK_WORDS + 2]])
def test_groups_of_any_size_make_the_same_chunks(words, cuts):
    rng = np.random.default_rng(1)
    planes = rng.integers(0, 2**63, (2, words), np.uint64)
    planes[1, :CHUNK_WORDS] = 0
    pieces = [0, *(cut for cut in cuts if cut < words), words]
    chunks, joiner, length = [], ChunkJoiner(words), min(words, CHUNK_WORDS)
    for begin, end in list(pairwise(pieces))[::-1]:
        whole, rest = pack_group(begin, planes[:, begin:end])
        chunks += [*whole, *(pack_chunk(*chunk, length) for chunk in joiner.add(rest))]
    expected = [
        pack_chunk(i, planes[:, i * CHUNK_WORDS : (i + 1) * CHUNK_WORDS], length)
        for i in range(-(-words // CHUNK_WORDS))
    ]
    assert sorted(chunks) == expected
    assert [chunk.number for chunk in expected] == list(range(-(-words // CHUNK_WORDS)))
    for chunk in expected:
        here = planes[:, chunk.number * CHUNK_WORDS : (chunk.number + 1) * CHUNK_WORDS]
        for frame, plane in zip(chunk.frames, here, strict=True):
            assert bool(frame) == plane.any()
            if frame:
                np.testing.assert_array_equal(unpack(frame, "frame")[: len(plane)], plane)


def test_a_full_disk_has_a_name(tmp_path, monkeypatch):
    partial = PartialTable(tmp_path / "table.h5", HEADER)
    write_parts(partial)
    full = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: full)
    with pytest.raises(StorageError, match=r"needs .* bytes, .* has 1,000 free"):
        partial.join(int(WORDS.sum()))
    assert len(partial.finished_plies()) == len(HEADER.counted_plies)  # nothing is lost


@pytest.mark.parametrize("length", [1, 100_000])
def test_a_group_that_a_power_cut_has_torn_is_damaged(length):
    """Words and then zeros, or nothing: no such file is taken for whole."""
    words = np.random.default_rng(1).integers(0, 99, (2, length)).astype(np.uint64)
    file = io.BytesIO()
    write_framed(file, words, "a")
    whole, found = file.getvalue(), np.empty_like(words)
    for cut in np.random.default_rng(2).integers(0, len(whole), 50).tolist():
        for torn in (whole[:cut], whole[:cut] + bytes(len(whole) - cut), whole + b"\0"):
            if torn != whole:
                with pytest.raises(ChecksumError):
                    read_all(io.BytesIO(torn), found)
    read_all(io.BytesIO(whole), found)
    np.testing.assert_array_equal(found, words)
    with pytest.raises(ChecksumError):
        read_all(io.BytesIO(whole), found, "b")


def read_all(file, planes, name="a"):
    reader = FramedReader(file, planes.shape, "a group", name)
    for number, plane in enumerate(planes):
        reader.fill(number, [(0, len(plane), 0)], plane)
