"""The perfect player of any game that kernels know: its table, and where there is none the solver.

Plays a move that wins at once; else the first, as the game lists them, that keeps the
value. Values are exact but have no distances, so it wins at leisure. The twin of
`perfect`, which plays Connect Four.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from retro.errors import MissingTableError
from retro.games.connect import LOSS, WIN
from tablebase.perfect import DEFAULT_MEMORY_MB, Advice

if TYPE_CHECKING:
    from collections.abc import Callable

    from retro.games.catalogue import PlacementGame
    from retro.search.keyed_search import KeyedSolver
    from tablebase.keyed_probe import KeyedTable
    from tablebase.probe import Source


class KeyedPerfectPlayer:
    """Plays any game without ever giving away the value of a position.

    Parameters
    ----------
    game, board, table
        The game, its board, and an open table or None; whoever opened it closes it.
    memory_mb, time_limit, report
        As `KeyedSolver` has them.

    Examples
    --------
    >>> from retro.games.catalogue import find_game
    >>> game = find_game("mnk")
    >>> board = game.parse("3x3", {})
    >>> player = KeyedPerfectPlayer(game, board, memory_mb=1)
    >>> position = game.read_position(board, "b2 b1")
    >>> advice = player.advise(position)
    >>> game.write_move(position, advice.move), advice.value, advice.source
    ('a1', 1, 'search')
    """

    name = "perfect"

    def __init__(
        self,
        game: PlacementGame,
        board: Any,
        table: KeyedTable | None = None,
        *,
        memory_mb: int = DEFAULT_MEMORY_MB,
        time_limit: float | None = None,
        report: Callable[[int, float], None] = lambda *_: None,
    ) -> None:
        self._game, self._board, self._table = game, board, table
        self._memory_mb, self._time_limit, self._report = memory_mb, time_limit, report

    def choose(self, position: Any) -> int:
        return self.advise(position).move

    def told(self, position: Any, move: int) -> None:
        """Looks at the position alone."""

    def advise(self, position: Any) -> Advice:
        """A best move; the position is not over."""
        value, source = self._value(position)
        after = {move: position.play(move) for move in position.legal_moves()}
        for move, successor in after.items():
            if successor.outcome() == LOSS:
                return Advice(move, WIN, 1, source)
        for move, successor in after.items():
            outcome = successor.outcome()
            if -(self._value(successor)[0] if outcome is None else outcome) == value:
                return Advice(move, value, None, source)
        raise AssertionError("no move keeps the value of the position")

    def _value(self, position: Any) -> tuple[int, Source]:
        """The value of an unfinished position, and who knows it."""
        if self._table is not None:
            try:
                return self._table.probe_wdl(position), "table"
            except MissingTableError:
                pass  # a table of what follows another position
        return self._solver.solve(self._game.state(position)).value, "search"

    @cached_property
    def _solver(self) -> KeyedSolver:
        from retro.search.keyed_search import KeyedSolver

        return KeyedSolver(
            self._game.rules(self._board),
            memory_mb=self._memory_mb,
            time_limit=self._time_limit,
            report=self._report,
        )
