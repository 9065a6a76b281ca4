"""Whom a command asks: the tables that are there, with the solver behind them."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from tablebase.cli.guard import say
from tablebase.cli.progress import SearchProgress

if TYPE_CHECKING:
    from retro.games.game import Board
    from tablebase.cli.grammar import Asked
    from tablebase.oracles import Oracle
    from tablebase.tables import Table


def open_table(asked: Asked) -> Table:
    """The table that BOARD and `--from` name, or the file in the place of BOARD."""
    from tablebase import open_tablebase

    if asked.file is None:
        board = asked.board()
        return open_tablebase(board, folder=asked.options.dir, root=asked.root(board))
    if isinstance(asked.file, Path):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            asked.file.stat()  # complains of a name that no file may have
    with contextlib.ExitStack() as stack:
        table = stack.enter_context(open_tablebase(asked.file))
        asked.require(table.board, asked.file)
        stack.pop_all()
    return table


def open_oracle(asked: Asked, board: Board | None = None, *, says_why: bool = True) -> Oracle:
    """The oracle of a board, or that of the table file that was named; close it.

    Before it searches it says why, unless nobody wants to know.
    """
    from tablebase import Oracle, oracle
    from tablebase.oracles import NOT_COVERED

    options = asked.options
    limits = {"memory": options.memory, "time_limit": options.time_limit}
    limits |= {"threads": getattr(options, "threads", None)}
    limits |= {"leaves": getattr(options, "leaves", "auto")}
    if getattr(options, "any_counts", False) and board is not None:
        found = Oracle(board, [], **limits)  # no table holds positions that no play leads to
    elif board is not None:
        return oracle(
            board,
            folder=options.dir,
            before_search=lambda why: say_search(board, why if says_why else ""),
            report=SearchProgress().report,
            **limits,
        )
    else:
        table = open_table(asked)
        found = Oracle(table.board, [table], **limits)
    why = NOT_COVERED if says_why else ""
    found.before_search = lambda: say_search(found.board, why)
    found.report = SearchProgress().report
    return found


def say_search(board: Board, why: str) -> None:
    """Before a search: say why, if there is a reason, and that it will be slow where it will."""
    from retro.search.solver import MOST_CELLS, is_large

    if is_large(board):
        size = board.size_text
        say(f"{size} has more than {MOST_CELLS} cells: by the plain search, which is slow")
    elif why:
        say(f"searching: {why}")
