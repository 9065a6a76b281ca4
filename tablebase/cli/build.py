"""The `build-tablebase` command."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retro.errors import EXIT_INTERRUPTED, DoesNotFitError
from retro.games.catalogue import NAMES, find_game
from retro.games.connect import Board, Position, find_moves
from retro.games.connect_text import column_text, read_grid, read_moves
from tablebase.cli import keyed
from tablebase.cli.common import (
    add_connect,
    add_json,
    add_version,
    file_to_write,
    is_file,
    memory_size,
    ply_range,
    read_file,
    run,
    say,
    thread_count,
)
from tablebase.cli.games import CONNECT, split_game
from tablebase.places import table_path

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of `build-tablebase`."""
    return run(_main, arguments)


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="build-tablebase",
        description="Solve every position of a Connect Four board and write the table.",
        epilog="Interrupted, the same command resumes where it was. Other games: "
        f"build-tablebase GAME WxH; games: {', '.join(NAMES)}.",
    )
    parser.add_argument("board", metavar="WxH", help="columns x rows, such as 5x4")
    add_connect(parser)
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--out", type=file_to_write, metavar="PATH", help="the file to write")
    place.add_argument(
        "--dir", type=Path, metavar="DIR", help="folder of tables (TABLEBASE_DIR, else tables)"
    )
    parser.add_argument(
        "--from",
        dest="root",
        metavar="POSITION",
        help="build what can arise from a position: moves, or the path of a grid file",
    )
    parser.add_argument(
        "--plies", type=ply_range, metavar="A..B", help="keep the values of these plies only"
    )
    parser.add_argument(
        "--memory",
        type=memory_size,
        metavar="SIZE",
        help="such as 4G; default: most of what is free",
    )
    parser.add_argument("--threads", type=thread_count, metavar="N", help="default: all cores")
    parser.add_argument("--force", action="store_true", help="build again from nothing")
    parser.add_argument("--plan", action="store_true", help="say what it will take, build nothing")
    add_json(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
    add_version(parser)
    return parser


def _main(arguments: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    game, words = split_game(words)
    if game not in (None, CONNECT):
        return keyed.build(find_game(game), words)
    options = make_parser().parse_args(words)
    board = Board.parse(options.board, options.connect)
    root = read_root(options.root, board)
    moves = "".join(column_text(column) for column in find_moves(root) or ()) if root else ""
    path = options.out or table_path(board, options.dir, moves)
    asked = {"root": root, "plies": options.plies, "memory": options.memory}
    command = _plan if options.plan else _build
    return command(options, board, path, asked)


def read_root(text: str | None, board: Board) -> Position | None:
    """The position that `--from` names: a move string, or a file that holds a grid."""
    if text is None:
        return None
    if not is_file(text):
        return read_moves(board, text).check()
    return read_file(Path(text), lambda grid: read_grid(grid, board))


def _plan(options: argparse.Namespace, board: Board, path: Path, asked: dict[str, Any]) -> int:
    from tablebase.cli import show
    from tablebase.estimate import estimate_build, require_fit
    from tablebase.units import duration, size

    estimate = estimate_build(board, **asked)
    try:
        require_fit(estimate, path.parent)
        obstacle = None
    except DoesNotFitError as error:
        obstacle = str(error)
    if options.json:
        show.print_json({**estimate.as_json(), "file": str(path), "fits": obstacle is None})
    else:
        print(f"{estimate.header.name} would go to {path}")
        print(f"ranked positions  {estimate.ranked:,}")
        print(f"time              about {duration(estimate.seconds)} on two cores")
        print(f"memory            {size(estimate.memory)}", end=" ")
        print(f"({size(estimate.least_memory)} at least, with --memory)")
        print(f"disk              {size(estimate.disk)}", end=" ")
        print(f"({size(estimate.disk_while_building)} while building)")
        print(f"fits here         {'yes' if obstacle is None else 'no'}")
        lines: list[tuple[str, ...]] = [("ply", "positions", "time", "memory")]
        lines += [
            (str(ply), f"{plan.positions:,}", duration(plan.seconds), size(plan.memory))
            for ply, plan in estimate.plies.items()
        ]
        show.print_columns(lines)
    if obstacle is not None:
        say(f"would be refused: {obstacle}")
    return 0


def _build(options: argparse.Namespace, board: Board, path: Path, asked: dict[str, Any]) -> int:
    from tablebase.build import build_tablebase
    from tablebase.cli import show
    from tablebase.cli.progress import BuildProgress
    from tablebase.probe import open_tablebase
    from tablebase.units import duration, size

    try:
        with BuildProgress(quiet=options.quiet) as progress:
            result = build_tablebase(
                board,
                path,
                **asked,
                threads=options.threads,
                force=options.force,
                report=progress.report,
                announce=lambda line: None if options.quiet else say(line),
            )
    except KeyboardInterrupt:
        say(f"interrupted; what is finished is kept in {path}.partial")
        say("the same command resumes there")
        return EXIT_INTERRUPTED
    if not result.was_there:
        # A first question now, so that the kernels that answer it are compiled and cached.
        with open_tablebase(path) as table:
            table.get_wdl("")
    if not options.quiet:
        if result.was_there:
            say(f"{path} is finished: nothing to do")
        else:
            peak = f", at most {size(peak_memory())} of memory" if peak_memory() else ""
            say(f"built in {duration(result.seconds)}{peak}")
    if options.json:
        content = show.stats_json(result.header, result.value, result.records)
        show.print_json({**content, "file": str(path), "size": result.size})
    else:
        show.print_stats(result.header, result.value, result.records)
        show.print_file(path, result.size)
    return 0


def peak_memory() -> int:
    """The most memory that this process had, in bytes, or 0 if the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    sys.exit(main())
