"""The games by name. A game is a folder beside this file, imported when it is asked for.

    retro/games/mnk/__init__.py     GAME, the record that `game` describes
                    rules.py        board and position, plainly
                    key.py          their states: two words, and the chosen one of a symmetry class
                    text.py         boards, moves and positions as people write them
                    kernels.py      the same rules for numba
                    evaluate.py     what a position looks worth at a glance

The name of a game is that of its folder, with `-` for `_`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import retro.games
from retro.errors import BadTextError
from retro.games.game import Board

if TYPE_CHECKING:
    from retro.games.game import AnyGame

DEFAULT_GAME = "connect4"
_FOLDERS = {m.name.replace("_", "-"): m.name for m in iter_modules(retro.games.__path__) if m.ispkg}
NAMES = (DEFAULT_GAME, *sorted(set(_FOLDERS) - {DEFAULT_GAME}))


@cache
def find_game(name: str) -> AnyGame:
    """The record of a game.

    >>> find_game("mnk").players
    ('X', 'O')
    """
    if name not in _FOLDERS:
        raise BadTextError(f"found game {name!r}, wanted one of {', '.join(NAMES)}")
    game: AnyGame = import_module(f"retro.games.{_FOLDERS[name]}").GAME
    return game


def make_board(*words: object, **options: object) -> Board:
    """A board from its game's name, its size and its options; what is left out is the usual.

    >>> make_board("connect4", "5x4") == make_board("5x4")
    True
    >>> make_board("mnk", "4x4", connect=4) == make_board("mnk 4x4 connect=4")
    True
    """
    if len(words) == 1 and isinstance(words[0], Board) and not options:
        return words[0]
    parts = [part for word in words for part in str(word).split()]
    game = parts.pop(0) if parts and not re.match(r"[0-9]", parts[0]) else DEFAULT_GAME
    size = parts.pop(0) if parts and "=" not in parts[0] else ""
    for part in parts:
        name, equals, text = part.partition("=")
        if not equals or name in options:
            raise BadTextError(f"found {part!r} after the board, wanted NAME=VALUE, each once")
        options[name] = text
    board: Board = find_game(game).make(size, **options)
    return board
