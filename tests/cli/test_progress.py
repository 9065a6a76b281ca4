"""What people read while they wait: not too often, and no number that means nothing."""

import re
from types import SimpleNamespace

import pytest

from retro.games.catalogue import find_game
from retro.search import Solver
from tablebase.building.plan import Progress
from tablebase.cli import progress
from tablebase.cli.progress import BuildProgress, SearchProgress, Ticker


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that stands until a test sets it."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_a_search_tells_its_question_every_two_seconds(
    clock: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = SearchProgress()
    compiling = 40.0  # seconds before the first report: not of the search
    for tenth in range(100):
        clock.now = 100 + tenth / 10
        shown.report(1000 + 200_000 * tenth, compiling + tenth / 10, "a win?")
    found = lines(capsys)
    assert found[0] == "1 s, 2,001,000 nodes, 2.0 million/s: a win?"
    assert len(found) == 5


def test_short_searches_are_not_spoken_of(
    clock: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = SearchProgress()
    for _ in range(50):
        for tenth in range(1, 9):
            clock.now += 0.1
            shown.report(100_000 * tenth, tenth / 10, "a win?")
    assert lines(capsys) == []


def test_slow_searches_have_a_rate(
    clock: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = SearchProgress()
    shown.report(100, 0.5, "a win?")
    shown.report(5100, 10.5, "a win?")
    assert lines(capsys) == ["10 s, 5,100 nodes, 500/s: a win?"]


def test_solvers_say_what_they_ask() -> None:
    asked: list[str] = []
    solver = Solver(
        "5x5", memory_mb=16, slice_nodes=1000, report=lambda *seen: asked.append(seen[2])
    )
    solver.solve("", strong=True)
    assert all(re.fullmatch(r"between (LOSS|DRAW|WIN).* and (LOSS|DRAW|WIN).*", q) for q in asked)
    assert len(set(asked)) > 1  # the window becomes narrower

    game = find_game("mnk")
    board = game.parse("3x3", {})
    asked.clear()
    solver = Solver(board, memory_mb=1, report=lambda *seen: asked.append(seen[2]))
    solver.solve(board.start())
    assert asked == ["a win?", "at least a draw?"]
    asked.clear()
    solver.solve(board.position("b2 b1"), strong=True)
    assert "a win within 3 plies?" in asked


def test_a_build_has_no_rate_until_it_means_something(
    clock: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    def report(seconds: float, done: int) -> str:
        clock.now = 100 + seconds
        shown.report(Progress("backward", 7, done, 10**9, 0))
        return "".join(lines(capsys))

    with BuildProgress(quiet=False) as shown:
        report(0, 0)
        shown._compiling()
        shown._compiling()
        assert lines(capsys) == ["compiling kernels (once)"]
        assert report(30, 1000) == "walking back: 0% ply 7"
        assert report(33, 3_000_001_000 // 10) == (
            "walking back: 30% ply 7, 100 million/s, 7 s left"
        )


def test_numba_tells_when_it_compiles() -> None:
    from numba import njit

    told: list[int] = []
    with progress._before_compiling(lambda: told.append(1)):
        assert njit(lambda x: x + 1)(1) == 2
    assert told


def test_a_build_of_unknown_size_tells_what_it_has_done(
    clock: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    with BuildProgress(quiet=False) as shown:
        for seconds, done in ((0, 0), (10, 5_000_000)):
            clock.now = 100 + seconds
            shown.report(Progress("forward", 3, done, 0, 0))
    assert lines(capsys) == ["walking forward: ply 3, 5,000,000 positions, 0.5 million/s"]


def test_a_check_tells_how_much_is_done_and_when_it_ends(
    clock: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    with Ticker(42) as ticker:
        for second, share in ((0, 0.0), (3, 0.05), (30, 0.25), (31, 0.26)):
            clock.now = 100.0 + second
            ticker.tick("quick", 30, share)
        clock.now = 160.0
        ticker.tick("sample", 7)
    assert lines(capsys) == [
        "quick: ply 30 of 42, 5%, 57 s left",
        "quick: ply 30 of 42, 25%, 1 min 30 s left",
        "sample: ply 7 of 42",
    ]
