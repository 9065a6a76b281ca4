"""Domineering as it looks: dominoes where the moves are known, covered cells where not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.cells import cell_text
from retro.games.domineering.rules import OTHER, DomineeringPosition
from retro.games.domineering.text import LETTER, SIDES
from retro.games.scene import (
    Mark,
    Palette,
    Scene,
    Spot,
    Symbol,
    letters,
    numbers,
    one_mark,
    read_grid,
)

if TYPE_CHECKING:
    from retro.games.domineering.rules import DomineeringBoard, Side
    from retro.games.scene import Place, Places
    from retro.games.values import Player


def scene(position: DomineeringPosition) -> Scene:
    """The scene; a domino is clicked on either cell: the nearer of two is meant."""
    board = position.board
    dominoes = _dominoes(position)
    laid = {place for mark in dominoes for place in mark.places}
    holes = [
        Mark("hole", (place,))
        for cell in range(board.cells)
        if position.covered >> cell & 1 and (place := _place(board, 1 << cell)) not in laid
    ]
    spots = []
    for bit in position._numbers():
        covers = _covers(board, bit, position.turn)
        spots.append(Spot(cell_text(board, bit), covers, covers))
    return Scene(
        board.cols,
        board.rows,
        letters(board.cols),
        numbers(board.rows),
        (*holes, *dominoes),
        tuple(spots),
        last=dominoes[-1].places if dominoes else (),
        extra=LETTER[position.turn],
        mover=position.turn.capitalize(),
    )


def _dominoes(position: DomineeringPosition) -> list[Mark]:
    """The dominoes of the moves that are known, as they were laid."""
    board, side = position.board, position.turn
    found = []
    for bit in reversed(position.history):
        side = OTHER[side]
        found.append(Mark("domino", _covers(board, bit, side), _owner(board, side)))
    return found[::-1]


def _covers(board: DomineeringBoard, bit: int, side: Side) -> Places:
    return _place(board, bit), _place(board, bit << board.step(side))


def _place(board: DomineeringBoard, bit: int) -> Place:
    row, column = board.place(bit)
    return column, row


def palette(board: DomineeringBoard) -> Palette:
    extra = tuple(
        Symbol(letter, f"{side.capitalize()} to move", _domino(board, side))
        for letter, side in SIDES.items()
    )
    covered = Symbol("X", "a covered cell", one_mark("hole"))
    return Palette(board.cols, board.rows, (covered,), "to move", extra)


def _domino(board: DomineeringBoard, side: Side) -> Mark:
    """A domino of a side, wherever it lies."""
    other = (0, 1) if side == "vertical" else (1, 0)
    return Mark("domino", ((0, 0), other), _owner(board, side))


def _owner(board: DomineeringBoard, side: Side) -> Player:
    return "first" if side == board.first else "second"


def set_up(board: DomineeringBoard, grid: str) -> DomineeringPosition:
    """Any set of covered cells, and who is to move; by default who starts."""
    cells, side = read_grid(palette(board), grid)
    covered = sum(board.bit(row, column) for column, row in cells)
    turn = SIDES[side] if side else board.first
    return DomineeringPosition(board, covered, turn).check()
