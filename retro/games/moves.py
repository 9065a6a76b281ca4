"""A move as people and as programs have it.

    str(move)       its text, as people write it: `4`, `b2`, `b2-3`
    move.action     a number from 0 to `board.num_actions` - 1, the same for the same move in
                    every position of a board

Actions follow the board as people read it, row after row from the top, left to right; each game
says how in its `arrays`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Move:
    """A move of a position; `position.play` takes it.

    >>> from retro.games.catalogue import make_board
    >>> move = make_board("5x4").start().moves[2]
    >>> str(move), move.action, move
    ('3', 2, Move('3', action=2))
    """

    text: str
    action: int

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Move({self.text!r}, action={self.action})"

    def to_dict(self) -> dict[str, str | int]:
        """Plain values, for JSON."""
        return {"move": self.text, "action": self.action}


class MoveNumber(int):
    """The number of a move as a game counts them inside: older programs give it back to `play`."""
