"""What a position looks worth at a glance: the evaluations of a game by name.

Each takes an unfinished position and returns an integer for the side to move, her
pluses less those of the opponent. They belong to the games, `evaluate.py` in each folder:

    connect4         open, runs, cells
    mnk              runs
    puissance-plus   runs, classic
    domineering      safe, mobility
    quarto           answers, parity

Other games have none: there a player sees wins and losses within her depth only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.errors import BadTextError
from retro.games.catalogue import find_game

if TYPE_CHECKING:
    from retro.games.game import Position
    from retro.play.lookahead import Evaluation


def no_opinion(position: Position) -> int:
    """Everything unfinished looks equal."""
    return 0


def find_evaluation(game: str, name: str = "") -> Evaluation:
    """An evaluation of a game by name; without one, the best we have.

    >>> find_evaluation("mnk").__name__
    'runs'
    """
    known = find_game(game).evaluations
    if not name:
        return next(iter(known.values()), no_opinion)
    if name not in known:
        wanted = ", ".join(known) or "none"
        raise BadTextError(f"found evaluation {name!r}, {game} has: {wanted}")
    return known[name]
