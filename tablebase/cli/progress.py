"""Progress on stderr: a live bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from tablebase.cli.common import say
from tablebase.units import duration

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from tablebase.build import Progress

SECONDS_BETWEEN_LINES = 2.0
PHASES = {"mark": "walking forward", "walk": "walking back"}
FORWARD_SHARE = 0.4  # of the time that a whole build takes


class BuildProgress:
    """Shows ply, rate and time left of a build; a context manager. Silent if `quiet`."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: Bar | None = None
        self._phase = ""
        self._last_line = time.monotonic()
        # Rates count from a phase's first report on: before it kernels are loaded or compiled.
        self._begin = 0.0
        self._done_at_begin = 0

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
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
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def report(self, progress: Progress) -> None:
        """Show how far the build has come."""
        if self._quiet:
            return
        now = time.monotonic()
        if progress.phase != self._phase:
            self._begin, self._done_at_begin = now, progress.done
            if self._phase == "" and progress.resumed:
                say(f"resuming at ply {progress.ply}: {progress.resumed:,} positions were done")
            self._phase = progress.phase
            if self._bar is not None:
                for task in self._bar.task_ids:
                    self._bar.remove_task(task)
                self._bar.add_task(PHASES[self._phase], total=progress.total, text="")
        text = _text(progress, self._done_at_begin, now - self._begin)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[-1], completed=progress.done, text=text)
        elif now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            say(f"{PHASES[self._phase]}: {100 * progress.done // progress.total}% {text}")


def _text(progress: Progress, done_before: int, seconds: float) -> str:
    """Ply, rate of this phase and time left of the build."""
    done = progress.done - done_before
    if done <= 0 or seconds <= 0:
        return f"ply {progress.ply}"
    rate = done / seconds
    left = (progress.total - progress.done) / rate
    if progress.phase == "mark":
        left += progress.total / rate * (1 - FORWARD_SHARE) / FORWARD_SHARE
    return f"ply {progress.ply}, {rate / 1e6:,.0f} million/s, {duration(left)} left"


class Ticker:
    """Names the ply being worked on, on a terminal or every few seconds; a context manager."""

    def __init__(self, last_ply: int) -> None:
        self._last_ply = last_ply
        self._last = time.monotonic()
        self._live = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def tick(self, what: str, ply: int) -> None:
        """Called as each ply begins."""
        self.show(f"{what}: ply {ply} of {self._last_ply}")

    def show(self, text: str) -> None:
        """Show a line of text, if it is time."""
        if self._live:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            say(text)
