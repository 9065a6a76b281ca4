"""The tables that are there, kept open; looked for again when files change.

Tables are only read here, so all threads share them, and all workers the pages of their files.
A table that falls off the shelf is closed once nobody uses it any more.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from retro.errors import TablebaseError
from tablebase import answers
from tablebase.files.places import all_tables, rooted_paths, table_path, tables_folder
from tablebase.oracles import open_tables
from tablebase.tables import open_tablebase

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from retro.games.game import Board
    from tablebase.answers import Json
    from tablebase.tables import Table

MOST_BOARDS, MOST_FILES = 16, 200

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
