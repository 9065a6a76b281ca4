"""The boards on which every game is tried, in one place: a new game is a folder and a line here.

Tests over the catalogue (`games/test_catalogue.py`, `tables/test_every_game.py`) ask
nothing of a game but what `retro.games.game` promises.
"""

from dataclasses import replace
from typing import NamedTuple

import tablebase as tb
from retro.games.catalogue import make_board


class Case(NamedTuple):
    """Boards of one game, as text that `make_board` reads after the game's name."""

    small: str  # every position of it is tried
    shown: str  # asked by every command: small, but with something to say
    boards: tuple[str, ...]  # tried by random play: some shapes, and the largest that kernels take


CASES = {
    "connect4": Case(
        "4x3 connect=3", "4x3 connect=3", ("4x4", "3x5 connect=3", "7x6", "1x5 connect=2", "9x6")
    ),
    "domineering": Case("4x3", "3x4", ("3x3", "5x4", "6x6", "8x8")),
    "mnk": Case("3x2", "3x3", ("3x3", "4x4 connect=4", "7x6 connect=4", "17x2", "8x8 connect=5")),
    "notakto": Case("3x3", "3x3", ("4x3 connect=2", "5x5", "8x8 connect=4")),
    "puissance-plus": Case(
        "3x2 target=4 values=121/232",
        "3x3 target=5 values=121/232/121",
        ("3x3 target=5", "5x4 values=rings", "7x7", "8x8"),
    ),
    "quarto": Case("2x2 attributes=2", "2x2 attributes=2", ("3x3 attributes=3", "4x4")),
}


def small_board(name):
    """The small board of a game."""
    return make_board(name, CASES[name].small)


def impossible(board):
    """{what is wrong: a position} of what a program may put together, and no board can show."""
    start, off = board.start(), 1 << 200
    if board.game_name == "quarto":
        cells, last = start.cells, board.pieces
        wrong = {
            "outside": {"cells": (0, *cells), "hand": 1},
            "no such piece": {"cells": (last, *cells[1:]), "hand": 1},
            "twice": {"cells": (0, 0, *cells[2:]), "hand": 1},
        }
    elif board.game_name == "domineering":
        wrong = {"outside": {"covered": off}, "below": {"covered": -1}}
    elif board.game_name == "notakto":
        wrong = {"outside": {"crosses": off}, "below": {"crosses": -1}}
    else:
        wrong = {
            "outside": {"first": off},
            "below": {"first": -1},
            "twice": {"first": 1, "second": 1},
        }
    if board.game_name == "connect4":
        first, second = (sum(1 << row for row in range(at, board.height + 1, 2)) for at in (0, 1))
        wrong["above a column"] = {"first": first, "second": second}
    known = {} if board.game_name == "domineering" else {"history": None}
    return {name: replace(start, **fields, **known) for name, fields in wrong.items()}


def build_small(name, folder):
    """The small board of a game, its table built in a folder."""
    board = small_board(name)
    tb.build(board, folder=folder)
    return board


def all_boards(name):
    """Every board of a game, the small one first."""
    return [make_board(name, text) for text in (CASES[name].small, *CASES[name].boards)]
