"""Quarto as it looks: pieces by colour, height, top and shape; one in hand, the rest in stock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.quarto.rules import QuartoPosition
from retro.games.quarto.text import action_text, piece_name
from retro.games.scene import (
    Mark,
    Palette,
    Scene,
    Spot,
    Symbol,
    ending_places,
    letters,
    look_of,
    numbers,
    one_mark,
    read_grid,
)

if TYPE_CHECKING:
    from retro.games.quarto.rules import QuartoBoard
    from retro.games.scene import Piece, Place, Places


def scene(position: QuartoPosition) -> Scene:
    """The scene; a move is a click on a cell, then on the piece that is given."""
    board = position.board
    marks = [
        Mark("piece", (_place(board, cell),), None, _look(board, piece))
        for cell, piece in enumerate(position.cells)
        if piece is not None
    ]
    spots = []
    for action in position.legal_actions():
        covers: Places = () if action.cell is None else (_place(board, action.cell),)
        spots.append(Spot(action_text(board, action), covers, covers, action.piece))
    last = board.action(position.history[-1]).cell if position.history else None
    return Scene(
        board.side,
        board.side,
        letters(board.side),
        numbers(board.side),
        tuple(marks),
        tuple(spots),
        ending_places(position),
        () if last is None else (_place(board, last),),
        stock=tuple(_look(board, piece) for piece in position.remaining()),
        hand=None if position.hand is None else _look(board, position.hand),
        extra="" if position.hand is None else f"{position.hand:x}",
    )


def _look(board: QuartoBoard, piece: int) -> Piece:
    return look_of(piece, piece_name(board, piece))


def _place(board: QuartoBoard, cell: int) -> Place:
    row, column = divmod(cell, board.side)
    return column, row


def palette(board: QuartoBoard) -> Palette:
    looks = [_look(board, piece) for piece in range(board.pieces)]
    pieces = tuple(
        Symbol(f"{look.number:x}", look.words, one_mark("piece", piece=look)) for look in looks
    )
    return Palette(board.side, board.side, pieces, "in hand", pieces)


def set_up(board: QuartoBoard, grid: str) -> QuartoPosition:
    """A position that play could have led to; the piece in hand after the comma."""
    found, hand = read_grid(palette(board), grid)
    pieces: list[int | None] = [None] * board.cells
    for (column, row), symbol in found.items():
        pieces[row * board.side + column] = int(symbol, 16)
    return QuartoPosition(board, tuple(pieces), int(hand, 16) if hand else None).check()
