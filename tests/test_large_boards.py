"""Boards beyond 64 cells: solved by the plain search, played, and named in short lines."""

import io
import random
import sys
from pathlib import Path

import pytest

from retro.errors import BadTextError, DoesNotFitError, TimeLimitError
from retro.games.catalogue import find_game
from retro.search.keyed_search import KeyedSolver
from retro.search.mnk_game import MnkGame
from retro.search.plain_solver import LargeGame, PlainSolver, needs_plain_search
from tablebase.cli import build, main

SMALL = [
    ("mnk", "3x3", {"connect": "3"}),
    ("mnk", "4x3", {"connect": "3"}),
    ("mnk", "4x4", {"connect": "3"}),
    ("puissance-plus", "4x3", {"target": "6"}),
]
LONGEST_LINE = 200  # characters


@pytest.fixture(autouse=True)
def no_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEBASE_DIR", str(tmp_path / "none"))


def positions(game, board, number: int, least_ply: int = 0):
    """Unfinished positions of random games."""
    rng = random.Random(number)
    while number:
        position = game.start(board)
        for _ in range(rng.randrange(least_ply, board.cells)):
            if not position.is_over():
                position = position.play(rng.choice(position.legal_moves()))
        if position.ply >= least_ply and not position.is_over():
            number -= 1
            yield position


@pytest.mark.parametrize(("name", "size", "options"), SMALL)
def test_the_plain_solver_agrees_with_the_compiled_one(name: str, size: str, options) -> None:
    """Value and distance; nothing in it depends on the size of the board."""
    game = find_game(name)
    board = game.parse(size, options)
    fast, plain = KeyedSolver(game.rules(board), memory_mb=4), PlainSolver(game, board, memory_mb=4)
    decided = 0
    for position in positions(game, board, 25, least_ply=4):
        state = game.state(position)
        wanted = fast.solve(state, strong=True)
        found = plain.solve(state, strong=True)
        assert (found.value, found.plies) == (wanted.value, wanted.plies)
        assert plain.solve(state).value == wanted.value
        move, whole = plain.best(state)
        assert whole == found
        after = position.play(move)
        if after.is_over():
            assert (found.value, found.plies) == (-after.outcome(), 1)
        else:
            then = fast.solve(game.state(after), strong=True)
            assert (-then.value, then.plies + 1) == (found.value, found.plies)
        decided += found.value != 0
    assert decided > 3


@pytest.mark.parametrize(("name", "size", "options"), SMALL)
def test_its_order_of_moves_is_that_of_the_ladder(name: str, size: str, options) -> None:
    game = find_game(name)
    board = game.parse(size, options)
    usual, large = MnkGame(board), LargeGame(board)
    threats = 0
    for position in positions(game, board, 60):
        state = usual.state(position)
        moves = usual.candidates(state)
        if len(moves) > 1:  # else there is nothing to put in order
            urgencies = [usual.urgency(state, move) for move in moves]
            assert [large.urgency(state, move) for move in moves] == urgencies
            threats += sum(urgencies)
    assert threats


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
    ],
)
def test_the_rest_hits_the_time_limit(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main.main([*arguments, "--time-limit", "0.6"]) == TimeLimitError.exit_code
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
        (["solve", "domineering", "9x8"], DoesNotFitError, "board 9x8 has 72 cells"),
        (
            ["play", "--game", "domineering", "--board", "9x8", "--second", "perfect"],
            DoesNotFitError,
            "board 9x8 has 72 cells",
        ),
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
    assert "50x50 to 6 has 2500 cells" in err
    assert len(err) < LONGEST_LINE


@pytest.mark.parametrize(
    ("arguments", "moves", "opponent"),
    [
        (["mnk", "--board", "9x9", "--connect", "5"], "e5\na1\n", "alphabeta:2:plausible"),
        (["puissance-plus", "--board", "20x20"], "e5\nquit\n", "alphabeta:2:plausible"),
        (["domineering", "--board", "9x9"], "a1\nquit\n", "alphabeta:2"),
    ],
)
def test_on_a_large_board_another_opponent_plays_and_says_so(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    moves: str,
    opponent: str,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(moves))
    assert main.main(["play", "--game", *arguments]) == 0
    out, err = capsys.readouterr()
    assert f"perfect play is out of reach on so large a board: {opponent} plays against you" in err
    assert f"({opponent}) plays " in out


def test_the_perfect_player_of_a_large_board_takes_what_is_decided(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    moves = "e5\na1\ne6\na2\ne7\na9\nhint\ne4\nhint\nquit\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(moves))
    arguments = ["--game", "mnk", "--board", "9x9", "--connect", "5", "--second", "human"]
    assert main.main(["play", *arguments]) == 0
    out = capsys.readouterr().out
    assert "hint: e4 (WIN for you, over in 3 plies, by search)" in out
    assert "hint: e3 (LOSS for you, over in 2 plies, by search)" in out


def test_only_grids_beyond_64_cells_need_it() -> None:
    for name, size, needed in (
        ("mnk", "8x8", False),
        ("mnk", "13x5", True),
        ("puissance-plus", "9x8", True),
        ("domineering", "9x9", False),
    ):
        assert needs_plain_search(find_game(name).parse(size, {})) == needed
