"""Contests: fair schedules, the same games on any number of cores, Elo that finds the truth."""

import random

import numpy as np
import pytest
from broken_play import die, fail

from retro.errors import BadTextError
from retro.games.catalogue import make_board
from retro.play.contest import Tally, draw_openings, mistakes, run, schedule
from retro.play.elo import elo
from retro.play.record import GameRecord
from retro.play.record_text import read_record
from retro.search import Solver
from tablebase.players import Arena, Means

BOARD = make_board("mnk", "3x3")


def test_every_pair_meets_with_both_colours_and_the_same_openings() -> None:
    openings = [("b2",), ("a1",)]
    bouts = schedule(BOARD, ["a", "b", "c"], 4, seed=3, openings=openings)
    assert [bout.number for bout in bouts] == list(range(12))
    for pair in ("ab", "ac", "bc"):
        games = [bout for bout in bouts if {bout.first, bout.second} == set(pair)]
        assert [bout.first for bout in games] == [pair[0], pair[1]] * 2
        assert [bout.opening for bout in games] == [("b2",), ("b2",), ("a1",), ("a1",)]
    assert len({bout.seed for bout in bouts}) == 12


def test_openings_differ_and_go_on() -> None:
    found = draw_openings(BOARD, 4, 30, seed=1)
    assert len(set(found)) == 30
    assert all(not BOARD.position(" ".join(words)).is_over() for words in found)
    assert found == draw_openings(BOARD, 4, 30, seed=1) != draw_openings(BOARD, 4, 30, seed=2)
    with pytest.raises(BadTextError, match="no game of mnk 2x1 is open after 2 plies"):
        draw_openings(make_board("mnk 2x1"), 2, 5, seed=1)


def test_any_number_of_cores_plays_the_same_games() -> None:
    bouts = schedule(BOARD, ["random", "easy", "alphabeta:2"], 4, seed=5)
    one = {bout.number: record.text for bout, record in run(bouts, Arena(Means()), 1)}
    two = {bout.number: record.text for bout, record in run(bouts, Arena(Means()), 2)}
    assert len(one) == 12
    assert one == two
    other = schedule(BOARD, ["random", "easy", "alphabeta:2"], 4, seed=6)
    assert one != {bout.number: record.text for bout, record in run(other, Arena(Means()))}


def test_a_contest_that_is_stopped_leaves_no_process() -> None:
    import multiprocessing

    bouts = schedule(BOARD, ["random", "easy"], 50)
    games = run(bouts, Arena(Means()), 2)
    next(games)
    games.close()
    assert not multiprocessing.active_children()


def test_what_goes_wrong_in_a_process_is_raised_here() -> None:
    bouts = schedule(BOARD, ["random", "easy"], 4)
    with pytest.raises(ValueError, match=r"game [01]"):
        list(run(bouts, fail, 2))
    with pytest.raises(RuntimeError, match=r"the process of game [01] died"):
        list(run(bouts, die, 2))


def test_elo_finds_the_numbers_that_made_the_games() -> None:
    rng = np.random.default_rng(7)
    truth = np.array([200.0, 50.0, -50.0, -200.0])
    chance = 1 / (1 + 10 ** ((truth[None, :] - truth[:, None]) / 400))
    points = np.zeros((4, 4))
    for i in range(4):
        for j in range(i):
            won = rng.binomial(400, chance[i, j])
            points[i, j], points[j, i] = won, 400 - won
    found = elo(points)
    for true, rating in zip(truth, found, strict=True):
        assert abs(rating.elo - true) < 3 * rating.error
        assert 5 < rating.error < 20
    assert abs(sum(rating.elo for rating in found)) < 1e-6


def test_elo_of_two_is_the_closed_form_and_errors_shrink() -> None:
    for games in (100, 400):
        won = 3 * games / 4
        found = elo(np.array([[0, won], [games - won, 0]]))
        expected = 400 * np.log10((won + 0.5) / (games - won + 0.5))
        assert found[0].elo - found[1].elo == pytest.approx(expected)
    few, many = (elo(np.array([[0, n], [n, 0.0]]))[0].error for n in (50, 200))
    assert few / many == pytest.approx(2, rel=0.02)
    assert np.isfinite(elo(np.array([[0, 9.0], [0, 0]]))[0].elo)  # who never lost
    assert [rating.elo for rating in elo(np.zeros((2, 2)))] == [0, 0]  # nobody has played


def test_mistakes_are_moves_that_change_the_value() -> None:
    """Against plain recursion, on random games."""

    def plain(position) -> int:
        outcome = position.outcome()
        if outcome is not None:
            return outcome
        return max(-plain(position._play(move)) for move in position._numbers())

    solver = Solver(BOARD, memory="1M")
    rng = random.Random(3)
    total = 0
    for _ in range(5):
        record = GameRecord.begin(BOARD)
        while not record.is_over:
            record = record.play(rng.choice(record.position._numbers()))
        found = mistakes(record, lambda position: solver.solve(position).value)
        expected = {"first": [], "second": []}
        for ply in range(2, len(record.entries)):  # plain recursion is slow before
            before, after = record.at(ply), record.at(ply + 1)
            if -plain(after) != plain(before):
                expected[before.side_to_move].append(ply)
        for side, plies in expected.items():
            assert [m.ply for m in found[side] if m.ply >= 2] == plies
            assert all(m.after < m.before for m in found[side])
            total += len(plies)
    assert total > 3


def test_openings_are_nobodys_mistakes() -> None:
    bouts = schedule(BOARD, ["random", "easy"], 2, openings=[("a1", "b1")])
    solver = Solver(BOARD, memory="1M")
    for _, record in run(bouts, Arena(Means())):
        found = mistakes(record, lambda position: solver.solve(position).value)
        assert all(m.ply >= 2 for side in found.values() for m in side)


def test_the_tally_adds_up() -> None:
    tally = Tally(["a", "b"])
    games = [("a1 b1 a2 b2 a3", "first"), ("a1 b2 a2 a3 b1 c1", "second")]
    bouts = schedule(BOARD, ["a", "b"], 2)
    for bout, (text, winner) in zip(bouts, games, strict=True):
        record = read_record(text, BOARD)
        assert record.result.winner == winner
        tally.add(bout, record, value=lambda _: 0)
    assert tally.points.tolist() == [[0, 2], [0, 0]]  # b is first in the second game
    assert tally.scores["a"].games == {"first won": 1, "second won": 1}
    assert tally.scores["b"].reasons == {"win": 2}
    assert (tally.scores["a"].played, tally.scores["a"].points) == (2, 2.0)
