"""The `tablebase` command: questions to tables, or to the solver where there is none; games."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retro.errors import TablebaseError
from retro.games.catalogue import NAMES, find_game
from tablebase.cli import keyed, keyed_solve
from tablebase.cli.common import (
    LEVELS,
    add_folder,
    add_json,
    add_search,
    add_table,
    add_version,
    open_oracle,
    open_table,
    open_table_file,
    read_file,
    run,
    say,
)
from tablebase.cli.games import CONNECT, first_thing, options_first, split_game
from tablebase.cli.match import add_match_options, match_command
from tablebase.cli.play import add_play_options, play_command
from tablebase.cli.solve import add_solver_options, analyse_command, solve_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retro.games.connect import Board, Position
    from tablebase.cli.progress import Ticker
    from tablebase.probe import Tablebase


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of `tablebase`."""
    return run(_main, arguments)


def _main(arguments: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    command, rest = (words[0], words[1:]) if words else ("", [])
    if command in (*keyed.QUESTIONS, *keyed_solve.COMMANDS):
        game, rest = split_game(rest)
        if game not in (None, CONNECT):
            answer = keyed.question if command in keyed.QUESTIONS else keyed_solve.answer
            return answer(command, find_game(game), rest)
        if command in keyed.QUESTIONS and keyed.is_keyed_file(Path(first_thing(rest))):
            return keyed.question(command, None, rest)
    options = make_parser(command).parse_args([*words[:1], *options_first(rest)])
    status: int = options.command(options)
    return status


def make_parser(asked: str = "") -> argparse.ArgumentParser:
    """All commands; options that are gathered from all games only for the command asked for."""
    parser = argparse.ArgumentParser(
        prog="tablebase",
        description="Ask exact tables, or search. Values are for the side to move.",
        epilog="probe, line, stats, solve, analyse and verify take another game than Connect Four "
        f"before the board, such as mnk 4x4; games: {', '.join(NAMES)}.",
    )
    add_version(parser)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    probe = commands.add_parser("probe", help="value of a position and of every move")
    add_table(probe)
    add_position(probe)
    add_search(probe)
    probe.set_defaults(command=probe_command)

    line = commands.add_parser("line", help="one line of best play to the end")
    add_table(line)
    add_position(line)
    add_search(line)
    line.set_defaults(command=line_command)

    stats = commands.add_parser("stats", help="legal positions, wins, draws and losses per ply")
    add_table(stats)
    stats.set_defaults(command=stats_command)

    solve = commands.add_parser("solve", help="value of any position, by table or by search")
    add_solver_options(solve)
    solve.add_argument("--strong", action="store_true", help="also the plies to the end")
    solve.set_defaults(command=solve_command)

    analyse = commands.add_parser("analyse", help="value and distance of every move, main line")
    add_solver_options(analyse)
    analyse.set_defaults(command=analyse_command)

    strategy = commands.add_parser("strategy", help="positions that one perfect player can meet")
    add_table(strategy)
    add_search(strategy)
    strategy.set_defaults(command=strategy_command)

    play = commands.add_parser("play", help="a game at the terminal, against a perfect player")
    if asked == "play":
        add_play_options(play)
    play.set_defaults(command=play_command)

    match = commands.add_parser("match", help="games between two players, and the score")
    if asked == "match":
        add_match_options(match)
    match.set_defaults(command=match_command)

    listing = commands.add_parser("list", help="the tables that are there")
    add_folder(listing)
    add_json(listing)
    listing.set_defaults(command=list_command)

    verify = commands.add_parser("verify", help="check a table; exit code 0 if it is sound")
    add_table(verify)
    verify.add_argument("--level", choices=LEVELS, default="quick", help="default: quick")
    verify.add_argument(
        "--solver", action="store_true", help="compare with the forward solver, too"
    )
    verify.set_defaults(command=verify_command)
    return parser


def add_position(parser: argparse.ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "position", nargs="?", default="", metavar="MOVES", help="columns played, such as 443"
    )
    where.add_argument("--grid", type=Path, metavar="FILE", help="read the position from a grid")


def asked_position(options: argparse.Namespace, board: Board) -> Position:
    """The position that the options name."""
    from retro.games.connect_text import read_grid, read_moves

    if options.grid is None:
        return read_moves(board, options.position)
    return read_file(options.grid, lambda text: read_grid(text, board))


def probe_command(options: argparse.Namespace) -> int:
    from tablebase.cli import show

    with open_oracle(options) as oracle:
        found = oracle.probe(asked_position(options, oracle.board))
    if options.json:
        show.print_json(show.probe_json(found))
    else:
        show.print_probe(found)
    return 0


def line_command(options: argparse.Namespace) -> int:
    from tablebase.cli import show

    with open_oracle(options) as oracle:
        line = oracle.best_line(asked_position(options, oracle.board))
    if options.json:
        show.print_json(show.line_json(line))
    else:
        show.print_line(line)
    return 0


def strategy_command(options: argparse.Namespace) -> int:
    from tablebase.cli import show
    from tablebase.strategy import count_strategies

    with open_oracle(options) as oracle:
        board = oracle.board
        found = count_strategies(board, oracle.probe_many)
    if options.json:
        show.print_json(show.strategy_json(board, found))
    else:
        show.print_strategies(board, found)
    return 0


def stats_command(options: argparse.Namespace) -> int:
    from tablebase.cli import show

    with open_table_file(options) as table:
        if options.json:
            content = show.stats_json(table.header, table.value, table.records)
            show.print_json({**content, "file": str(table.path), "size": table.size})
        else:
            show.print_stats(table.header, table.value, table.records)
            show.print_file(table.path, table.size)
    return 0


def _file_stats(path: Path) -> dict[str, Any]:
    from tablebase.cli import show
    from tablebase.store import TableFile

    with TableFile(path) as table:
        stats = show.stats_json(table.header, table.value, table.records)
        return {**stats, "file": str(path), "size": table.size}


def list_command(options: argparse.Namespace) -> int:
    from tablebase.cli import show
    from tablebase.places import SUFFIX, tables_folder

    folder = options.dir or tables_folder()
    tables, status = [], 0
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            stats = keyed.file_stats(path) if keyed.is_keyed_file(path) else _file_stats(path)
        except TablebaseError as error:
            say(f"error: {error}")
            status = error.exit_code
            continue
        tables.append({key: stats[key] for key in stats if key != "plies"})
    if options.json:
        show.print_json({"folder": str(folder), "tables": tables})
        return status
    show.print_entries(tables)
    if not tables:
        say(f"no tables in {folder}; build one with: build-tablebase 5x4")
    return status


def verify_command(options: argparse.Namespace) -> int:
    from tablebase.cli import show
    from tablebase.cli.progress import Ticker
    from tablebase.verify import verify

    with open_table(options) as table, Ticker(table.counts[-1].ply) as ticker:
        done = verify(table, options.level, report=ticker.tick)
        agreed = _cross_check(table, ticker) if options.solver else 0
        name, path = table.board.name, table.path
    if options.json:
        show.print_json({"file": str(path), "sound": True, **asdict(done), "solver": agreed})
        return 0
    print(f"{name}: sound at level {done.level} ({path})")
    print(f"plies with checked digests and counts: {done.plies}")
    if done.positions:
        print(f"positions that agree with their successors: {done.positions:,}")
    if done.searched:
        print(f"positions that a plain search confirmed: {done.searched:,}")
    if options.solver:
        print(f"positions that the solver confirmed: {agreed:,}")
    return 0


def _cross_check(table: Tablebase, ticker: Ticker) -> int:
    from tablebase.cross_check import cross_check

    return cross_check(table, report=ticker.tick)
