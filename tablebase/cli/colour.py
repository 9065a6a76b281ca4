"""Colour on a terminal: stones and values as the page has them; never where output is piped away.

    X  amber      WIN   green       as everywhere, letters say it all; colour only helps
    O  blue       DRAW  bold        NO_COLOR, TERM=dumb or a pipe: plain text
                  LOSS  magenta

Whose stone lies where the game's scene says, so no game is known here.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from retro.games.game import Position

Style = Literal["plain", "brackets", "colour"]
RESET = "\x1b[0m"
_VALUES = {1: "\x1b[1;32m", 0: "\x1b[1m", -1: "\x1b[1;35m"}
_OWNERS = {"first": "\x1b[1;33m", "second": "\x1b[1;34m"}


def find_style() -> Style:
    """How boards are marked on standard output."""
    if not sys.stdout.isatty():
        return "plain"
    no_colour = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return "brackets" if no_colour else "colour"


def paint_value(text: str, value: int) -> str:
    """Text in the colour of a value, on a terminal.

    >>> paint_value("WIN", 1)  # piped away
    'WIN'
    """
    return f"{_VALUES[value]}{text}{RESET}" if find_style() == "colour" else text


def paint_board(position: Position) -> str:
    """The board as text, its stones in the colours of their owners, on a terminal."""
    rows = str(position).splitlines()
    if find_style() != "colour":
        return "\n".join(rows)
    from retro.games.scene import scene_of  # what is piped away does without

    scene = scene_of(position)
    owners = {place: mark.owner for mark in scene.marks for place in mark.places if mark.owner}
    for from_top in range(scene.rows):
        words = re.split(r"(\s+)", rows[from_top])  # words and what is between them, in turn
        places = [number for number, word in enumerate(words) if word.strip()][-scene.cols :]
        for column, number in enumerate(places):
            owner = owners.get((column, scene.rows - 1 - from_top))
            if owner is not None:
                words[number] = f"{_OWNERS[owner]}{words[number]}{RESET}"
        rows[from_top] = "".join(words)
    return "\n".join(rows)
