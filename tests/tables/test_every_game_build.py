"""Planning and building a small board of every game: told beforehand, resumable, the same bytes."""

import re
import shutil
from pathlib import Path

import h5py
import pytest

import tablebase as tb
from retro.errors import BadTextError, DoesNotFitError, MissingTableError, StorageError
from retro.games.game import Board
from tablebase.files.atomic import only_builder
from tablebase.files.places import table_path


def phases(board: Board) -> list[str]:
    """Those of a build: Connect Four's positions are ranked and counted without a walk forward."""
    return ["backward"] if board.game.index == "two-halves" else ["forward", "backward"]


@pytest.mark.smoke
def test_a_plan_says_what_a_build_costs(small: Board, small_table: tb.Table) -> None:
    plan = tb.plan(small)
    assert (plan.board, plan.root, plan.error) == (small, small.start(), 1.0)
    assert set(small_table.plies) == set(plan.plies)
    assert plan.positions <= sum(of.positions for of in plan.plies.values())
    stored = small_table.positions_counted - sum(c.terminal for c in small_table.counts)
    assert plan.positions > 0
    assert plan.positions <= 2 * stored
    assert plan.seconds > 0
    assert 0 < plan.disk <= plan.disk_while_building
    assert 0 < plan.least_memory <= plan.memory
    assert re.search(r"positions to store, about .*, .* of memory, .* on disk", plan.summary())
    assert plan.title == small.name
    assert str(tb.plan(str(small)).summary()).split(",")[0] == plan.summary().split(",")[0]


def test_what_does_not_fit_is_refused_before_it_begins(
    small: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    least = tb.plan(small).least_memory
    assert tb.plan(small).obstacle(tmp_path) is None
    with pytest.raises(DoesNotFitError, match=f"{small.name} needs at least"):
        tb.build(small, folder=tmp_path, memory=least - 1)
    for name in ("building.plan", "building.halves.plan", "building.keys.plan"):
        monkeypatch.setattr(f"tablebase.{name}.available_memory", lambda: 1_000_000, raising=False)
    with pytest.raises(DoesNotFitError, match=r"there is 1 MB of free memory|needs at least"):
        tb.build(small, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_fit_on_the_disk_is_refused(
    small: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: full)
    with pytest.raises(DoesNotFitError, match=f"there is .* free in {tmp_path}"):
        tb.build(small, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.smoke
def test_a_build_says_how_it_goes_and_is_done_once(small: Board, tmp_path: Path) -> None:
    seen: list[tb.Progress] = []
    said: list[str] = []
    built = tb.build(small, folder=tmp_path, report=seen.append, announce=said.append)
    assert (built.path, built.was_there) == (table_path(small.start(), tmp_path), False)
    assert built.seconds > 0
    assert said == [f"{small.name}: {tb.plan(small).summary()}"] or len(said) == 1
    for phase in phases(small):
        done = [p.done for p in seen if p.phase == phase]
        assert done == sorted(done)
    assert {p.phase for p in seen} == set(phases(small))
    assert all(0 <= p.resumed <= p.done <= p.total for p in seen)
    assert seen[-1].done == seen[-1].total
    assert [entry.name for entry in tmp_path.iterdir()] == [built.path.name]
    before = built.path.read_bytes()
    assert tb.build(small, folder=tmp_path).was_there
    assert tb.build(str(small), built.path).was_there
    assert built.path.read_bytes() == before
    assert not tb.build(small, folder=tmp_path, force=True).was_there


def test_a_file_does_not_say_when_it_was_made(
    small: Board, small_folder: Path, tmp_path: Path
) -> None:
    """Two builds, at any time, are the same file, byte by byte."""
    path = table_path(small.start(), small_folder)
    seen = []

    def look(_: str, item: object) -> None:
        if isinstance(item, h5py.Dataset):
            seen.append(item.id.get_create_plist().get_obj_track_times())

    with h5py.File(path) as file:
        file.visititems(look)
    assert set(seen) == {False}
    again = tb.build(small, tmp_path / "again.h5", threads=1).path
    assert again.read_bytes() == path.read_bytes()


def test_threads_and_memory_do_not_change_a_table(
    small: Board, small_table: tb.Table, tmp_path: Path
) -> None:
    for number, how in enumerate(({"threads": 1}, {"threads": 3}, {"memory": "2G"})):
        built = tb.build(small, tmp_path / f"{number}.h5", **how)
        with tb.open_tablebase(built.path) as table:
            assert table.digest == small_table.digest
            assert table.counts == small_table.counts


class Stop(Exception):
    """The build dies here."""


def test_an_interrupted_build_goes_on(small: Board, small_table: tb.Table, tmp_path: Path) -> None:
    for phase in phases(small):
        folder = tmp_path / phase

        def stop(progress: tb.Progress, phase: str = phase) -> None:
            if (progress.phase, progress.ply) == (phase, 2):
                raise Stop

        with pytest.raises(Stop):
            tb.build(small, folder=folder, report=stop)
        with pytest.raises(MissingTableError):
            tb.open_tablebase(small, folder=folder)
        path = tb.build(small, folder=folder).path
        with tb.open_tablebase(path) as table:
            assert table.digest == small_table.digest
        assert [entry.name for entry in folder.iterdir()] == [path.name]


def test_a_second_builder_is_kept_out(small: Board, tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with only_builder(path), pytest.raises(StorageError, match="another process is building"):
        tb.build(small, path)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("threads", 0, "found"),
        ("threads", -2, "found"),
        ("processes", 0, "found"),
        ("memory", "much", "memory 'much' is not a size"),
        ("memory", 1.5, r"memory '1\.5' is not a size"),
        ("memory", "4", "memory '4' has no unit"),
        ("plies", range(3, 3), "found"),
        ("plies", range(0, 4, 2), "found"),
    ],
)
def test_builds_that_make_no_sense_are_refused(
    small: Board, small_folder: Path, tmp_path: Path, option: str, value: object, said: str
) -> None:
    """Whether or not the table is there, before anything is done."""
    for folder in (tmp_path, small_folder):
        with pytest.raises(BadTextError, match=said):
            tb.build(small, folder=folder, **{option: value})
    with pytest.raises(BadTextError, match=said):
        tb.plan(small, **{option: value})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.smoke
def test_an_option_that_nobody_knows_is_refused(small: Board, small_folder: Path) -> None:
    for ask in (tb.plan, tb.build, tb.open_tablebase, tb.verify, tb.oracle):
        with pytest.raises(TypeError, match="frobnicate"):
            ask(small, frobnicate=1)
    for make in (tb.board, tb.solver):
        with pytest.raises(BadTextError, match="has no option 'frobnicate'"):
            make(small.title, frobnicate=1)
    wanted = "found level 'deep', wanted one of spot, quick, sample, full"
    with pytest.raises(BadTextError, match=wanted):
        tb.verify(small, "deep", folder=small_folder)  # type: ignore[arg-type]
