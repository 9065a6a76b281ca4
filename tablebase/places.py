"""Where tables live: `tables/connect4-5x4.h5` under the current folder.

`TABLEBASE_DIR` in the environment names another folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retro.errors import MissingTableError

if TYPE_CHECKING:
    from retro.games.catalogue import PlacementGame
    from retro.games.connect import Board

ENVIRONMENT_VARIABLE = "TABLEBASE_DIR"
SUFFIX = ".h5"
LONGEST_NAME = 100


def tables_folder() -> Path:
    """The folder of tables: TABLEBASE_DIR, or `tables` under the current folder."""
    return Path(os.environ.get(ENVIRONMENT_VARIABLE) or "tables")


def table_path(board: Board, folder: Path | None = None, root: str = "") -> Path:
    """Where the table of a board lives, or of what can arise after the moves of a root.

    >>> from retro.games.connect import Board
    >>> table_path(Board(5, 4), Path("shelf")).as_posix()
    'shelf/connect4-5x4.h5'
    >>> table_path(Board(7, 6), Path("shelf"), root="4444").as_posix()
    'shelf/connect4-7x6-from-4444.h5'
    """
    name = f"{board.name}-from-{root}" if root else board.name
    return (folder or tables_folder()) / f"{name}{SUFFIX}"


def rooted_paths(board: Board, folder: Path | None = None) -> list[Path]:
    """The tables of a board that start from a root."""
    return sorted((folder or tables_folder()).glob(f"{board.name}-from-*{SUFFIX}"))


def build_command(board: Board, folder: Path | None = None) -> str:
    """The command that builds the table of a board.

    >>> from retro.games.connect import Board
    >>> build_command(Board(5, 4, 3), Path("my shelf"))
    "build-tablebase 5x4 --connect 3 --dir 'my shelf'"
    """
    words = ["build-tablebase", str(board)]
    words += [] if board.connect == 4 else ["--connect", str(board.connect)]
    return shlex.join([*words, *_folder_words(folder)])


def _folder_words(folder: Path | None) -> list[str]:
    return [] if folder is None else ["--dir", str(folder)]


def require_table(path: Path, command: str) -> None:
    """Name the table that is not there, and the command that builds it."""
    if not path.exists():
        raise MissingTableError(f"no table at {path}; build it with: {command}")


def keyed_path(game: PlacementGame, root: Any, folder: Path | None = None) -> Path:
    """Where the table of all that follows a position lives.

    >>> from retro.games.catalogue import find_game
    >>> mnk = find_game("mnk")
    >>> board = mnk.parse("4x4", {"connect": "4"})
    >>> keyed_path(mnk, mnk.read_position(board, "c3 b2"), Path("shelf")).as_posix()
    'shelf/mnk-4x4-connect4-from-c3-b2.h5'
    >>> quarto = find_game("quarto")
    >>> grid = quarto.read_position(quarto.parse("4x4", {}), "..../..../.f../c...,3")
    >>> keyed_path(quarto, grid, Path("shelf")).as_posix()
    'shelf/quarto-4x4-attributes4-from-....-....-.f..-c...-3-fbe5cc54.h5'
    """
    name = _file_word(game.table_name(root.board))
    text = game.root_text(root)
    if text:
        name += "-from-" + _file_word(text)
    return (folder or tables_folder()) / f"{name}{SUFFIX}"


def _file_word(text: str) -> str:
    """Text as a part of a file's name: it ends in a digest if more than spaces had to go."""
    word = re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")
    if word == text.replace(" ", "-") and len(word) <= LONGEST_NAME:
        return word
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{word[: LONGEST_NAME - 9]}-{digest}"


def keyed_rooted_paths(game: PlacementGame, board: Any, folder: Path | None = None) -> list[Path]:
    """The tables of a board that start from a root."""
    name = _file_word(game.table_name(board))
    return sorted((folder or tables_folder()).glob(f"{name}-from-*{SUFFIX}"))


def keyed_build_command(game: PlacementGame, root: Any, folder: Path | None = None) -> str:
    """The command that builds the table of all that follows a position.

    >>> from retro.games.catalogue import find_game
    >>> mnk = find_game("mnk")
    >>> keyed_build_command(mnk, mnk.start(mnk.parse("4x4", {"connect": "4"})))
    'build-tablebase mnk 4x4 --connect 4'
    """
    size, options = game.describe(root.board)
    words = ["build-tablebase", game.name, size]
    for name, text in options.items():
        words += [f"--{name}", text]
    text = game.root_text(root)
    if text:
        words += ["--from", text]
    return shlex.join([*words, *_folder_words(folder)])
