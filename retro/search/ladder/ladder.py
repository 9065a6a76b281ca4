"""The ladder: from minimax to a full alpha-beta search, for any game of `protocol`.

The value of a position is decided by the rules, or it is the best over its
successors of minus their values. Everything else is about looking at fewer
positions. With values in {-1, 0, +1} and a window (alpha, beta):

              alpha        beta           what `_visit` promises of its value r
    ... -1 ----(-----------)---- +1       (v is the true value)
           r <= alpha                     below:   v <= r
                     alpha < r < beta     inside:  v == r
                                 r >= beta  above:  v >= r

A search of limited depth calls the horizon a draw, prudently: it says WIN or
LOSS only when no horizon could change it. So +1 and -1 are always proved, and
0 is when no horizon was met on the way. Proved values go into the table for
ever, prudent ones with their depth, and the promise above holds for them with
"the value as a search of this depth sees it" in place of the true value.

The last rung grades the horizon instead: a guess strictly between -1 and +1, no
less prudent, since only the rules ever say +1 or -1. Grades end up nowhere but in
the order of moves: each depth first tries what the one before found most promising,
and moves nobody has tried yet in the order of their own grades.

This is the plain core, meant to be read, and the oracle of the fast engine.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple

from retro.games.values import DRAW, LOSS, WIN
from retro.search.ladder.protocol import (
    Bounded,
    Centred,
    Forcing,
    Game,
    Graded,
    Greying,
    Probe,
    State,
    Symmetric,
    Threatening,
)
from retro.search.ladder.rungs import Rungs
from retro.search.ladder.table import Entry, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# A window that no value can leave: nothing is ever cut.
NO_ALPHA, NO_BETA = LOSS - 1, WIN + 1


class Iteration(NamedTuple):
    """One search of limited depth, and what it found; `grade` is what it guessed."""

    depth: int
    nodes: int
    value: int
    proved: bool
    grade: float


@dataclass(frozen=True)
class Result:
    """What a search found, and what it cost.

    `value` is for the side to move; it is certain when `proved`, which can
    only fail to be when a depth was asked for that is less than the game's.
    `nodes_at_ply[i]` counts the positions visited i plies below the root.
    """

    value: int
    proved: bool
    nodes: int
    table_hits: int
    nodes_at_ply: tuple[int, ...]
    iterations: tuple[Iteration, ...]


class Finding(NamedTuple):
    """The best over some successors: value, whether it is proved, and the move."""

    value: float
    proved: bool
    move: int | None


def search(
    game: Game[State],
    state: State | None = None,
    rungs: Rungs | None = None,
    probe: Probe[State] | None = None,
    depth: int | None = None,
) -> Result:
    """The exact value of a state (by default the start), or the prudent one at `depth` plies.

    >>> from retro.games.mnk.rules import MnkBoard
    >>> from retro.search.ladder.mnk_game import MnkGame
    >>> search(MnkGame(MnkBoard(3, 3, 3))).value
    0
    """
    return Ladder(game, rungs, probe).search(game.start() if state is None else state, depth)


class Ladder(Generic[State]):
    """A search with its table and history, which live on from one `search` to the next.

    `probe` is asked at every node, before the game's own hooks; what it
    answers is believed.
    """

    def __init__(
        self, game: Game[State], rungs: Rungs | None = None, probe: Probe[State] | None = None
    ) -> None:
        self.game, self.probe = game, probe
        self.rungs = rungs = rungs or Rungs()
        self.table = Table(rungs.slots, rungs.replacement) if rungs.table else None
        self._cuts = rungs.core == "alpha-beta"
        # {side * move: how much it has cut}; moves are not 0, so the sides stay apart.
        self._history: Counter[int] = Counter()
        self._nodes_at_ply: list[int] = []
        self._nodes = self._hits = 0
        self._symmetric = game if rungs.symmetry and isinstance(game, Symmetric) else None
        self._greying = game if rungs.dead_stones and isinstance(game, Greying) else None
        self._centred = game if rungs.static_order and isinstance(game, Centred) else None
        self._threatening = game if rungs.threats and isinstance(game, Threatening) else None
        self._forcing = game if rungs.forced and isinstance(game, Forcing) else None
        self._bounded = game if rungs.bounds and isinstance(game, Bounded) else None
        self._graded = game if rungs.graded and isinstance(game, Graded) else None

    def search(self, state: State, depth: int | None = None) -> Result:
        """Search one state; the table keeps what earlier searches proved."""
        longest = self.game.plies_left(state)
        deepest = longest if depth is None else min(depth, longest)
        self._reset(deepest)
        iterations: list[Iteration] = []
        for limit in self._limits(deepest):
            before = self._nodes
            grade, proved = self._root(state, limit)
            value = int(grade) if proved else DRAW
            iterations.append(Iteration(limit, self._nodes - before, value, proved, grade))
            if proved:
                break
        visited = tuple(count for count in self._nodes_at_ply if count)
        last = iterations[-1]
        return Result(last.value, last.proved, self._nodes, self._hits, visited, tuple(iterations))

    def _limits(self, deepest: int) -> Iterable[int]:
        """The depths to search, one after another; the last is the deepest."""
        if not self.rungs.deepening or deepest == 0:
            return [deepest]
        if not self.rungs.doubling:
            return range(1, deepest + 1)
        return [*(1 << i for i in range((deepest - 1).bit_length())), deepest]

    def window(self, state: State, alpha: int, beta: int) -> float:
        """A value r for an open question, below, inside or above as the module promises."""
        depth = self.game.plies_left(state)
        self._reset(depth)
        return self._visit(state, alpha, beta, depth, 0)[0]

    def _root(self, state: State, depth: int) -> tuple[float, bool]:
        if self.rungs.core == "minimax":
            side = self.game.side_to_move(state)
            value, proved = self._minimax(state, depth, 0)
            return side * value, proved or value != DRAW
        # A value outside (LOSS, WIN) cannot be, so the bounds of that window are exact.
        alpha, beta = (LOSS, WIN) if self._cuts else (NO_ALPHA, NO_BETA)
        return self._visit(state, alpha, beta, depth, 0)

    def _minimax(self, state: State, depth: int, ply: int) -> tuple[int, bool]:
        """The definition, with one value for both players: +1 is good for side +1."""
        self._count(ply)
        side = self.game.side_to_move(state)
        known = self._known(state)
        if known is not None:
            return side * known, True
        if depth == 0:
            return DRAW, False
        found = [
            self._minimax(self.game.play(state, move), depth - 1, ply + 1)
            for move in self.game.moves(state)
        ]
        values = [value for value, _ in found]
        best = max(values) if side > 0 else min(values)
        return best, best != DRAW or all(proved for _, proved in found)

    def _visit(
        self, state: State, alpha: float, beta: float, depth: int, ply: int
    ) -> tuple[float, bool]:
        """(value, proved) of a state; the module's docstring says what is promised."""
        self._count(ply)
        known = self._known(state)
        if known is not None:
            return known, True
        low, high = self._bounded.bounds(state) if self._bounded is not None else (LOSS, WIN)
        if low >= beta or low == high:
            return low, True
        if high <= alpha:
            return high, True
        if depth == 0:
            return min(max(self._horizon(state), low), high), False
        if self._cuts:
            alpha, beta = max(alpha, low), min(beta, high)
        value, proved = self._visit_table(state, alpha, beta, depth, ply)
        return min(max(value, low), high), proved

    def _visit_table(
        self, state: State, alpha: float, beta: float, depth: int, ply: int
    ) -> tuple[float, bool]:
        """Ask the table; if it does not answer, try the moves and tell the table."""
        if self.table is None:
            value, proved, _ = self._best(state, alpha, beta, depth, ply, None)
            return value, proved
        key, symmetry = self._key(state)
        entry = self.table.find(key)
        if entry is not None:
            answer = _answer(entry, alpha, beta, depth)
            if answer is not None:
                self._hits += 1
                return answer
            if self._cuts:
                alpha, beta = max(alpha, entry.low), min(beta, entry.high)
        begin = self._nodes
        hint = self._hint(entry, symmetry)
        value, proved, move = self._best(state, alpha, beta, depth, ply, hint)
        # The entry may have been thrown out meanwhile, so it is looked up again.
        entry = self.table.entry_for(key)
        entry.narrow(
            LOSS if value <= alpha else value, WIN if value >= beta else value, depth, proved
        )
        if move is not None:
            entry.move = self._symmetric.turn(move, symmetry) if self._symmetric else move
        self.table.keep(entry, self._nodes - begin + 1)
        return min(max(value, entry.low), entry.high), proved or entry.low == entry.high

    def _best(
        self, state: State, alpha: float, beta: float, depth: int, ply: int, hint: int | None
    ) -> Finding:
        """Try the moves, best guess first, until one is too good for the window."""
        best: float = NO_ALPHA
        best_move, all_proved = None, True
        for move in self._ordered(state, hint):
            successor = self.game.play(state, move)
            floor = max(alpha, best) if self._cuts else alpha
            value, proved = self._visit(successor, -beta, -floor, depth - 1, ply + 1)
            value = -value
            all_proved = all_proved and proved
            if value > best:
                best, best_move = value, move
            if best >= beta:
                if self.rungs.history:
                    self._history[self.game.side_to_move(state) * move] += depth * depth
                return Finding(best, proved or best == WIN, move)
        return Finding(best, all_proved or best in (LOSS, WIN), best_move)

    def _horizon(self, state: State) -> float:
        """What is not searched any further looks worth: never certain."""
        if self._graded is None:
            return DRAW
        worth = self._graded.worth(state)
        return worth / (1 + abs(worth))

    def _ordered(self, state: State, hint: int | None) -> Sequence[int]:
        """The moves in the order in which they are tried; the hint is the table's move.

        Each sort keeps the order of the one before among equals. History only
        parts moves that are equally central: above the centre it cost nodes on
        four of five boards, up to three times as many (docs/search.md).
        """
        if self._forcing is not None:
            moves = self._forcing.candidates(state)
        else:
            moves = self.game.moves(state)
        if len(moves) == 1:
            return moves
        if self.rungs.history:
            side = self.game.side_to_move(state)
            moves = sorted(moves, key=lambda move: -self._history[side * move])
        if self._centred is not None:
            moves = sorted(moves, key=self._centred.centre_distance)
        graded = self._graded
        if graded is not None:
            # The successor is the opponent's: what is worst for her comes first.
            moves = sorted(moves, key=lambda move: graded.worth(self.game.play(state, move)))
        threatening = self._threatening
        if threatening is not None:
            moves = sorted(moves, key=lambda move: -threatening.urgency(state, move))
        if hint is not None and hint in moves:
            moves = [hint, *(move for move in moves if move != hint)]
        return moves

    def _known(self, state: State) -> int | None:
        """The value without a search: by the rules, or from the probe."""
        known = self.game.outcome(state)
        if known is None and self.probe is not None:
            known = self.probe(state)
        return known

    def _key(self, state: State) -> tuple[int, int]:
        """The table's key, and the symmetry that leads to its position."""
        if self._greying is not None:
            state = self._greying.grey(state)
        if self._symmetric is not None:
            return self._symmetric.canonical_key(state)
        return self.game.key(state), 0

    def _hint(self, entry: Entry | None, symmetry: int) -> int | None:
        if entry is None or entry.move is None or not self.rungs.table_move:
            return None
        return self._symmetric.turn_back(entry.move, symmetry) if self._symmetric else entry.move

    def _reset(self, deepest: int) -> None:
        self._nodes = self._hits = 0
        self._nodes_at_ply = [0] * (deepest + 1)

    def _count(self, ply: int) -> None:
        self._nodes += 1
        self._nodes_at_ply[ply] += 1


def _answer(entry: Entry, alpha: float, beta: float, depth: int) -> tuple[float, bool] | None:
    """What an entry says to a window, (value, proved), or None when it must be searched."""
    low, high = entry.low, entry.high
    if low >= beta or low == high:
        return low, True
    if high <= alpha:
        return high, True
    if entry.depth != depth:
        return None
    # A guess may lie outside of what is proved.
    at_least, at_most = max(low, min(entry.at_least, high)), min(high, max(entry.at_most, low))
    if at_least >= beta or at_least == at_most:
        return at_least, False
    return (at_most, False) if at_most <= alpha else None
