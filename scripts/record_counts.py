"""Write down what tables count: win, draw, loss per ply and the digest of every ply.

    python scripts/record_counts.py tables/*.h5 > tablebase/data/connect4_built.csv

The counts of boards that take minutes to build, so that tests and readers have
them without; `tests/tables/test_built.py` holds them against what is published.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

from tablebase.answers import COUNT_NAMES
from tablebase.halves.store import TableFile

COLUMNS = ("width", "height", "connect", "ply", *COUNT_NAMES, "sha256")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+", type=Path, metavar="TABLE.h5")
    options = parser.parse_args()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for path in options.tables:
        with TableFile(path) as table:
            header = table.header
            for record in table.records:
                counts = [getattr(record, name) for name in COUNT_NAMES]
                sizes = (header.width, header.height, header.connect)
                writer.writerow([*sizes, record.ply, *counts, record.sha256])


if __name__ == "__main__":
    main()
