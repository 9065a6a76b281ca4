"""What people type, wrongly or oddly: read as it was meant, or one line, never a traceback."""

import io
import json
import os
import sys
import threading
from pathlib import Path

import pytest
from cli_cases import Ask

from retro import errors
from tablebase.cli import guard
from tablebase.cli import input as reading

LONG = "1" * 300  # no name of a file may be so long
MANY = "1 2 " * 5000
GRID = "5x4\n.....\n.....\n...{o}.  # answered on top\n..{x}{x}.\n"

pytestmark = pytest.mark.usefixtures("shelf")


@pytest.mark.parametrize("signs", ["@0", "XO", "xo"])
def test_a_grid_and_its_moves_are_the_same_question(signs: str, ask: Ask, tmp_path: Path) -> None:
    grid = tmp_path / "grid.txt"
    grid.write_text("\ufeff" + GRID.format(x=signs[0], o=signs[1]), encoding="utf-8")
    by_moves = json.loads(ask("probe 5x4 443 --json").out)
    for words in (["5x4", "--grid", str(grid)], ["5x4", str(grid)]):
        by_grid = json.loads(ask("probe", *words, "--json").out)
        assert sorted(by_grid["position"]) == sorted("443")
        assert (by_grid["value"], by_grid["best"]) == (by_moves["value"], by_moves["best"])
    # Where no board is named the grid says it.
    assert ask("solve", str(grid)).out == ask("solve 5x4 443").out


def test_standard_input_is_read(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Bytes(io.StringIO):
        buffer = io.BytesIO(b"\xef\xbb\xbf" + GRID.format(x="@", o="0").encode())

    monkeypatch.setattr(sys, "stdin", Bytes())
    assert ask("solve -").out == "WIN\n"
    for content, status in (("44!", 3), ("5x4 ?", 3), ("1" * 2_000_000, 3)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(content))
        said = ask("solve 5x4 -")
        assert said.status == status
        assert said.err.startswith("error: standard input")
    monkeypatch.setattr(sys, "stdin", None)
    assert ask("solve 5x4 -").status == errors.BadTextError.exit_code


def test_a_pipe_is_a_file(ask: Ask, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("443",))
    writer.start()
    assert ask("solve", "5x4", str(pipe)).out == "WIN\n"
    writer.join()


@pytest.mark.parametrize("command", ["probe 5x4 {}", "probe 5x4 --grid {}", "solve {}"])
def test_files_are_read_up_to_a_bound(command: str, ask: Ask, tmp_path: Path) -> None:
    large = tmp_path / "large.txt"
    large.write_text("1" * (reading.MOST_BYTES + 1))
    for path in (str(large), "/dev/zero"):
        said = ask(command.format(path))
        assert said.status == errors.BadTextError.exit_code
        assert f"{path} has more than 1,000,000 bytes" in said.err
    large.write_bytes(b"\xff\xfe4\x004\x00")
    assert "is not a text file" in ask(command.format(large)).err


def test_files_of_values_are_bounded_too(ask: Ask, tmp_path: Path) -> None:
    said = ask("solve puissance-plus 3x3 --values /dev/zero")
    assert said.status == errors.BadTextError.exit_code
    assert "/dev/zero is no file of values" in said.err
    rows = tmp_path / "rows.txt"
    rows.write_text("\ufeff121\n232  # the middle\n121\n", encoding="utf-8")
    words = ["solve", "puissance-plus", "3x3", "--target", "5", "--values"]
    assert ask(*words, str(rows)).out == ask(*words, "121/232/121").out


def test_impossible_counts_are_refused_unless_they_are_asked_for(
    ask: Ask, shelf: Path, tmp_path: Path
) -> None:
    grid = tmp_path / "counts.txt"
    grid.write_text("5x4\n.....\n.....\n.....\n.@@..\n")
    for command in ("probe", "line", "solve", "analyse"):
        said = ask(command, "5x4", str(grid))
        assert said.status == errors.IllegalPositionError.exit_code
        assert "impossible counts" in said.err
        assert "--any-counts allows them" in said.err
    light = ["--any-counts", "--memory", "16M"]
    said = ask("solve", str(grid), *light)
    assert (said.status, said.out) == (0, "LOSS\n")
    for command in ("probe", "line", "analyse"):
        found = json.loads(ask(command, "5x4", str(grid), *light, "--json").out)
        assert (found["value"], found["source"], found["position"]) == ("LOSS", "search", None)
    said = ask("probe", str(shelf / "connect4-5x4.h5"), str(grid), "--any-counts")
    assert said.status == errors.BadTextError.exit_code
    assert "wanted a board, not a table" in said.err
    said = ask("solve mnk 3x3 b2 --any-counts")
    assert said.status == errors.BadTextError.exit_code
    assert "grids of Connect Four" in said.err


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (".@... ..... ..... .....", "floats in column 2"),
        ("0.... 0.... 0.... 0....", "White, who is to move, already has 4 in a line"),
    ],
)
def test_any_counts_are_not_any_stones(rows: str, words: str, ask: Ask, tmp_path: Path) -> None:
    grid = tmp_path / "grid.txt"
    grid.write_text(f"5x4 {rows}")
    said = ask("solve", str(grid), "--any-counts")
    assert said.status == errors.IllegalPositionError.exit_code
    assert f"{grid}: " in said.err
    assert words in said.err


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
    grid: str,
    error: type[errors.TablebaseError],
    ask: Ask,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # a long path would lose its middle in the error line
    Path("bad.grid").write_text(grid)
    said = ask("probe", "5x4", "--grid", "bad.grid")
    assert said.status == error.exit_code
    assert "bad.grid: " in said.err
    assert ask("probe", "5x4", "443", "--grid", "bad.grid").status == errors.BadTextError.exit_code


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("solve {long}", errors.IllegalPositionError),
        ("solve mnk 3x3 {long}", errors.BadTextError),
        ("solve mnk 3x3 {many}", errors.BadTextError),
        ("probe {long}", errors.BadTextError),
        ("play --game {long}", errors.BadTextError),
        ("play --first {long}", errors.BadTextError),
        ("solve 1 --connect {long}", errors.BadTextError),
        ("bt 5x4 --from {long}", errors.IllegalPositionError),
        ("bt 5x4 --out {long}", errors.StorageError),
        ("bt 5x4 --dir {long}", errors.StorageError),
        ("stats {long}.h5", errors.StorageError),
        ("list --dir {long}", errors.StorageError),
        ("solve 1 --tables {long}", errors.StorageError),
        ("solve mnk 3x3 --dir {long}", errors.StorageError),
        ("match --first perfect --second random --dir {long}", errors.StorageError),
        ("solve 1 --threads {long}", guard.UsageError),
        ("solve --{long}", guard.UsageError),
        ("{long}", guard.UsageError),
    ],
)
def test_long_text_gets_one_line_of_bounded_length(
    line: str, error: type[errors.TablebaseError], ask: Ask
) -> None:
    words = [word.format(long=LONG, many=MANY) for word in line.split()]
    said = ask(*words, "--quiet") if words[0] == "bt" else ask(*words, *[""] * (len(words) == 1))
    assert (said.status, said.out) == (error.exit_code, ""), said.err
    assert said.err.startswith("error: ")
    assert len(said.err.splitlines()) == 1
    assert len(said.err) <= guard.LONGEST_LINE + len("error: \n")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("solve 44z", "'44z'"),
        ("solve 44x", "move 3 of '44x': column x is not on the board 7x6; columns are 1 to 7"),
        ("probe 5x4 4!", "wanted a column from 1 to 5"),
        ("probe 5by4", "wanted WIDTHxHEIGHT"),
        ("probe 9x9", "the limit is 64"),
        ("probe 5x4 8", "columns are 1 to 5"),
        ("probe 5x4 11111", "column 1 is full"),
        ("probe 5x4 1212121", "4 in a line"),
        ("stats 6x4", "build-tablebase 6x4"),
        ("stats 3x3 --connect 3", "--connect 3"),
        ("solve --target 5 1", "connect4 has no option 'target'"),
        ("solve --game chess 3x3", "no game is called 'chess'; games: connect4"),
        ("solve domineering 3by3 b1", "wanted"),
        ("solve mnk 4x3 a9", "4x3"),
        ("bt mnk 9x9 --connect 5", "9x9"),
        ("frobnicate", "no command is called 'frobnicate'"),
        ("", "COMMAND"),
    ],
)
def test_errors_name_what_was_typed_or_wanted(line: str, words: str, ask: Ask) -> None:
    said = ask(line) if line else ask("--json")
    assert said.status != 0
    assert words in said.err
    assert "column 33" not in said.err
    assert "column 35" not in said.err
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("solve --game=mnk 3x3 b2", "solve mnk 3x3 b2"),
        ("solve 3x3 --strong b2 --game mnk", "solve mnk 3x3 b2 --strong"),
        ("--strong solve 3x3 b2 --game mnk", "solve mnk 3x3 b2 --strong"),
        ("solve connect4 12 --board 4x4", "solve 4x4 12"),
        ("solve 12 --board 4x4 --memory 16M", "solve connect4 4x4 12 --memory 16M"),
        ("probe 5x4 --memory 16M 12", "probe connect4 5x4 12"),
        ("probe 5x4 1 2", "probe 5x4 12"),
        ("line --json 5x4 --memory 16M 12", "line 5x4 12 --memory 16M --json"),
        ("--dir {shelf} --json stats mnk 3x3", "stats mnk 3x3 --json"),
        ("solve 5x4", "solve 5x4 ''"),
        ("analyse 5x4 443 --tables {shelf}", "analyse 443 --board 5x4 --dir {shelf}"),
    ],
)
def test_words_may_come_in_any_order(line: str, same: str, ask: Ask, shelf: Path) -> None:
    said = ask(line.format(shelf=shelf))
    assert said.status == 0, said.err
    assert said.out == ask(same.format(shelf=shelf)).out


@pytest.mark.parametrize("folder", ["mnk", "quarto", "connect4"])
def test_a_folder_may_be_called_like_a_game(
    folder: str, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ask(f"bt 4x3 --connect 3 --dir {folder} --quiet").status == 0
    assert ask(f"stats 4x3 --connect 3 --dir {folder}").status == 0
    assert "by table" in ask(f"solve 22 --board 4x3 --connect 3 --tables {folder}").err
    assert ask(f"bt --dir {folder} mnk 3x3 --quiet").status == 0
    assert ask(f"stats --dir {folder} mnk 3x3").status == 0
    assert ask(f"--dir {folder} probe mnk 3x3 b2").status == 0


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "soon"])
@pytest.mark.parametrize("command", ["solve 1", "probe 4x4", "play", "strategy 4x4"])
def test_a_time_limit_ends(command: str, text: str, ask: Ask) -> None:
    said = ask(f"{command} --time-limit={text}")
    assert said.status == 2
    assert f"found {text!r}, wanted seconds such as 10" in said.err


def test_memory_is_a_size_everywhere(ask: Ask) -> None:
    for command in ("solve 1", "solve mnk 3x3", "probe 4x4", "play", "bt mnk 4x4 --plan"):
        said = ask(f"{command} --memory x")
        assert said.status == 2
        assert "memory 'x' is not a size: write one such as 4M or 4G" in said.err
        said = ask(f"{command} --memory 4")
        assert said.status == 2
        assert "memory '4' has no unit: write 4M for megabytes or 4G for gigabytes" in said.err
    for size in ("16M", "16MB", "0.016G"):
        assert ask(f"solve 12 --board 4x4 --memory {size}").out == "DRAW\n"
    assert ask("solve 12 --board 4x4 --memory 0.5k").status == errors.BadTextError.exit_code
    assert ask("bt mnk 4x4 --connect 4 --memory 1G --plan").status == 0
    for size in ("999999999999999T", "9999999999999M"):
        said = ask(f"solve 4x4 --memory {size}")
        assert said.status == errors.DoesNotFitError.exit_code
        assert "does not fit in memory" in said.err


def test_a_file_to_write_has_a_name(ask: Ask) -> None:
    for board in ("5x4", "mnk 3x3"):
        said = ask(f"bt {board} --out ''")
        assert said.status == 2
        assert "found '', wanted the path of a file" in said.err


def test_json_of_what_is_no_answer(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    assert json.loads(ask("solve --json=yes 4").out)["exit_code"] == 2

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tablebase.oracles.Oracle.probe", interrupt)
    said = ask("probe 5x4 --json")
    assert (said.status, said.err) == (130, "interrupted\n")
    assert json.loads(said.out)["exit_code"] == 130
    assert ask("probe 5x4").out == ""


def test_exit_codes_differ_by_cause() -> None:
    named = {e for e in vars(errors).values() if getattr(e, "__module__", "") == "retro.errors"}
    # The base has no cause of its own; the others are damage as well.
    causes = named - {errors.TablebaseError, errors.ChecksumError, errors.LostGroupError}
    codes = {e.exit_code for e in causes}
    assert len(codes) == len(causes)
    assert guard.UsageError.exit_code not in codes


def test_too_little_memory_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def take_all(words: list[str]) -> int:
        raise MemoryError("Unable to allocate 9 TiB")

    assert guard.run(take_all, ["--json"]) == errors.DoesNotFitError.exit_code
    said = capsys.readouterr()
    assert said.err == "error: there is not enough memory: Unable to allocate 9 TiB\n"
    assert json.loads(said.out)["kind"] == "DoesNotFitError"


@pytest.mark.parametrize(
    ("game", "lines"),
    [
        ("", "4453\n445\n44\n"),
        ("5x4", "1\n\n  2\n3"),
        ("mnk 3x3", "b2\na1\nc3\n"),
        ("notakto 3x3", "b2\na1\nc3\n"),
        ("domineering 4x4", "b2\na1\nd3\n"),
        ("puissance-plus 4x4", "b2\na1\nc3\n"),
        ("quarto 4x4", "f\nf b2-3\nf b2-3 a1-c"),
    ],
)
def test_several_lines_that_are_no_grid_are_refused(
    game: str, lines: str, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    path = tmp_path / "lines.txt"
    path.write_text(lines)
    for source in ("-", str(path)):
        said = ask(*f"solve {game}".split(), source)
        assert (said.status, said.out) == (errors.BadTextError.exit_code, "")
        assert ": 3 lines that are no grid; solve --lines" in said.err


@pytest.mark.parametrize(
    ("alias", "board"),
    [
        ("tictactoe", "mnk 3x3"),
        ("tic-tac-toe 4x3", "mnk 4x3"),
        ("gomoku 5x5", "mnk 5x5 --connect 5"),
        ("gomoku 3x3 --connect 3", "mnk 3x3"),
        ("c4 4x4", "4x4"),
        ("connectfour 4x4", "4x4"),
        ("connect-four 4x4", "4x4"),
        ("--game tictactoe --board 3x3", "mnk 3x3"),
    ],
)
def test_a_board_may_be_called_by_the_name_that_people_know(
    alias: str, board: str, ask: Ask
) -> None:
    asked, plain = (ask(f"trace {words} --depth 1 --json") for words in (alias, board))
    assert asked.status == 0, asked.err
    assert json.loads(asked.out) == json.loads(plain.out)
    assert ask("solve tictactoe b2 a1").out == ask("solve mnk 3x3 b2 a1").out
    assert ask("probe tictactoe b2 a1").out == ask("probe mnk 3x3 b2 a1").out


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("solve tiktaktoe 3x3", "tictactoe"),
        ("solve conect4", "connect4"),
        ("probe qarto 4x4", "quarto"),
        ("bt dominering 4x4", "domineering"),
        ("play gomuko", "gomoku"),
        ("tournament tiktaktoe 3x3 random random", "tictactoe"),
    ],
)
def test_an_unknown_game_is_named_with_the_nearest(line: str, near: str, ask: Ask) -> None:
    said = ask(line)
    assert (said.status, said.out) == (errors.BadTextError.exit_code, "")
    assert f"; did you mean {near}? Games: connect4, " in said.err
