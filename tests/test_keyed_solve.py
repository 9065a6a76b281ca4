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


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["mnk", "3x3"], "DRAW 9"),
        (["mnk", "3x3", "b2 b1"], "WIN 5"),
        (["domineering", "3x3", "--starts", "horizontal"], "WIN 3"),
        (["domineering", "2x4", "--starts", "vertical"], "LOSS 4"),
        (["domineering", "4x4"], "N 7 7"),
        (["domineering", "4x5"], "V 9 8"),
        (["quarto", "2x2", "--attributes", "2"], "LOSS 4"),
        (["notakto", "3x3"], "WIN 6"),
    ],
)
def test_strong_adds_the_plies(
    capsys: pytest.CaptureFixture[str], arguments: list[str], answer: str
) -> None:
    status, out, err = ask(capsys, "--game", *arguments, "--strong")
    assert (status, out) == (0, f"{answer}\n")
    assert "by search" in err or "starts: " in err
    found = json.loads(ask(capsys, "--game", *arguments, "--strong", "--json")[1])
    plies = [int(word) for word in answer.split()[1:]]
    if len(plies) == 2:
        assert [found[f"{side}_starts"]["plies"] for side in ("vertical", "horizontal")] == plies
    else:
        assert found["plies"] == plies[0]


def test_analysis_of_every_move(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analyse", "--game", "mnk", "3x3", "b2 b1"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("move  value  plies")
    assert [line.split() for line in out[1:-1]] == [
        ["a1", "WIN", "5"],
        ["c1", "WIN", "5"],
        ["a2", "WIN", "5"],
        ["c2", "WIN", "5"],
        ["a3", "WIN", "5"],
        ["c3", "WIN", "5"],
        ["b3", "DRAW", "7"],
    ]
    assert out[-1] == "line: a1 c3 a2 c1 c2"
    assert main.main(["analyse", "mnk", "3x3", "b2 b1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["game"], found["position"], found["value"]) == ("mnk", "b2 b1", "WIN")
    assert found["moves"][0] == {"move": "a1", "value": "WIN", "plies": 5}
    assert found["line"] == ["a1", "c3", "a2", "c1", "c2"]


def test_a_lost_position_is_analysed_slowest_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analyse", "notakto", "3x3", "b2", "--json"]) == 0
    moves = json.loads(capsys.readouterr().out)["moves"]
    assert {move["value"] for move in moves} == {"LOSS"}
    plies = [move["plies"] for move in moves]
    assert plies == sorted(plies, reverse=True)


def test_analysis_takes_values_from_the_table(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert build.main(["mnk", "3x3", "--dir", str(tmp_path), "--quiet"]) == 0
    capsys.readouterr()
    words = ["mnk", "3x3", "b2 b1", "--strong", "--tables", str(tmp_path)]
    status, out, err = ask(capsys, *words)
    assert (status, out) == (0, "WIN 5\n")
    assert "by table and search" in err
    by_table = ["analyse", "mnk", "3x3", "b2 b1", "--tables", str(tmp_path)]
    assert main.main(by_table) == main.main(by_table[:-2]) == 0
    out = capsys.readouterr().out
    assert out[: len(out) // 2] == out[len(out) // 2 :]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["mnk", "3x3", "a1 b1 a2 b2 a3"], errors.GameOverError),
        (["mnk", "3x3", "a9"], errors.IllegalPositionError),
        (["mnk", "6x6", "--connect", "5", "--time-limit", "0"], errors.TimeLimitError),
    ],
)
def test_errors_of_an_analysis(
    capsys: pytest.CaptureFixture[str], arguments: list[str], error: type[errors.TablebaseError]
) -> None:
    assert main.main(["analyse", *arguments, "--memory", "1"]) == error.exit_code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1


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
        (["domineering", "8x8", "--time-limit", "0"], errors.TimeLimitError, "not answered within"),
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
