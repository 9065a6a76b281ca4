"""The opening book: best moves of first positions that would take the solver too long in a game.

`book-connect4-7x6.txt` beside this module, made by `scripts/make_book.py`, has one line per
position: the moves that lead there, the best move, its value for the player who makes
it and the plies to the end of the game, this move included (`-` is the empty board):

    - 4 WIN 41
    1 4 WIN 39

Of a position and its mirror image the book has one, the smaller in `canonical`'s order.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from retro.games.connect4.rules import Connect4Position
from retro.games.connect4.text import COLUMN_CHARACTERS, column_text, read_moves, write_moves
from retro.games.values import VALUE_NAMES

if TYPE_CHECKING:
    from retro.games.connect4.rules import Connect4Board
    from retro.games.game import Position

VALUES = {name: value for value, name in VALUE_NAMES.items()}


class Entry(NamedTuple):
    """The best move of a position, its value for the mover and the plies to the end."""

    column: int
    value: int
    plies: int


Book = dict[Connect4Position, Entry]


@cache
def open_book(board: Connect4Board) -> Book:
    """The book of a board, empty where there is none."""
    file = resources.files("tablebase") / f"book-{board.name}.txt"
    return read_book(board, file.read_text("ascii")) if file.is_file() else {}


def look_up(position: Position) -> Entry | None:
    """What the book has for a position or for its mirror image.

    >>> from retro.games.catalogue import make_board
    >>> look_up(make_board("7x6").position("7"))
    Entry(column=3, value=1, plies=39)
    """
    if not isinstance(position, Connect4Position):
        return None
    book = open_book(position.board)
    chosen = canonical(position)
    entry = book.get(chosen)
    if entry is None or chosen == position:
        return entry
    return entry._replace(column=position.board.width - 1 - entry.column)


def look_up_move(position: Position, move: int) -> Entry | None:
    """What the book has for a move: as the best one here, or by where it leads.

    >>> from retro.games.catalogue import make_board
    >>> look_up_move(make_board("7x6").start(), 0)
    Entry(column=0, value=-1, plies=40)
    """
    best = look_up(position)
    if best is not None and best.column == move:
        return best
    reply = look_up(position.play(move))
    return None if reply is None else Entry(move, -reply.value, reply.plies + 1)


def canonical(position: Connect4Position) -> Connect4Position:
    """The position or its mirror image: the one whose stones are the smaller numbers."""
    return min(position, position.mirror(), key=lambda p: (p.first, p.second))


def read_book(board: Connect4Board, text: str) -> Book:
    """A book from its lines."""
    book = {}
    for line in text.splitlines():
        moves, best, value, plies = line.split()
        column = COLUMN_CHARACTERS.index(best)
        book[read_moves(board, moves)] = Entry(column, VALUES[value], int(plies))
    return book


def book_line(position: Connect4Position, entry: Entry) -> str:
    """One line of a book."""
    moves, best = write_moves(position) or "-", column_text(entry.column)
    return f"{moves} {best} {VALUE_NAMES[entry.value]} {entry.plies}"
