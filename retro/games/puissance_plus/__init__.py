"""Puissance Plus: stones in a straight run, worth as much as the cells they lie on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games import grid_text
from retro.games.cells import cell_text, read_cell
from retro.games.game import Game, Option, Preset
from retro.games.grid import GridPosition
from retro.games.grid_arrays import ARRAYS
from retro.games.puissance_plus import text
from retro.games.puissance_plus.evaluate import EVALUATIONS, FILTERS
from retro.games.puissance_plus.text import DEFAULT_TARGET, DEFAULT_VALUES, PATTERNS

if TYPE_CHECKING:
    from retro.games.puissance_plus.rules import PuissanceBoard

GAME: Game[PuissanceBoard, GridPosition] = Game(
    name="puissance-plus",
    about="free placement, a straight run of cells worth N in all wins",
    options=(
        Option("target", "N", f"what a run must total (default {DEFAULT_TARGET})", DEFAULT_TARGET),
        Option(
            "values",
            "ROWS",
            f"121/232/121, a file, or {', '.join(PATTERNS)} (default {DEFAULT_VALUES})",
            DEFAULT_VALUES,
            rf"{'|'.join(PATTERNS)}|[0-9]+(/[0-9]+)*",
        ),
    ),
    players=("X", "O"),
    usual="8x8",
    parse=text.parse,
    describe=text.describe,
    start=GridPosition,
    read_move=lambda position, word: read_cell(position.board, word),
    write_move=lambda position, move: cell_text(position.board, move),
    read_position=text.read_position,
    write_position=grid_text.write_moves,
    draw=text.draw,
    arrays=ARRAYS,
    is_grid=text.is_grid,
    legend=text.legend,
    move_help="a cell: d4",
    search_large="retro.search.ladder.mnk_game",
    evaluations=EVALUATIONS,
    filters=FILTERS,
    # See docs/puissance-plus.md for how it was chosen.
    preset=Preset("X wins this board in three plies", "8x8", {"target": "12", "values": "rings"}),
)
