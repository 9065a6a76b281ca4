"""The perfect player of any game that kernels know: by its table, else by the solver.

Plays a move that wins at once; else the first, as the game lists them, that keeps the
value. Values are exact but have no distances, so it wins at leisure. The twin of
`perfect`, which plays Connect Four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retro.games.values import LOSS, WIN
from tablebase.perfect import Advice

if TYPE_CHECKING:
    from tablebase.keyed_oracle import KeyedOracle


class KeyedPerfectPlayer:
    """Plays any game without ever giving away the value of a position.

    >>> from retro.games.catalogue import find_game
    >>> from tablebase.keyed_oracle import KeyedOracle
    >>> game = find_game("mnk")
    >>> start = game.start(game.parse("3x3", {}))
    >>> player = KeyedPerfectPlayer(KeyedOracle(game, start, None, memory_mb=1))
    >>> position = game.read_position(start.board, "b2 b1")
    >>> advice = player.advise(position)
    >>> game.write_move(position, advice.move), advice.value, advice.source
    ('a1', 1, 'search')
    """

    name = "perfect"

    def __init__(self, oracle: KeyedOracle) -> None:
        self._oracle = oracle

    def choose(self, position: Any) -> int:
        return self.advise(position).move

    def told(self, position: Any, move: int) -> None:
        """Looks at the position alone."""

    def advise(self, position: Any) -> Advice:
        """A best move; the position is not over."""
        value, source = self._oracle.value(position)
        after = {move: position.play(move) for move in position.legal_moves()}
        for move, successor in after.items():
            if successor.outcome() == LOSS:
                return Advice(move, WIN, 1, source)
        for move, successor in after.items():
            outcome = successor.outcome()
            if -(self._oracle.value(successor)[0] if outcome is None else outcome) == value:
                return Advice(move, value, None, source)
        raise AssertionError("no move keeps the value of the position")
