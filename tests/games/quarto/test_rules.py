"""Rules and text forms of Quarto, against a plain twin and drawn games."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain.quarto import QuartoRules, class_of, is_over, is_won, successors, values

from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games.catalogue import find_game
from retro.games.quarto import GAME
from retro.games.quarto.rules import Action, QuartoBoard, QuartoPosition, find_order
from retro.games.quarto.text import (
    move_text,
    read_action,
    read_grid,
    read_moves,
    read_position,
    write_grid,
    write_moves,
)

SMALL = [QuartoRules(2, 1), QuartoRules(2, 2), QuartoRules(2, 3, True), QuartoRules(3, 2)]


def plain(position):
    """A position as the naive twin writes it."""
    cells = "".join("." if piece is None else f"{piece:x}" for piece in position.cells)
    return cells, "" if position.hand is None else f"{position.hand:x}"


def position_of(board, state):
    cells, hand = state
    pieces = tuple(None if piece == "." else int(piece, 16) for piece in cells)
    return QuartoPosition(board, pieces, int(hand, 16) if hand else None)


ANY_BOARD = st.builds(QuartoBoard, st.integers(2, 4), st.integers(1, 4), st.booleans())


@st.composite
def quarto_games(draw, boards=ANY_BOARD):
    """A position that a random legal game reaches, under any rules."""
    board = draw(boards)
    position = QuartoPosition(board)
    for _ in range(draw(st.integers(0, 17))):
        moves = position._numbers()
        if not moves:
            break
        position = position._play(draw(st.sampled_from(moves)))
    return position


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_rules_of_every_position(game: QuartoRules) -> None:
    board = QuartoBoard(*game)
    for state in values(game):
        position = position_of(board, state).check()
        over = is_over(game, state)
        assert position.is_over() == over
        assert position.outcome() == ((-1 if is_won(game, state[0]) else 0) if over else None)
        after = [plain(position._play(move)) for move in position._numbers()]
        assert after == ([] if over else successors(game, state))


@pytest.mark.parametrize(
    ("game", "value", "states"),
    [
        (QuartoRules(2, 2), 1, 100),
        (QuartoRules(2, 3), 1, 520),
        (QuartoRules(3, 2), 0, 2992),
    ],
    ids=str,
)
def test_independent_counts_of_positions_with_a_piece_in_hand(
    game: QuartoRules, value: int, states: int
) -> None:
    """Computed independently; the value is that of whoever places the first piece."""
    known = values(game)
    assert sum(not is_over(game, state) for state in known) == states + 1  # and the empty board
    assert known["." * game.size**2, ""] == -value


@pytest.mark.parametrize(
    ("size", "squares", "many"),
    [(2, False, 24), (2, True, 24), (3, False, 8), (3, True, 8), (4, False, 32), (4, True, 8)],
)
def test_symmetries_form_a_group_and_keep_lines(size: int, squares: bool, many: int) -> None:
    board = QuartoBoard(size, squares=squares)
    ways = set(board.symmetries)
    assert len(ways) == many
    assert tuple(range(board.cells)) in ways
    for way in ways:
        assert {frozenset(way[cell] for cell in line) for line in board.lines} == set(board.lines)
        for other in ways:
            assert tuple(other[cell] for cell in way) in ways


@pytest.mark.parametrize(("attributes", "many"), [(1, 2), (2, 8), (3, 48), (4, 384)])
def test_piece_symmetries_keep_the_number_of_shared_attributes(attributes: int, many: int) -> None:
    board = QuartoBoard(2, attributes)
    assert len(set(board.piece_symmetries)) == many
    for way in board.piece_symmetries:
        assert sorted(way) == list(range(board.pieces))
        for p in range(board.pieces):
            assert all(
                (way[p] ^ way[q]).bit_count() == (p ^ q).bit_count() for q in range(board.pieces)
            )


@pytest.mark.parametrize("game", [QuartoRules(2, 2), QuartoRules(3, 2)], ids=str)
def test_values_are_the_same_over_a_symmetry_class(game: QuartoRules) -> None:
    known = values(game)
    seen = set()
    for state, value in known.items():
        if state not in seen:
            images = class_of(game, state)
            seen |= images
            assert {known[image] for image in images} == {value}


@given(quarto_games(), st.data())
def test_undo_and_symmetry(position: QuartoPosition, data: st.DataObject) -> None:
    if position.history:
        before = position.undo()
        assert before._play(position.history[-1]) == position
        assert before.side_to_move != position.side_to_move
    cells = data.draw(st.sampled_from(position.board.symmetries))
    pieces = data.draw(st.sampled_from(position.board.piece_symmetries))
    turned = position.turned(cells, pieces)
    assert turned.check().outcome() == position.outcome()
    back = [cells.index(cell) for cell in range(position.board.cells)]
    assert turned.turned(back, [pieces.index(p) for p in range(len(pieces))]) == position


@given(quarto_games())
def test_moves_there_and_back(position: QuartoPosition) -> None:
    board, text = position.board, write_moves(position)
    for form in (text, text.replace("-", " "), text.upper()):
        assert read_moves(board, form) == position
        assert read_moves(board, form).history == position.history
    for move in position._numbers():
        assert board.move(read_action(board, move_text(board, move))) == move


@given(quarto_games())
def test_grids_there_and_back(position: QuartoPosition) -> None:
    again = read_position(position.board, write_grid(position))
    assert again == position
    assert again.history == (() if position.ply == 0 else None)
    assert read_moves(position.board, write_moves(again)) == position


@pytest.mark.parametrize("text", ["4", "5x5", "1x1", "4x3", "", "axb"])
def test_bad_boards(text: str) -> None:
    with pytest.raises(BadTextError, match="wanted 2x2, 3x3 or 4x4"):
        GAME.parse(text, {})


@pytest.mark.parametrize(
    "options", [{"attributes": "0"}, {"attributes": "5"}, {"attributes": "x"}, {"squares": "yes"}]
)
def test_bad_options(options: dict[str, str]) -> None:
    with pytest.raises(BadTextError, match=r"wanted (1 to 4|on or off)"):
        GAME.parse("4x4", options)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("z", BadTextError),
        ("f b2-", BadTextError),
        ("f b2-3-4", BadTextError),
        ("f -3", BadTextError),
        ("f b23", BadTextError),
        ("f e1-3", IllegalPositionError),
        ("f a5-3", IllegalPositionError),
        ("a1-3", IllegalPositionError),
        ("f 3", IllegalPositionError),
        ("f a1", IllegalPositionError),
        ("f a1-f", IllegalPositionError),
        ("f a1-3 b1-f", IllegalPositionError),
        ("f a1-3 a1-4", IllegalPositionError),
        ("0 a1-1 b1-2 c1-3 d1-4", IllegalPositionError),
        ("0 a1-1 b1-2 c1-3 d1 4", IllegalPositionError),
        ("0 a1-1 b1-2 c1-3 d1 a2-4", GameOverError),
    ],
)
def test_bad_moves(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_moves(QuartoBoard(4), text)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("....,0", BadTextError),
        (".........,01", BadTextError),
        (".........,", BadTextError),
        ("..?......,0", BadTextError),
        ("..8......,0", IllegalPositionError),  # three attributes only
        (".........,8", IllegalPositionError),
        ("0.0......,1", IllegalPositionError),
        ("0........,0", IllegalPositionError),
        ("0........", IllegalPositionError),  # nothing in hand
        ("012......,3", IllegalPositionError),  # over, but a piece in hand
        ("012 ... 654", IllegalPositionError),  # two lines without a common piece
    ],
)
def test_bad_grids(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_grid(QuartoBoard(3, 3), text)


def test_impossible_positions() -> None:
    board = QuartoBoard(3, 3)
    with pytest.raises(IllegalPositionError, match="cells"):
        QuartoPosition(board, (None,) * 4, 0).check()
    with pytest.raises(IllegalPositionError, match="piece -1"):
        QuartoPosition(board, hand=-1).check()
    with pytest.raises(IllegalPositionError, match="take back"):
        QuartoPosition(board, hand=1).undo()
    with pytest.raises(IllegalPositionError, match="not on the board"):
        QuartoPosition(board, hand=1)._play(board.move(Action(9, 2)))
    cells = (0, 1, 2, None, None, None, 6, 5, 4)
    with pytest.raises(IllegalPositionError, match="no order"):
        write_moves(QuartoPosition(board, cells))


def test_two_lines_at_once_need_a_shared_last_piece() -> None:
    board = QuartoBoard(3, 3)
    crossed = read_grid(board, "0.. 1.. 243")
    order = find_order(crossed)
    assert order is not None
    assert board.action(order[-1]) == Action(0, None)
    assert crossed.outcome() == -1


def test_no_piece_left_is_a_draw() -> None:
    over = read_grid(QuartoBoard(3, 2), "0.1 ... 3.2")
    assert over.outcome() == 0
    assert over.winner() is None
    assert "no piece is left" in over.over_message()


def test_empty_forms() -> None:
    board = QuartoBoard(4, squares=True)
    assert read_moves(board, "-") == read_moves(board, "") == QuartoPosition(board)
    assert write_moves(QuartoPosition(board)) == ""


def test_the_record_for_people() -> None:
    assert find_game("quarto") is GAME
    for size, options in (("4x4", {}), ("3x3", {"attributes": "3"}), ("2x2", {"squares": "on"})):
        board = GAME.parse(size, options)
        assert GAME.parse(*GAME.describe(board)) == board
    assert GAME.parse("3x3", {"attributes": "3"}).name == "quarto-3x3-attributes3"
    assert board.name == "quarto-2x2-attributes4-squareson"
    start = GAME.start(board)
    assert GAME.write_move(start, GAME.read_move(start, "F")) == "f"


@given(quarto_games())
def test_the_record_reads_what_it_writes(position: QuartoPosition) -> None:
    again = GAME.read_position(position.board, GAME.write_position(position))
    assert again == position
    assert again.history == position.history
    turned = position.turned(position.board.symmetries[-1], position.board.piece_symmetries[-1])
    assert GAME.read_position(position.board, GAME.write_position(turned)) == turned
    assert position.board.unpack(*position._state) == position
    assert GAME.draw(position).count("\n") >= position.board.side
