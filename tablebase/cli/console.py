"""The terminal: lines typed in, boards with marks, and a sign of life while somebody thinks.

On a terminal the last move and the line that ended the game are marked, in colour or, if
NO_COLOR is set, in brackets:

    colour    last move bold and underlined, the line reversed
    brackets  . .[X]. .        the line: [X X X X]
    plain     nothing; what is piped away looks as it always has
"""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
import textwrap
import threading
import time
from typing import TYPE_CHECKING, Self

from retro.play.referee import Leave
from tablebase.cli.colour import RESET

if TYPE_CHECKING:
    from retro.games.game import Position
    from tablebase.cli.colour import Style

LAST, LINE = "\x1b[1;4m", "\x1b[7m"
QUIET_SECONDS = 0.3  # of thought, before anything is shown
TICK_SECONDS = 0.1
LEAST_WIDTH = 40  # of lines that are folded


class Quit(Leave):
    """The human has had enough."""


def is_terminal() -> bool:
    """Whether somebody sits there: what we print is seen, and what we read is typed."""
    return all(
        stream is not None and not stream.closed and stream.isatty()
        for stream in (sys.stdin, sys.stdout)
    )


def read_line(prompt: str) -> str:
    """A line that is typed in; `Quit` at the end of the input. Edited and remembered if it can."""
    if is_terminal():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - gives `input` its editing and its history
        try:
            return input(prompt).strip()
        except EOFError:
            print()
            raise Quit from None
        except UnicodeDecodeError:
            return "\N{REPLACEMENT CHARACTER}"
    print(prompt, end="", flush=True)
    try:
        line = sys.stdin.readline() if sys.stdin is not None else ""
    except UnicodeDecodeError:
        return "\N{REPLACEMENT CHARACTER}"
    except ValueError:  # it is closed
        line = ""
    if not line:
        print()
        raise Quit
    return line.strip()


def print_folded(text: str) -> None:
    """Print a long line, on a terminal folded between words."""
    if sys.stdout.isatty():
        width = max(LEAST_WIDTH, shutil.get_terminal_size().columns - 1)
        text = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    print(text, flush=True)


def picture(position: Position, before: Position | None, style: Style) -> str:
    """The board, with the move from `before` and the line that ended the game marked.

    >>> from retro.games.catalogue import make_board
    >>> board = make_board("mnk", "3x3")
    >>> print(picture(board.position("a1 b2"), board.position("a1"), "brackets"))
      3  . . .
      2  .[O].
      1  X . .
         a b c
    """
    rows = str(position).splitlines()
    if style == "plain":
        return "\n".join(rows)
    height = _height(rows)
    last = _changed(str(before).splitlines(), rows, height) if before is not None else set()
    labels = len(rows[0].split()) - len(rows[height].split())  # the number of a row, if it has one
    line = {(height - 1 - row, column + labels) for row, column in position.ending_cells()}
    return "\n".join(
        _mark(row, {t for r, t in last if r == n}, {t for r, t in line if r == n}, style)
        for n, row in enumerate(rows)
    )


def _height(rows: list[str]) -> int:
    """How many lines of a drawing are the board: those above the names of the columns."""
    letters = (number for number, row in enumerate(rows) if row.split()[:1] == ["a"])
    return next(letters, len(rows) - 1)


def _changed(before: list[str], after: list[str], height: int) -> set[tuple[int, int]]:
    """(line, token) of what a move changed on the board."""
    words = [(old.split(), new.split()) for old, new in zip(before, after, strict=False)]
    return {
        (number, token)
        for number, (old, new) in enumerate(words[:height])
        for token, (was, is_) in enumerate(zip(old, new, strict=True))
        if was != is_
    }


def _mark(row: str, last: set[int], line: set[int], style: Style) -> str:
    tokens = list(re.finditer(r"\S+", row))
    marked = sorted(last | line)
    if style == "colour":
        for number in reversed(marked):
            begin, end = tokens[number].span()
            sign = (LINE if number in line else "") + (LAST if number in last else "")
            row = f"{row[:begin]}{sign}{row[begin:end]}{RESET}{row[end:]}"
        return row
    signs = list(f"{row} ")
    for number in marked:
        begin, end = tokens[number].span()
        signs[begin - 1] = " " if number - 1 in marked else "["
        signs[end] = "]"
    return "".join(signs).rstrip()


class SignOfLife:
    """Says on stderr, while somebody thinks, that he does: nodes and time; a context manager.

    A thread of its own, so that players who report nothing are seen to live, too.
    """

    def __init__(self, what: str, interrupted: str) -> None:
        self._what, self._interrupted, self._nodes = what, interrupted, 0
        self._live = sys.stderr is not None and sys.stderr.isatty()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        if self._live:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._live:
            self._thread.join()

    def report(self, nodes: int, seconds: float, question: str = "") -> None:
        """What a player, or a search, calls while it thinks."""
        self._nodes = nodes

    def _run(self) -> None:
        begin = time.monotonic()
        if self._done.wait(QUIET_SECONDS):
            return
        while not self._done.wait(TICK_SECONDS):
            seconds = time.monotonic() - begin
            nodes = f"{self._nodes:,} nodes, " if self._nodes else ""
            text = f"{self._what}: {nodes}{seconds:.1f} s (Ctrl-C: {self._interrupted})"
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
