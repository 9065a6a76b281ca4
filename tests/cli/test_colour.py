"""Colour: on a terminal only, never with NO_COLOR, and without it the same text."""

import re
import sys

import pytest

from retro.games.catalogue import NAMES, make_board
from tablebase.cli.colour import paint_board, paint_value

SMALL = {"quarto": "2x2", "connect4": "4x3"}


def on_terminal(monkeypatch: pytest.MonkeyPatch, colour: bool) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "" if colour else "1")


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("game", NAMES)
def test_stones_are_coloured_and_nothing_else_changes(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    position = make_board(game, SMALL.get(game, "3x3")).start()
    for _ in range(2):
        position = position._play(position._numbers()[0])
    assert paint_board(position) == str(position).rstrip("\n")  # piped away
    on_terminal(monkeypatch, colour=False)
    assert paint_board(position) == str(position).rstrip("\n")
    on_terminal(monkeypatch, colour=True)
    painted = paint_board(position)
    assert plain(painted) == str(position).rstrip("\n")
    owned = game not in ("quarto", "notakto")  # whose stones are nobody's
    assert ("\x1b[1;33m" in painted, "\x1b[1;34m" in painted) == (owned, owned)


def test_values_have_three_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    assert paint_value("WIN", 1) == "WIN"
    on_terminal(monkeypatch, colour=True)
    painted = {paint_value("x", value) for value in (1, 0, -1)}
    assert len(painted) == 3
    assert {plain(text) for text in painted} == {"x"}
