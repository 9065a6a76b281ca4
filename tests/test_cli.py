"""The commands as a user runs them: output, exit codes, one line per error."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from retro import errors
from tablebase.cli import build, main

COMMANDS = ("probe", "line", "stats", "strategy", "play", "match", "list", "verify")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelf")
    for board in ("4x4", "5x4"):
        assert build.main([board, "--dir", str(folder), "--quiet"]) == 0
    assert build.main(["4x3", "--connect", "3", "--dir", str(folder), "--quiet"]) == 0
    return folder


@pytest.fixture(autouse=True)
def use_shelf(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEBASE_DIR", str(shelf))


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main.main(list(arguments))
    return status, *capsys.readouterr()


def test_stats_json_keeps_its_contract(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = ask(capsys, "stats", "5x4", "--json")
    stats = json.loads(out)
    assert status == 0
    assert (stats["board"], stats["connect"], stats["value"]) == ("5x4", 4, "DRAW")
    assert stats["positions"] == 3_945_711
    counts = {"positions": 1, "win": 0, "draw": 1, "loss": 0, "terminal": 0}
    assert stats["plies"][0] == {"ply": 0, **counts}
    totals = [sum(ply[key] for ply in stats["plies"]) for key in ("win", "draw", "loss")]
    assert totals == [1_390_516, 1_303_636, 1_251_559]


def test_probe_json_keeps_its_contract(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = ask(capsys, "probe", "5x4", "443", "--json")
    found = json.loads(out)
    assert status == 0
    assert (found["position"], found["side_to_move"], found["value"]) == ("443", "second", "WIN")
    order = [move["value"] for move in found["moves"]]
    assert order == sorted(order, key=("WIN", "DRAW", "LOSS").index)
    assert found["best"] == [m["move"] for m in found["moves"] if m["value"] == "WIN"]


def test_probe_draws_the_board_and_says_whose_value_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = ask(capsys, "probe", "5x4", "443")
    assert "the second player, is to move: WIN for the second player" in out
    lines = out.splitlines()
    at = lines.index("  1 2 3 4 5")
    assert lines[at - 4 : at] == ["  . . . . .", "  . . . . .", "  . . . 0 .", "  . . @ @ ."]
    assert lines[at + 1].split()[:5] == ["D", "W", "L", "L", "D"]


def test_a_grid_file_and_its_moves_are_the_same_question(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    grid = tmp_path / "grid.txt"
    grid.write_text("5x4\n.....\n.....\n...0.  # answered on top\n..@@.\n")
    _, by_grid, _ = ask(capsys, "probe", "5x4", "--grid", str(grid), "--json")
    _, by_moves, _ = ask(capsys, "probe", "5x4", "443", "--json")
    a, b = json.loads(by_grid), json.loads(by_moves)
    assert {k: a[k] for k in a if k != "position"} == {k: b[k] for k in b if k != "position"}
    assert sorted(a["position"]) == sorted("443")


def test_the_line_is_made_of_first_moves(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = ask(capsys, "line", "5x4", "443", "--json")
    line = json.loads(out)["line"]
    moves = "443"
    for move in line:
        _, out, _ = ask(capsys, "probe", "5x4", moves, "--json")
        assert json.loads(out)["moves"][0]["move"] == move
        moves += move
    assert ask(capsys, "probe", "5x4", moves)[0] == errors.GameOverError.exit_code


def test_list_shows_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = ask(capsys, "list", "--json")
    tables = {(t["board"], t["connect"]): t["value"] for t in json.loads(out)["tables"]}
    assert tables == {("4x4", 4): "DRAW", ("5x4", 4): "DRAW", ("4x3", 3): "WIN"}
    assert len(ask(capsys, "list")[1].splitlines()) == 3


def test_connect_names_another_table(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = ask(capsys, "stats", "4x3", "--connect", "3", "--json")
    assert json.loads(out)["positions"] == 7157  # tests/data/connect3_values.csv


@pytest.mark.parametrize("level", ["quick", "sample", "full"])
def test_verify_says_what_it_checked(capsys: pytest.CaptureFixture[str], level: str) -> None:
    status, out, _ = ask(capsys, "verify", "4x4", "--level", level, "--json")
    found = json.loads(out)
    assert status == 0
    assert found["sound"] is True
    assert found["level"] == level
    assert (found["positions"] > 0) == (level != "quick")


def test_the_solver_confirms_every_position_of_4x4(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = ask(capsys, "verify", "4x4", "--solver", "--json")
    _, stats, _ = ask(capsys, "stats", "4x4", "--json")
    plies = json.loads(stats)["plies"][:-1]
    assert status == 0
    assert json.loads(out)["solver"] == sum(p["positions"] - p["terminal"] for p in plies)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (["probe", "5x4", "4!"], errors.BadTextError, "wanted a column from 1 to 5"),
        (["probe", "5by4"], errors.BadTextError, "wanted WIDTHxHEIGHT"),
        (["probe", "9x9"], errors.BadTextError, "the limit is 64"),
        (["probe", "5x4", "8"], errors.IllegalPositionError, "columns are 1 to 5"),
        (["probe", "5x4", "11111"], errors.IllegalPositionError, "column 1 is full"),
        (["probe", "5x4", "1212121"], errors.GameOverError, "4 in a line"),
        (["line", "5x4", "1212121"], errors.GameOverError, "4 in a line"),
        (["probe", "6x4", "1212121"], errors.GameOverError, "4 in a line"),
        (["probe", "6x4", "7"], errors.IllegalPositionError, "columns are 1 to 6"),
        (["line", "5x4", "--memory", "0"], errors.BadTextError, "at least 1 MB"),
        (["stats", "6x4"], errors.MissingTableError, "build-tablebase 6x4"),
        (["stats", "3x3", "--connect", "3"], errors.MissingTableError, "--connect 3"),
        (["probe", "nowhere.h5"], errors.MissingTableError, "nowhere.h5"),
        (["probe", "5x4", "--grid", "nowhere.txt"], errors.BadTextError, "nowhere.txt"),
    ],
)
def test_mistakes_get_one_clear_line_and_their_own_exit_code(
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    error: type[errors.TablebaseError],
    words: str,
) -> None:
    status, out, err = ask(capsys, *arguments)
    assert status == error.exit_code
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("error: ")
    assert words in err


@pytest.mark.parametrize(
    ("grid", "error"),
    [
        ("4x4" + "." * 16, errors.WrongBoardError),
        ("5x4" + "." * 19, errors.BadTextError),
        ("5x4" + "." * 19 + "?", errors.BadTextError),
        ("5x4 @" + "." * 19, errors.IllegalPositionError),
        ("5x4" + "." * 15 + "@@...", errors.IllegalPositionError),
    ],
)
def test_bad_grids_name_the_file(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    grid: str,
    error: type[errors.TablebaseError],
) -> None:
    path = tmp_path / "bad.grid"
    path.write_text(grid)
    status, _, err = ask(capsys, "probe", "5x4", "--grid", str(path))
    assert status == error.exit_code
    assert "bad.grid" in err


def test_exit_codes_differ_by_cause() -> None:
    named = [e for e in vars(errors).values() if getattr(e, "__module__", "") == "retro.errors"]
    codes = {e.exit_code for e in named if e not in (errors.TablebaseError, errors.ChecksumError)}
    assert len(codes) == len(named) - 2


def test_a_truncated_table_is_damaged(capsys: pytest.CaptureFixture[str], shelf: Path) -> None:
    whole = (shelf / "connect4-4x4.h5").read_bytes()
    broken = shelf / "broken.h5"
    broken.write_bytes(whole[: len(whole) // 2])
    try:
        status, _, err = ask(capsys, "verify", str(broken))
        assert status == errors.DamagedFileError.exit_code
        assert "broken.h5" in err
        assert build.main(["4x4", "--out", str(broken)]) == errors.DamagedFileError.exit_code
        assert "--force" in capsys.readouterr().err
        assert ask(capsys, "list")[0] == errors.DamagedFileError.exit_code
    finally:
        broken.unlink()


def test_building_twice_says_there_is_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert build.main(["4x4"]) == 0
    out, err = capsys.readouterr()
    assert "nothing to do" in err
    assert "value of the empty board for the first player: DRAW" in out
    assert "total" in out
    assert "161,029" in out


def test_a_plan_builds_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert build.main(["6x5", "--plan", "--json", "--dir", str(tmp_path)]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["ranked"] == 1_607_671_734
    assert plan["seconds"] > 1
    assert plan["memory"] > 100_000_000
    assert plan["disk"] > 10_000_000
    assert list(tmp_path.iterdir()) == []


def test_a_build_that_cannot_fit_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert build.main(["8x7", "--dir", str(tmp_path)]) == errors.DoesNotFitError.exit_code
    _, err = capsys.readouterr()
    assert "of free memory" in err
    assert "on disk" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["5x4", "--threads", "0"], ["5x4", "--connect", "1"], []])
def test_wrong_options_are_usage_errors(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        build.main(arguments)
    assert raised.value.code == 2


def test_ctrl_c_ends_cleanly_and_the_same_command_resumes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tablebase.cli.build", "6x5", "--dir", str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    part = tmp_path / "connect4-6x5.h5.partial" / "ply-26.part"
    deadline = time.monotonic() + 300  # kernels may have to be compiled, on a busy machine
    while not part.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == errors.EXIT_INTERRUPTED
    assert out == ""
    assert "Traceback" not in err
    assert "resumes" in err
    assert part.exists()
    assert not list(tmp_path.glob("**/*.tmp"))


def test_importing_the_package_is_quick() -> None:
    code = (
        "import sys, tablebase, retro\n"
        "print(*(m for m in ('numba', 'h5py', 'numpy', 'rich') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_probing_compiles_nothing(shelf: Path) -> None:
    """A second process that probes finds every kernel in the cache of the first."""
    code = (
        "import numba.core.event as event\n"
        "with event.install_recorder('numba:compile') as recorder:\n"
        "    from tablebase.cli.main import main\n"
        "    assert main(['probe', '5x4', '443', '--json']) == 0\n"
        "assert not recorder.buffer, recorder.buffer\n"
    )
    environment = {**os.environ, "TABLEBASE_DIR": str(shelf)}
    command = [sys.executable, "-c", code]
    subprocess.run(command, env=environment, check=False, capture_output=True)  # fills the cache
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_command_has_help_and_is_in_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    for command in COMMANDS:
        with pytest.raises(SystemExit) as raised:
            main.main([command, "--help"])
        assert raised.value.code == 0
        assert command in capsys.readouterr().out
        assert f"tablebase {command}" in readme
    listed = main.make_parser().format_help()
    assert all(command in listed for command in COMMANDS)


def test_python_m_tablebase_is_the_command() -> None:
    command = [sys.executable, "-m", "tablebase", "stats", "4x4", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["positions"] == 161_029
