"""Notakto, the example of docs/add-a-game.md: its page is true and its values are known."""

import re
from pathlib import Path

import pytest

from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games.catalogue import NAMES, find_game
from retro.games.notakto import GAME, NotaktoBoard, NotaktoPosition
from tablebase.building.build import build
from tablebase.tables import open_tablebase

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "add-a-game.md").read_text()


def test_the_page_shows_the_code_that_runs() -> None:
    folder = ROOT / "retro" / "games" / "notakto"
    code = "".join(file.read_text() for file in sorted(folder.glob("*.py")))
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) >= 6
    assert [block for block in blocks if block not in code] == []


def test_the_page_names_files_that_are_there() -> None:
    names = re.findall(r"`((?:retro|tests)/[a-z_/]+\.py)`", PAGE)
    assert len(names) > 3
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_one_board_is_won_in_the_centre_only(tmp_path: Path) -> None:
    """T. E. Plambeck and G. Whitehead, The Secrets of Notakto (2013): the first player wins."""
    board = GAME.parse("3x3", {})
    result = build(board, tmp_path / "notakto.h5")
    with open_tablebase(result.path) as table:
        assert table.value == 1
        assert [move.move for move in table.probe("").best] == ["b2"]


def test_who_completes_a_line_loses() -> None:
    over = GAME.read_position(NotaktoBoard(3, 3, 3), "a1 b2 c3")
    assert over.outcome() == 1
    assert over.over_message() == "the game is over: the first player completed 3 in a line"
    with pytest.raises(GameOverError):
        over._play(2)
    full = NotaktoPosition(NotaktoBoard(1, 2, 3), 3, None)
    assert (full.outcome(), full.is_over()) == (0, True)
    assert "a draw" in full.over_message()


def test_set_up_positions_are_written_with_the_losing_stone_last() -> None:
    board = NotaktoBoard(3, 3, 3)
    for text in ("a1 b2 c3", "b1 c1 b3 a1", "a1 a3 c1 c3 b2"):
        position = GAME.read_position(board, text)
        set_up = board.unpack(*position._state)
        assert set_up.history is None
        assert GAME.read_position(board, GAME.write_position(set_up)) == position


@pytest.mark.parametrize(
    ("size", "options"), [("9x8", {}), ("0x3", {}), ("3", {}), ("3x3", {"connect": "1"})]
)
def test_bad_boards(size: str, options: dict[str, str]) -> None:
    with pytest.raises(BadTextError):
        GAME.parse(size, options)


def test_bad_moves() -> None:
    start = NotaktoPosition(NotaktoBoard(3, 3, 3))
    with pytest.raises(IllegalPositionError, match="not on the board"):
        start._play(1 << 9)
    with pytest.raises(IllegalPositionError, match="taken"):
        start._play(1)._play(1)
    with pytest.raises(IllegalPositionError, match="take back"):
        start.undo()
    assert find_game("notakto") is GAME
    assert "notakto" in NAMES
