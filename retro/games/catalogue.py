"""The games by name. A game is a folder beside this file, imported when it is asked for.

    retro/games/mnk/__init__.py     GAME, the record that `game` describes
                    rules.py        board and position, plainly
                    key.py          their states: two words, and the chosen one of a symmetry class
                    text.py         boards, moves and positions as people write them
                    kernels.py      the same rules for numba
                    evaluate.py     what a position looks worth at a glance

The name of a game is that of its folder, with `-` for `_`. Some boards have a name that people
know better; such a name stands for the game, the board's size and its options.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, NamedTuple

import retro.games
from retro.errors import BadTextError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retro.games.game import AnyGame, Board

DEFAULT_GAME = "connect4"
_FOLDERS = {m.name.replace("_", "-"): m.name for m in iter_modules(retro.games.__path__) if m.ispkg}
NAMES = (DEFAULT_GAME, *sorted(set(_FOLDERS) - {DEFAULT_GAME}))


class Alias(NamedTuple):
    """What another name of a game, or of a board, stands for."""

    game: str
    size: str = ""  # the usual one
    options: Mapping[str, str] = {}


ALIASES = {
    **dict.fromkeys(("tictactoe", "tic-tac-toe"), Alias("mnk", "3x3", {"connect": "3"})),
    "gomoku": Alias("mnk", "15x15", {"connect": "5"}),
    **dict.fromkeys(("c4", "connectfour", "connect-four"), Alias(DEFAULT_GAME)),
}
ALL_NAMES = (*NAMES, *ALIASES)


@cache
def find_game(name: str) -> AnyGame:
    """The record of a game; an alias is its game with another usual size, other options.

    >>> find_game("mnk").players
    ('X', 'O')
    >>> str(find_game("gomoku").make("9x9")), str(find_game("tictactoe").make())
    ('mnk 9x9 connect=5', 'mnk 3x3')
    """
    if name in ALIASES:
        alias = ALIASES[name]
        game, usual = find_game(alias.game), dict(alias.options)
        return replace(
            game,
            usual=alias.size or game.usual,
            parse=lambda size, options: game.parse(size, {**usual, **options}),
        )
    if name not in _FOLDERS:
        raise unknown_game(name)
    found: AnyGame = import_module(f"retro.games.{_FOLDERS[name]}").GAME
    return found


def unknown_game(name: str) -> BadTextError:
    """What to say of a word that names no game, with the name that it looks like.

    >>> print(unknown_game("tiktaktoe"))
    no game is called 'tiktaktoe'; did you mean tictactoe? Games: connect4, domineering, mnk, \
notakto, puissance-plus, quarto
    """
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), ALL_NAMES, 1)
    hint = f"; did you mean {near[0]}? Games: " if near else "; games: "
    return BadTextError(f"no game is called {name!r:.60}{hint}{', '.join(NAMES)}")


def make_board(*words: object, **options: object) -> Board:
    """A board from its game's name, its size and its options; what is left out is the usual.

    >>> make_board("connect4", "5x4") == make_board("5x4")
    True
    >>> make_board("mnk", "4x4", connect=4) == make_board("mnk 4x4 connect=4")
    True
    >>> make_board("tictactoe") == make_board("mnk 3x3")
    True
    """
    from retro.games.game import Board  # names are known without numpy

    if len(words) == 1 and isinstance(words[0], Board) and not options:
        return words[0]
    parts = [part for word in words for part in str(word).split()]
    is_named = bool(parts) and (parts[0] in ALIASES or not re.match(r"[0-9]", parts[0]))
    game = parts.pop(0) if is_named else DEFAULT_GAME
    size = parts.pop(0) if parts and "=" not in parts[0] else ""
    for part in parts:
        name, equals, text = part.partition("=")
        if not equals or name in options:
            raise BadTextError(f"found {part!r} after the board, wanted NAME=VALUE, each once")
        options[name] = text
    board: Board = find_game(game).make(size, **options)
    return board
