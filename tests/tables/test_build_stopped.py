"""Builds that are stopped, or whose parts are damaged: the same bytes however often.

A build is stopped in two ways: `Stop` is raised from its progress report (as
Ctrl-C would be), or its process kills itself with SIGKILL at a chosen point.
"""

import errno
import os
import shutil
import subprocess
import sys

import pytest
from build_cases import (
    ROOT,
    SMALL,
    SMALL_GROUPS,
    Stop,
    assert_same_table,
    flip_a_byte,
    stopped,
)
from builds import build_tablebase, group_path, run_plan, tasks_of, with_task_memory

import tablebase as tb
from retro.errors import StorageError
from tablebase.building.halves.tasks import HalvesTasks
from tablebase.building.partial import Partial, ply_part

pytestmark = pytest.mark.usefixtures("in_files")


@pytest.mark.parametrize(
    ("phase", "ply", "parts"),
    [
        ("backward", 16, 1),
        ("backward", 7, 10),
        ("backward", 0, 17),
    ],
)
def test_a_stopped_build_goes_on_where_it_stopped(built_4x4, tmp_path, phase, ply, parts):
    path = tmp_path / "table.h5"
    partial = stopped(path, phase, ply, SMALL)
    assert len(partial.partial.names("ply-*.part")) == parts
    walked = []
    build_tablebase(SMALL, path, report=lambda p: p.phase == "backward" and walked.append(p.ply))
    assert walked == list(range(16 - parts, -1, -1))
    assert_same_table(path, built_4x4)


KILL = """
import os, signal
from pathlib import Path
from retro.games.connect4.rules import Connect4Board
from retro.walk.halves import layer
from tablebase.building.halves import plan
from tablebase.building.build import build

plan.IN_MEMORY_BITS = 0
layer.GROUP_WORDS = {groups}

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
build(Connect4Board(4, 4), Path({path!r}), report=report)
"""

# Groups are renamed only; parts and the table are synced before they are renamed, folders after.
KILLS = {
    "after walking ply 11": "report = lambda p: p.ply == 11 and die()",
    "before the table is synced": (
        "from tablebase.files import atomic; synced = atomic.sync; "
        "is_table = lambda p: p.name.startswith('table.h5.') and p.is_file(); "
        "atomic.sync = lambda p: die() if is_table(p) else synced(p)"
    ),
    "before a group is renamed": 'die_at_call(os, "replace", 30)',
    "in the middle of a ply": (
        "from tablebase.building.halves.tasks import HalvesTasks as H; die_at_call(H, 'do', 60)"
    ),
    "before the table is joined": (
        "from tablebase.building.halves.builder import HalvesBuild as B; die_at_call(B, 'join', 1)"
    ),
}


QUICK = ("after walking ply 11", "before the table is synced", "in the middle of a ply")
MOMENTS = [pytest.param(when, marks=[pytest.mark.slow] * (when not in QUICK)) for when in KILLS]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("when", MOMENTS)
def test_a_killed_build_goes_on_to_the_same_table(built_4x4, tmp_path, in_small_groups, when):
    path = tmp_path / "table.h5"
    code = KILL.format(when=KILLS[when], path=str(path), groups=SMALL_GROUPS)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    died = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, check=False)
    assert died.returncode == -9
    assert not path.exists()
    assert len(list(tmp_path.glob("table.h5.partial/*.*"))) > 1
    reports = []
    build_tablebase(SMALL, path, report=reports.append)
    assert not reports or reports[0].resumed > 0
    assert_same_table(path, built_4x4)


@pytest.mark.parametrize("ply", [9, 14])
@pytest.mark.parametrize("damage", [flip_a_byte, lambda path: path.write_bytes(b"")])
def test_a_damaged_part_is_found_and_the_build_begins_again(built_4x4, tmp_path, ply, damage):
    path = tmp_path / "table.h5"
    damage(stopped(path, "backward", 9, SMALL).partial.folder / ply_part(ply))
    build_tablebase(SMALL, path)
    assert_same_table(path, built_4x4)


DAMAGES = {
    "a byte": flip_a_byte,
    "the end": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "all": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
}


@pytest.fixture(scope="module")
def stopped_once(tmp_path_factory):
    """The folder of a build in small groups that was stopped walking back."""
    folder = tmp_path_factory.mktemp("stopped")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tablebase.building.halves.plan.IN_MEMORY_BITS", 0)
        patch.setattr("retro.walk.halves.layer.GROUP_WORDS", SMALL_GROUPS)
        stopped(folder / "table.h5", "backward", 9, SMALL)
    return folder


@pytest.fixture
def partial(stopped_once, tmp_path, in_small_groups):
    """What that build left behind, to damage."""
    shutil.copytree(stopped_once, tmp_path, dirs_exist_ok=True)
    return tasks_of(tmp_path / "table.h5", SMALL).partial


PLACES = [9, 10]
# Any two of damage, place and memory meet in the quick half.
LOST = [
    pytest.param(damage, ply, memory, marks=[pytest.mark.slow] * ((i + j + k) % 2))
    for i, damage in enumerate(DAMAGES)
    for j, ply in enumerate(PLACES)
    for k, memory in enumerate((None, 30_000))
]


@pytest.mark.parametrize(("damage", "ply", "memory"), LOST)
def test_a_lost_group_is_made_again_and_the_build_goes_on(
    built_4x4, tmp_path, partial, ply, damage, memory
):
    path = tmp_path / "table.h5"
    groups = sorted(partial.folder.glob(f"walk-{ply:02d}-*.group"))
    for group in {groups[0], groups[-1]}:
        DAMAGES[damage](group)
    run_plan(with_task_memory(tb.plan(SMALL), memory), path)
    assert_same_table(path, built_4x4)


def test_groups_lost_in_both_layers_are_made_again_from_further_up(built_4x4, tmp_path, partial):
    path = tmp_path / "table.h5"
    partial.forget("walk", [9, 10], "group")
    run_plan(with_task_memory(tb.plan(SMALL), 30_000), path)
    assert_same_table(path, built_4x4)


def test_a_lost_group_is_made_again_by_processes(built_4x4, tmp_path):
    path = tmp_path / "table.h5"
    flip_a_byte(group_path(stopped(path, "backward", 9, SMALL), 9, 0))
    build_tablebase(SMALL, path, processes=2)
    assert_same_table(path, built_4x4)


def test_a_build_that_was_begun_in_files_goes_on_in_files(built_4x4, tmp_path, monkeypatch):
    path, reports = tmp_path / "table.h5", []
    stopped(path, "backward", 9, SMALL)
    monkeypatch.setattr("tablebase.building.halves.plan.IN_MEMORY_BITS", 10**9)
    build_tablebase(SMALL, path, report=reports.append)
    assert reports[0].ply == 8
    assert reports[0].resumed > 0
    assert_same_table(path, built_4x4)


@pytest.mark.parametrize("workers", [1, 5])
def test_a_ply_that_other_workers_began_is_gone_on_with(
    built_4x4, tmp_path, in_small_groups, monkeypatch, workers
):
    """Stopped in the middle of a ply, with one set of tasks, and finished with another."""
    path, done = tmp_path / "table.h5", []

    def stop(tasks, task, do=HalvesTasks.do):
        if task.ply == 9:
            done.append(task)
            if len(done) > 4:
                raise Stop
        do(tasks, task)

    with monkeypatch.context() as patch:
        patch.setattr(HalvesTasks, "do", stop)
        with pytest.raises(Stop):
            build_tablebase(SMALL, path, threads=2)
    assert len(tasks_of(path, SMALL).partial.done("walk", 9)) == 4
    build_tablebase(SMALL, path, threads=workers)
    assert_same_table(path, built_4x4)


def test_a_build_that_dies_after_the_rename_leaves_no_parts_behind_for_ever(
    built_4x4, tmp_path, monkeypatch
):
    def die(partial):
        raise Stop

    path = tmp_path / "table.h5"
    with monkeypatch.context() as patch:
        patch.setattr(Partial, "discard", die)
        with pytest.raises(Stop):
            build_tablebase(SMALL, path)
    assert build_tablebase(SMALL, path).was_there
    assert_same_table(path, built_4x4)


@pytest.mark.parametrize("call", [1, 2, 20, 40])
def test_a_full_disk_is_named_and_the_build_goes_on_later(built_4x4, tmp_path, monkeypatch, call):
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
            build_tablebase(SMALL, path)
    assert not path.exists()
    assert not list(tmp_path.rglob("*.tmp"))
    build_tablebase(SMALL, path)
    assert_same_table(path, built_4x4)
