"""What builds of Connect Four are told, until the common driver runs them, too."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tablebase.building.plan import TaskBudget as Hire
from tablebase.building.plan import WorkerSpec as Hand
from tablebase.building.resume import Resume

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tablebase.building.plan import Progress
    from tablebase.building.workers import Pool

__all__ = ["Hand", "Hire", "How", "Order", "local_processes"]


class How(NamedTuple):
    """How a table is to be built, as far as that changes what it takes."""

    memory: int | None = None  # bytes; default: as much as helps
    threads: int | None = None
    processes: int | None = None
    counts: bool = True
    distances: bool = False
    hands: tuple[Hand, ...] = ()  # the workers of a cluster, if one is to do it
    task_memory: int | None = None  # bytes that a task may take there; default: an equal share


@dataclass(frozen=True)
class Order:
    """How a build is to be done."""

    force: bool = False
    report: Callable[[Progress], None] = lambda _: None
    parts: Path | None = None  # beside which parts are kept, if not beside the table
    pool: Pool | None = None  # who works, if not this process
    restart: Resume = field(default_factory=Resume)  # told what becomes of an earlier run


def local_processes(number: int) -> Executor:
    """Processes of this machine."""
    # Threads and numba make forking unsafe; every process begins from nothing.
    return ProcessPoolExecutor(number, multiprocessing.get_context("spawn"))
