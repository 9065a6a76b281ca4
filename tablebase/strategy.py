r"""How many positions a perfect player must know: one strategy as a graph, counted, in any game.

A *strategist* plays one chosen best move, the first in the one order of moves
(`retro.answers`); the opponent plays everything. The positions that can then
arise from the root, each counted once however many ways lead to it and apart
from its symmetric images, are a strategy graph:

    . . .     strategist to move: one successor          decide
    | | |
    . . .     opponent to move: all successors           answer
   //|\\\
    . . .     or the game is over                        finished

The winner has a strategy that wins. Where the root is a draw both players have one that
draws, so both are counted. Layers are walked in bulk, as arrays of states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from retro.errors import DoesNotFitError
from retro.games.values import DRAW, LOSS, WIN
from retro.walk.keys.successors import UNDECIDED, Successors, list_successors

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from retro.games.game import Board, Position, States
    from retro.games.values import Player

    Words = NDArray[np.uint64]


class Values(Protocol):
    """Whoever knows the values of many positions: an `Oracle`, a `Table`."""

    def probe_many(self, states: States, /) -> NDArray[np.int8]: ...


class PlyCount(NamedTuple):
    """Positions of one ply of a strategy graph."""

    ply: int
    decide: int  # the strategist is to move
    answer: int  # the opponent is to move
    finished: int


class Strategy(NamedTuple):
    """One player's strategy graph from the root, ply by ply."""

    player: Player
    value: int  # WIN or DRAW, for the strategist
    plies: list[PlyCount]

    @property
    def total(self) -> PlyCount:
        """The sums over all plies; `ply` is the last one."""
        decide, answer, finished = (sum(p[i] for p in self.plies) for i in (1, 2, 3))
        return PlyCount(self.plies[-1].ply, decide, answer, finished)

    @property
    def positions(self) -> int:
        """All positions of the graph."""
        return sum(self.total[1:])


def count_strategies(
    root: Position,
    values: Values,
    *,
    most: int | None = None,
    report: Callable[[Player, PlyCount], None] = lambda *_: None,
) -> list[Strategy]:
    """The strategy graph of the winner, or of both players where the root is a draw.

    A ply of more than `most` positions ends the count with `DoesNotFitError`; `report` is
    called after every ply.

    Examples
    --------
    >>> from tablebase.oracles import oracle
    >>> with oracle("4x3 connect=3", memory="1M") as asked:
    ...     found = count_strategies(asked.board.start(), asked)
    >>> [(strategy.player, strategy.value, strategy.total) for strategy in found]
    [('first', 1, PlyCount(ply=11, decide=35, answer=12, finished=23))]
    """
    mover = root.side_to_move
    other: Player = "second" if mover == "first" else "first"
    value = int(values.probe_many(root.board.states([root]))[0])
    players: tuple[Player, ...] = ("first", "second")
    if value != DRAW:
        players = (mover,) if value == WIN else (other,)
    graph = _Graph(root.board, values, most, report)
    return [Strategy(player, abs(value), graph.walk(root, player)) for player in players]


class _Graph(NamedTuple):
    """What the walk over a graph needs to know."""

    board: Board
    values: Values
    most: int | None
    report: Callable[[Player, PlyCount], None]

    def walk(self, root: Position, player: Player) -> list[PlyCount]:
        """Walk the graph of one strategist, layer by layer."""
        words = (np.array([word], np.uint64) for word in root._state)
        a, b = words
        finished, decides = 0, root.side_to_move == player
        counts = []
        for ply in range(root.ply, self.board.last_ply + 1):
            live = len(a)
            counts.append(PlyCount(ply, live * decides, live * (not decides), finished))
            self.report(player, counts[-1])
            if not live:
                break
            if self.most is not None and live > self.most:
                raise DoesNotFitError(
                    f"ply {ply} of the strategy has {live:,} positions, "
                    f"wanted at most {self.most:,}"
                )
            after = list_successors(self.board, a, b)
            if decides:
                after = self._first_best(after)
            after = _distinct(after)
            over = after.outcome != UNDECIDED
            finished, a, b = int(over.sum()), after.a[~over], after.b[~over]
            decides = not decides
        return counts

    def _first_best(self, after: Successors) -> Successors:
        """Of the successors of each position, the one by the first of the best moves.

        As `order_moves` has it: a better value, then a win at once, a loss not at
        once, then the first move.
        """
        over = after.outcome != UNDECIDED
        reply = after.outcome.astype(np.int64)
        live = np.flatnonzero(~over)
        if len(live):
            states = self.board.states_of(after.a[live], after.b[live])
            reply[live] = self.values.probe_many(states)
        at_once = over * np.where(reply == LOSS, 1, np.where(reply == WIN, -1, 0))
        worth = -2 * reply + at_once
        # The best of each position first, and of equal ones the one that was listed first.
        order = np.lexsort((np.arange(len(worth)), -worth, after.parent))
        _, first = np.unique(after.parent[order], return_index=True)
        chosen = order[first]
        return after.some(chosen)


def _distinct(after: Successors) -> Successors:
    """Each position once."""
    order = np.lexsort((after.b, after.a))
    a, b = after.a[order], after.b[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    kept = order[is_new]
    return after.some(kept)
