"""Every game of the catalogue: the plain rules against the jitted ones, and its own promises.

A new game is tried here without a line of test code: add its boards to BOARDS.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games import keyed
from retro.games.catalogue import NAMES, PlacementGame, find_game
from retro.walk import keyed as walks

BOARDS: dict[str, list[tuple[str, dict[str, str]]]] = {
    "mnk": [("3x3", {"connect": "3"}), ("4x4", {"connect": "4"}), ("7x6", {"connect": "4"})],
    "puissance-plus": [("3x3", {"target": "5"}), ("5x4", {"values": "rings"}), ("7x7", {})],
    "domineering": [("3x3", {}), ("5x4", {}), ("6x6", {})],
    "notakto": [("3x3", {}), ("4x3", {"connect": "2"}), ("8x8", {"connect": "4"})],
    "quarto": [("2x2", {"attributes": "2"}), ("3x3", {"attributes": "3"}), ("4x4", {})],
}
SMALL = {
    "mnk": ("3x2", {"connect": "3"}),
    "puissance-plus": ("3x2", {"target": "4", "values": "121/232"}),
    "domineering": ("4x3", {}),
    "notakto": ("3x3", {}),
    "quarto": ("2x2", {"attributes": "2"}),
}
GAMES = [name for name in NAMES if name != "connect4"]  # which has rules and tests of its own


def test_every_game_is_tried() -> None:
    assert set(BOARDS) == set(SMALL) == set(GAMES)


def successors(rules: Any, state: tuple[int, int]) -> list[tuple[int, int]]:
    return list(keyed.successors_of(rules, *state).values())


def canonical(rules: Any, state: tuple[int, int]) -> tuple[int, int]:
    a, b = keyed.canonical_of(rules, np.uint64(state[0]), np.uint64(state[1]))
    return int(a), int(b)


@st.composite
def played(draw: Any, name: str) -> tuple[PlacementGame, Any]:
    """A game and a position that a random play of it reaches."""
    game = find_game(name)
    board = game.parse(*draw(st.sampled_from(BOARDS[name])))
    position = game.start(board)
    for _ in range(draw(st.integers(0, 40))):
        moves = position.legal_moves()
        if not moves:
            break
        position = position.play(draw(st.sampled_from(moves)))
    return game, position


@pytest.mark.parametrize("name", GAMES)
def test_the_empty_board(name: str) -> None:
    game = find_game(name)
    for size, options in BOARDS[name]:
        board = game.parse(size, options)
        rules, start = game.rules(board), game.start(board)
        assert (start.ply, start.history) == (0, ())
        assert tuple(map(int, keyed.start_of(rules))) == game.state(start)
        described = game.describe(board)
        assert game.parse(*described) == board
        assert game.read_position(board, "") == start


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_plain_and_jitted_rules_agree(name: str, data: st.DataObject) -> None:
    game, position = data.draw(played(name))
    rules, state = game.rules(position.board), game.state(position)
    words = np.uint64(state[0]), np.uint64(state[1])
    assert rules.words == 2 or state[1] == 0
    outcome = keyed.outcome_of(rules, *words)
    assert (None if outcome == keyed.UNDECIDED else outcome) == position.outcome()
    assert position.is_over() == (position.outcome() is not None)
    plain = [game.state(position.play(move)) for move in position.legal_moves()]
    assert sorted(plain) == sorted(successors(rules, state))
    assert position.is_over() == (plain == [])
    again = game.position(position.board, *state)
    assert game.state(again) == state
    assert (again.ply, again.side_to_move) == (position.ply, position.side_to_move)


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_canonical_states(name: str, data: st.DataObject) -> None:
    """Canonical twice is canonical once, and a state plays as its canonical one does."""
    game, position = data.draw(played(name))
    rules, state = game.rules(position.board), game.state(position)
    chosen = canonical(rules, state)
    assert canonical(rules, chosen) == chosen
    outcomes = {int(keyed.outcome_of(rules, *map(np.uint64, s))) for s in (state, chosen)}
    assert len(outcomes) == 1
    assert len({int(keyed.orbit_of(rules, *map(np.uint64, s))) for s in (state, chosen)}) == 1
    after = [{canonical(rules, s) for s in successors(rules, of)} for of in (state, chosen)]
    assert after[0] == after[1]
    if outcomes == {keyed.UNDECIDED}:
        low, high = keyed.bounds_of(rules, *map(np.uint64, state))
        assert -1 <= low <= high <= 1


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_text_and_undo_there_and_back(name: str, data: st.DataObject) -> None:
    game, position = data.draw(played(name))
    again = game.read_position(position.board, game.write_position(position))
    assert game.state(again) == game.state(position)
    assert game.draw(position)
    for move in position.legal_moves():
        text = game.write_move(position, move)
        assert game.read_move(position, text) == move
        assert position.play(move).undo() == position
    if position.is_over():
        assert position.over_message()
        with pytest.raises(GameOverError):
            position.play(game.start(position.board).legal_moves()[0])
    with pytest.raises((BadTextError, IllegalPositionError)):
        game.read_move(position, "?!")


@pytest.mark.parametrize("name", GAMES)
def test_every_value_of_a_small_board(name: str) -> None:
    """The walk against recursion over the plain rules; classes have the sizes that they say."""
    game = find_game(name)
    board = game.parse(*SMALL[name])
    rules = game.rules(board)
    known: dict[tuple[int, int], tuple[int, bool]] = {}  # state: value, finished

    def value(position: Any) -> int:
        state = game.state(position)
        if state not in known:
            outcome = position.outcome()
            best = outcome
            if outcome is None:
                best = max(-value(position.play(move)) for move in position.legal_moves())
            known[state] = best, outcome is not None
        return known[state][0]

    value(game.start(board))
    classes: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for state in known:
        classes.setdefault(canonical(rules, state), []).append(state)
    for state, (best, finished) in known.items():
        if not finished:
            low, high = keyed.bounds_of(rules, *map(np.uint64, state))
            assert low <= best <= high
    for key, members in classes.items():
        assert {known[state][0] for state in members} == {known[members[0]][0]}
        assert keyed.orbit_of(rules, *map(np.uint64, key)) == len(members)
    found = {}
    layers = walks.solve(walks.prepare(rules))
    for layer in layers:
        b = layer.keys.b if len(layer.keys.b) else np.zeros(layer.keys.size, np.uint64)
        keys = zip(layer.keys.a.tolist(), b.tolist(), strict=True)
        found |= dict(zip(keys, layer.values.tolist(), strict=True))
    live = {k: known[m[0]][0] for k, m in classes.items() if not known[m[0]][1]}
    assert found == live
    assert sum(layer.counts.every.positions for layer in layers) == len(known)
    assert sum(layer.counts.canonical.positions for layer in layers) == len(classes)
