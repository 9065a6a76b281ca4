"""Check the proofs of Allis' rules against exact values, over every position of small boards.

    python scripts/check_allis.py 4x4 5x4             every position with the first player to move
    python scripts/check_allis.py 6x4 --jobs 8        17.7 million of them: an hour of CPU time
    python scripts/check_allis.py 6x4 --doubtful      only those whose proof could be wrong at all
    python scripts/check_allis.py 6x4 --sample 500    so many of each ply, by lot
    python scripts/check_allis.py 7x6 --solver --sample 200 --from-ply 20

Without `--solver` the generic walk solves the board first (6x4: a minute). A position and
its mirror image count once. `held` are the positions that the first player does not win,
`proved` those of them in which the rules prove it, `lost` and `wins` the same for positions
that the second player wins. A proof that the values contradict is `wrong`: the position is
shown, and the script ends with 1.

A proof cannot be wrong of a position that the second player wins, nor can there be one where the
first player completes a line at once; and no proof claims a win without an aftereven, a
group that claimevens alone complete. `--doubtful` leaves such positions out, nine in ten of the
later plies of 6x4; it counts what it has looked at.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np
from figures import machine

from retro.games.connect4.allis_proof import proof
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.search import Solver
from retro.walk.keys import layers as walks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    State = tuple[int, int, int]  # two words and the value

TITLES = ("positions", "held", "proved", "lost", "wins", "wrong")
TOGETHER = 2_000  # positions handed to a process at once


def every_position(
    board: Connect4Board, options: argparse.Namespace
) -> Iterator[tuple[int, Iterator[list[State]]]]:
    """Ply by ply the unfinished positions with the first player to move, some at a time."""
    rng = np.random.default_rng(options.seed)
    layers = walks.solve(walks.prepare(board.rules))
    for ply in range(0, len(layers), 2):
        keys, values = layers[ply].keys, layers[ply].values
        chosen = np.arange(keys.size)
        if options.doubtful:
            chosen = np.flatnonzero(doubtful(board, keys.a, keys.b, values))
        if options.sample is not None and options.sample < keys.size:
            chosen = np.sort(rng.choice(keys.size, options.sample, replace=False))
        if ply >= options.from_ply and chosen.size:
            parts = np.array_split(chosen, -(-len(chosen) // TOGETHER))
            columns = (keys.a, keys.b, values)
            yield (
                ply,
                (
                    list(zip(*(column[part].tolist() for column in columns), strict=True))
                    for part in parts
                ),
            )


def doubtful(
    board: Connect4Board,
    first: NDArray[np.uint64],
    second: NDArray[np.uint64],
    values: NDArray[np.int8],
) -> NDArray[np.bool_]:
    """Which positions could have a wrong proof; the first player is to move."""
    cells = [(column, row) for column in range(board.width) for row in range(board.height)]
    odd = np.uint64(sum(board.bit(column, row) for column, row in cells if row % 2 == 0))
    bottom = np.uint64(sum(board.bit(column, 0) for column in range(board.width)))
    stones, one = first | second, np.uint64(1)
    playable = stones + bottom
    at_once, aftereven = np.zeros(len(first), np.bool_), np.zeros(len(first), np.bool_)
    for line in map(np.uint64, board.lines):
        gaps = line & ~stones
        single = gaps & (gaps - one) == 0
        at_once |= (line & second == 0) & single & (gaps & playable == gaps)
        claimed = (gaps & odd == 0) & ((gaps >> one) & stones == 0)
        aftereven |= (line & first == 0) & (gaps != 0) & claimed
    found: NDArray[np.bool_] = ((values > 0) & ~at_once) | ((values == 0) & aftereven)
    return found


def random_positions(
    board: Connect4Board, options: argparse.Namespace
) -> Iterator[tuple[int, Iterator[list[State]]]]:
    """Positions of random games that the rules prove; the solver values them."""
    rng, solver = random.Random(options.seed), Solver(board)
    for ply in range(options.from_ply + options.from_ply % 2, board.cells, 2):
        found: list[State] = []
        for _ in range(options.sample or 100):
            position = Connect4Position(board)
            while position.ply < ply and not position.is_over():
                position = position._play(rng.choice(position._numbers()))
            if not position.is_over() and proof(position):
                found.append((*position._state, solver.solve(position).value))
        yield ply, iter([found])


def check(board: Connect4Board, states: list[State]) -> Counter[str]:
    """Count proofs of some positions, and how often each rule was used."""
    count: Counter[str] = Counter(positions=len(states))
    for a, b, value in states:
        position = board.unpack(a, b)
        count["held"] += value <= 0
        count["lost"] += value < 0
        found = proof(position)
        if found is None:
            continue
        count["proved"] += 1
        count["wins"] += found.wins
        count.update({rule.name for rule in found.rules})
        if value > 0 or (found.wins and value == 0):
            count["wrong"] += 1
            print(f"{position}\nvalue {value}, but {found.text(board)}")
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("boards", nargs="+", type=Connect4Board.parse, metavar="WIDTHxHEIGHT")
    parser.add_argument("--sample", type=int, help="positions of each ply (default all)")
    parser.add_argument("--doubtful", action="store_true", help="only what could be wrong")
    parser.add_argument("--solver", action="store_true", help="values by search, random games")
    parser.add_argument("--from-ply", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    print(machine())
    wrong = 0
    for board in options.boards:
        begun, total = time.monotonic(), Counter[str]()
        layers = (random_positions if options.solver else every_position)(board, options)
        print(f"{board}\n" + "".join(title.rjust(12) for title in ("ply", *TITLES)))
        with get_context("spawn").Pool(options.jobs) as pool:
            for ply, parts in layers:
                count: Counter[str] = Counter()
                for counted in pool.imap_unordered(partial(check, board), parts):
                    count.update(counted)
                total.update(count)
                print(_row(str(ply), count), flush=True)
        print(_row("all", total))
        used = [(name, n) for name, n in total.most_common() if name not in TITLES]
        print("used in proofs: " + ", ".join(f"{name} {n:,}" for name, n in used))
        print(f"{time.monotonic() - begun:.0f} s")
        wrong += total["wrong"]
    return 1 if wrong else 0


def _row(title: str, count: Counter[str]) -> str:
    return title.rjust(12) + "".join(f"{count[name]:,}".rjust(12) for name in TITLES)


if __name__ == "__main__":
    sys.exit(main())
