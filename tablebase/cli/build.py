"""The `build-tablebase` command."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from retro.errors import EXIT_INTERRUPTED
from tablebase import answers
from tablebase.cli import show
from tablebase.cli.grammar import Command, read_words
from tablebase.cli.guard import run, say, shorten
from tablebase.cli.options import (
    MOST_THREADS,
    add_root,
    add_threads,
    at_most,
    file_to_write,
    folder,
    memory_size,
    ply_range,
)
from tablebase.cli.overview import BUILD, HELP
from tablebase.cli.progress import BuildProgress
from tablebase.units import duration, size

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from retro.games.game import Board, Position
    from tablebase.cli.grammar import Asked


def _add_options(parser: argparse.ArgumentParser) -> None:
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--out", type=file_to_write, metavar="PATH", help="write the table to this file"
    )
    place.add_argument(
        "--dir",
        type=folder,
        metavar="DIR",
        help="keep tables in this folder (default: TABLEBASE_DIR, else tables)",
    )
    add_root(parser)
    parser.add_argument(
        "--plies", type=ply_range, metavar="A..B", help="keep only the values of these plies"
    )
    parser.add_argument(
        "--memory",
        type=memory_size,
        metavar="SIZE",
        help="use at most this much, such as 4G (default: most of what is free)",
    )
    add_threads(parser)
    parser.add_argument(
        "--processes",
        type=at_most(MOST_THREADS),
        metavar="N",
        help="use N processes instead of threads",
    )
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="use a Dask cluster: tcp://HOST:8786, or local"
    )
    parser.add_argument(
        "--task-memory",
        type=memory_size,
        metavar="SIZE",
        help="limit the memory of one task on a cluster",
    )
    parser.add_argument(
        "--work-dir",
        type=Path,
        metavar="DIR",
        help="keep unfinished parts in this folder, which all workers share",
    )
    parser.add_argument(
        "--counts",
        choices=("on", "off"),
        default="on",
        help="off: accepted, but counting costs next to nothing and is done (connect4 only)",
    )
    parser.add_argument(
        "--distances",
        action="store_true",
        help="also store in how many plies each position ends; doubles the file or more",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="start again, even if a table or a partial build exists",
    )
    parser.add_argument(
        "--plan", action="store_true", help="only show the time, memory and disk a build needs"
    )
    parser.add_argument(
        "--quiet",
        action="store_true",
        help="print only the value and the file",
    )


def build_command(asked: Asked) -> int:
    from tablebase.files.places import table_path

    board = asked.board()
    root = asked.root(board)
    path = asked.options.out or table_path(root or board.start(), asked.options.dir)
    return (_plan if asked.options.plan else _build)(asked, board, root, path)


def _plan(asked: Asked, board: Board, root: Position | None, path: Path) -> int:
    from tablebase import plan
    from tablebase.files.atomic import parts_place

    options = asked.options
    found = plan(
        board,
        root=root,
        plies=options.plies,
        memory=options.memory,
        threads=options.threads,
        processes=options.processes,
        counts=options.counts == "on",
        distances=options.distances,
        cluster=options.cluster,
        task_memory=options.task_memory,
    )
    folder = parts_place(path, options.work_dir).parent
    obstacle = found.obstacle(folder)
    if options.json:
        show.print_json(answers.plan_json(found, path, obstacle))
    else:
        show.print_plan(found, path, fits=obstacle is None)
    warning = found.warning(folder)
    if obstacle is not None:
        say(shorten(f"would be refused: {obstacle}"))
    elif warning is not None:
        say(shorten(f"warning: {warning}"))
    return 0


def _build(asked: Asked, board: Board, root: Position | None, path: Path) -> int:
    from tablebase import build, open_tablebase
    from tablebase.files.atomic import parts_folder, parts_place

    options = asked.options
    try:
        with BuildProgress(quiet=options.quiet) as progress:
            built = build(
                board,
                path,
                root=root,
                plies=options.plies,
                memory=options.memory,
                threads=options.threads,
                processes=options.processes,
                counts=options.counts == "on",
                distances=options.distances,
                cluster=options.cluster,
                task_memory=options.task_memory,
                work_dir=options.work_dir,
                force=options.force,
                report=progress.report,
                announce=progress.announce,
            )
    except KeyboardInterrupt:
        kept = parts_folder(parts_place(path, options.work_dir))
        if kept.exists():
            say(f"interrupted; what is finished is kept in {kept}")
            say("the same command resumes there")
        else:
            say("interrupted; so short a build begins again")
        return EXIT_INTERRUPTED
    if built.was_there:
        progress.announce(f"{path} is finished: nothing to do")
    else:
        peak = f", at most {size(peak_memory())} of memory" if peak_memory() else ""
        progress.announce(f"built in {duration(built.seconds)}{peak}")
    with open_tablebase(path) as table:
        if options.json:
            done = {"seconds": built.seconds, "was_there": built.was_there}
            show.print_json({**answers.stats_json(table), **done})
        else:
            (show.print_result if options.quiet else show.print_stats)(table)
    return 0


def peak_memory() -> int:
    """The most memory that this process had, in bytes, or 0 if the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


COMMANDS = (Command("build", HELP["build"], build_command, _add_options),)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of `build-tablebase`."""
    command = replace(COMMANDS[0], name=BUILD)
    return run(lambda words: command.run(read_words(command, words)), arguments)


if __name__ == "__main__":
    sys.exit(main())
