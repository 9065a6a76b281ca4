"""Builds of sorted keys as tasks: any memory, threads and processes; killed, damaged, resumed."""

import errno
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tablebase as tb
from retro.errors import DoesNotFitError, LostGroupError, StorageError
from retro.index.keys.keys import Keys
from retro.walk.keys.task import Limits
from retro.walk.task import Task
from tablebase.building.keys import builder, join, plan
from tablebase.building.keys.builder import KeysBuild
from tablebase.building.keys.tasks import KeysTasks
from tablebase.building.partial import Partial, part_name
from tablebase.keys.format import header_for

pytestmark = pytest.mark.usefixtures("in_files")
BOARDS = [
    "mnk 3x3 connect=3",
    "domineering 4x3",
    "notakto 3x3 connect=3",
    "quarto 2x2 attributes=2",
]


class Stopped(Exception):
    """A build ends here."""


def digest(path: Path) -> str:
    with tb.open_tablebase(path) as table:
        return str(table.digest)


@pytest.fixture(
    scope="module",
    params=[pytest.param(False, marks=pytest.mark.slow), True],
    ids=["values", "distances"],
)
def distances(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module")
def tables(distances: bool, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The digests of tables that were built with all the memory there is."""
    folder = tmp_path_factory.mktemp("keys")
    return {
        name: digest(tb.build(name, folder=folder, distances=distances).path) for name in BOARDS
    }


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """So little memory that every layer stays in files, in many pieces and stretches."""
    monkeypatch.setattr(plan.Budget, "keeps", lambda *_: False)
    monkeypatch.setattr(KeysTasks, "limits", lambda *_: Limits(300, 200))
    monkeypatch.setattr(plan.Budget, "stretch", lambda *_: 50)
    monkeypatch.setattr(builder, "LEAST_KEYS", 10)


@pytest.mark.parametrize(
    ("name", "threads"),
    [
        *((name, 3) for name in BOARDS),
        (BOARDS[0], 1),
        *(pytest.param(name, 1, marks=pytest.mark.slow) for name in BOARDS[1:]),
    ],
)
@pytest.mark.usefixtures("tiny")
def test_a_tiny_memory_gives_the_same_bytes(
    name: str, threads: int, distances: bool, tables: dict[str, str], tmp_path: Path
) -> None:
    path = tb.build(name, tmp_path / "t.h5", threads=threads, distances=distances).path
    assert digest(path) == tables[name]
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.h5"]


@pytest.mark.usefixtures("tiny")
def test_what_is_lost_on_the_way_is_made_again(
    distances: bool, tables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A piece of every layer is damaged or removed before it is read the first time."""
    name, path = BOARDS[0], tmp_path / "t.h5"
    begun: set[tuple[str, int]] = set()
    do = KeysTasks.do

    def spoil(self: Any, task: Any) -> None:
        if (task.walk, task.ply) not in begun:
            begun.add((task.walk, task.ply))
            ply = task.ply - 1 if task.walk == "alive" else task.ply + 1
            for kind in ("alive", "walk") if task.walk == "walk" else ("alive",):
                there = sorted(self.partial.folder.glob(f"{kind}-{ply:02d}-*.part"))
                if there and task.ply % 2:
                    there[0].unlink()
                elif there:
                    content = bytearray(there[-1].read_bytes())
                    content[len(content) // 2] ^= 0x55
                    there[-1].write_bytes(content)
        do(self, task)

    monkeypatch.setattr(KeysTasks, "do", spoil)
    built = tb.build(name, path, threads=1, distances=distances)
    assert digest(built.path) == tables[name]
    assert len(begun) > 15


@pytest.mark.parametrize("kind", ["alive", "walk"])
@pytest.mark.parametrize("how", ["removed", "damaged"])
def test_what_is_lost_of_a_ply_that_is_not_kept_is_counted_all_the_same(
    kind: str, how: str, distances: bool, tables: dict[str, str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Nobody but the counts needs its values when they are lost after the walk."""
    name, path, finish = BOARDS[0], tmp_path / "t.h5", KeysBuild.finish
    spoiled = []

    def spoil(self: Any, phase: Any, ply: int) -> Any:
        there = sorted(self.tasks.partial.folder.glob(f"{kind}-{ply:02d}-*.part"))
        if (phase, ply) == ("backward", 2) and not spoiled:
            spoiled.extend(there)
            if how == "removed":
                there[0].unlink()
            else:
                content = bytearray(there[0].read_bytes())
                content[-6] ^= 0x55
                there[0].write_bytes(content)
        return finish(self, phase, ply)

    monkeypatch.setattr(KeysBuild, "finish", spoil)
    tb.build(name, path, plies=range(3, 5), distances=distances)
    whole = tb.build(name, tmp_path / "whole.h5", distances=distances).path
    assert spoiled
    with tb.open_tablebase(path) as some, tb.open_tablebase(whole) as table:
        assert [c.positions for c in some.counts] == [c.positions for c in table.counts]
        assert [(c.win, c.loss) for c in some.counts] == [(c.win, c.loss) for c in table.counts]
        assert table.digest == tables[name]


def test_a_piece_that_another_process_removes_is_listed_or_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looked for twice, it was there and then not: the layer was read without it."""
    there, seen = Partial.done, []

    def remove_afterwards(self: Partial, walk: Any, ply: int) -> list[Task]:
        found = there(self, walk, ply)
        if (walk, ply) == ("alive", 4) and len(found) > 1 and not seen:
            self.remove(part_name(found[1]))  # as whoever finds it damaged does
            seen.append(found)
        return found

    def stop(progress: tb.Progress) -> None:
        if (progress.phase, progress.ply) == ("backward", 5):
            raise Stopped

    monkeypatch.setattr(builder, "LEAST_KEYS", 10)
    path = tmp_path / "t.h5"
    with pytest.raises(Stopped):
        tb.build(BOARDS[0], path, report=stop)
    board = tb.board(BOARDS[0])
    detail = tb.plan(board).detail
    assert isinstance(detail, plan.Detail)
    header = header_for(board.start())
    partial = Partial(path, header, detail.cut.rule)
    tasks = KeysTasks(partial, header, detail.cut)
    monkeypatch.setattr(Partial, "done", remove_afterwards)
    listed = tasks.pieces(4)
    assert listed == seen[0]
    for error, named in (
        (MemoryError(), MemoryError),
        (OSError(errno.EMFILE, "too many"), StorageError),
    ):
        with pytest.raises(named), partial.read_task(listed[0]):
            raise error
        assert partial.names(part_name(listed[0]))  # it cannot be read now: that is no damage
    with pytest.raises(LostGroupError, match="no such file"):
        tasks.pieces(4)
    with pytest.raises(LostGroupError, match="is missing"):
        tasks.fetch(listed[1])


@pytest.mark.slow
def test_processes_give_the_same_bytes(
    distances: bool, tables: dict[str, str], tmp_path: Path
) -> None:
    path = tb.build(BOARDS[0], tmp_path / "t.h5", processes=2, distances=distances).path
    assert digest(path) == tables[BOARDS[0]]


def test_killed_and_resumed_with_another_memory(
    distances: bool, tables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, path = BOARDS[0], tmp_path / "t.h5"
    script = (
        "import os, sys, tablebase as tb\n"
        "from tablebase.building.keys import plan\n"
        "plan.MOST_IN_MEMORY = 0\n"
        "def report(p):\n"
        "    if (p.phase, p.ply) == ('backward', 6): os.kill(os.getpid(), 9)\n"
        f"tb.build({name!r}, {str(path)!r}, report=report, distances={distances})\n"
    )
    done = subprocess.run([sys.executable, "-c", script], timeout=600, check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "t.h5.partial" / "ply-06.part").exists()
    assert not path.exists()
    monkeypatch.setattr(plan.Budget, "keeps", lambda *_: False)
    monkeypatch.setattr(KeysTasks, "limits", lambda *_: Limits(300, 200))
    told: list[tb.Progress] = []
    tb.build(name, path, threads=1, report=told.append, distances=distances)
    assert digest(path) == tables[name]
    assert told[0].resumed > 0


def test_pieces_of_a_table_with_distances_are_not_those_of_one_without(tmp_path: Path) -> None:
    """What the one has left is nothing that the other goes on from."""
    path = tmp_path / "t.h5"

    def stop(progress: tb.Progress) -> None:
        if (progress.phase, progress.ply) == ("backward", 6):
            raise Stopped

    with pytest.raises(Stopped):
        tb.build(BOARDS[0], path, report=stop)
    told: list[tb.Progress] = []
    tb.build(BOARDS[0], path, report=told.append, distances=True)
    assert told[0].resumed == 0
    tb.verify(path, "full")


@pytest.mark.usefixtures("tiny")
def test_families_too_large_for_a_task_are_cut_into_shares(
    tables: dict[str, str], distances: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """5x5 three-in-a-row was planned for 2 GB and ended on ply 12: a family was too large."""
    name = "mnk 3x3 connect=3"
    monkeypatch.setattr(KeysTasks, "limits", lambda *_: Limits(16, 200))
    with pytest.raises(DoesNotFitError, match="too many keys"):
        tb.build(name, tmp_path / "whole.h5", distances=distances)
    monkeypatch.setattr(plan, "KEYS_OF_A_SHARE", 4)
    assert digest(tb.build(name, tmp_path / "t.h5", distances=distances).path) == tables[name]


def test_one_byte_less_than_the_least_is_refused(tmp_path: Path) -> None:
    least = tb.plan("mnk 5x4 connect=4").least_memory
    with pytest.raises(DoesNotFitError, match="needs at least"):
        tb.build("mnk 5x4 connect=4", tmp_path / "t.h5", memory=least - 1)
    assert tb.plan("mnk 5x4 connect=4", memory=least).memory == least


@pytest.mark.parametrize("bits", [5, 58, 62, 64])
@pytest.mark.parametrize("worth", [[-1, 0, 1], [-125, 0, 126], [0, 0, 0]])
def test_pages_are_sorted_with_their_values(bits: int, worth: list[int]) -> None:
    rng = np.random.default_rng(0)
    a = np.unique(rng.integers(0, 1 << bits, 200, np.uint64, endpoint=False) if bits < 64 else
                  rng.integers(0, (1 << 64) - 1, 200, np.uint64))  # fmt: skip
    values = np.array(worth, np.int8)[a % np.uint64(3)]
    order = rng.permutation(len(a))
    none = np.empty(0, np.uint64)
    page = join.sort_page(Keys(a[order], none), values[order])
    assert np.array_equal(page.keys.a, a)
    assert np.array_equal(page.values, values)
    pairs = Keys(np.repeat(a, 2)[::-1].copy(), np.tile([1, 0], len(a)).astype(np.uint64))
    page = join.sort_page(pairs, np.tile(np.array([1, -1], np.int8), len(a)))
    assert np.array_equal(page.keys.a, np.repeat(a, 2))
    assert page.keys.b.tolist() == [0, 1] * len(a)
    assert page.values.tolist() == [-1, 1] * len(a)
