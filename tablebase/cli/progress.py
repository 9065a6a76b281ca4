"""Progress on stderr: a live bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING, Self

from tablebase.cli.guard import say
from tablebase.units import duration, speed

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress as Bar

    from tablebase.building.plan import Progress

SECONDS_BETWEEN_LINES = 2.0
QUIET_SECONDS = 1.0  # no rate, and nothing of a search, before that
PHASES = {"forward": "walking forward", "backward": "walking back"}
FORWARD_SHARE = 0.4  # of the time that a whole build takes


class BuildProgress:
    """Shows ply, rate and time left of a build; a context manager. Silent if `quiet`."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: Bar | None = None
        self._phase = ""
        self._last_line = time.monotonic()
        # Rates count from the first report of a phase on, and anew once a kernel was compiled.
        self._begin = 0.0
        self._done_at_begin = 0
        self._compiled = self._told = False
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        if self._quiet:
            return self
        self._stack.enter_context(_before_compiling(self._compiling))
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f}% {task.fields[text]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._stack.callback(self._bar.stop)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _compiling(self) -> None:
        self._compiled = True
        if not self._told:
            self._told = True
            say("compiling kernels (once)")

    def announce(self, line: str) -> None:
        """Say something besides."""
        if not self._quiet:
            say(line)

    def report(self, progress: Progress) -> None:
        """Show how far the build has come."""
        if self._quiet:
            return
        now = time.monotonic()
        if self._compiled or progress.phase != self._phase:
            self._compiled = False
            self._begin, self._done_at_begin = now, progress.done
        if progress.phase != self._phase:
            self._phase = progress.phase
            if self._bar is not None:
                for task in self._bar.task_ids:
                    self._bar.remove_task(task)
                total = progress.total or None
                self._bar.add_task(PHASES[self._phase], total=total, text="")
        text = _text(progress, self._done_at_begin, now - self._begin)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[-1], completed=progress.done, text=text)
        elif now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            done = f"{100 * progress.done // progress.total}% " if progress.total else ""
            say(f"{PHASES[self._phase]}: {done}{text}")


def _text(progress: Progress, done_before: int, seconds: float) -> str:
    """Ply, rate of this phase and time left of the build."""
    done = progress.done - done_before
    where, who = f"ply {progress.ply}", ""
    if progress.tasks[1]:
        where += f", task {progress.tasks[0]} of {progress.tasks[1]}"
        who = f", {progress.workers} worker{'s' * (progress.workers != 1)}"
    if done <= 0 or seconds < QUIET_SECONDS:
        return where + who
    rate = done / seconds
    if not progress.total:
        return f"{where}, {progress.done:,} positions, {speed(rate)}"
    left = (progress.total - progress.done) / rate
    if progress.phase == "forward":
        left += progress.total / rate * (1 - FORWARD_SHARE) / FORWARD_SHARE
    return f"{where}, {speed(rate)}, {duration(left)} left{who}"


class Ticker:
    """Names the ply being worked on, on a terminal or every few seconds; a context manager."""

    def __init__(self, last_ply: int) -> None:
        self._last_ply = last_ply
        self._last = self._begin = time.monotonic()
        self._live = sys.stderr.isatty()
        self._what = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def tick(self, what: str, ply: int, share: float = 0.0) -> None:
        """Called as each ply begins, or as more of `what` is done: that share, if it is known."""
        now = time.monotonic()
        if what != self._what:
            self._what, self._begin = what, now
        seconds, text = now - self._begin, f"{what}: ply {ply} of {self._last_ply}"
        if share and seconds >= QUIET_SECONDS:
            text += f", {share:.0%}, {duration(seconds * (1 - share) / share)} left"
        self.show(text)

    def show(self, text: str) -> None:
        """Show a line of text, if it is time."""
        if self._live:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            say(text)


class SearchProgress:
    """A line now and then about a search that takes longer than one cares to wait.

    The clock of a search starts with its first report: before that kernels may be compiled.
    """

    def __init__(self) -> None:
        self._nodes, self._seconds = 0, 0.0  # of the last report
        self._begin = 0, 0.0
        self._last_line = float("-inf")

    def report(self, nodes: int, seconds: float, question: str) -> None:
        """Show nodes, their rate and the question that is asked, if it is time."""
        if self._nodes == 0 or nodes < self._nodes or seconds < self._seconds:  # a new search
            self._begin = nodes, seconds
        self._nodes, self._seconds = nodes, seconds
        done, span = nodes - self._begin[0], seconds - self._begin[1]
        now = time.monotonic()
        if done and span >= QUIET_SECONDS and now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            say(f"{span:.0f} s, {nodes:,} nodes, {speed(done / span)}: {question}")


def _before_compiling(tell: Callable[[], None]) -> contextlib.AbstractContextManager[object]:
    """Have `tell` called whenever numba begins to compile, not when it loads what is cached."""
    from numba.core import event

    class Teller(event.Listener):
        def on_start(self, event: object) -> None:
            tell()

        def on_end(self, event: object) -> None:
            pass

    found: contextlib.AbstractContextManager[object] = event.install_listener(
        "numba:compile", Teller()
    )
    return found
