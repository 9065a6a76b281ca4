"""Minimax against alpha-beta, depth by depth: counts of the plain searches, in every game."""

import json
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from retro.errors import GameOverError
from retro.games.catalogue import NAMES, make_board
from retro.play.evaluations import find_evaluation
from retro.play.lookahead import alpha_beta, minimax
from retro.play.study import study_position, study_svg, study_text
from retro.svg import Plot, Series, plot

BOARDS = {
    "connect4": ("5x4", {}),
    "mnk": ("4x4", {}),
    "puissance-plus": ("4x4", {}),
    "domineering": ("5x5", {}),
    "quarto": ("2x2", {"attributes": 2}),
}


def some_study(name: str, most_nodes: int = 3000):
    size, options = BOARDS.get(name, ("", {}))
    position = make_board(name, size, **options).start()
    return position, study_position(position, find_evaluation(name), most_nodes)


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_what_the_searches_say(name: str) -> None:
    position, found = some_study(name)
    evaluate = find_evaluation(name)
    assert [row.depth for row in found.rows] == list(range(1, len(found.rows) + 1))
    tried = [row for row in found.rows if row.minimax]
    assert tried == list(found.rows[: len(tried)])
    for row in tried:
        assert row.minimax.nodes == minimax(position, row.depth, evaluate).nodes
        looked = alpha_beta(position, row.depth, evaluate)
        assert (row.alpha_beta.nodes, row.score) == (looked.nodes, looked.score)
        assert row.saved == 1 - looked.nodes / row.minimax.nodes >= 0
        assert row.same_nodes >= row.depth
        # One ply more than it says costs more than minimax pays.
        if row.same_nodes < len(found.rows):
            assert found.rows[row.same_nodes].alpha_beta.nodes > row.minimax.nodes
    if len(tried) > 2:
        assert tried[2].saved > tried[0].saved == 0


def test_it_ends_with_the_game() -> None:
    position = make_board("mnk", "3x3").position("a1 b2 c3 c1 a3 a2")
    found = study_position(position, find_evaluation("mnk"))
    assert [row.depth for row in found.rows] == [1, 2, 3]
    with pytest.raises(GameOverError, match="nothing to search"):
        study_position(position._play(position._number_of("b3")), find_evaluation("mnk"))


def test_minimax_stops_before_too_many_nodes() -> None:
    for most in (10, 500, 5000):
        _, found = some_study("connect4", most)
        last = [row.minimax.nodes for row in found.rows if row.minimax][-1]
        assert last <= 2 * max(most, 6)
        assert len(found.rows) >= sum(row.minimax is not None for row in found.rows)


def test_the_deepest_can_be_given() -> None:
    start = make_board("5x4").start()
    found = study_position(start, find_evaluation("connect4"), deepest=2)
    assert [row.depth for row in found.rows] == [1, 2]


def test_table_json_and_plot_say_the_same() -> None:
    _, found = some_study("connect4")
    told = json.loads(json.dumps(found.as_dict()))
    lines = study_text(found).splitlines()[3:]
    drawn = study_svg(found)
    assert len(told["rows"]) == len(lines) == len(found.rows)
    for row, plain, line in zip(told["rows"], found.rows, lines, strict=True):
        assert row["alpha_beta"]["nodes"] == plain.alpha_beta.nodes
        assert f"{plain.alpha_beta.nodes:,}" in line
        assert (row["minimax"] is None) == (plain.minimax is None) == ("-" in line)
    points = sum(1 + (row.minimax is not None) for row in found.rows)
    assert drawn.count("<circle") == points
    assert ET.fromstring(drawn).get("viewBox") == "0 0 560 360"


def test_plots_put_larger_numbers_higher_and_later_ones_further_right() -> None:
    for log in (False, True):
        drawn = plot(Plot("t", "x", "y", [Series("a", [(1, 1), (2, 10), (3, 100)])], log))
        places = [(float(x), float(y)) for x, y in re.findall(r'cx="(\S+)" cy="(\S+)"', drawn)]
        xs, ys = zip(*places, strict=True)
        assert list(xs) == sorted(xs)
        assert list(ys) == sorted(ys, reverse=True)
        steps = [round(a - b, 0) for a, b in pairwise(ys)]
        assert (steps[0] == steps[1]) == log
        assert ">1.5<" not in drawn
    assert "<circle" not in plot(Plot("t", "x", "y", [Series("a", [])]))
