"""One rank without kernels is the rank of the kernels; so is one settled position.

`retro.index.halves.one` serves a process with a single question; `plain` is the definition.
"""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import games

from retro.games.connect4.bits import geometry
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.games.connect4.text import read_moves
from retro.index.halves import one, plain
from retro.index.halves.counting import count_half
from retro.index.halves.layout import make_layout
from retro.index.halves.ranking import NO_RANK, rank_many
from tablebase.halves.lookup import OPEN, SETTLED, check_many, settle_many
from tablebase.halves.settle import settle

# Odd and even widths, one column, one row, lines of 2 to longer than the board.
BOARDS = [
    Connect4Board(*sizes)
    for sizes in [
        (5, 4, 4), (4, 4, 3), (3, 3, 3), (6, 3, 4), (1, 6, 3), (7, 1, 3), (2, 5, 2), (3, 4, 40),
        (7, 2, 4),
    ]
]  # fmt: skip

MOST_COLOURINGS = 40_000  # of the larger half, so that many cuts are tried in a short time

cached_layout = cache(make_layout)


def cuts(board):
    """The places to cut a board that make two small halves."""
    kinds = 2 ** (board.height + 1) - 1
    widest = [max(left, board.width - left) for left in range(board.width)]
    return [left for left, columns in enumerate(widest) if kinds**columns <= MOST_COLOURINGS]


def jitted_rank(board, left_columns, root, position):
    layout = cached_layout(board, left_columns, root if root.ply else None)
    words = [np.array([stones], np.uint64) for stones in (position.first, position.second)]
    ranks = np.empty(1, np.int64)
    rank_many(layout.shape, *words, ranks)
    return None if ranks[0] == NO_RANK else int(ranks[0])


@st.composite
def questions(draw, with_root):
    """A board, its cut, a root and a position that follows it."""
    board = draw(st.sampled_from(BOARDS))
    position = draw(games(board, unfinished=True))
    root = board.start()
    if with_root:
        moves = draw(st.integers(0, position.ply))
        root = board.start()._play_all(position.history[:moves])
    left_columns = draw(st.sampled_from(cuts(board)))
    return board, left_columns, Connect4Position(board, root.first, root.second), position


@pytest.mark.parametrize("with_root", [False, True])
@given(data=st.data())
def test_a_rank_is_the_rank_of_the_kernels(with_root, data):
    board, left_columns, root, position = data.draw(questions(with_root))
    for asked in (position, position.mirror()):
        is_covered = asked.first & root.first == root.first
        is_covered &= asked.second & root.second == root.second
        if is_covered:
            found = one.rank(board, left_columns, root, asked)
            assert found == jitted_rank(board, left_columns, root, asked)
            assert found is not None


@pytest.mark.parametrize("board", [Connect4Board(3, 3, 3), Connect4Board(4, 2, 3)])
def test_every_rank_is_where_the_definition_puts_it(board):
    for left_columns in range(board.width):
        for ply in range(0, board.cells + 1, 2):
            for rank, position in enumerate(plain.layer(board, left_columns, ply)):
                if position is not None:
                    assert one.rank(board, left_columns, board.start(), position) == rank


def test_a_line_inside_a_half_has_no_rank():
    board = Connect4Board(4, 4)
    left = sum(board.bit(0, row) for row in range(4))
    right = sum(board.bit(3, row) for row in range(3))
    position = Connect4Position(board, left, right)
    for left_columns in (2, 3):
        assert one.rank(board, left_columns, board.start(), position) is None
        assert jitted_rank(board, left_columns, board.start(), position) is None


@pytest.mark.parametrize(
    ("columns", "height", "connect", "root"),
    [
        (4, 3, 4, ""), (3, 5, 4, "112233"), (4, 4, 3, "1221"), (5, 2, 4, ""), (2, 8, 5, "1"),
        (1, 4, 2, ""), pytest.param(4, 6, 4, "", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_colourings_are_counted_as_the_kernels_count_them(columns, height, connect, root):
    start = read_moves(Connect4Board(columns, height, 40), root)
    found = one.count_colourings(columns, height, connect, start.first, start.second)
    wanted = count_half(columns, height, connect, start.first, start.second)
    assert (found == wanted).all()
    assert found.sum() > 0


@pytest.mark.slow
def test_ranks_of_7x6_are_those_of_the_kernels():
    """Its kernels take two gigabytes."""
    board, rng = Connect4Board(7, 6), np.random.default_rng(7)
    asked = 0
    while asked < 300:
        position = board.start()
        for _ in range(int(rng.integers(0, 36))):
            if not position.is_over():
                position = position._play(int(rng.choice(position._numbers())))
        if not position.is_over():
            asked += 1
            found = one.rank(board, 4, board.start(), position)
            assert found == jitted_rank(board, 4, board.start(), position)
    layout = cached_layout(board, 4, None)
    for ply in (0, 1, 20, 41, 42):
        assert one.layer_words(board, 4, board.start(), ply) == layout.stored_words[ply]


def settle_one(board, whole_ply, position):
    """(position, sign or value, whether a look decides) by the kernel."""
    first, second = (np.array([w], np.uint64) for w in (position.first, position.second))
    plies, states, values = np.empty(1, np.int64), np.empty(1, np.int8), np.empty(1, np.int8)
    check_many(geometry(board), first, second, plies, states)
    assert (states[0], plies[0]) == (OPEN, position.ply)
    settle_many(geometry(board), whole_ply, first, second, plies, states, values)
    settled = Connect4Position(board, int(first[0]), int(second[0]))
    assert plies[0] == settled.ply
    return settled, int(values[0]), states[0] == SETTLED


@given(data=st.data())
def test_forced_moves_are_played_as_the_kernel_plays_them(data):
    board = data.draw(st.sampled_from(BOARDS))
    position = data.draw(games(board, unfinished=True))
    if position.is_over():
        return
    whole_ply = data.draw(st.sampled_from([-1, position.ply, position.ply + 1, position.ply + 2]))
    settled, sign, value = settle(position, whole_ply)
    by_kernel, number, is_decided = settle_one(board, whole_ply, position)
    if is_decided:
        assert sign * value == number
    elif settled.ply == board.cells:  # the block filled the board: a draw, which planes hold as 0
        assert (by_kernel, value) == (settled, 0)
    else:
        assert (by_kernel, number, value) == (settled, sign, None)


def test_all_the_ways_to_settle_are_met():
    """So that the test above is one: wins, losses, forced moves, full boards and quiet ones."""
    board, met = Connect4Board(4, 3, 3), set()
    rng = np.random.default_rng(1)
    for _ in range(400):
        position = board.start()
        while not position.is_over():
            settled, sign, value = settle(position, -1)
            by_kernel, number, is_decided = settle_one(board, -1, position)
            full = settled.ply == board.cells
            met.add((settled != position, sign, value, full))
            assert is_decided == (value is not None and not full)
            assert number == (sign * value if is_decided else sign)
            if not is_decided:
                assert by_kernel == settled
            position = position._play(int(rng.choice(position._numbers())))
    assert {value for _, _, value, _ in met} == {1, 0, -1, None}
    assert {sign for _, sign, _, _ in met} == {1, -1}
    assert any(full for *_, full in met)
