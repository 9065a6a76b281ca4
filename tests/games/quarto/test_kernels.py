"""The jitted rules of Quarto against the plain ones; canonical states against all images."""

import numpy as np
import pytest
from games.quarto.test_rules import SMALL, plain, position_of, quarto_games
from hypothesis import given
from hypothesis import strategies as st
from plain.quarto import QuartoRules, class_of, values

from retro.games.kernels import (
    UNDECIDED,
    canonical_of,
    orbit_of,
    outcome_of,
    start_of,
    successors_of,
)
from retro.games.quarto.kernels import quarto_rules
from retro.games.quarto.rules import QuartoBoard, QuartoPosition
from retro.games.quarto.text import read_grid

# What hypothesis draws repeats few boards; their tables of symmetries are made once.
BOARDS = [QuartoBoard(n, k, s) for n in (2, 3, 4) for k in (1, 2, 3, 4) for s in (False, True)]
RULES = {board: quarto_rules(board) for board in BOARDS}


def words(position):
    return tuple(np.uint64(word) for word in position._state)


def canonical(position):
    return tuple(int(word) for word in canonical_of(RULES[position.board], *words(position)))


def least_image(position):
    """The definition: the least (b, a) over every symmetry of board and pieces."""
    board = position.board
    images = (
        position.turned(cells, pieces)._state
        for cells in board.symmetries
        for pieces in board.piece_symmetries
    )
    return min(images, key=lambda state: (state[1], state[0]))


def assert_same_rules(position: QuartoPosition) -> None:
    rules, state = RULES[position.board], words(position)
    known = position.outcome()
    assert outcome_of(rules, *state) == (UNDECIDED if known is None else known)
    after = {move: position._play(move)._state for move in position._numbers()}
    assert successors_of(rules, *state) == after
    assert position.board.unpack(*map(int, state)) == position


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_rules_of_every_position(game: QuartoRules) -> None:
    board = QuartoBoard(*game)
    for state in values(game):
        assert_same_rules(position_of(board, state))
    assert tuple(map(int, start_of(RULES[board]))) == QuartoPosition(board)._state


@given(quarto_games(st.sampled_from(BOARDS)))
def test_rules_of_drawn_games(position: QuartoPosition) -> None:
    assert_same_rules(position)


@pytest.mark.parametrize("game", [QuartoRules(2, 2), QuartoRules(2, 3, True)], ids=str)
def test_canonical_and_orbit_of_every_position(game: QuartoRules) -> None:
    board = QuartoBoard(*game)
    left = set(values(game))
    while left:
        state = left.pop()
        images = class_of(game, state)
        left -= images
        positions = [position_of(board, image) for image in images]
        assert {canonical(position) for position in positions} == {least_image(positions[0])}
        assert {orbit_of(RULES[board], *words(p)) for p in positions} == {len(images)}


@given(quarto_games(st.sampled_from(BOARDS)), st.data())
def test_canonical_is_the_same_for_every_image(
    position: QuartoPosition, data: st.DataObject
) -> None:
    board = position.board
    turned = position.turned(
        data.draw(st.sampled_from(board.symmetries)),
        data.draw(st.sampled_from(board.piece_symmetries)),
    )
    assert canonical(turned) == canonical(position)
    again = board.unpack(*canonical(position))
    assert canonical(again) == canonical(position)
    assert again.check().outcome() == position.outcome()


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "0..f/..../..../c..3,1",
        "4becd0.8f.9.23.6,a",
        ".c1db.e..7.fa5..,6",
        "................,9",
        "................",
        "0123............",
    ],
)
def test_canonical_is_the_least_of_all_images_on_4x4(text: str, squares: bool) -> None:
    position = read_grid(QuartoBoard(4, squares=squares), text)
    assert canonical(position) == least_image(position)
    game = QuartoRules(4, 4, squares)
    assert orbit_of(RULES[position.board], *words(position)) == len(class_of(game, plain(position)))
