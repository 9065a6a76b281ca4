"""Connect Four at a glance: three evaluations, from the crudest to the present one.

    cells     the weight of a cell is the number of lines through it, 69 lines on 7x6:

              3  4  5  7  5  4  3         a player's stones count their weights; nearly blind
              4  6  8 10  8  6  4         to threats, and still it wins about nine games of
              5  8 11 13 11  8  5         ten against random play, looking one ply ahead
              5  8 11 13 11  8  5
              4  6  8 10  8  6  4
              3  4  5  7  5  4  3

    runs      weights, and runs side by side: of three with a free end, of two with two free
              cells beside them, each way to go on counted

    open      lines with stones of one player only, of two and of three stones, in any place

Lengths are those of four in a row; with K in a row they are K - 1 and K - 2.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from retro.games.stones import bits_of, sum_of_open

if TYPE_CHECKING:
    from retro.games.connect4.rules import Connect4Board, Connect4Position

TWO, THREE = 2, 9  # worth of an open line that lacks two stones, or one
RUN_OF_TWO, RUN_OF_THREE = 5, 30  # beside weights of cells that reach 13


def cells(position: Connect4Position) -> int:
    """Lines through the cells of each player's stones.

    >>> from retro.games.connect4.rules import Connect4Board, Connect4Position
    >>> cells(Connect4Position(Connect4Board(7, 6))._play(3)._play(0))  # on 7 lines and on 3
    4
    """
    weights = _weights(position.board)

    def sum_of(stones: int) -> int:
        return sum(lines for bit, lines in weights if stones & bit)

    return sum_of(position.mover) - sum_of(position.opponent)


def runs(position: Connect4Position) -> int:
    """Weights of cells, and runs of neighbours that can still be completed.

    >>> from retro.games.connect4.text import Connect4Board, read_moves
    >>> position = read_moves(Connect4Board(7, 6), "3747")   # X has 3 and 4: 123, 2345, 3456
    >>> runs(position) - cells(position) == 3 * RUN_OF_TWO - 1 * RUN_OF_TWO
    True
    """
    neighbours = _neighbours(position.board)
    return cells(position) + sum_of_open(
        position, lambda line, held: neighbours.get((line, held), 0)
    )


def open_lines(position: Connect4Position) -> int:
    """Open lines that lack one stone or two.

    >>> from retro.games.connect4.text import Connect4Board, read_moves
    >>> open_lines(read_moves(Connect4Board(7, 6), "3747"))  # X has 3 and 4: three lines hold both
    4
    """
    lacking_two = position.board.connect - 2
    worth = {lacking_two: TWO, lacking_two + 1: THREE}
    return sum_of_open(position, lambda line, held: worth.get(held.bit_count(), 0))


@cache
def _weights(board: Connect4Board) -> list[tuple[int, int]]:
    """(bit of a cell, number of lines through it)."""
    every = 0
    for line in board.lines:
        every |= line
    return [(bit, sum(1 for line in board.lines if line & bit)) for bit in bits_of(every)]


@cache
def _neighbours(board: Connect4Board) -> dict[tuple[int, int], int]:
    """{(line, stones side by side in it): their points}."""
    found = {}
    for line in board.lines:
        bits = bits_of(line)  # from one end to the other: columns rise, or rows do
        for lacking, points in ((1, RUN_OF_THREE), (2, RUN_OF_TWO)):
            length = len(bits) - lacking
            for begin in range(lacking + 1):
                stones = sum(bits[begin : begin + length])
                if stones:
                    found[line, stones] = points
    return found


EVALUATIONS = {"open": open_lines, "runs": runs, "cells": cells}
