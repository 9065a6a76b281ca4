"""Building: the same bytes however often it is stopped, and a named error for each obstacle.

A build is stopped in two ways: `Stop` is raised from its progress report (as
Ctrl-C would be), or its process kills itself with SIGKILL at a chosen point.
"""

import errno
import os
import subprocess
import sys
from pathlib import Path

import h5py
import naive
import pytest

from retro.errors import (
    ChecksumError,
    DamagedFileError,
    DoesNotFitError,
    StorageError,
    WrongBoardError,
)
from retro.games.connect import Board
from retro.index.layout import default_left_columns
from tablebase.build import build_tablebase
from tablebase.estimate import Estimate, available_memory, estimate_build, require_fit
from tablebase.format import header_for
from tablebase.places import build_command, table_path
from tablebase.store import PartialTable, TableFile

BOARD = Board(5, 4)
ROOT = Path(__file__).parents[1]


class Stop(Exception):
    """Stops a build from its progress report."""


def stop_at(phase, ply):
    def report(progress):
        if (progress.phase, progress.ply) == (phase, ply):
            raise Stop

    return report


def stopped(path, phase, ply):
    """The parts that a build leaves behind which was stopped there."""
    with pytest.raises(Stop):
        build_tablebase(BOARD, path, report=stop_at(phase, ply))
    return PartialTable(path, header_for(BOARD, default_left_columns(BOARD)))


def flip_a_byte(path):
    """Damage the compressed values of a part."""
    with h5py.File(path) as file:
        (group,) = file.values()
        info = group["win"].id.get_chunk_info(0)
    content = bytearray(path.read_bytes())
    content[info.byte_offset + info.size // 2] ^= 1
    path.write_bytes(content)


def content(path):
    with TableFile(path) as table:
        return table.digest, [table.read_checked(ply).tobytes() for ply in table.header.plies]


def assert_same_table(path, undisturbed):
    """Equal digest, counts and values; and nothing but the table is left in the folder."""
    with TableFile(path) as table:
        assert table.records == undisturbed.records
    assert content(path) == content(undisturbed.path)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "game", [naive.Game(*g) for g in [(3, 3, 3), (4, 3, 3), (2, 2, 2), (1, 5, 3), (3, 3, 2)]]
)
def test_a_built_table_has_the_counts_and_the_value_of_naive(game, tmp_path):
    result = build_tablebase(Board(*game), tmp_path / "table.h5")
    counts = [(r.ply, r.positions, r.win, r.draw, r.loss, r.terminal) for r in result.records]
    assert counts == [tuple(c) for c in naive.counts(game)]
    assert result.value == naive.values(game)[naive.empty(game)]
    assert result.size == result.path.stat().st_size
    assert not result.was_there


def test_a_second_build_finds_that_there_is_nothing_to_do(tmp_path):
    path = tmp_path / "deep" / "folder" / "table.h5"
    first = build_tablebase(Board(4, 3), path)
    before = path.stat()
    second = build_tablebase(Board(4, 3), path)
    assert (first.was_there, second.was_there) == (False, True)
    assert second.records == first.records
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_force_builds_again_the_same_table(built_5x4, tmp_path):
    path = tmp_path / "table.h5"
    path.write_bytes(b"an old file in the way")
    result = build_tablebase(BOARD, path, force=True)
    assert not result.was_there
    assert_same_table(path, built_5x4)


def test_force_does_not_trust_old_parts(built_5x4, tmp_path):
    path = tmp_path / "table.h5"
    resumed = []
    stopped(path, "walk", 8)
    build_tablebase(BOARD, path, force=True, report=lambda p: resumed.append(p.resumed))
    assert set(resumed) == {0}
    assert_same_table(path, built_5x4)


def test_the_number_of_threads_does_not_change_the_table(built_5x4, tmp_path):
    for threads in (1, 3):
        path = tmp_path / str(threads) / "table.h5"
        build_tablebase(BOARD, path, threads=threads)
        assert_same_table(path, built_5x4)


def test_another_table_in_the_way_is_refused(built_4x4):
    with pytest.raises(WrongBoardError, match="holds connect4-4x4, not connect4-5x4"):
        build_tablebase(BOARD, built_4x4.path)


def test_a_damaged_table_in_the_way_is_refused(tmp_path):
    path = tmp_path / "table.h5"
    path.write_bytes(b"no table")
    with pytest.raises(DamagedFileError, match="no table"):
        build_tablebase(BOARD, path)


def test_by_default_a_table_goes_to_the_folder_of_tables(tmp_path, monkeypatch):
    monkeypatch.setenv("TABLEBASE_DIR", str(tmp_path / "shelf"))
    result = build_tablebase(Board(3, 2, 3))
    assert result.path == table_path(Board(3, 2, 3)) == tmp_path / "shelf" / "connect3-3x2.h5"
    assert result.path.exists()


def test_progress_counts_up_to_the_whole_of_each_phase(tmp_path):
    seen = []
    build_tablebase(BOARD, tmp_path / "table.h5", report=seen.append)
    walk = [p for p in seen if p.phase == "walk"]
    count = [p for p in seen if p.phase == "count"]
    assert [p.ply for p in walk] == list(range(20, -1, -1))
    assert [p.ply for p in count] == list(range(21))
    for phase in (walk, count):
        assert [p.done for p in phase] == sorted(p.done for p in phase)
        assert phase[-1].done == phase[-1].total


@pytest.mark.parametrize(
    ("phase", "ply", "parts"),
    [("walk", 20, 1), ("walk", 7, 14), ("walk", 0, 21), ("count", 0, 21), ("count", 20, 21)],
)
def test_a_stopped_build_goes_on_where_it_stopped(built_5x4, tmp_path, phase, ply, parts):
    path = tmp_path / "table.h5"
    partial = stopped(path, phase, ply)
    assert len(partial.finished_plies()) == parts
    walked = []
    build_tablebase(BOARD, path, report=lambda p: p.phase == "walk" and walked.append(p.ply))
    assert walked == list(range(20 - parts, -1, -1))
    assert_same_table(path, built_5x4)


KILL = """
import os, signal
from pathlib import Path
from retro.games.connect import Board
from tablebase.build import build_tablebase

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def die_at_call(module, name, number):
    original, calls = getattr(module, name), []
    def wrapped(*arguments, **options):
        calls.append(1)
        return die() if len(calls) == number else original(*arguments, **options)
    setattr(module, name, wrapped)

report = lambda progress: None
{when}
build_tablebase(Board(5, 4), Path({path!r}), report=report)
"""

# A ply is one write: fsync of the file, rename, fsync of the folder.
KILLS = {
    "after walking ply 11": 'report = lambda p: p.ply == 11 and p.phase == "walk" and die()',
    "while counting": 'report = lambda p: p.ply == 9 and p.phase == "count" and die()',
    "before a part is synced": 'die_at_call(os, "fsync", 2 * 8 + 1)',
    "before a part is renamed": 'die_at_call(os, "replace", 6)',
    "before the joined table is renamed": 'die_at_call(os, "replace", 22)',
}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("when", KILLS)
def test_a_killed_build_goes_on_to_the_same_table(built_5x4, tmp_path, when):
    path = tmp_path / "table.h5"
    code = KILL.format(when=KILLS[when], path=str(path))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    died = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, check=False)
    assert died.returncode == -9
    assert not path.exists()
    left_behind = len(list(tmp_path.glob("table.h5.partial/ply-??.h5")))
    assert left_behind > 0
    resumed = set()
    build_tablebase(BOARD, path, report=lambda p: p.phase == "walk" and resumed.add(p.resumed))
    assert 0 not in resumed
    assert_same_table(path, built_5x4)


def test_a_damaged_last_part_is_dropped_and_made_again(built_5x4, tmp_path):
    path = tmp_path / "table.h5"
    partial = stopped(path, "walk", 9)
    flip_a_byte(partial.part(9))
    partial.part(10).write_bytes(partial.part(10).read_bytes()[:1000])
    walked = []
    build_tablebase(BOARD, path, report=lambda p: p.phase == "walk" and walked.append(p.ply))
    assert walked == list(range(10, -1, -1))
    assert_same_table(path, built_5x4)


def test_a_damaged_middle_part_is_found_when_counting_and_mended_by_a_second_run(
    built_5x4, tmp_path
):
    path = tmp_path / "table.h5"
    flip_a_byte(stopped(path, "walk", 9).part(14))
    with pytest.raises(ChecksumError, match="run the same command again to mend it"):
        build_tablebase(BOARD, path)
    assert not path.exists()
    build_tablebase(BOARD, path)
    assert_same_table(path, built_5x4)


def test_a_truncated_middle_part_is_found_when_counting_and_mended_by_a_second_run(
    built_5x4, tmp_path
):
    path = tmp_path / "table.h5"
    part = stopped(path, "walk", 9).part(14)
    part.write_bytes(part.read_bytes()[:1000])
    with pytest.raises(DamagedFileError, match="run the same command again to mend it"):
        build_tablebase(BOARD, path)
    build_tablebase(BOARD, path)
    assert_same_table(path, built_5x4)


def test_a_build_that_dies_after_the_rename_leaves_no_parts_behind_for_ever(
    built_5x4, tmp_path, monkeypatch
):
    def die(partial):
        raise Stop

    path = tmp_path / "table.h5"
    with monkeypatch.context() as patch:
        patch.setattr(PartialTable, "discard", die)
        with pytest.raises(Stop):
            build_tablebase(BOARD, path)
    assert build_tablebase(BOARD, path).was_there
    assert_same_table(path, built_5x4)


@pytest.mark.parametrize("call", [1, 20])
def test_a_full_disk_is_named_and_the_build_goes_on_later(built_5x4, tmp_path, monkeypatch, call):
    path, calls = tmp_path / "table.h5", []
    fsync = os.fsync

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) == call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(StorageError, match="No space left on device; free some space"):
            build_tablebase(BOARD, path)
    assert not path.exists()
    assert not list(tmp_path.rglob("*.tmp"))
    build_tablebase(BOARD, path)
    assert_same_table(path, built_5x4)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageError, match="cannot write"):
        build_tablebase(Board(3, 3), tmp_path / "file" / "table.h5")


def test_two_builders_of_one_table_do_not_meet(tmp_path):
    path = tmp_path / "table.h5"

    def build_again(progress):
        if progress.ply == 3:
            build_tablebase(Board(3, 3), path)

    with pytest.raises(StorageError, match="another process is building"):
        build_tablebase(Board(3, 3), path, report=build_again)
    assert not build_tablebase(Board(3, 3), path).was_there


def test_a_build_that_does_not_fit_in_memory_is_refused_before_it_starts(tmp_path, monkeypatch):
    monkeypatch.setattr("tablebase.estimate.available_memory", lambda: 1_000_000)
    with pytest.raises(DoesNotFitError, match=r"5x4 table needs .* there is 1 MB of free memory"):
        build_tablebase(BOARD, tmp_path / "shelf" / "table.h5")
    assert list(tmp_path.iterdir()) == []


def test_the_largest_boards_are_refused_at_once(tmp_path):
    with pytest.raises(DoesNotFitError, match=r"8x7 table needs .* ranked positions"):
        build_tablebase(Board(8, 7), tmp_path / "table.h5")


def test_a_build_that_does_not_fit_on_the_disk_is_refused(tmp_path):
    too_much = Estimate("5x4", 4, 1, 1.0, memory=1, disk=2**60, disk_while_building=2**61)
    with pytest.raises(DoesNotFitError, match=f"{tmp_path}/new has .* free"):
        require_fit(too_much, tmp_path / "new")


def test_estimated_sizes_are_near_what_a_build_takes(built_5x5):
    estimate = estimate_build(Board(5, 5))
    assert estimate.ranked == 108_705_109  # as published in the design
    assert built_5x5.size / 3 < estimate.disk < built_5x5.size * 3
    with TableFile(built_5x5.path) as table:
        largest_layer = max(table.read(ply).nbytes for ply in table.header.plies)
    assert 2 * largest_layer < estimate.memory < 1_000_000_000


def test_the_system_says_how_much_memory_there_is():
    memory = available_memory()
    assert memory is None or memory > 1_000_000


@pytest.mark.parametrize(
    ("board", "command"),
    [
        (Board(5, 4), "build-tablebase 5x4"),
        (Board(4, 3, 3), "build-tablebase 4x3 --connect 3"),
    ],
)
def test_the_command_that_builds_a_table_is_known(board, command):
    assert build_command(board) == command
