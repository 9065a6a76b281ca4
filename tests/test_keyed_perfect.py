"""The perfect player of every game keeps the value, by table and by search."""

import io
import json
import random
import sys
from pathlib import Path

import pytest

from retro.errors import TimeLimitError
from retro.games.catalogue import find_game
from tablebase.cli import main
from tablebase.keyed_build import build_keyed
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
    board = game.parse(*BOARDS[name])
    value = make_value(game)
    start = game.start(board)
    build_keyed(game, start, keyed_path(game, start, tmp_path))
    with open_rooted(game, start, tmp_path) as table:
        players = {
            "search": KeyedPerfectPlayer(game, board, memory_mb=1),
            "table": KeyedPerfectPlayer(game, board, table, memory_mb=1),
        }
        for position in some_games(name, 8):
            for source, player in players.items():
                advice = player.advise(position)
                assert (advice.value, advice.source) == (value(position), source)
                after = position.play(advice.move)
                assert -value(after) == advice.value
                wins = [m for m in position.legal_moves() if position.play(m).outcome() == -1]
                assert (advice.plies == 1) == bool(wins) == (after.outcome() == -1)


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
    assert "not solved within 0 s" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.StringIO("hint\nc3\nquit\n"))
    assert main.main([*arguments, "--second", "random"]) == 0
    out = capsys.readouterr().out
    assert "not solved within 0 s" in out
    assert "X (human) plays c3" in out
