"""The openings that are shipped: exact answers for first positions that take the solver too long.

`data/openings-connect4-7x6.txt`, made by `scripts/make_openings.py`, has one line per position:
the moves that lead there (`-` is the empty board), the best move (`-` if it was not looked
for), the value for the side to move and the plies to the end of the game:

    - 4 WIN 41
    1 4 WIN 39
    1112 - WIN 33

It has every position of the first plies, beyond them those that the perfect player meets
and that are hard, and best play from the empty board to the end. Of a position and its mirror
image it has one, the smaller in `canonical`'s order. A best move is the first in the one order of
moves; among equals that of the mirror image may be another one: it stands behind a
slash where it was looked for, `3/4`, as the mirror image counts columns.

Whoever asks the oracle is answered from here before anything is searched.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from retro.answers import Probe, RatedMove, order_moves
from retro.games.connect4.rules import Connect4Position
from retro.games.connect4.text import COLUMN_CHARACTERS, column_text, read_moves, write_moves
from retro.games.values import VALUE_NAMES

if TYPE_CHECKING:
    from retro.games.connect4.rules import Connect4Board
    from retro.games.game import Position

VALUES = {name: value for value, name in VALUE_NAMES.items()}
NOTHING = "-"


class Entry(NamedTuple):
    """A position: the best moves of itself and of its mirror image, if they are known."""

    best: int | None
    value: int
    plies: int
    mirrored: int | None = None


class Opening(NamedTuple):
    """What is known of a position as it was asked."""

    column: int | None  # a best move
    value: int
    plies: int
    is_first: bool  # whether it is the first of the best in the one order


Openings = dict[Connect4Position, Entry]


@cache
def open_openings(board: Connect4Board) -> Openings:
    """The openings of a board, empty where none are shipped."""
    file = resources.files("tablebase") / "data" / f"openings-{board.name}.txt"
    return read_openings(board, file.read_text("ascii")) if file.is_file() else {}


def look_up(position: Position) -> Opening | None:
    """What is known of a position or of its mirror image.

    >>> from retro.games.catalogue import make_board
    >>> look_up(make_board("7x6").position("7"))
    Opening(column=3, value=1, plies=39, is_first=False)
    """
    if not isinstance(position, Connect4Position):
        return None
    openings = open_openings(position.board)
    if not openings:
        return None
    chosen = canonical(position)
    entry = openings.get(chosen)
    if entry is None:
        return None
    if chosen == position:
        return Opening(entry.best, *entry[1:3], entry.best is not None)
    if entry.mirrored is not None or entry.best is None:
        return Opening(entry.mirrored, *entry[1:3], entry.mirrored is not None)
    return Opening(position.board.width - 1 - entry.best, *entry[1:3], False)


def look_up_move(position: Position, move: int) -> RatedMove | None:
    """What is known of a move: as the best one here, or by where it leads.

    >>> from retro.games.catalogue import make_board
    >>> look_up_move(make_board("7x6").start(), 0)
    RatedMove(move='1', number=0, value=-1, plies=40)
    """
    text = position.move_text(move)
    best = look_up(position)
    if best is not None and best.column == move:
        return RatedMove(text, move, best.value, best.plies)
    reply = look_up(position.play(move))
    return None if reply is None else RatedMove(text, move, -reply.value, reply.plies + 1)


def probe_openings(position: Position) -> Probe | None:
    """An unfinished position and every move, best first; None unless all of them are known.

    >>> from retro.games.catalogue import make_board
    >>> found = probe_openings(make_board("7x6").start())
    >>> found.value, found.plies, [move.move for move in found.moves]
    (1, 41, ['4', '3', '5', '2', '6', '1', '7'])
    """
    moves = []
    for move in position.moves_in_order():
        known = look_up_move(position, move)
        if known is None:
            return None
        moves.append(known)
    moves = order_moves(moves)
    return Probe(position, moves[0].value, moves, "openings")


def canonical(position: Connect4Position) -> Connect4Position:
    """The position or its mirror image: the one whose stones are the smaller numbers."""
    return min(position, position.mirror(), key=lambda p: (p.first, p.second))


def read_openings(board: Connect4Board, text: str) -> Openings:
    """Openings from their lines."""
    openings = {}
    for line in text.splitlines():
        moves, best, value, plies = line.split()
        own, _, mirrored = best.partition("/")
        openings[read_moves(board, moves)] = Entry(
            _column(own), VALUES[value], int(plies), _column(mirrored or NOTHING)
        )
    return openings


def _column(text: str) -> int | None:
    return None if text == NOTHING else COLUMN_CHARACTERS.index(text)


def opening_line(position: Connect4Position, entry: Entry) -> str:
    """One line of the file."""
    best = NOTHING if entry.best is None else column_text(entry.best)
    if entry.mirrored is not None:
        best += f"/{column_text(entry.mirrored)}"
    return f"{write_moves(position) or '-'} {best} {VALUE_NAMES[entry.value]} {entry.plies}"
