"""How fast tables of any game are built by the generic walk, and in how much memory.

    python scripts/bench_generic.py
    python scripts/bench_generic.py "mnk 4x4 connect=4" --threads 1 --json

Each table runs in a process of its own; its kernels are compiled or loaded by
a first build that is not counted. `arrays` is the peak of all arrays of a
build, `keys` the bytes of all keys of the table: the walk keeps two layers in
memory, so the ratio falls as tables grow. CPU time is that of all threads.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

from figures import in_own_process, print_rows

from retro.cores import available_cores
from retro.games.catalogue import make_board
from retro.walk.keys import layers as walks
from tablebase.building.build import build
from tablebase.tables import open_tablebase

DEFAULT_TABLES = [
    "mnk 4x4 connect=4",
    "mnk 5x3 connect=4",
    "puissance-plus 4x4 target=7",
    "domineering 6x5",
    "quarto 3x3 attributes=3",
]
COLUMNS = [
    ("table", "{}", "table"),
    ("positions", "{:,}", "positions"),
    ("canonical", "{:,}", "classes"),
    ("forward_seconds", "{:.2f}", "forward s"),
    ("backward_seconds", "{:.2f}", "backward s"),
    ("build_seconds", "{:.2f}", "build s"),
    ("cpu_seconds", "{:.2f}", "CPU s"),
    ("key_bytes", "{:,}", "keys, bytes"),
    ("array_bytes", "{:,}", "arrays, bytes"),
    ("array_ratio", "{:.2f}", "arrays/keys"),
    ("file_size", "{:,}", "file bytes"),
]


def measure(table: str, threads: int) -> dict[str, Any]:
    """All figures of one table."""
    board = make_board(table)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.h5"
        build(board, path, threads=threads)
        cpu = time.process_time()
        built = build(board, path, threads=threads, force=True)
        cpu = time.process_time() - cpu
        tracemalloc.start()
        build(board, path, threads=threads, force=True)
        arrays = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        with open_tablebase(path) as kept:
            value, counts, size = kept.value, kept.counts, kept.size
            stored = sum(states.size for ply in kept.plies for states, _ in kept.reader.layer(ply))
    rules = board.rules
    forward, backward = walk_seconds(walks.prepare(rules, threads))
    keys = 8 * rules.words * stored
    return {
        "table": table,
        "threads": threads,
        "value": value,
        "positions": sum(record.positions for record in counts),
        "canonical": sum(record.classes or 0 for record in counts),
        "forward_seconds": forward,
        "backward_seconds": backward,
        "build_seconds": built.seconds,
        "cpu_seconds": cpu,
        "key_bytes": keys,
        "array_bytes": arrays,
        "array_ratio": arrays / keys,
        "file_size": size,
    }


def walk_seconds(walk: walks.Walk) -> tuple[float, float]:
    """Seconds of the walk forward, and of the walk back with all counts; nothing is written."""
    begin = time.perf_counter()
    for _ in walks.forward(walk, walks.first_layer(walk)):
        pass
    forward = time.perf_counter() - begin
    begin = time.perf_counter()
    walks.solve(walk)
    return forward, time.perf_counter() - begin - forward


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=DEFAULT_TABLES, metavar="TABLE")
    parser.add_argument("--threads", type=int, default=available_cores())
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.tables[0], options.threads)))
        return
    shared = ["--one", "--threads", str(options.threads)]
    rows = [in_own_process(__file__, table, *shared) for table in options.tables]
    print_rows(COLUMNS, rows, options.threads, as_json=options.json)


if __name__ == "__main__":
    main()
