"""Builds of sorted keys on a cluster: the same bytes, whoever dies, and whoever finishes.

As `test_cluster` for Connect Four: schedulers and workers are real processes of this machine,
what must not be lost is killed with SIGKILL.
"""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from clusters import Machines, machines

import tablebase as tb
from retro.errors import DoesNotFitError, FormatVersionError, StorageError
from retro.games.catalogue import make_board
from tablebase.building.keys.plan import Detail, make_plan
from tablebase.building.keys.tasks import Cut, KeysTasks
from tablebase.building.options import BuildOptions
from tablebase.building.partial import Partial
from tablebase.building.plan import WorkerSpec
from tablebase.keys.format import Header, header_for

pytest.importorskip("distributed", reason="clusters need the extra `cluster`")
pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL"),
    pytest.mark.usefixtures("in_files"),
]

ROOT = Path(__file__).parents[2]
BOARD = "mnk 3x3"
BOARDS = (BOARD, "domineering 4x4", "quarto 2x2 attributes=2")

# The first worker that commits a task of the backward walk of this ply dies: before or after that.
DIE = """
import os, signal
from pathlib import Path
from tablebase.building.keys.tasks import KeysTasks

do = getattr(KeysTasks, "plain_do", KeysTasks.do)  # Dask may run this twice
KeysTasks.plain_do = do

def die_once(self, task):
    if (task.walk, task.ply) == ("walk", {ply}):
        try:
            Path({mark!r}).open("x").close()
        except FileExistsError:
            return do(self, task)
        if {after}:
            do(self, task)
        os.kill(os.getpid(), signal.SIGKILL)
    do(self, task)

KeysTasks.do = die_once
"""

OTHER_VERSION = """
from tablebase.building.keys import tasks

tasks.VERSION = "0.0.9"
"""

DRIVER = """
import os, signal
from pathlib import Path
import tablebase as tb
from tablebase.building.keys import plan

plan.MOST_IN_MEMORY = 0

def report(progress):
    if (progress.phase, progress.ply) == ("backward", 5) and progress.tasks[0]:
        os.kill(os.getpid(), signal.SIGKILL)

tb.build({board!r}, Path({path!r}), work_dir=Path({work!r}), cluster={address!r}, report=report)
"""


@pytest.fixture(scope="module")
def digests(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of tables that threads have built."""
    folder = tmp_path_factory.mktemp("threads")
    return {name: digest(tb.build(name, folder=folder).path) for name in BOARDS}


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many tasks, though tables are small."""
    monkeypatch.setattr("tablebase.building.keys.builder.LEAST_KEYS", 30)


def digest(path: Path) -> str:
    with tb.open_tablebase(path) as table:
        return str(table.digest)


def assert_same(path: Path, wanted: str, work: Path) -> None:
    """The table is as threads make it, and nothing else is left."""
    assert digest(path) == wanted
    assert [entry.name for entry in path.parent.glob("table.*")] == [path.name]
    assert not list(work.glob("*"))


@pytest.mark.slow
@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.usefixtures("small_tasks")
def test_a_cluster_makes_the_same_bytes(
    name: str, cluster: Machines, digests: dict[str, str], tmp_path: Path
) -> None:
    path, work = tmp_path / "table.h5", tmp_path / "work"
    seen: list[tb.Progress] = []
    tb.build(
        name, path, cluster=cluster.address, work_dir=work, task_memory="200M", report=seen.append
    )
    assert_same(path, digests[name], work)
    assert {p.workers for p in seen if p.tasks[1]} == {2}
    assert max(p.tasks[1] for p in seen) > (0 if name.startswith("quarto") else 2)
    done = [p.done for p in seen]
    assert done == sorted(done)


@pytest.mark.slow
def test_a_local_cluster_makes_the_same_bytes(digests: dict[str, str], tmp_path: Path) -> None:
    for distances in (False, True):
        how = {"distances": distances, "plies": range(2, 5)}
        path, other = tmp_path / f"{distances}.h5", tmp_path / f"{distances}-threads.h5"
        tb.build(BOARD, path, cluster="local", processes=2, threads=2, memory="6G", **how)
        assert digest(path) == digest(tb.build(BOARD, other, **how).path)


@pytest.mark.slow
@pytest.mark.usefixtures("small_tasks")
def test_a_damaged_piece_is_made_again(
    cluster: Machines, digests: dict[str, str], tmp_path: Path
) -> None:
    path, work = tmp_path / "table.h5", tmp_path / "work"
    damaged: list[Path] = []

    def damage(progress: tb.Progress) -> None:
        if (progress.phase, progress.ply, progress.tasks) == ("backward", 6, (0, 0)):
            damaged.extend(work.glob("table.h5.partial/*-06-*.part"))
            for piece in damaged:
                piece.write_bytes(b"nothing of this kind")

    tb.build(BOARD, path, cluster=cluster.address, work_dir=work, report=damage)
    assert {piece.name[:4] for piece in damaged} == {"aliv", "walk"}
    assert_same(path, digests[BOARD], work)


@pytest.mark.slow
@pytest.mark.parametrize("finish", ["cluster", pytest.param("threads", marks=pytest.mark.slow)])
def test_a_killed_driver_is_started_again(
    cluster: Machines, digests: dict[str, str], tmp_path: Path, finish: str
) -> None:
    path, work = tmp_path / "table.h5", tmp_path / "work"
    code = DRIVER.format(board=BOARD, path=str(path), work=str(work), address=cluster.address)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    died = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, check=False)
    assert died.returncode == -9
    assert not path.exists()
    assert list(work.glob("table.h5.partial/ply-06.part"))
    seen: list[tb.Progress] = []
    how = {"cluster": cluster.address} if finish == "cluster" else {}
    tb.build(BOARD, path, work_dir=work, report=seen.append, **how)
    assert seen[0].resumed > 0
    assert_same(path, digests[BOARD], work)


@pytest.mark.slow
def test_a_build_begun_by_threads_is_finished_by_a_cluster(
    cluster: Machines, digests: dict[str, str], tmp_path: Path
) -> None:
    class Stop(Exception):
        pass

    def stop(progress: tb.Progress) -> None:
        if (progress.phase, progress.ply) == ("backward", 6):
            raise Stop

    path, work = tmp_path / "table.h5", tmp_path / "work"
    with pytest.raises(Stop):
        tb.build(BOARD, path, work_dir=work, report=stop)
    seen: list[tb.Progress] = []
    tb.build(BOARD, path, work_dir=work, cluster=cluster.address, report=seen.append)
    assert seen[0].resumed > 0
    assert_same(path, digests[BOARD], work)


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.usefixtures("small_tasks")
def test_a_worker_that_dies_is_replaced_by_the_other(
    digests: dict[str, str], tmp_path: Path, after: bool
) -> None:
    mark = tmp_path / "died"
    with machines(tmp_path, preload=DIE.format(ply=6, mark=str(mark), after=after)) as found:
        path, work = tmp_path / "table.h5", tmp_path / "work"
        tb.build(BOARD, path, cluster=found.address, work_dir=work)
        assert mark.exists()
        assert sorted(worker.poll() is None for worker in found.workers) == [False, True]
        assert_same(path, digests[BOARD], work)


@pytest.mark.slow
def test_a_worker_of_another_version_is_refused_by_name(tmp_path: Path) -> None:
    said: list[str] = []
    with (
        machines(tmp_path, workers=1, preload=OTHER_VERSION) as found,
        pytest.raises(DoesNotFitError, match=r"it has retro-tablebase 0\.0\.9, .*the plan is of"),
    ):
        tb.build(BOARD, tmp_path / "table.h5", cluster=found.address, announce=said.append)
    assert [line for line in said if "is not used: it has retro-tablebase 0.0.9" in line]


# Without a cluster.


def test_a_worker_checks_rule_and_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = header_for(make_board("mnk 4x3").start())
    plan = tb.plan("mnk 4x3")
    assert isinstance(plan.detail, Detail)
    cut = plan.detail.cut

    def tasks_of(path: Path, header: Header, cut: Cut) -> KeysTasks:
        return KeysTasks(Partial(path, header, cut.rule), header, cut)

    tasks = tasks_of(tmp_path / "table.h5", header, cut)
    with pytest.raises(StorageError, match="wanted a work folder that all workers share"):
        tasks.require_worker()
    tasks.partial.open()
    tasks.require_worker()
    sent = pickle.loads(pickle.dumps(tasks))
    assert sent.partial == tasks.partial
    assert sent.partial != tasks_of(tmp_path / "other.h5", header, cut).partial
    other = header_for(make_board("mnk 3x3").start())
    with pytest.raises(StorageError, match="is of another table"):
        tasks_of(tmp_path / "table.h5", other, Cut(2500, 1)).require_worker()
    with pytest.raises(FormatVersionError, match=r"it has .* families in 1 share; the plan is of"):
        tasks_of(tmp_path / "table.h5", header, Cut(7, 1)).require_worker()
    monkeypatch.setattr("tablebase.building.keys.tasks.VERSION", "0.0.9")
    with pytest.raises(FormatVersionError, match=r"it has retro-tablebase 0\.0\.9, .*the plan is"):
        pickle.loads(pickle.dumps(tasks)).require_worker()
    with pytest.raises(FormatVersionError, match=r"was started by .*0\.0\.9.*say --force"):
        tasks_of(tmp_path / "table.h5", header, cut).partial.open()
    assert (tasks.partial.folder / "table.txt").exists()


def test_parts_of_another_version_are_refused_and_forced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stop(Exception):
        pass

    def stop(progress: tb.Progress) -> None:
        raise Stop

    path = tmp_path / "table.h5"
    with pytest.raises(Stop):
        tb.build("mnk 3x3", path, report=stop)
    monkeypatch.setattr("tablebase.building.keys.tasks.VERSION", "0.0.9")
    with pytest.raises(FormatVersionError, match="finish it with that, or say --force"):
        tb.build("mnk 3x3", path)
    assert not tb.build("mnk 3x3", path, force=True).was_there


def test_a_plan_for_workers_elsewhere() -> None:
    root = make_board(BOARD).start()
    workers = (WorkerSpec(4, 3_000_000_000), WorkerSpec(2, 1_000_000_000))

    def planned(task_memory: int | None = None) -> tb.Plan:
        return make_plan(root, BuildOptions(task_memory=task_memory), workers=workers)

    shared = planned()
    assert shared.budget is not None
    assert shared.workers == 6
    assert shared.memory == shared.least_memory < 1_000_000_000
    large = planned(500_000_000)
    assert isinstance(large.detail, Detail)
    assert large.workers == 4 + 1
    assert large.detail.budget.task_memory(0) == 250_000_000
    with pytest.raises(DoesNotFitError, match="no worker has room"):
        planned(5_000_000_000)
    with pytest.raises(DoesNotFitError, match="the largest group needs"):
        planned(1_000)
    assert tb.plan(BOARD, threads=16, task_memory="100M").positions == tb.plan(BOARD).positions


def test_parts_may_be_kept_elsewhere(digests: dict[str, str], tmp_path: Path) -> None:
    work, path, seen = tmp_path / "work", tmp_path / "table.h5", set()

    def look(progress: tb.Progress) -> None:
        seen.update(entry.name for entry in (work / "table.h5.partial").iterdir())
        assert [entry.name for entry in tmp_path.glob("table.*")] == ["table.h5.lock"]

    tb.build(BOARD, path, work_dir=work, report=look)
    assert {"table.txt", "ply-06.part"} <= seen
    assert_same(path, digests[BOARD], work)
