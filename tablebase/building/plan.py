"""What a build will do and cost: time, memory, disk. Known beforehand, refused if too much."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from retro.errors import BadTextError, DoesNotFitError
from tablebase.machine import available_memory
from tablebase.units import duration, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retro.games.game import Board, Position


class PlyPlan(NamedTuple):
    """What one ply will take."""

    positions: int  # that are stored
    seconds: float
    memory: int  # bytes, if the whole layer is in memory
    groups: int = 0  # what is fetched and written at once
    largest: int = 0  # bytes of the task of one group that needs most


class Schedule(NamedTuple):
    """How the work of a build is shared out. Connect Four only."""

    workers: int
    task_memory: int | None  # bytes of what a task walks and reads; None: whole layers
    stored: int  # positions, with padding
    uncut: int  # bytes that the largest block would take with all it reads if it were not cut


class WorkerSpec(NamedTuple):
    """What a worker of a cluster has."""

    threads: int
    memory: int  # bytes


class TaskBudget(NamedTuple):
    """What a worker of a cluster takes."""

    aside: int  # bytes beside its tasks
    each: int  # bytes of a task

    @classmethod
    def of(
        cls, workers: Sequence[WorkerSpec], task_memory: int | None, *, aside: int, least: int
    ) -> Self:
        """What workers take whose tasks take `least` at least.

        By default their threads share their memory.
        """
        if task_memory is None:
            share = min((worker.memory - aside) // worker.threads for worker in workers)
            return cls(aside, max(least, share))
        if task_memory < least:
            raise DoesNotFitError(
                f"a task may take {size(task_memory)}, the largest group needs {size(least)}"
            )
        return cls(aside, task_memory)

    def places(self, workers: Sequence[WorkerSpec]) -> int:
        """How many tasks the workers have memory for at once."""
        found = sum(
            min(worker.threads, max(worker.memory - self.aside, 0) // self.each)
            for worker in workers
        )
        if not found:
            most = max(worker.memory for worker in workers)
            raise DoesNotFitError(
                f"no worker has room: a task takes {size(self.each)}, a worker {size(self.aside)} "
                f"beside; the largest has {size(most)}"
            )
        return found


def kept_plies(root: Position, plies: range | None) -> range:
    """The plies whose values a table is to keep, all of the board if nobody says which.

    Play may end before the last of them.

    >>> from retro.games.catalogue import make_board
    >>> kept_plies(make_board("mnk 3x3").start(), None)
    range(0, 10)
    """
    whole = range(root.ply, root.board.last_ply + 1)
    if plies is None:
        return whole
    if not (len(plies) and plies.step == 1 and plies[0] in whole and plies[-1] in whole):
        found = f"{plies.start}..{plies.stop - 1}" if plies.step == 1 else f"by {plies.step}"
        raise BadTextError(f"found plies {found}, wanted some of {whole[0]}..{whole[-1]}")
    return plies


@dataclass(frozen=True, repr=False)
class Plan:
    """What building a table will take.

    Sizes are exact where `error` is 1, else right within that factor; time depends on
    what else the machine does.
    """

    root: Position
    positions: int  # that are stored
    plies: dict[int, PlyPlan]
    seconds: float
    memory: int  # bytes at the peak
    least_memory: int  # with less the build cannot be done
    disk: int  # bytes of the finished file
    disk_while_building: int
    error: float
    exact_plies: int  # whose sizes are exact, from the first on
    detail: object  # what the index needs to build
    workers: int  # tasks that run at once
    processes: bool  # whether they run in processes of this machine, not in threads
    budget: TaskBudget | None = None  # if a cluster works; `memory` is then the driver's
    schedule: Schedule | None = None

    @property
    def board(self) -> Board:
        return self.root.board

    @property
    def title(self) -> str:
        """What the table would be of."""
        text = self.root.root_text
        return self.board.name + (f" from {text}" if text else "")

    def summary(self) -> str:
        """One line for people.

        >>> from tablebase.building.build import plan
        >>> plan("3x3").summary().split(", ")[0]
        '667 positions to store'
        """
        about = "" if self.error == 1 else "about "
        return (
            f"{about}{self.positions:,} positions to store, about {duration(self.seconds)}, "
            f"{size(self.memory)} of memory, {size(self.disk)} on disk "
            f"({size(self.disk_while_building)} while building)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON.

        >>> from tablebase.building.build import plan
        >>> found = plan("3x3").to_dict()
        >>> found["board"], found["positions"], len(found["plies"])
        ('3x3', 667, 10)
        """
        names = (
            "positions", "error", "exact_plies", "seconds", "memory", "least_memory", "disk",
            "disk_while_building",
        )  # fmt: skip
        return {
            **self.board.to_dict(),
            "root": self.root.root_text,
            **{name: getattr(self, name) for name in names},
            "schedule": None if self.schedule is None else self.schedule._asdict(),
            "plies": [{"ply": ply, **of_ply._asdict()} for ply, of_ply in self.plies.items()],
        }

    def __repr__(self) -> str:
        return f"Plan({self.board.title!r}, {self.summary()})"

    def __str__(self) -> str:
        rows = [
            f"{ply:>3} {of.positions:>20,} {duration(of.seconds):>12} {size(of.memory):>10}"
            for ply, of in self.plies.items()
        ]
        head = f"ply {'positions':>20} {'time':>12} {'memory':>10}"
        return "\n".join([f"{self.title}: {self.summary()}", head, *rows])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from tablebase.pictures import plan_html

        return plan_html(self)

    def obstacle(self, folder: Path | str, already_written: int = 0) -> str | None:
        """Why the build is refused, or None. Bytes already written need no room again.

        Sizes that are not exact are only refused if they are too much by more than their error.
        """
        if self.memory < self.least_memory:
            return (
                f"{self.title} needs at least {size(self.least_memory)} of memory, "
                f"but may take {size(self.memory)}"
            )
        least = self.memory if self.error == 1 else self.least_memory
        return self._lack(folder, already_written, least, self.disk_while_building / self.error)

    def warning(self, folder: Path | str, already_written: int = 0) -> str | None:
        """Why the build may fail though it is not refused, or None."""
        lack = self._lack(folder, already_written, self.memory, self.disk_while_building)
        return None if lack is None else f"{lack}; it may not fit"

    def _lack(self, folder: Path | str, written: int, memory: float, disk: float) -> str | None:
        """What there is less of than is needed."""
        free = available_memory()
        there_is = shutil.disk_usage(existing(folder)).free + written
        for needed, there, where in (
            (memory, free, "of free memory"),
            (disk, there_is, f"free in {folder}"),
        ):
            if there is not None and needed > there:
                return f"{self.title} needs {self.summary()}; there is {size(there)} {where}"
        return None


Phase = Literal["forward", "backward"]
PHASES: tuple[Phase, ...] = ("forward", "backward")


class Progress(NamedTuple):
    """How far a build has come."""

    phase: Phase
    ply: int
    done: int  # positions
    total: int  # 0 if it is not known
    resumed: int  # of `done`, what an earlier run had done
    tasks: tuple[int, int] = (0, 0)  # of this ply that are committed, and all; on a cluster
    workers: int = 0  # of a cluster


def existing(folder: Path | str) -> Path:
    """The folder itself or its nearest ancestor that exists."""
    found = Path(folder).absolute()
    while not found.exists():
        found = found.parent
    return found
