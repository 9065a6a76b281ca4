"""Games on a grid as they look: crosses and rings; what their scenes have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.cells import cell_text
from retro.games.grid import GridPosition
from retro.games.scene import (
    Palette,
    Scene,
    Spot,
    Symbol,
    ending_places,
    letters,
    marks_of,
    numbers,
    one_mark,
    read_grid,
)

if TYPE_CHECKING:
    from retro.games.grid import GridBoard
    from retro.games.scene import Place


def scene(position: GridPosition, worth: tuple[int, ...] = ()) -> Scene:
    """The scene; `worth` is what the cells count, where they do."""
    board, history = position.board, position.history
    spots = []
    for bit in position._numbers():
        places = (_place(board, bit),)
        spots.append(Spot(cell_text(board, bit), places, places))
    return Scene(
        board.cols,
        board.rows,
        letters(board.cols),
        numbers(board.rows),
        marks_of(
            {
                "first": ("cross", _places(board, position.first)),
                "second": ("ring", _places(board, position.second)),
            }
        ),
        tuple(spots),
        ending_places(position),
        (_place(board, history[-1]),) if history else (),
        worth,
    )


def _place(board: GridBoard, bit: int) -> Place:
    row, column = board.place(bit)
    return column, row


def _places(board: GridBoard, stones: int) -> list[Place]:
    return [_place(board, bit) for bit in board.all_bits if stones & bit]


def palette(board: GridBoard) -> Palette:
    first, second = board.game.players
    return Palette(
        board.cols,
        board.rows,
        (
            Symbol("X", f"a cross of {first}", one_mark("cross", "first")),
            Symbol("O", f"a ring of {second}", one_mark("ring", "second")),
        ),
    )


def set_up(board: GridBoard, grid: str) -> GridPosition:
    """A position that play could have led to; the counts tell who is to move."""
    cells, _ = read_grid(palette(board), grid)
    first, second = (
        sum(board.bit(row, column) for (column, row), symbol in cells.items() if symbol == mine)
        for mine in ("X", "O")
    )
    return GridPosition(board, first, second).check()
