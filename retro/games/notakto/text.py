"""Notakto as text: moves are cells, `b2 a1`, as `cells` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.cells import cells_text, column_text, play_all, read_cells, read_line, read_size
from retro.games.notakto.rules import NotaktoBoard, NotaktoPosition

if TYPE_CHECKING:
    from collections.abc import Mapping


def parse(size: str, options: Mapping[str, str]) -> NotaktoBoard:
    """A board from its size and options."""
    width, height = read_size(size)
    return NotaktoBoard(height, width, read_line(options.get("connect", "3")))


def write_position(position: NotaktoPosition) -> str:
    """Moves that lead here: its own, or any order with the completing stone last."""
    moves = position.history
    if moves is None:
        bits = [bit for bit in position.board.all_bits if position.crosses & bit]
        lines = [line for line in position.board.lines if position.crosses & line == line]
        bits.sort(key=lambda bit: sum(1 for line in lines if line & bit))
        moves = tuple(bits)
    return cells_text(position.board, moves)


def draw(position: NotaktoPosition) -> str:
    """The board for a terminal.

    >>> print(draw(play_all(NotaktoPosition(NotaktoBoard(2, 3, 3)), [1, 16], "")))
      2  . X .
      1  X . .
         a b c
    """
    board = position.board
    rows = [
        f"{row + 1:>3}  "
        + " ".join("X" if position.crosses & board.bit(row, c) else "." for c in range(board.cols))
        for row in reversed(range(board.rows))
    ]
    return "\n".join([*rows, "     " + " ".join(column_text(c) for c in range(board.cols))])


def describe(board: NotaktoBoard) -> tuple[str, dict[str, str]]:
    """What `parse` reads."""
    return f"{board.cols}x{board.rows}", {"connect": str(board.connect)}


def read_position(board: NotaktoBoard, text: str) -> NotaktoPosition:
    """Play moves from the empty board."""
    return play_all(NotaktoPosition(board), read_cells(board, text), text)
