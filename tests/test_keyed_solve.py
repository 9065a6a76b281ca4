"""`tablebase solve --game`: one word on stdout, statistics on stderr, an exit code per error."""

import json
from pathlib import Path

import pytest

from retro import errors
from tablebase.cli import build, main


@pytest.fixture(autouse=True)
def no_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEBASE_DIR", str(tmp_path / "none"))


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main.main(["solve", *arguments])
    return status, *capsys.readouterr()


@pytest.mark.parametrize(
    ("board", "letter"),
    [("1x1", "P"), ("1x5", "H"), ("2x5", "V"), ("4x4", "N"), ("5x5", "P"), ("4x5", "V")],
)
def test_classes_of_domineering(
    capsys: pytest.CaptureFixture[str], board: str, letter: str
) -> None:
    status, out, err = ask(capsys, "--game", "domineering", board)
    assert (status, out) == (0, f"{letter}\n")
    assert "vertical starts" in err
    assert "horizontal starts" in err
    rows, cols = board.split("x")
    assert f"{rows} rows, {cols} columns: {letter}" in err


def test_json_of_a_class(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = ask(capsys, "domineering", "4x5", "--json")
    found = json.loads(out)
    assert status == 0
    assert (found["class"], found["rows"], found["cols"]) == ("V", 4, 5)
    assert found["vertical_starts"]["value"] == "WIN"
    assert found["horizontal_starts"]["value"] == "LOSS"
    assert found["horizontal_starts"]["nodes"] > 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["domineering", "3x3", "b1 a3"], "WIN"),
        (["domineering", "3x3", "--starts", "horizontal"], "WIN"),
        (["domineering", "2x4", "--starts", "vertical"], "LOSS"),
        (["domineering", "2x2", "2x2 H X. .."], "WIN"),
        (["mnk", "3x3"], "DRAW"),
        (["mnk", "3x3", "a1 a2"], "WIN"),
        (["mnk", "4x3", "--connect", "3"], "WIN"),
        (["puissance-plus", "3x3", "--target", "5", "--values", "121/232/121"], "WIN"),
        (["quarto", "2x2", "--attributes", "2"], "LOSS"),
    ],
)
def test_values_of_every_game(
    capsys: pytest.CaptureFixture[str], arguments: list[str], word: str
) -> None:
    status, out, err = ask(capsys, "--game", *arguments)
    assert (status, out) == (0, f"{word}\n")
    assert f"{word} for the side to move, by search" in err


def test_json_of_a_value(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = ask(capsys, "--game", "mnk", "3x3", "a1 a2", "--json")
    found = json.loads(out)
    assert (found["game"], found["board"], found["position"]) == ("mnk", "3x3", "a1 a2")
    assert (found["value"], found["source"]) == ("WIN", "search")


def test_a_grid_file_and_a_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    grid = tmp_path / "grid.txt"
    grid.write_text("2x3 H  # Horizontal to move\n. . .\n. H H\n")
    assert ask(capsys, "domineering", "2x3", str(grid))[:2] == (0, "WIN\n")
    grid.write_text("2x3 V . . .")
    status, _, err = ask(capsys, "domineering", "2x3", str(grid))
    assert status == errors.BadTextError.exit_code
    assert err.startswith(f"error: {grid}: ")
    shelf = tmp_path / "shelf"
    for starts in ("vertical", "horizontal"):
        words = ["domineering", "3x3", "--starts", starts, "--dir", str(shelf), "--quiet"]
        assert build.main(words) == 0
    _, out, _ = ask(capsys, "domineering", "3x3", "--tables", str(shelf), "--json")
    found = json.loads(out)
    assert (found["class"], found["vertical_starts"]["source"]) == ("N", "table")
    words = ["domineering", "3x3", "3x3 V X.. ... ...", "--tables", str(shelf)]
    assert "by search" in ask(capsys, *words)[2]  # a hole: no play leads there


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["--game", "chess", "3x3"], errors.BadTextError, "wanted one of"),
        (["domineering", "3by3"], errors.BadTextError, "wanted ROWSxCOLS"),
        (["domineering", "9x9"], errors.DoesNotFitError, "81 cells"),
        (["domineering", "3x3", "b1 a3 c1"], errors.GameOverError, "vertical wins"),
        (["domineering", "3x3", "a9"], errors.IllegalPositionError, "not on the board"),
        (["domineering", "3x3", "--starts", "x"], errors.BadTextError, "wanted vertical or"),
        (["domineering", "3x3", "--memory", "0"], errors.BadTextError, "at least 1 MB"),
        (["domineering", "8x8", "--time-limit", "0"], errors.TimeLimitError, "not solved within"),
        (["mnk", "3x3", "a1 b1 a2 b2 a3"], errors.GameOverError, "3 in a line"),
    ],
)
def test_errors(
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    error: type[errors.TablebaseError],
    message: str,
) -> None:
    status, out, err = ask(capsys, *arguments, *(["--memory", "1"] if "8x8" in arguments else []))
    assert (status, out) == (error.exit_code, "")
    assert message in err
    assert "Traceback" not in err


def test_connect_four_keeps_its_own_solver(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--board", "4x4", "12", "--memory", "16"]
    assert ask(capsys, "--game", "connect4", *words)[:2] == ask(capsys, *words)[:2]


def test_the_help_names_the_games(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main.main(["solve", "--game", "domineering", "--help"])
    assert "rows x columns" in capsys.readouterr().out
