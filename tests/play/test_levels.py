"""Levels: what they state is what they do, and each beats the one below."""

from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from retro.errors import BadTextError, TimeLimitError
from retro.games.catalogue import NAMES, find_game, make_board
from retro.play.contest import Tally, run, schedule
from retro.play.levels import LEVELS, PerfectLevel, find_level, make_level
from retro.play.referee import referee
from tablebase.players import Arena, Means, Players

SMALL = {"connect4": "5x4", "quarto": "3x3", "puissance-plus": "4x4", "domineering": "4x4"}


def board_of(name):
    return find_game(name).make(SMALL.get(name, "3x3"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", LEVELS)
def test_every_level_plays_every_game(name, level) -> None:
    board = board_of(name)
    for seats in ((level, "easy"), ("easy", level)):
        players = [make_level(seat, board, Random(i), seconds=0.02) for i, seat in enumerate(seats)]
        record = referee(board, *players)
        assert record.result.reason in ("win", "draw")
    assert level in LEVELS[level].about(board)


@pytest.mark.parametrize("level", [name for name in LEVELS if name != "perfect"])
def test_the_same_seed_plays_the_same_game(level) -> None:
    board = make_board("5x4")

    def moves(seed):
        players = (make_level(level, board, Random(f"{seed} {side}")) for side in (1, 2))
        return referee(board, *players).moves

    assert moves(1) == moves(1)
    assert len({moves(seed) for seed in range(5)}) > 1


@pytest.mark.parametrize("level", [name for name in LEVELS if name != "perfect"])
def test_slips_are_as_frequent_as_stated(level) -> None:
    board = make_board("mnk", "3x3")
    player, remarks = make_level(level, board, Random(4)), Counter()
    for _ in range(300):
        player.choose(board.start())
        remarks[player.remark == "drawn by lot"] += 1
    share = remarks[True] / 300
    assert abs(share - LEVELS[level].slips) < 0.09
    assert player.nodes in (0, LEVELS[level].playouts)


def test_whoever_does_not_slip_takes_a_win_and_stops_one() -> None:
    board = make_board("5x4")
    for level in ("beginner", "easy", "medium", "hard"):
        for text, best in (("121212", "1"), ("12121", "1")):
            position, player = board.position(text), make_level(level, board, Random(1))
            chosen = {
                position._text_of(move)
                for move in (player.choose(position) for _ in range(20))
                if player.remark != "drawn by lot"
            }
            assert chosen == {best}


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "text",
    [
        "mnk 3x3",
        "puissance-plus 4x4",
        pytest.param("notakto 3x3", marks=SLOW),
        pytest.param("connect4 5x4", marks=SLOW),
        pytest.param("domineering 4x4", marks=SLOW),
    ],
)
def test_each_level_beats_the_one_below_on_small_boards(text) -> None:
    """The order that docs/levels.md has for the usual boards, from fewer games of small ones."""
    board = make_board(text)
    arena = Arena(Means(second=0.05))
    for weak, strong in pairwise(LEVELS):
        games = 60 if strong in ("hard", "perfect") else 40
        tally = Tally([weak, strong])
        for bout, record in run(schedule(board, [weak, strong], games, seed=2), arena):
            tally.add(bout, record)
        assert tally.scores[strong].points > tally.scores[weak].points, (weak, strong)


def test_perfect_keeps_the_value_where_it_is_known() -> None:
    board = make_board("mnk", "3x3")
    with Players(board) as players:
        perfect = players.make("perfect", Random(1))
        for seed in range(6):
            record = referee(board, players.make("easy", Random(seed)), perfect)
            assert record.result.winner != "first"
            assert {entry.cost.remark.split(",")[0] for entry in record.entries[1::2]} <= {
                "WIN",
                "DRAW",
            }


class Ignorant:
    """Never knows in time."""

    def advise(self, position):
        raise TimeLimitError("no idea")


def test_without_a_proof_perfect_says_so_and_plays_on() -> None:
    board = make_board("5x4")
    player = make_level("perfect", board, Random(1), Ignorant(), seconds=0.05)
    assert isinstance(player, PerfectLevel)
    assert player.choose(board.position("121212")) == 0
    assert player.remark.startswith("no proof within its time; ")
    assert player.nodes > 0


@pytest.mark.parametrize("level", LEVELS)
def test_boards_too_large_for_playouts_are_looked_at(level) -> None:
    board = make_board("puissance-plus 10x10")
    player = make_level(level, board, Random(2), seconds=0.3)
    assert player.choose(board.start()) in board.start()._numbers()
    assert "look" in LEVELS[level].about(board)


def test_unknown_levels_are_named() -> None:
    with pytest.raises(BadTextError, match="found level 'wizard', wanted one of beginner"):
        find_level("wizard")
