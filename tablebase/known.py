"""Counts of whole boards that come with the package: positions, wins, draws, losses, ply by ply."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from retro.errors import MissingTableError
from retro.games.catalogue import make_board
from tablebase.answers import Counts

if TYPE_CHECKING:
    from retro.games.game import Board

BUILT, TICTACTOE = "connect4_built.csv", "tictactoe_3x3_per_ply.csv"


def counts(board: Board | str) -> list[Counts]:
    """The legal positions of a board, ply by ply, as a table of it counts them, without one.

    >>> [(of.positions, of.win, of.draw, of.loss) for of in counts("7x6")][:3]
    [(1, 1, 0, 0), (7, 4, 2, 1), (49, 27, 12, 10)]
    >>> sum(of.positions for of in counts("7x6"))
    4531985219092
    """
    asked = make_board(board)
    known = _known()
    if asked.title not in known:
        raise MissingTableError(
            f"no counts of {asked.title} come with the package; those of {', '.join(known)} do"
        )
    return known[asked.title]


@cache
def _known() -> dict[str, list[Counts]]:
    found: dict[str, list[Counts]] = {}
    for row in _rows(BUILT):
        board = make_board(f"{row['width']}x{row['height']}", connect=row["connect"])
        full = int(row["ply"]) == board.cells  # no line, but the rules end the game
        terminal = int(row["positions" if full else "terminal"])
        counted = _counts(row, terminal, None)
        found.setdefault(board.title, []).append(counted)
    title = make_board("tictactoe").title
    for row in _rows(TICTACTOE):
        terminal = int(row["terminal_wins"]) + int(row["terminal_draws"])
        counted = _counts(row, terminal, int(row["canonical"]))
        found.setdefault(title, []).append(counted)
    return found


def _counts(row: dict[str, str], terminal: int, classes: int | None) -> Counts:
    ply, positions, win, draw, loss = (
        int(row[name]) for name in ("ply", "positions", "win", "draw", "loss")
    )
    return Counts(ply, positions, win, draw, loss, terminal, classes, row.get("sha256", ""))


def _rows(name: str) -> list[dict[str, str]]:
    with files("tablebase").joinpath("data", name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))
