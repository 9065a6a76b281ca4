"""How many playouts a second the Monte-Carlo tree search makes, on one core.

    python scripts/bench_uct.py
    python scripts/bench_uct.py "connect4 7x6" "quarto 4x4" --seconds 5 --json

From the start of each board, with a tree that never fills; kernels are compiled or loaded
before the clock starts. One thread does all the work; the rate is that of its CPU time, so
that a busy machine does not change it much.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from figures import print_rows

from retro.games.catalogue import make_board
from retro.play.uct import Limit, Search

DEFAULT_BOARDS = [
    "connect4 7x6",
    "mnk 3x3 connect=3",
    "mnk 7x6 connect=4",
    "puissance-plus 7x7",
    "domineering 6x6",
    "notakto 4x4",
    "quarto 4x4",
]
NODES = 1 << 23
COLUMNS = [
    ("board", "{}", "board"),
    ("playouts", "{:,}", "playouts"),
    ("seconds", "{:.2f}", "seconds"),
    ("cpu_seconds", "{:.2f}", "CPU s"),
    ("per_second", "{:,.0f}", "playouts/CPU s"),
    ("nodes", "{:,}", "nodes"),
]


def measure(board: str, seconds: float) -> dict[str, Any]:
    """One board."""
    start = make_board(board).start()
    rules, state = start.board.rules, start._state
    Search(rules, state).run(Limit(playouts=1))
    search = Search(rules, state, seed=1, nodes=NODES)
    begun = time.process_time()
    search.run(Limit(seconds=seconds))
    cpu = time.process_time() - begun
    return {
        "board": board,
        "playouts": search.playouts,
        "seconds": search.seconds,
        "cpu_seconds": cpu,
        "per_second": search.playouts / cpu,
        "nodes": search.nodes,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("boards", nargs="*", default=DEFAULT_BOARDS, metavar="GAME SIZE [OPTION=X]")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [measure(board, options.seconds) for board in options.boards]
    print_rows(COLUMNS, rows, 1, as_json=options.json)


if __name__ == "__main__":
    main()
