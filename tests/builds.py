"""Building tables of Connect Four for tests: what was built, read back from the file."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import tablebase as tb
from tablebase.building.driver import Driver
from tablebase.building.halves.builder import HalvesBuild
from tablebase.building.halves.tasks import HalvesTasks, group_rule, group_task
from tablebase.building.partial import Partial, Resume, part_name
from tablebase.building.workers import Workers
from tablebase.files.atomic import only_builder
from tablebase.halves.format import Header, PlyRecord
from tablebase.halves.store import TableFile


@dataclass(frozen=True)
class Result:
    """A finished table, and whether it was there before."""

    path: Path
    header: Header
    value: int
    records: list[PlyRecord]
    size: int
    was_there: bool


def result_of(path, *, was_there=False):
    """What is in a table file."""
    with TableFile(path) as table:
        return Result(path, table.header, table.value, table.records, table.size, was_there)


def build_tablebase(board, path, **options):
    """Build a table, or find it, and read it back."""
    built = tb.build(board, path, **options)
    return result_of(built.path, was_there=built.was_there)


def header_of(board, **options):
    """What the file of a table would say about itself."""
    return tb.plan(board, **options).detail.header


def tasks_of(path, board):
    """What the tasks of a build in files need, with its parts."""
    header = header_of(board)
    return HalvesTasks(Partial(path, header, group_rule()), header)


def group_path(tasks, ply, number):
    """The file of a group."""
    return tasks.partial.folder / part_name(group_task(ply, number), "group")


def with_task_memory(plan, memory):
    """The same plan, with tasks of so many bytes; None: whole layers stay in memory."""
    work = {ply: of._replace(task_memory=memory) for ply, of in plan.detail.work.items()}
    return replace(plan, detail=plan.detail._replace(work=work))


def run_plan(plan, path):
    """Run a plan as it is."""
    with only_builder(path), Workers(plan, None) as workers:
        build = HalvesBuild(plan, path, path, workers, force=False)
        Driver(build, workers, lambda _: None, Resume()).run()
    return result_of(path)


def build_without_counts(board, path, plies=None, *, distances=False):
    """A table that counts the root alone, as earlier versions could build it."""
    from tablebase.building.halves import builder

    def record(ply, tally, sha256, counted=builder._record):
        alone = PlyRecord(ply, 0, 0, 0, 0, 0, sha256=sha256)
        return alone if ply else counted(ply, tally, sha256)

    plan = tb.plan(board, plies=plies, distances=distances)
    uncounted = plan.detail._replace(header=replace(plan.detail.header, counts=0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builder, "_record", record)
        return run_plan(replace(plan, detail=uncounted), path)
