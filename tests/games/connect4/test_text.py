"""Positions as text, arrays and bitboards: both ways, and every refusal by name."""

import numpy as np
import pytest
from hypothesis import given
from strategies import board_games

from retro.errors import BadTextError, GameOverError, IllegalPositionError, WrongBoardError
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.games.connect4.text import (
    column_text,
    read_grid,
    read_moves,
    to_array,
    write_grid,
    write_moves,
)

BOARD = Connect4Board(5, 4)
# Columns 4, 4, 3: the second player is to move.
THREE_STONES = Connect4Position(BOARD, BOARD.bit(3, 0) | BOARD.bit(2, 0), BOARD.bit(3, 1))


@given(board_games())
def test_moves_come_back_as_they_were_played(position):
    text = write_moves(position)
    assert len(text) == position.ply
    again = read_moves(position.board, text)
    assert (again, again.history) == (position, position.history)


@given(board_games())
def test_a_set_up_position_writes_moves_that_lead_to_it(position):
    # The search for an order of moves is not meant for dozens of columns.
    if position.board.cells <= 20:
        set_up = Connect4Position(position.board, position.first, position.second)
        assert read_moves(position.board, write_moves(set_up)) == position


@given(board_games())
def test_grids_come_back(position):
    text = write_grid(position)
    assert read_grid(text, position.board) == position
    assert position.board.position(text) == position


@given(board_games())
def test_arrays_come_back(position):
    cells = to_array(position)
    assert cells.shape == (position.board.height, position.board.width)
    assert position.board.position(cells) == position
    minus_for_second = np.where(cells == 2, -1, cells)
    assert position.board.position(minus_for_second.tolist()) == position


@given(board_games())
def test_bitboards_come_back(position):
    words = (np.uint64(position.first), np.uint64(position.second))
    for pair in (words, (position.first, position.second)):
        with pytest.warns(DeprecationWarning, match="for moves write the list"):
            assert position.board.position(pair) == position


@pytest.mark.parametrize(
    "thing",
    [
        "443",
        " 4 4\n3 ",
        THREE_STONES,
        "5x4 ..... ..... ...0. ..@@.",
        "5X4\n" + ".....\n" * 2 + "...O.\n" + "..X@.\n",
        "# a comment first\n 5 x 4  # header\n..... # @@@@\n.....\n...o.\n..xX.",
        "5x4.............0...@@.",
        [[0] * 5, [0] * 5, [0, 0, 0, 2, 0], [0, 0, 1, 1, 0]],
        np.array([[0] * 5, [0] * 5, [0, 0, 0, -1, 0], [0, 0, 1, 1, 0]], np.float64),
    ],
)
def test_every_form_of_a_position_is_read_alike(thing):
    assert BOARD.position(thing) == THREE_STONES


@pytest.mark.parametrize("text", ["", "-", "  \n", " - "])
def test_no_moves_are_the_empty_board(text):
    assert BOARD.position(text) == Connect4Position(BOARD)


def test_the_grid_shows_the_top_row_first_and_white_to_move():
    assert write_grid(THREE_STONES) == "5x4\n. . . . .\n. . . . .\n. . . 0 .\n. . @ @ ."


def test_with_equal_counts_white_is_the_first_player():
    position = read_grid("2x2 .. @0")
    assert (position.side_to_move, position.first) == ("first", position.board.bit(1, 0))


def test_columns_past_nine_are_letters_of_either_case():
    board = Connect4Board(16, 2)
    position = read_moves(board, "9aAg")
    assert position.history == (8, 9, 9, 15)
    assert write_moves(position) == "9aag"
    assert column_text(31) == "w"  # the last column of the widest board


def test_no_move_string_is_taken_for_a_grid_on_the_widest_board():
    board = Connect4Board(32, 1)
    every_column = "".join(column_text(column) for column in range(32))
    position = Connect4Position(board)
    for column in range(32):
        if position.is_over():
            break
        position = position._play(column)
    assert board.position(every_column[: position.ply]) == position
    assert board.position(every_column[::-1][:3]).history == (31, 30, 29)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("440", BadTextError, "move 3 of '440' is '0'; wanted a column from 1 to 5"),
        ("4-", BadTextError, "move 2 of '4-' is '-'"),
        ("44,4", BadTextError, "move 3 of '44,4' is ','"),
        ("4²", BadTextError, "move 2"),
        ("46", IllegalPositionError, "move 2 of '46': column 6 is not on the board 5x4"),
        ("4z", IllegalPositionError, "move 2 of '4z': column z is not on the board 5x4"),
        ("11111", IllegalPositionError, "move 5 of '11111': column 1 is full"),
        ("12121213", GameOverError, "move 8 of '12121213': the game is over: the first player"),
    ],
)
def test_bad_moves_are_refused_by_name(text, error, message):
    with pytest.raises(error, match=message):
        BOARD.position(text)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", BadTextError, "begins with 'nothing'"),
        ("hello", BadTextError, "begins with 'hello', wanted a header"),
        ("# only a comment", BadTextError, "begins with 'nothing'"),
        ("4x", BadTextError, "begins with '4x'"),
        ("5x4 " + "." * 19, BadTextError, "a 5x4 grid has 20 symbols, found 19"),
        ("5x4 " + "." * 21, BadTextError, "a 5x4 grid has 20 symbols, found 21"),
        ("5x4 " + "." * 19 + "+", BadTextError, "found '\\+' in a grid"),
        ("5x4 " + "." * 19 + "1", BadTextError, "found '1' in a grid"),
        ("4x5 " + "." * 20, WrongBoardError, "the grid is 4x5, wanted a 5x4 board"),
        ("0x4 ", BadTextError, "at least one column"),
        ("99x99 " + "." * 20, BadTextError, "too large"),
        ("5x4 ..... ..... ..... ..0..", IllegalPositionError, "0 black and 1 white"),
        ("5x4 ..... ..... ..... @.@..", IllegalPositionError, "2 black and 0 white"),
        ("5x4 ..... ..... ..@.. .....", IllegalPositionError, "floats in column 3"),
        ("5x4 ..... ..... @@@.. 0000@", IllegalPositionError, "already has 4 in a line"),
    ],
)
def test_bad_grids_are_refused_by_name(text, error, message):
    with pytest.raises(error, match=message):
        read_grid(text, BOARD)


@pytest.mark.parametrize(
    ("thing", "error", "message"),
    [
        (np.zeros((5, 4)), WrongBoardError, "5 rows of 4 cells are not 5x4: it has 4 rows of 5"),
        ([[]], WrongBoardError, "1 rows of 0 cells"),
        (np.full((4, 5), 3), BadTextError, "3 is no cell"),
        (np.full((4, 5), 0.5), BadTextError, "0.5 is no cell"),
        (np.full((4, 5), "Z"), BadTextError, "'Z' is no cell"),
        ([[0] * 5] * 3 + [[2, 0, 0, 0, 0]], IllegalPositionError, "impossible counts"),
        ([[1, 0, 0, 0, 0]] + [[0] * 5] * 3, IllegalPositionError, "floats in column 1"),
        (
            Connect4Position(Connect4Board(4, 4)),
            WrongBoardError,
            "is on 4x4, wanted one on 5x4",
        ),
        (Connect4Position(Connect4Board(5, 4, 3)), WrongBoardError, "is on 5x4 connect=3, wanted"),
        (None, BadTextError, "NoneType is no position"),
        (443, BadTextError, "the number 443 is no position: write '443', or the moves in a list"),
        (b"443", BadTextError, "bytes is no position"),
    ],
)
def test_bad_arrays_and_bitboards_are_refused_by_name(thing, error, message):
    with pytest.raises(error, match=message):
        BOARD.position(thing)


def test_an_array_of_the_wrong_board_is_not_read_sideways():
    with pytest.raises(WrongBoardError):
        BOARD.position(to_array(THREE_STONES).T)


def test_moves_of_an_unreachable_position_do_not_exist():
    board = Connect4Board(2, 2)
    position = Connect4Position(board, board.bit(0, 1), board.bit(0, 0))
    with pytest.raises(IllegalPositionError, match="no order of moves"):
        write_moves(position)
