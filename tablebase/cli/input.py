"""The position that a command is asked about: typed, in a file, or on standard input.

    443          moves, or a grid in one line, as the game writes them
    grid.txt     the path of a file that holds either
    -            standard input that holds either

Files and standard input are read as UTF-8, with or without a byte order mark, and up to a
bound: nobody's position takes a megabyte, and `/dev/zero` never ends.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import select
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from retro.errors import BadTextError, IllegalPositionError, TablebaseError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from retro.games.game import Board, Position

MOST_BYTES = 1_000_000
MOST_LINE = 10_000  # bytes of a line that holds one position
PIPE_SECONDS = 3.0  # to wait for somebody who writes
STDIN = "-"
LONGEST_QUOTE = 10
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_HEADER = re.compile(r"(?:\s|#[^\n]*\n)*([0-9]{1,3})\s*[xX]\s*([0-9]{1,3})(?![0-9])", re.ASCII)


def without_text(message: str) -> str:
    """A complaint about the text of a file, which may be anybody's: long quotes are left out.

    >>> without_text("found 'x9' in 'root:x:0:0:root:/root', wanted cells")
    "found 'x9' in '...', wanted cells"
    """
    return _QUOTED.sub(
        lambda quote: quote[0] if len(quote[0]) <= LONGEST_QUOTE else "'...'", message
    )


class Given(NamedTuple):
    """The text of a position, and where it was found; nowhere, if it was typed."""

    text: str
    where: str = ""

    @property
    def size(self) -> str | None:
        """The size of the board that a grid begins with.

        >>> Given("# mine\\n5 x 4 ....").size, Given("443").size
        ('5x4', None)
        """
        header = _HEADER.match(self.text)
        return f"{header[1]}x{header[2]}" if header else None

    def on(self, board: Board, *, any_counts: bool = False) -> Position:
        """The position on a board; an error names where the text was found."""
        from retro.games.habits import is_grid  # needs numpy, which help does not

        try:
            if any_counts and self.size:
                return _read_any_counts(board, self.text)
            lines = [line for line in self.text.splitlines() if line.strip()]
            from retro.games.habits import is_grid  # needs numpy, and help does not

            if len(lines) > 1 and not is_grid(board, self.text):
                raise BadTextError(
                    f"{len(lines)} lines that are no grid; "
                    "solve --lines and analyse --lines answer one position a line"
                )
            return board.position(self.text)
        except TablebaseError as error:
            hint = "; --any-counts allows them" if "impossible counts" in str(error) else ""
            if not self.where:
                raise type(error)(f"{error}{hint}") from None
            raise type(error)(f"{self.where}: {without_text(str(error))}{hint}") from None


def _read_any_counts(board: Board, text: str) -> Position:
    """A Connect Four grid with any numbers of stones, White to move."""
    from retro.games.connect4.rules import Connect4Board
    from retro.games.connect4.text import grid_stones

    assert isinstance(board, Connect4Board)
    _, black, white = grid_stones(text, board)
    board.require_gravity(black | white)
    if board.has_line(white):
        raise IllegalPositionError(f"White, who is to move, already has {board.goal}")
    return board.arrangement(white, black)


def read_position(word: str) -> Given:
    """What was typed for a position: the text itself, or what its path or `-` leads to."""
    if word == STDIN:
        return Given(_read_stdin(), "standard input")
    if is_path(word) or _looks_like_path(word):
        return read_file(word)
    return Given(word)


def read_file(path: str | Path) -> Given:
    """The text of a file; of standard input, if it is called `-`."""
    if str(path) == STDIN:
        return Given(_read_stdin(), "standard input")
    try:
        with _open(path) as file:
            is_pipe = stat.S_ISFIFO(os.fstat(file.fileno()).st_mode)
            # Readable as soon as somebody has written, or has come and gone.
            if is_pipe and not select.select([file], [], [], PIPE_SECONDS)[0]:
                raise BadTextError(f"{path} is a pipe that nobody writes into")
            return Given(_decode(file, str(path)), str(path))
    except (OSError, ValueError) as error:
        if isinstance(error, TablebaseError):
            raise
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadTextError(f"cannot read {path}: {reason}") from None


def _open(path: str | Path) -> BinaryIO:
    """A file to read; opening a pipe does not wait until somebody writes into it."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "rb")


@contextlib.contextmanager
def open_lines(path: str) -> Iterator[Iterator[str]]:
    """The lines of a file, or of standard input if it is called `-`, as they come."""
    if path == STDIN:
        yield _lines(_stdin("lines"), "standard input")
        return
    try:
        with _open(path) as file:
            yield _lines(file, path)
    except OSError as error:
        if isinstance(error, TablebaseError):
            raise
        raise BadTextError(f"cannot read {path}: {error.strerror}") from None


def _lines(file: BinaryIO, where: str) -> Iterator[str]:
    """Bounded lines of UTF-8."""
    number = 0
    while content := file.readline(MOST_LINE + 1):
        number += 1
        if len(content) > MOST_LINE:
            raise BadTextError(f"{where}, line {number} has more than {MOST_LINE:,} bytes")
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise BadTextError(f"{where}, line {number} is no text") from None
        yield text


def is_path(text: str) -> bool:
    """Whether what was typed is the path of a file; text too long for a path is none."""
    try:
        return bool(text) and Path(text).exists() and not Path(text).is_dir()
    except (OSError, ValueError):
        return False


def _looks_like_path(text: str) -> bool:
    """Whether text that is no file was meant to be one; no game writes positions so.

    >>> [_looks_like_path(text) for text in ("grid.txt", "/tmp/x", "../0.,3", "4x1...xo", "..ab")]
    [True, True, False, False, False]
    """
    if re.search(r"\s", text) or _HEADER.match(text):
        return False
    has_suffix = re.search(r"\.[a-z]*[g-z][a-z]*$", text, re.IGNORECASE | re.ASCII) is not None
    return text.startswith(("/", "./")) or has_suffix


def _read_stdin() -> str:
    return _decode(_stdin("a position"), "standard input")


def _stdin(what: str) -> BinaryIO:
    """The bytes of standard input."""
    if sys.stdin is None:
        raise BadTextError(f"there is no standard input to read {what} from")
    return getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode())


def _decode(file: BinaryIO, where: str) -> str:
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise BadTextError(f"{where} has more than {MOST_BYTES:,} bytes, wanted a position")
    try:
        return content.decode("utf-8-sig").strip()  # Quarto tells grids by their line ends
    except UnicodeDecodeError:
        raise BadTextError(f"{where} is not a text file") from None
