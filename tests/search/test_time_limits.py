"""One limit for one question, however many searches answer it: clocks that tick when looked at."""

from itertools import count
from types import SimpleNamespace

import pytest

from retro.errors import TimeLimitError
from retro.games.catalogue import make_board
from retro.games.connect4.rules import Connect4Board
from retro.search import Solver
from tablebase.oracles import Oracle
from tablebase.perfect import PerfectPlayer


def ticking() -> SimpleNamespace:
    """A clock that goes on by a second whenever somebody looks at it."""
    seconds = count()
    return SimpleNamespace(monotonic=lambda: float(next(seconds)))


def test_an_analysis_of_connect_four_has_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retro.deadline.time", ticking())
    solver = Solver("4x4", memory_mb=1, time_limit=20)
    assert len(solver.analyse("")) == 4  # one question: four moves, no two of them 20 s apart
    assert len(solver.analyse("1")) == 4  # the next question has a clock of its own
    with pytest.raises(TimeLimitError, match="not solved within 20 s"):
        solver.analyse_and_line("")
    with pytest.raises(TimeLimitError, match="not solved within 2 s"):
        Solver("4x4", memory_mb=1, time_limit=2).analyse("")


def test_an_analysis_of_another_game_has_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Solver("mnk 3x3", memory="1M", time_limit=1e9)
    question = solver.board.position("b2 a1 c3")
    moves, line = solver.analyse_and_line(question)
    assert moves == solver.analyse(question)
    assert line == solver.best_line(question)

    looks = count()
    clock = SimpleNamespace(monotonic=lambda: float(next(looks)))
    monkeypatch.setattr("retro.deadline.time", clock)
    Solver("mnk 3x3", memory="1M", time_limit=1e9).analyse(question)
    for_moves = next(looks)
    limited = Solver("mnk 3x3", memory="1M", time_limit=for_moves + 5)
    assert limited.analyse(question) == moves
    with pytest.raises(TimeLimitError):
        limited.analyse_and_line(question)


def test_the_perfect_player_looks_at_the_clock_while_choosing_among_moves() -> None:
    player = PerfectPlayer(Oracle(Connect4Board(4, 4), memory="1M", time_limit=0))
    with pytest.raises(TimeLimitError, match="no move found within 0 s"):
        player.advise(player.board.start())


def test_a_move_of_the_perfect_player_is_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    board = make_board("mnk 3x3")
    position = board.position("a1")  # only b2, the fourth move, keeps the draw
    looks = count()
    clock = SimpleNamespace(monotonic=lambda: float(next(looks)))
    monkeypatch.setattr("retro.deadline.time", clock)

    def advise(limit: float) -> str:
        player = PerfectPlayer(Oracle(board, memory="1M", time_limit=limit))
        return position._text_of(player.advise(position).move)

    assert advise(1e9) == "b2"
    needed = next(looks)
    assert advise(needed) == "b2"
    with pytest.raises(TimeLimitError):
        advise(needed - 5)
