"""Games in files: saved and loaded, by whatever name somebody types.

A name that ends in `.json` is written as JSON, any other as text; both are read (`record_text`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from retro.errors import BadTextError, StorageError, TablebaseError
from retro.play.record_text import read_record, to_json, write_text
from tablebase.cli.input import read_file, without_text
from tablebase.files.atomic import storage_errors, whole_file

if TYPE_CHECKING:
    from retro.games.game import Board
    from retro.play.record import GameRecord


def save_record(record: GameRecord, name: str) -> None:
    """Write a game; a file that is no game is left alone."""
    path = _path(name)
    if path.exists():
        try:
            load_record(name)
        except TablebaseError:
            raise StorageError(f"{path} exists and is no game") from None
    is_json = path.suffix == ".json"
    text = json.dumps(to_json(record), indent=1) + "\n" if is_json else write_text(record)
    with storage_errors(path), whole_file(path, synced=False) as aside:
        aside.write_text(text, encoding="utf-8")


def load_record(name: str, board: Board | None = None) -> GameRecord:
    """Read a game, on any board or on the one that is wanted; an error names the file."""
    path = _path(name)
    text = read_file(path).text
    try:
        return read_record(text, board)
    except TablebaseError as error:
        raise type(error)(f"{path}: {without_text(str(error))}") from None


def _path(name: str) -> Path:
    if not name:
        raise BadTextError("wanted the name of a file")
    if "\0" in name:
        raise BadTextError(f"found {name!r:.60}, wanted the name of a file")
    path = Path(name)
    try:
        is_folder = path.is_dir()
    except OSError as error:
        raise StorageError(f"cannot use {name!r:.60}: {error.strerror}") from None
    if is_folder:
        raise StorageError(f"{name} is a folder, wanted the name of a file")
    return path
