"""The tables that are there, kept open; looked for again when files change.

Tables are only read here, so all threads share them, and all workers the pages of their files.
A look into one that is in memory takes less than handing it to a thread; any other look has a
thread, so that nobody else waits for it.
A table that falls off the shelf is closed once nobody uses it any more.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from retro.errors import TablebaseError
from tablebase import answers
from tablebase.files.places import all_tables, rooted_paths, table_path, tables_folder
from tablebase.oracles import NOT_IN_TABLE, open_tables
from tablebase.tables import open_tablebase

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from retro.answers import Probe
    from retro.games.game import Board, Position
    from tablebase.answers import Json
    from tablebase.tables import Table

MOST_BOARDS, MOST_FILES = 16, 200
QUICK_SECONDS = 0.005  # of a look that others can wait for

Stamp = tuple[tuple[str, int, int], ...]  # of files: name, time, size


def _stamp(paths: Sequence[Path]) -> Stamp:
    found = []
    for path in paths:
        if path.exists():
            about = path.stat()
            found.append((path.name, about.st_mtime_ns, about.st_size))
    return tuple(found)


class Shelf:
    """Open tables by board."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = tables_folder(folder)
        self._open: OrderedDict[Board, tuple[Stamp, list[Table]]] = OrderedDict()
        self._listed: dict[Path, tuple[Stamp, Json]] = {}
        self._lock = threading.Lock()
        # Tables whose last look was quick, and whether by kernels: the first one by kernels is not.
        self._quick: WeakKeyDictionary[Table, bool] = WeakKeyDictionary()

    def tables(self, board: Board) -> list[Table]:
        """The tables of a board, as `open_tables` finds them."""
        paths = [table_path(board.start(), self.folder), *rooted_paths(board, self.folder)]
        stamp = _stamp(paths)
        with self._lock:
            known = self._open.get(board)
            if known is None or known[0] != stamp:
                known = stamp, open_tables(board, self.folder)
                self._open[board] = known
            self._open.move_to_end(board)
            while len(self._open) > MOST_BOARDS:
                self._open.popitem(last=False)
            return known[1]

    async def probe(
        self, tables: Sequence[Table], position: Position, *, distances: bool = False
    ) -> Probe | None:
        """The values by the first table that has them, or the first that has distances, too."""
        for table in tables:
            if table.has_distances or not distances:
                is_quick = self._quick.get(table) == table.reader.has_kernels
                with contextlib.suppress(*NOT_IN_TABLE):
                    if is_quick:
                        return self._look(table, position)
                    return await asyncio.to_thread(self._look, table, position)
        return None

    def _look(self, table: Table, position: Position) -> Probe:
        begin, by_kernels = time.perf_counter(), table.reader.has_kernels
        self._quick.pop(table, None)
        try:
            return table.probe(position)
        finally:
            if time.perf_counter() - begin < QUICK_SECONDS:
                self._quick[table] = by_kernels

    def listing(self) -> Json:
        """Every table that is there with its counts, as `list` and `stats` print them."""
        tables: list[Json] = []
        errors: list[Json] = []
        for path in all_tables(self.folder)[:MOST_FILES]:
            found = self._about(path)
            (errors if "error" in found else tables).append(found)
        return {"folder": self.folder.name, "tables": tables, "errors": errors}

    def _about(self, path: Path) -> Json:
        stamp = _stamp([path])
        with self._lock:
            known = self._listed.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            with open_tablebase(path) as table:
                found = table_stats(table)
        except TablebaseError as error:
            found = {"file": path.name, **answers.error_json(error)}
        with self._lock:
            self._listed[path] = stamp, found
        return found


def table_stats(table: Table) -> Json:
    """What `stats` prints of a table; its file without the folder, which is nobody's business."""
    return {**answers.stats_json(table), "file": table.path.name}
