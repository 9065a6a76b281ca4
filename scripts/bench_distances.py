"""What a distance costs beside the value: nodes, which no other load on the machine changes.

    python scripts/bench_distances.py                  # about a minute
    python scripts/bench_distances.py --boards 6x5 6x6 --positions 50

Empty boards, and random unfinished positions of 7x6 (plies 8 to 24, the same every time). The
transposition table is cleared before each row and kept from position to position within it.
The last line is the geometric mean of the rows' ratios.
"""

from __future__ import annotations

import argparse
import math
import random

from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.search.connect4 import goals

Stones = tuple[int, int]  # of the side to move, and of both
BOARDS = ("7x6", "8x5", "9x4", "7x5", "6x7")
PLIES = (8, 24)


def random_positions(number: int, seed: int = 18) -> list[Stones]:
    """Unfinished positions of 7x6, after so many random moves as a random number says."""
    rng, board, found = random.Random(seed), Connect4Board(7, 6), list[Stones]()
    while len(found) < number:
        position, plies = Connect4Position(board), rng.randint(*PLIES)
        while position.ply < plies and not position.is_over():
            position = position._play(rng.choice(position._numbers()))
        if not position.is_over():
            found.append((position.mover, position.first | position.second))
    return found


def nodes_of(width: int, height: int, positions: list[Stones], memory: int) -> tuple[int, int]:
    """Nodes of the values and of the distances, each from an empty table."""
    movers, masks = zip(*positions, strict=True)
    value, distance = (
        goals.solve_batch(goals.make_engine(width, height, memory=memory), movers, masks, strong)[1]
        for strong in (False, True)
    )
    return value, distance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boards", nargs="*", default=BOARDS, metavar="WIDTHxHEIGHT")
    parser.add_argument("--positions", type=int, default=300, help="of 7x6 (default 300)")
    parser.add_argument("--memory", type=int, default=1024, metavar="MB")
    options = parser.parse_args()
    rows = [(name, *map(int, name.split("x")), [(0, 0)]) for name in options.boards]
    if options.positions:
        rows.append((f"{options.positions} of 7x6", 7, 6, random_positions(options.positions)))
    ratios = []
    for name, width, height, positions in rows:
        value, distance = nodes_of(width, height, positions, options.memory << 20)
        ratios.append(distance / value)
        print(
            f"{name:<12} value {value:>12,}  distance {distance:>12,}  {ratios[-1]:.2f}", flush=True
        )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean {mean:.2f}")


if __name__ == "__main__":
    main()
