"""Quarto at a glance: what the side to move can still give away.

answers   pairs of a cell and a gift that does not lose at once
parity    safe gifts, if placing the hand changed nothing: who runs out of them loses
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retro.games.quarto.rules import QuartoBoard, QuartoPosition

SURE = 1000  # more than any count of answers


def wins_at(position: QuartoPosition, cell: int) -> bool:
    """Whether the piece in hand completes a line on an empty cell."""
    assert position.hand is not None, "a piece is in hand"
    cells = list(position.cells)
    cells[cell] = position.hand
    return _completes(position.board, cells, cell)


def _completes(board: QuartoBoard, cells: Sequence[int | None], cell: int) -> bool:
    for line in board.lines:
        if cell in line:
            pieces = [piece for i in line if (piece := cells[i]) is not None]
            if len(pieces) == len(line) and board.share(pieces):
                return True
    return False


def safe_gifts(position: QuartoPosition, cell: int | None = None) -> set[int]:
    """The pieces that win nowhere after the hand was placed on a cell (or before it is).

    >>> from retro.games.quarto.rules import QuartoBoard, QuartoPosition
    >>> board = QuartoBoard(2, 2)
    >>> safe_gifts(QuartoPosition(board, (0, None, None, None), 3), 1)
    set()
    """
    board = position.board
    cells = list(position.cells)
    if cell is not None:
        cells[cell] = position.hand
    gifts = set(position.remaining())
    for line in board.lines:
        pieces = [piece for i in line if (piece := cells[i]) is not None]
        if len(pieces) == len(line) - 1:
            gifts = {gift for gift in gifts if not board.share([*pieces, gift])}
    return gifts


def answers(position: QuartoPosition) -> int:
    """Moves of the side to move that do not lose at once; many more if the hand wins."""
    if position.hand is None:
        return 0
    empty = position.empty_cells()
    if any(wins_at(position, cell) for cell in empty):
        return SURE
    if position.placed == position.board.most_placed - 1:
        return 0  # the last piece, and it completes nothing
    return sum(len(safe_gifts(position, cell)) for cell in empty) or -SURE


def parity(position: QuartoPosition) -> int:
    """Odd numbers of safe gifts are good, the fewer the surer; even ones are bad."""
    if position.hand is None:
        return 0
    if any(wins_at(position, cell) for cell in position.empty_cells()):
        return SURE
    count = len(safe_gifts(position))
    worth = position.board.pieces - count
    return worth if count % 2 else -worth


EVALUATIONS = {"answers": answers, "parity": parity}
