"""How fast tables are built: the walks alone, whole builds, the whole command.

    python scripts/bench_build.py                 # 5x4 5x5 6x4 6x5, all cores
    python scripts/bench_build.py --large         # and 6x6, 7x5, a 7x6 root: some ten minutes
    python scripts/bench_build.py 5x5 7x6:44444433221 --threads 1 --memory 2G --json
    python scripts/bench_build.py --command       # the command, first time and later

Each board runs in a process of its own, kernels warmed on a small board
first, and is built before anything else, so that its peak memory is that of the
build. Then the bare walks follow, in memory. `pass` is the time of one plain
numpy OR over the same planes in the same run: absolute times vary with the
machine, the ratio hardly does. Times are the best of `--repeat` runs, of large boards
those of a single one. A board with moves (7x6:443) is rooted at the position after them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from figures import in_own_process, machine, print_rows

from retro.cores import available_cores
from retro.games.connect4.rules import Connect4Board
from retro.games.connect4.text import read_moves
from retro.index.halves.layout import ranked_positions
from retro.walk.halves.layer import Rooms
from retro.walk.halves.layers import backward, count_layer, prepare
from tablebase.building.build import build

if TYPE_CHECKING:
    from retro.walk.halves.prepared import Prepared

DEFAULT_BOARDS = ["5x4", "5x5", "6x4", "6x5"]
LARGE_BOARDS = ["6x6", "7x5", "7x6:4444443322"]
LARGE = 10_000_000_000  # ranked positions
COLUMNS = [
    ("board", "{}", "board"),
    ("ranked", "{:,}", "ranked"),
    ("backward_seconds", "{:.3f}", "backward s"),
    ("ns_per_position", "{:.3f}", "ns/position"),
    ("pass_ratio", "{:.1f}", "times a pass"),
    ("count_seconds", "{:.3f}", "counting s"),
    ("build_seconds", "{:.2f}", "build s"),
    ("peak_memory", "{:,}", "peak bytes"),
    ("file_size", "{:,}", "file bytes"),
    ("positions", "{:,}", "positions"),
]


def measure(name: str, threads: int, repeat: int, memory: str | None) -> dict[str, Any]:
    """All figures of one board."""
    warm_up(threads)
    size, _, moves = name.partition(":")
    board = Connect4Board.parse(size)
    root = read_moves(board, moves) if moves else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.h5"
        built = build(board, path, root=root, threads=threads, memory=memory)
        file_bytes = built.path.stat().st_size
    peak_memory = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    prepared = prepare(board, threads=threads, root=root)
    ranked = int(ranked_positions(prepared.layout).sum())
    repeat = repeat if ranked < LARGE else 1
    walks, passes, counts = [], [], []
    for _ in range(repeat):
        spent_on_passes = 0.0
        begin = time.perf_counter()
        for layer in backward(prepared):
            here = time.perf_counter()
            np.bitwise_or(layer.stored[0], layer.stored[1])
            spent_on_passes += time.perf_counter() - here
        walks.append(time.perf_counter() - begin - spent_on_passes)
        passes.append(spent_on_passes)
        begin = time.perf_counter()
        positions = count(prepared)
        counts.append(time.perf_counter() - begin)
    return {
        "board": name,
        "threads": threads,
        "ranked": ranked,
        "backward_seconds": min(walks),
        "ns_per_position": 1e9 * min(walks) / ranked,
        "pass_seconds": min(passes),
        "pass_ratio": min(walks) / min(passes),
        "count_seconds": min(counts),
        "build_seconds": built.seconds,
        "peak_memory": peak_memory,
        "file_size": file_bytes,
        "positions": positions,
    }


def count(prepared: Prepared) -> int:
    """All positions of a board, without its values."""
    plies, rooms = range(prepared.layout.first_ply, prepared.layout.plies), Rooms()
    with ThreadPoolExecutor(prepared.threads) as pool:
        return sum(count_layer(prepared, ply, pool, rooms).positions for ply in plies)


def warm_up(threads: int) -> None:
    """Compile or load every kernel on a board that takes no time."""
    with tempfile.TemporaryDirectory() as folder:
        build(Connect4Board(4, 3), Path(folder) / "table.h5", threads=threads)


def measure_command() -> dict[str, Any]:
    """Seconds of `build-tablebase 5x4` with an empty kernel cache, and with a filled one."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/cache"}
        command = [sys.executable, "-m", "tablebase.cli.build", "5x4", "--force", "--quiet"]
        for _ in range(4):
            begin = time.perf_counter()
            subprocess.run(
                [*command, "--dir", folder], env=environment, check=True, stdout=subprocess.DEVNULL
            )
            seconds.append(time.perf_counter() - begin)
    return {"command": "build-tablebase 5x4", "first": seconds[0], "later": min(seconds[1:])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("boards", nargs="*", default=DEFAULT_BOARDS, metavar="WxH[:MOVES]")
    parser.add_argument("--large", action="store_true", help=f"and {' '.join(LARGE_BOARDS)}")
    parser.add_argument("--memory", metavar="SIZE", help="of a build, as 4G")
    parser.add_argument("--threads", type=int, default=available_cores())
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--command", action="store_true", help="time the whole command on 5x4")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        figures = measure(options.boards[0], options.threads, options.repeat, options.memory)
        print(json.dumps(figures))
        return
    if options.command:
        result = measure_command()
        text = "{command}: {first:.1f} s the first time, {later:.2f} s later".format(**result)
        print(json.dumps({"machine": machine(), **result}) if options.json else text)
        return
    shared = ["--one", "--repeat", str(options.repeat), "--threads", str(options.threads)]
    shared += [] if options.memory is None else ["--memory", options.memory]
    boards = options.boards + LARGE_BOARDS * options.large
    rows = [in_own_process(__file__, board, *shared) for board in boards]
    print_rows(COLUMNS, rows, options.threads, as_json=options.json)


if __name__ == "__main__":
    main()
