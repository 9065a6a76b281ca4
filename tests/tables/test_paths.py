"""A path is text or a `Path`, wherever one is taken."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tablebase as tb
from retro.errors import BadTextError
from tablebase.files.places import table_path
from tablebase.players import Means, Players

BOARD = "3x3 connect=3"
LIGHT = "1M"  # memory of a search


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paths")
    tb.build(BOARD, folder=folder)
    tb.build(BOARD, folder=folder, root="1")
    return folder


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("place", ["path", "folder", "work_dir"])
def test_build(place: str, kind: Callable[[Path], Any], tmp_path: Path) -> None:
    if place == "path":
        built = tb.build(BOARD, kind(tmp_path / "t.h5"))
    elif place == "folder":
        built = tb.build(BOARD, folder=kind(tmp_path / "new"))
    else:
        built = tb.build(BOARD, tmp_path / "t.h5", work_dir=kind(tmp_path))
    assert (built.path.exists(), built.was_there) == (True, False)
    again = {"folder": kind(built.path.parent)} if place == "folder" else {"path": kind(built.path)}
    assert tb.build(BOARD, **again).was_there


@pytest.mark.parametrize("kind", [str, Path])
def test_what_asks_a_table(kind: Callable[[Path], Any], folder: Path) -> None:
    name = table_path(tb.board(BOARD).start(), folder).name
    with (
        tb.open_tablebase(BOARD, folder=kind(folder)) as table,
        tb.open_tablebase(BOARD, folder=kind(folder), root="1") as rooted,
        tb.open_tablebase(kind(folder / name)) as same,
        tb.oracle(BOARD, folder=kind(folder), memory=LIGHT) as oracle,
        Players(tb.board(BOARD), Means(kind(folder))) as players,
    ):
        assert (table.path, rooted.root.text) == (folder / name, "1")
        assert same.digest == table.digest
        assert [table.path for table in oracle.tables] == [folder / name]
        assert oracle.probe("").source == "table"
        assert [table.path for table in players.oracle.tables] == [folder / name]
    verified = tb.verify(BOARD, folder=kind(folder))
    assert verified.plies == tb.verify(kind(folder / name)).plies > 0


@pytest.mark.parametrize("kind", [str, Path])
def test_what_a_plan_needs_of_a_disk(kind: Callable[[Path], Any], tmp_path: Path) -> None:
    plan = tb.plan(BOARD)
    assert plan.obstacle(kind(tmp_path / "not" / "yet")) is None
    assert plan.warning(kind(tmp_path / "not" / "yet")) is None


@pytest.mark.parametrize("kind", [str, Path])
def test_a_file_is_no_folder(kind: Callable[[Path], Any], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for ask in (tb.build, tb.open_tablebase, tb.oracle, tb.verify):
        with pytest.raises(BadTextError, match=r"file is a file, not a folder of tables"):
            ask(BOARD, folder=kind(tmp_path / "file"))
