"""Quarto: place the piece you were given; a line of pieces that share an attribute wins."""

from __future__ import annotations

from retro.games.game import Game, Option
from retro.games.quarto import text
from retro.games.quarto.arrays import ARRAYS
from retro.games.quarto.evaluate import EVALUATIONS
from retro.games.quarto.rules import QuartoBoard, QuartoPosition

GAME: Game[QuartoBoard, QuartoPosition] = Game(
    name="quarto",
    about="place the piece you were given, then give one; a line that shares an attribute wins",
    options=(
        Option("attributes", "N", "attributes of a piece, 2**N pieces (default 4)", "4"),
        Option(
            "squares",
            "on|off",
            "whether 2x2 squares win, too (default off)",
            "off",
            choices=("off", "on"),
        ),
    ),
    players=("First", "Second"),
    usual="4x4",
    parse=text.parse,
    describe=text.describe,
    start=QuartoPosition,
    read_move=lambda position, word: position.board.move(text.read_action(position.board, word)),
    write_move=lambda position, move: text.move_text(position.board, move),
    read_position=text.read_position,
    write_position=text.write_position,
    draw=text.draw,
    arrays=ARRAYS,
    draws_stones=False,
    is_grid=text.is_grid,
    move_help=(
        "cell-piece: b2-3 or b2-blue tall hollow round; "
        "the first move only gives a piece, the last only places it"
    ),
    legend=text.legend,
    search="retro.search.generic.quarto_engine",
    evaluations=EVALUATIONS,
)
