"""How fast Domineering is solved: classes, nodes and CPU time of boards, both starts.

    python scripts/bench_domineering.py                       squares up to 7x7
    python scripts/bench_domineering.py 8x8 --memory 1G
    python scripts/bench_domineering.py 6x6 --strong --json   and the plies to the end

Kernels are compiled before the clock starts. CPU time, not wall time: on a busy
machine it is the steadier of the two.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import NamedTuple

from retro.games.domineering.rules import (
    OTHER,
    DomineeringBoard,
    DomineeringPosition,
    outcome_class,
)
from retro.search import Solver

BOARDS = ("4x4", "5x5", "6x6", "6x7", "7x7")


class Figures(NamedTuple):
    """Of one board, both starts together."""

    board: str
    outcome: str
    plies: list[int | None]  # to the end, Vertical's start before Horizontal's; if asked for
    nodes: int
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the solver on Domineering boards.")
    parser.add_argument("boards", nargs="*", default=BOARDS, metavar="ROWSxCOLS")
    parser.add_argument("--memory", default="256M", metavar="SIZE", help="default: 256M")
    parser.add_argument("--strong", action="store_true", help="also the plies to the end")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for text in ("5x5", "8x8"):  # keys of one word and of two
        compile_for(DomineeringBoard.parse(text))
    if not options.json:
        print("board  class  plies           nodes   CPU time   nodes/s")
    for text in options.boards:
        found = measure(DomineeringBoard.parse(text), options.memory, options.strong)
        if options.json:
            print(json.dumps(found._asdict()), flush=True)
        else:
            rate = found.nodes / max(found.seconds, 1e-9)
            plies = " ".join("-" if n is None else str(n) for n in found.plies)
            print(
                f"{found.board:<5}  {found.outcome:<5}  {plies:<5} {found.nodes:>15,}"
                f" {found.seconds:>8.2f} s {rate:>9,.0f}",
                flush=True,
            )


def compile_for(board: DomineeringBoard) -> None:
    """Solve a corner of five by five cells, so that every kernel is there."""
    solver = Solver(board, memory="1M")
    corner = sum(board.bit(row, column) for row in range(5) for column in range(5))
    solver.solve(DomineeringPosition(board, board.full & ~corner, "vertical"))


def measure(board: DomineeringBoard, memory: str, strong: bool) -> Figures:
    """Solve both starts, each with an empty table."""
    found, begin = [], time.process_time()
    for side in OTHER:
        solver = Solver(board, memory=memory)
        found.append(solver.solve(DomineeringPosition(board, 0, side), strong))
    return Figures(
        str(board),
        outcome_class(*(solution.value for solution in found)),
        [solution.plies for solution in found],
        sum(solution.nodes for solution in found),
        time.process_time() - begin,
    )


if __name__ == "__main__":
    main()
