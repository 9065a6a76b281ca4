"""Builds on a cluster: the recorded digests, whoever dies, and whoever finishes what was begun.

Schedulers and workers are real processes of this machine. What must not be lost is killed:
workers, drivers, the scheduler; always with SIGKILL.
"""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from builds import build_tablebase, result_of, tasks_of
from clusters import DIE, FAIL, OTHER_RULE, PATIENCE, machines
from strategies import published

import tablebase as tb
from retro.errors import (
    BadTextError,
    DoesNotFitError,
    FormatVersionError,
    StorageError,
    TablebaseError,
    UnreachableError,
)
from retro.games.connect4.rules import Connect4Board
from tablebase.building.halves.plan import make_plan
from tablebase.building.options import BuildOptions
from tablebase.building.plan import WorkerSpec

pytest.importorskip("distributed", reason="clusters need the extra `cluster`")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")

BOARD = Connect4Board(4, 4)
ROOT = Path(__file__).parents[2]
LOCAL = {"cluster": "local", "threads": 2, "processes": 2, "memory": "6G"}
SLOW = pytest.mark.slow
EXECUTORS = ("threads", "processes", "local", "separate")


def digests(path):
    return [record.sha256 for record in result_of(path).records]


def recorded(board):
    sizes = (board.width, board.height, board.connect)
    rows = published("connect4_built.csv")
    return [r["sha256"] for r in rows if (r["width"], r["height"], r["connect"]) == sizes]


def assert_same(path, built, work=None):
    """The table is as it was built undisturbed, and nothing else is left."""
    assert digests(path) == digests(built.path)
    assert result_of(path).records == result_of(built.path).records
    assert [entry.name for entry in path.parent.glob("table.*")] == [path.name]
    assert work is None or not list(work.glob("*"))


@pytest.mark.parametrize(
    ("who", "board"),
    [
        ("threads", Connect4Board(5, 5)),
        *(pytest.param(who, Connect4Board(4, 4), marks=SLOW) for who in ("processes", "local")),
        *(pytest.param(who, Connect4Board(5, 4), marks=SLOW) for who in ("processes", "local")),
        *(pytest.param(who, Connect4Board(5, 5), marks=SLOW) for who in EXECUTORS[1:]),
        *(pytest.param(who, Connect4Board(6, 5), marks=SLOW) for who in EXECUTORS),
    ],
)
def test_every_executor_makes_the_recorded_bytes(tmp_path, who, board, request, built_4x4):
    """4x4 is so small that nobody has recorded it: as threads in this process make it."""
    options = {"threads": {"threads": 2}, "processes": {"processes": 2}, "local": LOCAL}.get(who)
    if options is None:
        address = request.getfixturevalue("cluster").address
        options = {"cluster": address, "task_memory": "400M", "work_dir": tmp_path / "work"}
    path = build_tablebase(board, tmp_path / "table.h5", **options).path
    assert digests(path) == (digests(built_4x4.path) if board == BOARD else recorded(board))


@SLOW
def test_separate_workers_make_the_recorded_bytes_and_are_told_of(cluster, tmp_path, built_5x4):
    board, seen, said = Connect4Board(5, 4), [], []  # with plies of several tasks
    path, work = tmp_path / "table.h5", tmp_path / "work"
    build_tablebase(
        board, path, cluster=cluster.address, task_memory="400M", work_dir=work,
        report=seen.append, announce=said.append,
    )  # fmt: skip
    assert_same(path, built_5x4, work)
    assert digests(path) == recorded(board)
    done = [p.done for p in seen]
    assert done == sorted(done)
    assert done[-1] == seen[-1].total
    assert {p.workers for p in seen if p.tasks[1]} == {2}
    assert max(p.tasks[1] for p in seen) > 2
    assert said[0].startswith(f"cluster at {cluster.address}")


@SLOW
def test_a_damaged_group_is_made_again(cluster, tmp_path, built_4x4):
    path, work = tmp_path / "table.h5", tmp_path / "work"
    damaged = []

    def damage(progress):
        if (progress.phase, progress.ply, progress.tasks) == ("backward", 12, (0, 0)):
            damaged.extend(work.glob("table.h5.partial/walk-12-*.group"))
            for group in damaged:
                group.write_bytes(b"nothing of this kind")

    build_tablebase(BOARD, path, cluster=cluster.address, work_dir=work, report=damage)
    assert damaged
    assert_same(path, built_4x4, work)


@SLOW
def test_a_second_driver_is_refused(cluster, tmp_path):
    options = {"cluster": cluster.address, "work_dir": tmp_path / "work"}
    refused = []

    def build_again(progress):
        if progress.ply == 3 and not refused:
            for other in (tmp_path / "table.h5", tmp_path / "elsewhere" / "table.h5"):
                with pytest.raises(StorageError, match="another process is building"):
                    build_tablebase(Connect4Board(3, 3), other, **options)
                refused.append(other)

    build_tablebase(Connect4Board(3, 3), tmp_path / "table.h5", report=build_again, **options)
    assert len(refused) == 2


DRIVER = """
import os, signal
from pathlib import Path
import tablebase as tb

def report(progress):
    if (progress.phase, progress.ply) == ("backward", 11) and progress.tasks[0]:
        os.kill(os.getpid(), signal.SIGKILL)

tb.build("4x4", Path({path!r}), work_dir=Path({work!r}), cluster={address!r}, report=report)
"""


@SLOW
@pytest.mark.parametrize(
    "finish", ["threads", *(pytest.param(who, marks=SLOW) for who in ("cluster", "processes"))]
)
def test_a_killed_driver_is_started_again(cluster, tmp_path, built_4x4, finish):
    path, work = tmp_path / "table.h5", tmp_path / "work"
    code = DRIVER.format(path=str(path), work=str(work), address=cluster.address)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    died = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, check=False)
    assert died.returncode == -9
    assert not path.exists()
    options = {
        "cluster": {"cluster": cluster.address},
        "threads": {},
        "processes": {"processes": 1},
    }
    seen = []
    build_tablebase(BOARD, path, work_dir=work, report=seen.append, **options[finish])
    assert seen[0].phase == "backward"
    assert seen[0].resumed > 0
    assert_same(path, built_4x4, work)


@SLOW
def test_a_build_begun_by_threads_is_finished_by_a_cluster(
    cluster, tmp_path, built_4x4, monkeypatch
):
    class Stop(Exception):
        pass

    def stop(progress):
        if (progress.phase, progress.ply) == ("backward", 13):
            raise Stop

    monkeypatch.setattr("tablebase.building.halves.plan.IN_MEMORY_BITS", 0)
    path, work = tmp_path / "table.h5", tmp_path / "work"
    with pytest.raises(Stop):
        build_tablebase(BOARD, path, work_dir=work, report=stop)
    seen = []
    build_tablebase(BOARD, path, work_dir=work, cluster=cluster.address, report=seen.append)
    assert (seen[0].phase, seen[0].ply) == ("backward", 12)
    assert_same(path, built_4x4, work)


@SLOW
@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_is_replaced_by_the_other(tmp_path, built_4x4, after):
    mark = tmp_path / "died"
    preload = DIE.format(ply=12, mark=str(mark), after=after)
    with machines(tmp_path, preload=preload) as found:
        path, work = tmp_path / "table.h5", tmp_path / "work"
        build_tablebase(BOARD, path, cluster=found.address, work_dir=work)
        assert mark.exists()
        assert sorted(worker.poll() is None for worker in found.workers) == [False, True]
        assert_same(path, built_4x4, work)


@SLOW
def test_a_new_worker_goes_on_when_the_last_one_was_lost(tmp_path, built_4x4):
    mark, said = tmp_path / "died", []
    preload = DIE.format(ply=12, mark=str(mark), after=False)
    with machines(tmp_path, workers=1, preload=preload) as found:

        def replace():
            found.workers[0].wait(PATIENCE)
            while not any("no worker is left" in line for line in said):
                time.sleep(0.1)
            found.add_worker()

        helper = threading.Thread(target=replace, daemon=True)
        helper.start()
        path, work = tmp_path / "table.h5", tmp_path / "work"
        build_tablebase(BOARD, path, cluster=found.address, work_dir=work, announce=said.append)
        assert found.workers[0].returncode == -9
        assert_same(path, built_4x4, work)


@SLOW
def test_a_scheduler_that_dies_ends_the_build_which_can_be_resumed(tmp_path, built_4x4):
    path, work = tmp_path / "table.h5", tmp_path / "work"
    with machines(tmp_path, workers=1) as found:

        def kill(progress):
            if (progress.phase, progress.ply) == ("backward", 12):
                found.scheduler.kill()
                found.scheduler.wait()

        with pytest.raises(UnreachableError, match="was lost"):
            build_tablebase(BOARD, path, cluster=found.address, work_dir=work, report=kill)
    seen = []
    build_tablebase(BOARD, path, work_dir=work, report=seen.append)
    assert seen[0].resumed > 0
    assert_same(path, built_4x4, work)


@SLOW
def test_a_task_that_fails_for_any_reason_is_tried_again_and_then_named(tmp_path):
    with (
        machines(tmp_path, workers=1, preload=FAIL) as found,
        pytest.raises(TablebaseError, match=r"a task failed on tcp.*RecursionError: deep"),
    ):
        build_tablebase(BOARD, tmp_path / "table.h5", cluster=found.address)


@SLOW
def test_a_worker_of_another_rule_is_refused_by_name(tmp_path):
    said = []
    with machines(tmp_path, workers=1, preload=OTHER_RULE) as found:
        options = {"cluster": found.address, "announce": said.append}
        with pytest.raises(DoesNotFitError, match=r"groups of 4,096 to .*the plan is of .* 2,048"):
            build_tablebase(BOARD, tmp_path / "table.h5", **options)
        found.add_worker()
        found.wait_for(2)
        build_tablebase(BOARD, tmp_path / "table.h5", **options)
    assert [line for line in said if "is not used: it has retro-tablebase" in line]


# Without a cluster: what is refused before one is asked.


def test_a_worker_checks_rule_and_folder(tmp_path, monkeypatch):
    tasks = tasks_of(tmp_path / "table.h5", BOARD)
    with pytest.raises(StorageError, match="wanted a work folder that all workers share"):
        tasks.require_worker()
    tasks.partial.open()
    tasks.require_worker()
    monkeypatch.setattr("retro.walk.halves.layer.GROUP_WORDS", (1, 2))
    with pytest.raises(FormatVersionError, match=r"groups of 1 to 2 words; the plan is of"):
        tasks.require_worker()
    other = tasks_of(tmp_path / "table.h5", BOARD).partial
    with pytest.raises(FormatVersionError, match=r"was started by .* say --force"):
        other.open()
    assert (other.folder / "table.txt").exists()


def test_a_plan_for_workers_elsewhere():
    workers = (WorkerSpec(4, 3_000_000_000), WorkerSpec(2, 1_000_000_000))

    def planned(task_memory=None):
        return make_plan(BOARD.start(), BuildOptions(task_memory=task_memory), workers=workers)

    shared = planned()
    assert shared.budget is not None
    assert shared.workers == 6
    assert shared.memory < 1_000_000_000
    large = planned(500_000_000)
    assert large.workers == 4 + 1
    assert {work.at_once for work in large.detail.work.values()} == {5}
    with pytest.raises(DoesNotFitError, match="no worker has room"):
        planned(5_000_000_000)
    with pytest.raises(DoesNotFitError, match="the largest group needs"):
        planned(1_000)


def test_what_is_no_cluster_is_named(tmp_path, monkeypatch):
    path = tmp_path / "table.h5"
    monkeypatch.setattr("tablebase.building.cluster.SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(UnreachableError, match="no Dask scheduler answers at tcp://127"):
        tb.build("4x4", path, cluster="tcp://127.0.0.1:9")
    for wrong in ("here", "nowhere://x"):
        with pytest.raises(BadTextError, match="found cluster"):
            tb.build("4x4", path, cluster=wrong)
    with pytest.raises(BadTextError, match="wanted a cluster"):
        tb.build("4x4", path, task_memory="1G")
