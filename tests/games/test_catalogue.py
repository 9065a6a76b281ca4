"""Every game of the catalogue keeps the same promises: rules, states, symmetries, text.

A new game is tried here without a line of test code: give it a line in `catalogue_cases`.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from catalogue_cases import CASES, all_boards, small_board
from hypothesis import given
from hypothesis import strategies as st
from plain.recursion import every_position

import tablebase as tb
from retro.errors import (
    BadTextError,
    DoesNotFitError,
    GameOverError,
    IllegalPositionError,
    WrongBoardError,
)
from retro.games import kernels
from retro.games.catalogue import DEFAULT_GAME, NAMES, find_game, make_board
from retro.games.game import Board, Position, States, from_words
from retro.games.values import DRAW, LOSS, WIN
from retro.walk.keys import layers as walks

if TYPE_CHECKING:
    from collections.abc import Callable

State = tuple[int, int]
MOST_IMAGES = 2_000  # a class is listed plainly, so Quarto's of 12,288 images are left to its tests


def test_every_game_is_tried() -> None:
    assert set(CASES) == set(NAMES)
    assert NAMES[0] == DEFAULT_GAME


def words(state: State) -> tuple[np.uint64, np.uint64]:
    return np.uint64(state[0]), np.uint64(state[1])


def arrays(state: State) -> tuple[Any, Any]:
    a, b = words(state)
    return np.array([a]), np.array([b])


def jitted_canonical(board: Board, state: State) -> State:
    a, b = kernels.canonical_of(board.rules, *words(state))
    return int(a), int(b)


def jitted_successors(board: Board, state: State) -> list[State]:
    return list(kernels.successors_of(board.rules, *state).values())


@st.composite
def played(draw: Any, name: str) -> Position:
    """A position that a random play on some board of a game reaches."""
    position = draw(st.sampled_from(all_boards(name))).start()
    for _ in range(draw(st.integers(0, 40))):
        moves = position._numbers()
        if not moves:
            break
        position = position._play(draw(st.sampled_from(moves)))
    return position


@pytest.mark.smoke
@pytest.mark.parametrize("name", NAMES)
def test_a_game_says_who_it_is(name: str) -> None:
    game = find_game(name)
    assert game.name == name
    assert game.about
    assert len(set(game.players)) == 2
    assert make_board(name) == game.make(game.usual)
    for option in game.options:
        assert option.name
        assert option.metavar
        assert option.help
        assert game.make(game.usual, **{option.name: option.default}) == game.make()
    with pytest.raises(BadTextError, match="has no option 'colour'"):
        make_board(name, game.usual, colour="blue")
    for size in ("3,3", "x3", "0x0", "3x", "threexthree"):
        with pytest.raises(BadTextError):
            make_board(name, size)


@pytest.mark.parametrize("name", NAMES)
def test_options_that_are_no_numbers_are_refused(name: str) -> None:
    for option in find_game(name).options:
        with pytest.raises(BadTextError):
            make_board(name, **{option.name: "?"})


def test_a_game_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(BadTextError, match=r"no game is called 'chess'; games: connect4, .*quarto"):
        find_game("chess")
    for wrong in ("mnk 3x3 4", "mnk 3x3 connect", "mnk 3x3 connect=3 connect=3"):
        with pytest.raises(BadTextError, match="wanted NAME=VALUE"):
            make_board(wrong)


@pytest.mark.smoke
@pytest.mark.parametrize("name", NAMES)
def test_boards_there_and_back(name: str) -> None:
    game, boards = find_game(name), all_boards(name)
    for board in boards:
        assert board.game is game
        for again in (
            make_board(str(board)),
            make_board(board),
            make_board(name, board.size_text, **board.options),
            game.parse(*game.describe(board)),
        ):
            assert again == board
            assert hash(again) == hash(board)
            assert (str(again), again.name) == (str(board), board.name)
        assert set(board.options) <= {option.name for option in game.options}
    assert len({board.name for board in boards}) == len(set(boards)) == len(boards)


@pytest.mark.parametrize("name", NAMES)
def test_the_empty_board(name: str) -> None:
    for board in all_boards(name):
        start = board.start()
        assert (start.ply, start.history, start.side_to_move) == (0, (), "first")
        assert tuple(map(int, kernels.start_of(board.rules))) == start._state
        assert board.position("") == board.position(start) == start
        assert (start.root_text, start.mover_name) == ("", board.game.players[0])
        assert start.outcome() is None
        with pytest.raises(IllegalPositionError, match="no move to take back"):
            start.undo()


@pytest.mark.smoke
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_plain_and_jitted_rules_agree(name: str, data: st.DataObject) -> None:
    position = data.draw(played(name))
    board, state = position.board, position._state
    assert board.rules.words == 2 or state[1] == 0
    outcome = kernels.outcome_of(board.rules, *words(state))
    assert (None if outcome == kernels.UNDECIDED else outcome) == position.outcome()
    assert position.is_over() == (position.outcome() is not None)
    plain = [position._play(move)._state for move in position._numbers()]
    assert len(set(position._numbers())) == len(plain)
    assert sorted(plain) == sorted(jitted_successors(board, state))
    assert position.is_over() == (plain == [])
    assert sorted(position._in_order()) == sorted(position._numbers())
    assert position.check() is position
    assert position.ply <= board.last_ply
    assert position.ply < board.last_ply or position.is_over()
    if position.outcome() is None:
        low, high = kernels.bounds_of(board.rules, *words(state))
        assert LOSS <= low <= high <= WIN


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_states_there_and_back(name: str, data: st.DataObject) -> None:
    position = data.draw(played(name))
    board, state = position.board, position._state
    assert board.pack(position) == state
    again = board.unpack(*state)
    assert (again, hash(again), again._state) == (position, hash(position), state)
    assert (again.ply, again.side_to_move) == (position.ply, position.side_to_move)
    assert again.outcome() == position.outcome()
    assert again._numbers() == position._numbers()
    assert board.is_state(*arrays(state)).tolist() == [True]
    assert board.plies_of(*arrays(state)).tolist() == [position.ply]
    by_text, by_words = board.states([position]), board.states_of(*arrays(state))
    for found in (by_text, by_words):
        assert isinstance(found, States)
        assert (found.a.dtype, found.b.dtype, found.ply.dtype) == ("uint64", "uint64", "int64")
        assert (found.size, found.a[0], found.b[0], found.ply[0]) == (1, *state, position.ply)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_symmetries(name: str, data: st.DataObject) -> None:
    """Plain and jitted choose the same one of a class, and what is played on it is the same."""
    position = data.draw(played(name))
    board, state = position.board, position._state
    chosen = board._canonical(*state)
    assert jitted_canonical(board, state) == chosen
    assert board._canonical(*chosen) == chosen
    orbit = int(kernels.orbit_of(board.rules, *words(state)))
    if orbit <= MOST_IMAGES:
        images = board.images(*state)
        assert {state, chosen} <= images
        assert len(images) == orbit
        for image in images:
            assert board._canonical(*image) == chosen
    after = [{board._canonical(*s) for s in jitted_successors(board, of)} for of in (state, chosen)]
    assert after[0] == after[1]
    turned = board.unpack(*chosen)
    assert (turned.ply, turned.side_to_move) == (position.ply, position.side_to_move)
    assert turned.outcome() == position.outcome()
    assert turned.check() is turned


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_text_and_undo_there_and_back(name: str, data: st.DataObject) -> None:
    position = data.draw(played(name))
    board = position.board
    assert board.position(position.text) == position
    assert board.position(position.root_text) == position
    assert (position.root_text == "") == (position == board.start())
    without_history = board.unpack(*position._state)
    assert board.position(without_history.text) == position
    drawn = str(position)
    for picture in (drawn, str(without_history)):  # which may know less: whose dominoes lie there
        assert len(picture.splitlines()) > 1
    for move in position._numbers():
        text = position._text_of(move)
        assert position._number_of(text) == move
        after = position._play(move)
        assert after.undo() == position
        assert after.history == (*position.history, move)
        assert (after.ply, after.board) == (position.ply + 1, board)
        assert str(after) != drawn
    assert board.start()._play_all(position.history) == position
    if position.is_over():
        assert position.over_message().startswith("the game is over")
        with pytest.raises(GameOverError):
            position._play(board.start()._numbers()[0])
    with pytest.raises((BadTextError, IllegalPositionError)):
        position._number_of("?!")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_position_is_refused_by_name(name: str) -> None:
    one, other = all_boards(name)[:2]
    with pytest.raises(WrongBoardError):
        one.position(other.start())
    for game in set(NAMES) - {name}:
        with pytest.raises(WrongBoardError):
            one.position(small_board(game).start())
    for text in ("?", "a1 ?", "1?"):
        with pytest.raises((BadTextError, IllegalPositionError)):
            one.position(text)
    for thing in (3, None, b"a1", 1.5, (1, 2, 3), object()):
        with pytest.raises((BadTextError, IllegalPositionError, WrongBoardError)):
            one.position(thing)
    for words in ((-1, 0), (2**64, 0)):
        with pytest.raises((BadTextError, IllegalPositionError)):
            from_words(one, words)
    start = one.start()
    with pytest.raises(IllegalPositionError):
        start._play(-1)
    with pytest.raises(IllegalPositionError):
        start._play(10**9 + 7)


@pytest.mark.smoke
@pytest.mark.parametrize("name", NAMES)
def test_words_that_are_no_states_are_refused(name: str) -> None:
    for board in all_boards(name):
        a, b = board.start()._state
        assert board.states_of([], []).size == 0
        assert board.states_of(np.empty(0)).size == 0
        assert board.states_of([a], [b]).ply.tolist() == [0]
        for first, second in (
            ([a, a], [b]),
            ([a], [b, b]),
            ([a, a], [b, b, b]),
            ([[a]], [[b]]),
            ([-1], [b]),
            ([a], [-1]),
            ([a, -1], [b, b]),
        ):
            with pytest.raises(IllegalPositionError):
                board.states_of(first, second)
        for first, second in (
            ([0.0], [0]),
            ([0], [0.0]),
            ([np.nan], [0]),
            (["0"], [0]),
            ([True], [False]),
            ([None], [0]),
            ([2**64], [0]),
            ([0], [2**70]),
        ):
            with pytest.raises((BadTextError, IllegalPositionError)):
                board.states_of(first, second)
        full = 2**64 - 1
        with pytest.raises(IllegalPositionError, match=f"the words are no state of {board}"):
            board.states_of(np.array([full], np.uint64), np.array([full], np.uint64))
        with pytest.raises(IllegalPositionError, match="position 1: the words are no state"):
            board.states_of(np.array([a, full], np.uint64), np.array([b, full], np.uint64))


@pytest.mark.parametrize("name", NAMES)
def test_every_bit_off_the_board_is_refused(name: str) -> None:
    """Words of the board's states use some bits; no state has another one."""
    board = small_board(name)
    used = [0, 0]
    for state in every_position(board.start()):
        for image in board.images(*state):
            used = [bits | word for bits, word in zip(used, image, strict=True)]
    for state in list(every_position(board.start()))[::7]:
        for which in (0, 1):
            for bit in range(64):
                if not used[which] >> bit & 1:
                    wrong = list(state)
                    wrong[which] |= 1 << bit
                    assert not board.is_state(*arrays((wrong[0], wrong[1])))[0]


@pytest.mark.parametrize("name", NAMES)
def test_every_value_of_a_small_board(name: str) -> None:
    """The walk against recursion over the plain rules; classes have the sizes that they say."""
    board = small_board(name)
    known = every_position(board.start())
    classes: dict[State, list[State]] = {}
    for state in known:
        classes.setdefault(board._canonical(*state), []).append(state)
    for state, this in known.items():
        assert {DRAW: 0, WIN: 1, LOSS: -1}[this.value] == this.value
        if not this.is_over:
            low, high = kernels.bounds_of(board.rules, *words(state))
            assert low <= this.value <= high
    for key, members in classes.items():
        assert {known[state].value for state in members} == {known[key].value}
        assert {known[state].is_over for state in members} == {known[key].is_over}
        assert {known[state].position.ply for state in members} == {known[key].position.ply}
        assert kernels.orbit_of(board.rules, *words(key)) == len(members)
        assert board.images(*key) == set(members)
    found = {}
    layers = walks.solve(walks.prepare(board.rules))
    for layer in layers:
        b = layer.keys.b if len(layer.keys.b) else np.zeros(layer.keys.size, np.uint64)
        keys = zip(layer.keys.a.tolist(), b.tolist(), strict=True)
        found |= dict(zip(keys, layer.values.tolist(), strict=True))
    assert found == {key: known[key].value for key in classes if not known[key].is_over}
    assert sum(layer.counts.every.positions for layer in layers) == len(known)
    assert sum(layer.counts.canonical.positions for layer in layers) == len(classes)


@pytest.mark.parametrize("text", ["mnk 20x20 connect=5", "domineering 9x9"])
def test_a_board_of_more_than_64_cells_has_no_states(text: str) -> None:
    board = make_board(text)
    asks: list[Callable[[], object]] = [
        lambda: board.states([""]),
        lambda: board.states([board.start()]),
        lambda: board.states_of([0], [0]),
        lambda: board.checked_states([0], [0]),
        lambda: from_words(board, (0, 0)),
        lambda: tb.oracle(board).probe_many([0], [0]),
    ]
    for ask in asks:
        with pytest.raises(DoesNotFitError, match="states have at most 64"):
            ask()
