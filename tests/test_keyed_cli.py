"""The commands on tables of other games: output, exit codes, one line per error."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from retro import errors
from tablebase.cli import build, main


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelf")
    assert build.main(["mnk", "3x3", "--dir", str(folder), "--quiet"]) == 0
    assert build.main(["mnk", "3x3", "--from", "b2 a1", "--dir", str(folder), "--quiet"]) == 0
    assert build.main(["connect4", "3x3", "--connect", "3", "--dir", str(folder), "--quiet"]) == 0
    return folder


@pytest.fixture(autouse=True)
def use_shelf(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEBASE_DIR", str(shelf))


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main.main(list(arguments))
    return status, *capsys.readouterr()


def test_stats_by_name_and_by_file(capsys: pytest.CaptureFixture[str], shelf: Path) -> None:
    status, out, _ = ask(capsys, "stats", "mnk", "3x3", "--connect", "3", "--json")
    stats = json.loads(out)
    assert status == 0
    assert (stats["game"], stats["board"], stats["options"]) == ("mnk", "3x3", {"connect": "3"})
    assert (stats["value"], stats["positions"]) == ("DRAW", 5478)
    assert stats["canonical_positions"] == 765
    _, by_file, _ = ask(capsys, "stats", str(shelf / "mnk-3x3-connect3.h5"), "--json")
    assert json.loads(by_file) == stats
    _, text, _ = ask(capsys, "stats", "mnk", "3x3")
    assert "5,478" in text
    assert "value of the empty board for the first player: DRAW" in text


def test_probe_says_whose_value_it_is(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, _ = ask(capsys, "probe", "mnk", "3x3", "b2 b1")
    assert status == 0
    assert "X, the first player, is to move: WIN for the first player" in out
    assert "  2  . X .\n  1  . O .\n     a b c" in out
    _, by_moves, _ = ask(capsys, "probe", "mnk", "3x3", "b2 b1", "--json")
    (tmp_path / "grid").write_text("3,3,3\n...\n.X.\n.O.  # set up\n")
    _, by_grid, _ = ask(capsys, "probe", "mnk", "3x3", "--grid", str(tmp_path / "grid"), "--json")
    assert json.loads(by_grid) == json.loads(by_moves)
    found = json.loads(by_moves)
    assert set(found["best"]) == {m["move"] for m in found["moves"] if m["value"] == "WIN"}


def test_line_ends_the_game(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = ask(capsys, "line", "mnk", "3x3", "b2 b1")
    assert out.splitlines()[-1].endswith("the game is over: the first player has 3 in a line")
    _, out, _ = ask(capsys, "line", "mnk", "3x3", "b2 b1", "--json")
    found = json.loads(out)
    assert found["plies"] == len(found["line"])
    assert found["plies"] % 2 == 1


def test_rooted_tables_by_their_root(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = ask(capsys, "probe", "mnk", "3x3", "--from", "b2 a1", "--json")
    assert (status, json.loads(out)["position"]) == (0, "b2 a1")
    status, out, err = ask(capsys, "probe", "mnk", "3x3", "--from", "b2 a1", "a2")
    assert status == 0
    assert "by search" in out
    assert "searching: no table covers this position" in err


def test_verify(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = ask(capsys, "verify", "mnk", "3x3", "--level", "full")
    assert status == 0
    assert "positions that agree with their successors: 627" in out
    status, out, _ = ask(capsys, "verify", "mnk", "3x3", "--json")
    assert json.loads(out)["sound"]
    status, out, _ = ask(capsys, "verify", "mnk", "3x3", "--solver")
    assert "positions that the search confirmed: 627" in out


def test_list_knows_both_kinds(capsys: pytest.CaptureFixture[str], shelf: Path) -> None:
    status, out, _ = ask(capsys, "list")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == [
        "connect3-3x3",
        "mnk-3x3-connect3-from-b2-a1",
        "mnk-3x3-connect3",
    ]
    _, out, _ = ask(capsys, "list", "--json")
    assert [table.get("game") for table in json.loads(out)["tables"]] == [None, "mnk", "mnk"]


def test_connect_four_may_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    _, named, _ = ask(capsys, "stats", "connect4", "3x3", "--connect", "3", "--json")
    _, plain, _ = ask(capsys, "stats", "3x3", "--connect", "3", "--json")
    assert json.loads(named) == json.loads(plain)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["probe", "mnk", "3x3", "z9"], errors.IllegalPositionError),
        (["probe", "mnk", "3x3", "!"], errors.BadTextError),
        (["probe", "mnk", "three"], errors.BadTextError),
        (["probe", "mnk", "3x3", "--connect", "x"], errors.BadTextError),
        (["probe", "mnk", "3x3", "a1 a2 b1 b2 c1"], errors.GameOverError),
        (["probe", "mnk", "3x3", "--grid", "/nowhere"], errors.BadTextError),
        (["probe", "mnk", "3x3", "b2", "--grid", "/nowhere"], errors.BadTextError),
        (["stats", "mnk", "4x3"], errors.MissingTableError),
        (["stats", "nowhere.h5"], errors.MissingTableError),
        (["stats", "quarto", "9x9"], errors.BadTextError),
    ],
)
def test_errors_are_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], error: type[errors.TablebaseError]
) -> None:
    status, out, err = ask(capsys, *arguments)
    assert (status, out) == (error.exit_code, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_build_errors(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert build.main(["mnk", "9x9", "--dir", str(tmp_path)]) == errors.DoesNotFitError.exit_code
    assert "81 cells" in capsys.readouterr().err
    over = ["mnk", "3x3", "--from", "a1 a2 b1 b2 c1", "--dir", str(tmp_path)]
    assert build.main(over) == errors.GameOverError.exit_code
    assert not list(tmp_path.iterdir())
    again = ["mnk", "3x3"]
    assert build.main(again) == 0
    assert "nothing to do" in capsys.readouterr().err


def test_an_interrupted_build_says_how_to_go_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    arguments = ["mnk", "3x3", "--dir", str(tmp_path)]
    with monkeypatch.context() as patched:
        patched.setattr("retro.walk.keyed.evaluate", interrupt)
        assert build.main(arguments) == errors.EXIT_INTERRUPTED
    assert "the same command resumes there" in capsys.readouterr().err
    assert list(tmp_path.glob("*.partial/keys-09.h5"))
    assert build.main(arguments) == 0
    assert not list(tmp_path.glob("*.partial"))


def test_help_is_answered_without_numba() -> None:
    check = "import sys; from tablebase.cli import build, main; main.make_parser(); "
    check += "build.make_parser(); sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)
