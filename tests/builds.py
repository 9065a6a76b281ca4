"""Building tables of Connect Four for tests: what was built, read back from the file."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import tablebase as tb
from tablebase.files.atomic import only_builder
from tablebase.halves.build import run
from tablebase.halves.format import Header, PlyRecord
from tablebase.halves.order import How, Order
from tablebase.halves.plan import estimate_build
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


def run_plan(plan, path):
    """Run a plan of `tablebase.halves.plan.estimate_build`, as it is."""
    with only_builder(path):
        run(plan, path, Order())
    return result_of(path)


def build_without_counts(board, path, plies=None, *, distances=False):
    """A table that counts the root alone, as earlier versions could build it."""
    from tablebase.halves import build

    def record(ply, tally, sha256, counted=build._record):
        alone = PlyRecord(ply, 0, 0, 0, 0, 0, sha256=sha256)
        return alone if ply else counted(ply, tally, sha256)

    plan = estimate_build(board, How(distances=distances), plies=plies)
    with only_builder(path), pytest.MonkeyPatch.context() as patch:
        patch.setattr("tablebase.halves.build._record", record)
        run(replace(plan, header=replace(plan.header, counts=0)), path, Order())
    return result_of(path)
