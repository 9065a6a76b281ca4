"""What no table covers is searched: the same answers, and both say who gave them."""

import json
import shutil
from pathlib import Path

import pytest

from retro import errors
from retro.games.connect import Board
from retro.games.connect_text import read_moves
from tablebase.build import build_tablebase
from tablebase.cli import build, main
from tablebase.oracle import Oracle
from tablebase.probe import Tablebase, open_tablebase

BOARD = Board(5, 4)
POSITIONS = ("", "443", "12", "1212", "3331115", "1231231")


@pytest.fixture
def table(built_5x4: object, table_folder: Path):
    with open_tablebase(table_folder / "connect4-5x4.h5") as opened:
        yield opened


@pytest.fixture
def searching() -> Oracle:
    return Oracle(BOARD, [], memory_mb=16)


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main.main(list(arguments))
    return status, *capsys.readouterr()


@pytest.mark.parametrize("moves", POSITIONS)
def test_table_and_search_answer_alike(table: Tablebase, searching: Oracle, moves: str) -> None:
    by_table = Oracle(BOARD, [table]).probe(moves)
    by_search = searching.probe(moves)
    assert by_search == by_table._replace(source="search")
    assert (by_table.source, by_search.source) == ("table", "search")


@pytest.mark.parametrize("moves", POSITIONS)
def test_both_lines_keep_the_value_to_the_end(
    table: Tablebase, searching: Oracle, moves: str
) -> None:
    by_table, by_search = Oracle(BOARD, [table]).best_line(moves), searching.best_line(moves)
    assert (by_table.source, by_search.source) == ("table", "search")
    assert by_table.value == by_search.value == table.probe_wdl(moves)
    for line in (by_table, by_search):
        position, value = read_moves(BOARD, moves), line.value
        for move in line.moves:
            assert table.probe_wdl(position) == value == move.value
            position, value = position.play(move.number), -value
        assert position.is_over()
    assert len(by_search.moves) == searching.solver.solve(moves, strong=True).plies


def test_a_table_of_some_plies_answers_those(table: Tablebase, tmp_path: Path) -> None:
    path = tmp_path / "later.h5"
    build_tablebase(BOARD, path, plies=range(6, BOARD.cells + 1))
    searches: list[str] = []
    with open_tablebase(path) as part:
        oracle = Oracle(BOARD, [part], memory_mb=16, before_search=lambda: searches.append("one"))
        assert oracle.probe("333111").source == "table"
        assert oracle.best_line("333111").source == "table"
        assert searches == []
        assert oracle.probe("33311") == table.probe("33311")._replace(source="search")
        assert oracle.best_line("33311").source == "search"
        assert searches == ["one"]
        with pytest.raises(errors.NotCoveredError):
            part.probe("33311")


@pytest.mark.parametrize("command", ["probe", "line"])
def test_a_command_without_its_table_searches_and_says_so(
    capsys: pytest.CaptureFixture[str], command: str, built_5x4: object, table_folder: Path
) -> None:
    there, nowhere = str(table_folder), str(table_folder / "nowhere")
    status, out, err = ask(capsys, command, "5x4", "443", "--dir", there)
    assert (status, err) == (0, "")
    assert "WIN for the second player, by table" in out
    status, out, err = ask(capsys, command, "5x4", "443", "--dir", nowhere)
    assert status == 0
    assert "WIN for the second player, by search" in out
    assert f"build it with: build-tablebase 5x4 --dir {nowhere}" in err
    for folder, source in ((there, "table"), (nowhere, "search")):
        _, out, _ = ask(capsys, command, "5x4", "443", "--dir", folder, "--json")
        found = json.loads(out)
        assert (found["value"], found["source"]) == ("WIN", source)


@pytest.mark.parametrize("command", ["probe", "line"])
def test_a_time_limit_has_its_own_exit_code(
    capsys: pytest.CaptureFixture[str], command: str, tmp_path: Path
) -> None:
    limits = ["--memory", "16", "--time-limit", "0"]
    status, out, err = ask(capsys, command, "7x6", "1", "--dir", str(tmp_path), *limits)
    assert status == errors.TimeLimitError.exit_code
    assert out == ""
    assert err.splitlines()[-1] == "error: not answered within 0 s"


def test_a_damaged_table_is_an_error_not_a_reason_to_search(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "connect4-5x4.h5").write_text("no table")
    status, out, _ = ask(capsys, "probe", "5x4", "--dir", str(tmp_path))
    assert (status, out) == (errors.DamagedFileError.exit_code, "")


@pytest.mark.parametrize("command", ["probe", "line", "stats", "verify", "solve", "match"])
@pytest.mark.parametrize("held", ["connect4-5x4", "mnk 3x3"])
def test_a_file_that_holds_something_else_is_refused(
    capsys: pytest.CaptureFixture[str],
    command: str,
    held: str,
    built_5x4: object,
    table_folder: Path,
    tmp_path: Path,
) -> None:
    path = tmp_path / "connect4-6x4.h5"
    if held.startswith("connect"):
        shutil.copy(table_folder / f"{held}.h5", path)
    else:
        assert build.main(["mnk", "3x3", "--out", str(path), "--quiet"]) == 0
    arguments = {
        "solve": ["--board", "6x4", "--tables"],
        "match": ["--board", "6x4", "--first", "perfect", "--second", "random", "--dir"],
    }.get(command, ["6x4", "--dir"])
    status, out, err = ask(capsys, command, *arguments, str(tmp_path))
    assert (status, out) == (errors.WrongBoardError.exit_code, "")
    assert f"{path} holds {held}, not " in err


def test_a_file_of_connect_four_is_no_table_of_another_game(
    capsys: pytest.CaptureFixture[str], built_5x4: object, table_folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mnk-4x4-connect4.h5"
    shutil.copy(table_folder / "connect4-5x4.h5", path)
    question = ["probe", "mnk", "4x4", "--connect", "4", "--dir", str(tmp_path)]
    status, out, err = ask(capsys, *question)
    assert (status, out) == (errors.WrongBoardError.exit_code, "")
    assert f"{path} holds connect4-5x4, not another game" in err
