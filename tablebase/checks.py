"""Checking a table, independently of the walk that made it.

    spot     header, and random positions: the table's answer is the best over the successors'
             by the plain rules, and late in the game what a plain search finds
    quick    header and digests; the counts of every ply made again
    sample   both
    full     quick, and every stored position against its successors, by code that shares
             nothing with the walks
    solver   besides: positions against the forward search

A fault raises `VerificationError` (or `ChecksumError`) and names the position.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from retro.errors import (
    BadTextError,
    GameOverError,
    IllegalPositionError,
    NotCoveredError,
    VerificationError,
)
from tablebase.answers import LEVELS
from tablebase.indexes import index_for
from tablebase.tables import Table, open_tablebase

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from retro.games.game import Board
    from tablebase.answers import Level, Report, Verified


def verify(
    table: Table | Board | str | Path,
    level: Level = "quick",
    *,
    folder: Path | str | None = None,
    solver: bool = False,
    counts: bool = False,
    seed: int = 0,
    report: Report = lambda *_: None,
) -> Verified:
    """Check a table, by board, by path or open; raise at the first fault.

    `report(what, ply)` is called as it goes; `solver` compares with the forward search, too;
    `counts` counts positions anew, also where that takes as long as a third of the build.
    """
    begin = time.monotonic()
    if level not in LEVELS:
        raise BadTextError(f"found level {level!r}, wanted one of {', '.join(LEVELS)}")
    with contextlib.ExitStack() as stack:
        if not isinstance(table, Table):
            table = stack.enter_context(open_tablebase(table, folder=folder))
        table.reader.require_open()
        index = index_for(table.board)
        with _against_the_rules(table):
            done = index.check(table.reader, level, seed, report, counts=counts)
            agreed = index.check_by_search(table.reader, seed, report) if solver else 0
    return replace(done, solver=agreed, seconds=time.monotonic() - begin)


@contextlib.contextmanager
def _against_the_rules(table: Table) -> Iterator[None]:
    """A stored position that the rules refuse is a fault of the table, not of whoever asks."""
    try:
        yield
    except (IllegalPositionError, GameOverError, NotCoveredError) as error:
        raise VerificationError(f"{table.path} holds what is no position: {error}") from error
