"""Levels: honest strengths with names, the same in every game.

A level states what it does. Two things make it weak, and nothing else is held back:

    slips      with this chance a move is drawn by lot among all legal ones
    playouts   otherwise the move is that of a Monte-Carlo tree search of so many random games
               (`uct`), which also sees every win in one ply and every loss in two

    level      slips     playouts         every game of docs/levels.md scores them in this order
    beginner   1 in 2          30
    easy       1 in 4         100
    medium     1 in 8         500
    hard       1 in 20      3,000
    perfect    never      a table, or a search to the end; where neither of
                          these reaches within its time, what one second of playouts finds,
                          5,000 at least

Lots and playouts come from one seed: the same seed plays the same game. Boards of more than
64 cells are too large for the kernels; there a level looks ahead with the game's evaluation,
`depth` plies at its plausible moves, and `perfect` as deep as its second allows.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from retro.deadline import Deadline
from retro.errors import BadTextError, DoesNotFitError, TimeLimitError
from retro.games.values import LOSS, VALUE_NAMES
from retro.play.evaluations import find_evaluation
from retro.play.lookahead import DECIDED, alpha_beta, every_move
from retro.play.player import Player

if TYPE_CHECKING:
    from random import Random

    from retro.games.game import Board, Position

DEFAULT_LEVEL = "easy"
SECOND = 0.9  # within which every level answers
EXACT_SECONDS = 0.5  # of it for a proof, where one is tried
LEAST_PLAYOUTS = 5_000  # of `perfect` without a proof; a tenth of a second or two
DEEPEST = 50
MOST_MOVES = 256  # in a position of any game that kernels take


@dataclass(frozen=True)
class Level:
    """How strong, and why no stronger."""

    name: str
    slips: float
    playouts: int | None  # None: as many as its second allows
    depth: int | None  # the same of plies, on boards too large for playouts

    def about(self, board: Board) -> str:
        """What the level does on a board, in one line.

        >>> from retro.games.catalogue import make_board
        >>> LEVELS["easy"].about(make_board("7x6"))
        'easy: draws 1 move in 4 by lot, the others after 100 playouts'
        """
        small = fits(board)
        if self.playouts is None:
            last = "playouts" if small else "looking ahead"
            return (
                f"{self.name}: never gives anything away where a table or a search "
                f"reach; elsewhere as strong as one second of {last}"
            )
        plies = "1 ply" if self.depth == 1 else f"{self.depth} plies"
        how = f"{self.playouts:,} playouts" if small else f"a look {plies} ahead"
        return (
            f"{self.name}: draws 1 move in {round(1 / self.slips)} by lot, the others after {how}"
        )


LEVELS = {
    level.name: level
    for level in (
        Level("beginner", 1 / 2, 30, 1),
        Level("easy", 1 / 4, 100, 1),
        Level("medium", 1 / 8, 500, 2),
        Level("hard", 1 / 20, 3_000, 2),
        Level("perfect", 0.0, None, None),
    )
}


class Advice(Protocol):
    """A move that keeps the value of a position, and where that is known from."""

    @property
    def move(self) -> int: ...
    @property
    def value(self) -> int: ...
    @property
    def plies(self) -> int | None: ...
    @property
    def source(self) -> str: ...


class Exact(Protocol):
    """Whoever knows the value of positions; `TimeLimitError` when it does not in time."""

    def advise(self, position: Position) -> Advice: ...


def find_level(name: str) -> Level:
    """A level by name."""
    if name not in LEVELS:
        raise BadTextError(f"found level {name!r}, wanted one of {', '.join(LEVELS)}")
    return LEVELS[name]


def fits(board: Board) -> bool:
    """Whether kernels take a board, so that there can be playouts."""
    try:
        return board.rules is not None
    except DoesNotFitError:
        return False


def make_level(
    name: str, board: Board, rng: Random, exact: Exact | None = None, seconds: float = SECOND
) -> Player:
    """The player of a level. `exact` serves `perfect`, which without it has only its second."""
    level = find_level(name)
    if level.playouts is None:
        return PerfectLevel(_thinker(level, board, rng, seconds), exact, seconds)
    return SlippingPlayer(level, _thinker(level, board, rng, seconds), rng)


def _thinker(level: Level, board: Board, rng: Random, seconds: float) -> Thinker:
    if fits(board):
        return PlayoutThinker(level.playouts, rng, seconds)
    return LookingThinker(level.depth, rng, seconds)


class SlippingPlayer(Player):
    """Thinks, except when it slips."""

    def __init__(self, level: Level, thinker: Thinker, rng: Random) -> None:
        self.name = level.name
        self._slips, self._thinker, self._rng = level.slips, thinker, rng

    def choose(self, position: Position) -> int:
        if self._rng.random() < self._slips:
            self.nodes, self.remark = 0, "drawn by lot"
            return self._rng.choice(position._numbers())
        return self._thinker.think(self, position, None)


class PerfectLevel(Player):
    """Asks whoever knows the value; if nobody does within the time, thinks with what is left."""

    name = "perfect"

    def __init__(self, thinker: Thinker, exact: Exact | None, seconds: float) -> None:
        self._thinker, self._exact, self._seconds = thinker, exact, seconds

    def choose(self, position: Position) -> int:
        begin = time.monotonic()
        self.nodes, self.found, self.remark = None, None, ""
        advice = self._ask(position)
        if advice is not None and (advice.value != LOSS or advice.plies is not None):
            self.remark = _words(advice)
            return advice.move
        # Where every move loses, one that makes the winner work is as good as any.
        left = self._seconds - (time.monotonic() - begin)
        move = self._thinker.think(self, position, max(left, self._seconds / 5))
        why = _words(advice) if advice else "no proof within its time"
        self.remark = f"{why}; {self.remark}"
        return move

    def _ask(self, position: Position) -> Advice | None:
        if self._exact is None:
            return None
        try:
            advice = self._exact.advise(position)
        except TimeLimitError:
            return None
        self.found = advice.move
        return advice


def _words(advice: Advice) -> str:
    return f"{VALUE_NAMES[advice.value]}, by {advice.source}"


class Thinker(Protocol):
    """How a level chooses when it does not slip."""

    def think(self, player: Player, position: Position, seconds: float | None) -> int:
        """A move; leaves in the player what it found on the way."""
        ...


class PlayoutThinker:
    """A tree search of random games, by their number or by the clock."""

    def __init__(self, playouts: int | None, rng: Random, seconds: float) -> None:
        self._playouts, self._rng, self._seconds = playouts, rng, seconds

    def think(self, player: Player, position: Position, seconds: float | None) -> int:
        from retro.play.uct import NODES, Limit, Search, remark, think

        clock = Deadline(seconds or self._seconds)
        # A playout gives children to one node; a small tree is quicker to lay out.
        nodes = NODES if self._playouts is None else min(NODES, MOST_MOVES * (self._playouts + 2))
        lot = self._rng.getrandbits(32)
        search = Search(position.board.rules, position._state, lot, nodes)
        try:
            # First by number alone: the same seed plays the same game on any machine, and
            # no level falls below the next because the machine is busy.
            search.run(Limit(playouts=self._playouts or LEAST_PLAYOUTS), player.report)
            if self._playouts is None and clock.left > 0:
                search.run(Limit(seconds=clock.left), player.report)
        finally:
            thought = think(position, search)
            player.found, player.nodes = thought.move, thought.playouts
            player.remark = remark(position, thought)
        return thought.move


class LookingThinker:
    """Alpha-beta with the game's evaluation, to a depth or ever deeper by the clock."""

    def __init__(self, depth: int | None, rng: Random, seconds: float) -> None:
        self._depth, self._rng, self._seconds = depth, rng, seconds

    def think(self, player: Player, position: Position, seconds: float | None) -> int:
        game = position.board.game
        candidates = next(iter(game.filters.values()), every_move)
        moves = list(candidates(position))
        self._rng.shuffle(moves)
        evaluate = find_evaluation(game.name)
        clock = Deadline(seconds or self._seconds)
        player.found, player.nodes = moves[0], 0

        def in_time(position: Position) -> int:
            clock.check()
            return evaluate(position)

        for depth in range(1, (self._depth or DEEPEST) + 1):
            try:
                found = alpha_beta(position, depth, in_time, moves, candidates)
            except TimeLimitError:
                break
            player.found = found.move
            player.nodes += found.nodes
            player.remark = f"looked ahead, plies: {depth}, score {found.score:+}"
            player.report(player.nodes, clock.spent)
            moves.sort(key=lambda move: move != found.move)
            if abs(found.score) > DECIDED // 2:
                break
        return player.found
