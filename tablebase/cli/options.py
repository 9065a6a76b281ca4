"""The options that commands share, and how their values are read."""

from __future__ import annotations

import argparse
import contextlib
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from retro.errors import BadTextError
from retro.games.catalogue import NAMES, find_game
from retro.memory import DEFAULT_MEMORY, memory_bytes
from retro.version import VERSION
from tablebase.files.places import tables_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

OPTION_PREFIX = "option_"  # of games' options in a namespace
# What nobody means who types more: checked before anything is allocated or begun.
MOST = 10**12  # of positions or nodes
MOST_SECONDS = 31_536_000  # a year
MOST_THREADS = 1_024
MOST_PLIES = 100
MOST_GAMES = 1_000_000


class _ShowVersion(argparse.Action):
    """The version, and the bit instructions that builds use; asked for only now, for it is slow."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from retro.bits import Native, bit_instructions

        native = isinstance(bit_instructions(), Native)
        print(f"retro-tablebase {VERSION}, bit instructions: {'PEXT' if native else 'portable'}")
        parser.exit()


def add_version(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_folder(parser: argparse.ArgumentParser) -> None:
    """`--dir`; `--tables` is its old name in `solve` and `analyse`."""
    parser.add_argument(
        "--dir",
        type=folder,
        metavar="DIR",
        help="look for tables in this folder (default: TABLEBASE_DIR, else tables)",
    )
    parser.add_argument("--tables", type=folder, dest="dir", help=argparse.SUPPRESS)


def add_root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="root",
        metavar="POSITION",
        help="use the table of all that follows this position (moves or a grid file)",
    )


def add_grid(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--grid", metavar="FILE", help="read the position from a file")
    parser.add_argument(
        "--any-counts",
        action="store_true",
        help="accept Connect Four grids with impossible stone counts; uses the solver",
    )


def add_search(parser: argparse.ArgumentParser, memory: str = DEFAULT_MEMORY) -> None:
    """The limits of a search, for questions that no table answers."""
    parser.add_argument(
        "--memory",
        type=memory_size,
        default=memory,
        metavar="SIZE",
        help=f"use at most this much memory for a search (default: {memory})",
    )
    parser.add_argument("--time-limit", type=seconds, metavar="S", help="stop after S seconds")


def add_leaves(parser: argparse.ArgumentParser) -> None:
    """Whether a search asks tables at its leaves."""
    parser.add_argument(
        "--leaves",
        choices=("auto", "on", "off"),
        default="auto",
        help="use tables inside a search: auto (when it saves time), on, off",
    )


def add_threads(parser: argparse.ArgumentParser, shown: str = "all cores") -> None:
    parser.add_argument(
        "--threads",
        type=at_most(MOST_THREADS),
        metavar="N",
        help=f"use N threads (default: {shown})",
    )


def add_game_options(parser: argparse.ArgumentParser, games: Iterable[str]) -> None:
    """The options of games, and the old ways to name a game and a board."""
    group = parser.add_argument_group("options of games")
    for name, (metavar, meanings) in game_options(games).items():
        group.add_argument(
            f"--{name}", dest=f"{OPTION_PREFIX}{name}", metavar=metavar, help="; ".join(meanings)
        )
    parser.add_argument("--game", help=argparse.SUPPRESS)
    parser.add_argument("--board", help=argparse.SUPPRESS)


def game_options(games: Iterable[str] = NAMES) -> dict[str, tuple[str, tuple[str, ...]]]:
    """{name: (metavar, what it means in each game that has it)}."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for name in games:
        for option in find_game(name).options:
            _, meanings = found.get(option.name, ("", ()))
            found[option.name] = option.metavar, (*meanings, f"{name}: {option.help}")
    return found


def given_options(options: argparse.Namespace) -> dict[str, str]:
    """The options of games that were given: {"connect": "3"}."""
    return {
        name.removeprefix(OPTION_PREFIX): text
        for name, text in vars(options).items()
        if name.startswith(OPTION_PREFIX) and text is not None
    }


def seconds(text: str) -> float:
    """A span of time that ends.

    >>> seconds("2.5")
    2.5
    """
    with contextlib.suppress(ValueError):
        if 0 <= float(text) <= MOST_SECONDS:
            return float(text)
    raise argparse.ArgumentTypeError(
        f"found {text!r}, wanted seconds such as 10 or 0.5, at most {MOST_SECONDS:,}"
    )


def count(text: str, most: int = MOST) -> int:
    """A whole number of at least 1."""
    if not re.fullmatch(r"0*[1-9][0-9]{0,12}", text, re.ASCII) or int(text) > most:
        wanted = "a whole number of at least 1" + (f", at most {most:,}" if most < MOST else "")
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted {wanted}")
    return int(text)


def at_most(most: int) -> Callable[[str], int]:
    """Reads a whole number from 1 to `most`."""
    return partial(count, most=most)


def ply_range(text: str) -> range:
    """Plies from text: `3..20`, or one, `7`.

    >>> ply_range("3..20")
    range(3, 21)
    """
    match = re.fullmatch(r"([0-9]{1,3})(?:\.\.([0-9]{1,3}))?", text, re.ASCII)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted plies such as 0..20")
    return range(int(match[1]), int(match[2] or match[1]) + 1)


def folder(text: str) -> Path:
    """A folder of tables, which need not be there yet."""
    try:
        return tables_folder(text)
    except BadTextError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def file_to_write(text: str) -> Path:
    """The path of a file that is to be written; it has a name."""
    if not Path(text).name:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted the path of a file")
    return Path(text)


def memory_size(text: str) -> int:
    """Bytes from text such as `4G` or `500M`."""
    try:
        return memory_bytes(text)
    except BadTextError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
