"""Monte-Carlo tree search (plain UCT) for every game: a search, and a player that explains itself.

It knows nothing of a game but its rules. It plays games to the end at random, keeps how
they ended in a tree, and goes more often where they ended well (`uct_kernels` draws the
tree and the four steps of a playout). It proves nothing beyond two plies; with more
playouts it plays better, and in the limit perfectly.

    search = Search(rules, state, seed=1)
    search.run(Limit(playouts=10_000))       or Limit(seconds=1.0), or both
    search.moves()                           visits and mean result of each move
    search.run(Limit(playouts=10_000))       goes on where it stopped

It runs in slices of about 20 ms: between two of them it looks at the clock, reports, and
Ctrl-C gets through; what has been found so far is kept. The same seed and the same number
of playouts give the same tree, whatever the slices were. Memory is bounded: `nodes` of 40
bytes, and a full tree is searched on without growing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.deadline import Deadline
from retro.errors import BadTextError, DoesNotFitError, GameOverError
from retro.games.kernels import UNDECIDED, move_limit_of, outcome_of
from retro.play.player import Player
from retro.play.uct_kernels import ROOT, grow, look_two_plies, make_tree, plant

if TYPE_CHECKING:
    from collections.abc import Callable

    from retro.games.game import Position, Rules

    Report = Callable[[int, float], None]  # playouts and seconds so far

EXPLORATION = 1.0  # results lie between -1 and +1
NODES = 1 << 20  # 40 MB
SLICE_SECONDS = 0.02
FIRST_SLICE = 64
SHOWN_MOVES = 3


@dataclass(frozen=True)
class Limit:
    """When a search stops: after so many playouts or seconds, whichever comes first."""

    playouts: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        given = [number for number in (self.playouts, self.seconds) if number is not None]
        if not given or min(given) <= 0:
            raise BadTextError(f"found {self}, wanted playouts or seconds above 0")

    def __str__(self) -> str:
        words = [
            f"{self.playouts} playouts" if self.playouts is not None else "",
            f"{self.seconds:g} s" if self.seconds is not None else "",
        ]
        return ", ".join(word for word in words if word)


class Visited(NamedTuple):
    """A move from the root: how often it was tried and its mean result for who makes it.

    `grade` is what two plies prove: 2 it wins at once, 0 it lets the opponent win at once, else 1.
    """

    move: int
    visits: int
    mean: float
    grade: int


class Search:
    """A tree that grows from one state of any game; moves are those of the kernels.

    >>> from retro.games.catalogue import make_board
    >>> board = make_board("mnk", "3x3")
    >>> search = Search(board.rules, board.position("a1 b1 a2 b2")._state, seed=1)
    >>> search.run(Limit(playouts=500))
    >>> search.best().move == 6, search.best().mean      # a3 wins at once
    (True, 1.0)
    """

    def __init__(
        self, rules: Rules, state: tuple[int, int], seed: int = 0, nodes: int = NODES
    ) -> None:
        words = np.uint64(state[0]), np.uint64(state[1])
        if outcome_of(rules, *words) != UNDECIDED:
            raise GameOverError("the game is over: there is no move to search for")
        self._rules = rules
        self._tree = make_tree(nodes, seed)
        self.playouts = 0
        self.seconds = 0.0
        if not plant(rules, self._tree, *words):
            raise DoesNotFitError(f"found room for {nodes} nodes, too few for the first moves")
        self._grades = np.zeros(int(self._tree.children[ROOT]), np.int8)
        look_two_plies(rules, self._tree, self._grades)

    @property
    def nodes(self) -> int:
        """Nodes of the tree."""
        return int(self._tree.size[0])

    def run(self, limit: Limit, report: Report | None = None) -> None:
        """Search on; `report` is called after every slice with all playouts and seconds so far."""
        clock, before, done = Deadline(limit.seconds), self.seconds, 0
        size = FIRST_SLICE
        while limit.playouts is None or done < limit.playouts:
            if done and clock.left <= 0:
                break
            if done and limit.seconds is not None:  # never a slice much longer than what is left
                size = min(size, max(1, int(clock.left * done / clock.spent)))
            slice_ = size if limit.playouts is None else min(size, limit.playouts - done)
            grow(self._rules, self._tree, EXPLORATION, slice_)
            done += slice_
            self.playouts += slice_
            spent = clock.spent
            self.seconds = before + spent
            size = min(2 * size, max(1, int(SLICE_SECONDS * done / max(spent, 1e-6))))
            if report is not None:
                report(self.playouts, self.seconds)

    def moves(self) -> list[Visited]:
        """Every move from the root in the order of the kernels' numbers."""
        tree = self._tree
        found = []
        for child, grade in enumerate(self._grades.tolist(), start=int(tree.first[ROOT])):
            visits, total = int(tree.visits[child]), int(tree.total[child])
            mean = total / visits if visits else 0.0
            found.append(Visited(int(tree.move[child]), visits, mean, grade))
        return found

    def ranked(self) -> list[Visited]:
        """The same, the best first: by grade, then visits, then mean.

        In the limit visits alone decide. The grade sees to it that no number of playouts is
        too small to take a win in one, or to prevent one in a game that is lost later.
        """
        return sorted(
            self.moves(), key=lambda tried: (tried.grade, tried.visits, tried.mean), reverse=True
        )

    def best(self) -> Visited:
        """The move to play."""
        return self.ranked()[0]

    def after(self, move: int) -> tuple[int, int]:
        """The state after a move from the root."""
        tree = self._tree
        begin = int(tree.first[ROOT])
        for child in range(begin, begin + int(tree.children[ROOT])):
            if tree.move[child] == move:
                return int(tree.a[child]), int(tree.b[child])
        raise KeyError(move)


class Thought(NamedTuple):
    """What a player did before a move. Moves are those of the position, the best first."""

    move: int
    playouts: int
    seconds: float
    nodes: int
    moves: tuple[Visited, ...]


class UctPlayer(Player):
    """Searches anew before every move.

    `thought` says what the last search did, also one that Ctrl-C stopped: its move is the
    best found so far. `remark` is the same in one line for people.
    """

    def __init__(self, limit: Limit, seed: int = 0, report: Report | None = None) -> None:
        self.name = f"uct ({limit})"
        self.thought: Thought | None = None
        self.remark = ""
        self._limit, self._seed = limit, seed
        if report is not None:
            self.report = report

    def choose(self, position: Position) -> int:
        rules = position.board.rules
        search = Search(rules, position._state, self._seed, _room(rules, self._limit))
        self._seed += 1  # another lot for the next move, the same in the next run
        try:
            search.run(self._limit, self.report)
        finally:
            self.thought = think(position, search)
            self.found, self.nodes = self.thought.move, self.thought.playouts
            self.remark = remark(position, self.thought)
        return self.thought.move


def _room(rules: Rules, limit: Limit) -> int:
    """Nodes that a search can make: a playout gives children to one node at most."""
    if limit.playouts is None:
        return NODES
    return min(NODES, 1 + (limit.playouts + 1) * int(move_limit_of(rules)))


def think(position: Position, search: Search) -> Thought:
    """A search in the moves of the position. The two are matched by the states they lead to.

    Two moves of a position may lead to one state, and kernels number them as they like.
    """
    by_state = {position._play(move)._state: move for move in position._numbers()}
    ranked = search.ranked()
    moves = tuple(tried._replace(move=by_state[search.after(tried.move)]) for tried in ranked)
    return Thought(moves[0].move, search.playouts, search.seconds, search.nodes, moves)


def remark(position: Position, thought: Thought) -> str:
    """One line: playouts, time, and the moves tried most with visits and mean result."""
    tried = [
        f"{position._text_of(move)} {visits:,} visits, mean {mean:+.2f}"
        for move, visits, mean, _ in thought.moves[:SHOWN_MOVES]
    ]
    return f"{thought.playouts:,} playouts in {thought.seconds:.2f} s: " + "; ".join(tried)
