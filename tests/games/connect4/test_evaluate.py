"""Evaluations of Connect Four: the published weights, runs counted plainly, play against random."""

import random

import pytest

from retro.games.catalogue import make_board
from retro.games.connect4.evaluate import RUN_OF_THREE, RUN_OF_TWO, cells, runs
from retro.play.players import make_player, read_spec
from retro.play.referee import referee

# Lines through each cell of 7x6, as the classic program had them (its lowest rows mirrored).
WEIGHTS = """
3  4  5  7  5  4  3
4  6  8 10  8  6  4
5  8 11 13 11  8  5
5  8 11 13 11  8  5
4  6  8 10  8  6  4
3  4  5  7  5  4  3
"""


def test_the_weights_of_69_lines() -> None:
    board = make_board("7x6")
    weights = [[int(word) for word in row.split()] for row in WEIGHTS.split("\n") if row]
    assert len(board.lines) == 69
    assert sum(map(sum, weights)) == 4 * 69
    for row, numbers in enumerate(reversed(weights)):
        for column, weight in enumerate(numbers):
            stone = board.unpack(board.bit(column, row), 0)  # the second player is to move
            assert cells(stone) == -weight


def plain_runs(position) -> int:
    """Runs of neighbours that can go on, counted cell by cell, for the side to move."""
    board, total = position.board, 0

    def owner(column: int, row: int) -> int | None:
        if not (0 <= column < board.width and 0 <= row < board.height):
            return None
        bit = board.bit(column, row)
        return 1 if position.mover & bit else -1 if position.opponent & bit else 0

    k = board.connect
    for column in range(board.width):
        for row in range(board.height):
            for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                seen = [owner(column + right * i, row + up * i) for i in range(k)]
                for side in (1, -1):
                    for lacking, points in ((1, RUN_OF_THREE), (2, RUN_OF_TWO)):
                        for begin in range(lacking + 1):
                            wanted = [0] * k
                            wanted[begin : begin + k - lacking] = [side] * (k - lacking)
                            total += side * points * (seen == wanted)
    return total


@pytest.mark.parametrize(("size", "connect"), [("7x6", 4), ("5x4", 4), ("5x5", 3)])
def test_runs_are_weights_and_neighbours_that_can_go_on(size: str, connect: int) -> None:
    rng, some = random.Random(4), 0
    for _ in range(60):
        position = make_board(size, connect=connect).start()
        for _ in range(rng.randrange(3, 16)):
            if not position.is_over():
                position = position._play(rng.choice(position._numbers()))
        if not position.is_over():
            neighbours = runs(position) - cells(position)
            assert neighbours == plain_runs(position)
            some += neighbours != 0
    assert some > 10


def score(first: str, second: str, games: int) -> float:
    """The share of games won by the first, a draw for half; colours alternate."""
    points = 0.0
    start = make_board("7x6").start()
    for seed in range(games):
        rng = random.Random(seed)
        one, other = (make_player(read_spec(spec), start.board, rng) for spec in (first, second))
        seats = (one, other) if seed % 2 == 0 else (other, one)
        winner = referee(start, *seats).result.winner
        points += 0.5 if winner is None else (winner == "first") == (seed % 2 == 0)
    return points / games


def test_the_weights_win_nine_games_of_ten_against_random_play() -> None:
    """As was published of the classic program, one ply deep; 97 % of 200 games."""
    assert score("greedy:cells", "random", 60) >= 0.9


def test_runs_beat_the_weights_alone() -> None:
    """62.5 % of 400 games, one ply deep; some of them here."""
    assert score("greedy:runs", "greedy:cells", 60) > 0.5
