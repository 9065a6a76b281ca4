"""How fast the solver is: the empty 7x6 board and sets of positions of graded difficulty.

    python scripts/bench_solver.py --sets DIR      # Pons' six files Test_L1_R1 ... Test_L3_R1
    python scripts/bench_solver.py --limit 50      # without DIR: random sets of these classes
    python scripts/bench_solver.py --only begin-hard --kind value --skip 200 --json
    python scripts/bench_solver.py --only empty    # with bitbully it takes five minutes more

Times are CPU seconds of one thread, kernels warm. The transposition table is
cleared before each row and kept from line to line within it. `call` is what a user
waits for, `Solver.solve` of a move string; `engine` is the same positions as arrays in
one kernel call. With `bitbully` installed, they go through it in the same run, some of
ours and some of its in turn, and `ratio` is the time of our calls divided by its
time. Known scores, where the files have them, are checked. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.games.connect4.text import moves_text
from retro.memory import memory_bytes
from retro.search import Solver
from retro.search.connect4 import goals as engine_goals

BOARD = Connect4Board(7, 6)
IN_TURN = 25  # positions
FILES = {
    "end-easy": "Test_L3_R1",
    "middle-easy": "Test_L2_R1",
    "middle-medium": "Test_L2_R2",
    "begin-easy": "Test_L1_R1",
    "begin-medium": "Test_L1_R2",
    "begin-hard": "Test_L1_R3",
}
# Where the files are not at hand: stones on the board, and plies to the end under best play.
STONES = {"end": range(29, 41), "middle": range(15, 29), "begin": range(6, 15)}
PLIES_LEFT = {"easy": range(14), "medium": range(14, 29), "hard": range(29, 43)}
NODES_TO_CLASSIFY = 2_000_000  # what takes more is hard


class Line(NamedTuple):
    """A position and, if it is known, its score: (22 - |score|)-th stone of the winner ends it."""

    moves: tuple[int, ...]
    score: int | None


def read_lines(path: Path, skip: int, limit: int) -> list[Line]:
    """The lines `moves score` of a file, from `skip` on."""
    pairs = (line.split() for line in path.read_text().splitlines()[skip : skip + limit])
    return [Line(tuple(int(m) - 1 for m in moves), int(score)) for moves, score in pairs]


def random_lines(engine: engine_goals.Engine, name: str, number: int) -> list[Line]:
    """Random unfinished positions of a class, the same for the same numbers."""
    rng = random.Random(name)
    stage, difficulty = name.split("-")
    lines: list[Line] = []
    while len(lines) < number:
        position = Connect4Position(BOARD)
        for _ in range(rng.choice(STONES[stage])):
            if not position.is_over():
                position = position._play(rng.choice(position._numbers()))
        if not position.is_over() and position.ply in STONES[stage]:
            mask = position.first | position.second
            found = engine_goals.solve(engine, position.mover, mask, True, NODES_TO_CLASSIFY)
            if (found.plies if found.done else BOARD.cells) in PLIES_LEFT[difficulty]:
                lines.append(Line(position.history or (), None))
    return lines


def stones(line: Line) -> Connect4Position:
    position = Connect4Position(BOARD)
    for column in line.moves:
        position = position._play(column)
    return position


def measure(
    solver: Solver, engine: engine_goals.Engine, name: str, lines: list[Line], *, strong: bool
) -> dict[str, Any]:
    """Solve some positions from a cleared table; compare with known scores and with bitbully."""
    positions = [stones(line) for line in lines]
    movers = [position.mover for position in positions]
    masks = [position.first | position.second for position in positions]
    texts = [moves_text(line.moves) for line in lines]
    engine.table[:] = 0
    solver.forget()
    peer = bitbully_solver()
    bounds, nodes = np.empty((len(lines), 2), np.int64), 0
    seconds, call_seconds, peer_seconds = 0.0, 0.0, 0.0
    for first in range(0, len(lines), IN_TURN):
        part = slice(first, first + IN_TURN)
        begin = time.process_time()
        bounds[part], spent, _ = engine_goals.solve_batch(engine, movers[part], masks[part], strong)
        seconds += time.process_time() - begin
        nodes += spent
        begin = time.process_time()
        values = [solver.solve(text, strong).value for text in texts[part]]
        call_seconds += time.process_time() - begin
        assert values == np.sign(bounds[part].sum(axis=1)).tolist(), (
            "the call and the engine differ"
        )
        if peer is not None:
            peer_seconds += bitbully_seconds(peer, lines[part], strong)
        done = min(first + IN_TURN, len(lines))
        times = f"{call_seconds:.1f} s" + f", bitbully {peer_seconds:.1f} s" * (peer is not None)
        print(f"\r{name}: {done} of {len(lines)}, {times}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    found = np.where(bounds[:, 0] > 0, bounds[:, 0], np.minimum(bounds[:, 1], 0))
    pairs = zip(found, lines, strict=True)
    known = [(int(score), line.score) for score, line in pairs if line.score is not None]
    wrong = sum(f != s if strong else np.sign(f) != np.sign(s) for f, s in known)
    row: dict[str, Any] = {
        "set": name,
        "kind": "distance" if strong else "value",
        "positions": len(lines),
        "known": len(known),
        "wrong": int(wrong),
        "nodes_per_position": nodes / len(lines),
        "call_seconds_per_position": call_seconds / len(lines),
        "engine_seconds_per_position": seconds / len(lines),
        "nodes_per_second": nodes / max(seconds, 1e-9),
    }
    if peer is not None:
        row["bitbully_seconds_per_position"] = peer_seconds / len(lines)
        row["ratio"] = call_seconds / peer_seconds
    return row


def bitbully_solver() -> Any:
    """A solver of bitbully, one thread, no opening book; None if it is not installed."""
    if importlib.util.find_spec("bitbully") is None:
        return None
    from bitbully import bitbully_core

    return bitbully_core.BitBullyCore()


def bitbully_seconds(solver: Any, lines: list[Line], strong: bool) -> float:
    """The same positions through bitbully."""
    from bitbully import bitbully_core

    boards = []
    for line in lines:
        board = bitbully_core.BoardCore()
        for column in line.moves:
            board.play(column)
        boards.append(board)
    begin = time.process_time()
    for board in boards:
        if strong:
            solver.mtdf(board, 0)
        else:
            solver.negamax(board, -1, 1, 0)
    return time.process_time() - begin


def show(row: dict[str, Any]) -> None:
    ratio = f"  {row['ratio']:.2f} of bitbully" if "ratio" in row else ""
    print(
        f"{row['set']:<14} {row['kind']:<9}{row['positions']:>5} positions, {row['wrong']} wrong"
        f" of {row['known']}{row['nodes_per_position']:>15,.1f} nodes"
        f"{1e3 * row['call_seconds_per_position']:>13.4f} ms a call"
        f"{1e3 * row['engine_seconds_per_position']:>13.4f} ms of it the engine"
        f"{row['nodes_per_second'] / 1e6:>6.2f} million/s{ratio}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=Path, metavar="DIR", help="folder of the six files")
    parser.add_argument("--limit", type=int, default=100, help="positions per set (default 100)")
    parser.add_argument("--skip", type=int, default=0, metavar="N", help="begin after N lines")
    sets = ("empty", *FILES)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=sets,
        default=sets,
        metavar="SET",
        help=f"some of {', '.join(sets)}",
    )
    parser.add_argument("--kind", choices=("value", "distance"), help="default: both")
    parser.add_argument("--memory", type=memory_bytes, default="1G", metavar="SIZE")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    engine_goals.solve(engine_goals.make_engine(4, 4, memory=1 << 16), 0, 0)  # compile or load
    engine = engine_goals.make_engine(7, 6, memory=options.memory)
    engine.table[:] = 1  # touch every page once, outside the timing
    solver = Solver(BOARD, memory=options.memory)
    rows = []
    kinds = [kind == "distance" for kind in ("value", "distance") if options.kind in (None, kind)]
    for name in options.only:
        if name == "empty":
            lines = [Line((), 1)]
        elif options.sets:
            lines = read_lines(options.sets / FILES[name], options.skip, options.limit)
        else:
            lines = random_lines(engine, name, options.limit)
        for strong in kinds:
            rows.append(measure(solver, engine, name, lines, strong=strong))
            if not options.json:
                show(rows[-1])
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
