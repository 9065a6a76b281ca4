"""Which game a command is about: `--game mnk --board 4x3 --connect 3`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retro.errors import BadTextError
from retro.games.catalogue import NAMES, find_game

if TYPE_CHECKING:
    import argparse

    from retro.games.catalogue import PlacementGame

DEFAULT_GAME = "connect4"
DEFAULT_SIZES = {"connect4": "7x6", "domineering": "6x6", "puissance-plus": "5x5", "quarto": "4x4"}
OTHER_SIZE = "3x3"


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
