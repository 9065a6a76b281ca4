"""Moves of every game: text for people, actions for programs; positions as arrays; old names."""

import pickle
import random
from collections.abc import Iterator
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from catalogue_cases import all_boards, small_board

from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games.catalogue import NAMES, make_board
from retro.games.game import Board, Position
from retro.games.moves import Move
from retro.games.scene import scene_of


def played(board: Board, games: int, seed: int = 1) -> Iterator[Position]:
    """The positions of random games, finished ones too."""
    rng = random.Random(seed)
    for _ in range(games):
        position = board.start()
        yield position
        while not position.is_over():
            position = position.play(rng.choice(position.moves))
            yield position


@pytest.mark.parametrize("name", NAMES)
def test_the_same_action_is_the_same_move_everywhere(name: str) -> None:
    for board in all_boards(name):
        known: dict[int, object] = {}
        for position in played(board, games=6):
            assert [move.action for move in position.moves] == position.actions
            assert np.flatnonzero(position.action_mask).tolist() == position.actions
            assert position.action_mask.shape == (board.num_actions,)
            assert position.action_mask.dtype == np.bool_
            for move in position.moves:
                turn = getattr(position, "turn", None)  # a domino's cell names two of them
                assert known.setdefault(move.action, (move.text, turn)) == (move.text, turn)
                after = position.play(move)
                assert after == position.play(move.text) == position.play(action=move.action)
                assert str(move) == move.text
        assert len(set(known.values())) == len(known) <= board.num_actions


@pytest.mark.parametrize("name", NAMES)
def test_every_action_is_a_move_of_some_position(name: str) -> None:
    board = small_board(name)
    found = {action for position in played(board, games=400) for action in position.actions}
    assert found == set(range(board.num_actions))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_move_is_refused_and_both_readings_are_said(name: str) -> None:
    position = small_board(name).start()
    texts = {move.action: move.text for move in position.moves}
    for number in (0, 1, -1, 10**20, np.int64(1)):
        with pytest.raises(BadTextError, match=r"two ways: play\('.*'\) is the text") as told:
            position.play(number)  # type: ignore[arg-type]
        as_action = repr(texts[int(number)]) if int(number) in texts else "no move here"
        assert str(told.value).endswith(f"play(action={number}) is {as_action}")
    for thing in (None, 1.5, True, b"1", ["1"]):
        with pytest.raises(BadTextError):
            position.play(thing)  # type: ignore[arg-type]
    for action in (-1, position.board.num_actions, 10**20):
        with pytest.raises(IllegalPositionError, match=f"action {action} is not on"):
            position.play(action=action)
    for wrong in (True, "1", None, 1.0):
        with pytest.raises(BadTextError):
            position.play(action=wrong)  # type: ignore[arg-type]
    with pytest.raises(BadTextError, match="one move"):
        position.play("1", action=1)
    for action in set(range(position.board.num_actions)) - set(position.actions):
        with pytest.raises(IllegalPositionError):
            position.play(action=action)
    while not position.is_over():
        position = position.play(position.moves[0])
    assert (position.moves, position.actions, position.action_mask.any()) == ([], [], False)
    for over in (texts[min(texts)], Move(texts[min(texts)], 0)):
        with pytest.raises(GameOverError):
            position.play(over)


@pytest.mark.parametrize("name", NAMES)
def test_returns_are_those_of_the_winner(name: str) -> None:
    for position in played(small_board(name), games=30):
        if position.is_over():
            outcome = position.outcome()
            mover = ("first", "second").index(position.side_to_move)
            assert position.returns[mover] == outcome
            assert sum(position.returns) == 0
        else:
            with pytest.raises(IllegalPositionError, match="not over"):
                position.returns  # noqa: B018


@pytest.mark.parametrize("name", NAMES)
def test_planes_there_and_back(name: str) -> None:
    for board in all_boards(name):
        positions = [*played(board, games=5, seed=3)]
        states = board.states(positions)
        planes = board.planes(states)
        assert planes.dtype == np.uint8
        assert planes.shape[:2] == (len(positions), len(board.plane_names))
        assert planes[0, 0].size == board.cells
        again = board.states_from_cells(planes)
        for found, wanted in zip(again, states, strict=True):
            np.testing.assert_array_equal(found, wanted)
        for position, shown in zip(positions, planes, strict=True):
            marks = [place for mark in scene_of(position).marks for place in mark.places]
            taken = {(x, shown.shape[1] - 1 - y) for x, y in marks}
            whole = shown[: 2 if len(board.plane_names) == 2 and name != "domineering" else 1]
            assert {(int(x), int(y)) for y, x in np.argwhere(whole.any(axis=0))} == taken
    for wrong in (planes[:, :, 1:], planes[0], planes + 2, np.zeros(3)):
        with pytest.raises(BadTextError):
            board.states_from_cells(wrong)
    with pytest.raises(IllegalPositionError):
        make_board("mnk", "3x3").states_from_cells(np.ones((1, 2, 3, 3), np.uint8))


def test_planes_show_the_mover_first() -> None:
    board = make_board("5x4")
    ours, theirs = board.planes(board.states(["443"]))[0]
    assert ours.tolist() == [[0] * 5, [0] * 5, [0, 0, 0, 1, 0], [0] * 5]
    assert theirs.tolist() == [[0] * 5, [0] * 5, [0] * 5, [0, 0, 1, 1, 0]]
    grid = make_board("mnk", "4x3")
    for action in range(grid.num_actions):
        cells = grid.planes(grid.states([grid.start().play(action=action)]))[0, 1]
        assert np.flatnonzero(cells).tolist() == [action]
    quarto = make_board("quarto")
    shown = dict(zip(quarto.plane_names, quarto.planes(quarto.states(["f a4-1"]))[0], strict=True))
    assert np.argwhere(shown["taken cells"]).tolist() == [[0, 0]]
    assert [int(shown[name].sum()) for name in ("blue", "tall", "solid", "square")] == [1] * 4
    in_hand = [shown[f"1 where the piece in hand is {v}"].any() for v in ("blue", "tall")]
    assert in_hand == [True, False]


def test_a_move_is_a_value() -> None:
    move = make_board("5x4").start().moves[2]
    assert (repr(move), move.to_dict()) == ("Move('3', action=2)", {"move": "3", "action": 2})
    assert pickle.loads(pickle.dumps(move)) == move
    assert {move: 1}[Move("3", 2)] == 1
    with pytest.raises(FrozenInstanceError):
        move.action = 3  # type: ignore[misc]


@pytest.mark.parametrize("name", NAMES)
def test_old_names_still_work_and_name_their_successors(name: str) -> None:
    board = small_board(name)
    position = board.start()
    with pytest.warns(DeprecationWarning, match="use moves"):
        numbers = position.legal_moves()
    with pytest.warns(DeprecationWarning, match="one of position.moves"):
        texts = [position.move_text(number) for number in numbers]
    assert sorted(texts) == sorted(move.text for move in position.moves)
    with pytest.warns(DeprecationWarning, match=r"position.play\(text\)"):
        assert position.read_move(texts[0]) == numbers[0]
    assert position.play(numbers[0]) == position.play(texts[0])
    with pytest.warns(DeprecationWarning, match=r"board.states\(\[position\]\)"):
        state = position.state
    assert state == tuple(int(words[0]) for words in board.states([position])[:2])
    with pytest.warns(DeprecationWarning, match=r"position.canonical\(\)"):
        key = board.canonical(*state)
    assert board.unpack(*key) == position.canonical()
