"""What stands between a user and the engine: reading, checking, calling; nothing that searches.

    python scripts/bench_door.py            # a table, and what is wanted
    python scripts/bench_door.py --json
    python scripts/bench_door.py --builds   # and the first build of 5x4, no kernels on disk; 6x5

Times are of CPU, the least of several runs, kernels warm and the answers known to the
transposition table. Builds are run once; their wall time counts on an idle machine only.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import timeit
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.games.connect4.text import moves_text, read_moves
from retro.search import Solver
from retro.search.connect4 import goals

if TYPE_CHECKING:
    from collections.abc import Callable

BOARD = Connect4Board(7, 6)
POSITIONS, PLIES = 200, 35
RUNS, STARTS = 40, 7
BUILD = "from tablebase.cli.entry import build_tablebase; build_tablebase()"


class Figure(NamedTuple):
    """Something measured, in microseconds, and the most it may be."""

    name: str
    microseconds: float
    wanted: float | None


def some_positions(number: int, plies: int) -> list[Connect4Position]:
    """Random unfinished positions, the same in every run."""
    rng = random.Random(1)
    found: list[Connect4Position] = []
    while len(found) < number:
        position = Connect4Position(BOARD)
        while position.ply < plies and not position.is_over():
            position = position._play(rng.choice(position._numbers()))
        if not position.is_over():
            found.append(position)
    return found


def each(call: Callable[[], object], number: int) -> float:
    """Microseconds for each of `number` things that a call does."""
    seconds = min(timeit.repeat(call, number=1, repeat=RUNS, timer=time.process_time))
    return 1e6 * seconds / number


def measure() -> list[Figure]:
    positions = some_positions(POSITIONS, PLIES)
    texts = [moves_text(position.history or ()) for position in positions]
    states = BOARD.states(positions)
    solver, engine = Solver(BOARD, memory="64M"), goals.make_engine(7, 6, memory=1 << 26)
    movers = np.array([position.mover for position in positions], np.uint64)
    masks = states.a | states.b
    read = each(lambda: [read_moves(BOARD, text) for text in texts], POSITIONS)
    figures = [Figure(f"reading {PLIES} plies of 7x6", read, 30)]
    for strong, kind in ((False, "value"), (True, "distance")):
        solver.solve_many(states, strong)

        def engine_only(strong: bool = strong) -> object:
            return goals.solve_batch(engine, movers, masks, strong)

        own = each(engine_only, POSITIONS)
        one = each(lambda s=strong: [solver.solve(text, s) for text in texts], POSITIONS)  # type: ignore[misc]
        many = each(lambda s=strong: solver.solve_many(states, s), POSITIONS)  # type: ignore[misc]
        figures += [
            Figure(f"engine, {kind}", own, None),
            Figure(f"Solver.solve(moves), {kind}, over the engine", one - own, 50),
            Figure(f"Solver.solve_many(states), {kind}, over the engine", many - own, 5),
        ]
    return figures


def run(*words: str, **environment: str) -> tuple[float, float]:
    """Seconds of CPU, of all processes, and of the clock that a command of Python takes."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *words],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(words)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begin


def least(*words: str) -> float:
    """Microseconds of CPU of the quickest of some runs of a command."""
    return 1e6 * min(run(*words)[0] for _ in range(STARTS))


def starts() -> list[Figure]:
    """What one question costs in a new process, beside what nobody can do without."""
    with tempfile.TemporaryDirectory() as folder:
        # As after any installation, sources are compiled once, also where bytecode is forbidden.
        if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
            os.environ["PYTHONPYCACHEPREFIX"] = folder
        run("-c", BUILD, "5x4", "--quiet", "--dir", folder)
        probe = least("-m", "tablebase", "probe", "5x4", "443", "--dir", folder)
        solve = least("-m", "tablebase", "solve", "5x4", "443", "--memory", "16M", "--dir", "none")
    return [
        Figure("python -c 'import numpy, h5py'", least("-c", "import numpy, h5py"), None),
        Figure("tablebase probe 5x4 443", probe, 350_000),
        Figure("tablebase solve 5x4 443, without a table", solve, None),
    ]


def builds() -> list[Figure]:
    """A first build of 5x4, with no kernels on disk, and one of 6x5 with them."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for board, title, most in (("5x4", "first build of 5x4", 15e6), ("6x5", "6x5", 5e6)):
            command = ("-c", BUILD, board, "--quiet", "--dir", folder)
            cpu, wall = run(*command, NUMBA_CACHE_DIR=f"{folder}/kernels")
            figures += [
                Figure(f"{title}, CPU of two cores", 1e6 * cpu, 2 * most),
                Figure(f"{title}, wall", 1e6 * wall, most),
            ]
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--builds", action="store_true", help="time builds, too")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = [*starts(), *measure()]
    if options.builds:
        figures += builds()
    if options.json:
        print(json.dumps([figure._asdict() for figure in figures]))
        return
    for figure in figures:
        wanted = "" if figure.wanted is None else f"   at most {figure.wanted:,.0f}"
        print(f"{figure.name:<52}{figure.microseconds:>12,.1f} us{wanted}")


if __name__ == "__main__":
    main()
