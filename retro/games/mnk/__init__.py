"""m,n,k-games: free placement on a grid, k in a straight line win; 3,3,3 is tic-tac-toe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games import grid_text
from retro.games.cells import cell_text, read_cell
from retro.games.game import Game, Option
from retro.games.grid import GridPosition
from retro.games.grid_arrays import ARRAYS
from retro.games.mnk import text
from retro.games.mnk.evaluate import EVALUATIONS, FILTERS

if TYPE_CHECKING:
    from retro.games.mnk.rules import MnkBoard

GAME: Game[MnkBoard, GridPosition] = Game(
    name="mnk",
    about="free placement, K stones in a straight line win",
    options=(Option("connect", "K", "stones in a winning line (default 3)", "3"),),
    players=("X", "O"),
    usual="3x3",
    parse=text.parse,
    describe=text.describe,
    start=GridPosition,
    read_move=lambda position, word: read_cell(position.board, word),
    write_move=lambda position, move: cell_text(position.board, move),
    read_position=text.read_position,
    write_position=grid_text.write_moves,
    draw=grid_text.draw,
    arrays=ARRAYS,
    is_grid=text.is_grid,
    move_help="a cell: b2",
    search_large="retro.search.ladder.mnk_game",
    evaluations=EVALUATIONS,
    filters=FILTERS,
)
