"""Matches of every level against the next, in every game: the tables of docs/levels.md.

    python scripts/calibrate_levels.py games.jsonl [--games 200] [--second 0.3] [--cores 2]
    python scripts/calibrate_levels.py --times [--games 10]

Each finished game is a line of the file; run it again and it goes on where it stopped. Sides
alternate, no openings: levels draw lots of their own. `--second` is what `perfect` gets for
a move where it has no table and no proof; at play it gets 0.9.

`--times` lets each level play against `medium`, one game after the other with what it has at
play, and prints the median and the longest CPU time of its moves. What the first game of a board
takes to load kernels is not counted.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from retro.games.catalogue import make_board
from retro.play.contest import Bout, run, schedule
from retro.play.levels import LEVELS
from retro.play.player import Player
from tablebase.players import Arena, Means, Players

if TYPE_CHECKING:
    from random import Random

    from retro.games.game import Board, Position

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
OPPONENT = "medium"  # of the levels whose moves are timed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", default=Path("games.jsonl"))
    parser.add_argument("--times", action="store_true", help="time the moves instead")
    parser.add_argument("--games", type=int, help="of a pair: 200, or 10 with --times")
    parser.add_argument("--second", type=float, default=0.3)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--boards", nargs="*", default=BOARDS)
    options = parser.parse_args()
    if options.times:
        print_times(options.boards, options.games or 10)
        return 0
    done = read(options.file)
    bouts = [
        bout
        for name in options.boards
        for pair in pairwise(LEVELS)
        for bout in schedule(make_board(name), pair, options.games or 200)
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


class Timed(Player):
    """A player whose moves are timed."""

    def __init__(self, player: Player, times: list[float]) -> None:
        self.name, self._player, self._times = player.name, player, times

    def choose(self, position: Position) -> int:
        begin = time.process_time()
        move = self._player.choose(position)
        self._times.append(time.process_time() - begin)
        return move


def move_times(board: Board, level: str, games: int) -> list[float]:
    """CPU seconds of the moves of a level, sides alternating, after one game to warm up."""
    times: list[float] = []

    def seat(players: Players, name: str, rng: Random) -> Player:
        player = players.make(name.removesuffix("!"), rng)
        return Timed(player, times) if name.endswith("!") else player

    for bout in schedule(board, (f"{level}!", OPPONENT), games + 1):
        if bout.number == 1:
            times.clear()
        Arena(Means()).play(bout, seat)
    return times


def print_times(boards: list[str], games: int) -> None:
    """The table of docs/levels.md: median / longest CPU time of a move."""
    print(f"| board | {' | '.join(LEVELS)} |")
    print(f"| --- |{' ---: |' * len(LEVELS)}")
    for name in boards:
        cells = []
        for level in LEVELS:
            times = move_times(make_board(name), level, games)
            cells.append(f"{median(times):.3f} / {max(times):.3f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
