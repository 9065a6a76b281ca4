"""A player of Connect Four by Allis' nine rules, who says why.

    at once      completes a line; else never lets the opponent complete one, if that can be helped
    second       plays to a position in which the rules prove a win, else one in which they prove
                 a draw (`allis_proof`); once there is a proof he stays with one
    first        plays to a position from which the second player finds no proof
    otherwise    the second player leaves as few groups unsolved as he can, the first player
                 as many; then what the evaluation of lines likes best, then one by lot

It searches nothing: it looks at the moves, and as the first player at the answers to them.
On boards of odd height nobody controls the zugzwang and the rules do not hold: it refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.errors import WrongBoardError
from retro.games.connect4.allis import require_even_height
from retro.games.connect4.allis_proof import proof, proof_after, unsolved
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.play.evaluations import find_evaluation
from retro.play.player import Player

if TYPE_CHECKING:
    from random import Random

    from retro.games.connect4.allis_proof import Proof
    from retro.games.game import Board, Position
    from retro.games.values import Player as Side


class AllisPlayer(Player):
    """`remark` gives the reason of the last move: the rules used, or what was counted."""

    name = "allis"

    def __init__(self, rng: Random) -> None:
        self.remark = ""
        self.proof: Proof | None = None  # of the last move, if there was one
        self._rng = rng

    def choose(self, position: Position) -> int:
        self.reset(position.board, position.side_to_move)
        assert isinstance(position, Connect4Position), "the board is one of Connect Four"
        self.proof = None
        moves = position._numbers()
        self._rng.shuffle(moves)
        winning = [move for move in moves if position._play(move).winner()]
        if winning:
            self.remark = "completes a line"
            return winning[0]
        safe = [move for move in moves if not _can_win(position._play(move))]
        if len(safe) == 1 and len(moves) > 1:
            self.remark = "every other move lets the opponent complete a line"
            return safe[0]
        if position.side_to_move == "second":
            return self._with_control(position, safe or moves)
        return self._without_control(position, safe or moves)

    def reset(self, board: Board, side: Side) -> None:
        if not isinstance(board, Connect4Board):
            raise WrongBoardError(f"found {board}, wanted a board of Connect Four")
        require_even_height(board)

    def _with_control(self, position: Connect4Position, moves: list[int]) -> int:
        proofs = [found for move in moves if (found := proof_after(position, move)) is not None]
        best = max(proofs, key=lambda found: found.wins, default=None)
        if best is not None and best.move is not None:
            self.proof = best
            self.remark = best.text(position.board)
            return best.move
        left = {move: unsolved(position._play(move)) for move in moves}
        move = max(moves, key=lambda move: (-left[move], _worth(position, move)))
        self.remark = f"no proof; the rules leave {left[move]} groups of the opponent unsolved"
        return move

    def _without_control(self, position: Connect4Position, moves: list[int]) -> int:
        answers = {move: proof(position._play(move)) for move in moves}
        free = [move for move in moves if answers[move] is None]
        if not free:
            found = {move: each for move, each in answers.items() if each is not None}
            move = min(found, key=lambda move: found[move].wins)
            self.proof = found[move]
            self.remark = f"cannot prevent it: {found[move].text(position.board)}"
            return move
        left = {move: _fewest_left(position._play(move)) for move in free}
        move = max(free, key=lambda move: (left[move], _worth(position, move)))
        self.remark = f"no answer has a proof; each leaves {left[move]} groups unsolved or more"
        return move


def _can_win(position: Connect4Position) -> bool:
    """Whether the side to move completes a line at once."""
    return any(position._play(move).winner() for move in position._numbers())


def _worth(position: Connect4Position, move: int) -> int:
    """What the evaluation of lines says of a move, for who makes it."""
    return -find_evaluation(position.board.game_name)(position._play(move))


def _fewest_left(position: Connect4Position) -> int:
    """The groups unsolved after the best answer of the second player."""
    return min(unsolved(position._play(move)) for move in position._numbers())
