"""Where tables live: `tables/connect4-5x4.h5` under the current folder.

`TABLEBASE_DIR` in the environment names another folder. The first plies of 7x6 come with the
package, in `data`: whoever has no table of a board's own there is answered from it. Beside it lies
best play from the empty board to the end, most of which is beyond those plies.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from retro.errors import BadTextError, MissingTableError

if TYPE_CHECKING:
    from retro.games.game import Board, Position

ENVIRONMENT_VARIABLE = "TABLEBASE_DIR"
SUFFIX, LINE_SUFFIX = ".h5", ".line"
LONGEST_NAME = 100
SHIPPED = Path(__file__).parents[1] / "data"


def tables_folder(folder: Path | str | None = None) -> Path:
    """The folder of tables: the one named, else TABLEBASE_DIR, else `tables` in the current folder.

    It is there or will be. A file in its place would look like a folder without tables.

    >>> tables_folder("shelf").as_posix()
    'shelf'
    """
    path = Path(os.environ.get(ENVIRONMENT_VARIABLE) or "tables" if folder is None else folder)
    if path.exists() and not path.is_dir():
        raise BadTextError(f"{path} is a file, not a folder of tables")
    return path


def all_tables(folder: Path) -> list[Path]:
    """The tables of a folder, then those that come with the package."""
    return [path for place in (folder, SHIPPED) for path in sorted(place.glob(f"*{SUFFIX}"))]


def table_path(root: Position, folder: Path | str | None = None) -> Path:
    """Where the table of all that follows a position lives.

    >>> from retro.games.catalogue import make_board
    >>> table_path(make_board("5x4").start(), Path("shelf")).as_posix()
    'shelf/connect4-5x4.h5'
    >>> table_path(make_board("7x6").position("4444"), Path("shelf")).as_posix()
    'shelf/connect4-7x6-from-4444.h5'
    >>> board = make_board("mnk", "4x4", connect=4)
    >>> table_path(board.position("c3 b2"), Path("shelf")).as_posix()
    'shelf/mnk-4x4-connect4-from-c3-b2.h5'
    >>> grid = make_board("quarto").position("..../..../.f../c...,3")
    >>> table_path(grid, Path("shelf")).as_posix()
    'shelf/quarto-4x4-attributes4-from-....-....-.f..-c...-3-fbe5cc54.h5'
    """
    name = _file_word(root.board.name)
    text = root.root_text
    if text:
        name += "-from-" + _file_word(text)
    return tables_folder(folder) / f"{name}{SUFFIX}"


def shipped_path(root: Position) -> Path | None:
    """The table of all that follows a position that comes with the package, if one does.

    >>> from retro.games.catalogue import make_board
    >>> shipped_path(make_board("7x6").start()).name, shipped_path(make_board("5x4").start())
    ('connect4-7x6.h5', None)
    """
    path = table_path(root, SHIPPED)
    return path if path.exists() else None


def shipped_line(root: Position) -> list[str]:
    """Best play from a position to the end that comes with the package: its moves, if any does.

    >>> from retro.games.catalogue import make_board
    >>> len(shipped_line(make_board("7x6").start())), shipped_line(make_board("5x4").start())
    (41, [])
    """
    path = table_path(root, SHIPPED).with_suffix(LINE_SUFFIX)
    return path.read_text().split() if path.exists() else []


def path_to_write(path: Path) -> Path:
    """The path of a file that is to be written; no system takes a name with a NUL in it."""
    if "\0" in str(path):
        raise BadTextError(f"found {str(path)!r}, wanted the path of a file")
    return path


def rooted_paths(board: Board, folder: Path | str | None = None) -> list[Path]:
    """The tables of a board that start from a root."""
    name = _file_word(board.name)
    return sorted(tables_folder(folder).glob(f"{name}-from-*{SUFFIX}"))


def _file_word(text: str) -> str:
    """Text as a part of a file's name: it ends in a digest if more than spaces had to go."""
    word = re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")
    if word == text.replace(" ", "-") and len(word) <= LONGEST_NAME:
        return word
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{word[: LONGEST_NAME - 9]}-{digest}"


def build_command(root: Position, folder: Path | str | None = None) -> str:
    """The command that builds the table of all that follows a position.

    >>> from retro.games.catalogue import make_board
    >>> build_command(make_board("mnk", "4x4", connect=4).start())
    'build-tablebase mnk 4x4 --connect 4'
    >>> build_command(make_board("5x4", connect=3).start(), Path("my shelf"))
    "build-tablebase 5x4 --connect 3 --dir 'my shelf'"
    """
    words = ["build-tablebase"]
    for word in str(root.board).split():
        name, equals, value = word.partition("=")
        words += [f"--{name}", value] if equals else [word]
    if root.root_text:
        words += ["--from", root.root_text]
    return shlex.join([*words, *([] if folder is None else ["--dir", str(folder)])])


def find_table(root: Position, folder: Path | str | None = None) -> Path:
    """The table of all that follows a position: in its folder, else the one that is shipped.

    If there is none, names it and the command that builds it.
    """
    path = table_path(root, folder)
    found = path if path.exists() else shipped_path(root)
    if found is None:
        command = build_command(root, folder)
        raise MissingTableError(f"no table at {path}; build it with: {command}")
    return found
