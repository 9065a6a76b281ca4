"""Which game a command is about: `probe mnk 4x3`, or `play --game mnk --board 4x3 --connect 3`.

A game is named by the first word that is neither an option nor an option's value, or by `--game`:

    probe --dir quarto mnk 4x3 --json "a1 b2"      words
          o     value  ^   p   o      p            o options, p the rest; ^ names the game
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retro.errors import BadTextError
from retro.games.catalogue import NAMES, find_game

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from retro.games.catalogue import PlacementGame

CONNECT = "connect4"  # has commands and a solver of its own
DEFAULT_GAME = CONNECT
GAME_OPTION = "--game"
FLAGS = ("--force", "--help", "--json", "--plan", "--quiet", "--solver", "--strong", "--version")
DEFAULT_SIZES = {"connect4": "7x6", "domineering": "6x6", "puissance-plus": "5x5", "quarto": "4x4"}
OTHER_SIZE = "3x3"


def split_game(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """The game that words name, or None, and the words without its name.

    >>> split_game(["--dir", "quarto", "mnk", "4x3"])
    ('mnk', ['--dir', 'quarto', '4x3'])
    >>> split_game(["4x3", "--game=mnk", "b2"])
    ('mnk', ['4x3', 'b2'])
    >>> split_game(["5x4", "--dir", "mnk"])
    (None, ['5x4', '--dir', 'mnk'])
    """
    options, rest = _sort_words(words)
    for option in options:
        name, _, value = " ".join(words[option]).replace("=", " ", 1).partition(" ")
        if name == GAME_OPTION:
            return value, [*words[: option.start], *words[option.stop :]]
    if rest and words[rest[0]] in NAMES:
        return words[rest[0]], [*words[: rest[0]], *words[rest[0] + 1 :]]
    return None, list(words)


def first_thing(words: Sequence[str]) -> str:
    """The first word that is neither an option nor an option's value; "" if there is none."""
    _, rest = _sort_words(words)
    return words[rest[0]] if rest else ""


def options_first(words: Sequence[str]) -> list[str]:
    """The same words with all options before the rest, as subcommands of argparse want them.

    >>> options_first(["5x4", "--dir", "T", "443"])
    ['--dir', 'T', '5x4', '443']
    """
    options, rest = _sort_words(words)
    return [word for option in options for word in words[option]] + [words[i] for i in rest]


def _sort_words(words: Sequence[str]) -> tuple[list[slice], list[int]]:
    """Where the options are, each with its value, and where the rest is."""
    options, rest = [], []
    i = 0
    while i < len(words):
        word = words[i]
        if not word.startswith("-"):
            rest.append(i)
            i += 1
            continue
        # Names may be cut short, as argparse has it.
        is_alone = "=" in word or word == "-h" or any(flag.startswith(word) for flag in FLAGS)
        options.append(slice(i, i + (1 if is_alone else 2)))
        i = options[-1].stop
    return options, rest


def add_game(parser: argparse.ArgumentParser) -> None:
    """The options that name a game and its board: those of every game in the catalogue."""
    parser.add_argument(
        "--game", default=DEFAULT_GAME, metavar="G", help=f"one of {', '.join(NAMES)}"
    )
    parser.add_argument(
        "--board", metavar="WxH", help="default: 7x6, or what the game is known for"
    )
    for name, (metavar, meanings) in sorted(_all_options().items()):
        parser.add_argument(f"--{name}", metavar=metavar, help="; ".join(meanings))


def asked_game(options: argparse.Namespace) -> tuple[PlacementGame, Any]:
    """The game and the board that the options name."""
    game = find_game(options.game)
    given = {name: getattr(options, name) for name in _all_options()}
    given = {name: text for name, text in given.items() if text is not None}
    strange = set(given) - {option.name for option in game.options}
    if strange:
        raise BadTextError(f"the game {game.name} has no option --{min(strange)}")
    return game, game.parse(options.board or DEFAULT_SIZES.get(game.name, OTHER_SIZE), given)


def _all_options() -> dict[str, tuple[str, list[str]]]:
    """{name: (metavar, what it means in each game that has it)}."""
    found: dict[str, tuple[str, list[str]]] = {}
    for name in NAMES:
        for option in find_game(name).options:
            meanings = found.setdefault(option.name, (option.metavar, []))[1]
            meanings.append(f"{name}: {option.help}")
    return found
