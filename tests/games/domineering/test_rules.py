"""Rules and text forms of Domineering, plain and jitted, against a plain twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain.domineering import (
    Size,
    covered_bits,
    every_position,
    images,
    layers,
    successors,
    value,
)

from retro.errors import (
    BadTextError,
    DoesNotFitError,
    GameOverError,
    IllegalPositionError,
    WrongBoardError,
)
from retro.games import kernels
from retro.games.catalogue import find_game
from retro.games.domineering.kernels import dominoes_rules
from retro.games.domineering.rules import DomineeringBoard, DomineeringPosition, outcome_class
from retro.games.domineering.text import (
    draw,
    read_grid,
    read_moves,
    read_position,
    write_grid,
    write_moves,
    write_position,
)
from retro.walk.keys.layers import prepare, solve

SIDE = {"V": "vertical", "H": "horizontal"}
SMALL = [Size(1, 1), Size(1, 4), Size(4, 1), Size(2, 3), Size(3, 2), Size(3, 3)]


def position_of(size, naive):
    side, cells = naive
    return DomineeringPosition(DomineeringBoard(*size), covered_bits(cells), SIDE[side])


@st.composite
def positions(draw):
    """Any board that fits into 64 cells, with any holes, either side to move."""
    rows = draw(st.sampled_from([8, *range(1, 65)]))
    widest = min(50, 64 // rows)
    cols = draw(st.sampled_from([widest, *range(1, widest + 1)]))
    board = DomineeringBoard(rows, cols, draw(st.sampled_from(["vertical", "horizontal"])))
    covered = draw(st.integers(0, board.full)) & draw(st.integers(0, board.full))
    return DomineeringPosition(board, covered, draw(st.sampled_from(["vertical", "horizontal"])))


@st.composite
def games(draw):
    """A position that a random legal game reaches, on a board of any shape."""
    board = DomineeringBoard(
        draw(st.integers(1, 9)),
        draw(st.integers(1, 12) | st.just(28)),
        draw(st.sampled_from(["vertical", "horizontal"])),
    )
    position = DomineeringPosition.start(board)
    for _ in range(draw(st.integers(0, 20))):
        if position.is_over():
            break
        position = position._play(draw(st.sampled_from(position._numbers())))
    return position


@pytest.mark.parametrize("size", SMALL, ids=str)
def test_rules_of_every_position(size: Size) -> None:
    for naive in every_position(size):
        position = position_of(size, naive).check()
        expected = {1 << cell: position_of(size, p) for cell, p in successors(size, naive).items()}
        assert {move: position._play(move) for move in position._numbers()} == expected
        assert position.is_over() == (not expected)
        assert position.outcome() == (None if expected else -1)
        turned = {position.turned(i).covered for i in range(4)}
        assert turned == {covered_bits(image) for image in images(size, naive[1])}
        assert position.canonical().covered == min(turned)


@given(positions())
def test_kernels_play_as_the_plain_rules(position: DomineeringPosition) -> None:
    rules = dominoes_rules(position.board)
    state = position._state
    words = tuple(map(np.uint64, state))
    assert position.board.unpack(*state) == position
    outcome = kernels.outcome_of(rules, *words)
    assert outcome == (kernels.UNDECIDED if position.outcome() is None else position.outcome())
    played = {1 << move: after for move, after in kernels.successors_of(rules, *state).items()}
    assert played == {move: position._play(move)._state for move in position._numbers()}
    assert tuple(map(int, kernels.canonical_of(rules, *words))) == position.canonical()._state
    turned = {position.turned(i).covered for i in range(4)}
    assert kernels.orbit_of(rules, *words) == len(turned)
    start = DomineeringPosition.start(position.board)
    assert tuple(map(int, kernels.start_of(rules))) == start._state


@given(games(), st.integers(0, 3))
def test_symmetry_twice_is_identity_and_keeps_the_moves(
    position: DomineeringPosition, symmetry: int
) -> None:
    turned = position.turned(symmetry)
    assert turned.turned(symmetry) == position
    assert len(turned._numbers()) == len(position._numbers())
    assert turned.canonical() == position.canonical()


@pytest.mark.parametrize("size", [Size(2, 3), Size(3, 3), Size(2, 5)], ids=str)
def test_symmetry_keeps_values(size: Size) -> None:
    for side, cells in every_position(size):
        assert len({value(size, (side, image)) for image in images(size, cells)}) == 1


@pytest.mark.parametrize("first", ["V", "H"])
@pytest.mark.parametrize("size", [Size(2, 2), Size(3, 3), Size(4, 3), Size(3, 4)], ids=str)
def test_the_walk_of_any_game_counts_and_values_it(size: Size, first: str) -> None:
    board = DomineeringBoard(*size, SIDE[first])
    found = [layer.counts for layer in solve(prepare(dominoes_rules(board)))]
    expected = layers(size, first)
    assert len(found) == len(expected)
    for counts, layer in zip(found, expected, strict=True):
        values = [value(size, position) for position in layer]
        canonical = {(side, min(images(size, cells))) for side, cells in layer}
        assert (counts.every.positions, counts.canonical.positions) == (len(layer), len(canonical))
        assert (counts.every.win, counts.every.loss) == (values.count(1), values.count(-1))
        ended = sum(not successors(size, position) for position in layer)
        assert counts.every.terminal == ended


@given(games())
def test_moves_and_grids_there_and_back(position: DomineeringPosition) -> None:
    board = position.board
    assert read_moves(board, write_moves(position)) == position
    assert read_moves(board, write_moves(position).replace(" ", "")) == position
    numbers = (board.place(bit) for bit in position.history)
    assert read_moves(board, " ".join(f"{r + 1},{c + 1}" for r, c in numbers)) == position
    again = read_grid(write_grid(position), board.first)
    assert again == position
    assert again.ply == position.ply
    assert read_position(board, write_position(again)) == position
    assert read_position(board, write_position(position)).history == position.history
    if position.history:
        assert position.undo()._play(position.history[-1]) == position


def test_grids_show_whose_domino_it_was() -> None:
    board = DomineeringBoard(3, 3)
    position = read_moves(board, "b1 a3")
    assert write_grid(position) == "3x3 V\nH H .\n. V .\n. V ."
    set_up = read_grid("3x3 H  XX. ... ..X")._play(board.bit(0, 0))._play(board.bit(1, 2))
    assert write_grid(set_up) == "3x3 H\nX X V\n. . V\nH H X"
    assert draw(set_up).splitlines()[-1] == "Horizontal to move"


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("b", BadTextError, "wanted cells such as"),
        ("b2 ?", BadTextError, "wanted cells such as"),
        ("1,1,1", BadTextError, "wanted cells such as"),
        ("d1", IllegalPositionError, "cells are a1 to c3"),
        ("a0", IllegalPositionError, "not on the board"),
        ("a3", IllegalPositionError, "the vertical domino leaves the board"),
        ("a1 c3", IllegalPositionError, "move 2 .* horizontal domino leaves the board"),
        ("a1 a2", IllegalPositionError, "row 2, column 1 is covered"),
        ("b1 a3 c1 a2", GameOverError, "horizontal cannot move, vertical wins"),
    ],
)
def test_bad_moves(text: str, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        read_moves(DomineeringBoard(3, 3), text)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "wanted ROWSxCOLS"),
        ("3x3", "the side to move"),
        ("3x3 ... ... ...", "the side to move"),
        ("3x3 V ...", "9 symbols, found 3"),
        ("3x3 V ... .?. ...", "found '\\?'"),
        ("0x3 V", "wanted 1 to 99 rows"),
    ],
)
def test_bad_grids(text: str, match: str) -> None:
    with pytest.raises(BadTextError, match=match):
        read_grid(text)


@pytest.mark.parametrize("text", ["3", "3,3", "100x3", "3x51", "0x1", "", "axb", "3x3x3"])
def test_bad_boards(text: str) -> None:
    with pytest.raises(BadTextError):
        DomineeringBoard.parse(text)


def test_other_mistakes() -> None:
    board = DomineeringBoard(3, 3)
    with pytest.raises(IllegalPositionError, match="outside"):
        DomineeringPosition(board, 1 << 9, "vertical").check()
    with pytest.raises(IllegalPositionError, match="take back"):
        DomineeringPosition.start(board).undo()
    with pytest.raises(IllegalPositionError, match="set up"):
        write_moves(read_grid("2x2 V X. .."))
    with pytest.raises(DoesNotFitError, match="65 cells"):
        dominoes_rules(DomineeringBoard(5, 13))
    with pytest.raises(WrongBoardError, match="wanted a 3x3 board"):
        read_position(board, "2x2 V .. ..")


def test_the_catalogue_knows_it() -> None:
    game = find_game("domineering")
    board = game.parse("2x3", {"starts": "H"})
    assert board == DomineeringBoard(2, 3, "horizontal")
    assert game.parse(*game.describe(board)) == board
    assert board.name == "domineering-2x3-startshorizontal"
    assert game.describe(DomineeringBoard(2, 3)) == ("2x3", {})
    position = game.start(board)
    assert position.side_to_move == "first"
    position = position._play(game.read_move(position, "b1"))
    assert (position.side_to_move, position.turn) == ("second", "vertical")
    assert board.unpack(*position._state) == position
    with pytest.raises(BadTextError, match="wanted vertical or horizontal"):
        game.parse("2x3", {"starts": "diagonal"})
    with pytest.raises(BadTextError, match="wanted one cell"):
        game.read_move(position, "a1 a2")


def test_classes() -> None:
    assert [outcome_class(v, h) for v in (1, -1) for h in (1, -1)] == ["N", "V", "H", "P"]


def test_players_are_called_by_what_they_cover() -> None:
    assert DomineeringBoard(3, 3).players == ("Vertical", "Horizontal")
    start = DomineeringBoard(3, 3, "horizontal").start()
    assert start.mover_name == "Horizontal"
    assert start._play(1).mover_name == "Vertical"
