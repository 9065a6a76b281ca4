"""Quarto as the plain search sees it, and what a position looks worth at a glance.

`QuartoGame` feeds the ladder: the plain twin of `quarto_engine`, and its oracle.
The evaluations serve players that look a few plies ahead; both count what the
side to move can still give away:

    answers   pairs of a cell and a gift that does not lose at once
    parity    safe gifts, if placing the hand changed nothing: who runs out of them loses
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.quarto import QuartoBoard, QuartoPosition

if TYPE_CHECKING:
    from collections.abc import Sequence

SURE = 1000  # more than any count of answers


class QuartoGame:
    """The rules, and one hook: only winning placements and safe gifts are worth a search.

    >>> game = QuartoGame(QuartoBoard(2, 2))
    >>> len(game.moves(game.start()))
    4
    """

    def __init__(self, board: QuartoBoard) -> None:
        self.board = board

    def start(self) -> QuartoPosition:
        return QuartoPosition(self.board)

    def moves(self, state: QuartoPosition) -> Sequence[int]:
        return state.legal_moves()

    def play(self, state: QuartoPosition, move: int) -> QuartoPosition:
        return state.play(move)

    def outcome(self, state: QuartoPosition) -> int | None:
        return state.outcome()

    def side_to_move(self, state: QuartoPosition) -> int:
        return -1 if state.ply % 2 else 1

    def key(self, state: QuartoPosition) -> int:
        """The cells and the hand as digits of a number."""
        key = 0
        for piece in (*state.cells, state.hand):
            key = key * (self.board.pieces + 1) + (0 if piece is None else piece + 1)
        return key

    def plies_left(self, state: QuartoPosition) -> int:
        return self.board.most_placed + 1 - state.ply

    def candidates(self, state: QuartoPosition) -> Sequence[int]:
        """A win at once, else the moves that do not let the opponent win at once, else any."""
        moves = state.legal_moves()
        if state.hand is None:
            return moves[:1]  # nothing is on the board yet: all pieces are equal
        safe = {cell: safe_gifts(state, cell) for cell in state.empty_cells()}
        kept = []
        for move in moves:
            cell, piece = self.board.action(move)
            if cell is not None and piece is None and wins_at(state, cell):
                return [move]
            if piece is None or (cell is not None and piece in safe[cell]):
                kept.append(move)
        return kept or moves[:1]


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
