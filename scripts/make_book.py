"""Make the opening book of `tablebase play`: what takes the solver too long in a game.

    python scripts/make_book.py 7x6 > tablebase/book-7x6.txt      # half an hour

The first moves of a large board take the solver up to half a minute each. So they are
looked for once: for either player, the positions that can arise when she follows the
book and the opponent does what he likes, as far as they are *hard*. A position is easy
when a new solver finds its value within `--easy` nodes; it is left out, and so is what
comes after it, for in a game the solver then remembers much of the answer.

Every line is exact in value and distance (`tablebase/book.py` shows the format). The
move is the first in the one order of moves (`retro.answers`). Lines that are
already in `--resume FILE` are taken over unchecked.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.search import Solver
from tablebase.book import Book, Entry, book_line, canonical, read_book

if TYPE_CHECKING:
    from collections.abc import Iterator

EASY_NODES = 300_000  # a sixth of a second
EASY_MEMORY_MB = 16


def walk(solver: Solver, easy_nodes: int, known: Book) -> Iterator[tuple[Connect4Position, Entry]]:
    """Every position of the book with its entry, few stones before many.

    On each ply the side to move is the one that follows the book: the two
    players' books never meet, and they are walked side by side.
    """
    start = solver.board.start()
    assert isinstance(start, Connect4Position)
    layer, next_layer = {start}, set(unfinished(start))
    while layer or next_layer:
        after_next: set[Connect4Position] = set()
        for position in sorted(layer, key=lambda p: (p.first, p.second)):
            if not is_easy(position, easy_nodes):
                entry = known.get(position) or best_of(solver, position)
                yield position, entry
                after_next.update(unfinished(position.play(entry.column)))
        layer, next_layer = next_layer, after_next


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("board", help="such as 7x6")
    parser.add_argument("--easy", type=int, default=EASY_NODES, metavar="NODES")
    parser.add_argument("--memory", type=int, default=4096, metavar="MB")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="a book that was begun")
    options = parser.parse_args()
    board = Connect4Board.parse(options.board)
    known = read_book(board, options.resume.read_text()) if options.resume else {}
    solver = Solver(board, memory_mb=options.memory)
    begin = time.monotonic()
    for number, found in enumerate(walk(solver, options.easy, known), start=1):
        print(book_line(*found), flush=True)
        seconds = time.monotonic() - begin
        print(f"\r{number} positions, {seconds:.0f} s", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
