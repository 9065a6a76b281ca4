"""`tablebase solve` and `tablebase analyse`: any position, by table or by search."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retro.games.connect import Board
from retro.games.values import VALUE_NAMES
from tablebase.cli.common import (
    add_connect,
    add_json,
    add_search,
    check_memory,
    is_file,
    open_tables,
    read_file,
    say,
    thread_count,
)
from tablebase.cli.progress import SearchProgress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from retro.search.solver import Solver, Stones

DEFAULT_BOARD = "7x6"


def add_solver_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what is to be solved, and how."""
    parser.add_argument(
        "position", nargs="?", default="", metavar="POSITION",
        help="columns played, such as 4453, or a grid file (White to move)",
    )  # fmt: skip
    parser.add_argument("--board", metavar="WxH", help="default: 7x6, or what the grid says")
    add_connect(parser)
    parser.add_argument("--tables", type=Path, metavar="DIR", help="folder of tables to ask first")
    add_search(parser)
    parser.add_argument(
        "--threads",
        type=thread_count,
        default=1,
        metavar="N",
        help="search on N threads; default: 1",
    )
    add_json(parser)


def solve_command(options: argparse.Namespace) -> int:
    from tablebase.cli import show

    stones = asked_stones(options)
    with make_solver(options, stones.board) as solver:
        found = solver.solve(stones, strong=options.strong)
    word = VALUE_NAMES[found.value]
    by = "table and search" if found.source == "both" else found.source
    say(f"{word} for the side to move, by {by}, {found.nodes:,} nodes")
    if options.json:
        content: dict[str, Any] = {"board": str(stones.board), "connect": stones.board.connect}
        content |= {"value": word, "plies": found.plies}
        show.print_json({**content, "nodes": found.nodes, "source": found.source})
    else:
        print(f"{word} {found.plies}" if options.strong else word)
    return 0


def analyse_command(options: argparse.Namespace) -> int:
    from tablebase.cli import show

    stones = asked_stones(options)
    with make_solver(options, stones.board) as solver:
        moves, best_line = solver.analyse_and_line(stones)
    line = "".join(move.move for move in best_line)
    if options.json:
        content = {"board": str(stones.board), "connect": stones.board.connect}
        show.print_json({**content, **show.analysis_json(moves), "line": line})
    else:
        show.print_analysis(moves, line)
    return 0


def asked_stones(options: argparse.Namespace) -> Stones:
    """The position that the options name: moves, or the path of a grid."""
    from retro.games.connect_text import grid_stones, read_moves
    from retro.search.solver import Stones

    board = Board.parse(options.board, options.connect) if options.board else None
    path = Path(options.position)
    looks_like_path = "/" in options.position or "." in options.position
    if not is_file(options.position) and not looks_like_path:
        board = board or Board.parse(DEFAULT_BOARD, options.connect)
        return Stones.of(read_moves(board, options.position))
    found, black, white = read_file(path, lambda text: grid_stones(text, board))
    return Stones(Board(found.width, found.height, options.connect), white, black)


@contextlib.contextmanager
def make_solver(options: argparse.Namespace, board: Board) -> Iterator[Solver]:
    """A solver with the table of its board, if that is there."""
    from retro.search import Solver

    check_memory(options.memory)
    with contextlib.ExitStack() as stack:
        yield Solver(
            board,
            memory_mb=options.memory,
            tables=open_tables(board, options.tables, stack),
            threads=options.threads,
            time_limit=options.time_limit,
            report=SearchProgress().report,
        )
