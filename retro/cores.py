"""How many cores there are to work on."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

RUNNING = Path("/proc/loadavg")  # its fourth word: how many threads run now, of how many


def available_cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_cores() -> int:
    """The cores that nobody works on at this moment; the thread that asks has one of the others."""
    running = 1.0
    with contextlib.suppress(AttributeError, OSError):
        running = max(running, os.getloadavg()[0])  # of the last minute
    with contextlib.suppress(OSError, ValueError, IndexError):
        running = int(RUNNING.read_text().split()[3].partition("/")[0])
    return max(0, min(available_cores() - 1, (os.cpu_count() or 1) - round(running)))
