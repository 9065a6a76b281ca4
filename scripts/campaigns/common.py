"""What every campaign has: tries, failures, a seed, an end, and the smallest reproduction.

A campaign is a generator of cases. A case has a name that says how to make it again, and a
function that tries it: None if all is well, else what went wrong. What may crash or hang is
tried in a process of its own (`Guinea`), which is replaced when it dies or takes too long.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection

PATIENCE = 120.0  # seconds of the processor for one try, whatever else the machine does
LONGEST = 3600.0  # seconds of the clock
IDLE = 120.0  # seconds of the clock without any work: it waits for something that never comes


def told(what: str | None) -> Callable[[], str | None]:
    """An attempt that was made already."""
    return lambda: what


class Case(NamedTuple):
    """One try."""

    name: str
    attempt: Callable[[], str | None]
    keep: Callable[[Path], None] = lambda folder: None  # writes the reproduction into a folder


@dataclass
class Campaign:
    """How a campaign went."""

    name: str
    seed: int
    tries: int = 0
    failures: list[str] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)

    def run(self, cases: Iterable[Case], seconds: float, most: int | None, out: Path) -> Campaign:
        """Try cases until there are no more, the time is over or there were enough."""
        begin = time.monotonic()
        with suppress(KeyboardInterrupt):  # what was tried until then counts
            for case in cases:
                found = case.attempt()
                self.tries += 1
                if found is not None:
                    self._keep(case, found, out)
                if time.monotonic() - begin > seconds or self.tries == most:
                    break
        return self

    def _keep(self, case: Case, found: str, out: Path) -> None:
        """Write down a failure and how to make it again."""
        self.failures.append(f"{case.name}: {found}")
        folder = out / f"{self.name}-{len(self.failures):03d}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "what.txt").write_text(f"seed {self.seed}\n{self.failures[-1]}\n")
        case.keep(folder)

    def note(self, what: str, number: int = 1) -> None:
        """Count something besides tries and failures."""
        self.notes[what] = self.notes.get(what, 0) + number

    def report(self) -> str:
        lines = [f"{self.name}: {self.tries:,} tries, {len(self.failures):,} failures"]
        lines += [f"  {name}: {number:,}" for name, number in sorted(self.notes.items())]
        lines += [f"  FAILED {failure[:400]}" for failure in self.failures[:20]]
        return "\n".join(lines)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards, in memory where there is such a place."""
    shm = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shm if shm.is_dir() else None) as folder:
        yield Path(folder)


class Guinea:
    """A process that tries things; dead or late, it is replaced, and that is a failure."""

    def __init__(self) -> None:
        self._process: Any = None
        self._pipe: Connection | None = None

    def ask(self, function: Callable[..., Any], *arguments: Any, within: float = PATIENCE) -> Any:
        """What a function of a module returns; `("died", code)` or `("hung", seconds)` if not."""
        if self._process is None or not self._process.is_alive():
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
        assert self._pipe is not None
        self._pipe.send((function, arguments))
        begin = moved = time.monotonic()
        spent = last = _processor_seconds(self._process.pid)
        try:
            while (now := time.monotonic()) - begin < LONGEST and now - moved < IDLE:
                if self._pipe.poll(min(1.0, within)):
                    return self._pipe.recv()
                used = _processor_seconds(self._process.pid)
                if used - spent > within:
                    break
                if used > last:
                    last, moved = used, now
        except (EOFError, ConnectionError):
            self._process.join()
            code, self._process = self._process.exitcode, None
            return "died", code
        self.close()
        return "hung", within

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def _processor_seconds(process: int) -> float:
    """What a process has used of the processor; the clock, where the system does not say."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return time.monotonic()


def _serve(pipe: Connection) -> None:
    while True:
        try:
            function, arguments = pipe.recv()
        except EOFError:
            return
        pipe.send(function(*arguments))


def smallest(items: list[Any], fails: Callable[[list[Any]], bool]) -> list[Any]:
    """The fewest of some items with which it still fails, found by leaving out more and more."""
    size = max(1, len(items) // 2)
    while items:
        for at in range(0, len(items), size):
            fewer = items[:at] + items[at + size :]
            if fails(fewer):
                items = fewer
                break
        else:
            if size == 1:
                break
            size //= 2
    return items


def copied(path: Path, folder: Path) -> Path:
    return Path(shutil.copy(path, folder / path.name))
