"""`tablebase stats`, `list`, `verify` and `strategy`: questions about whole tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from retro.deadline import Deadline
from retro.errors import BadTextError, TablebaseError
from retro.games.connect4.rules import Connect4Position
from tablebase import answers
from tablebase.answers import LEVELS
from tablebase.building.plan import kept_plies
from tablebase.cli import show
from tablebase.cli.grammar import Command
from tablebase.cli.guard import say, shorten
from tablebase.cli.open import open_oracle, open_table
from tablebase.cli.options import add_folder, add_root, add_search, count, ply_range
from tablebase.cli.overview import HELP
from tablebase.cli.progress import Ticker
from tablebase.files.places import SHIPPED, all_tables, tables_folder

if TYPE_CHECKING:
    import argparse

    import numpy as np
    from numpy.typing import NDArray

    from retro.games.game import Position, States
    from retro.games.values import Player
    from tablebase.cli.grammar import Asked
    from tablebase.oracles import Oracle
    from tablebase.strategy import PlyCount
    from tablebase.tables import Table

FEW_CELLS = 30  # of a board whose strategies are counted soon
TABLE_PIECE, SEARCH_PIECE = 10_000, 100  # positions asked for at a time


def _add_table_options(parser: argparse.ArgumentParser) -> None:
    add_root(parser)
    add_folder(parser)


def _add_verify_options(parser: argparse.ArgumentParser) -> None:
    _add_table_options(parser)
    parser.add_argument(
        "--level",
        choices=LEVELS,
        default="quick",
        help="choose how much is checked (default: quick)",
    )
    parser.add_argument("--solver", action="store_true", help="also compare with the solver")
    parser.add_argument(
        "--counts",
        action="store_true",
        help="recount all positions, also of very large tables",
    )


def _add_strategy_options(parser: argparse.ArgumentParser) -> None:
    _add_table_options(parser)
    add_search(parser)
    parser.add_argument(
        "--most", type=count, metavar="N", help="stop if a ply has more than N positions"
    )


def _add_stats_options(parser: argparse.ArgumentParser) -> None:
    _add_table_options(parser)
    parser.add_argument(
        "--format",
        choices=("text", "csv"),
        default="text",
        help="print a table for people or rows for programs (default: text)",
    )
    parser.add_argument(
        "--count",
        action="store_true",
        help="count the positions of every ply without a table (connect4 only)",
    )
    parser.add_argument(
        "--plies", type=ply_range, metavar="A..B", help="with --count: only these plies"
    )
    parser.add_argument(
        "--threads", type=count, metavar="N", help="with --count: use N cores (default: all)"
    )


def stats_command(asked: Asked) -> int:
    if asked.options.count:
        return _count(asked)
    if asked.options.plies or asked.options.threads:
        raise BadTextError("--plies and --threads are for --count")
    with open_table(asked) as table:
        if asked.options.json:
            show.print_json(answers.stats_json(table))
        elif asked.options.format == "csv":
            show.print_counts_csv(table)
        else:
            show.print_stats(table)
    return 0


def _count(asked: Asked) -> int:
    """Positions and finished games of every ply, as they are counted."""
    from tablebase.building.halves.count import count_positions

    options, board = asked.options, asked.board()
    root, found = asked.root(board) or board.start(), []
    if not isinstance(root, Connect4Position):
        raise BadTextError(
            f"--count is for connect4: positions of {board.game_name} are counted by building "
            "the table"
        )
    plies = kept_plies(root, options.plies)
    with Ticker(plies[-1]) as ticker:
        for counted in count_positions(root, plies, options.threads):
            found.append(counted)
            ticker.tick("counting", counted.ply)
    if options.json:
        show.print_json(answers.count_json(root, found))
    else:
        show.print_positions(root, found)
    return 0


def verify_command(asked: Asked) -> int:
    from tablebase import verify

    options = asked.options
    with open_table(asked) as table:
        with Ticker(table.counts[-1].ply) as ticker:
            asked_for = {"solver": options.solver, "counts": options.counts}
            done = verify(table, options.level, **asked_for, report=ticker.tick)
        if options.json:
            show.print_json(answers.verified_json(table, done))
        else:
            show.print_verified(table, done)
    return 0


def list_command(asked: Asked) -> int:
    from tablebase import open_tablebase

    folder = tables_folder(asked.options.dir)
    asked.board()  # complains of what is none, also where there are no tables
    tables, titles, errors, status = [], [], [], 0
    for path in all_tables(folder):
        try:
            with open_tablebase(path) as table:
                if asked.is_about(table.board):
                    tables.append(answers.table_json(table))
                    titles.append(_title(table))
        except TablebaseError as error:
            say(f"error: {shorten(str(error))}")
            errors.append({"file": str(path), **answers.error_json(error)})
            status = error.exit_code
    if asked.options.json:
        show.print_json(answers.list_json(folder, tables, errors))
    else:
        show.print_entries(titles, tables)
        for bad in errors:
            print(f"bad: {shorten(bad['file'])} ({bad['kind']})")
        if all(path.parent == SHIPPED for path in all_tables(folder)):
            say(f"no tables in {folder}; build one with: build-tablebase 5x4")
    return status


def _title(table: Table) -> str:
    """What a table is of, and which plies of it are kept, if not all are."""
    first, last = table.plies[0], table.plies[-1]
    is_whole = (first, last) == (table.counts[0].ply, table.counts[-1].ply)
    plies = "" if is_whole else f", plies {first}..{last}"
    shipped = isinstance(table.path, Path) and table.path.parent == SHIPPED
    return f"{table.title}{plies}{' (shipped)' * shipped}"


def strategy_command(asked: Asked) -> int:
    from tablebase.strategy import count_strategies

    options = asked.options
    board = asked.board() if asked.file is None else None
    with open_oracle(asked, board) as oracle, Ticker(oracle.board.last_ply) as ticker:
        root = asked.root(oracle.board)
        if root is None:
            root = oracle.board.start() if board else oracle.tables[0].root
        _say_beforehand(oracle, root)
        clock = Deadline(options.time_limit, "not counted")

        def report(player: Player, counted: PlyCount) -> None:
            positions = sum(counted[1:])
            clock.check(f"ply {counted.ply}, {positions:,} positions")
            where = f"ply {counted.ply} of {root.board.last_ply}, {positions:,} positions"
            ticker.show(f"strategy of the {player} player: {where}")

        found = count_strategies(root, Watched(oracle, clock), most=options.most, report=report)
    if options.json:
        show.print_json(answers.strategy_json(root, found))
    else:
        show.print_strategies(root, found)
    return 0


def _say_beforehand(oracle: Oracle, root: Position) -> None:
    """Say that it will take long, where it will."""
    board = oracle.board
    bounds = "bound it with --time-limit S or --most N"
    if not oracle.reaches_the_end:
        say(f"without a table every position is searched, which takes long; {bounds}")
    elif board.last_ply - root.ply > FEW_CELLS:
        say(f"{board.size_text} is large: this may take hours; {bounds}")


class Watched:
    """The values of many positions, asked for in pieces, with a look at the clock between."""

    def __init__(self, oracle: Oracle, clock: Deadline) -> None:
        self._oracle, self._clock = oracle, clock
        self._piece = TABLE_PIECE if oracle.reaches_the_end else SEARCH_PIECE

    def probe_many(self, states: States, /) -> NDArray[np.int8]:
        import numpy as np

        from retro.games.game import States

        found = np.zeros(states.size, np.int8)
        for begin in range(0, states.size, self._piece):
            self._clock.check(f"{begin:,} of {states.size:,} positions of a ply")
            piece = slice(begin, begin + self._piece)
            asked = States(states.a[piece], states.b[piece], states.ply[piece])
            found[piece] = self._oracle.probe_many(asked)
        return found


COMMANDS = (
    Command(
        "stats",
        HELP["stats"],
        stats_command,
        _add_stats_options,
        takes_file=True,
    ),
    Command(
        "strategy",
        HELP["strategy"],
        strategy_command,
        _add_strategy_options,
        takes_file=True,
        is_one_question=True,
    ),
    Command("list", HELP["list"], list_command, add_folder, board="any"),
    Command(
        "verify",
        HELP["verify"],
        verify_command,
        _add_verify_options,
        takes_file=True,
    ),
)
