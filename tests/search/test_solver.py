"""The solver as users call it: against the plain truth, against tables, and its manners."""

from pathlib import Path

import numpy as np
import pytest
from catalogue_cases import impossible, small_board
from plain import connect4 as naive

from retro import cores
from retro.errors import (
    BadTextError,
    GameOverError,
    IllegalPositionError,
    TimeLimitError,
    WrongBoardError,
)
from retro.games.catalogue import NAMES, make_board
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.search import Solver
from retro.search.connect4 import search
from tablebase.tables import open_tablebase

GAME = naive.Game(4, 4, 3)
SMALL_BOARDS = [small_board(name) for name in NAMES]


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver("5x4", memory_mb=16)


def test_positions_of_a_small_board_have_their_values() -> None:
    solver = Solver(Connect4Board(*GAME), memory_mb=1)
    checked = 0
    for text, value in list(naive.values(GAME).items())[::7]:
        if naive.EMPTY in text and not naive.line_is_complete(GAME, text):
            position = solver.board.unpack(*naive.bitboards(GAME, text))
            assert solver.solve(position).value == value
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
        position = Connect4Position(solver.board)
        for column in [int(m) - 1 for m in moves] + [m.number for m in line]:
            position = position._play(column)
        assert position.is_over()


def test_any_gravity_legal_stones_have_a_value() -> None:
    board = Connect4Board(4, 4, 3)
    solver = Solver(board, memory_mb=1)
    three = sum(board.bit(column, 0) for column in (0, 1))
    assert solver.solve(board.arrangement(three, 0)).value == 1
    assert solver.solve(board.arrangement(0, three), strong=True).plies is not None


@pytest.mark.parametrize(
    ("position", "error"),
    [
        ("11111", IllegalPositionError),
        ("4?", BadTextError),
        (Connect4Position(Connect4Board(4, 4)), WrongBoardError),
        (Connect4Position(Connect4Board(5, 4), 0b10), IllegalPositionError),
    ],
)
def test_what_is_no_question_gets_its_error(
    solver: Solver, position: object, error: type[Exception]
) -> None:
    with pytest.raises(error):
        solver.solve(position)


@pytest.mark.parametrize("text", [*map(str, SMALL_BOARDS), "mnk 9x9"])
def test_what_no_board_can_show_is_refused(text: str) -> None:
    """By every question, of one position or of many; nothing looks at it as if it were right."""
    board = make_board(text)
    solver = Solver(board, memory="1M")
    asks = [solver.solve, solver.analyse, solver.best_move, solver.best_line]
    asks.append(lambda position: solver.solve_within(position, 1))
    asks.append(lambda position: solver.solve_many([board.start(), position]))
    for wrong, position in impossible(board).items():
        for ask in asks:
            with pytest.raises(IllegalPositionError):
                pytest.fail(f"{wrong}: {ask(position)}")


def test_a_finished_game_has_its_value_and_no_moves(solver: Solver) -> None:
    full = "".join(move.move for move in solver.best_line(""))
    assert len(full) == 20
    for moves, value in (("1212121", -1), (full, 0)):
        found = solver.solve(moves)
        assert (found.value, found.plies, found.nodes, found.source) == (value, 0, 0, "rules")
        assert solver.solve_within(moves, 1).value == value
        for ask in (solver.analyse, solver.best_line, solver.analyse_and_line, solver.best_move):
            with pytest.raises(GameOverError):
                ask(moves)


def test_many_positions_at_once_are_as_one_by_one(solver: Solver) -> None:
    """Finished ones among them, in slices, of every game."""
    rng = np.random.default_rng(8)
    for board in (solver.board, make_board("mnk 3x3"), make_board("domineering 4x4")):
        positions = []
        for _ in range(60):
            position = board.start()
            for _ in range(rng.integers(0, board.last_ply)):
                if not position.is_over():
                    position = position._play(int(rng.choice(position._numbers())))
            positions.append(position)
        one, many = (Solver(board, memory="1M", slice_nodes=n) for n in (0, 50))
        for strong in (False, True):
            found = [one.solve(position, strong=strong) for position in positions]
            together = many.solve_many(board.states(positions), strong=strong)
            assert together.values.tolist() == [solution.value for solution in found]
            if strong:
                assert together.plies.tolist() == [solution.plies for solution in found]
        assert {solution.plies for solution in found} > {0, 1}


def test_many_positions_that_cannot_be_are_refused_with_their_place(solver: Solver) -> None:
    ok = solver.board.position("12")._state
    with pytest.raises(IllegalPositionError, match="position 1: a stone floats"):
        solver.solve_many(([ok[0], 0b10], [ok[1], 1 << 5]))
    with pytest.raises(IllegalPositionError, match="position 0: the side to move has 4 in a line"):
        solver.solve_many(([0b1111], [0b111 << 5 | 1 << 10]))


def test_threads_that_share_a_table_agree_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """In slices of a few nodes: every thread finds what the others left, all the time."""
    monkeypatch.setattr("retro.search.connect4.search.THREAD_NODES", 20)
    alone = Solver("5x4", memory_mb=16)
    shared = Solver("5x4", memory_mb=1, threads=3, slice_nodes=60)
    rng = np.random.default_rng(4)
    for _ in range(30):
        moves = "".join(str(column) for column in rng.integers(1, 6, rng.integers(0, 6)))
        one, many = (s.solve(moves, strong=True) for s in (alone, shared))
        assert (one.value, one.plies) == (many.value, many.plies), moves


@pytest.mark.parametrize(
    ("asked", "seconds", "free", "helpers"),
    [
        (None, 0, 1, 1),
        (None, 0, 3, 1),
        (None, 0, 0, 0),
        (None, 60, 1, 0),
        (1, 0, 1, 0),
        (3, 60, 0, 2),
    ],
)
def test_a_long_search_takes_a_second_thread_if_a_core_is_free(
    monkeypatch: pytest.MonkeyPatch, asked: int | None, seconds: float, free: int, helpers: int
) -> None:
    made = []
    make_helper = search.make_helper
    monkeypatch.setattr(search, "SECONDS_ALONE", seconds)
    monkeypatch.setattr(search, "free_cores", lambda: free)
    monkeypatch.setattr(search, "make_helper", lambda *of: made.append(of) or make_helper(*of))
    solver = Solver("6x5", memory="16M", threads=asked, slice_nodes=10_000)
    found = solver.solve("", strong=True)
    assert (found.value, found.plies) == (0, 30)
    assert len(made) == helpers


@pytest.mark.parametrize(("running", "free"), [(1, 3), (2, 2), (4, 0), (9, 0)])
def test_cores_are_free_that_nobody_works_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, running: int, free: int
) -> None:
    monkeypatch.setattr(cores, "RUNNING", tmp_path / "loadavg")
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.setattr(cores, "available_cores", lambda: 4)
    (tmp_path / "loadavg").write_text(f"8.00 8.00 8.00 {running}/300 12345\n")
    assert cores.free_cores() == free
    monkeypatch.setattr(cores, "available_cores", lambda: 2)
    assert cores.free_cores() == min(free, 1)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_slices_of_a_tiny_table_make_progress(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    """Each slice is far shorter than the search, and the table forgets nearly all of it."""
    monkeypatch.setattr("retro.search.connect4.search.THREAD_NODES", 300)
    tiny = Solver("6x5", memory="4K", threads=threads, slice_nodes=1_000)
    found = tiny.solve("", strong=True)
    assert (found.value, found.plies) == (0, 30)
    assert found.nodes < 1_500_000 * threads  # alone and in one go: 1,272,825


def test_a_time_limit_is_an_error_never_a_guess() -> None:
    calls = []
    solver = Solver("7x6", memory_mb=16, time_limit=0, report=lambda *a: calls.append(a))
    with pytest.raises(TimeLimitError, match="not solved within 0 s"):
        solver.solve("")
    assert calls[0][0] >= 1_000_000
