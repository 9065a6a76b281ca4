"""Quarto as arrays: an action is a cell for the piece in hand and the piece that is given next.

Cells are numbered row after row from the top, pieces as their hexadecimal digits, "nothing" after
the last piece; gifts without a cell, which only begin a game, come last. With P pieces:

    cell, piece      action = cell * (P + 1) + piece       4x4: a4-0 is 0, d1-f is 270
    cell alone       action = cell * (P + 1) + P           a4 is 16
    piece alone      action = cells * (P + 1) + piece      0 is 272, f is 287

    cells    0  1  2  3
             4  5  6  7      a4 is the cell in the corner at the top left
             8  9 10 11
            12 13 14 15

Planes: the cells that are taken; for each attribute, where its piece has the value 1 (blue, tall,
solid, square); 1 everywhere if a piece is in hand; for each attribute, 1 everywhere if that piece
has the value 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retro.games.arrays import Arrays, gather, places_of, spread
from retro.games.quarto.key import HAND_PLACE
from retro.games.quarto.rules import Action

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.arrays import Cells, Words
    from retro.games.game import States
    from retro.games.quarto.rules import QuartoBoard, QuartoPosition

PLANE_BITS = 16
HAS_HAND = 20  # the place of the bit


def _turned(board: QuartoBoard, cell: int) -> int:
    """A cell counted from the top if it was from below, and back."""
    row, column = divmod(cell, board.side)
    return (board.side - 1 - row) * board.side + column


def action_of(position: QuartoPosition, number: int) -> int:
    """The action of a move.

    >>> from retro.games.catalogue import make_board
    >>> start = make_board("quarto").start()
    >>> start.actions[0], start.play("f").play("a4-0").ply, start.play("f").play(action=0).text
    (272, 2, 'f a4-0')
    """
    board, (cell, piece) = position.board, position.board.action(number)
    if cell is None:
        assert piece is not None
        return board.cells * (board.pieces + 1) + piece
    gift = board.pieces if piece is None else piece
    return _turned(board, cell) * (board.pieces + 1) + gift


def number_of(position: QuartoPosition, action: int) -> int:
    """The move of an action; undoes `action_of`."""
    board = position.board
    cell, piece = divmod(action, board.pieces + 1)
    if cell == board.cells:
        return board.move(Action(None, piece))
    return board.move(Action(_turned(board, cell), None if piece == board.pieces else piece))


def _places(board: QuartoBoard) -> NDArray[np.uint64]:
    return places_of(board.side, board.side, lambda row, column: row * board.side + column)


def _names(board: QuartoBoard) -> tuple[str, ...]:
    values = ("blue", "tall", "solid", "square")[: board.attributes]
    in_hand = (f"1 where the piece in hand is {value}" for value in values)
    return ("taken cells", *values, "1 where a piece is in hand", *in_hand)


def _planes(board: QuartoBoard, states: States) -> Cells:
    places = _places(board)
    bits = range(board.attributes)
    cells = [spread(states.b, places)]
    cells += [spread(states.a >> np.uint64(PLANE_BITS * i), places) for i in bits]
    for place in (HAS_HAND, *(HAND_PLACE + i for i in bits)):
        flag = (states.b >> np.uint64(place) & np.uint64(1)).astype(np.uint8)
        cells.append(np.broadcast_to(flag[:, None, None], cells[0].shape))
    return np.stack(cells, axis=1)


def _words(board: QuartoBoard, planes: Cells) -> tuple[Words, Words]:
    places, bits = _places(board), range(board.attributes)
    flags = planes[:, 1 + board.attributes :, 0, 0].astype(np.uint64)
    a = np.zeros(len(planes), np.uint64)
    b = gather(planes[:, 0], places) | flags[:, 0] << np.uint64(HAS_HAND)
    for i in bits:
        a |= gather(planes[:, 1 + i], places) << np.uint64(PLANE_BITS * i)
        b |= flags[:, 1 + i] << np.uint64(HAND_PLACE + i)
    return a, b


ARRAYS = Arrays(
    rule="(cell from the top left) * (pieces + 1) + piece given, nothing after the last piece; "
    "a piece alone after all cells",
    count=lambda board: board.cells * (board.pieces + 1) + board.pieces,
    action=action_of,
    number=number_of,
    kernel_numbers=lambda board: range((board.cells + 1) * (board.pieces + 1)),
    names=_names,
    shape=lambda board: (board.side, board.side),
    planes=_planes,
    words=_words,
)
