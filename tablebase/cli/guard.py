"""What every command ends with: an exit code by cause, and one line on stderr for an error.

    results     stdout                    chatter, progress, errors      stderr
    --json      an error on stdout, too: {"error", "kind", "exit_code"}

What people typed is echoed in errors, so a line is shortened before it is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import re
import signal
import sys
import threading
from _thread import interrupt_main
from typing import TYPE_CHECKING, NoReturn

from retro.errors import (
    EXIT_INTERRUPTED,
    DoesNotFitError,
    StorageError,
    TablebaseError,
    TimeLimitError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LONGEST_LINE = 200
GRACE_SECONDS = 0.5
LONGEST_WORD = 60  # of a line that is too long


class UsageError(TablebaseError):
    """Wrong use of a command: an unknown option, a missing board."""

    exit_code = 2


class Interrupted(TablebaseError):
    """Ctrl-C."""

    exit_code = EXIT_INTERRUPTED


class Parser(argparse.ArgumentParser):
    """argparse, whose complaints are ours: one line, raised rather than printed."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def run(command: Callable[[list[str]], int], arguments: Sequence[str] | None) -> int:
    """Run a command; errors become one line on stderr and the exit code of their cause."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return command(words)
    except TablebaseError as error:
        return _fail(words, error)
    except KeyboardInterrupt:
        return _fail(words, Interrupted("interrupted"))
    except BrokenPipeError:
        # Whoever read our output has enough; keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError as error:
        reason = f": {error}" if str(error) else ""
        return _fail(words, DoesNotFitError(f"there is not enough memory{reason}"))
    except OSError as error:  # a path that is too long, say, or a folder that is not ours
        where = f": {error.filename}" if error.filename else ""
        return _fail(words, StorageError(f"{error.strerror or error}{where}"))


def _fail(words: Sequence[str], error: TablebaseError) -> int:
    say(f"{'' if isinstance(error, Interrupted) else 'error: '}{shorten(str(error))}")
    if wants_json(words):
        from tablebase.answers import error_json
        from tablebase.cli.show import print_json

        print_json(error_json(error, shorten(str(error))))
    return error.exit_code


@contextlib.contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """The time limit of a whole command, whatever it is doing when the time is over.

    A search ends by itself when its clock says so, and says how far it came; this is for all
    else that may take long: a table to open, a board to prepare, kernels to compile. It
    gives the search a little more time, so that the better message wins.
    """
    if seconds is None:
        yield
        return
    over = f"not done within {seconds:g} s"
    if not hasattr(signal, "setitimer"):
        with _interrupted_after(seconds + GRACE_SECONDS, over):
            yield
        return

    def ring(*_: object) -> NoReturn:
        raise TimeLimitError(over)

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _interrupted_after(seconds: float, over: str) -> Iterator[None]:
    """A time limit where the system has no timers that signal: a thread that presses Ctrl-C."""
    rang = []

    def ring() -> None:
        rang.append(True)
        interrupt_main()

    timer = threading.Timer(seconds, ring)
    timer.daemon = True
    timer.start()
    try:
        yield
    except KeyboardInterrupt:
        if rang:
            raise TimeLimitError(over) from None
        raise
    finally:
        timer.cancel()


def wants_json(words: Sequence[str]) -> bool:
    """Whether `--json` is among the words, whatever else is wrong with them."""
    parser = Parser(add_help=False)
    parser.add_argument("--json", action="store_true")
    try:
        return bool(parser.parse_known_args(list(words))[0].json)
    except UsageError:  # --json=yes
        return True


def say(text: str) -> None:
    """Chatter goes to stderr."""
    print(text, file=sys.stderr, flush=True)


def shorten(text: str) -> str:
    """Text as one line of bounded length; what is left out is whole words, or parts of a name.

    >>> shorten("column 8 of " + 300 * "1" + " is not on the board")
    'column 8 of ... is not on the board'
    >>> shorten("no table at " + 40 * "/folder" + "/t.h5")[110:143]
    '/folder/folder/.../folder/folder/'
    """
    line = " ".join(text.split())
    if len(line) <= LONGEST_LINE:
        return line
    pieces = re.findall(r"([^ /-]*)([ /-]+|$)", line)  # each with what parts it from the next
    words = [(word if len(word) <= LONGEST_WORD else "...") + after for word, after in pieces]
    line = "".join(words)
    if len(line) <= LONGEST_LINE:
        return line
    end = _fitting(words[::-1], LONGEST_LINE // 3)
    begin = _fitting(words, LONGEST_LINE - LONGEST_LINE // 3 - len("... "))
    dropped = words[len(words) - end - 1]
    return "".join([*words[:begin], "...", dropped[-1], *words[len(words) - end :]])


def _fitting(words: Sequence[str], letters: int) -> int:
    """How many of the first words have so many letters at most."""
    totals = itertools.accumulate(map(len, words))
    return sum(total <= letters for total in totals)
