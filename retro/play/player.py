"""What a player is: the small protocol that the referee speaks.

    reset(board, side)        a game begins; `side` is "first" or "second"
    choose(position) -> move  a legal move of a position that is not over
    observe(position, move)   a move, own or other, is about to be made in this position
    close()                   no more games

Only `choose` has to be written. What a player knows about its last move it may leave in
`nodes` and `remark`, and while it thinks the best move so far in `found`: whoever has had
enough (Ctrl-C) takes that. A player that thinks long calls `report(nodes, seconds)` now and
then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from retro.games.game import Board, Position
    from retro.games.values import Player as Side


def _silent(nodes: int, seconds: float) -> None:
    """Nobody watches."""


class Player:
    """Who plays."""

    name: str = "player"
    nodes: int | None = None  # positions looked at, or playouts, before the last move
    remark: str = ""  # why the last move, in one line
    keeps_time: bool = False  # says itself when it was too slow
    found: int | None = None  # the best move so far while it chooses
    report: Callable[[int, float], None] = staticmethod(_silent)

    def reset(self, board: Board, side: Side) -> None:
        """A game begins."""

    def choose(self, position: Position) -> int:
        """A legal move; the position is not over."""
        raise NotImplementedError

    def observe(self, position: Position, move: int) -> None:
        """A move, own or other, was chosen in this position."""

    def close(self) -> None:
        """No more games."""
