"""Computers at the board: levels and players by name, as the commands know them.

    {"move", "player", "seconds", "nodes", "remark", "after"} and the position

Only players whose thinking is bounded are offered, and only by these names: a name from a
request never becomes a file or a program.
"""

from __future__ import annotations

import re
import time
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from retro.errors import BadTextError, GameOverError, TablebaseError
from retro.play.levels import EXACT_SECONDS, LEVELS, make_level
from retro.play.players import make_player, read_spec
from tablebase.perfect import PerfectPlayer

if TYPE_CHECKING:
    from retro.games.game import Board, Position
    from retro.play.player import Player
    from tablebase.answers import Json
    from tablebase.oracles import Oracle
    from tablebase.web.searches import Errand

PERFECT = "perfect"
OTHERS = {
    "random": "any legal move",
    "greedy": "the move that looks best at once",
    "alphabeta:2": "looks 2 plies ahead",
    "alphabeta:4": "looks 4 plies ahead",
    "uct:1000": "1,000 games by lot before each move",
    "allis": "by Allis' nine rules",
}
_BOUNDED = re.compile(
    rf"{'|'.join(LEVELS)}|random|greedy|allis|alphabeta:[1-5]|uct:[1-9][0-9]{{0,4}}", re.ASCII
)


@lru_cache(maxsize=32)
def seats_of(board: Board) -> tuple[dict[str, str], ...]:
    """The players of a board: the levels, then others that know its game."""
    found = [
        {"name": level.name, "kind": "level", "about": level.about(board).partition(": ")[2]}
        for level in LEVELS.values()
    ]
    for name, about in OTHERS.items():
        try:
            make_player(read_spec(name), board, Random(0))
        except TablebaseError:
            continue  # not of this game, or not on so large a board
        found.append({"name": name, "kind": "method", "about": about})
    return tuple(found)


def is_seat(name: str) -> bool:
    """Whether a computer of this name can be given a seat here."""
    return bool(_BOUNDED.fullmatch(name))


def require_seat(name: str) -> str:
    """The same name, if it can."""
    if not is_seat(name):
        wanted = ", ".join([*LEVELS, *OTHERS, "uct:PLAYOUTS"])
        raise BadTextError(f"found player {name[:40]!r}, wanted one of {wanted}")
    return name


class Thought(NamedTuple):
    """A move, and what it took to find it."""

    move: int
    seconds: float
    nodes: int | None
    remark: str


def think(name: str, position: Position, seed: int, oracle: Oracle, errand: Errand) -> Thought:
    """The move of a player; runs in a thread."""
    if position.is_over():
        raise GameOverError(position.check().over_message())
    begin, limit = time.perf_counter(), oracle.time_limit
    oracle.time_limit = EXACT_SECONDS if limit is None else min(limit, EXACT_SECONDS)
    try:
        player = _player(name, position.board, Random(f"{seed} {position.ply}"), oracle)
        player.report = lambda nodes, _seconds: errand.check(f"{nodes:,} nodes searched")
        player.reset(position.board, position.side_to_move)
        move = player.choose(position)
    finally:
        oracle.time_limit = limit
    remark = player.remark or OTHERS.get(name, name)
    return Thought(move, time.perf_counter() - begin, player.nodes, remark)


def _player(name: str, board: Board, rng: Random, oracle: Oracle) -> Player:
    if name == PERFECT:
        return make_level(name, board, rng, PerfectPlayer(oracle))
    return make_player(read_spec(name), board, rng)


def thought_json(name: str, position: Position, thought: Thought) -> Json:
    """A computer's move."""
    after = position._play(thought.move)
    return {
        **position.to_dict(),
        "player": name,
        "move": position._text_of(thought.move),
        "seconds": round(thought.seconds, 3),
        "nodes": thought.nodes,
        "remark": thought.remark,
        "after": after._text_or_none(),
    }
