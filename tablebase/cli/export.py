"""`tablebase export`: the positions of a table as a file for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.errors import BadTextError
from tablebase.cli.grammar import Command
from tablebase.cli.guard import say
from tablebase.cli.open import open_table
from tablebase.cli.options import add_folder, add_root, count, file_to_write, ply_range
from tablebase.cli.overview import HELP

if TYPE_CHECKING:
    import argparse

    from tablebase.cli.grammar import Asked


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out",
        type=file_to_write,
        metavar="FILE",
        help="write this file: .parquet (with the extra arrow), .csv or .npz",
    )
    parser.add_argument("--moves", action="store_true", help="add the values of all moves")
    parser.add_argument(
        "--canonical", action="store_true", help="write one position of each symmetry class"
    )
    parser.add_argument(
        "--plies", type=ply_range, metavar="A..B", help="write some plies (default: all)"
    )
    parser.add_argument("--sample", type=count, metavar="N", help="write N random positions")
    parser.add_argument("--seed", type=int, metavar="S", help="set the seed of the sample")
    add_root(parser)
    add_folder(parser)


def export_command(asked: Asked) -> int:
    options = asked.options
    if options.out is None:
        raise BadTextError("name the file to write: --out FILE.parquet, FILE.csv or FILE.npz")
    with open_table(asked) as table:
        rows = table.export(
            options.out,
            moves=options.moves,
            canonical=options.canonical,
            plies=options.plies,
            sample=options.sample,
            seed=options.seed,
        )
    say(f"{rows:,} positions, {options.out.stat().st_size:,} bytes")
    print(options.out)
    return 0


COMMANDS = (
    Command(
        "export",
        HELP["export"],
        export_command,
        _add_options,
        takes_file=True,
        has_json=False,
    ),
)
