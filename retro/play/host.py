"""The process in which a Python player of one's own sits: `python -m retro.play.host FILE:CLASS`.

It speaks the lines of `external` on behalf of the class, so that a crash, an endless loop
or a print of hers harms nobody else. The class is called without arguments; it has

    choose(position)          -> a move, as a number or as text
    reset(board, side)        if it likes
    observe(position, move)   if it likes
    name                      if it likes: what it wants to be called
    nodes, remark             if it likes: about the last move
"""

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Protocol

from retro.games.moves import Move
from retro.play.record import LONGEST_NAME, LONGEST_REMARK, one_line
from retro.play.record_text import read_record

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

    from retro.games.game import Position


class Own(Protocol):
    """A player of one's own: `choose`, and what else of `Player` it has."""

    def choose(self, position: Position) -> int | str | Move: ...


def load(text: str) -> Own:
    """An object of the class that `FILE.py:CLASS` names."""
    path, _, name = text.rpartition(":")
    spec = spec_from_file_location("player_of_ones_own", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    player: Own = getattr(module, name)()
    return player


def serve(player: Own, lines: Iterable[str], out: TextIO) -> None:
    """Answer lines until there are no more."""
    position: Position | None = None
    for line in lines:
        word, _, rest = line.strip().partition(" ")
        if word == "quit":
            return
        if word == "board":
            position = read_record(f"{rest}\n").position
        elif position is None:
            continue
        elif word == "position":
            position = position.board.position(rest)
        elif word == "side":
            _tell(player, "reset", position.board, rest)
        elif word == "move":
            move = position._number_of(rest)
            _tell(player, "observe", position, move)
            position = position._play(move)
        elif word == "go":
            _answer(player, position, out)


def _tell(player: Own, name: str, *facts: object) -> None:
    method = getattr(player, name, None)
    if method is not None:
        method(*facts)


def _answer(player: Own, position: Position, out: TextIO) -> None:
    move = player.choose(position)
    name, nodes, remark = (getattr(player, fact, None) for fact in ("name", "nodes", "remark"))
    if name:
        print(f"# name {one_line(str(name), LONGEST_NAME)}", file=out)
    if nodes is not None:
        print(f"# nodes {int(nodes)}", file=out)
    if remark:
        print(f"# {one_line(str(remark), LONGEST_REMARK)}", file=out)
    if not isinstance(move, str | Move) and move in position._numbers():
        move = position._text_of(int(move))
    print(move, file=out, flush=True)


def main() -> int:
    """Keep standard output for the protocol: what the player prints goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(load(sys.argv[1]), sys.stdin, out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
