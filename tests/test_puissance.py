"""Puissance Plus: rules, text, tables and the plausible-move filter, against a plain twin."""

from pathlib import Path

import naive_puissance
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_puissance import Rules, has_run
from strategies import published

from retro.errors import BadTextError, GameOverError, IllegalPositionError, WrongBoardError
from retro.games.cells import cell_text
from retro.games.grid import GridPosition
from retro.games.mnk import MnkBoard
from retro.games.puissance import GAME, PuissanceBoard, plausible_moves, read_board, values_text
from retro.search.ladder import search
from retro.search.mnk_game import MnkGame
from retro.walk import keyed

SMALL = [
    Rules(2, 2, 3, "1213"),
    Rules(2, 3, 5, "123231"),
    Rules(3, 2, 4, "112233"),
    Rules(3, 3, 5, "121232121"),
    Rules(3, 3, 5, "111222333"),
    Rules(3, 3, 3, "111111111"),
]


def board_of(game: Rules) -> PuissanceBoard:
    rows = [game.values[i : i + game.cols] for i in range(0, len(game.values), game.cols)]
    return read_board(f"{game.cols}x{game.rows}", str(game.target), "/".join(rows))


def position_of(board: PuissanceBoard, text: str) -> GridPosition:
    """A position of the plain twin's text; its history is not known."""
    return GAME.read_position(board, f"{board.cols}x{board.rows} {text}")


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_every_position_and_its_value(game: Rules) -> None:
    board = board_of(game)
    layers = keyed.solve(keyed.prepare(GAME.rules(board)))
    table = {
        (a, 0): value
        for layer in layers
        for a, value in zip(layer.keys.a.tolist(), layer.values.tolist(), strict=True)
    }
    truth = naive_puissance.values(game)
    for text, value in truth.items():
        position = position_of(board, text)
        images = [GAME.state(position.turned(i)) for i in range(len(board.symmetries))]
        found = [table[image] for image in images if image in table]
        assert found == [] if position.is_over() else set(found) == {value}
        assert position.outcome() in (None, value)
    assert sum(layer.counts.every.positions for layer in layers) == len(truth)


@pytest.mark.parametrize(
    "row",
    published("puissance_plus.csv"),
    ids=lambda row: f"{row['weights_rowmajor']}-{row['target']}-{row['minlen']}",
)
def test_published_values_and_counts(row: dict[str, int]) -> None:
    """The column minlen is the shortest winning run; no row of 1 has a cell worth the target."""
    board = board_of(Rules(row["rows"], row["cols"], row["target"], str(row["weights_rowmajor"])))
    assert max(board.values) < board.target
    layers = keyed.solve(keyed.prepare(GAME.rules(board)))
    assert sum(layer.counts.every.positions for layer in layers) == row["positions"]
    assert sum(layer.counts.canonical.positions for layer in layers) == row["canonical_positions"]
    assert int(layers[0].values[0]) == {"W": 1, "D": 0, "L": -1}[row["value"]]
    assert len(board.symmetries) == row["num_symmetries"]
    # There a run counts when it cannot do without its last cell; here neither without its first.
    # On 111/222/333 five runs 1 2 3 go on from 2 3, which wins alone.
    extra = 5 if row["weights_rowmajor"] == 111222333 else 0
    assert len(set(board.lines)) == len(board.lines) == row["num_minimal_winning_segments"] - extra


@st.composite
def stones_on_boards(draw):
    rows, cols = draw(st.integers(2, 6)), draw(st.integers(2, 6))
    cells = rows * cols
    values = draw(st.text("123", min_size=cells, max_size=cells))
    game = Rules(rows, cols, draw(st.integers(1, 12)), values)
    return game, draw(st.text("XO.", min_size=cells, max_size=cells))


@given(stones_on_boards())
def test_lines_are_the_runs_that_win(drawn: tuple[Rules, str]) -> None:
    game, text = drawn
    board = board_of(game)
    for player in "XO":
        stones = sum(
            board.bit(game.rows - 1 - cell // game.cols, cell % game.cols)
            for cell, stone in enumerate(text)
            if stone == player
        )
        assert board.has_line(stones) == has_run(game, text, player)


@given(stones_on_boards())
def test_symmetries_keep_the_values(drawn: tuple[Rules, str]) -> None:
    board = board_of(drawn[0])
    for way in board.symmetries:
        assert all(board.worth[bit] == board.worth[to] for bit, to in way.items())
        turned = {sum(way[b] for b in board.all_bits if line & b) for line in board.lines}
        assert turned == set(board.lines)


def test_all_ones_is_the_mnk_game() -> None:
    for cols, rows, k in ((3, 3, 3), (5, 4, 4), (4, 2, 2)):
        ones = read_board(f"{cols}x{rows}", str(k), "ones")
        assert set(ones.lines) == set(MnkBoard(rows, cols, k).lines)


@pytest.mark.parametrize("game", SMALL[:4], ids=str)
def test_the_search_agrees(game: Rules) -> None:
    start = naive_puissance.EMPTY * (game.rows * game.cols)
    assert search(MnkGame(board_of(game))).value == naive_puissance.values(game)[start]


def test_patterns_and_files(tmp_path: Path) -> None:
    assert values_text(read_board("3x3", "5", "diamond")) == "121/232/121"
    assert values_text(read_board("4x4", "5", "diamond")) == "1221/2332/2332/1221"
    assert values_text(read_board("5x5", "5", "rings")) == "11111/12221/12321/12221/11111"
    (tmp_path / "values").write_text("1 2 3  # the top row\n\n3 2 1\n")
    board = read_board("3x2", "5", str(tmp_path / "values"))
    assert values_text(board) == "123/321"
    assert board.worth[board.bit(1, 2)] == 3
    size, options = GAME.describe(board)
    assert GAME.parse(size, options) == board
    assert GAME.parse("3x3", {}) == read_board("3x3", "5", "diamond")


@pytest.mark.parametrize(
    ("size", "target", "values"),
    [
        ("1x3", "5", "ones"),
        ("3x51", "5", "ones"),
        ("3", "5", "ones"),
        ("3x3", "five", "ones"),
        ("3x3", "0", "ones"),
        ("3x3", "5", "121/232"),
        ("3x3", "5", "121/232/12"),
        ("3x3", "5", "121/242/121"),
        ("3x3", "5", "no-such-pattern"),
    ],
)
def test_bad_boards(size: str, target: str, values: str) -> None:
    with pytest.raises(BadTextError):
        read_board(size, target, values)


def test_bad_files(tmp_path: Path) -> None:
    (tmp_path / "values").write_text("a b c\n")
    with pytest.raises(BadTextError, match="rows of digits"):
        read_board("3x2", "5", str(tmp_path / "values"))


def test_positions_as_text() -> None:
    board = read_board("3x3", "5", "diamond")
    after = GAME.read_position(board, "b2 a1")
    assert GAME.read_position(board, "2,2 1,1") == after
    assert GAME.read_position(board, "3x3 1.1 2X2 O21") == after
    assert GAME.draw(after) == "  3  1 2 1\n  2  2 X 2\n  1  O 2 1\n     a b c"
    won = after.play(GAME.read_move(after, "b3"))
    assert won.over_message() == "the game is over: the first player has a run worth 5"
    for text, error in [
        ("b2 a1 b3 c3", GameOverError),
        ("b2 b2", IllegalPositionError),
        ("d1", IllegalPositionError),
        ("?", BadTextError),
        ("3x4 ............", WrongBoardError),
        ("3x3 ...", BadTextError),
        ("3x3 XX.......", IllegalPositionError),
    ]:
        with pytest.raises(error):
            GAME.read_position(board, text)


def test_large_boards_are_played() -> None:
    board = read_board("50x50", "9", "rings")
    position = GAME.read_position(board, "ax50 y25 50,49")
    assert GAME.write_position(position) == "ax50 y25 aw50"
    assert len(position.legal_moves()) == 2497
    assert len(plausible_moves(position)) < 2497


def test_plausible_moves_keep_every_win_at_once() -> None:
    for game in SMALL:
        board = board_of(game)
        for text in naive_puissance.values(game):
            position = position_of(board, text)
            wins = {m for m in position.legal_moves() if position.play(m).outcome() == -1}
            assert wins <= set(plausible_moves(position))


def test_plausible_moves_drop_every_winning_move_of_this_position() -> None:
    """The counter-example of docs/puissance-plus.md: only the free corners win."""
    game = Rules(3, 3, 3, "111111111")
    board = board_of(game)
    position = GAME.read_position(board, "a1 c3")
    truth = {
        position_of(board, text): value for text, value in naive_puissance.values(game).items()
    }
    winning = [move for move in position.legal_moves() if truth[position.play(move)] == -1]
    assert [cell_text(board, move) for move in winning] == ["c1", "a3"]
    assert not set(winning) & set(plausible_moves(position))
