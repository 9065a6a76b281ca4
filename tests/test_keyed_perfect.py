"""The perfect player of every game keeps the value, by table and by search."""

import io
import json
import random
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from retro.errors import (
    GameOverError,
    IllegalPositionError,
    MissingTableError,
    TimeLimitError,
    WrongBoardError,
)
from retro.games.catalogue import find_game
from tablebase.cli import build, main
from tablebase.cli.seats import Seats
from tablebase.keyed_build import build_keyed
from tablebase.keyed_oracle import KeyedOracle
from tablebase.keyed_perfect import KeyedPerfectPlayer
from tablebase.keyed_probe import open_rooted
from tablebase.places import keyed_path

BOARDS = {
    "mnk": ("3x3", {"connect": "3"}),
    "puissance-plus": ("3x3", {"target": "5"}),
    "domineering": ("4x3", {}),
    "quarto": ("2x2", {"attributes": "2"}),
    "notakto": ("3x3", {}),
}


def some_games(name: str, number: int):
    """Every unfinished position of some random games."""
    game = find_game(name)
    rng = random.Random(name)
    for _ in range(number):
        position = game.start(game.parse(*BOARDS[name]))
        while not position.is_over():
            yield position
            position = position.play(rng.choice(position.legal_moves()))


def make_value(game):
    """Plain recursion, remembering states."""
    known = {}

    def value(position) -> int:
        outcome = position.outcome()
        if outcome is not None:
            return outcome
        state = game.state(position)
        if state not in known:
            known[state] = max(-value(position.play(m)) for m in position.legal_moves())
        return known[state]

    return value


@pytest.mark.parametrize("name", BOARDS)
def test_it_keeps_the_value_by_table_and_by_search(name: str, tmp_path: Path) -> None:
    game = find_game(name)
    value = make_value(game)
    start = game.start(game.parse(*BOARDS[name]))
    build_keyed(game, start, keyed_path(game, start, tmp_path))
    with open_rooted(game, start, tmp_path) as table:
        players = {
            "search": KeyedPerfectPlayer(KeyedOracle(game, start, [], memory_mb=1)),
            "table": KeyedPerfectPlayer(KeyedOracle(game, start, [table], memory_mb=1)),
        }
        for position in some_games(name, 8):
            for source, player in players.items():
                advice = player.advise(position)
                assert (advice.value, advice.source) == (value(position), source)
                after = position.play(advice.move)
                assert -value(after) == advice.value
                wins = [m for m in position.legal_moves() if position.play(m).outcome() == -1]
                assert ((advice.value, advice.plies) == (1, 1)) == bool(wins)
                assert bool(wins) == (after.outcome() == -1)


@pytest.mark.parametrize("name", BOARDS)
def test_table_and_search_answer_alike(name: str, tmp_path: Path) -> None:
    game = find_game(name)
    start = game.start(game.parse(*BOARDS[name]))
    build_keyed(game, start, keyed_path(game, start, tmp_path))
    with open_rooted(game, start, tmp_path) as table:
        by_table = KeyedOracle(game, start, [table])
        by_search = KeyedOracle(game, start, [], memory_mb=1)
        for position in some_games(name, 3):
            found = by_table.probe(position)
            assert found == table.probe(position)
            assert by_search.probe(position) == found._replace(source="search")
            assert by_table.best_line(position) == table.best_line(position)
            assert by_search.best_line(position) == by_table.main_line(position)


@pytest.mark.parametrize("command", ["probe", "line"])
def test_a_command_without_its_table_searches_and_says_so(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    game = find_game("mnk")
    root = game.read_position(game.parse("3x3", {}), "b2")
    build_keyed(game, root, keyed_path(game, root, tmp_path))
    question = [command, "mnk", "3x3", "--dir", str(tmp_path)]
    for arguments, source in (
        ([*question, "b2 b1"], "table"),  # found without its name
        ([*question, "b2 b1", "--from", "b2"], "table"),
        ([*question, "b2 b1", "--from", "a1"], "table"),  # there is none from a1
        ([*question, "a1 b1"], "search"),
        ([*question, "a1 b1", "--from", "b2"], "search"),  # not what the table covers
    ):
        assert main.main(arguments) == 0
        out, err = capsys.readouterr()
        assert f"WIN for the first player, by {source}" in out
        assert ("searching: " in err) == (source == "search")
        assert main.main([*arguments, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["source"] == source
    assert main.main([*question, "b2 b2"]) == IllegalPositionError.exit_code
    assert main.main([*question, "a1 b1 a2 b2 a3"]) == GameOverError.exit_code
    assert main.main([*question, "--time-limit", "0"]) == TimeLimitError.exit_code


@pytest.mark.parametrize("name", BOARDS)
def test_matches_are_played_in_every_game(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The perfect player never does worse than the value of the start."""
    size, options = BOARDS[name]
    given = [word for key, text in options.items() for word in (f"--{key}", text)]
    arguments = ["match", "--game", name, "--board", size, *given, "--games", "6", "--json"]
    assert main.main([*arguments, "--first", "perfect", "--second", "random"]) == 0
    found = json.loads(capsys.readouterr().out)
    game = find_game(name)
    value = make_value(game)(game.start(game.parse(size, options)))
    for number, record in enumerate(found["games"]):
        role = ("first", "second")[number % 2]
        reached = {role: 1, None: 0}.get(record["winner"], -1)
        assert reached >= (value if role == "first" else -value)


def test_hints_in_another_game(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("b2\nhint\nquit\n"))
    arguments = ["play", "--game", "mnk", "--second", "human", "--dir", str(tmp_path)]
    assert main.main(arguments) == 0
    assert "hint: a1 (DRAW for you, by search)" in capsys.readouterr().out


def test_a_search_that_takes_too_long_is_an_error_or_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["play", "--game", "mnk", "--board", "6x6", "--connect", "5", "--time-limit", "0"]
    assert main.main([*arguments, "--first", "perfect"]) == TimeLimitError.exit_code
    assert "not answered within 0 s" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.StringIO("hint\nc3\nquit\n"))
    assert main.main([*arguments, "--second", "random"]) == 0
    out = capsys.readouterr().out
    assert "not answered within 0 s" in out
    assert "X (human) plays c3" in out


ENDGAME = "c1d./b.e./.7.f/a5..,6"  # Quarto with nine pieces placed and one in hand


def test_every_command_finds_the_rooted_table_that_covers_a_position(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    grid = tmp_path / "endgame.txt"
    grid.write_text(ENDGAME)
    folder = ["--dir", str(tmp_path)]
    assert build.main(["quarto", "4x4", "--from", str(grid), *folder, "--quiet"]) == 0
    assert build.main(["quarto", "4x4", "--from", ENDGAME, *folder]) == 0
    assert "nothing to do" in capsys.readouterr().err
    board = ["quarto", "4x4", ENDGAME, "--json"]
    assert main.main(["solve", *board, "--tables", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["source"], found["nodes"]) == ("table", 0)
    for command in ("probe", "line"):
        assert main.main([command, *board, *folder]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert (answer["source"], answer["value"]) == ("table", found["value"])


def test_the_perfect_player_uses_rooted_tables(tmp_path: Path) -> None:
    game = find_game("mnk")
    root = game.read_position(game.parse("3x3", {}), "b2 b1")
    build_keyed(game, root, keyed_path(game, root, tmp_path))
    options = Namespace(memory=1, time_limit=None, dir=tmp_path)
    with Seats(options, game, root.board) as seats:
        assert seats.perfect.advise(root).source == "table"
        assert seats.perfect.advise(game.start(root.board)).source == "search"


def test_rooted_tables_of_another_board_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    game = find_game("mnk")
    root = game.read_position(game.parse("3x3", {}), "b2")
    path = tmp_path / "mnk-4x3-connect3-from-b2.h5"
    build_keyed(game, root, path)
    assert main.main(["probe", "mnk", "4x3", "--dir", str(tmp_path)]) == WrongBoardError.exit_code
    assert f"{path} holds mnk-3x3-connect3, not mnk-4x3-connect3" in capsys.readouterr().err


def test_what_is_missing_is_named_with_its_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = ["--dir", str(tmp_path)]
    assert main.main(["stats", "quarto", "4x4", *folder]) == MissingTableError.exit_code
    command = f"build-tablebase quarto 4x4 --attributes 4 --dir {tmp_path}"
    assert f"{command} (--from POSITION: only what follows" in capsys.readouterr().err
    assert (
        main.main(["stats", "mnk", "3x3", "--from", "b2", *folder]) == MissingTableError.exit_code
    )
    err = capsys.readouterr().err
    assert err.endswith(f"build-tablebase mnk 3x3 --connect 3 --from b2 --dir {tmp_path}\n")
