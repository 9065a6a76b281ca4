"""The solver as users call it: against the plain truth, against tables, and its manners."""

import json
from pathlib import Path

import naive
import numpy as np
import pytest

from retro.errors import (
    BadTextError,
    DoesNotFitError,
    GameOverError,
    IllegalPositionError,
    TablebaseError,
    TimeLimitError,
    WrongBoardError,
)
from retro.games.connect import Board, Position
from retro.search import Solver
from retro.search.solver import Stones
from tablebase.cli import main
from tablebase.probe import open_tablebase

GAME = naive.Game(4, 4, 3)


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver("5x4", memory_mb=16)


def test_positions_of_a_small_board_have_their_values() -> None:
    solver = Solver(Board(*GAME), memory_mb=1)
    checked = 0
    for text, value in list(naive.values(GAME).items())[::7]:
        if naive.EMPTY in text and not naive.line_is_complete(GAME, text):
            assert solver.solve(naive.bitboards(GAME, text)).value == value
            checked += 1
    assert checked > 2_000


def test_solver_and_table_agree_on_samples(built_5x4: object, table_folder: Path) -> None:
    rng = np.random.default_rng(11)
    solver = Solver("5x4", memory_mb=16)
    with open_tablebase(table_folder / "connect4-5x4.h5") as table:
        for ply in range(20):
            for _ in range(40):
                position = table.random_position(rng, ply)
                found = solver.solve(position, strong=True)
                assert found.value == table.probe_wdl(position), position
                # A first-player win ends on an odd ply, a second-player win on an even one.
                end = ply + found.plies
                winner_is_first = (found.value > 0) == (ply % 2 == 0)
                assert found.value == 0 or (end % 2 == 1) == winner_is_first
                assert found.value != 0 or end == 20


def test_a_table_answers_what_it_covers(built_5x4: object, table_folder: Path) -> None:
    with open_tablebase(table_folder / "connect4-5x4.h5") as table:
        solver = Solver("5x4", memory_mb=1, tables=[table])
        found = solver.solve("443")
        assert (found.value, found.source, found.nodes) == (1, "table", 0)
        assert solver.solve("443", strong=True).source == "both"
        with pytest.raises(WrongBoardError, match="a table of connect4-5x4 for connect4-4x4"):
            Solver("4x4", memory_mb=1, tables=[table])


def test_analysis_is_best_first_and_consistent_with_solving(solver: Solver) -> None:
    moves = solver.analyse("443")
    whole = solver.solve("443", strong=True)
    assert (moves[0].value, moves[0].plies) == (whole.value, whole.plies)
    assert {move.number for move in moves} == set(range(5))
    for move in moves:
        after = solver.solve("443" + move.move, strong=True)
        assert (move.value, move.plies) == (-after.value, after.plies + 1)


def test_a_win_is_taken_and_the_fastest_first(solver: Solver) -> None:
    moves = solver.analyse("121212")
    assert (moves[0].move, moves[0].value, moves[0].plies) == ("1", 1, 1)
    wins = [move.plies for move in moves if move.value == 1]
    losses = [move.plies for move in moves if move.value == -1]
    assert wins == sorted(wins)
    assert losses == sorted(losses, reverse=True)


def test_the_best_line_takes_as_long_as_the_distance_says(solver: Solver) -> None:
    for moves in ("", "443", "1", "12"):
        line = solver.best_line(moves)
        assert len(line) == solver.solve(moves, strong=True).plies
        position = Position(solver.board)
        for column in [int(m) - 1 for m in moves] + [m.number for m in line]:
            position = position.play(column)
        assert position.is_over()


def test_any_gravity_legal_stones_have_a_value() -> None:
    board = Board(4, 4, 3)
    solver = Solver(board, memory_mb=1)
    three = sum(board.bit(column, 0) for column in (0, 1))
    assert solver.solve(Stones(board, three, 0)).value == 1
    assert solver.solve(Stones(board, 0, three), strong=True).plies is not None


@pytest.mark.parametrize(
    ("position", "error"),
    [
        ("1212121", GameOverError),
        ("11111", IllegalPositionError),
        ("4?", BadTextError),
        (Position(Board(4, 4)), WrongBoardError),
        ((0b10, 0), IllegalPositionError),
    ],
)
def test_what_is_no_question_gets_its_error(
    solver: Solver, position: object, error: type[Exception]
) -> None:
    with pytest.raises(error):
        solver.solve(position)


def test_threads_that_share_a_table_agree_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """In slices of a few nodes: every thread finds what the others left, all the time."""
    monkeypatch.setattr("retro.search.solver.THREAD_NODES", 20)
    alone = Solver("5x4", memory_mb=16)
    shared = Solver("5x4", memory_mb=1, threads=3, slice_nodes=60)
    rng = np.random.default_rng(4)
    for _ in range(30):
        moves = "".join(str(column) for column in rng.integers(1, 6, rng.integers(0, 6)))
        one, many = (s.solve(moves, strong=True) for s in (alone, shared))
        assert (one.value, one.plies) == (many.value, many.plies), moves


def test_a_time_limit_is_an_error_never_a_guess() -> None:
    calls = []
    solver = Solver("7x6", memory_mb=16, time_limit=0, report=lambda *a: calls.append(a))
    with pytest.raises(TimeLimitError, match="not solved within 0 s"):
        solver.solve("")
    assert calls[0][0] >= 1_000_000


def test_the_command_prints_one_word(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    empty = ["--tables", str(tmp_path)]
    assert main.main(["solve", "444444", *empty, "--board", "7x6", "--memory", "64"]) == 0
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
    assert main.main(["solve", str(grid), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["value"], found["board"], found["source"]) == ("WIN", "4x4", "search")
    grid.write_text("4x4 .... .... .... 0000")
    assert main.main(["solve", str(grid)]) == GameOverError.exit_code
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
        (["--board", "8x7", "--memory", "1"], BadTextError),  # tags of 64-bit boards need 16 MB
        (["--memory", "99999999"], DoesNotFitError),
        (["--memory", "0"], BadTextError),
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
    status = main.main(["solve", "", "--time-limit", "0", "--memory", "16"])
    out, err = capsys.readouterr()
    assert status == TimeLimitError.exit_code
    assert out == ""
    assert "not solved" in err
