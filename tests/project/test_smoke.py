"""A quick look into the rooms that the suites over the catalogue do not enter.

`pytest -m smoke` runs these and the quickest of those suites: every game, both indexes,
builds, questions, checks, the three engines, players, commands.
"""

import json
from random import Random

import numpy as np
import pytest
from catalogue_cases import small_board

from retro.games.catalogue import NAMES, make_board
from retro.index.halves import one
from retro.index.halves.layout import make_layout
from retro.index.halves.ranking import Place, rank_position, unrank_position
from retro.index.keys.sorting import Keys
from retro.play.players import make_player, read_spec
from retro.play.referee import referee
from retro.search import Solver
from tablebase.cli import build as build_command
from tablebase.cli import main as table_command

pytestmark = pytest.mark.smoke


def test_the_index_of_halves_there_and_back():
    board = make_board("4x3 connect=3")
    layout = make_layout(board)
    position = board.position("213")
    place = rank_position(layout, position)
    assert place.ply == 3
    assert unrank_position(layout, place) in (position, position.mirror())
    assert one.rank(board, layout.shape.left_columns, board.start(), position) == place.rank
    assert unrank_position(layout, Place(0, 0)) == board.start()


def test_keys_are_two_arrays():
    keys = Keys(np.array([1, 2], np.uint64), np.empty(0, np.uint64))
    assert keys.size == 2


def test_the_ladder_takes_boards_that_kernels_do_not():
    """70 cells: two stones side by side win."""
    assert Solver("mnk 35x2 connect=2", memory="1M").solve("").value == 1


@pytest.mark.parametrize("name", NAMES)
def test_players_play_a_game(name):
    board, rng = small_board(name), Random(1)
    players = [make_player(read_spec(text), board, rng) for text in ("random", "alphabeta:2")]
    record = referee(board, *players)
    assert record.position.is_over()
    assert board.start()._play_all(record.moves) == record.position


def test_commands_build_ask_and_check(tmp_path, capsys):
    place = ["--dir", str(tmp_path)]
    assert build_command.main(["mnk", "3x2", *place, "--quiet"]) == 0
    assert "value of the empty board for the first player: DRAW" in capsys.readouterr().out
    for command in ("probe", "solve", "stats", "verify"):
        assert table_command.main([command, "mnk", "3x2", *place, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["game"] == "mnk"
