"""Matches of every level against the next, in every game: the table of docs/levels.md.

    python scripts/calibrate_levels.py games.jsonl [--games 200] [--second 0.3] [--cores 2]

Each finished game is a line of the file; run it again and it goes on where it stopped. Sides
alternate, no openings: levels draw lots of their own. `--second` is what `perfect` gets for
a move where it has no table and no proof; at play it gets 0.9.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

from retro.games.catalogue import make_board
from retro.play.contest import Bout, run, schedule
from retro.play.levels import LEVELS
from tablebase.players import Arena, Means

BOARDS = (
    "connect4 7x6",
    "mnk 3x3",
    "mnk 5x5 connect=4",
    "puissance-plus 8x8",
    "domineering 8x8",
    "quarto 4x4",
    "notakto 3x3",
)
CONFIDENT = 1.96


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--second", type=float, default=0.3)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--boards", nargs="*", default=BOARDS)
    options = parser.parse_args()
    done = read(options.file)
    bouts = [
        bout
        for name in options.boards
        for pair in pairwise(LEVELS)
        for bout in schedule(make_board(name), pair, options.games)
        if (name, *pair, bout.number) not in done
    ]
    names = {make_board(name): name for name in options.boards}
    arena = Arena(Means(second=options.second))
    with options.file.open("a") as file:
        for bout, record in run(bouts, arena, options.cores):
            print(json.dumps(line(names[bout.board], bout, record.result)), file=file, flush=True)
    print_table(options.file)
    return 0


def line(board: str, bout: Bout, result: object) -> dict[str, object]:
    """What is kept of a game; the weaker level comes first."""
    pair = sorted((bout.first, bout.second), key=list(LEVELS).index)
    winner = getattr(result, "winner", None)
    who = None if winner is None else bout.first if winner == "first" else bout.second
    reason = getattr(result, "reason", "")
    return {"board": board, "pair": pair, "number": bout.number, "winner": who, "reason": reason}


def read(path: Path) -> set[tuple[str, str, str, int]]:
    """The games that were played already."""
    if not path.exists():
        return set()
    rows = [json.loads(text) for text in path.read_text().splitlines()]
    return {(row["board"], *row["pair"], row["number"]) for row in rows}


def print_table(path: Path) -> None:
    """Scores of the stronger level, with 95 % intervals."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for text in path.read_text().splitlines():
        row = json.loads(text)
        weak, strong = row["pair"]
        name = {None: "drawn", strong: "won", weak: "lost"}[row["winner"]]
        found.setdefault((row["board"], f"{strong} against {weak}"), Counter())[name] += 1
    print("| board | match | games | won | drawn | lost | score of the stronger |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for (board, match), counts in found.items():
        games = counts.total()
        score = (counts["won"] + counts["drawn"] / 2) / games
        spread = (counts["won"] + counts["drawn"] / 4) / games - score**2
        bar = CONFIDENT * math.sqrt(max(spread, 0) / games)
        numbers = f"{games} | {counts['won']} | {counts['drawn']} | {counts['lost']}"
        print(f"| {board} | {match} | {numbers} | {100 * score:.1f} ± {100 * bar:.1f} % |")


if __name__ == "__main__":
    sys.exit(main())
