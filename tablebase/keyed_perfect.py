"""The perfect player of any game that kernels know: by its table, else by the solver.

The twin of `perfect`, which plays Connect Four. Value first: a move that wins at once, else
the first, as the game lists them, that keeps the value. Then speed: if the solver finds the
distances within `seconds`, the winner plays the fastest and the loser the slowest move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retro.errors import TimeLimitError
from retro.games.values import DRAW, LOSS, WIN
from tablebase.perfect import DEFAULT_SECONDS, Advice

if TYPE_CHECKING:
    from tablebase.keyed_oracle import KeyedOracle


class KeyedPerfectPlayer:
    """Plays any game without ever giving away the value of a position.

    >>> from retro.games.catalogue import find_game
    >>> from tablebase.keyed_oracle import KeyedOracle
    >>> game = find_game("mnk")
    >>> start = game.start(game.parse("3x3", {}))
    >>> player = KeyedPerfectPlayer(KeyedOracle(game, start, [], memory_mb=1))
    >>> position = game.read_position(start.board, "b2 b1")
    >>> advice = player.advise(position)
    >>> game.write_move(position, advice.move), advice.value, advice.plies, advice.source
    ('a1', 1, 5, 'search')
    """

    name = "perfect"

    def __init__(self, oracle: KeyedOracle, *, seconds: float = DEFAULT_SECONDS) -> None:
        self._oracle, self._seconds = oracle, seconds

    def choose(self, position: Any) -> int:
        return self.advise(position).move

    def told(self, position: Any, move: int) -> None:
        """Looks at the position alone."""

    def advise(self, position: Any) -> Advice:
        """A best move; the position is not over."""
        if self._oracle.is_plain:
            best = self._oracle.best(position)
            return Advice(best.number, best.value, best.plies, "search")
        advice = self._by_value(position)
        if advice.plies is not None or advice.value == DRAW:
            return advice
        try:
            best = self._oracle.fastest(position, self._seconds)
        except TimeLimitError:
            return advice
        return Advice(best.number, best.value, best.plies, advice.source)

    def _by_value(self, position: Any) -> Advice:
        value, source = self._oracle.value(position)
        after = {move: position.play(move) for move in position.legal_moves()}
        for move, successor in after.items():
            if successor.outcome() == LOSS:
                return Advice(move, WIN, 1, source)
        for move, successor in after.items():
            reply = successor.outcome()
            if reply is None:
                reply, _ = self._oracle.value(successor, same_question=True)
            if -reply == value:
                return Advice(move, value, None, source)
        raise AssertionError("no move keeps the value of the position")
