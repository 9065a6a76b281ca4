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

import numpy as np
import pytest
from builds import build_tablebase, result_of, run_plan
from plain import connect4 as naive

import tablebase as tb
from retro.errors import (
    BadTextError,
    ChecksumError,
    DoesNotFitError,
    NotCoveredError,
    StorageError,
    WrongBoardError,
)
from retro.games.connect4.rules import Connect4Board
from retro.index.halves.layout import make_layout, ranked_positions
from retro.walk.halves.layer import is_strip, layer_groups
from retro.walk.halves.prepared import prepare
from tablebase.halves.memory import BASE
from tablebase.halves.partial import PartialTable
from tablebase.halves.plan import estimate_build
from tablebase.halves.store import TableFile
from tablebase.tables import open_tablebase

BOARD = Connect4Board(5, 4)
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def in_files(monkeypatch):
    """Builds of this module keep their groups in files, as those of large boards do."""
    monkeypatch.setattr("tablebase.halves.plan.IN_MEMORY_BITS", 0)


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
        assert table.records == result_of(undisturbed.path).records
    assert content(path) == content(undisturbed.path)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "game", [naive.Game(*g) for g in [(3, 3, 3), (4, 3, 3), (2, 2, 2), (1, 5, 3), (3, 3, 2)]]
)
def test_a_built_table_has_the_counts_and_the_value_of_naive(game, tmp_path):
    result = build_tablebase(Connect4Board(*game), tmp_path / "table.h5")
    counts = [(r.ply, r.positions, r.win, r.draw, r.loss, r.terminal) for r in result.records]
    assert counts == [tuple(c) for c in naive.counts(game)]
    assert result.value == naive.values(game)[naive.empty(game)]
    assert result.size == result.path.stat().st_size
    assert not result.was_there


def test_a_second_build_finds_that_there_is_nothing_to_do(tmp_path):
    path = tmp_path / "deep" / "folder" / "table.h5"
    first = build_tablebase(Connect4Board(4, 3), path)
    before = path.stat()
    second = build_tablebase(Connect4Board(4, 3), path)
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
    stopped(path, "backward", 8)
    build_tablebase(BOARD, path, force=True, report=lambda p: resumed.append(p.resumed))
    assert set(resumed) == {0}
    assert_same_table(path, built_5x4)


def test_the_number_of_threads_does_not_change_the_table(built_5x4, tmp_path):
    for threads in (1, 3):
        path = tmp_path / str(threads) / "table.h5"
        build_tablebase(BOARD, path, threads=threads)
        assert_same_table(path, built_5x4)


def test_progress_counts_up_to_the_whole_of_each_phase(tmp_path):
    seen = []
    build_tablebase(BOARD, tmp_path / "table.h5", report=seen.append)
    walk = [p for p in seen if p.phase == "backward"]
    mark = [p for p in seen if p.phase == "forward"]
    assert [p.ply for p in walk] == list(range(20, -1, -1))
    assert [p.ply for p in mark] == list(range(21))
    for phase in (walk, mark):
        assert [p.done for p in phase] == sorted(p.done for p in phase)
        assert phase[-1].done == phase[-1].total


@pytest.mark.parametrize(
    ("phase", "ply", "parts"),
    [
        ("forward", 0, 0),
        ("forward", 20, 0),
        ("backward", 20, 1),
        ("backward", 7, 14),
        ("backward", 0, 21),
    ],
)
def test_a_stopped_build_goes_on_where_it_stopped(built_5x4, tmp_path, phase, ply, parts):
    path = tmp_path / "table.h5"
    partial = stopped(path, phase, ply)
    assert len(partial.finished_plies()) == parts
    walked = []
    build_tablebase(BOARD, path, report=lambda p: p.phase == "backward" and walked.append(p.ply))
    assert walked == list(range(20 - parts, -1, -1))
    assert_same_table(path, built_5x4)


KILL = """
import os, signal
from pathlib import Path
from retro.games.connect4.rules import Connect4Board
from tablebase.halves import plan
from tablebase.builds import build

plan.IN_MEMORY_BITS = 0

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
build(Connect4Board(5, 4), Path({path!r}), report=report)
"""

# Groups are renamed only; parts and the table are synced before they are renamed, folders after.
KILLS = {
    "in the forward walk": 'report = lambda p: p.ply == 9 and p.phase == "forward" and die()',
    "after walking ply 11": 'report = lambda p: p.ply == 11 and p.phase == "backward" and die()',
    "before the table is synced": (
        "from tablebase.files import atomic; synced = atomic.sync; "
        "is_table = lambda p: p.name.startswith('table.h5.') and p.is_file(); "
        "atomic.sync = lambda p: die() if is_table(p) else synced(p)"
    ),
    "before a group is renamed": 'die_at_call(os, "replace", 30)',
    "in the middle of a ply": (
        "from tablebase.halves.partial import PartialTable as P; die_at_call(P, 'commit', 60)"
    ),
    "before the table is joined": (
        "from tablebase.halves.partial import PartialTable as P; die_at_call(P, 'join', 1)"
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
    damage(stopped(path, "backward", 9).part(ply))
    build_tablebase(BOARD, path)
    assert_same_table(path, built_5x4)


DAMAGES = {
    "a byte": flip_a_byte,
    "the end": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "all": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
}


@pytest.fixture
def in_small_groups(monkeypatch):
    monkeypatch.setattr("retro.walk.halves.layer.GROUP_WORDS", (64, 1024))


def with_task_memory(plan, memory):
    """The same plan, with tasks of so many bytes; None: whole layers stay in memory."""
    shifts = {key: shift._replace(task_memory=memory) for key, shift in plan.shifts.items()}
    return replace(plan, shifts=shifts)


@pytest.mark.parametrize("memory", [None, 30_000])
@pytest.mark.parametrize(("walk", "ply"), [("walk", 9), ("alive", 5), ("alive", 8)])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_lost_group_is_made_again_and_the_build_goes_on(
    built_5x4, tmp_path, in_small_groups, walk, ply, damage, memory
):
    path = tmp_path / "table.h5"
    partial = stopped(path, "backward", 9)
    groups = sorted(partial.folder.glob(f"{walk}-{ply:02d}-*.zst"))
    for group in {groups[0], groups[-1]}:
        DAMAGES[damage](group)
    run_plan(with_task_memory(estimate_build(BOARD), memory), path)
    assert_same_table(path, built_5x4)


def test_groups_lost_in_both_layers_are_made_again_from_further_up(
    built_5x4, tmp_path, in_small_groups
):
    path = tmp_path / "table.h5"
    partial = stopped(path, "backward", 9)
    for walk, plies in (("walk", (9, 10)), ("alive", (3, 4, 5, 8))):
        partial.forget_groups(walk, plies)
    run_plan(with_task_memory(estimate_build(BOARD), 30_000), path)
    assert_same_table(path, built_5x4)


def test_a_group_that_is_lost_again_and_again_ends_the_build(tmp_path, monkeypatch):
    def write_nothing(self, walk, ply, group, planes):
        self.group(walk, ply, group.number).write_bytes(b"")

    monkeypatch.setattr(PartialTable, "write_group", write_nothing)
    with pytest.raises(ChecksumError, match="was made again 3 times"):
        run_plan(with_task_memory(estimate_build(BOARD), 30_000), tmp_path / "table.h5")


@pytest.mark.parametrize("memory", [100_000, 10**9])
def test_tasks_of_any_memory_make_the_same_table(built_5x5, tmp_path, in_small_groups, memory):
    path = tmp_path / "table.h5"
    run_plan(with_task_memory(estimate_build(Connect4Board(5, 5)), memory), path)
    assert_same_table(path, built_5x5)


def test_processes_make_the_same_table(built_5x4, tmp_path):
    path = tmp_path / "table.h5"
    result = build_tablebase(BOARD, path, processes=2)
    assert not result.was_there
    assert_same_table(path, built_5x4)


def test_a_lost_group_is_made_again_by_processes(built_5x4, tmp_path):
    path = tmp_path / "table.h5"
    flip_a_byte(stopped(path, "backward", 9).group("walk", 9, 0))
    build_tablebase(BOARD, path, processes=2)
    assert_same_table(path, built_5x4)


def test_a_short_build_keeps_its_groups_in_memory(built_5x4, tmp_path, monkeypatch):
    monkeypatch.setattr("tablebase.halves.plan.IN_MEMORY_BITS", 10**9)
    path, seen = tmp_path / "table.h5", []
    build_tablebase(BOARD, path, report=lambda _: seen.extend(tmp_path.iterdir()))
    assert {entry.name for entry in seen} == {"table.h5.lock"}
    assert_same_table(path, built_5x4)


def test_a_build_that_was_begun_in_files_goes_on_in_files(built_5x4, tmp_path, monkeypatch):
    path, reports = tmp_path / "table.h5", []
    stopped(path, "backward", 9)
    monkeypatch.setattr("tablebase.halves.plan.IN_MEMORY_BITS", 10**9)
    build_tablebase(BOARD, path, report=reports.append)
    assert reports[0].ply == 8
    assert reports[0].resumed > 0
    assert_same_table(path, built_5x4)


@pytest.mark.parametrize("workers", [1, 5])
def test_a_ply_that_other_workers_began_is_gone_on_with(
    built_5x4, tmp_path, in_small_groups, monkeypatch, workers
):
    """Stopped in the middle of a ply, with one set of tasks, and finished with another."""
    path, done = tmp_path / "table.h5", []

    def stop(partial, task, writer, tally, commit=PartialTable.commit):
        if (task.walk, task.ply) == ("walk", 9):
            done.append(task)
            if len(done) > 4:
                raise Stop
        commit(partial, task, writer, tally)

    with monkeypatch.context() as patch:
        patch.setattr(PartialTable, "commit", stop)
        with pytest.raises(Stop):
            build_tablebase(BOARD, path, threads=2)
    partial = PartialTable(path, estimate_build(BOARD).header)
    assert len(partial.committed("walk", 9)) == 4
    build_tablebase(BOARD, path, threads=workers)
    assert_same_table(path, built_5x4)


@pytest.mark.parametrize("in_memory", [0, 10**9])
def test_without_counts_the_values_are_the_same(built_5x4, tmp_path, monkeypatch, in_memory):
    monkeypatch.setattr("tablebase.halves.plan.IN_MEMORY_BITS", in_memory)
    path, phases = tmp_path / "table.h5", set()
    result = build_tablebase(BOARD, path, counts=False, report=lambda p: phases.add(p.phase))
    assert phases == {"backward"}
    assert result.header.counts == 0
    whole = result_of(built_5x4.path)
    assert result.value == whole.value
    assert [r.sha256 for r in result.records] == [r.sha256 for r in whole.records]
    assert [r.positions for r in result.records] == [1] + [0] * 20
    assert tb.verify(path, level="full").positions > 0
    assert build_tablebase(BOARD, path, counts=False).was_there
    with pytest.raises(WrongBoardError, match="was built without counts"):
        build_tablebase(BOARD, path)


@pytest.mark.parametrize("memory", [None, 10_000])
def test_giant_blocks_cut_into_strips_make_the_same_table(built_5x4, tmp_path, monkeypatch, memory):
    """Strips of a few rows: as on boards whose blocks are giants."""
    monkeypatch.setattr("retro.walk.halves.layer.GROUP_WORDS", (16, 64))
    prepared = prepare(BOARD)
    for ply in (16, 19):
        strips = [g for g in prepared.groups(ply) if is_strip(prepared.layout, g)]
        assert len(strips) > 10
        assert any(is_strip(prepared.layout, g) for g in prepared.mirrored("walk", ply))
    path = tmp_path / "table.h5"
    run_plan(with_task_memory(estimate_build(BOARD), memory), path)
    assert_same_table(path, built_5x4)


@pytest.mark.parametrize("most", [1, 3, 40, 1000])
@pytest.mark.parametrize("ply", [15, 24])
def test_groups_are_whole_blocks_or_whole_rows_of_one(monkeypatch, ply, most):
    monkeypatch.setattr("retro.walk.halves.layer.GROUP_WORDS", (1, most))
    layout = make_layout(Connect4Board(5, 5))
    shape, groups = layout.shape, layer_groups(layout, ply)
    ends = [group.end for group in groups]
    assert [0, *ends] == [*(group.begin for group in groups), layout.stored_words[ply]]
    for number, group in enumerate(groups):
        assert group.number == number
        rows = {group.end} if len(group.left) > 1 else set()
        for left, right in zip(group.left, group.right, strict=True):
            offset = shape.offset[left, right].tolist()
            rows.add(offset[-1])
            for q, (begin, end) in enumerate(pairwise(offset)):
                if begin < end:
                    row_words = int(shape.row_words[left, (ply + 1) // 2 - q])
                    rows |= set(range(begin, end, row_words))
        assert {group.begin, group.end} <= rows
        longest_row = int(shape.row_words.max())
        assert group.end - group.begin <= max(2 * most, most + longest_row)


def test_less_memory_than_the_plan_promises_is_refused_at_once(tmp_path):
    least = estimate_build(Connect4Board(5, 5)).least_memory
    with pytest.raises(DoesNotFitError, match="needs at least"):
        build_tablebase(Connect4Board(5, 5), tmp_path / "table.h5", memory=least - 1)
    assert list(tmp_path.iterdir()) == []


PEAK = """
import sys
from dataclasses import replace
from pathlib import Path
from retro.games.connect4.rules import Connect4Board
from tablebase.builds import build
from tablebase.halves.build import run
from tablebase.halves.plan import estimate_build
from tablebase.plans import Order

size, path, memory = sys.argv[1:]
board = Connect4Board(*map(int, size.split("x")))
if int(memory):
    build(board, Path(path), memory=int(memory))
else:
    plan = estimate_build(board)
    shifts = {key: shift._replace(task_memory=10**6) for key, shift in plan.shifts.items()}
    run(replace(plan, shifts=shifts, in_memory=False), Path(path), Order())
status = Path("/proc/self/status").read_text()  # getrusage also counts who started this process
print(1024 * int(status.partition("VmHWM:")[2].split()[0]))
"""


def peak_of(board, path, memory=0):
    """The most memory that a build has in a process of its own; 0: in tasks, of a tiny board."""
    command = [sys.executable, "-c", PEAK, str(board), str(path), str(memory)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return int(ran.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="kilobytes are Linux's")
@pytest.mark.parametrize(
    "board",
    [
        Connect4Board(5, 5),
        pytest.param(Connect4Board(6, 4), marks=pytest.mark.slow),
        pytest.param(Connect4Board(6, 5), marks=pytest.mark.slow),
    ],
)
def test_a_build_keeps_to_the_least_memory_of_its_plan(board, tmp_path, built_5x5):
    """Whatever it has to compile; and beside what any build takes, not more than is planned.

    The first two builds compile the kernels that are not on disk, so the last two only load
    them, and what they take beside that can be compared.
    """
    least = estimate_build(board).least_memory
    assert peak_of(Connect4Board(4, 3), tmp_path / "first.h5") < least
    assert peak_of(board, tmp_path / "table.h5", least) < least
    base = peak_of(Connect4Board(4, 3), tmp_path / "small.h5")
    peak = peak_of(board, tmp_path / "again.h5", least)
    assert peak - base < least - BASE
    if board == Connect4Board(5, 5):
        assert content(tmp_path / "table.h5") == content(built_5x5.path)


@pytest.mark.parametrize("plies", [range(21), range(7), range(4, 12), range(20, 21), range(1)])
def test_some_plies_have_the_values_of_the_whole_table(built_5x4, tmp_path, plies):
    path = tmp_path / "table.h5"
    result = build_tablebase(BOARD, path, plies=plies)
    assert result.value == result_of(built_5x4.path).value
    with open_tablebase(path) as some, open_tablebase(built_5x4.path) as whole:
        for ply in {plies[0], plies[-1]}:
            for states, values in whole.reader.layer(ply):
                np.testing.assert_array_equal(some.probe_many(states), values)
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
        build_tablebase(Connect4Board(3, 3), tmp_path / "file" / "table.h5")


def test_two_builders_of_one_table_do_not_meet(tmp_path):
    path = tmp_path / "table.h5"

    def build_again(progress):
        if progress.ply == 3:
            build_tablebase(Connect4Board(3, 3), path)

    with pytest.raises(StorageError, match="another process is building"):
        build_tablebase(Connect4Board(3, 3), path, report=build_again)
    assert not build_tablebase(Connect4Board(3, 3), path).was_there


def test_estimated_sizes_are_near_what_a_build_takes(built_5x5):
    estimate = estimate_build(Connect4Board(5, 5))
    ranked = ranked_positions(make_layout(Connect4Board(5, 5)))
    assert estimate.ranked == ranked.sum()
    assert result_of(built_5x5.path).size / 3 < estimate.disk < result_of(built_5x5.path).size * 3
    with TableFile(built_5x5.path) as table:
        largest_layer = max(table.read(ply).nbytes for ply in table.header.plies)
    assert 2 * largest_layer < estimate.memory < 1_000_000_000
