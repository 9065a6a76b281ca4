"""Building tables of Connect Four for tests: what was built, read back from the file."""

from dataclasses import dataclass
from pathlib import Path

import tablebase as tb
from tablebase.files.atomic import only_builder
from tablebase.halves.build import run
from tablebase.halves.format import Header, PlyRecord
from tablebase.halves.order import Order
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
