"""The forced moves of one position, plainly: they are played until the file is to be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.values import LOSS, WIN

if TYPE_CHECKING:
    from retro.games.connect4.rules import Connect4Position


def settle(position: Connect4Position, whole_ply: int) -> tuple[Connect4Position, int, int | None]:
    """Play forced moves until a look decides, or a position is reached that the file has.

    Returns that position, the sign of the moves played, and its value if a look decides it.
    The plain twin of `lookup.settle_many`.
    """
    sign = 1
    while position.ply != whole_ply:
        board, mover, opponent = position.board, position.mover, position.opponent
        threats = []
        for column, cells in enumerate(board.columns):
            cell = ((mover | opponent) & cells) + board.feet[column]
            if not cell & cells:
                continue  # the column is full
            if board.has_line(mover | cell):
                return position, sign, WIN
            if board.has_line(opponent | cell):
                threats.append(column)
        if len(threats) > 1:
            return position, sign, LOSS
        if not threats:
            break
        position, sign = position._play(threats[0]), -sign
        if position.is_over():  # the block filled the board
            return position, sign, position.outcome()
    return position, sign, None
