"""The `tablebase` command: its commands, and the way to the one that is asked for.

`build-tablebase` is `tablebase build`; `tablebase` alone is `tablebase help`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from tablebase.cli.grammar import find_command, read_words
from tablebase.cli.guard import run, time_limit
from tablebase.cli.overview import HOMES, make_overview

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tablebase.cli.grammar import Command


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of `tablebase`."""
    return run(_main, arguments)


def commands(name: str = "") -> list[Command]:
    """All commands; only those of one module, if the name is that of one of its commands."""
    homes = [home for home, names in HOMES.items() if name in names]
    return [
        command
        for home in homes or HOMES
        for command in import_module(f"tablebase.cli.{home}").COMMANDS
    ]


def _main(words: list[str]) -> int:
    if not words or words[0] == "help":
        words = [*words[1:], "--help"]
    command = None
    if not set(words) <= {"-h", "--help", "--version"}:
        command = find_command(words, commands(words[0]))
    if command is None:
        make_overview().parse_args(words)  # prints help or version, or complains
        return 0
    asked = read_words(command, words)
    with time_limit(asked.options.time_limit if command.is_one_question else None):
        return command.run(asked)


if __name__ == "__main__":
    sys.exit(main())
