"""The ladder: whatever rungs are on, every position of small boards has its true value."""

import json
import random
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from plain import connect4 as naive
from plain.mnk import MnkRules
from search_cases import connect_states, covering, mnk_states, name, plies_in_reach
from strategies import published

from retro.games.connect4.rules import Connect4Board
from retro.games.connect4.text import read_moves
from retro.games.mnk.rules import MnkBoard
from retro.search.ladder.connect4_game import ConnectGame
from retro.search.ladder.ladder import Ladder, search
from retro.search.ladder.lines import Stones
from retro.search.ladder.mnk_game import MnkGame
from retro.search.ladder.protocol import Game
from retro.search.ladder.rungs import Rungs, climb, guided
from retro.search.ladder.table import Entry, Replacement, Table

RUNG_SETS = covering()
VALUES = {"W": 1, "D": 0, "L": -1}


def check(game: Game[Stones], rungs: Rungs, states: list[tuple[Stones, int]], reach: int) -> None:
    """Every state with at most `reach` plies left has its value."""
    ladder = Ladder(game, rungs)
    for state, value in states:
        if game.plies_left(state) <= reach:
            found = ladder.search(state)
            assert (found.value, found.proved) == (value, True), f"{state} {rungs}"


@pytest.mark.parametrize("rungs", RUNG_SETS, ids=name)
def test_every_position_of_connect_3_on_3x3(rungs: Rungs) -> None:
    rules = naive.Game(3, 3, 3)
    check(ConnectGame(Connect4Board(*rules)), rungs, connect_states(rules), reach=9)


@pytest.mark.parametrize("rungs", RUNG_SETS, ids=name)
def test_every_position_of_connect_3_on_4x3(rungs: Rungs) -> None:
    rules = naive.Game(4, 3, 3)
    check(
        ConnectGame(Connect4Board(*rules)), rungs, connect_states(rules), plies_in_reach(rungs, 12)
    )


@pytest.mark.parametrize("rungs", RUNG_SETS, ids=name)
def test_every_position_of_tic_tac_toe(rungs: Rungs) -> None:
    rules = MnkRules(3, 3, 3)
    check(MnkGame(MnkBoard(*rules)), rungs, mnk_states(rules), plies_in_reach(rungs, 9))


@pytest.mark.parametrize("rungs", RUNG_SETS, ids=name)
@pytest.mark.parametrize("rules", [naive.Game(4, 4, 4), naive.Game(4, 4, 3)], ids=str)
def test_a_sample_of_4x4(rules: naive.Game, rungs: Rungs) -> None:
    states = random.Random(4).sample(connect_states(rules), 150)
    check(ConnectGame(Connect4Board(*rules)), rungs, states, plies_in_reach(rungs, 10))


@pytest.mark.parametrize(
    "row", published("connect3_values.csv"), ids=lambda row: f"{row['width']}x{row['height']}"
)
def test_known_values_of_connect_3(row: dict[str, int | str]) -> None:
    game = ConnectGame(Connect4Board(int(row["width"]), int(row["height"]), 3))
    assert search(game).value == VALUES[str(row["value"])]


KNOWN_MNK = {
    (row["rows"], row["cols"], row["k"]): VALUES[row["value"]]
    for row in published("mnk_values.csv")
    if row["rows"] * row["cols"] <= 16
}


@pytest.mark.parametrize("sizes", KNOWN_MNK, ids=str)
def test_known_values_of_mnk(sizes: tuple[int, int, int]) -> None:
    assert search(MnkGame(MnkBoard(*sizes))).value == KNOWN_MNK[sizes]


@pytest.mark.slow
def test_minimax_visits_every_line_of_tic_tac_toe() -> None:
    """549,946 is the number of all beginnings of a game, the well-known size of its tree."""
    found = search(MnkGame(MnkBoard(3, 3, 3)), rungs=climb()[0][1])
    assert found.nodes == 549_946
    assert found.nodes_at_ply[:3] == (1, 9, 72)
    assert found.table_hits == 0


def test_minimax_and_negamax_visit_the_same_nodes_and_alpha_beta_fewer() -> None:
    game = ConnectGame(Connect4Board(3, 3, 3))
    minimax, negamax, alpha_beta, table = (search(game, rungs=r) for _, r in climb()[:4])
    assert minimax.nodes_at_ply == negamax.nodes_at_ply
    assert all(a <= b for a, b in zip(alpha_beta.nodes_at_ply, negamax.nodes_at_ply, strict=False))
    assert table.nodes < alpha_beta.nodes < negamax.nodes
    assert table.table_hits > 0


@pytest.mark.parametrize("window", [(-1, 0), (0, 1), (-1, 1)])
@pytest.mark.parametrize("rungs", [r for r in RUNG_SETS if r.core == "alpha-beta"], ids=name)
def test_the_return_contract(rungs: Rungs, window: tuple[int, int]) -> None:
    """Below, inside and above the window, as the docstring of `ladder` states it."""
    rules, (alpha, beta) = naive.Game(3, 3, 3), window
    game = ConnectGame(Connect4Board(*rules))
    ladder = Ladder(game, rungs)
    for state, true in connect_states(rules):
        value = ladder.window(state, alpha, beta)
        if value <= alpha:
            assert true <= value
        elif value >= beta:
            assert true >= value
        else:
            assert true == value


@pytest.mark.parametrize("rungs", RUNG_SETS, ids=name)
def test_limited_depth_is_prudent(rungs: Rungs) -> None:
    """What is called proved is true at any depth; what is not is called a draw."""
    rules = naive.Game(3, 3, 3)
    game = ConnectGame(Connect4Board(*rules))
    ladder = Ladder(game, rungs)
    states = random.Random(5).sample(connect_states(rules), 120)
    for depth in (0, 3, 1, 2, 4):
        for state, true in states:
            found = ladder.search(state, depth)
            assert found.value == (true if found.proved else 0)
    assert any(not search(game, rungs=rungs, depth=d).proved for d in (0, 1, 2))


def test_deepening_stops_at_the_proof() -> None:
    game = ConnectGame(Connect4Board(4, 3, 3))
    plain = replace(Rungs(), forced=False, bounds=False, deepening=True)
    found = search(game, rungs=plain)
    assert [step.depth for step in found.iterations] == list(range(1, len(found.iterations) + 1))
    assert [step.proved for step in found.iterations[:-1]] == [False] * (len(found.iterations) - 1)
    assert found.iterations[-1].proved
    assert sum(step.nodes for step in found.iterations) == found.nodes == sum(found.nodes_at_ply)


def test_deepening_without_knowledge_proves_a_win_when_it_ends() -> None:
    """The depth of the proof is the dtw, counted here plainly."""
    rules = naive.Game(3, 3, 3)
    game = ConnectGame(Connect4Board(*rules))
    truth = dict(connect_states(rules))

    @cache
    def dtw(state: Stones) -> int:
        if game.outcome(state) is not None:
            return 0
        after = [game.play(state, move) for move in game.moves(state)]
        best = [dtw(s) for s in after if -truth[s] == truth[state]]
        return 1 + (min(best) if truth[state] > 0 else max(best))

    plain = replace(Rungs(), forced=False, bounds=False, deepening=True, slots=1 << 10)
    for state, value in truth.items():
        if value and game.outcome(state) is None:
            assert search(game, state, plain).iterations[-1].depth == dtw(state)


def test_a_perfect_leaf_is_believed_and_saves_nodes() -> None:
    rules = naive.Game(4, 4, 4)
    truth = dict(connect_states(rules))
    game = ConnectGame(Connect4Board(*rules))

    def probe(state: Stones) -> int | None:
        return truth[state] if game.plies_left(state) <= 10 else None

    for rungs in (Rungs(), Rungs(deepening=True), climb()[2][1]):
        found = search(game, rungs=rungs, probe=probe)
        assert (found.value, found.proved) == (truth[game.start()], True)
        assert len(found.nodes_at_ply) == 7
    assert search(game, probe=probe).nodes < search(game).nodes


def test_a_ladder_remembers_between_searches() -> None:
    game = ConnectGame(Connect4Board(4, 4, 4))
    ladder = Ladder(game)
    first = ladder.search(game.start())
    again = ladder.search(game.start())
    assert (again.value, again.nodes, again.table_hits) == (first.value, 1, 1)


def test_positions_become_states() -> None:
    board = Connect4Board(4, 4)
    game = ConnectGame(board)
    position = read_moves(board, "112")
    state = game.state(position)
    assert (state.mine, state.theirs) == (position.second, position.first)
    assert [game.column(move) for move in game.moves(state)] == position._numbers()


@pytest.mark.parametrize("replacement", ["newest", "costliest", "two-tier"])
def test_memory_is_bounded(replacement: Replacement) -> None:
    game = ConnectGame(Connect4Board(4, 4, 4))
    ladder = Ladder(game, Rungs(slots=64, replacement=replacement))
    assert ladder.search(game.start()).value == 0
    assert ladder.table is not None
    assert 32 < len(ladder.table) <= ladder.table.slots <= 64


def kept(replacement: Replacement, slots: int, works: list[int]) -> set[int]:
    """Which of the keys 0, 1, 2 ... are still held after costing that much work, one by one."""
    table = Table(slots, replacement)
    for key, work in enumerate(works):
        table.keep(table.entry_for(key), work)
    return {key for key in range(len(works)) if table.find(key) is not None}


def test_replacement_schemes() -> None:
    assert kept("newest", 1, [9, 1, 2]) == {2}
    assert kept("costliest", 1, [3, 9, 2]) == {1}
    assert kept("two-tier", 2, [3, 9, 2, 1]) == {1, 3}
    # The costliest moves to the place beside it when a costlier one arrives.
    assert kept("two-tier", 2, [3, 9]) == {0, 1}
    with pytest.raises(ValueError, match="at least one slot"):
        Table(0)


def test_intervals_only_narrow() -> None:
    entry = Entry(1)
    entry.narrow(-1, 0, depth=4, proved=False)
    assert (entry.low, entry.high, entry.at_least, entry.at_most) == (-1, 1, -1, 0)
    entry.narrow(0, 1, depth=4, proved=False)
    assert (entry.at_least, entry.at_most, entry.depth) == (0, 0, 4)
    entry.narrow(0, 1, depth=5, proved=False)
    assert (entry.at_least, entry.at_most, entry.depth) == (0, 1, 5)
    entry.narrow(0, 1, depth=5, proved=True)
    entry.narrow(-1, 0, depth=6, proved=True)
    assert (entry.low, entry.high) == (0, 0)


def test_the_ladder_climbs_one_rung_at_a_time() -> None:
    for (_, lower), (_, upper) in pairwise(climb()):
        changed = [f for f in vars(lower) if getattr(lower, f) != getattr(upper, f)]
        assert len(changed) == 1
    assert climb()[-1][1] == guided(replace(Rungs(), slots=1 << 20))


@pytest.mark.slow
def test_every_position_of_4x4() -> None:
    for rules in (naive.Game(4, 4, 4), naive.Game(4, 4, 3)):
        check(ConnectGame(Connect4Board(*rules)), Rungs(), connect_states(rules), reach=16)


def test_the_study_tells_what_rungs_save() -> None:
    """The script runs; its minimax and its alpha-beta differ as its table says."""
    script = Path(__file__).parents[2] / "scripts" / "study_search.py"
    done = subprocess.run(
        [sys.executable, script, "2,3,2", "3x3/3:12", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    for rows in json.loads(done.stdout).values():
        assert [row["rung"] for row in rows] == [name for name, _ in climb()]
        minimax, _, alpha_beta = rows[:3]
        assert alpha_beta["saved"] == 1 - alpha_beta["nodes"] / minimax["nodes"] > 0
