"""The perfect player of every game keeps the value, by table and by search."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from plain.recursion import every_position

import tablebase as tb
from retro.errors import TimeLimitError
from retro.games.game import Board, Position
from tablebase.perfect import PerfectPlayer


def some_games(board: Board, number: int) -> Iterator[Position]:
    """Every unfinished position of some random games."""
    rng = random.Random(board.name)
    for _ in range(number):
        position = board.start()
        while not position.is_over():
            yield position
            position = position._play(rng.choice(position._numbers()))


@pytest.mark.smoke
def test_it_keeps_the_value_by_table_and_by_search(small: Board, small_table: tb.Table) -> None:
    known = every_position(small.start())
    players = {
        "search": PerfectPlayer(tb.Oracle(small, memory="1M")),
        "table": PerfectPlayer(tb.Oracle(small, [small_table], memory="1M")),
    }
    for position in some_games(small, 8):
        for source, player in players.items():
            advice = player.advise(position)
            assert (advice.value, advice.source) == (known[position._state].value, source)
            after = position._play(advice.move)
            assert -known[after._state].value == advice.value
            wins = [m for m in position._numbers() if position._play(m).outcome() == -1]
            assert ((advice.value, advice.plies) == (1, 1)) == bool(wins)
            assert bool(wins) == (after.outcome() == -1)
            assert player.choose(position) == advice.move


def test_the_winner_hurries_and_the_loser_stalls(small: Board, small_table: tb.Table) -> None:
    """With time enough a game of two takes as many plies as the analysis says."""
    oracle = tb.Oracle(small, [small_table], memory="1M")
    player = PerfectPlayer(oracle, seconds=60)
    for position in list(some_games(small, 3))[::4]:
        analysed, begun = oracle.analyse(position), position.ply
        while not position.is_over():
            position = position._play(player.choose(position))
        if analysed.value:
            assert position.ply - begun == analysed.plies


def test_without_time_for_distances_the_value_is_kept(small: Board, small_table: tb.Table) -> None:
    known = every_position(small.start())
    for tables in ([], [small_table]):
        player = PerfectPlayer(tb.Oracle(small, tables, memory="1M"), seconds=0)
        for position in some_games(small, 3):
            after = position._play(player.choose(position))
            assert -known[after._state].value == known[position._state].value


@pytest.mark.parametrize("board", ["4x4", "mnk 3x3", "quarto 2x2 attributes=2"])
def test_it_uses_rooted_tables(board: str, tmp_path: Path) -> None:
    start = tb.board(board).start()
    root = start._play(start._numbers()[0])
    tb.build(board, folder=tmp_path, root=root)
    with tb.oracle(board, folder=tmp_path, memory="1M") as oracle:
        player = PerfectPlayer(oracle)
        assert player.advise(root).source == "table"
        assert player.advise(start).source == "search"


@pytest.mark.parametrize("board", ["6x6", "mnk 6x6 connect=5", "domineering 8x8"])
def test_the_time_limit_of_its_oracle_is_that_of_a_move(board: str) -> None:
    player = PerfectPlayer(tb.Oracle(tb.board(board), memory="1M", time_limit=0))
    with pytest.raises(TimeLimitError, match="within 0 s"):
        player.advise(player.board.start())
