"""Make the opening book of `tablebase play`: the first moves of a perfect player, by the solver.

    python scripts/make_book.py 7x6 --plies 7 > tablebase/book-7x6.txt

The first moves of a large board take the solver half a minute each, too long for a
game. So they are looked for once: for either player, every position that can arise
when she follows the book and the opponent does what he likes, up to `--plies` stones.
Every line is exact in value and distance (`tablebase/book.py` shows the format). The
move is the first in the one order of moves (`retro.games.rated`). Lines that are
already in `--resume FILE` are taken over unchecked.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from retro.games.connect import Position
from retro.search import Solver
from tablebase.book import Book, Entry, book_line, canonical, read_book
from tablebase.perfect import first_best

if TYPE_CHECKING:
    from collections.abc import Iterator


def walk(solver: Solver, last_ply: int, known: Book) -> Iterator[tuple[Position, Entry]]:
    """Every position of the book with its entry, few stones before many.

    On each ply the side to move is the one that follows the book: the two
    players' books never meet, and they are walked side by side.
    """
    start = Position(solver.board)
    layer, next_layer = {start}, set(unfinished(start))
    for _ in range(last_ply + 1):
        after_next: set[Position] = set()
        for position in sorted(layer, key=lambda p: (p.first, p.second)):
            entry = known.get(position) or first_best(solver, position)
            yield position, entry
            after_next.update(unfinished(position.play(entry.column)))
        layer, next_layer = next_layer, after_next


def unfinished(position: Position) -> list[Position]:
    """The canonical forms of the unfinished positions after each move."""
    after = [position.play(column) for column in position.legal_columns()]
    return [canonical(p) for p in after if not p.is_over()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("board", help="such as 7x6")
    parser.add_argument("--plies", type=int, default=7, help="most stones on the board")
    parser.add_argument("--memory", type=int, default=2048, metavar="MB")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="a book that was begun")
    options = parser.parse_args()
    solver = Solver(options.board, memory_mb=options.memory)
    known = read_book(solver.board, options.resume.read_text()) if options.resume else {}
    begin = time.monotonic()
    for number, found in enumerate(walk(solver, options.plies, known), start=1):
        print(book_line(*found), flush=True)
        seconds = time.monotonic() - begin
        print(f"\r{number} positions, {seconds:.0f} s", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
