"""The rules: boards, positions, lines, and which positions can arise in play.

The plain rules are held against `naive` (which knows no bitboards), the
jitted ones against the plain ones, and reachability against naive's sets.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from plain import connect4 as naive
from strategies import EXTREME_SHAPES, board_games, boards

from retro.bits import U0
from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games.catalogue import make_board
from retro.games.connect4.bits import geometry, gravity_holds, has_line, is_reachable
from retro.games.connect4.rules import Connect4Board, Connect4Position, find_moves
from retro.games.values import DRAW, LOSS

TINY_GAMES = [naive.Game(*g) for g in [(3, 3, 3), (2, 4, 3), (4, 2, 3), (3, 2, 2), (1, 6, 4)]]


@njit
def jitted_has_line(geo, stones):
    return has_line(geo, stones)


@njit
def jitted_gravity_holds(geo, stones):
    return gravity_holds(geo, stones)


def play(board, *columns):
    position = Connect4Position(board)
    for column in columns:
        position = position._play(column)
    return position


def all_cells(board):
    return sum(board.columns)


def every_stacking(board):
    """Every position without floating stones, with any colours in any numbers."""
    columns = [
        stack for height in range(board.height + 1) for stack in product((0, 1), repeat=height)
    ]
    for stacks in product(columns, repeat=board.width):
        stones = [0, 0]
        for column, stack in enumerate(stacks):
            for row, player in enumerate(stack):
                stones[player] |= board.bit(column, row)
        yield Connect4Position(board, *stones)


@pytest.mark.parametrize(("width", "height"), [*EXTREME_SHAPES, (5, 4), (7, 6)])
@pytest.mark.parametrize("connect", [2, 3, 4, 7])
def test_a_board_has_as_many_lines_as_the_formula_says(width, height, connect):
    across, up = max(0, width - connect + 1), max(0, height - connect + 1)
    lines = Connect4Board(width, height, connect).lines
    assert len(set(lines)) == len(lines) == across * height + up * width + 2 * across * up


@pytest.mark.parametrize("game", TINY_GAMES)
def test_plain_rules_agree_with_naive_on_every_reachable_position(game):
    board = Connect4Board(*game)
    for layer in naive.layers(game):
        for text in layer:
            position = Connect4Position(board, *naive.bitboards(game, text)).check()
            is_lost = naive.line_is_complete(game, text)
            assert position.ply == naive.ply_of(text)
            assert (position.winner() is not None) == is_lost
            assert position.is_over() == (is_lost or naive.EMPTY not in text)
            expected = set() if position.is_over() else set(naive.successors(game, text))
            assert set(position._numbers()) == expected


@given(st.data())
def test_jitted_lines_agree_with_plain_lines_on_any_board(data):
    board = data.draw(boards())
    stones = data.draw(st.integers(0, 2**64 - 1)) & all_cells(board)
    if board.lines:
        # Random stones rarely make a long line: lay one, and perhaps take one stone of it away.
        line = data.draw(st.sampled_from(board.lines))
        missing = data.draw(st.integers(0, 63))
        stones = stones & data.draw(st.integers(0, 2**64 - 1)) | line & ~(1 << missing)
    assert jitted_has_line(geometry(board), np.uint64(stones)) == board.has_line(stones)


@pytest.mark.parametrize(("width", "height"), EXTREME_SHAPES)
@pytest.mark.parametrize("connect", [2, 3, 4, 33])
def test_every_line_is_seen_and_no_line_wraps(width, height, connect):
    board = Connect4Board(width, height, connect)
    geo = geometry(board)
    for line in board.lines:
        assert jitted_has_line(geo, np.uint64(line))
        assert not jitted_has_line(geo, np.uint64(line & (line - 1)))
    # A line that leaves the board on one side does not come back on the other.
    ends = [board.bit(column, row) for column in range(width) for row in (0, height - 1)]
    for stones in (sum(set(ends[:2])), sum(set(ends[::2])), sum(set(ends[1::2]))):
        assert jitted_has_line(geo, np.uint64(stones)) == board.has_line(stones)


@given(st.data())
def test_gravity_holds_exactly_where_no_column_has_a_gap(data):
    board = data.draw(boards())
    heights = [data.draw(st.integers(0, board.height)) for _ in range(board.width)]
    stones = sum(board.bit(c, r) for c, top in enumerate(heights) for r in range(top))
    geo = geometry(board)
    assert jitted_gravity_holds(geo, np.uint64(stones))
    for column, top in enumerate(heights):
        if top >= 2:  # a gap
            assert not jitted_gravity_holds(geo, np.uint64(stones ^ board.bit(column, 0)))
        assert not jitted_gravity_holds(geo, np.uint64(stones | board.bit(column, board.height)))
    if board.width * board.stride < 64:
        assert not jitted_gravity_holds(geo, np.uint64(stones | 1 << 63))


@pytest.mark.parametrize("game", TINY_GAMES)
def test_reachable_means_the_same_to_naive_to_find_moves_and_to_the_kernel(game):
    board, geo = Connect4Board(*game), geometry(Connect4Board(*game))
    reachable = {naive.bitboards(game, text) for layer in naive.layers(game) for text in layer}
    seen = {True: 0, False: 0}
    for position in every_stacking(board):
        try:
            position.check()
        except IllegalPositionError:
            assert (position.first, position.second) not in reachable
            continue
        expected = (position.first, position.second) in reachable
        seen[expected] += 1
        moves = find_moves(position)
        assert (moves is not None) == expected
        assert (
            is_reachable(geo, U0, np.uint64(position.first), np.uint64(position.second)) == expected
        )
        if moves is not None:
            assert play(board, *moves) == position
    assert seen[True] == len(reachable)
    assert seen[False] > 0  # or nothing was refused


@given(board_games())
def test_a_game_can_be_taken_back_move_by_move(position):
    board = position.board
    seen = [Connect4Position(board)]
    for column in position.history:
        seen.append(seen[-1]._play(column))
    for expected in reversed(seen):
        assert position == expected
        assert position.history == expected.history
        if expected.ply:
            position = position.undo()
    with pytest.raises(IllegalPositionError, match="no move to take back"):
        position.undo()


@given(board_games())
def test_the_mirror_of_the_mirror_is_the_position_and_keeps_the_outcome(position):
    mirrored = position.mirror()
    last = position.board.width - 1
    assert [mirrored.height(c) for c in range(last + 1)] == [
        position.height(last - c) for c in range(last + 1)
    ]
    assert mirrored.mirror() == position
    assert mirrored.outcome() == position.outcome()
    assert mirrored.check() == play(position.board, *mirrored.history)


def test_a_completed_line_is_a_loss_for_the_side_to_move_and_ends_the_game():
    position = play(Connect4Board(4, 4), 0, 1, 0, 1, 0, 1, 0)
    assert (position.winner(), position.outcome(), position.side_to_move) == (
        "first",
        LOSS,
        "second",
    )
    assert position._numbers() == []
    assert "first player has 4 in a line" in position.over_message()
    with pytest.raises(GameOverError, match="4 in a line"):
        position._play(2)


def test_a_full_board_is_a_draw_and_ends_the_game():
    position = play(Connect4Board(2, 2), 0, 1, 0, 1)
    assert position.outcome() == DRAW
    assert position.winner() is None
    with pytest.raises(GameOverError, match="full after 4 plies, a draw"):
        position._play(0)


def test_an_unfinished_game_has_no_outcome():
    assert play(Connect4Board(2, 2), 0).outcome() is None


@pytest.mark.parametrize("column", [-1, 5])
def test_a_column_off_the_board_is_refused(column):
    with pytest.raises(IllegalPositionError, match=f"column {column + 1} is not on the board 5x4"):
        Connect4Position(Connect4Board(5, 4))._play(column)


def test_a_full_column_is_refused():
    with pytest.raises(IllegalPositionError, match=r"column 1 is full \(2 stones\)"):
        play(Connect4Board(3, 2), 0, 0, 0)


def test_a_set_up_position_has_no_move_to_take_back():
    board = Connect4Board(3, 2)
    with pytest.raises(IllegalPositionError, match="no move to take back"):
        Connect4Position(board, board.bit(0, 0)).undo()


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (1 << 3, 0, "outside the board"),  # the guard of column 1
        (1 << 40, 0, "outside the board"),
        (-1, 0, "outside the board"),
        (0b1, 0b1, "both players"),
        (0b10, 0, "floats in column 1"),
        (0b1 | 0b1000000, 0b10000, "floats in column 2"),
        (0b11, 0, "impossible counts: 2 stones of the first"),
        (0, 0b1, "impossible counts: 0 stones of the first"),
        (0b111, 0b1110000, "already has 3 in a line"),
    ],
)
def test_check_refuses_what_the_rules_cannot_show(first, second, message):
    with pytest.raises(IllegalPositionError, match=message):
        Connect4Position(Connect4Board(3, 3, 3), first, second).check()


def test_no_order_of_moves_leads_to_a_second_player_stone_at_the_bottom_of_the_only_column():
    board = Connect4Board(1, 2)
    position = Connect4Position(board, board.bit(0, 1), board.bit(0, 0))
    assert position.check() == position
    assert find_moves(position) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 4), "at least one column"),
        ((4, 0), "at least one column"),
        ((4, 4, 1), "at least 2 stones"),
        ((9, 7), "too large: .* is 72, the limit is 64"),
        ((1, 64), "too large"),
        ((33, 1), "too large"),
    ],
)
def test_impossible_boards_are_refused(arguments, message):
    with pytest.raises(BadTextError, match=message):
        Connect4Board(*arguments)


@pytest.mark.parametrize("text", ["", "5", "5x", "x4", "5x4x3", "-5x4", "5 4", "5.0x4", "²x4"])
def test_text_that_is_no_board_is_refused(text):
    with pytest.raises(BadTextError, match="wanted WIDTHxHEIGHT"):
        Connect4Board.parse(text)


@given(boards())
def test_a_board_reads_its_own_text(board):
    assert make_board(str(board)) == board
    assert Connect4Board.parse(f" {board.width}X{board.height}\n", board.connect) == board
