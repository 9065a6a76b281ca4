"""What people type wrongly or oddly: one line, the exit code of the cause, never a traceback."""

from pathlib import Path

import pytest

from retro import errors
from tablebase.cli import build, main

LONG = "1" * 300  # no name of a file may be so long
COMMANDS = {"tb": main.main, "bt": build.main}


def ask(capsys: pytest.CaptureFixture[str], line: str, **names: object) -> tuple[int, str, str]:
    """Run a command; words in braces stand for what must not be split."""
    capsys.readouterr()
    command, *words = (word.format(**names) for word in line.split())
    try:
        status = COMMANDS[command](words)
    except SystemExit as exit_:  # argparse
        status = int(exit_.code or 0)
    return status, *capsys.readouterr()


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("tb solve {long}", errors.IllegalPositionError.exit_code),
        ("tb solve --game mnk 3x3 {long}", errors.BadTextError.exit_code),
        ("bt 5x4 --from {long}", errors.IllegalPositionError.exit_code),
        ("bt 5x4 --out {long}", errors.StorageError.exit_code),
        ("bt 5x4 --dir {long}", errors.StorageError.exit_code),
        ("tb stats {long}.h5", errors.StorageError.exit_code),
        ("tb list --dir {long}", errors.StorageError.exit_code),
        ("tb solve 1 --tables {long}", errors.StorageError.exit_code),
        ("tb solve --game mnk 3x3 --tables {long}", errors.StorageError.exit_code),
        ("tb match --first perfect --second random --dir {long}", errors.StorageError.exit_code),
    ],
)
def test_text_too_long_for_a_path_gets_one_line(
    line: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    found, out, err = ask(capsys, line, long=LONG)
    assert (found, out) == (status, "")
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("line", ["bt 5x4 --out {empty}", "bt mnk 3x3 --out {empty}"])
def test_a_file_to_write_has_a_name(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = ask(capsys, line, empty="")
    assert status == 2
    assert "found '', wanted the path of a file" in err


@pytest.mark.parametrize("command", ["solve {empty} --board 4x4", "probe 4x4"])
def test_memory_beyond_all_machines_does_not_fit(
    command: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for megabytes in ("99999999999999999999", "9999999999999"):
        line = f"tb {command} --memory {megabytes}"
        status, _, err = ask(capsys, line, empty="")
        assert status == errors.DoesNotFitError.exit_code
        assert "MB does not fit in memory" in err.splitlines()[-1]


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "soon"])
@pytest.mark.parametrize(
    "command",
    ["solve 1", "solve mnk 3x3", "probe 4x4", "match --first random --second random", "play"],
)
def test_a_time_limit_ends(command: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = ask(capsys, f"tb {command} --time-limit={text}")
    assert status == 2
    assert f"found {text!r}, wanted seconds such as 10" in err
