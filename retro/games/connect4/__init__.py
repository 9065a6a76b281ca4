"""Connect Four on any board: stones fall to the bottom of a column, four in a line win."""

from __future__ import annotations

from retro.games.connect4 import text
from retro.games.connect4.arrays import ARRAYS
from retro.games.connect4.evaluate import EVALUATIONS
from retro.games.connect4.rules import DEFAULT_CONNECT, Connect4Board, Connect4Position
from retro.games.game import Game, Option

GAME: Game[Connect4Board, Connect4Position] = Game(
    name="connect4",
    about="stones fall to the bottom of a column, K in a straight line win",
    options=(Option("connect", "K", "stones in a winning line (default 4)", str(DEFAULT_CONNECT)),),
    players=("X", "O"),
    usual="7x6",
    parse=text.parse,
    describe=text.describe,
    start=Connect4Position,
    read_move=text.read_move,
    write_move=lambda position, move: text.column_text(move),
    read_position=text.read_position,
    columns=True,
    write_position=text.write_moves,
    draw=text.draw,
    arrays=ARRAYS,
    is_grid=text.is_grid,
    move_help="a column: 4",
    in_order=text.centre_first,
    evaluations=EVALUATIONS,
    index="two-halves",
    search="retro.search.connect4.search",
)
