"""Players of any game, by the names that people give them.

A player is told who sits where (`reset`), chooses a move when asked, and is told of every
move (`observe`). It sees positions as `retro.games.game` describes them and knows no
game. These come from text (`read_spec`, `make_player`):

    beginner ... perfect  the levels (`levels`)
    random            any legal move
    greedy            the move after which the evaluation is best
    half              the same with the evaluation of the classic program, if the game had one:
                      it called that half a move deep
    minimax:3         looks 3 plies ahead (`lookahead`); plays the same as
    alphabeta:3       only faster
    alphabeta:4:cells with another evaluation than the game's first (`evaluations`)
    alphabeta:4:plausible, alphabeta:4:runs:plausible
                      looks at plausible moves only, on every ply: in mnk and
                      puissance-plus those of the classic program
    uct:5000, uct:0.5s  Monte-Carlo tree search of so many playouts, or so long (`uct`)
    allis             Connect Four by Allis' nine rules (`allis`)
    mine.py:Class     a player of one's own, in Python (`external`)
    exec:./mine       any program that speaks lines on standard input and output

`human` needs a terminal and `perfect` tables; the commands know those. Equal
moves are chosen between by lot, from the generator a player is made with: the same
seeds give the same games.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from retro.deadline import Deadline
from retro.errors import BadTextError
from retro.games.catalogue import NAMES, find_game
from retro.play.evaluations import find_evaluation
from retro.play.levels import LEVELS
from retro.play.lookahead import alpha_beta, every_move, minimax
from retro.play.player import Player

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from retro.games.game import Board, Position
    from retro.play.lookahead import Candidates, Evaluation, Found, Look

T = TypeVar("T")
REPORT_SECONDS = 0.1
DEEP = {"minimax": minimax, "alphabeta": alpha_beta}
PLAUSIBLE, CLASSIC = "plausible", "classic"
PERFECT, OWN = "perfect", "own"
SIMPLE = ("human", *LEVELS, "random", "half", "allis")
KINDS = (
    *SIMPLE,
    "greedy",
    "minimax:DEPTH",
    "alphabeta:DEPTH[:EVALUATION][:plausible]",
    "uct:PLAYOUTS",
    "uct:SECONDSs",
    "FILE.py:CLASS",
    "exec:PROGRAM",
)
_SPEC = re.compile(  # kind, depth, evaluation, filter
    rf"([a-z]+)(?::([1-9][0-9]?))?(?::(?!{PLAUSIBLE})([a-z]+))?(:{PLAUSIBLE})?", re.ASCII
)
_UCT = re.compile(r"uct:([1-9][0-9]{0,8}|[0-9]{1,3}(?:\.[0-9]{1,3})?s)", re.ASCII)
_OWN = re.compile(r"exec:.+|.+\.py:[A-Za-z_][A-Za-z_0-9]*", re.DOTALL)


class Spec(NamedTuple):
    """A player as text names it."""

    kind: str
    depth: int = 1
    evaluation: str = ""
    plausible: bool = False
    text: str = ""  # of one that is written otherwise: uct:5000, exec:./mine

    def __str__(self) -> str:
        if self.text:
            return self.text
        words = [self.kind, str(self.depth) if self.kind in DEEP else "", self.evaluation]
        return ":".join(word for word in (*words, PLAUSIBLE if self.plausible else "") if word)


def read_spec(text: str) -> Spec:
    """Read a player's name.

    >>> read_spec("alphabeta:4:plausible")
    Spec(kind='alphabeta', depth=4, evaluation='', plausible=True, text='')
    >>> read_spec("exec:./mine --fast").kind
    'own'
    """
    text = text.strip()
    if _OWN.fullmatch(text):
        return Spec(OWN, text=text)
    if _UCT.fullmatch(text):
        return Spec("uct", text=text)
    match = _SPEC.fullmatch(text)
    kind = match[1] if match else ""
    if kind == "computer":
        kind = PERFECT
    plain = match is not None and not match[2] and not match[4]
    if match and plain and (kind == "greedy" or (kind in SIMPLE and not match[3])):
        return Spec(kind, 1, match[3] or "")
    if match and match[2] and kind in DEEP:
        return Spec(kind, int(match[2]), match[3] or "", match[4] is not None)
    raise BadTextError(f"found player {text!r}, wanted one of {', '.join(KINDS)}")


def make_player(spec: Spec, board: Board, rng: Random) -> Player:
    """The player that a text names, on a board; not `human` and not `perfect`."""
    game = board.game
    if spec.kind == "random":
        return RandomPlayer(rng)
    if spec.kind in LEVELS:
        from retro.play.levels import make_level

        return make_level(spec.kind, board, rng)
    if spec.kind in _MAKERS:
        return _MAKERS[spec.kind](spec.text, board, rng)
    evaluate = find_evaluation(game.name, CLASSIC if spec.kind == "half" else spec.evaluation)
    if spec.plausible and PLAUSIBLE not in game.filters:
        wanted = ", ".join(name for name in NAMES if PLAUSIBLE in find_game(name).filters)
        raise BadTextError(f"found player {spec} of {game.name}; plausible moves have: {wanted}")
    candidates = game.filters[PLAUSIBLE] if spec.plausible else every_move
    look = DEEP.get(spec.kind, minimax)
    return LookingPlayer(str(spec), look, spec.depth, evaluate, candidates, rng)


def _make_uct(text: str, board: Board, rng: Random) -> Player:
    from retro.play.uct import Limit, UctPlayer

    word = text.partition(":")[2]
    board.make_rules()  # complains before anybody has moved
    in_time = word.endswith("s")
    limit = Limit(seconds=float(word[:-1])) if in_time else Limit(playouts=int(word))
    player = UctPlayer(limit, rng.getrandbits(32))
    player.name = text
    return player


def _make_allis(_: str, board: Board, rng: Random) -> Player:
    from retro.play.allis import AllisPlayer

    player = AllisPlayer(rng)
    player.reset(board, "first")  # complains before anybody has moved
    return player


def _make_own(text: str, _: Board, __: Random) -> Player:
    from retro.play.external import own_player

    return own_player(text)


_MAKERS: dict[str, Callable[[str, Board, Random], Player]] = {
    "uct": _make_uct,
    "allis": _make_allis,
    OWN: _make_own,
}


class RandomPlayer(Player):
    """Any legal move, each with the same chance."""

    name = "random"

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def choose(self, position: Position) -> int:
        return self._rng.choice(position._numbers())


class LookingPlayer(Player):
    """Looks a fixed number of plies ahead."""

    def __init__(
        self,
        name: str,
        look: Look,
        depth: int,
        evaluate: Evaluation,
        candidates: Candidates,
        rng: Random,
    ) -> None:
        self.name = name
        self._look, self._depth, self._evaluate = look, depth, evaluate
        self._candidates, self._rng = candidates, rng

    def choose(self, position: Position) -> int:
        moves = list(self._candidates(position))
        self._rng.shuffle(moves)  # the first of equally good moves is chosen
        self.found, self.nodes = moves[0], 0
        clock, reported = Deadline(), 0.0

        def report() -> None:
            nonlocal reported
            reported = clock.spent
            self.report(self.nodes or 0, reported)

        def watch(so_far: Found) -> None:
            self.found, self.nodes = so_far.move, so_far.nodes
            report()

        # One move of Quarto may take minutes to judge: who watches must be able to end that.
        def reporting(ask: Callable[[Position], T]) -> Callable[[Position], T]:
            def asked(position: Position) -> T:
                if clock.spent > reported + REPORT_SECONDS:
                    report()
                return ask(position)

            return asked

        evaluate, candidates = reporting(self._evaluate), reporting(self._candidates)
        found = self._look(position, self._depth, evaluate, moves, candidates, watch)
        self.nodes = found.nodes
        return found.move
