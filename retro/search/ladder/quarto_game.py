"""Quarto as the plain search sees it.

`QuartoGame` feeds the ladder: the plain twin of `generic.quarto_engine`, and its oracle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.quarto.evaluate import answers, safe_gifts, wins_at
from retro.games.quarto.rules import QuartoBoard, QuartoPosition

if TYPE_CHECKING:
    from collections.abc import Sequence


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
        return state._numbers()

    def play(self, state: QuartoPosition, move: int) -> QuartoPosition:
        return state._play(move)

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

    def worth(self, state: QuartoPosition) -> int:
        return answers(state)

    def candidates(self, state: QuartoPosition) -> Sequence[int]:
        """A win at once, else the moves that do not let the opponent win at once, else any."""
        moves = state._numbers()
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
