"""Players of one's own: a class in a Python file, or any program that speaks lines.

    exec:./mine --fast      a program; it is started once and told of game after game
    mine.py:Class           a class with `choose`, and if it likes `reset` and `observe`
                            (`player`); it runs in a process of its own (`host`)

The program reads lines on standard input and answers on standard output:

    board connect4 7x6 connect=4      a game begins; all options of the board follow
    position 4453                     only if it does not begin at the start of the board
    side first                        or second: who you are
    move 4                            a move was made, yours or the other's
    go 5.0                            your turn, with 5 seconds; `go` alone: take your time
    quit                              no more games

To `go` it answers one line with a move as people write it, `4` or `b2`. Lines before that
which begin with `#` are remarks: the last one is kept, `# nodes 1200` counts, and `# name Mine`
is who it says it is. Whoever
answers too late, or not at all, loses the game; the process and all it has started are then
killed, as they are after the last game.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from retro.errors import BadTextError, TimeLimitError
from retro.play.player import Player
from retro.play.record import one_line
from retro.play.record_text import header

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

    from retro.games.game import Board, Position
    from retro.games.values import Player as Side

EXEC = "exec:"
SECONDS = 10.0  # for a move
START_SECONDS = 30.0  # more for the first move: a program may have to load
LONGEST_LINE = 10_000
MOST_LINES = 1_000  # that nobody has read yet
LAST_SECONDS = 0.5  # to go after `quit`
LONGEST_OWN_NAME = 40
_NODES = re.compile(r"#\s*nodes ([0-9]{1,18})", re.ASCII)
_NAME = re.compile(r"#\s*name (.*)")


class ProgramError(Exception):
    """A program has ended, or answers what nobody can read."""


def own_player(text: str, seconds: float = SECONDS) -> ProgramPlayer:
    """The player that `exec:PROGRAM` or `FILE.py:CLASS` names; the program must be there."""
    if text.startswith(EXEC):
        try:
            words = shlex.split(text.removeprefix(EXEC))
        except ValueError as error:
            raise BadTextError(f"found player {text!r:.60}: {error}") from None
        if not words:
            raise BadTextError(f"found player {text!r}, wanted a program after {EXEC}")
        return ProgramPlayer(text, words, seconds)
    path = text.rpartition(":")[0]
    if not Path(path).is_file():
        raise BadTextError(f"found player {text!r:.60}: there is no file {path!r:.60}")
    return ProgramPlayer(text, [sys.executable, "-m", "retro.play.host", text], seconds)


class ProgramPlayer(Player):
    """A program at a seat."""

    keeps_time = True

    def __init__(self, name: str, words: Sequence[str], seconds: float) -> None:
        self.name = self._called = name
        self.seconds = seconds
        self._words = list(words)
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes | None] = queue.Queue(MOST_LINES)
        self._last_words: deque[bytes] = deque(maxlen=1)
        self._listeners: list[threading.Thread] = []
        self._stopped = threading.Event()
        self._is_new = True

    def reset(self, board: Board, side: Side) -> None:
        self._begun = False
        self._opening = f"board {header(board)}", f"side {side}"

    def choose(self, position: Position) -> int:
        self._begin(position)
        while not self._lines.empty():  # what it said when nobody had asked
            self._lines.get_nowait()
        seconds = self.seconds + (START_SECONDS if self._is_new else 0.0)
        self._say(f"go {self.seconds:g}")
        answer = self._answer(seconds)
        self._is_new = False
        return position._number_of(answer.removeprefix("move ").strip())

    def observe(self, position: Position, move: int) -> None:
        self._begin(position)
        self._say(f"move {position._text_of(move)}")

    def close(self) -> None:
        """Ask it to go, then see to it."""
        if self._process is None:
            return
        with contextlib.suppress(ProgramError):
            self._say("quit")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST_SECONDS)
        self._kill()

    def _begin(self, position: Position) -> None:
        """Tell where the game begins, once it is known."""
        if self._begun:
            return
        if self._process is None or self._process.poll() is not None:
            self._start()
        self._begun = True
        board, side = self._opening
        self._say(board)
        if position.root_text:
            self._say(f"position {position.root_text}")
        self._say(side)

    def _start(self) -> None:
        self._kill()
        try:
            self._process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is ours; and all of it can be killed
            )
        except (OSError, ValueError) as error:
            raise ProgramError(f"cannot start {self._words[0]!r:.60}: {error}") from None
        self._is_new = True
        self._lines = queue.Queue(MOST_LINES)
        self._last_words, self._stopped = deque[bytes](maxlen=1), threading.Event()
        out, complaints = self._process.stdout, self._process.stderr
        assert out is not None
        assert complaints is not None
        self._listeners = [
            threading.Thread(target=_read, args=(out, self._lines, self._stopped), daemon=True),
            threading.Thread(target=_overhear, args=(complaints, self._last_words), daemon=True),
        ]
        for listener in self._listeners:
            listener.start()

    def _say(self, line: str) -> None:
        process = self._process
        if process is None or process.stdin is None:
            raise ProgramError("the program is not running")
        try:
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
        except (OSError, ValueError):
            raise ProgramError(self._epitaph()) from None

    def _answer(self, seconds: float) -> str:
        """The first line that is no remark."""
        self.nodes, self.remark = None, ""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                self._kill()
                raise TimeLimitError(f"no move within {seconds:g} s") from None
            if line is None:
                raise ProgramError(self._epitaph())
            text = line.decode("utf-8", "replace").strip()
            nodes, name = _NODES.fullmatch(text), _NAME.fullmatch(text)
            if nodes:
                self.nodes = int(nodes[1])
            elif name:
                self.name = f"{self._called} ({one_line(name[1], LONGEST_OWN_NAME)})"
            elif text.startswith("#"):
                self.remark = text.removeprefix("#").strip()
            elif text:
                return text

    def _epitaph(self) -> str:
        if self._process is None:
            return "the program was stopped"
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST_SECONDS)
        code = self._process.poll()
        if code is None:
            return "the program closed its pipe"
        self._listeners[1].join(LAST_SECONDS)
        last = "".join(f": {word.decode('utf-8', 'replace').strip()}" for word in self._last_words)
        return f"the program ended, code {code}{last}"

    def _kill(self) -> None:
        """End the process and all that it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        self._stopped.set()
        _kill_tree(process)
        process.wait()
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        for listener in self._listeners:  # each closes what it has read to the end
            listener.join(LAST_SECONDS)


def _kill_tree(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it has started: its group, or on Windows its tree."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        return
    with contextlib.suppress(OSError):
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True)
    process.kill()


def _read(stream: IO[bytes], lines: queue.Queue[bytes | None], stopped: threading.Event) -> None:
    """Hand on line after line; None at the end. A program that floods us waits."""
    with stream, contextlib.suppress(OSError, ValueError):
        while line := stream.readline(LONGEST_LINE):
            _hand_on(line, lines, stopped)
    _hand_on(None, lines, stopped)


def _hand_on(
    line: bytes | None, lines: queue.Queue[bytes | None], stopped: threading.Event
) -> None:
    while not stopped.is_set():
        with contextlib.suppress(queue.Full):
            lines.put(line, timeout=LAST_SECONDS)
            return


def _overhear(stream: IO[bytes], last: deque[bytes]) -> None:
    """Keep the last line of what it complains about: why it ended, if it does."""
    with stream, contextlib.suppress(OSError, ValueError):
        while line := stream.readline(LONGEST_LINE):
            if line.strip():
                last.append(line)
