"""Parts of a table: what a build keeps until it is finished comes back, or is found damaged."""

import errno
import pickle
import shutil
from itertools import pairwise

import numpy as np
import pytest
from builds import group_path, tasks_of
from store_cases import BOARD, flip

import tablebase as tb
from retro.errors import ChecksumError, LostGroupError, StorageError
from retro.walk.halves.layer import Group
from retro.walk.halves.task import Stretch
from retro.walk.task import Task
from tablebase.building.partial import InMemory
from tablebase.files.frames import FrameReader, unpack
from tablebase.halves.chunks import ChunkJoiner, pack_chunk, pack_group
from tablebase.halves.format import CHUNK_WORDS

GROUP = Group(3, np.zeros(1, np.int64), np.zeros(1, np.int64), 0, 0)


@pytest.fixture
def tasks(tmp_path):
    """What tasks need, and a folder for their parts."""
    found = tasks_of(tmp_path / "t.h5", BOARD)
    found.partial.open()
    return found


def write(partial, first, last, *, ply=7, content=0):
    """A part of some groups."""
    with partial.write(f"walk-{ply:02d}-{first:05d}-{last:05d}.part") as part:
        part.add(np.full(9, content))
        part.finish({"number": content})


@pytest.mark.parametrize("kind", ["files", "memory"])
def test_the_tasks_that_are_done_cover_no_group_twice(tasks, kind, tmp_path):
    partial = tasks.partial
    if kind == "memory":
        partial = InMemory(tmp_path / "t.h5", partial.header, partial.rule)
    for first, last in ((0, 3), (5, 9), (6, 8), (5, 6), (10, 12)):
        write(partial, first, last)
    write(partial, 3, 5, ply=8)
    assert [task[2:4] for task in partial.done("walk", 7)] == [(0, 3), (5, 9), (10, 12)]
    with pytest.raises(LostGroupError) as lost:
        partial.all_done(Task("walk", 7, 0, 12))
    assert (lost.value.ply, lost.value.number) == (7, 3)
    partial.forget("walk", [7])
    assert partial.done("walk", 7) == []
    assert partial.all_done(Task("walk", 8, 3, 5)) == partial.done("walk", 8)


def test_exchanged_damaged_and_missing_parts_are_lost(tasks):
    partial, done = tasks.partial, [Task("walk", 7, at, at + 1) for at in range(4)]
    for task in done:
        write(partial, task.first, task.last, content=task.first)
    one, other, third, _ = sorted(partial.folder.glob("*.part"))
    one.write_bytes(other.read_bytes())
    flip(third, 3)
    assert len(partial.sweep()) == 2
    assert partial.done("walk", 7) == [done[1], done[3]]
    with pytest.raises(LostGroupError, match="is missing"), partial.read_task(done[0]):
        pass
    with partial.read_task(done[1]) as part:
        assert part.said["number"] == 1
        assert part.array(0, "<i8").tolist() == 9 * [1]


def test_parts_of_other_options_are_thrown_away(tasks, tmp_path):
    write(tasks.partial, 0, 1)
    other = tasks_of(tmp_path / "t.h5", "4x3").partial
    with pytest.raises(ChecksumError, match="another file"):
        other.check("walk-07-00000-00001.part")
    assert "is of another build" in other.open()
    assert other.done("walk", 7) == []


def test_a_full_disk_has_a_name(tmp_path, monkeypatch):
    """Nothing is lost: the same build goes on when there is room."""
    monkeypatch.setattr("tablebase.building.halves.plan.IN_MEMORY_BITS", 0)
    usage = shutil.disk_usage

    def fill(progress):
        if progress.ply == 0:
            full = usage(tmp_path)._replace(free=1000)
            monkeypatch.setattr("shutil.disk_usage", lambda _: full)

    with pytest.raises(StorageError, match=r"needs .* bytes, .* has 1,000 free"):
        tb.build(BOARD, tmp_path / "table.h5", report=fill)
    monkeypatch.setattr("shutil.disk_usage", usage)
    said = []
    tb.build(BOARD, tmp_path / "table.h5", announce=said.append)
    assert "resuming: 13 of 13 plies are finished" in said


@pytest.mark.parametrize("name", ["table.h5.tmp", "table.h5.partial/ply-12.part.0123.tmp"])
def test_leftovers_of_a_dead_build_are_harmless(tmp_path, name):
    tasks_of(tmp_path / "table.h5", BOARD).partial.open()
    (tmp_path / name).write_bytes(b"half a file")
    tb.build(BOARD, tmp_path / "table.h5")
    assert [path.name for path in tmp_path.iterdir()] == ["table.h5"]


def some_words(length):
    """Two planes: noise, and noise with a long stretch of zeros in its middle."""
    words = np.random.default_rng(length).integers(0, 2**63, (2, length)).astype(np.uint64)
    words[1, length // 8 : -length // 8] = 0
    return words


def test_stretches_of_groups_come_back_and_damaged_groups_are_removed(tasks):
    group = GROUP._replace(begin=1000, end=151_000)
    words = some_words(150_000)
    tasks.write_group(7, group, words)
    wanted = [Stretch(1000, 1001, 5), Stretch(33_000, 70_000, 10), Stretch(150_999, 151_000, 0)]
    found = np.zeros((2, 50_000), np.uint64)
    tasks.fetch(7, group, wanted, found)
    expected = np.zeros_like(found)
    for begin, end, place in wanted:
        expected[:, place : place + end - begin] = words[:, begin - 1000 : end - 1000]
    np.testing.assert_array_equal(found, expected)
    path = group_path(tasks, 7, 3)
    flip(path, path.stat().st_size // 3)
    for _ in range(2):  # damaged, then missing
        with pytest.raises(LostGroupError, match=r"is damaged|is missing") as lost:
            tasks.fetch(7, group, [Stretch(1000, 51_000, 0)], found)
        assert not path.exists()
        again = pickle.loads(pickle.dumps(lost.value))
        assert (again.walk, again.ply, again.number) == ("walk", 7, 3)
        assert str(again) == str(lost.value)


@pytest.mark.parametrize("length", [99_999, 100_001, 1, 0])
@pytest.mark.parametrize("planes", [1, 2])
def test_a_group_of_another_length_is_damaged(tasks, planes, length):
    tasks.write_group(7, GROUP._replace(begin=0, end=100_000), some_words(100_000))
    found = np.empty((planes, length), np.uint64)
    group = GROUP._replace(begin=0, end=length)
    with pytest.raises(LostGroupError, match=r"is damaged|is missing"):
        tasks.fetch(7, group, [Stretch(0, length, 0)], found)


@pytest.mark.parametrize("length", [0, 1, 32_768, 32_769])
def test_every_byte_of_a_group_is_guarded(tasks, length):
    group, words = GROUP._replace(begin=0, end=length), some_words(length)[:, :length]
    path, found = group_path(tasks, 7, 3), np.empty((2, length), np.uint64)
    tasks.write_group(7, group, words)
    size = path.stat().st_size
    for place in {*range(0, size, max(1, size // 40)), *range(max(0, size - 20), size)}:
        tasks.write_group(7, group, words)
        flip(path, place)
        with pytest.raises(LostGroupError):
            tasks.fetch(7, group, [Stretch(0, length, 0)], found)


@pytest.mark.parametrize(
    ("error", "named"),
    [(MemoryError("no room"), MemoryError), (OSError(errno.EMFILE, "too many"), StorageError)],
)
def test_a_group_that_cannot_be_read_now_is_not_damaged(tasks, monkeypatch, error, named):
    def fail(*_):
        raise error

    words = some_words(1000)
    tasks.write_group(7, GROUP._replace(end=1000), words)
    wanted = (7, GROUP._replace(end=1000), [Stretch(0, 1000, 0)])
    found = np.empty_like(words)
    with monkeypatch.context() as patch:
        patch.setattr(FrameReader, "fill_some", fail)
        with pytest.raises(named):
            tasks.fetch(*wanted, found)
    tasks.fetch(*wanted, found)
    np.testing.assert_array_equal(found, words)


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
                np.testing.assert_array_equal(
                    unpack(frame, np.empty(length, "<u8"))[: len(plane)], plane
                )
