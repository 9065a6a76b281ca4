"""Domineering: dominoes upright or flat, in turn; who cannot move loses."""

from __future__ import annotations

from dataclasses import replace

from retro.games.cells import cell_text
from retro.games.domineering import text
from retro.games.domineering.arrays import ARRAYS
from retro.games.domineering.evaluate import EVALUATIONS
from retro.games.domineering.rules import (
    CLASSES,
    SIDES,
    DomineeringBoard,
    DomineeringPosition,
    outcome_class,
)
from retro.games.game import Classes, Game, Option

GAME: Game[DomineeringBoard, DomineeringPosition] = Game(
    name="domineering",
    about="one lays dominoes upright, the other flat; who cannot move loses",
    options=(
        Option(
            "starts",
            "SIDE",
            "vertical or horizontal (default vertical)",
            "vertical",
            choices=("vertical", "horizontal"),
        ),
    ),
    players=("Vertical", "Horizontal"),  # unless the other one starts
    usual="8x8",
    size_order="ROWSxCOLS",
    parse=text.parse,
    describe=text.describe,
    start=DomineeringPosition.start,
    read_move=text.read_move,
    write_move=lambda position, move: cell_text(position.board, move),
    read_position=text.read_position,
    write_position=text.write_position,
    draw=text.draw,
    arrays=ARRAYS,
    draws_stones=False,
    is_grid=text.is_grid,
    move_help="the lower or left cell of a domino: b3, or counted from 0 as column and row: 1 2",
    classes=Classes(
        option="starts",
        starts=lambda board: {side: replace(board, first=side) for side in SIDES},
        letter=lambda values: outcome_class(values["vertical"], values["horizontal"]),
        meanings=CLASSES,
    ),
    search_large="retro.search.ladder.domineering_game",
    evaluations=EVALUATIONS,
)
