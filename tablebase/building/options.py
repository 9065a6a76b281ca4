"""How a table is to be built: what `tablebase.build` and `tablebase.plan` take, as one record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from retro.errors import BadTextError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class BuildOptions:
    """What a build is told besides what it builds; sizes in bytes. `tablebase.build` explains."""

    memory: int | None = None
    threads: int | None = None
    processes: int | None = None
    counts: bool = True
    distances: bool = False
    cluster: str | None = None
    task_memory: int | None = None
    work_dir: Path | str | None = None
    force: bool = False

    def __post_init__(self) -> None:
        for name, number in (("threads", self.threads), ("processes", self.processes)):
            if number is not None and number < 1:
                raise BadTextError(f"found {number} {name}, wanted at least one")
