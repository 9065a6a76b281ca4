"""A human in a match: sees board and moves on stderr, and takes nothing back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from retro.errors import BadTextError, TablebaseError
from retro.play.player import Player
from tablebase.cli.console import Quit
from tablebase.cli.guard import say, shorten
from tablebase.cli.seats import HUMAN

if TYPE_CHECKING:
    from retro.games.game import Position


class Contestant(Player):
    """Whoever sits at the terminal; stdout is for the score."""

    name = HUMAN
    _mine: Position | None = None  # the position of her last move

    def choose(self, position: Position) -> int:
        self._mine = position
        say(str(position))
        while True:
            print(f"{position.mover_name}> ", end="", file=sys.stderr, flush=True)
            line = sys.stdin.readline() if sys.stdin is not None else ""
            if not line or line.strip() == "quit":
                say("")
                raise Quit
            if line.strip() in ("undo", "load"):
                say("no move is taken back in a match")
            elif line.strip():
                try:
                    return _legal(position, line.strip())
                except TablebaseError as error:
                    say(shorten(str(error)))

    def observe(self, position: Position, move: int) -> None:
        if position is not self._mine:
            say(f"{position.mover_name} plays {position._text_of(move)}")


def _legal(position: Position, text: str) -> int:
    try:
        move = position._number_of(text)
    except BadTextError:
        raise BadTextError(f"found {text!r}, wanted a move, or quit") from None
    position._play(move)  # complains about what is against the rules
    return move
