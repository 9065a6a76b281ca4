"""Notakto as it looks: crosses that are nobody's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.cells import cell_text
from retro.games.notakto.rules import NotaktoPosition
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
    from retro.games.notakto.rules import NotaktoBoard
    from retro.games.scene import Place


def scene(position: NotaktoPosition) -> Scene:
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
        marks_of({None: ("cross", _places(board, position.crosses))}),
        tuple(spots),
        ending_places(position),
        (_place(board, history[-1]),) if history else (),
    )


def _place(board: NotaktoBoard, bit: int) -> Place:
    row, column = board.place(bit)
    return column, row


def _places(board: NotaktoBoard, stones: int) -> list[Place]:
    return [_place(board, bit) for bit in board.all_bits if stones & bit]


def palette(board: NotaktoBoard) -> Palette:
    return Palette(board.cols, board.rows, (Symbol("X", "a cross", one_mark("cross")),))


def set_up(board: NotaktoBoard, grid: str) -> NotaktoPosition:
    """A position that play could have led to."""
    cells, _ = read_grid(palette(board), grid)
    crosses = sum(board.bit(row, column) for column, row in cells)
    return NotaktoPosition(board, crosses, None if crosses else ()).check()
