"""`build-tablebase`: plans, refusals, interruptions."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_cases import Ask

from retro import errors
from tablebase.building import plan as plans
from tablebase.building.halves import plan as halves_plan


def test_building_twice_says_there_is_nothing_to_do(ask: Ask, shelf: Path) -> None:
    said = ask("bt 5x4")
    assert "nothing to do" in said.err
    assert "value of the empty board for the first player: DRAW" in said.out
    assert "3,945,711" in said.out
    assert json.loads(ask("bt mnk 3x3 --json").out)["was_there"]
    assert ask("bt mnk 3x3 --quiet").err == ""


def test_a_plan_builds_nothing(ask: Ask, tmp_path: Path) -> None:
    plan = json.loads(ask(f"bt 6x5 --plan --json --dir {tmp_path}").out)
    assert plan["positions"] == 1_607_671_734
    assert plan["error"] == 1
    assert plan["seconds"] > 1
    assert plan["memory"] > 100_000_000
    assert plan["disk"] > 10_000_000
    out = ask(f"bt 6x5 --plan --dir {tmp_path}").out
    assert "positions         1,607,671,734\n" in out
    assert list(tmp_path.iterdir()) == []


def test_a_build_that_cannot_fit_is_refused(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (plans, halves_plan):  # a machine with little memory
        monkeypatch.setattr(module, "available_memory", lambda: 200_000_000)
    said = ask(f"bt 6x6 --dir {tmp_path}")
    assert said.status == errors.DoesNotFitError.exit_code
    assert "of free memory" in said.err
    said = ask(f"bt mnk 9x9 --dir {tmp_path}")
    assert said.status == errors.DoesNotFitError.exit_code
    assert "81 cells" in said.err
    assert list(tmp_path.iterdir()) == []


def test_every_game_takes_the_same_options(ask: Ask, tmp_path: Path) -> None:
    for board in ("4x3 --connect 3", "mnk 3x3"):
        said = ask(f"bt {board} --memory 1G --threads 1 --dir {tmp_path} --force --json")
        assert said.status == 0, said.err
        assert not json.loads(said.out)["was_there"]
    over = ask(f"bt mnk 3x3 --from 'a1 a2 b1 b2 c1' --dir {tmp_path / 'none'}")
    assert over.status == errors.GameOverError.exit_code


@pytest.mark.parametrize(
    "line", ["5x4 --threads 0", "5x4 --plies 9..3", "", "5x4 443", "5x4 --out x --dir y"]
)
def test_wrong_options_are_usage_errors(line: str, ask: Ask) -> None:
    said = ask(f"bt {line}")
    assert said.status == 2
    assert said.err.count("\n") == 1


def test_ctrl_c_ends_cleanly_and_the_same_command_resumes(tmp_path: Path) -> None:
    # With less memory than a short build would take, groups and plies are kept in files.
    asked = ["6x5", "--memory", "320M", "--dir", str(tmp_path)]
    command = [sys.executable, "-m", "tablebase.cli.build", *asked]
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


def test_an_interrupted_build_says_how_to_go_on(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    line = f"bt mnk 3x3 --dir {tmp_path}"
    with monkeypatch.context() as patched:
        patched.setattr("tablebase.building.keys.plan.MOST_IN_MEMORY", 0)
        patched.setattr("tablebase.building.keys.tasks.walk_back", interrupt)
        said = ask(line)
    assert said.status == errors.EXIT_INTERRUPTED
    assert "the same command resumes there" in said.err
    assert list(tmp_path.glob("*.partial/alive-09-*.part"))
    assert ask(line).status == 0
    assert not list(tmp_path.glob("*.partial"))


def test_what_would_be_refused_is_said_in_a_short_line(ask: Ask) -> None:
    """The name of such a board is as long as a line."""
    said = ask("bt puissance-plus 7x6 --plan")
    assert said.status == 0
    assert said.err.startswith("would be refused: puissance-plus-7x6")
    assert len(said.err.splitlines()[-1]) <= 200


@pytest.mark.slow
def test_a_build_in_memory_keeps_to_its_plan(tmp_path: Path) -> None:
    """What is packed between groups that stay lies far apart: 90 MB of 6x5 were not planned."""
    asked = ["6x5", "--memory", "900M", "--dir", str(tmp_path)]
    command = [sys.executable, "-m", "tablebase.cli.build", *asked]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    planned = re.search(r"(\d+) MB of memory, .* MB on disk \((.*) while", done.stderr)
    taken = re.search(r"at most (\d+) MB of memory", done.stderr)
    assert planned, done.stderr
    assert taken, done.stderr
    assert planned[0].count(planned[2]) == 2  # as much on disk while building: groups in memory
    assert int(taken[1]) <= int(planned[1])
