"""Where answers come from at the terminal: a table that is there, else the search, said so."""

import io
import json
import shutil
import sys
from pathlib import Path

import pytest
from cli_cases import Ask, board_words, small_board
from plain.recursion import every_position
from walk.test_rooted import random_root

from retro import errors
from retro.games.catalogue import NAMES
from retro.games.connect4.rules import Connect4Board
from retro.games.connect4.text import write_grid
from retro.games.values import VALUE_NAMES
from retro.search import Solver

ENDGAME = "c1d./b.e./.7.f/a5..,6"  # Quarto with nine pieces placed and one in hand


@pytest.mark.parametrize(("command", "source"), [("probe", "table"), ("line", "both")])
def test_a_command_without_its_table_searches_and_says_so(
    ask: Ask, command: str, source: str, shelf: Path
) -> None:
    question, nowhere = [command, "5x4", "443"], str(shelf / "nowhere")
    said = ask(*question)
    assert said.status == 0
    assert "WIN for the second player" in said.out
    assert ", by table" in said.out
    assert "no table" not in said.err
    said = ask(*question, "--dir", nowhere)
    assert said.status == 0
    assert "WIN for the second player" in said.out
    assert ", by search" in said.out
    assert f"build it with: build-tablebase 5x4 --dir {nowhere}" in said.err
    for folder, found in ((str(shelf), source), (nowhere, "search")):
        answer = json.loads(ask(*question, "--dir", folder, "--json").out)
        assert (answer["value"], answer["source"]) == ("WIN", found)


@pytest.mark.parametrize(("command", "covered"), [("probe", "table"), ("line", "both")])
def test_a_rooted_table_answers_what_it_covers(
    ask: Ask, command: str, covered: str, tmp_path: Path
) -> None:
    folder = ["--dir", str(tmp_path)]
    assert ask("bt", "mnk", "3x3", "--from", "b2", *folder, "--quiet").status == 0
    question = [command, "mnk", "3x3", *folder]
    for arguments, source in (
        ([*question, "b2 b1"], covered),  # found without its name
        ([*question, "a1 b1"], "search"),
    ):
        said = ask(*arguments)
        assert said.status == 0
        assert "WIN for the first player" in said.out
        assert ("no table covers all that is asked" in said.err) == (source == "search")
        assert json.loads(ask(*arguments, "--json").out)["source"] == source
    assert ask(*question, "b2 b2").status == errors.IllegalPositionError.exit_code
    assert ask(*question, "a1 b1 a2 b2 a3").status == errors.GameOverError.exit_code
    assert ask(*question, "--time-limit", "0").status == errors.TimeLimitError.exit_code


@pytest.mark.parametrize("command", ["probe", "line"])
def test_a_time_limit_has_its_own_exit_code(ask: Ask, command: str, tmp_path: Path) -> None:
    limits = ["--memory", "16M", "--time-limit", "0"]
    said = ask(command, "6x6", "1", "--dir", str(tmp_path), *limits)
    assert (said.status, said.out) == (errors.TimeLimitError.exit_code, "")
    assert said.err.splitlines()[-1].startswith("error: not solved within 0 s")


@pytest.mark.parametrize("command", ["probe", "line", "solve"])
def test_a_damaged_table_is_an_error_not_a_reason_to_search(
    ask: Ask, command: str, tmp_path: Path
) -> None:
    (tmp_path / "connect4-5x4.h5").write_text("no table")
    said = ask(command, "5x4", "--dir", str(tmp_path))
    assert (said.status, said.out) == (errors.DamagedFileError.exit_code, "")


@pytest.mark.parametrize("command", ["probe", "line", "stats", "verify", "solve", "match"])
@pytest.mark.parametrize(
    ("held", "asked"),
    [
        ("connect4-5x4", ["6x4"]),
        ("mnk-3x3-connect3", ["6x4"]),
        ("connect4-5x4", ["mnk", "4x4", "--connect", "4"]),
    ],
)
def test_a_file_that_holds_something_else_is_refused(
    ask: Ask, command: str, held: str, asked: list[str], shelf: Path, tmp_path: Path
) -> None:
    name = "connect4-6x4" if asked == ["6x4"] else "mnk-4x4-connect4"
    path = tmp_path / f"{name}.h5"
    shutil.copy(shelf / f"{held}.h5", path)
    players = ["--first", "perfect", "--second", "random"] if command == "match" else []
    said = ask(command, *asked, "--dir", str(tmp_path), *players)
    assert (said.status, said.out) == (errors.WrongBoardError.exit_code, "")
    assert f"{path} holds {held}, not {name}" in said.err


def test_strategies_of_5x4(ask: Ask, shelf: Path) -> None:
    found = json.loads(ask("strategy", "5x4", "--json").out)["strategies"]
    assert [(s["player"], s["value"]) for s in found] == [("first", "DRAW"), ("second", "DRAW")]
    for strategy in found:
        for name in ("decide", "answer", "finished"):
            assert strategy[name] == sum(ply[name] for ply in strategy["plies"])
        parts = [strategy[name] for name in ("decide", "answer", "finished")]
        assert strategy["positions"] == sum(parts)
    # The centre is the first of the best moves, and all five answers to it are different.
    assert json.loads(ask("probe", "5x4", "--json").out)["moves"][0]["move"] == "3"
    assert [ply["decide"] + ply["answer"] for ply in found[0]["plies"][:3]] == [1, 1, 5]
    out = ask("strategy", "5x4").out
    assert f"positions: {found[0]['positions']:,}" in out
    assert "a strategy that draws for the second player" in out


def test_a_rooted_table_of_7x6_is_built_and_asked(ask: Ask, tmp_path: Path) -> None:
    root = random_root(Connect4Board(7, 6), 12, seed=1)
    moves, folder = root.root_text, ["--dir", str(tmp_path)]
    said = ask("bt", "7x6", "--from", moves, *folder, "--quiet")
    assert said.status == 0
    assert f"value of the position after {moves} for the" in said.out
    assert (tmp_path / f"connect4-7x6-from-{moves}.h5").exists()
    found = json.loads(ask("probe", "7x6", moves, *folder, "--json").out)
    value = Solver("7x6", memory="16M").solve(root).value
    assert (found["source"], found["value"]) == ("table", VALUE_NAMES[value])
    grid = tmp_path / "root.txt"
    grid.write_text(write_grid(root))
    said = ask("bt", "7x6", "--from", str(grid), *folder)
    assert said.status == 0
    assert "nothing to do" in said.err


def test_every_command_finds_the_rooted_table_that_covers_a_position(
    ask: Ask, tmp_path: Path
) -> None:
    grid, folder = tmp_path / "endgame.txt", ["--dir", str(tmp_path)]
    grid.write_text(ENDGAME)
    assert ask("bt", "quarto", "4x4", "--from", str(grid), *folder, "--quiet").status == 0
    assert "nothing to do" in ask("bt", "quarto", "4x4", "--from", ENDGAME, *folder).err
    board = ["quarto", "4x4", ENDGAME, "--json", *folder]
    found = json.loads(ask("solve", *board).out)
    assert (found["source"], found["nodes"]) == ("table", 0)
    for command, source in (("probe", "table"), ("line", "both")):
        answer = json.loads(ask(command, *board).out)
        assert (answer["source"], answer["value"]) == (source, found["value"])


def test_rooted_tables_of_another_board_are_refused(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "mnk-4x3-connect3-from-b2.h5"
    assert ask("bt", "mnk", "3x3", "--from", "b2", "--out", str(path), "--quiet").status == 0
    said = ask("probe", "mnk", "4x3", "--dir", str(tmp_path))
    assert said.status == errors.WrongBoardError.exit_code
    assert f"{path} holds mnk-3x3-connect3 from b2, not mnk-4x3-connect3" in said.err


def test_what_is_missing_is_named_with_its_folder(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # long names are shortened
    folder = ["--dir", "shelf"]
    said = ask("stats", "quarto", "4x4", *folder)
    assert said.status == errors.MissingTableError.exit_code
    assert "build-tablebase quarto 4x4 --dir shelf" in said.err
    said = ask("stats", "mnk", "3x3", "--from", "b2", *folder)
    assert said.status == errors.MissingTableError.exit_code
    assert "build-tablebase mnk 3x3 --from b2 --dir shelf" in said.err


@pytest.mark.parametrize("name", NAMES)
def test_matches_are_played_in_every_game(name: str, ask: Ask, no_tables: None) -> None:
    """The perfect player never does worse than the value of the start."""
    players = ["--first", "perfect", "--second", "random", "--games", "6"]
    said = ask("match", *board_words(name), *players, "--json")
    assert said.status == 0
    start = small_board(name).start()
    value = every_position(start)[start._state].value
    for number, record in enumerate(json.loads(said.out)["games"]):
        role = ("first", "second")[number % 2]
        reached = {role: 1, None: 0}.get(record["winner"], -1)
        assert reached >= (value if role == "first" else -value)


def test_hints_in_another_game(ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("b2\nhint\nquit\n"))
    said = ask("play", "mnk", "3x3", "--second", "human", "--dir", str(tmp_path))
    assert said.status == 0
    assert "hint: a1 (DRAW for you, by search)" in said.out


def test_a_hint_that_is_no_proof_says_so(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, no_tables: None
) -> None:
    question = ["play", "mnk", "6x6", "--connect", "5", "--time-limit", "0"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("hint\nc3\nquit\n"))
    said = ask(*question, "--second", "random")
    assert said.status == 0
    assert "(a guess: " in said.out
    assert "X (human) plays c3" in said.out
