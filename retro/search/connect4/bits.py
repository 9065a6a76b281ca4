"""Bitboards for gravity games: geometry, lines, threats.

A cell is bit ``column * (height + 1) + row``, row 0 at the bottom; each column
ends in one guard bit that is never set, so that a shifted pattern cannot run
from the top of one column into the foot of the next.  A 7x6 board:

     6 13 20 27 34 41 48    <- guard bits, always 0
     5 12 19 26 33 40 47
     4 11 18 25 32 39 46
     3 10 17 24 31 38 45
     2  9 16 23 30 37 44
     1  8 15 22 29 36 43
     0  7 14 21 28 35 42

A line is k cells in one of four directions, that is with one of the bit steps
1 (up), height+1 (right), height and height+2 (diagonals).  A *threat* of a
player is an empty cell that would complete a line of his.  All boards are
uint64; W * (H + 1) <= 64.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from retro.jit import inlined, inner

U0 = np.uint64(0)
U1 = np.uint64(1)
U2 = np.uint64(2)
U3 = np.uint64(3)


class Board(NamedTuple):
    """Geometry of a board; every field is a plain number, so kernels take it by value."""

    width: np.int64
    height: np.int64
    connect: np.int64
    cells: np.int64
    four: np.bool_  # lines of four in all directions: the unrolled code serves
    reach: np.int64  # 1: only vertical lines fit, 2: horizontal too, 4: all
    step: np.uint64  # bits per column, height + 1
    bottom: np.uint64  # lowest cell of every column
    full: np.uint64  # every cell
    column: np.uint64  # every cell of column 0
    upper: np.uint64  # rows top, top - 2, ...: the follower's rows
    lower: np.uint64  # rows top - 1, top - 3, ...: the leader's rows


def make_board(width: int, height: int, connect: int = 4) -> Board:
    """Return the geometry of a board.

    Parameters
    ----------
    width, height : int
        Columns and rows; ``width * (height + 1) <= 64``.
    connect : int
        Length of a line, at least 2.
    """
    if width < 1 or height < 1 or width * (height + 1) > 64:
        raise ValueError(f"board {width}x{height} does not fit: need W * (H + 1) <= 64")
    if connect < 2:
        raise ValueError(f"lines of {connect} cells: need at least 2")
    step = height + 1
    bottom = sum(1 << (c * step) for c in range(width))
    full = bottom * ((1 << height) - 1)
    upper = sum(bottom << r for r in range(height - 1, -1, -2))
    return Board(
        np.int64(width),
        np.int64(height),
        np.int64(connect),
        np.int64(width * height),
        np.bool_(connect == 4 and width >= 4),
        np.int64(1 if width < connect else 2 if height < connect else 4),
        np.uint64(step),
        np.uint64(bottom),
        np.uint64(full),
        np.uint64((1 << height) - 1),
        np.uint64(upper),
        np.uint64(full & ~upper),
    )


def lines_through(board: Board) -> np.ndarray:
    """[bit] how many lines go through each cell.

    >>> lines_through(make_board(7, 6))[[0, 1, 2, 21, 23]].tolist()  # three of column 1, two of 4
    [3, 4, 5, 7, 13]
    """
    width, height, connect, step = (int(n) for n in (*board[:3], board.step))
    count = np.zeros(64, np.int64)
    for column, row in itertools.product(range(width), range(height)):
        for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
            line = [(column + i * right, row + i * up) for i in range(connect)]
            if all(0 <= c < width and 0 <= r < height for c, r in line):
                count[[c * step + r for c, r in line]] += 1
    return count


@intrinsic
def popcount(typingctx, word):
    """Number of set bits of a uint64, as int64."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def trailing_zeros(typingctx, word):
    """Index of the lowest set bit of a uint64 (64 for zero), as uint64."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), codegen


@inner
def bit_steps(board):
    """Bit steps of the four directions; the first `board.reach` of them hold lines.

    A direction too short for a line must not be tried: its shifts could exceed
    63 bits, which the CPU takes modulo 64.
    """
    return (U1, board.step, board.step - U1, board.step + U1)


@inlined
def _gaps4(stones, s):
    """Cells that would complete a line of four in the direction of bit step `s`."""
    s2 = s + s
    s3 = s2 + s
    below = (stones << s) & (stones << s2)
    above = (stones >> s) & (stones >> s2)
    return (below & ((stones << s3) | (stones >> s))) | (above & ((stones >> s3) | (stones << s)))


@inlined
def _threats4(stones, step):
    """Cells (occupied ones and guards included) that would complete a line of four."""
    vertical = (stones << U1) & (stones << U2) & (stones << U3)
    slopes = _gaps4(stones, step - U1) | _gaps4(stones, step + U1)
    return vertical | slopes | _gaps4(stones, step)


@inlined
def _feet4(stones, s):
    """First cells of the lines of four in the direction of bit step `s`."""
    pair = stones & (stones >> s)
    return pair & (pair >> (s + s))


@inner
def _threats_any(board, stones):
    """As `_threats4`, for any line: each cell of the line in turn is the missing one."""
    cells = U0
    steps = bit_steps(board)
    for direction in range(board.reach):
        s = steps[direction]
        for missing in range(board.connect):
            line = ~U0
            for i in range(board.connect):
                if i < missing:
                    line &= stones << (s * np.uint64(missing - i))
                elif i > missing:
                    line &= stones >> (s * np.uint64(i - missing))
            cells |= line
    return cells


@inlined
def threats(board, stones):
    """Return the cells that would complete a line of `stones`; mask with the empty cells.

    `stones` stand on one another: vertically only the cell on top of them is looked at.
    """
    if board.four:
        return _threats4(stones, board.step)
    return _threats_any(board, stones)


@inlined
def gaps(board, cells):
    """As `threats` for any set of cells, one with vertical gaps too."""
    if board.four:
        return _threats4(cells, board.step) | _gaps4(cells, U1)
    return _threats_any(board, cells)


@inner
def _has_line_any(board, stones):
    """As `has_line`, for any line length."""
    steps = bit_steps(board)
    for direction in range(board.reach):
        feet = stones
        for i in range(1, board.connect):
            feet &= stones >> (steps[direction] * np.uint64(i))
        if feet:
            return True
    return False


@inlined
def has_line(board, stones):
    """Return whether `stones` contains a line."""
    if board.four:
        step = board.step
        slopes = _feet4(stones, step - U1) | _feet4(stones, step + U1)
        return (slopes | _feet4(stones, U1) | _feet4(stones, step)) != U0
    return _has_line_any(board, stones)


@inlined
def has_flat_line(board, stones):
    """Return whether `stones` contain a line that is not vertical."""
    if board.four:
        step = board.step
        slopes = _feet4(stones, step - U1) | _feet4(stones, step + U1)
        return (slopes | _feet4(stones, step)) != U0
    return (
        flat_feet(board, stones, 1) | flat_feet(board, stones, 2) | flat_feet(board, stones, 3)
        != U0
    )


@inlined
def flat_feet(board, cells, direction):
    """First cells of the lines in `cells` in direction 1, 2 or 3: right, right and down, and up."""
    feet = cells if direction < board.reach else U0
    for i in range(1, board.connect):
        feet &= cells >> (bit_steps(board)[direction] * np.uint64(i))
    return feet
