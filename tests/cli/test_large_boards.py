"""Boards beyond 64 cells at the terminal: solved slowly, played, and named in short lines."""

import io
import re
import sys
from pathlib import Path

import pytest

from retro.errors import BadTextError, DoesNotFitError, TimeLimitError
from tablebase.cli import build, main

LONGEST_LINE = 200  # characters


@pytest.fixture(autouse=True)
def no_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEBASE_DIR", str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["mnk", "9x9", "--connect", "5", "e5 a1 e6 a2 e7 a9", "--strong"], "WIN 3"),
        (["mnk", "9x9", "--connect", "5", "e5 a1 e6 a2 e7 a9 e8", "--strong"], "LOSS 2"),
        (["mnk", "50x50", "--connect", "51"], "DRAW"),  # no line fits
        (["puissance-plus", "10x10", "--target", "6"], "WIN"),
    ],
)
def test_what_is_nearly_decided_is_solved(
    capsys: pytest.CaptureFixture[str], arguments: list[str], answer: str
) -> None:
    assert main.main(["solve", *arguments]) == 0
    out, err = capsys.readouterr()
    assert out.strip() == answer
    assert "has more than 64 cells: by the plain search" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", "mnk", "9x9", "--connect", "5"],
        ["solve", "puissance-plus", "50x50", "--target", "9"],
        ["analyse", "mnk", "12x12", "--connect", "5", "a1"],
        ["probe", "puissance-plus", "12x12", "--target", "9"],
        ["solve", "domineering", "9x9"],
    ],
)
def test_the_rest_hits_the_time_limit(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main.main([*arguments, "--time-limit", "0.3"]) == TimeLimitError.exit_code
    out, err = capsys.readouterr()
    assert out == ""
    assert "by the plain search" in err
    assert all(len(line) < LONGEST_LINE for line in err.splitlines())


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (["solve", "mnk", "51x3"], BadTextError, "found a board of 51x3, wanted sides of 1 to 50"),
        (["solve", "mnk", "0x3"], BadTextError, "found a board of 0x3, wanted sides of 1 to 50"),
        (["solve", "puissance-plus", "51x51"], BadTextError, "wanted sides of 2 to 50"),
    ],
)
def test_what_does_not_fit_is_refused_at_once(
    capsys: pytest.CaptureFixture[str], arguments: list[str], error, words: str
) -> None:
    assert main.main(arguments) == error.exit_code
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert words in err
    assert len(err) < LONGEST_LINE


def test_a_table_of_a_large_board_is_refused_in_a_short_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert build.main(["puissance-plus", "50x50", "--target", "6"]) == DoesNotFitError.exit_code
    err = capsys.readouterr().err
    assert "50x50 target=6 has 2500 cells" in err
    assert len(err) < LONGEST_LINE


@pytest.mark.parametrize(
    ("arguments", "moves"),
    [
        (["mnk", "--board", "9x9", "--connect", "5"], "e5\na1\n"),
        pytest.param(["puissance-plus", "--board", "20x20"], "e5\nquit\n", marks=pytest.mark.slow),
        pytest.param(["domineering", "--board", "9x9"], "a1\nquit\n", marks=pytest.mark.slow),
    ],
)
def test_on_a_large_board_perfect_says_what_it_can(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    moves: str,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(moves))
    assert main.main(["play", "--game", *arguments, "--second", "perfect"]) == 0
    out, err = capsys.readouterr()
    assert "elsewhere as strong as one second of looking ahead" in err
    assert "(perfect) plays " in out


def test_the_perfect_player_of_a_large_board_takes_what_is_decided(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    moves = "e5\na1\ne6\na2\ne7\na9\nhint\ne4\nhint\nquit\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(moves))
    arguments = ["--game", "mnk", "--board", "9x9", "--connect", "5", "--second", "human"]
    assert main.main(["play", *arguments, "--time-limit", "120"]) == 0  # ample on a busy machine
    out = capsys.readouterr().out
    assert "hint: e4 (WIN for you, over in 3 plies, by search)" in out
    assert re.search(r"hint: e[38] \(LOSS for you, over in 2 plies, by search\)", out)
