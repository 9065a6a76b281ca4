"""Connect Four's index behind the door that `tablebase.indexes` describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.connect4.rules import Connect4Position
from tablebase.building.plan import Plan, kept_plies
from tablebase.halves.order import How
from tablebase.halves.reader import HalvesReader

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from retro.games.game import Position
    from tablebase.answers import Level, Report, Verified
    from tablebase.building.options import BuildOptions
    from tablebase.building.plan import WorkerSpec
    from tablebase.files.remote import Source
    from tablebase.halves.order import Order
    from tablebase.indexes import Reader


class Halves:
    """Tables whose ranks are computed from two halves of the board."""

    def open_file(self, path: Source, cache_bytes: int) -> Reader:
        return HalvesReader(path, cache_bytes)

    def plan(
        self,
        root: Position,
        plies: range | None,
        options: BuildOptions,
        workers: Sequence[WorkerSpec],
    ) -> Plan:
        from tablebase.halves.plan import estimate_build

        assert isinstance(root, Connect4Position)
        plies = kept_plies(root, plies)
        how = How(
            options.memory, options.threads, options.processes, options.counts, options.distances,
            tuple(workers), options.task_memory,
        )  # fmt: skip
        found = estimate_build(root.board, how, root=root, plies=plies)
        return Plan(
            root=root,
            positions=found.ranked,
            plies=found.plies,
            seconds=found.seconds,
            memory=found.memory,
            least_memory=found.least_memory,
            disk=found.disk,
            disk_while_building=found.disk_while_building,
            error=1.0,
            exact_plies=len(found.plies),
            detail=found,
            workers=found.workers,
            processes=found.processes,
            budget=found.hire,
            labour=found.labour,
        )

    def build(self, plan: Plan, path: Path, order: Order) -> None:
        from tablebase.halves.build import run
        from tablebase.halves.plan import Estimate

        assert isinstance(plan.detail, Estimate)
        run(plan.detail, path, order)

    def check(
        self, reader: Reader, level: Level, seed: int, report: Report, *, counts: bool
    ) -> Verified:
        from tablebase.halves.check import check

        assert isinstance(reader, HalvesReader)
        return check(reader, level, seed, report, counts=counts)

    def check_by_search(self, reader: Reader, seed: int, report: Report) -> int:
        from tablebase.halves.cross_check import cross_check

        assert isinstance(reader, HalvesReader)
        return cross_check(reader, seed, report)


INDEX = Halves()
