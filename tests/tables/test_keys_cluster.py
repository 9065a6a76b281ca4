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
from tablebase.keys.format import header_for
from tablebase.keys.pieces import Cut, PieceStore
from tablebase.keys.plan import Detail, make_plan
from tablebase.plans import Hand, How

pytest.importorskip("distributed", reason="clusters need the extra `cluster`")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")

ROOT = Path(__file__).parents[2]
BOARD = "mnk 3x3"
BOARDS = (BOARD, "domineering 4x4", "quarto 2x2 attributes=2")

# The first worker that commits a task of the backward walk of this ply dies: before or after that.
DIE = """
import os, signal
from pathlib import Path
from tablebase.keys.pieces import PieceStore

write = getattr(PieceStore, "plain_write", PieceStore.write)  # Dask may run this twice
PieceStore.plain_write = write

def die_once(self, task, piece, counts):
    if (task.walk, task.ply) == ("walk", {ply}):
        try:
            Path({mark!r}).open("x").close()
        except FileExistsError:
            return write(self, task, piece, counts)
        if {after}:
            write(self, task, piece, counts)
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, task, piece, counts)

PieceStore.write = die_once
"""

OTHER_VERSION = """
from tablebase.keys import pieces

pieces.VERSION = "0.0.9"
"""

DRIVER = """
import os, signal
from pathlib import Path
import tablebase as tb

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
    monkeypatch.setattr("tablebase.keys.cutting.LEAST_KEYS", 30)


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
            damaged.extend(work.glob("table.h5.partial/*-06-*.piece"))
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
    assert list(work.glob("table.h5.partial/ply-06.h5"))
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
    store = PieceStore(tmp_path / "table.h5", header, plan.detail.cut)
    with pytest.raises(StorageError, match="wanted a work folder that all workers share"):
        store.require_worker()
    store.open()
    store.require_worker()
    sent = pickle.loads(pickle.dumps(store))
    assert sent == store
    assert sent != PieceStore(tmp_path / "other.h5", header, plan.detail.cut)
    other = header_for(make_board("mnk 3x3").start())
    with pytest.raises(StorageError, match="is of another table"):
        PieceStore(tmp_path / "table.h5", other, Cut(2500, 1)).require_worker()
    with pytest.raises(FormatVersionError, match=r"it has .* families in 1 share; the plan is of"):
        PieceStore(tmp_path / "table.h5", header, Cut(7, 1)).require_worker()
    monkeypatch.setattr("tablebase.keys.pieces.VERSION", "0.0.9")
    with pytest.raises(FormatVersionError, match=r"it has retro-tablebase 0\.0\.9, .*the plan is"):
        pickle.loads(pickle.dumps(store)).require_worker()
    with pytest.raises(FormatVersionError, match=r"was begun by .*0\.0\.9.*say --force"):
        PieceStore(tmp_path / "table.h5", header, plan.detail.cut).open()
    assert (store.folder / "table.txt").exists()


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
    monkeypatch.setattr("tablebase.keys.pieces.VERSION", "0.0.9")
    with pytest.raises(FormatVersionError, match="finish it with that, or say --force"):
        tb.build("mnk 3x3", path)
    assert not tb.build("mnk 3x3", path, force=True).was_there


def test_a_plan_for_workers_elsewhere() -> None:
    root = make_board(BOARD).start()
    hands = (Hand(4, 3_000_000_000), Hand(2, 1_000_000_000))
    shared = make_plan(root, How(hands=hands))
    assert isinstance(shared.detail, Detail)
    assert shared.detail.hire is not None
    assert shared.detail.room.workers == 6
    assert shared.memory == shared.least_memory < 1_000_000_000
    large = make_plan(root, How(hands=hands, task_memory=500_000_000))
    assert isinstance(large.detail, Detail)
    assert large.detail.room.workers == 4 + 1
    assert large.detail.room.limits(1, 0).view == 250_000_000
    with pytest.raises(DoesNotFitError, match="no worker has room"):
        make_plan(root, How(hands=hands, task_memory=5_000_000_000))
    with pytest.raises(DoesNotFitError, match="wanted at least"):
        make_plan(root, How(hands=hands, task_memory=1_000))
    assert tb.plan(BOARD, threads=16, task_memory="100M").positions == tb.plan(BOARD).positions


def test_parts_may_be_kept_elsewhere(digests: dict[str, str], tmp_path: Path) -> None:
    work, path, seen = tmp_path / "work", tmp_path / "table.h5", set()

    def look(progress: tb.Progress) -> None:
        seen.update(entry.name for entry in (work / "table.h5.partial").iterdir())
        assert [entry.name for entry in tmp_path.glob("table.*")] == ["table.h5.lock"]

    tb.build(BOARD, path, work_dir=work, report=look)
    assert {"table.txt", "ply-06.h5"} <= seen
    assert_same(path, digests[BOARD], work)
