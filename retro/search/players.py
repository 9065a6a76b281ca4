"""Players of any game, and the referee who lets them play.

A player has a name, chooses a move when asked, and is told of every move. It sees
positions as `retro.games.catalogue` describes them and knows no game. These come
from text (`read_spec`, `make_player`):

    random            any legal move
    greedy            the move after which the evaluation is best
    minimax:3         looks 3 plies ahead (`lookahead`); plays the same as
    alphabeta:3       only faster
    alphabeta:4:cells with another evaluation than the game's first (`evaluations`)
    alphabeta:4:plausible, alphabeta:4:runs:plausible
                      looks at plausible moves only, on every ply: in mnk and
                      puissance-plus those of the classic program

`human` and `perfect` need a terminal and tables; the commands know those. Equal
moves are chosen between by lot, from the generator a player is made with: the same
seeds give the same games.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from retro.errors import BadTextError
from retro.games.puissance import plausible_moves
from retro.search.evaluations import find_evaluation
from retro.search.lookahead import alpha_beta, every_move, minimax

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from retro.games.catalogue import PlacementGame
    from retro.games.catalogue import Player as Side
    from retro.search.lookahead import Candidates, Evaluation, Found

DEEP = {"minimax": minimax, "alphabeta": alpha_beta}
KINDS = ("human", "perfect", "random", "greedy", "minimax:DEPTH", "alphabeta:DEPTH[:plausible]")
PLAUSIBLE = "plausible"
SIMPLE = ("human", "perfect", "random")
_SPEC = re.compile(  # kind, depth, evaluation, filter
    rf"([a-z]+)(?::([1-9][0-9]?))?(?::(?!{PLAUSIBLE})([a-z]+))?(:{PLAUSIBLE})?", re.ASCII
)
FILTERS: dict[str, Candidates] = {"mnk": plausible_moves, "puissance-plus": plausible_moves}


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
    plausible: bool = False

    def __str__(self) -> str:
        words = [self.kind, str(self.depth) if self.kind in DEEP else "", self.evaluation]
        return ":".join(word for word in (*words, PLAUSIBLE if self.plausible else "") if word)


def read_spec(text: str) -> Spec:
    """Read a player's name.

    >>> read_spec("alphabeta:4:plausible")
    Spec(kind='alphabeta', depth=4, evaluation='', plausible=True)
    """
    match = _SPEC.fullmatch(text.strip())
    kind = match[1] if match else ""
    if kind == "computer":
        kind = "perfect"
    plain = match is not None and not match[2] and not match[4]
    if match and plain and (kind == "greedy" or (kind in SIMPLE and not match[3])):
        return Spec(kind, 1, match[3] or "")
    if match and match[2] and kind in DEEP:
        return Spec(kind, int(match[2]), match[3] or "", match[4] is not None)
    raise BadTextError(f"found player {text!r}, wanted one of {', '.join(KINDS)}")


def make_player(spec: Spec, game: PlacementGame, rng: Random) -> Player:
    """The player that a text names, for a game; not `human` and not `perfect`."""
    if spec.kind == "random":
        return RandomPlayer(rng)
    evaluate = find_evaluation(game.name, spec.evaluation)
    if spec.plausible and game.name not in FILTERS:
        wanted = ", ".join(FILTERS)
        raise BadTextError(f"found player {spec} of {game.name}; plausible moves have: {wanted}")
    candidates = FILTERS[game.name] if spec.plausible else every_move
    look = partial(DEEP.get(spec.kind, minimax), candidates=candidates)
    return LookingPlayer(str(spec), look, spec.depth, evaluate, candidates, rng)


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
        candidates: Candidates,
        rng: Random,
    ) -> None:
        self.name = name
        self._look, self._depth, self._evaluate = look, depth, evaluate
        self._candidates, self._rng = candidates, rng

    def choose(self, position: Any) -> int:
        moves = list(self._candidates(position))
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
