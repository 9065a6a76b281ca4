"""Where tables live: `tables/connect4-5x4.h5` under the current folder.

`TABLEBASE_DIR` in the environment names another folder.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retro.games.connect import Board

ENVIRONMENT_VARIABLE = "TABLEBASE_DIR"
SUFFIX = ".h5"


def tables_folder() -> Path:
    """The folder of tables: TABLEBASE_DIR, or `tables` under the current folder."""
    return Path(os.environ.get(ENVIRONMENT_VARIABLE) or "tables")


def table_path(board: Board, folder: Path | None = None) -> Path:
    """Where the table of a board lives.

    >>> from retro.games.connect import Board
    >>> table_path(Board(5, 4), Path("shelf")).as_posix()
    'shelf/connect4-5x4.h5'
    """
    return (folder or tables_folder()) / f"{board.name}{SUFFIX}"


def build_command(board: Board) -> str:
    """The command that builds the table of a board."""
    connect = "" if board.connect == 4 else f" --connect {board.connect}"
    return f"build-tablebase {board}{connect}"
