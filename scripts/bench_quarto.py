"""Measure the search of Quarto on 4x4: seconds and nodes by the number of pieces placed.

    python scripts/bench_quarto.py --placed 9 8 7 --positions 100
    python scripts/bench_quarto.py --placed 4 --positions 5 --memory 1G --json
    python scripts/bench_quarto.py --placed 9 8 7 --strong                          distances, too

Positions are drawn with a seed: pieces, cells and hand at random, no line on the
board, and the piece in hand completes none (those positions are settled at a look).
Every position starts with an empty table.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from typing import Any

from retro.games.quarto.evaluate import wins_at
from retro.games.quarto.rules import QuartoBoard, QuartoPosition
from retro.games.values import VALUE_NAMES
from retro.search import Solver


def main() -> int:
    options = _parser().parse_args()
    results = []
    for squares in (False, True):
        board = QuartoBoard(4, squares=squares)
        measure(
            board, 7, [quiet_position(board, 7, random.Random(0))], "1M", options.strong
        )  # compiles
        for placed in options.placed:
            rng = random.Random(f"{options.seed} {placed}")
            positions = [quiet_position(board, placed, rng) for _ in range(options.positions)]
            results.append(measure(board, placed, positions, options.memory, options.strong))
            if not options.json:
                print(_line(results[-1]), flush=True)
    if options.json:
        json.dump(results, sys.stdout, indent=2)
        print()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--placed", type=int, nargs="+", default=[9, 8, 7, 6, 5], metavar="N")
    parser.add_argument("--positions", type=int, default=20, metavar="N", help="default: 20")
    parser.add_argument("--memory", default="64M", metavar="SIZE", help="default: 64M")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="default: 1")
    parser.add_argument("--strong", action="store_true", help="also the plies to the end")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    return parser


def quiet_position(board: QuartoBoard, placed: int, rng: random.Random) -> QuartoPosition:
    """A random position without a line whose piece in hand completes none."""
    while True:
        pieces = rng.sample(range(board.pieces), placed + 1)
        cells = dict(zip(rng.sample(range(board.cells), placed), pieces, strict=False))
        filled = tuple(cells.get(cell) for cell in range(board.cells))
        position = QuartoPosition(board, filled, pieces[-1])
        if not position.has_line() and not any(
            wins_at(position, cell) for cell in position.empty_cells()
        ):
            return position


def measure(
    board: QuartoBoard,
    placed: int,
    positions: list[QuartoPosition],
    memory: str,
    strong: bool,
) -> dict[str, Any]:
    """Solve the positions; seconds are of CPU time."""
    seconds, nodes, values = [], [], []
    for position in positions:
        solver = Solver(board, memory=memory)
        begin = time.process_time()
        found = solver.solve(position, strong)
        seconds.append(time.process_time() - begin)
        nodes.append(found.nodes)
        values.append(found.value)
    return {
        "squares": board.squares,
        "placed": placed,
        "positions": len(positions),
        "mean_seconds": statistics.mean(seconds),
        "most_seconds": max(seconds),
        "mean_nodes": statistics.mean(nodes),
        "most_nodes": max(nodes),
        "values": {VALUE_NAMES[value]: values.count(value) for value in (1, 0, -1)},
    }


def _line(result: dict[str, Any]) -> str:
    rules = "squares" if result["squares"] else "lines  "
    counts = " ".join(f"{name} {count}" for name, count in result["values"].items())
    return (
        f"{rules}  {result['placed']:>2} placed  mean {result['mean_seconds']:8.4f} s"
        f"  most {result['most_seconds']:8.4f} s  mean {result['mean_nodes']:12,.0f} nodes"
        f"  most {result['most_nodes']:12,}  {counts}"
    )


if __name__ == "__main__":
    sys.exit(main())
