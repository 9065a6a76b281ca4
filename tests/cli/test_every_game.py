"""Every command for every game: the same grammar, the same JSON, the same errors.

A new game is tried here without a line of test code.
"""

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_cases import SCHEMA, Ask, board_words, check, small_board, some_moves
from jsonschema import Draft202012Validator

from retro import errors
from retro.games.catalogue import NAMES, find_game
from tablebase.cli import build, grammar, main, overview

LIGHT = ["--memory", "16M"]
PLAYERS = ["--first", "random", "--second", "random", "--games", "2"]
PAIR = ["--games", "2", "--threads", "1"]
TIMED = ("verify", "build", "match", "tournament", "study")  # they tell their time


def commands_of(name: str) -> dict[str, list[str]]:
    """{definition of the schema: words}, of all that prints JSON about a board."""
    board, moves = board_words(name), some_moves(name)
    return {
        "probe": ["probe", *board, moves, *LIGHT],
        "line": ["line", *board, moves, *LIGHT],
        "solve": ["solve", *board, moves, "--strong", *LIGHT],
        "analyse": ["analyse", *board, moves, *LIGHT],
        "stats": ["stats", *board],
        "strategy": ["strategy", *board, *LIGHT],
        "verify": ["verify", *board, "--level", "sample", "--solver"],
        "match": ["match", *board, *PLAYERS, *LIGHT],
        "trace": ["trace", *board, moves, "--depth", "2"],
        "study": ["study", *board, moves, "--nodes", "200"],
        "tournament": ["tournament", *board, "random", "greedy", *PAIR, *LIGHT],
        "build": ["bt", *board],
        "plan": ["bt", *board, "--plan"],
    }


EVERY = [(name, definition) for name in NAMES for definition in commands_of(name)]


def test_the_schema_is_one_and_strict() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    check({"error": "no", "kind": "BadTextError", "exit_code": 3}, "error")
    for wrong in ({"error": "no"}, {"error": "", "kind": "", "exit_code": 3, "more": 1}):
        assert not Draft202012Validator(SCHEMA).is_valid(wrong)


@pytest.mark.parametrize(("name", "definition"), EVERY)
def test_json_follows_the_schema(name: str, definition: str, ask: Ask, shelf: Path) -> None:
    words = commands_of(name)[definition]
    said = ask(*words, "--json")
    assert said.status == 0, said.err
    content = json.loads(said.out)
    check(content, definition)
    board = small_board(name)
    assert (content["game"], content["board"]) == (name, board.size_text)
    assert content["options"] == board.options
    # Options may stand anywhere: before the command, before the game, between the words.
    if definition not in TIMED:
        shuffled = ["--json", *words] if words[0] != "bt" else ["bt", "--json", *words[1:]]
        assert json.loads(ask(*shuffled).out) == content
    assert ask(*words).status == 0


@pytest.mark.parametrize("name", NAMES)
def test_answers_agree_with_each_other(name: str, ask: Ask, shelf: Path) -> None:
    found = {
        definition: json.loads(ask(*words, "--json").out)
        for definition, words in commands_of(name).items()
        if definition in ("probe", "line", "solve", "analyse")
    }
    assert len({answer["value"] for answer in found.values()}) == 1
    analysis = found["analyse"]
    # A line is as long as the analysis says, and the table does not change a move's value.
    assert len(found["line"]["line"]) == found["line"]["plies"] == analysis["plies"]
    assert found["solve"]["plies"] == analysis["plies"]
    assert analysis["line"] == found["line"]["line"]
    assert found["probe"]["source"] == "table"
    assert sorted((m["move"], m["value"], m["after"]) for m in found["probe"]["moves"]) == sorted(
        (m["move"], m["value"], m["after"]) for m in analysis["moves"]
    )
    position = small_board(name).position(some_moves(name))
    assert analysis["ply"] == position.ply
    assert {small_board(name).position(m["after"]) for m in analysis["moves"]} == {
        position._play(move) for move in position._numbers()
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_position_may_be_typed_read_or_piped(
    name: str, ask: Ask, shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board, moves = board_words(name), some_moves(name)
    typed = ask("probe", *board, moves, "--json")
    path = tmp_path / "position.txt"
    path.write_bytes(b"\xef\xbb\xbf" + moves.encode() + b"\r\n")
    asked = [[str(path)], ["--grid", str(path)], moves.split(" ")]
    for content in (moves, f"\ufeff{moves}\n"):
        monkeypatch.setattr(sys, "stdin", io.StringIO(content))
        asked.append(["-"])
        assert ask("probe", *board, "-", "--json").out == typed.out
    for words in asked[:3]:
        assert ask("probe", *board, *words, "--json").out == typed.out


@pytest.mark.parametrize("name", NAMES)
def test_the_old_ways_to_name_a_game_and_a_board(name: str, ask: Ask, shelf: Path) -> None:
    game, size, *options = board_words(name)
    moves = some_moves(name)
    answer = ask("solve", game, size, *options, moves).out
    for words in (
        ["--game", game, size, moves],
        [f"--game={game}", "--board", size, moves],
        [game, "--board", size, moves, "--tables", str(shelf)],
        [size, moves, "--game", game],
    ):
        assert ask("solve", *words, *options).out == answer


@pytest.mark.parametrize("name", NAMES)
def test_a_table_file_says_what_it_is(name: str, ask: Ask, shelf: Path) -> None:
    by_name = ask("stats", *board_words(name), "--json")
    path = json.loads(by_name.out)["file"]
    assert ask("stats", path, "--json").out == by_name.out
    moves = some_moves(name)
    by_file = ask("probe", path, moves, "--json")
    assert by_file.out == ask("probe", *board_words(name), moves, "--json").out
    assert ask("verify", path).status == 0
    other = next(other for other in NAMES if other != name)
    said = ask("stats", other, path)
    assert said.status == errors.WrongBoardError.exit_code, said.err
    assert "holds" in said.err


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_listed_by_game_and_board(name: str, ask: Ask, shelf: Path) -> None:
    def listed(*words: str) -> list[tuple[str, str]]:
        content = json.loads(ask("list", *words, "--json").out)
        check(content, "list")
        return [(table["game"], table["board"]) for table in content["tables"]]

    game, size, *options = board_words(name)
    everything = listed()
    assert {of for of, _ in everything} == set(NAMES)
    assert set(listed(game)) == {entry for entry in everything if entry[0] == name}
    assert set(listed(game, size, *options)) == {(name, small_board(name).size_text)}
    usual = find_game(name).usual
    assert set(listed(game, usual)) == {entry for entry in everything if entry == (name, usual)}
    assert ask("list", game, "5by4").status == errors.BadTextError.exit_code


@pytest.mark.parametrize("name", NAMES)
def test_a_finished_game_has_a_value_but_no_moves(name: str, ask: Ask, shelf: Path) -> None:
    position: Any = small_board(name).start()
    while not position.is_over():
        position = position._play(position._in_order()[0])
    board = board_words(name)
    said = ask("solve", *board, position.text)
    word = {1: "WIN", 0: "DRAW", -1: "LOSS"}[position.outcome()]
    assert (said.status, said.out) == (0, f"{word}\n")
    assert position.over_message() in said.err
    found = json.loads(ask("solve", *board, position.text, "--json").out)
    check(found, "solve")
    assert (found["over"], found["value"], found["plies"], found["source"]) == (
        True,
        word,
        0,
        "rules",
    )
    for command in ("probe", "line", "analyse"):
        said = ask(command, *board, position.text)
        assert (said.status, said.out) == (errors.GameOverError.exit_code, "")


WRONG = [
    ("probe {board} !", errors.BadTextError),
    ("solve {board} !", errors.BadTextError),
    ("probe {game} 5by4", errors.BadTextError),
    ("play {game} 5by4", errors.BadTextError),
    ("probe {board} --grid /nowhere", errors.BadTextError),
    ("probe {board} --grid /dev/zero", errors.BadTextError),
    ("probe {board} /dev/zero", errors.BadTextError),
    ("probe {board} nothing.txt", errors.BadTextError),
    ("stats {board} --dir /nowhere", errors.MissingTableError),
    ("stats nowhere.h5", errors.MissingTableError),
    ("line {board} --memory 0M", errors.BadTextError),
    ("analyse {board} --dir /nowhere --time-limit 0 {moves}", errors.TimeLimitError),
    ("probe {game}", None),
    ("stats {board} b2", None),
    ("solve {board} --frobnicate", None),
    ("verify {board} --level deep", None),
    ("match {board}", None),
    ("bt {game}", None),
    ("bt {board} --threads 0", None),
    ("line {board} --memory 4", None),
    ("bt {board} --memory 4", None),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("line", "error"), WRONG, ids=[line for line, _ in WRONG])
def test_mistakes_get_one_line_and_the_exit_code_of_their_cause(
    name: str, line: str, error: type[errors.TablebaseError] | None, ask: Ask, shelf: Path
) -> None:
    board = " ".join(board_words(name))
    moves = f"'{some_moves(name)}'"
    line = line.format(game=name, board=board, moves=moves)
    status, kind = (error.exit_code, error.__name__) if error else (2, "UsageError")
    said = ask(line)
    assert (said.status, said.out) == (status, ""), said.err
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert len(said.err) < 220
    if not line.startswith("play"):
        said = ask(f"{line} --json")
        found = json.loads(said.out)
        check(found, "error")
        assert (found["kind"], found["exit_code"]) == (kind, status)
        assert said.err == f"error: {found['error']}\n"


def test_every_command_has_help_that_names_every_game(ask: Ask) -> None:
    listed = ask("--help").out
    for command in [*main.commands(), *build.COMMANDS]:
        words = ["bt"] if command.name == overview.BUILD else [command.name]
        said = ask(*words, "--help")
        assert said.status == 0
        assert said.out.startswith(f"usage: {command.usage}\n")
        if command.name != overview.BUILD:
            assert re.search(rf"^  {command.name} ", listed, re.MULTILINE)
            assert ask("--help", *words).out == said.out
        if command.board != "none":
            for name in NAMES:
                assert name in said.out
                assert all(f"--{option.name} " in said.out for option in find_game(name).options)
            assert "domineering: ROWSxCOLS" in said.out


def test_an_option_before_the_command_is_read_as_the_command_reads_it() -> None:
    """`--counts` takes a value in one command and none in another, and a folder has a name."""
    commands = main.commands()
    for line, name in (
        ("--counts off build 5x4", "build"),
        ("--counts verify 5x4", "verify"),
        ("--dir solve probe 5x4", "probe"),
        ("--dir solve --json list", "list"),
        ("--level full verify solve.h5", "verify"),
    ):
        found = grammar.find_command(line.split(), commands)
        assert (line, found and found.name) == (line, name)
