"""The perfect player of any game, who answers within about a second where it can.

Value first. The first of these that knows the value of the position gives it, and a
move that keeps it:

    table      that covers the position, if there is one: at once (7x6: its first plies)
    search     is it a win, a draw or a loss, however long that takes

Then speed: with what is left of `seconds` the solver looks for distances, so that of
all moves that keep the value the winner plays the fastest and the loser the slowest.
When time is up before that is known, the move that keeps the value has to do.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Literal, NamedTuple

from retro.answers import RatedMove, order_moves
from retro.deadline import Deadline
from retro.errors import TimeLimitError
from retro.games.values import DRAW, LOSS, WIN
from retro.play.player import Player
from tablebase.oracles import NOT_IN_TABLE

if TYPE_CHECKING:
    from retro.games.game import Position
    from tablebase.oracles import Oracle

DEFAULT_SECONDS = 0.7
FEW_NODES = 1_000


class Advice(NamedTuple):
    """A best move, its value for the player who makes it, and the plies to the end if known."""

    move: int
    value: int
    plies: int | None
    source: Literal["table", "search"]


class Rating(NamedTuple):
    """The moves of a position whose value is known, best first, and those whose is not."""

    known: list[RatedMove]
    unknown: list[str]


class PerfectPlayer(Player):
    """Plays without ever giving away the value of a position.

    Parameters
    ----------
    oracle
        Knows the values. Its time limit is that of a move: `TimeLimitError` when it is over,
        never a guess.
    seconds
        For the search of the fastest win or the slowest loss. The value itself is
        never guessed, so without a table a first move may take longer.

    Examples
    --------
    >>> from tablebase.oracles import oracle
    >>> player = PerfectPlayer(oracle("5x4", memory="16M"))
    >>> player.advise(player.board.position("443"))
    Advice(move=1, value=WIN, plies=17, source='search')
    """

    name = "perfect"

    def __init__(self, oracle: Oracle, *, seconds: float = DEFAULT_SECONDS) -> None:
        self.board = oracle.board
        self._oracle, self._seconds = oracle, seconds

    def choose(self, position: Position) -> int:
        return self.advise(position).move

    def advise(self, position: Position) -> Advice:
        """A best move; the position is not over."""
        clock = Deadline(self._oracle.time_limit, "no move found")
        advice = (
            self._by_table(position) or self._at_once(position) or self._by_search(position, clock)
        )
        if advice.plies is not None or advice.value == DRAW:
            return advice
        try:
            best = self._oracle.best_move(position, clock=clock.within(self._seconds))
        except TimeLimitError:
            return advice
        return Advice(best.number, best.value, best.plies, advice.source)

    def rate(self, position: Position) -> Rating:
        """What every move is worth, as far as that is known within the time of the oracle.

        Each move gets its share of what time is left, so that one that is hard to judge does not
        hide the others.
        """
        moves = self._probe_table(position)
        if moves:
            return Rating(moves, [])
        clock, waiting = Deadline(self._oracle.time_limit), position._in_order()
        found, unknown = [], []
        for number, move in enumerate(waiting):
            share = clock.within(clock.left / (len(waiting) - number))
            rated = self._rate_move(position, move, share)
            if rated is None:
                unknown.append(position._text_of(move))
            else:
                found.append(rated)
        return Rating(order_moves(found), unknown)

    def _rate_move(self, position: Position, move: int, clock: Deadline) -> RatedMove | None:
        try:
            clock.check()  # a short search does not look at it
            return self._oracle.rate_move(position, move, clock=clock)
        except TimeLimitError:
            return None

    def _by_table(self, position: Position) -> Advice | None:
        for best in self._probe_table(position)[:1]:
            return Advice(best.number, best.value, best.plies, "table")
        return None

    def _probe_table(self, position: Position) -> list[RatedMove]:
        """All moves, best first, if a table knows them."""
        for table in self._oracle.tables:
            with contextlib.suppress(*NOT_IN_TABLE):
                return table.probe(position).moves
        return []

    def _at_once(self, position: Position) -> Advice | None:
        """A move that wins at once."""
        for move in position._in_order():
            if position._play(move).outcome() == LOSS:
                return Advice(move, WIN, 1, "search")
        return None

    def _by_search(self, position: Position, clock: Deadline) -> Advice:
        """A move that keeps the value; asks no more than it takes to know one."""
        after = {move: position._play(move) for move in position._in_order()}
        value = self._oracle.value(position, clock=clock)
        if value == LOSS:
            # All moves lose; one that does not lose at once is at least no blunder to look at.
            slow = [move for move in after if self._at_once(after[move]) is None]
            return Advice((slow or list(after))[0], LOSS, None, "search")
        return Advice(self._first_proved(after, value, clock), value, None, "search")

    def _first_proved(self, after: dict[int, Position], value: int, clock: Deadline) -> int:
        """The move that is the cheapest to prove to keep the value.

        The search for the value went through such a move and remembers much of
        it, while a move that gives the value away may take long to refute. So all
        moves are tried with few nodes, then with twice as many, and so on.
        """
        nodes = FEW_NODES
        while True:
            for move, position in after.items():
                clock.check()
                found = self._oracle.solver.solve_within(position, nodes, clock=clock)
                if found is not None and -found.value == value:
                    return move
            nodes *= 2
