"""The last rung: deepening guided by grades, prudent, blind to symmetry and to dead stones."""

import random
from dataclasses import replace

import pytest
from plain import connect4 as naive
from plain.mnk import MnkRules
from search_cases import connect_states, mnk_states

from retro.games.connect4.rules import Connect4Board
from retro.games.domineering.rules import DomineeringBoard
from retro.games.mnk.rules import MnkBoard
from retro.games.puissance_plus.text import read_board
from retro.games.quarto.rules import QuartoBoard
from retro.search.ladder.connect4_game import ConnectGame
from retro.search.ladder.domineering_game import DomineeringGame
from retro.search.ladder.ladder import Ladder, search
from retro.search.ladder.lines import LineGame, Stones
from retro.search.ladder.mnk_game import MnkGame
from retro.search.ladder.quarto_game import QuartoGame
from retro.search.ladder.rungs import Rungs, climb, guided

LAST = guided(Rungs())
CONNECT, MNK = naive.Game(4, 3, 3), MnkRules(3, 3, 3)


@pytest.mark.parametrize(
    ("game", "states"),
    [
        (ConnectGame(Connect4Board(*CONNECT)), connect_states(CONNECT)),
        (MnkGame(MnkBoard(*MNK)), mnk_states(MNK)),
    ],
    ids=["connect", "mnk"],
)
def test_grades_are_blind_to_what_the_table_is_blind_to(game: LineGame, states: list) -> None:
    """States that share a key of the table share their grade."""
    grades: dict[int, int] = {}
    shared = 0
    for state, _ in states:
        if game.outcome(state) is None:
            key, _ = game.canonical_key(game.grey(state))
            shared += key in grades
            assert grades.setdefault(key, game.worth(state)) == game.worth(state)
    assert shared > len(states) // 4
    assert len(set(grades.values())) > 3


def test_grades_of_domineering_are_blind_to_symmetry() -> None:
    game = DomineeringGame(DomineeringBoard(3, 4))
    rng, grades, seen = random.Random(1), {}, 0
    for _ in range(300):
        state = game.start()
        while game.outcome(state) is None:
            key, _ = game.canonical_key(state)
            seen += key in grades
            assert grades.setdefault(key, game.worth(state)) == game.worth(state)
            state = game.play(state, rng.choice(game.moves(state)))
    assert seen > len(grades) > 20


@pytest.mark.parametrize("bare", [True, False], ids=["bare", "all rungs"])
def test_certain_is_certain_at_any_depth(bare: bool) -> None:
    """A grade of +1 or -1 is true, and a grade in between is never called proved unless a draw."""
    rungs = replace(LAST, forced=False, bounds=False, threats=False) if bare else LAST
    game = ConnectGame(Connect4Board(*CONNECT))
    ladder = Ladder(game, rungs)
    graded = 0
    for depth in (1, 2, 3, 5):
        for state, true in connect_states(CONNECT)[:: 1 if depth < 3 else 5]:
            for step in ladder.search(state, depth).iterations:
                if step.proved:
                    assert step.value == step.grade == true
                else:
                    assert (step.value, -1 < step.grade < 1) == (0, True)
                    graded += step.grade != 0
    assert graded > 500


def test_depth_doubles() -> None:
    game = MnkGame(MnkBoard(3, 3, 3))
    found = search(game, rungs=replace(LAST, forced=False, bounds=False))
    assert [step.depth for step in found.iterations] == [1, 2, 4, 8, 9]
    assert (found.value, found.proved) == (0, True)
    assert sum(step.nodes for step in found.iterations) == found.nodes
    alone = search(game, game.play(game.start(), 1), replace(LAST, bounds=False), depth=0)
    assert (alone.value, alone.proved, [s.depth for s in alone.iterations]) == (0, False, [0])


GAMES = {
    "connect4 4x4": ConnectGame(Connect4Board(4, 4, 4)),
    "connect3 5x3": ConnectGame(Connect4Board(5, 3, 3)),
    "mnk 3,4,3": MnkGame(MnkBoard(3, 4, 3)),
    "mnk 4,4,4": MnkGame(MnkBoard(4, 4, 4)),
    "puissance-plus": MnkGame(read_board("3x3", "5", "121/232/121")),
    "domineering 4x4": DomineeringGame(DomineeringBoard(4, 4)),
    "quarto 2x2": QuartoGame(QuartoBoard(2, 2)),
}


LONG = "mnk 4,4,4"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == LONG)) for name in GAMES]
)
def test_the_guide_changes_no_value(name: str) -> None:
    game = GAMES[name]
    plain = search(game)
    for rungs in (LAST, replace(LAST, doubling=False), replace(LAST, deepening=False)):
        found = search(game, rungs=rungs)
        assert (found.value, found.proved) == (plain.value, True)


def test_on_4x4_the_guide_pays() -> None:
    """As docs/search.md has it; on other boards grades cost more nodes than they save."""
    steps = dict(climb())
    game = ConnectGame(Connect4Board(4, 4, 4))
    table_move, doubling, graded = (
        search(game, rungs=steps[name]).nodes for name in ("table move", "doubling", "graded")
    )
    assert graded < doubling < table_move


def test_a_guess_outside_of_what_is_proved_is_set_right() -> None:
    """An entry whose guess is worse than what is proved answers with the proved bound."""
    game = ConnectGame(Connect4Board(3, 3, 3))
    ladder = Ladder(game, LAST)
    assert ladder.table is not None
    state = Stones(1, 2, 0)
    key, _ = game.canonical_key(game.grey(state))
    entry = ladder.table.entry_for(key)
    entry.narrow(0, 1, depth=9, proved=True)
    entry.narrow(-1, -0.5, depth=4, proved=False)
    ladder.table.keep(entry, 1)
    found = ladder.search(state, 4)
    assert found.iterations[-1].grade >= 0
