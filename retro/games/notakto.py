"""Notakto: both players put crosses on a grid; who completes a line of K loses.

The example of docs/add-a-game.md: a whole game in one module. It is impartial
(all stones are alike) and misere (the last move loses), so a finished game is
a WIN for the side to move. A full board without a line is a draw.

A state is one word, one bit per cell, row after row from the bottom:

    2   3 4 5
    1   0 1 2        bit = row * cols + column
        a b c
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games.catalogue import Option, PlacementGame
from retro.games.cells import (
    cell_text,
    cells_text,
    column_text,
    play_all,
    read_cell,
    read_cells,
    read_size,
)
from retro.games.keyed import UNDECIDED, register
from retro.games.turns import images, least, turn_tables
from retro.games.values import DRAW, WIN
from retro.jit import inner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from retro.games.catalogue import Player

# 1. The rules for people.


@dataclass(frozen=True)
class NotaktoBoard:
    """A board of `rows` x `cols` cells, and the length of a line.

    >>> board = NotaktoBoard(3, 3, 3)
    >>> len(board.lines), len(board.symmetries)
    (8, 8)
    """

    rows: int
    cols: int
    connect: int

    def __post_init__(self) -> None:
        if self.rows < 1 or self.cols < 1 or self.rows * self.cols > 64:
            raise BadTextError(f"found board {self}, wanted 1 to 64 cells")
        if self.connect < 2:
            raise BadTextError(f"a line has at least 2 stones, not {self.connect}")

    def __str__(self) -> str:
        return f"{self.cols}x{self.rows}"

    def bit(self, row: int, column: int) -> int:
        return 1 << (row * self.cols + column)

    def place(self, bit: int) -> tuple[int, int]:
        return divmod(bit.bit_length() - 1, self.cols)

    @cached_property
    def all_bits(self) -> tuple[int, ...]:
        return tuple(1 << cell for cell in range(self.rows * self.cols))

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """Every line as a set of cells."""
        found = []
        for bit in self.all_bits:
            row, column = self.place(bit)
            for up, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                places = [(row + up * i, column + right * i) for i in range(self.connect)]
                if all(0 <= r < self.rows and 0 <= c < self.cols for r, c in places):
                    found.append(sum(self.bit(r, c) for r, c in places))
        return tuple(found)

    @cached_property
    def symmetries(self) -> list[list[int]]:
        """[symmetry][cell] -> the cell it goes to; the identity first."""
        top, right = self.rows - 1, self.cols - 1
        places = [self.place(bit) for bit in self.all_bits]
        ways = [[(r, c) for r, c in places], [(top - r, c) for r, c in places]]
        ways += [[(r, right - c) for r, c in way] for way in ways]
        if self.rows == self.cols:
            ways += [[(c, r) for r, c in way] for way in ways]
        return [[r * self.cols + c for r, c in way] for way in ways]


@dataclass(frozen=True)
class NotaktoPosition:
    """A position: the cells that are crossed. Moves are the bits of cells."""

    board: NotaktoBoard
    crosses: int = 0
    history: tuple[int, ...] | None = field(default=(), compare=False)

    @property
    def ply(self) -> int:
        return self.crosses.bit_count()

    @property
    def side_to_move(self) -> Player:
        return "second" if self.ply % 2 else "first"

    def legal_moves(self) -> list[int]:
        if self.is_over():
            return []
        return [bit for bit in self.board.all_bits if not self.crosses & bit]

    def outcome(self) -> int | None:
        """The value for the side to move if the rules alone decide it, else None."""
        if any(self.crosses & line == line for line in self.board.lines):
            return WIN  # the other player had to complete it
        return DRAW if self.ply == len(self.board.all_bits) else None

    def is_over(self) -> bool:
        return self.outcome() is not None

    def over_message(self) -> str:
        if self.outcome() == DRAW:
            return "the game is over: the board is full without a line, a draw"
        loser = "first" if self.ply % 2 else "second"
        return f"the game is over: the {loser} player completed {self.board.connect} in a line"

    def play(self, move: int) -> NotaktoPosition:
        if move not in self.board.all_bits:
            raise IllegalPositionError(f"the cell is not on the board {self.board}")
        if self.is_over():
            raise GameOverError(f"{self.over_message()}; nobody can move")
        if self.crosses & move:
            raise IllegalPositionError(f"{cell_text(self.board, move)} is taken")
        history = None if self.history is None else (*self.history, move)
        return NotaktoPosition(self.board, self.crosses | move, history)

    def undo(self) -> NotaktoPosition:
        if not self.history:
            raise IllegalPositionError("there is no move to take back")
        return NotaktoPosition(self.board, self.crosses & ~self.history[-1], self.history[:-1])


# 2. Text.


def parse(size: str, options: Mapping[str, str]) -> NotaktoBoard:
    width, height = read_size(size)
    connect = options.get("connect", "3")
    if not (connect.isascii() and connect.isdigit() and len(connect) < 4):
        raise BadTextError(f"found {connect!r} stones in a line, wanted a whole number")
    return NotaktoBoard(height, width, int(connect))


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


# 3. The rules for kernels.


class Notakto(NamedTuple):
    """A board as kernels see it."""

    words: int
    cells: int
    lines: NDArray[np.uint64]
    turns: NDArray[np.uint64]


def rules(board: NotaktoBoard) -> Notakto:
    lines = np.array(board.lines, np.uint64)
    return Notakto(1, len(board.all_bits), lines, turn_tables(board.symmetries))


@inner
def _start(rules):
    return np.uint64(0), np.uint64(0)


@inner
def _move_limit(rules):
    return rules.cells


@inner
def _play(rules, a, b, move):
    bit = np.uint64(1) << np.uint64(move)
    return a & bit == np.uint64(0), a | bit, b


@inner
def _outcome(rules, a, b):
    for line in rules.lines:
        if a & line == line:
            return 1
    full = ~np.uint64(0) >> np.uint64(64 - rules.cells)
    return 0 if a == full else UNDECIDED


@inner
def _canonical(rules, a, b):
    return least(rules.turns, a), b


@inner
def _orbit(rules, a, b):
    return images(rules.turns, a)


register(
    Notakto,
    start=_start,
    move_limit=_move_limit,
    play=_play,
    outcome=_outcome,
    canonical=_canonical,
    orbit=_orbit,
)

# 4. The record for the catalogue.

GAME = PlacementGame(
    name="notakto",
    about="all stones are crosses, who completes K in a straight line loses",
    options=(Option("connect", "K", "stones in a losing line (default 3)", "3"),),
    players=("First", "Second"),
    parse=parse,
    describe=lambda board: (str(board), {"connect": str(board.connect)}),
    start=NotaktoPosition,
    read_move=lambda position, text: read_cell(position.board, text),
    write_move=lambda position, move: cell_text(position.board, move),
    read_position=lambda board, text: play_all(
        NotaktoPosition(board), read_cells(board, text), text
    ),
    write_position=write_position,
    draw=draw,
    rules=rules,
    state=lambda position: (position.crosses, 0),
    position=lambda board, a, b: NotaktoPosition(board, a, None if a else ()),
)
