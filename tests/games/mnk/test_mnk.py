"""Rules and text forms of m,n,k-games, against a plain twin, published counts and drawn games."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain.mnk import EMPTY, MnkRules, bitboards, is_won, mover, successors, values
from strategies import published

from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games.cells import cell_text, cells_text
from retro.games.grid_text import read_moves, write_moves
from retro.games.mnk.rules import MnkBoard, MnkPosition, find_order
from retro.games.mnk.text import read_grid, write_grid

SMALL = [MnkRules(1, 3, 3), MnkRules(2, 2, 2), MnkRules(2, 3, 2), MnkRules(3, 3, 2)]
TIC_TAC_TOE = MnkRules(3, 3, 3)


@st.composite
def mnk_games(draw):
    """A position that a random legal game reaches, on a board of any shape."""
    board = MnkBoard(
        draw(st.integers(1, 7)), draw(st.integers(1, 12) | st.just(50)), draw(st.integers(2, 5))
    )
    position = MnkPosition(board)
    for _ in range(draw(st.integers(0, 20))):
        moves = position._numbers()
        if not moves:
            break
        position = position._play(draw(st.sampled_from(moves)))
    return position


@pytest.mark.parametrize("game", [*SMALL, TIC_TAC_TOE], ids=str)
def test_rules_of_every_position(game: MnkRules) -> None:
    board = MnkBoard(*game)
    for text in values(game):
        position = MnkPosition(board, *bitboards(game, text)).check()
        over = is_won(game, text) or EMPTY not in text
        assert position.is_over() == over
        assert position.outcome() == ((-1 if is_won(game, text) else 0) if over else None)
        assert position.side_to_move == ("first" if mover(text) == "X" else "second")
        after = {(p.first, p.second) for p in map(position._play, position._numbers())}
        assert after == (set() if over else {bitboards(game, p) for p in successors(text)})


def test_tic_tac_toe_counts_per_ply() -> None:
    board = MnkBoard(3, 3, 3)
    positions = [
        (MnkPosition(board, *bitboards(TIC_TAC_TOE, text)), value)
        for text, value in values(TIC_TAC_TOE).items()
    ]
    counts = Counter((position.ply, value) for position, value in positions)
    canonical = Counter({p.canonical() for p, _ in positions})
    canonical_per_ply = Counter(position.ply for position in canonical)
    for row in published("tictactoe_3x3_per_ply.csv"):
        ply = row["ply"]
        found = [counts[ply, value] for value in (1, 0, -1)]
        assert found == [row["win"], row["draw"], row["loss"]]
        assert sum(found) == row["positions"]
        assert canonical_per_ply[ply] == row["canonical"]


@pytest.mark.parametrize(("rows", "cols", "many"), [(3, 3, 8), (2, 3, 4), (1, 4, 4), (4, 4, 8)])
def test_symmetries_form_a_group_and_keep_lines(rows: int, cols: int, many: int) -> None:
    board = MnkBoard(rows, cols, 2)
    ways = {tuple(goes_to[bit] for bit in board.all_bits) for goes_to in board.symmetries}
    assert len(board.symmetries) == many
    for goes_to in board.symmetries:
        assert sorted(goes_to.values()) == sorted(board.all_bits)
        assert {sum(goes_to[b] for b in board.all_bits if line & b) for line in board.lines} == set(
            board.lines
        )
        for other in board.symmetries:
            assert tuple(other[goes_to[bit]] for bit in board.all_bits) in ways


@given(mnk_games())
def test_moves_there_and_back(position: MnkPosition) -> None:
    board = position.board
    text = write_moves(position)
    for form in (text, text.replace(" ", ""), text.upper(), _numbers(position)):
        assert read_moves(board, form) == position
        assert read_moves(board, form).history == position.history


def _numbers(position: MnkPosition) -> str:
    places = [position.board.place(bit) for bit in position.history or ()]
    return " ".join(f"{row + 1},{column + 1}" for row, column in places)


@given(mnk_games())
def test_grids_there_and_back(position: MnkPosition) -> None:
    again = read_grid(write_grid(position))
    assert again == position
    assert again.history == (() if position.ply == 0 else None)
    assert read_moves(position.board, write_moves(again)) == position


@given(mnk_games(), st.data())
def test_undo_and_symmetry(position: MnkPosition, data: st.DataObject) -> None:
    if position.history:
        before = position.undo()
        assert before._play(position.history[-1]) == position
    symmetry = data.draw(st.integers(0, len(position.board.symmetries) - 1))
    turned = position.turned(symmetry)
    assert turned.outcome() == position.outcome()
    assert turned.canonical() == position.canonical()
    assert turned.check() is turned


@pytest.mark.parametrize("text", ["3,3", "3x3", "0,3,3", "3,100,3", "3,3,1", "", "a,b,c"])
def test_bad_boards(text: str) -> None:
    with pytest.raises(BadTextError):
        MnkBoard.parse(text)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("b", BadTextError),
        ("b2 ?", BadTextError),
        ("2,2,1,1", BadTextError),
        ("d1", IllegalPositionError),
        ("a4", IllegalPositionError),
        ("a0", IllegalPositionError),
        ("0,1", IllegalPositionError),
        ("b2 b2", IllegalPositionError),
        ("a1 a2 b1 b2 c1 c2", GameOverError),
    ],
)
def test_bad_moves(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_moves(MnkBoard(3, 3, 3), text)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", BadTextError),
        ("3,3,3 ...", BadTextError),
        ("3,3,3 ... .?. ...", BadTextError),
        ("3,3,3 XX. ... ...", IllegalPositionError),
        ("3,3,3 XXX OOO ...", IllegalPositionError),
        ("3,3,3 XXX OO. O..", IllegalPositionError),
    ],
)
def test_bad_grids(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_grid(text)


def test_impossible_positions() -> None:
    board = MnkBoard(3, 3, 3)
    for first, second in ((1, 1), (board.bit(2, 2) << 2, 0), (-1, 0)):
        with pytest.raises(IllegalPositionError):
            MnkPosition(board, first, second).check()
    with pytest.raises(IllegalPositionError, match="not on the board"):
        MnkPosition(board)._play(1 << 3)
    with pytest.raises(IllegalPositionError, match="take back"):
        MnkPosition(board, 1, 0).undo()
    apart = read_moves(MnkBoard(3, 5, 3), "a1 a2 b1 b2 c1")
    two_lines = MnkPosition(apart.board, apart.first | apart.first << 12, apart.second)
    assert find_order(two_lines) is None
    with pytest.raises(IllegalPositionError, match="no order"):
        write_moves(two_lines)


def test_two_lines_at_once_need_a_shared_last_stone() -> None:
    board = MnkBoard(3, 3, 3)
    crossed = read_grid("3,3,3 XOX OXO XOX")
    assert crossed.outcome() == -1
    assert cells_text(board, find_order(crossed) or ()).endswith(cell_text(board, board.bit(1, 1)))


def test_empty_forms() -> None:
    board = MnkBoard(3, 3, 3)
    assert read_moves(board, "-") == read_moves(board, "") == MnkPosition(board)
    assert write_moves(MnkPosition(board)) == ""
    assert (board.name, str(board)) == ("mnk-3x3-connect3", "mnk 3x3")
