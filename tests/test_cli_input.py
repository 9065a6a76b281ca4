"""What people type wrongly or oddly: one line, the exit code of the cause, never a traceback."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest

from retro import errors
from retro.games.catalogue import NAMES, find_game
from tablebase.cli import build, games, keyed, keyed_solve, main

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


@pytest.mark.parametrize("folder", ["mnk", "quarto", "connect4"])
def test_a_folder_may_be_called_like_a_game(
    folder: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ask(capsys, f"bt 4x3 --connect 3 --dir {folder} --quiet")[0] == 0
    assert ask(capsys, f"tb stats 4x3 --connect 3 --dir {folder}")[0] == 0
    status, out, err = ask(capsys, f"tb solve 22 --board 4x3 --connect 3 --tables {folder}")
    assert (status, "by table" in err) == (0, True), out
    assert ask(capsys, f"bt --dir {folder} mnk 3x3 --quiet")[0] == 0
    assert ask(capsys, f"tb stats --dir {folder} mnk 3x3")[0] == 0
    assert ask(capsys, f"tb probe mnk 3x3 --dir={folder} b2")[0] == 0


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("tb solve --game=mnk 3x3 b2", "tb solve --game mnk 3x3 b2"),
        ("tb solve mnk 3x3 b2", "tb solve --game mnk 3x3 b2"),
        ("tb solve 3x3 --strong b2 --game mnk", "tb solve --game mnk 3x3 b2 --strong"),
        ("tb probe --game mnk 3x3 b2", "tb probe mnk 3x3 b2"),
        ("tb solve connect4 12 --board 4x4", "tb solve 12 --board 4x4"),
        ("tb solve --game=connect4 12 --board 4x4", "tb solve 12 --board 4x4"),
        ("tb probe connect4 4x4 12", "tb probe 4x4 12"),
        ("tb probe 4x4 --memory 16 12", "tb probe 4x4 12 --memory 16"),
        ("tb line --json 4x4 --memory 16 12", "tb line 4x4 12 --memory 16 --json"),
    ],
)
def test_words_may_come_in_any_order(
    line: str, same: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = ask(capsys, line)
    assert (status, out) == ask(capsys, same)[:2]
    assert status == 0


def all_parsers() -> Iterator[argparse.ArgumentParser]:
    yield build.make_parser()
    for name in NAMES:
        game = find_game(name)
        yield keyed._build_parser(game)
        yield from (keyed._question_parser(command, game) for command in keyed.QUESTIONS)
        yield from (keyed_solve._parser(command, game) for command in keyed_solve.COMMANDS)
    for asked in ("play", "match"):
        whole = main.make_parser(asked)
        yield whole
        for action in whole._actions:
            if isinstance(action, argparse._SubParsersAction):
                yield from action.choices.values()


def test_the_options_without_a_value_are_known() -> None:
    found = {
        word
        for parser in all_parsers()
        for action in parser._actions
        if action.option_strings and action.nargs == 0
        for word in action.option_strings
    }
    assert found == {*games.FLAGS, "-h"}


def test_memory_is_megabytes_or_a_size(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("solve 1", "solve mnk 3x3", "probe 4x4", "play"):
        status, _, err = ask(capsys, f"tb {command} --memory x")
        assert status == 2
        assert "found 'x', wanted megabytes such as 512, or a size such as 4G" in err
    for size in ("16", "16M", "0.016G"):
        assert ask(capsys, f"tb solve 12 --board 4x4 --memory {size}")[:2] == (0, "DRAW\n")
    assert ask(capsys, "tb solve 12 --board 4x4 --memory 1k")[0] == errors.BadTextError.exit_code


def test_boards_are_named_as_they_are_typed(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, err = ask(capsys, "bt mnk 9x9 --connect 5")
    assert "9x9 with 5 in a line" in err
    _, _, err = ask(capsys, "tb solve mnk 4x3 a9")
    assert "4x3" in err


def test_one_is_singular(capsys: pytest.CaptureFixture[str]) -> None:
    players = "--first random --second random"
    _, out, _ = ask(capsys, f"tb match --game mnk --board 3x3 {players} --games 1")
    assert out.startswith("mnk 3x3: 1 game, ")
    _, out, _ = ask(capsys, "tb line 4x4 121212")
    assert "after 1 ply the game is over" in out
