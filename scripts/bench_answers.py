"""How long an answer takes: value and distance of every move, for random positions of every ply.

    python scripts/bench_answers.py                        # 7x6, 20 positions a ply
    python scripts/bench_answers.py 6x6 --positions 100 --plies 0..12 --json
    python scripts/bench_answers.py --alone --positions 3     # the solver, without any table

Positions come from random games: for half of them any move is drawn (`with blunders`), for the
other half one that keeps the value (`without`), which takes a search of its own that is not
counted. Each position is asked of an oracle that knows what is there: tables in `--dir`, the first
plies that are shipped, and what it has searched before; `--new` begins each one with an empty
memory.

CPU seconds of one thread, so that a busy machine does not change them much.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import numpy as np
from figures import print_rows

import tablebase as tb

if TYPE_CHECKING:
    from retro.games.game import Position

COLUMNS = [
    ("ply", "{}", "ply"),
    ("play", "{}", "random play"),
    ("positions", "{:,}", "positions"),
    ("median", "{:.4f}", "median s"),
    ("p99", "{:.3f}", "99 % s"),
    ("worst", "{:.3f}", "worst s"),
    ("hardest", "{}", "hardest"),
]
KINDS = ("with blunders", "without")
GAMES_PER_POSITION = 3
Figures = dict[str, Any]


def draw(
    oracle: tb.Oracle, rng: np.random.Generator, plies: range, kind: str, number: int
) -> dict[int, list[Position]]:
    """So many unfinished positions of every ply, of random games, one of each ply a game.

    Of a ply that few games reach there are fewer: 7x6 without blunders is won by ply 41.
    """
    found: dict[int, list[Position]] = {ply: [] for ply in plies}
    for game in range(GAMES_PER_POSITION * number):
        if all(len(positions) == number for positions in found.values()):
            break
        position = oracle.board.start()
        while not position.is_over():
            if position.ply in found and len(found[position.ply]) < number:
                found[position.ply].append(position)
            moves = position._numbers()
            if kind == "without":
                moves = [move.number for move in oracle.probe(position).best]
            position = position._play(int(rng.choice(moves)))
        print(f"\r\x1b[K{kind}: {game + 1} games drawn ", end="", file=sys.stderr, flush=True)
    return {ply: positions for ply, positions in found.items() if positions}


def measure(oracle: tb.Oracle, positions: list[Position], options: argparse.Namespace) -> Figures:
    """How long answers to some positions take, in CPU seconds."""
    seconds = {}
    for number, position in enumerate(positions):
        if options.new:
            oracle = make_oracle(options, alone=options.alone)
        begin = time.process_time()
        oracle.analyse(position)
        seconds[position.text] = time.process_time() - begin
        where = f"ply {position.ply}: {number + 1} of {len(positions)}"
        print(f"\r\x1b[K{where} ", end="", file=sys.stderr, flush=True)
    taken = list(seconds.values())
    return {
        "positions": len(taken),
        "median": median(taken),
        "p99": quantiles(taken, n=100, method="inclusive")[-1] if len(taken) > 1 else taken[0],
        "worst": max(taken),
        "hardest": max(seconds, key=seconds.__getitem__) or "-",
    }


def make_oracle(options: argparse.Namespace, *, alone: bool = False) -> tb.Oracle:
    """Who is asked: tables and the solver, or the solver alone."""
    if alone:
        return tb.Oracle(tb.board(options.board), memory=options.memory)
    return tb.oracle(options.board, folder=options.dir, memory=options.memory)


def warm_up(oracle: tb.Oracle) -> None:
    """Load kernels and lists before the clock starts; bench_door measures what a process pays."""
    position = oracle.board.start()
    for table in oracle.tables:
        table.probe_many(oracle.board.states([position]))
    while len(position._numbers()) > 1 and oracle.board.last_ply - position.ply > 12:
        position = position._play(position._numbers()[0])
    if not position.is_over():
        oracle.solver.analyse(position)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("board", nargs="?", default="7x6")
    parser.add_argument("--positions", type=int, default=20, help="of each ply and kind")
    parser.add_argument("--plies", default="0..40", metavar="A..B")
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--dir", type=Path, help="where tables are")
    parser.add_argument("--alone", action="store_true", help="the solver alone, no table")
    parser.add_argument("--new", action="store_true", help="a new solver for every question")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    first, last = (int(word) for word in options.plies.split(".."))
    rows: list[Figures] = []
    with make_oracle(options) as drawing, make_oracle(options, alone=options.alone) as asked:
        warm_up(asked)
        for kind in KINDS:
            rng = np.random.default_rng([options.seed, KINDS.index(kind)])
            drawn = draw(drawing, rng, range(first, last + 1), kind, options.positions)
            for ply, positions in drawn.items():
                rows.append({"ply": ply, "play": kind, **measure(asked, positions, options)})
    print("\r", end="", file=sys.stderr)
    rows.sort(key=lambda row: (row["ply"], row["play"]))
    print_rows(COLUMNS, rows, 1, as_json=options.json)


if __name__ == "__main__":
    main()
