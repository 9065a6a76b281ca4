"""How fast tables come out as data: batches, an export, many lines; CPU seconds of one core.

python scripts/bench_rows.py tables/connect4-5x4.h5
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import tablebase as tb

if TYPE_CHECKING:
    from collections.abc import Callable

LINES = 20_000


def measure(what: str, work: Callable[[], int]) -> None:
    """Print how many rows a second; the first run compiles, the second counts."""
    work()
    begin = time.process_time()
    rows = work()
    spent = time.process_time() - begin
    print(f"{what:<28} {rows:>12,} rows {spent:>8.2f} s {rows / spent:>14,.0f} rows/s")


def bench(table: tb.Table, folder: Path) -> None:
    print(repr(table))
    measure("batches", lambda: sum(map(len, table.batches(moves=False))))
    measure("batches with moves", lambda: sum(map(len, table.batches())))
    measure("export to npz", lambda: table.export(folder / "t.npz"))
    texts = [position.text for position in table.sample(LINES, seed=1)]
    measure("texts probed in bulk", lambda: len(table.probe_many(texts)))


def main() -> int:
    for path in map(Path, sys.argv[1:]):
        with tb.open_tablebase(path) as table, TemporaryDirectory() as folder:
            bench(table, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
