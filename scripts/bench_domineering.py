"""How fast Domineering is solved: classes, nodes and CPU time of boards, both starts.

    python scripts/bench_domineering.py                       squares up to 7x7
    python scripts/bench_domineering.py 8x8 --memory 1024
    python scripts/bench_domineering.py 6x6 --json

Kernels are compiled before the clock starts. CPU time, not wall time: on a busy
machine it is the steadier of the two.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import NamedTuple

from retro.games.domineering import OTHER, DomineeringBoard, DomineeringPosition, outcome_class
from retro.games.domineering_keyed import dominoes_rules, pack
from retro.search.keyed_search import KeyedSolver

BOARDS = ("4x4", "5x5", "6x6", "6x7", "7x7")


class Figures(NamedTuple):
    """Of one board, both starts together."""

    board: str
    outcome: str
    nodes: int
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the solver on Domineering boards.")
    parser.add_argument("boards", nargs="*", default=BOARDS, metavar="ROWSxCOLS")
    parser.add_argument("--memory", type=int, default=256, metavar="MB", help="default: 256")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for text in ("5x5", "8x8"):  # keys of one word and of two
        compile_for(DomineeringBoard.parse(text))
    if not options.json:
        print("board  class           nodes   CPU time   nodes/s")
    for text in options.boards:
        found = measure(DomineeringBoard.parse(text), options.memory)
        if options.json:
            print(json.dumps(found._asdict()), flush=True)
        else:
            rate = found.nodes / max(found.seconds, 1e-9)
            print(
                f"{found.board:<5}  {found.outcome:<5} {found.nodes:>15,} {found.seconds:>8.2f} s"
                f" {rate:>9,.0f}",
                flush=True,
            )


def compile_for(board: DomineeringBoard) -> None:
    """Solve a corner of five by five cells, so that every kernel is there."""
    solver = KeyedSolver(dominoes_rules(board), memory_mb=1)
    corner = sum(board.bit(row, column) for row in range(5) for column in range(5))
    solver.solve(pack(DomineeringPosition(board, board.full & ~corner, "vertical")))


def measure(board: DomineeringBoard, memory_mb: int) -> Figures:
    """Solve both starts, each with an empty table."""
    values, nodes, begin = [], 0, time.process_time()
    for side in OTHER:
        solver = KeyedSolver(dominoes_rules(board), memory_mb=memory_mb)
        found = solver.solve(pack(DomineeringPosition(board, 0, side)))
        values.append(found.value)
        nodes += found.nodes
    return Figures(str(board), outcome_class(*values), nodes, time.process_time() - begin)


if __name__ == "__main__":
    main()
