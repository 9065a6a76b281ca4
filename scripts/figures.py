"""How benchmarks tell their figures: the machine, one process per row, a table of rows.

A row is a dictionary; a column is (key of the row, format, title).
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from typing import Any

from retro.cores import available_cores

Row = dict[str, Any]
Columns = list[tuple[str, str, str]]


def machine() -> str:
    """What the figures were measured on."""
    return f"{platform.machine()}, {available_cores()} cores, Python {platform.python_version()}"


def in_own_process(script: str, *arguments: str) -> Row:
    """The row that a script prints as JSON, so that its peak memory is its own."""
    command = [sys.executable, script, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    row: Row = json.loads(done.stdout)
    return row


def print_rows(columns: Columns, rows: list[Row], threads: int, *, as_json: bool) -> None:
    """Rows as JSON, or as a table for people."""
    if as_json:
        print(json.dumps({"machine": machine(), "rows": rows}))
        return
    print(f"{machine()}; {threads} threads")
    lines = [[title for _, _, title in columns]]
    lines += [[form.format(row[key]) for key, form, _ in columns] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
