"""Make the openings that are shipped: first positions that take the solver too long.

    python scripts/make_openings.py 7x6 --plies 2 --file tablebase/data/openings-connect4-7x6.txt

The first moves of a large board take the solver up to half a minute each, and early positions off
the best line as long. So they are looked for once, in three parts:

    every position of the plies up to `--plies`      the last of these is searched, the others
                                                     follow from it
    what the perfect player meets and that is hard   for either player, the positions that can
                                                     arise when she follows the openings and the
                                                     opponent does what he likes
    the main line                                    best play from the empty board to the end

A position is easy when a new solver finds its value within `--easy` nodes; it is left out of the
second part, and so is what comes after it, for in a game the solver then remembers much
of the answer. Every line is exact in value and distance (`tablebase/openings.py` shows the
format). A best move is the first in the one order of moves (`retro.answers`).

Lines that are already in the file are taken over unchecked, new ones appended as they are found:
the same command goes on after any interruption. At the end the file is put in order.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from retro.answers import RatedMove, order_moves
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.search import Solver
from tablebase.files.atomic import write_whole
from tablebase.openings import Entry, Openings, canonical, opening_line, read_openings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

EASY_NODES = 300_000  # a sixth of a second
EASY_MEMORY_MB = 16

Found = tuple[Connect4Position, Entry]


def first_plies(solver: Solver, plies: int, known: Openings) -> Iterator[Found]:
    """Every position of the first plies: the last ply by search, those before it by its values."""
    layers: list[set[Connect4Position]] = [{_start(solver)}]
    for _ in range(plies):
        layers.append({after for position in layers[-1] for after in unfinished(position)})
    found = dict(known)
    for position in in_order(layers[-1]):
        if position not in found:
            solution = solver.solve(position, strong=True)
            assert solution.plies is not None
            found[position] = Entry(None, solution.value, solution.plies)
        yield position, found[position]
    for layer in reversed(layers[:-1]):
        for position in in_order(layer):
            found[position] = best_known(position, found)
            yield position, found[position]


def best_known(position: Connect4Position, known: Openings) -> Entry:
    """The first of the best moves of a position whose successors are all known."""
    moves = []
    for column in position.moves_in_order():
        reply = known[canonical(position.play(column))]
        moves.append(RatedMove("", column, -reply.value, reply.plies + 1))
    best = order_moves(moves)[0]
    assert best.plies is not None
    return Entry(best.number, best.value, best.plies)


def hard_lines(solver: Solver, easy_nodes: int, known: Openings) -> Iterator[Found]:
    """The positions of perfect play that are hard, few stones before many.

    On each ply the side to move is the one that follows the openings: the two
    players' lines never meet, and they are walked side by side.
    """
    start = _start(solver)
    layer, next_layer = {start}, set(unfinished(start))
    while layer or next_layer:
        after_next: set[Connect4Position] = set()
        for position in in_order(layer):
            entry = known.get(position)
            if entry is None or entry.best is None:
                if is_easy(position, easy_nodes):
                    continue
                entry = best_of(solver, position)
            yield position, entry
            assert entry.best is not None
            after_next.update(unfinished(position.play(entry.best)))
        layer, next_layer = next_layer, after_next


def main_line(solver: Solver, known: Openings) -> Iterator[Found]:
    """Best play from the empty board to the end of the game."""
    position = _start(solver)
    while not position.is_over():
        chosen = canonical(position)
        is_image = chosen != position
        entry = known.get(chosen) or Entry(None, *best_of(solver, position)[1:3])
        best = entry.mirrored if is_image else entry.best
        if best is None:
            best = best_of(solver, position).best
            assert best is not None
            entry = entry._replace(**{"mirrored" if is_image else "best": best})
        yield chosen, entry
        position = position.play(best)


def best_of(solver: Solver, position: Connect4Position) -> Entry:
    """The first of the best moves by value and distance."""
    best = solver.best_move(position)
    return Entry(best.number, best.value, best.plies or 0)


def is_easy(position: Connect4Position, nodes: int) -> bool:
    """Whether a solver that knows nothing yet finds the value within so many nodes."""
    new = Solver(position.board, memory_mb=EASY_MEMORY_MB)
    return new.solve_within(position, nodes) is not None


def unfinished(position: Connect4Position) -> list[Connect4Position]:
    """The canonical forms of the unfinished positions after each move."""
    after = [position.play(column) for column in position.legal_columns()]
    return [canonical(p) for p in after if not p.is_over()]


def in_order(positions: Iterable[Connect4Position]) -> list[Connect4Position]:
    """Few stones before many; the order of the file."""
    return sorted(positions, key=lambda p: (p.ply, p.first, p.second))


def _start(solver: Solver) -> Connect4Position:
    start = solver.board.start()
    assert isinstance(start, Connect4Position)
    return start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("board", help="such as 7x6")
    parser.add_argument("--plies", type=int, default=2, help="all positions up to this ply")
    parser.add_argument("--easy", type=int, default=EASY_NODES, metavar="NODES")
    parser.add_argument("--memory", type=int, default=4096, metavar="MB")
    parser.add_argument("--file", type=Path, required=True, help="goes on with what is there")
    options = parser.parse_args()
    board = Connect4Board.parse(options.board)
    solver = Solver(board, memory_mb=options.memory)
    known = read_openings(board, options.file.read_text()) if options.file.exists() else {}
    begin = time.monotonic()
    for part in (
        first_plies(solver, options.plies, known),
        hard_lines(solver, options.easy, known),
        main_line(solver, known),
    ):
        for position, entry in part:
            if known.get(position) != entry:
                known[position] = entry
                with options.file.open("a") as file:
                    file.write(opening_line(position, entry) + "\n")
            seconds = time.monotonic() - begin
            print(f"\r{len(known)} positions, {seconds:.0f} s", end="", file=sys.stderr, flush=True)
    lines = [opening_line(position, known[position]) + "\n" for position in in_order(known)]
    write_whole(options.file, "".join(lines).encode())
    print(file=sys.stderr)


if __name__ == "__main__":
    main()
