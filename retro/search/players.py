"""Players of any game, and the referee who lets them play.

A player has a name, chooses a move when asked, and is told of every move. It sees
positions as `retro.games.catalogue` describes them and knows no game. These come
from text (`read_spec`, `make_player`):

    random            any legal move
    greedy            the move after which the evaluation is best
    minimax:3         looks 3 plies ahead (`lookahead`); plays the same as
    alphabeta:3       only faster
    alphabeta:4:cells with another evaluation than the game's first (`evaluations`)

`human` and `perfect` need a terminal and tables; the commands know those. Equal
moves are chosen between by lot, from the generator a player is made with: the same
seeds give the same games.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from retro.errors import BadTextError
from retro.search.evaluations import find_evaluation
from retro.search.lookahead import alpha_beta, minimax

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from retro.games.catalogue import PlacementGame
    from retro.games.catalogue import Player as Side
    from retro.search.lookahead import Evaluation, Found

DEEP = {"minimax": minimax, "alphabeta": alpha_beta}
KINDS = ("human", "perfect", "random", "greedy", "minimax:DEPTH", "alphabeta:DEPTH")


class Player(Protocol):
    """Who plays."""

    @property
    def name(self) -> str: ...

    def choose(self, position: Any) -> int:
        """A legal move; the position is not over."""
        ...

    def told(self, position: Any, move: int) -> None:
        """A move, own or other, was made in this position."""
        ...


class Spec(NamedTuple):
    """A player as text names it."""

    kind: str
    depth: int = 1
    evaluation: str = ""

    def __str__(self) -> str:
        depth = f":{self.depth}" if self.kind in DEEP else ""
        return f"{self.kind}{depth}" + (f":{self.evaluation}" if self.evaluation else "")


def read_spec(text: str) -> Spec:
    """Read a player's name.

    >>> read_spec("alphabeta:4")
    Spec(kind='alphabeta', depth=4, evaluation='')
    """
    match = re.fullmatch(r"([a-z]+)(?::([1-9][0-9]?))?(?::([a-z]+))?", text.strip(), re.ASCII)
    kind = match[1] if match else ""
    if kind == "computer":
        kind = "perfect"
    plain = match is not None and not match[2] and (kind == "greedy" or not match[3])
    if match and plain and kind in ("human", "perfect", "random", "greedy"):
        return Spec(kind, 1, match[3] or "")
    if match and match[2] and kind in DEEP:
        return Spec(kind, int(match[2]), match[3] or "")
    raise BadTextError(f"found player {text!r}, wanted one of {', '.join(KINDS)}")


def make_player(spec: Spec, game: PlacementGame, rng: Random) -> Player:
    """The player that a text names, for a game; not `human` and not `perfect`."""
    if spec.kind == "random":
        return RandomPlayer(rng)
    evaluate = find_evaluation(game.name, spec.evaluation)
    return LookingPlayer(str(spec), DEEP.get(spec.kind, minimax), spec.depth, evaluate, rng)


class RandomPlayer:
    """Any legal move, each with the same chance."""

    name = "random"

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def choose(self, position: Any) -> int:
        moves: list[int] = position.legal_moves()
        return self._rng.choice(moves)

    def told(self, position: Any, move: int) -> None:
        """Does not care."""


class LookingPlayer:
    """Looks a fixed number of plies ahead."""

    def __init__(
        self,
        name: str,
        look: Callable[[Any, int, Evaluation, list[int]], Found],
        depth: int,
        evaluate: Evaluation,
        rng: Random,
    ) -> None:
        self.name = name
        self._look, self._depth, self._evaluate, self._rng = look, depth, evaluate, rng

    def choose(self, position: Any) -> int:
        moves = position.legal_moves()
        self._rng.shuffle(moves)  # the first of equally good moves is chosen
        return self._look(position, self._depth, self._evaluate, moves).move

    def told(self, position: Any, move: int) -> None:
        """Looks at the position alone."""


class GameRecord(NamedTuple):
    """A finished game: who played, who won (None: a draw), and the moves as text."""

    first: str
    second: str
    winner: Side | None
    moves: tuple[str, ...]


def referee(game: PlacementGame, position: Any, first: Player, second: Player) -> GameRecord:
    """Let two players finish a game."""
    moves = []
    while not position.is_over():
        player = first if position.side_to_move == "first" else second
        move = player.choose(position)
        moves.append(game.write_move(position, move))
        for told in (first, second):
            told.told(position, move)
        position = position.play(move)
    return GameRecord(first.name, second.name, winner(position), tuple(moves))


def winner(position: Any) -> Side | None:
    """Who has won a finished game; None if it is a draw."""
    outcome = position.outcome()
    if not outcome:
        return None
    mover: Side = position.side_to_move
    return mover if outcome > 0 else "second" if mover == "first" else "first"
