"""Notakto: both players put crosses on a grid; who completes a line of K loses."""

from __future__ import annotations

from retro.games.cells import cell_text, read_cell
from retro.games.game import Game, Option
from retro.games.grid_arrays import CROSSES
from retro.games.notakto import text
from retro.games.notakto.rules import NotaktoBoard, NotaktoPosition

GAME: Game[NotaktoBoard, NotaktoPosition] = Game(
    name="notakto",
    about="all stones are crosses, who completes K in a straight line loses",
    options=(Option("connect", "K", "stones in a losing line (default 3)", "3"),),
    players=("First", "Second"),
    usual="3x3",
    parse=text.parse,
    describe=text.describe,
    start=NotaktoPosition,
    read_move=lambda position, word: read_cell(position.board, word),
    write_move=lambda position, move: cell_text(position.board, move),
    read_position=text.read_position,
    write_position=text.write_position,
    draw=text.draw,
    arrays=CROSSES,
    move_help="a cell: b2",
)
