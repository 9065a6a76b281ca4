"""Building: the same bytes however often it is stopped, and a named error for each obstacle.

A build is stopped in two ways: `Stop` is raised from its progress report (as
Ctrl-C would be), or its process kills itself with SIGKILL at a chosen point.
"""

import errno
import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import naive
import numpy as np
import pytest

from retro.errors import (
    BadTextError,
    ChecksumError,
    DamagedFileError,
    DoesNotFitError,
    NotCoveredError,
    StorageError,
    WrongBoardError,
)
from retro.games.connect import Board
from retro.index.layout import make_layout, ranked_positions
from retro.walk.layer import group_strips, layer_groups
from tablebase.build import build_tablebase
from tablebase.estimate import available_memory, estimate_build, require_fit
from tablebase.places import build_command, table_path
from tablebase.probe import open_tablebase
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
    return PartialTable(path, estimate_build(BOARD).header)


def flip_a_byte(path):
    """Damage a file in its middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
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
    mark = [p for p in seen if p.phase == "mark"]
    assert [p.ply for p in walk] == list(range(20, -1, -1))
    assert [p.ply for p in mark] == list(range(21))
    for phase in (walk, mark):
        assert [p.done for p in phase] == sorted(p.done for p in phase)
        assert phase[-1].done == phase[-1].total


@pytest.mark.parametrize(
    ("phase", "ply", "parts"),
    [("mark", 0, 0), ("mark", 20, 0), ("walk", 20, 1), ("walk", 7, 14), ("walk", 0, 21)],
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
from retro.index.layout import make_layout, ranked_positions
from retro.walk.layer import group_strips, layer_groups
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

# Parts and groups are renamed only; the table is synced before it is renamed, its folder after.
KILLS = {
    "in the forward walk": 'report = lambda p: p.ply == 9 and p.phase == "mark" and die()',
    "after walking ply 11": 'report = lambda p: p.ply == 11 and p.phase == "walk" and die()',
    "before the table is synced": 'die_at_call(os, "fsync", 1)',
    "before a group is renamed": 'die_at_call(os, "replace", 30)',
    "in the middle of a ply": (
        "from tablebase.keeper import PlyMaker; die_at_call(PlyMaker, 'finish', 20)"
    ),
    "before the table is joined": (
        "from tablebase.store import PartialTable; die_at_call(PartialTable, 'join', 1)"
    ),
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
    assert len(list(tmp_path.glob("table.h5.partial/*.*"))) > 1
    reports = []
    build_tablebase(BOARD, path, report=reports.append)
    assert not reports or reports[0].resumed > 0
    assert_same_table(path, built_5x4)


@pytest.mark.parametrize("ply", [9, 14])
@pytest.mark.parametrize("damage", [flip_a_byte, lambda path: path.write_bytes(b"")])
def test_a_damaged_part_is_found_and_the_build_begins_again(built_5x4, tmp_path, ply, damage):
    path = tmp_path / "table.h5"
    damage(stopped(path, "walk", 9).part(ply))
    build_tablebase(BOARD, path)
    assert_same_table(path, built_5x4)


@pytest.mark.parametrize(("walk", "ply"), [("walk", 9), ("alive", 5)])
@pytest.mark.parametrize("damage", [flip_a_byte, lambda path: path.write_bytes(b"")])
def test_a_damaged_group_is_named_and_mended_by_a_second_run(
    built_5x4, tmp_path, walk, ply, damage
):
    path = tmp_path / "table.h5"
    damage(stopped(path, "walk", 9).group(walk, ply, 0))
    with pytest.raises(ChecksumError, match="run the same command again to mend it"):
        build_tablebase(BOARD, path)
    assert not path.exists()
    build_tablebase(BOARD, path)
    assert_same_table(path, built_5x4)


def test_a_build_in_little_memory_makes_the_same_table(built_5x5, tmp_path, monkeypatch):
    monkeypatch.setattr("tablebase.estimate.GROUP_WORDS", (64, 1024))
    monkeypatch.setattr("retro.walk.layer.GROUP_WORDS", (64, 1024))
    path = tmp_path / "table.h5"
    whole = estimate_build(Board(5, 5)).memory
    little = estimate_build(Board(5, 5), memory=whole - 3_000_000)
    layers = max(little.layout.layer_words) * 16
    assert little.layer_memory < layers
    build_tablebase(Board(5, 5), path, memory=whole - 3_000_000)
    assert_same_table(path, built_5x5)


def test_groups_taken_in_strips_make_the_same_table(built_5x4, tmp_path, monkeypatch):
    """Strips of a few rows, whatever a group holds: as on boards whose blocks are giants."""
    monkeypatch.setattr("retro.walk.layer.GROUP_WORDS", (64, 5))
    path = tmp_path / "table.h5"
    layout = estimate_build(BOARD).layout
    strips = [group_strips(layout, group) for group in layer_groups(layout, 12)]
    assert max(map(len, strips)) > 2
    build_tablebase(BOARD, path)
    assert_same_table(path, built_5x4)


@pytest.mark.parametrize("most", [1, 3, 40, 1000])
def test_strips_are_whole_rows_of_a_group(monkeypatch, most):
    layout = estimate_build(Board(5, 5)).layout
    shape = layout.shape
    groups = layer_groups(layout, 15)
    monkeypatch.setattr("retro.walk.layer.GROUP_WORDS", (1, most))
    longest_row = int(shape.row_words.max())
    for group in groups:
        strips = group_strips(layout, group)
        assert [group.begin, *(end for _, end in strips)] == [
            *(begin for begin, _ in strips),
            group.end,
        ]
        rows = {group.end}
        for left, right in zip(group.left, group.right, strict=True):
            for q, (begin, end) in enumerate(pairwise(shape.offset[left, right].tolist())):
                if begin < end:
                    rows |= set(range(begin, end, int(shape.row_words[left, 8 - q])))
        assert all(end in rows for _, end in strips)
        if len(strips) > 1:
            assert max(end - begin for begin, end in strips) <= max(most, longest_row)


def test_less_memory_than_the_least_is_refused(tmp_path):
    with pytest.raises(DoesNotFitError, match=r"5x5 table needs at least .* but may take 100 MB"):
        build_tablebase(Board(5, 5), tmp_path / "table.h5", memory=100_000_000)


@pytest.mark.parametrize("plies", [range(21), range(7), range(4, 12), range(20, 21), range(1)])
def test_some_plies_have_the_values_of_the_whole_table(built_5x4, tmp_path, plies):
    path = tmp_path / "table.h5"
    result = build_tablebase(BOARD, path, plies=plies)
    assert result.value == built_5x4.value
    with open_tablebase(path) as some, open_tablebase(built_5x4.path) as whole:
        for ply in {plies[0], plies[-1]}:
            for first, second, values in whole.layer_arrays(ply):
                np.testing.assert_array_equal(some.probe_many(first, second), values)
        outside = [ply for ply in (0, 10, 19) if ply not in plies]
        refused = f"holds plies {plies[0]} to {plies[-1]}, not"
        for ply in outside:
            with pytest.raises(NotCoveredError, match=refused):
                some.probe_wdl(whole.random_position(np.random.default_rng(1), ply))
    if len(plies) < 21:
        with pytest.raises(WrongBoardError, match=r"holds plies .*, not 0\.\.20"):
            build_tablebase(BOARD, path)


@pytest.mark.parametrize("plies", [range(22), range(-1, 3), range(5, 5), range(9, 4)])
def test_plies_that_the_board_does_not_have_are_refused(tmp_path, plies):
    with pytest.raises(BadTextError, match=r"wanted some of 0\.\.20"):
        build_tablebase(BOARD, tmp_path / "table.h5", plies=plies)


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


@pytest.mark.parametrize("call", [1, 2, 20, 60])
def test_a_full_disk_is_named_and_the_build_goes_on_later(built_5x4, tmp_path, monkeypatch, call):
    path, calls = tmp_path / "table.h5", []
    replace = os.replace

    def full(*paths):
        calls.append(paths)
        if len(calls) == call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(*paths)

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", full)
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
    too_much = replace(estimate_build(BOARD), disk=2**60, disk_while_building=2**61)
    with pytest.raises(DoesNotFitError, match=f"{tmp_path}/new has .* free"):
        require_fit(too_much, tmp_path / "new")


def test_estimated_sizes_are_near_what_a_build_takes(built_5x5):
    estimate = estimate_build(Board(5, 5))
    ranked = ranked_positions(make_layout(Board(5, 5)))
    assert estimate.ranked == ranked.sum()
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
