"""The commands on tables of other games than Connect Four: the game's name stands before the board.

    build-tablebase mnk 4x4 --connect 4
    tablebase probe mnk 4x4 --connect 4 "c3 b2"
    tablebase stats tables/mnk-4x4-connect4.h5

A table of what follows a position is named by `--from POSITION`, in every command.
"""

from __future__ import annotations

import argparse
import contextlib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retro.errors import EXIT_INTERRUPTED, BadTextError, MissingTableError, TablebaseError
from tablebase.cli import keyed_show as show
from tablebase.cli.common import (
    LEVELS,
    add_folder,
    add_json,
    add_search,
    add_version,
    check_memory,
    file_to_write,
    open_keyed_tables,
    read_position,
    read_text,
    say,
    say_search,
    thread_count,
)
from tablebase.cli.progress import SearchProgress, Ticker
from tablebase.places import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retro.games.catalogue import PlacementGame
    from tablebase.keyed_build import KeyedProgress
    from tablebase.keyed_oracle import KeyedOracle
    from tablebase.keyed_probe import KeyedTable

QUESTIONS = ("probe", "line", "stats", "verify")
ASKED_OF_SOLVER = ("probe", "line")  # where no table covers the position


def is_keyed_file(path: Path) -> bool:
    """Whether a file holds a table with sorted keys; damaged files hold none."""
    if path.suffix != SUFFIX:
        return False
    from tablebase.keyed_format import INDEX
    from tablebase.store_hdf5 import index_of

    try:
        return index_of(path) == INDEX
    except TablebaseError:
        return False


def file_stats(path: Path) -> dict[str, Any]:
    """The counts of a table file as JSON."""
    from tablebase.keyed_probe import open_keyed_file

    with open_keyed_file(path) as table:
        return show.stats_json(table)


def question(command: str, game: PlacementGame | None, arguments: Sequence[str]) -> int:
    """`tablebase COMMAND GAME BOARD ...`, or without a game `tablebase COMMAND FILE ...`."""
    # Options may stand between board and position: mnk 4x4 --connect 4 "c3 b2".
    options = _question_parser(command, game).parse_intermixed_args(arguments)
    if command in ASKED_OF_SOLVER:
        with _open_oracle(options) as oracle:
            return {"probe": _probe, "line": _line}[command](options, oracle)
    with _open(options) as table:
        return {"stats": _stats, "verify": _verify}[command](options, table)


def _question_parser(command: str, game: PlacementGame | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"tablebase {command}{f' {game.name}' if game else ''}")
    if game is None:
        parser.add_argument("file", type=Path, help="a table file")
    else:
        _add_game(parser, game)
        add_folder(parser)
    if command in ASKED_OF_SOLVER:
        add_search(parser)
        parser.add_argument("position", nargs="?", metavar="POSITION", help="moves from the start")
        parser.add_argument(
            "--grid", type=Path, metavar="FILE", help="read the position from a file"
        )
    if command == "verify":
        parser.add_argument("--level", choices=LEVELS, default="quick", help="default: quick")
        parser.add_argument("--solver", action="store_true", help="compare with the search, too")
    add_json(parser)
    return parser


def _add_game(parser: argparse.ArgumentParser, game: PlacementGame) -> None:
    """A game's board, its own options, and the position a table starts from."""
    parser.description = parser.description or game.about
    parser.set_defaults(game=game)
    parser.add_argument("board", metavar="WxH", help="its size, such as 4x4")
    for option in game.options:
        parser.add_argument(
            f"--{option.name}",
            dest=f"option_{option.name}",
            metavar=option.metavar,
            help=option.help,
        )
    parser.add_argument(
        "--from",
        dest="root",
        default="",
        metavar="POSITION",
        help="all that follows a position: moves, or the path of a grid file",
    )


def _asked_root(options: argparse.Namespace) -> tuple[PlacementGame, Any]:
    """The game and the position a table starts from, as the options name them."""
    game: PlacementGame = options.game
    given = {option.name: getattr(options, f"option_{option.name}") for option in game.options}
    board = game.parse(options.board, {name: text for name, text in given.items() if text})
    return game, read_position(game, board, options.root) if options.root else game.start(board)


def _open(options: argparse.Namespace) -> KeyedTable:
    from tablebase.keyed_probe import open_keyed_file, open_rooted

    if "file" in options:
        return open_keyed_file(options.file)
    return open_rooted(*_asked_root(options), options.dir)


@contextlib.contextmanager
def _open_oracle(options: argparse.Namespace) -> Iterator[KeyedOracle]:
    """The table that the options name, and the solver for what it does not cover."""
    from tablebase.keyed_oracle import KeyedOracle

    check_memory(options.memory)
    with contextlib.ExitStack() as stack:
        why = "no table covers this position"
        try:
            tables = [stack.enter_context(_open(options))]
            game, root = tables[0].game, tables[0].root
        except MissingTableError as error:
            if "file" in options:
                raise  # a file does not say which game it would have held
            game, root = _asked_root(options)
            tables = open_keyed_tables(game, root.board, options.dir, stack)
            why = why if tables else str(error)
        yield KeyedOracle(
            game,
            root,
            tables,
            memory_mb=options.memory,
            time_limit=options.time_limit,
            before_search=lambda: say_search(root.board, why),
            report=SearchProgress().report,
        )


def _asked_position(options: argparse.Namespace, oracle: KeyedOracle) -> Any:
    """The position that the options name; the root of the table if none is named."""
    if options.grid is not None:
        if options.position is not None:
            raise BadTextError("found both a position and --grid, wanted one of them")
        text = read_text(options.grid)
        try:
            return oracle.as_position(text)
        except TablebaseError as error:
            raise type(error)(f"{options.grid}: {error}") from None
    return oracle.root if options.position is None else oracle.as_position(options.position)


def _probe(options: argparse.Namespace, oracle: KeyedOracle) -> int:
    found = oracle.probe(_asked_position(options, oracle))
    if options.json:
        show.print_json(show.probe_json(oracle, found))
    else:
        show.print_probe(oracle, found)
    return 0


def _line(options: argparse.Namespace, oracle: KeyedOracle) -> int:
    start = oracle.probe(_asked_position(options, oracle))
    line = oracle.best_line(start.position)
    if options.json:
        show.print_json(show.line_json(oracle, start, line))
    else:
        show.print_line(oracle, start, line)
    return 0


def _stats(options: argparse.Namespace, table: KeyedTable) -> int:
    if options.json:
        show.print_json(show.stats_json(table))
    else:
        show.print_stats(table)
    return 0


def _verify(options: argparse.Namespace, table: KeyedTable) -> int:
    from tablebase.keyed_verify import check_by_search, verify_keyed

    with Ticker(table.plies[-1]) as ticker:
        done = verify_keyed(table, options.level, report=ticker.tick)
        agreed = check_by_search(table, report=ticker.tick) if options.solver else 0
    if options.json:
        content = {"file": str(table.path), "sound": True, **asdict(done), "solver": agreed}
        show.print_json(content)
    else:
        show.print_verified(table, done)
        if options.solver:
            print(f"positions that the search confirmed: {agreed:,}")
    return 0


def build(asked: PlacementGame, arguments: Sequence[str]) -> int:
    """`build-tablebase GAME BOARD ...`."""
    from tablebase.cli.keyed_plan import plan
    from tablebase.keyed_build import build_keyed
    from tablebase.keyed_probe import open_keyed_file
    from tablebase.places import keyed_path
    from tablebase.units import duration

    options = _build_parser(asked).parse_args(arguments)
    game, root = _asked_root(options)
    path = options.out or keyed_path(game, root, options.dir)
    if options.plan:
        return plan(options, game, root, path)
    try:
        with _Progress(quiet=options.quiet) as progress:
            result = build_keyed(
                game, root, path, threads=options.threads, force=options.force,
                report=progress.report, announce=progress.announce,
            )  # fmt: skip
    except KeyboardInterrupt:
        say(f"interrupted; what is finished is kept in {path}.partial")
        say("the same command resumes there")
        return EXIT_INTERRUPTED
    if not options.quiet:
        done = f"built in {duration(result.seconds)}"
        say(f"{path} is finished: nothing to do" if result.was_there else done)
    with open_keyed_file(path) as table:
        return _stats(options, table)


def _build_parser(game: PlacementGame) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"build-tablebase {game.name}",
        description=f"Solve every position of a board ({game.about}) and write the table.",
        epilog="Interrupted, the same command resumes after the last complete ply.",
    )
    _add_game(parser, game)
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--out", type=file_to_write, metavar="PATH", help="the file to write")
    place.add_argument(
        "--dir", type=Path, metavar="DIR", help="folder of tables (TABLEBASE_DIR, else tables)"
    )
    parser.add_argument("--threads", type=thread_count, metavar="N", help="default: all cores")
    parser.add_argument("--force", action="store_true", help="build again from nothing")
    parser.add_argument("--plan", action="store_true", help="say what it will take, build nothing")
    add_json(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
    add_version(parser)
    return parser


class _Progress(Ticker):
    """Names the ply being walked and how many positions it has; silent if `quiet`."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(0)
        self._quiet = quiet

    def announce(self, line: str) -> None:
        if not self._quiet:
            say(line)

    def report(self, progress: KeyedProgress) -> None:
        if not self._quiet:
            phase = {"forward": "walking forward", "backward": "walking back"}[progress.phase]
            self.show(f"{phase}: ply {progress.ply}, {progress.positions:,} positions")
