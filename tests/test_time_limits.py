"""One limit for one question, however many searches answer it: clocks that tick when looked at."""

from itertools import count
from types import SimpleNamespace

import pytest

from retro.errors import TimeLimitError
from retro.games.catalogue import find_game
from retro.games.connect import Board
from retro.search.solver import Solver
from tablebase import keyed_oracle
from tablebase.keyed_oracle import KeyedOracle
from tablebase.keyed_perfect import KeyedPerfectPlayer
from tablebase.perfect import PerfectPlayer


def ticking() -> SimpleNamespace:
    """A clock that goes on by a second whenever somebody looks at it."""
    seconds = count()
    return SimpleNamespace(monotonic=lambda: float(next(seconds)))


def test_an_analysis_of_connect_four_has_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retro.search.solver.time", ticking())
    solver = Solver("4x4", memory_mb=1, time_limit=20)
    assert len(solver.analyse("")) == 4  # one question: four moves, no two of them 20 s apart
    assert len(solver.analyse("1")) == 4  # the next question has a clock of its own
    with pytest.raises(TimeLimitError, match="not solved within 20 s"):
        solver.analyse_and_line("")
    with pytest.raises(TimeLimitError, match="not solved within 2 s"):
        Solver("4x4", memory_mb=1, time_limit=2).analyse("")


def test_an_analysis_of_another_game_has_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    game = find_game("mnk")
    start = game.start(game.parse("3x3", {}))
    question = game.read_position(start.board, "b2 a1 c3")
    oracle = KeyedOracle(game, start, [], memory_mb=1, time_limit=1e9)
    moves, line = oracle.analyse_and_line(question)
    assert moves == oracle.analyse(question)
    assert line == oracle.main_line(question)

    looks = count()
    monkeypatch.setattr(keyed_oracle, "time", SimpleNamespace(monotonic=lambda: float(next(looks))))
    oracle.analyse(question)
    for_moves = next(looks)
    limited = KeyedOracle(game, start, [], memory_mb=1, time_limit=for_moves + 5)
    assert limited.analyse(question) == moves
    with pytest.raises(TimeLimitError):
        limited.analyse_and_line(question)


def test_the_perfect_player_looks_at_the_clock_while_choosing_among_moves() -> None:
    player = PerfectPlayer(Board(4, 4), memory_mb=1, time_limit=0)
    with pytest.raises(TimeLimitError, match="no move found within 0 s"):
        player.advise("")


def test_a_move_of_the_perfect_player_is_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    game = find_game("mnk")
    start = game.start(game.parse("3x3", {}))
    position = game.read_position(start.board, "a1")  # only b2, the fourth move, keeps the draw
    looks = count()
    monkeypatch.setattr(keyed_oracle, "time", SimpleNamespace(monotonic=lambda: float(next(looks))))

    def advise(limit: float) -> str:
        oracle = KeyedOracle(game, start, [], memory_mb=1, time_limit=limit)
        return game.write_move(position, KeyedPerfectPlayer(oracle).advise(position).move)

    assert advise(1e9) == "b2"
    needed = next(looks)
    assert advise(needed) == "b2"
    with pytest.raises(TimeLimitError):
        advise(needed - 5)
