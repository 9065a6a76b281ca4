"""`tablebase solve` and `analyse` of Connect Four: one word, grids, errors in one line."""

import json
import re
from pathlib import Path

import pytest

from retro.errors import (
    BadTextError,
    DoesNotFitError,
    IllegalPositionError,
    TablebaseError,
    TimeLimitError,
)
from tablebase.cli import main


def test_the_command_prints_one_word(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    empty = ["--tables", str(tmp_path)]
    assert main.main(["solve", "444444", *empty, "--board", "7x6", "--memory", "64M"]) == 0
    assert capsys.readouterr().out == "WIN\n"
    assert main.main(["solve", "443", "--board", "5x4", "--strong", "--threads", "2", *empty]) == 0
    word, plies = capsys.readouterr().out.split()
    assert word == "WIN"
    assert int(plies) % 2 == 1


def test_the_command_reads_grids_of_any_counts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    grid = tmp_path / "grid.txt"
    grid.write_text("4x4 .... .... .... 000.  # three more white stones than black ones")
    assert main.main(["solve", str(grid), "--any-counts", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["value"], found["board"], found["source"]) == ("WIN", "4x4", "search")
    grid.write_text("4x4 .... .... .... @@@@")  # White, to move, has lost
    assert main.main(["solve", str(grid), "--any-counts"]) == 0
    assert capsys.readouterr().out == "LOSS\n"
    grid.write_text("4x4 .... .... .... 0000")
    assert main.main(["solve", str(grid), "--any-counts"]) == IllegalPositionError.exit_code
    assert main.main(["solve", str(tmp_path / "nothing.txt")]) == BadTextError.exit_code
    assert capsys.readouterr().out == ""


def test_the_command_says_which_of_the_two_answered(
    capsys: pytest.CaptureFixture[str], built_5x4: object, table_folder: Path
) -> None:
    for folder, source in ((table_folder, "by table"), (table_folder / "none", "by search")):
        assert main.main(["solve", "44", "--board", "5x4", "--tables", str(folder)]) == 0
        out, err = capsys.readouterr()
        assert out in ("WIN\n", "DRAW\n", "LOSS\n")
        assert source in err


def test_the_command_analyses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analyse", "443", "--board", "5x4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["value"] == "WIN"
    assert found["moves"][0]["move"] == found["line"][0]
    assert len(found["line"]) == found["moves"][0]["plies"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--board", "8x7", "--memory", "1M"], BadTextError),  # tags of 64-bit boards need 16 MB
        (["--board", "8x7", "--memory", "99999999M"], DoesNotFitError),
        (["--memory", "0M"], BadTextError),
    ],
)
def test_memory_that_cannot_be_gets_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], error: type[TablebaseError]
) -> None:
    assert main.main(["solve", "1", *arguments]) == error.exit_code
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1


def test_a_time_limit_has_its_own_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    status = main.main(["solve", "6x6", "--time-limit", "0", "--memory", "16M"])
    out, err = capsys.readouterr()
    assert status == TimeLimitError.exit_code
    assert out == ""
    # Who notices first depends on whether kernels are compiled: the command or the search.
    assert re.fullmatch(
        r"error: not (done within 0 s|solved within 0 s \([\d,]+ nodes searched\))\n", err
    )
