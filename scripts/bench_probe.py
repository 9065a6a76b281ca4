"""How fast tables answer: many positions at once, one at a time, the whole command.

    python scripts/bench_probe.py          # 5x5
    python scripts/bench_probe.py 6x4 --json

Builds the table into a temporary folder. The positions are a seeded shuffle
of whole plies, so that neighbours in the batch are strangers in the table.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from retro.games.connect4.rules import Connect4Board
from tablebase.building.build import build
from tablebase.files.places import ENVIRONMENT_VARIABLE, table_path
from tablebase.tables import open_tablebase

if TYPE_CHECKING:
    from tablebase.tables import Table

BATCH = 2_000_000


def measure(board: Connect4Board) -> dict[str, Any]:
    """All figures of one board."""
    with tempfile.TemporaryDirectory() as folder:
        path = table_path(board.start(), Path(folder))
        build(board, path)
        with open_tablebase(path) as table:
            many = many_per_second(table)
            one = microseconds_of_one(table)
        return {
            "board": str(board),
            "probe_many_per_second": many,
            "probe_wdl_microseconds": one,
            "command_seconds": command_seconds(board, folder),
        }


def many_per_second(table: Table) -> float:
    """Positions per second of `probe_many`, one thread, all pages in memory."""
    rng = np.random.default_rng(1)
    first, second = [], []
    for ply in range(table.board.cells // 3, table.board.cells):
        for states, _ in table.reader.layer(ply):
            first.append(states.a)
            second.append(states.b)
        if sum(map(len, first)) > BATCH:
            break
    order = rng.permutation(sum(map(len, first)))[:BATCH]
    ours, theirs = np.concatenate(first)[order], np.concatenate(second)[order]
    table.probe_many(ours, theirs)
    seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        table.probe_many(ours, theirs)
        seconds.append(time.perf_counter() - begin)
    return len(ours) / min(seconds)


def microseconds_of_one(table: Table) -> float:
    """Median time of a warm `probe_wdl` called from Python."""
    rng = np.random.default_rng(2)
    positions = [table.random_position(rng, table.board.cells // 2) for _ in range(200)]
    seconds = []
    for position in positions * 5:
        begin = time.perf_counter()
        table.probe_wdl(position)
        seconds.append(time.perf_counter() - begin)
    return 1e6 * statistics.median(seconds)


def command_seconds(board: Connect4Board, folder: str) -> float:
    """Best of five of the whole command `tablebase probe`, kernels cached."""
    environment = {**os.environ, ENVIRONMENT_VARIABLE: folder}
    command = [sys.executable, "-m", "tablebase", "probe", str(board), "12"]
    seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("board", nargs="?", default="5x5", metavar="WxH")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(Connect4Board.parse(options.board))
    if options.json:
        print(json.dumps(result))
        return
    print(f"board                 {result['board']}")
    print(
        f"probe_many            {result['probe_many_per_second'] / 1e6:.1f} million/s, one thread"
    )
    print(f"probe_wdl             {result['probe_wdl_microseconds']:.1f} microseconds")
    print(f"tablebase probe       {result['command_seconds']:.2f} s, the whole command")


if __name__ == "__main__":
    main()
