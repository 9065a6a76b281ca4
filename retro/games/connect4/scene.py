"""Connect Four as it looks: discs that fall into columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.connect4.rules import Connect4Position
from retro.games.connect4.text import COLUMN_CHARACTERS, column_text
from retro.games.scene import (
    Palette,
    Scene,
    Spot,
    Symbol,
    ending_places,
    marks_of,
    one_mark,
    read_grid,
)

if TYPE_CHECKING:
    from retro.games.connect4.rules import Connect4Board
    from retro.games.scene import Place


def scene(position: Connect4Position) -> Scene:
    """The scene; a column takes a click anywhere."""
    board = position.board
    last: tuple[Place, ...] = ()
    if position.history:
        last = ((position.history[-1], position.height(position.history[-1]) - 1),)
    return Scene(
        board.width,
        board.height,
        tuple(COLUMN_CHARACTERS[: board.width]),
        (),
        marks_of(
            {
                "first": ("disc", _places(board, position.first)),
                "second": ("disc", _places(board, position.second)),
            }
        ),
        tuple(_spot(position, column) for column in position._numbers()),
        ending_places(position),
        last,
        falls=True,
    )


def _spot(position: Connect4Position, column: int) -> Spot:
    cells = tuple((column, row) for row in range(position.board.height))
    return Spot(column_text(column), ((column, position.height(column)),), cells)


def _places(board: Connect4Board, stones: int) -> list[Place]:
    return [
        (column, row)
        for row in range(board.height)
        for column in range(board.width)
        if stones & board.bit(column, row)
    ]


def palette(board: Connect4Board) -> Palette:
    first, second = board.game.players
    symbols = (
        Symbol("X", f"a disc of {first}", one_mark("disc", "first")),
        Symbol("O", f"a disc of {second}", one_mark("disc", "second")),
    )
    return Palette(board.width, board.height, symbols)


def set_up(board: Connect4Board, grid: str) -> Connect4Position:
    """A position that the rules could show; the counts tell who is to move."""
    cells, _ = read_grid(palette(board), grid)
    first, second = (
        sum(board.bit(*place) for place, symbol in cells.items() if symbol == mine)
        for mine in ("X", "O")
    )
    return Connect4Position(board, first, second).check()
