"""Positions as people and programs write them; what can be read in two ways is refused."""

import numpy as np
import pytest
from catalogue_cases import small_board

import tablebase as tb
from retro.errors import BadTextError, IllegalPositionError, TablebaseError, WrongBoardError
from retro.games.catalogue import NAMES, make_board
from retro.games.habits import is_grid

EMPTY_ROWS = ". . . . . . .\n" * 4
DRAWN = f"{EMPTY_ROWS}. . . O . . .\n. . . X X . ."
COLOURED = "⚪⚪⚪⚪⚪⚪⚪\n" * 4 + "⚪⚪⚪🟡⚪⚪⚪\n⚪⚪⚪🔴🔴⚪⚪\n"
CELLS = [[0] * 7] * 4 + [[0, 0, 0, 2, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0]]
FLAT = [cell for row in CELLS for cell in row]

SAME = {
    "7x6": (
        "445",
        "4 4 5",
        "4,4,5",
        "4, 4, 5",
        "44 5",
        "d1 d2 e1",
        "d1d2e1",
        "D1, D2, E1",
        "1. d1 d2 2. e1",
        "1. 4 4 2. 5",
        [4, 4, 5],
        [np.int64(4), 4, "5"],
        ["4", "4", "5"],
        ["d1", "d2", "e1"],
        DRAWN,
        COLOURED,
        DRAWN.replace(" ", "").replace("\n", "/"),
        DRAWN.replace(" ", "|"),
        CELLS,
        np.array(CELLS),
        np.where(np.array(CELLS) == 2, -1, CELLS),
        [tuple(r) for r in CELLS],
        {"board": FLAT, "mark": 2},
        {"board": np.array(FLAT), "mark": 2, "step": 3},
        {"board": FLAT},
        "https://connect4.gamesolver.org/?pos=445",
        "?pos=445",
        "/?game=connect4&board=7x6&moves=445",
        "http://localhost:8000/?game=connect4&board=7x6&moves=445&at=1",
        "/?board=7x6&position=445",
        "?from=......./......./......./......./......./.......&moves=4+4+5",
    ),
    "tictactoe": (
        "b2 a1",
        "b2a1",
        "b2,a1",
        "b2, a1",
        "2,2 1,1",
        "1. b2 a1",
        ["b2", "a1"],
        "3,3,3 ... .X. O..",
        "...\n.X.\nO..",
        ". . . / . X . / O . .",
        "⬜⬜⬜\n⬜❌⬜\n⭕⬜⬜",
        "_|_|_\n_|X|_\nO|_|_",
        [["", "", ""], ["", "X", ""], ["O", "", ""]],
        [[None] * 3, [None, "x", None], ["o", None, None]],
        np.array([[0, 0, 0], [0, 1, 0], [2, 0, 0]]),
        {"board": [0, 0, 0, 0, 1, 0, 2, 0, 0], "mark": 1},
        "?game=tictactoe&moves=b2+a1",
        "?game=mnk&board=3x3&connect=3&from=.../.X./...&moves=a1",
    ),
    "notakto 3x3": (
        "b2 a1",
        "b2,a1",
        ["b2", "a1"],
        "...\n.X.\nX..",
        [[0, 0, 0], [0, 1, 0], [1, 0, 0]],
    ),
    "puissance-plus 3x3": ("b2 a1", "b2, a1", ["b2", "a1"], "3x3 ... .X. O..", "...\n.X.\nO.."),
    "domineering 3x3": ("b1 a3", "b1,a3", "1,2 3,1", "1. b1 a3", ["b1", "a3"]),
    "quarto": ("f b2-3", "f, b2-3", "f b2 3", "1. f b2-3", ["f", "b2-3"], "..../..../.f../....,3"),
}


@pytest.mark.parametrize("name", SAME)
def test_every_habit_is_the_same_position(name: str) -> None:
    board = make_board(name)
    first, *others = SAME[name]
    for other in others:
        assert board.position(other) == board.position(first), other
    assert board.positions(SAME[name]) == [board.position(first)] * len(SAME[name])
    states = board.states(SAME[name])
    assert set(zip(states.a.tolist(), states.b.tolist(), strict=True)) == {
        board.position(first)._state
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_list_of_moves_is_played(name: str) -> None:
    position = small_board(name).start()
    moves = []
    while not position.is_over():
        moves.append(position.moves[len(moves) % len(position.moves)])
        position = position.play(moves[-1])
        assert position.board.position(moves) == position
        assert position.board.position([str(move) for move in moves]) == position


@pytest.mark.parametrize(
    ("name", "thing", "error", "words"),
    [
        ("7x6", [4, 0], IllegalPositionError, "columns are 1 to 7; actions count from 0"),
        ("7x6", [8], IllegalPositionError, "columns are 1 to 7"),
        ("7x6", (4, 4, 5), BadTextError, r"write \[4, 4, 5\]"),
        ("7x6", (), BadTextError, "moves are a list"),
        ("7x6", [4, None], BadTextError, "move 2 is a NoneType"),
        ("7x6", [4, True], BadTextError, "move 2 is a bool"),
        ("7x6", "d2", IllegalPositionError, "column d falls on d1"),
        ("7x6", ["d1", "e2"], IllegalPositionError, "move 2: a stone in column e falls on e1"),
        ("7x6", "44,53", BadTextError, "','"),
        ("7x6", None, BadTextError, "write moves as text or in a list"),
        ("7x6", 3, BadTextError, "write '3'"),
        ("7x6", b"4", BadTextError, "bytes is no position"),
        ("7x6", [[0] * 7] * 5, WrongBoardError, "it has 6 rows of 7"),
        ("7x6", [[0] * 7] * 5 + [[0] * 6], WrongBoardError, "6 or 7 cells"),
        ("7x6", [[0] * 7] * 5 + [[0, 0, 0, 7, 0, 0, 0]], BadTextError, "7 is no cell: 0 is empty"),
        ("7x6", {"board": FLAT, "mark": 1}, IllegalPositionError, "player 2 moves, not mark 1"),
        ("7x6", {"board": FLAT[1:]}, WrongBoardError, "41 cells"),
        ("7x6", {"mark": 1}, BadTextError, '"board", a list of cells'),
        ("7x6", "?game=mnk&moves=b2", WrongBoardError, "the link is of mnk 3x3, not of 7x6"),
        ("7x6", "https://example.org/?x=1", BadTextError, "names no position"),
        ("tictactoe", [4], BadTextError, r"write texts such as \['a3', 'b3'\]"),
        ("tictactoe", "X..\nX..\n...", IllegalPositionError, "impossible counts"),
        ("quarto", [[0] * 4] * 4, BadTextError, "cells alone are no position of quarto"),
        ("domineering 3x3", [[0] * 3] * 3, BadTextError, "cells alone are no position"),
    ],
)
def test_refusals_say_what_to_write(
    name: str, thing: object, error: type[TablebaseError], words: str
) -> None:
    with pytest.raises(error, match=words):
        make_board(name).position(thing)


@pytest.mark.parametrize("name", NAMES)
def test_two_numbers_are_the_words_of_a_state_for_a_while_yet(name: str) -> None:
    position = small_board(name).start()
    position = position.play(position.moves[0])
    state = position._state
    with pytest.warns(DeprecationWarning, match=r"write the list \[") as told:
        assert position.board.position(state) == position
    assert told[0].filename == __file__


def test_a_grid_is_told_from_moves() -> None:
    board = make_board("tictactoe")
    assert is_grid(board, "X..\n...\n..O")
    assert is_grid(board, "3,3,3 .........")
    assert not is_grid(board, "b2\na1\nc3")
    assert not is_grid(make_board("4x3"), "4434\n1111\n2222")  # three rows of four digits


def test_many_positions_are_probed_by_their_texts(built_5x4: object, table_folder: object) -> None:
    with tb.open_tablebase("5x4", folder=table_folder) as table:  # type: ignore[arg-type]
        texts = ["", "443", [4, 4]]
        wanted = [table.probe_wdl(text) for text in texts]
        assert table.probe_many(texts).tolist() == wanted
        assert table.probe_many(table.board.positions(texts)).tolist() == wanted
    with tb.oracle("5x4", folder=table_folder) as oracle:  # type: ignore[arg-type]
        assert oracle.probe_many(texts).tolist() == wanted
