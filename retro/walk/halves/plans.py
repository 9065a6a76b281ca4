"""What both walks prepare once per board: planes of the left half, maps of the right.

Values move between layers a row at a time. A stone on the right turns a row
into another row; a stone on the left turns every column of a row into another
column, by a map that is the same for all rows. Both maps are made here.

Left half, for each (half-profile, q) a stretch of words, one bit per colouring
(`first_word[p, q]` is where it starts, the same in every plane):

    colour[cell]          whether the colouring has a first-player stone there
    stay[lane]            whether it stays line-free when a stone is dropped:
                          only then has the successor a rank. A lane is one
                          mover and one column: mover * left columns + column

Dropping a stone inserts one fixed bit into every colouring, which keeps their
order. So the colourings that stay, in order, become exactly the successor's
colourings whose top stone in that column has the mover's colour, in order:
one bit extract under the one set and one bit deposit under the other.

Right half, one entry per colouring i (`i` counts over all colourings):

    up[mover, column, i]  row of the successor in its own list, or -1 for a line

Lines that cross the cut are pairs of sets of cells, one per half.

Numbers that recur: `mover` 0 is the first player, 1 the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, popcount
from retro.games.connect4.rules import Connect4Board
from retro.jit import entry, inner
from retro.walk.halves.tile import transpose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.index.halves.colourings import Half
    from retro.index.halves.layout import Layout


ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
LAST, SHIFT = np.uint64(63), np.uint64(6)
WIN, LOSS, NUMBERS = 0, 1, 2  # the planes of a layer of the backward walk; the first of numbers
NOWHERE = -(1 << 62)  # no place: a rectangle of which only later rows are there begins below 0


class HalfPlanes(NamedTuple):
    """Planes over the colourings of a half."""

    first_word: NDArray[np.int64]  # [profile, q] into colour and stay
    colour: NDArray[np.uint64]  # [cell, word], cell = column * height + row
    stay: NDArray[np.uint64]  # [lane, word]
    holes: NDArray[np.bool_]  # [lane, profile, q] some colouring does not stay


class Plan(NamedTuple):
    """What a walk needs beside the layout, as kernels see it: flat, like `Shape`."""

    first_word: NDArray[np.int64]  # these as in HalfPlanes, of the left half
    colour: NDArray[np.uint64]
    stay: NDArray[np.uint64]
    holes: NDArray[np.bool_]
    up: NDArray[np.int32]  # [mover, column, right colouring]
    cross_left: NDArray[np.uint64]  # [line] the cells of a line across the cut ...
    cross_right: NDArray[np.uint64]  # ... in either half


def make_plan(layout: Layout) -> Plan:
    """Prepare the walks of a board."""
    up = _right_moves(layout.right)
    lines = cross_lines(layout.board, layout.left.geometry.width)
    return Plan(*half_planes(layout.left), up, *lines)


def _right_moves(half: Half) -> NDArray[np.int32]:
    """The row maps `up`. Few and short lists: numpy does, and needs no compiling."""
    width, height = half.geometry.width, half.geometry.height
    up = np.full((2, width, len(half.colourings)), -1, np.int32)
    for profile, column in np.argwhere(half.heights < height):
        cell = half.playable[profile] & np.uint64(board_column(height, column))
        after = profile + half.radix[column]
        for mover, bit in enumerate((cell, U0)):
            for q in range(half.stones[profile] + 1):
                here = slice(half.start[profile, q], half.start[profile, q + 1])
                there = slice(half.start[after, q + 1 - mover], half.start[after, q + 2 - mover])
                wanted = half.colourings[here] | bit
                up[mover, column, here] = places(half.colourings[there], wanted)
    return up


def board_column(height: int, column: int) -> int:
    """The cells of one column, as `halves.column_cells`."""
    return ((1 << height) - 1) << (int(column) * (height + 1))


def places(values: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Where each wanted value stands among the sorted values, or -1.

    >>> places(np.array([2, 5, 7], np.uint64), np.array([5, 6, 8], np.uint64)).tolist()
    [1, -1, -1]
    """
    if not len(values):
        return np.full(len(wanted), -1)
    at = np.searchsorted(values, wanted)
    at[at == len(values)] = 0
    return np.where(values[at] == wanted, at, -1)


def half_planes(half: Half) -> HalfPlanes:
    """Make the planes of a half: for each colouring its colours, and where it stays line-free."""
    words = (half.counts() + 63) // 64
    ends = np.cumsum(words).reshape(words.shape)
    width, height = half.geometry.width, half.geometry.height
    planes = HalfPlanes(
        ends - words,
        np.zeros((width * height, ends[-1, -1]), np.uint64),
        np.zeros((2 * width, ends[-1, -1]), np.uint64),
        np.zeros((2 * width, *words.shape), np.bool_),
    )
    lines = Connect4Board(width, height, half.geometry.connect).lines if width else ()
    _fill_planes(half, planes, np.array(lines, np.uint64))
    return planes


def cross_lines(
    board: Connect4Board, left_columns: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The left and right parts of the lines that cross the cut after `left_columns` columns.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> len(cross_lines(Connect4Board(5, 4), 3)[0])
    12
    """
    cut = left_columns * board.stride
    parts = [(line & ((1 << cut) - 1), line >> cut) for line in board.lines]
    crossing = [(left, right) for left, right in parts if left and right]
    return (
        np.array([left for left, _ in crossing], np.uint64),
        np.array([right for _, right in crossing], np.uint64),
    )


@entry
def _fill_planes(half, planes, lines):
    """Fill colour, stay and holes in place; `lines` are those of the half as a board."""
    geo, colour, stay = half.geometry, planes.colour, planes.stay
    others = np.zeros(geo.connect, np.int64)
    tile, turn = np.zeros(64, np.uint64), np.zeros(64, np.uint64)
    for profile in range(len(half.stones)):
        heights, occupied = half.heights[profile], half.occupied[profile]
        for q in range(half.start.shape[1] - 1):
            low, high = half.start[profile, q], half.start[profile, q + 1]
            for i in range(low, high, 64):
                for j in range(64):
                    tile[j] = half.colourings[i + j] if i + j < high else U0
                transpose(tile, turn)
                word = planes.first_word[profile, q] + ((i - low) >> 6)
                is_position = ALL >> np.uint64(64 - min(64, high - i))
                for column in range(geo.width):
                    for row in range(heights[column]):
                        cell = column * geo.height + row
                        colour[cell, word] = tile[column * (geo.height + 1) + row]
                    if heights[column] < geo.height:  # until a line says otherwise, all stay
                        stay[column, word] = stay[geo.width + column, word] = is_position
        for line in lines:
            column = _arm(geo, half.playable[profile], occupied, line, others)
            for q in range(half.start.shape[1] - 1 if column >= 0 else 0):
                number = half.start[profile, q + 1] - half.start[profile, q]
                first = planes.first_word[profile, q]
                for mover in range(2):
                    lane = mover * geo.width + column
                    flip = U0 if mover == 0 else ALL
                    if _leave_out(colour, stay[lane], first, (number + 63) >> 6, others, flip):
                        planes.holes[lane, profile, q] = True


@inner
def _arm(geometry, playable, occupied, line, others):
    """The column where one stone would complete a line whose other cells are taken, or -1.

    Fills `others` in place: these cells, as planes number them.
    """
    empty = line & ~occupied
    if empty & playable != empty or popcount(empty) != 1:
        return -1
    found, place = -1, 0
    for column in range(geometry.width):
        for row in range(geometry.height):
            cell = U1 << np.uint64(column * (geometry.height + 1) + row)
            if cell == empty:
                found = column
            elif cell & line:
                others[place] = column * geometry.height + row
                place += 1
    return found


@inner
def _leave_out(colour, stay, first, words, others, flip):
    """Take from `stay` the colourings that have all other cells of a line; in place.

    Returns whether there are any.
    """
    found = U0
    for word in range(first, first + words):
        complete = stay[word]
        for i in range(len(others) - 1):
            complete &= colour[others[i], word] ^ flip
        stay[word] ^= complete
        found |= complete
    return found != U0


@inner
def rows_within(shape, block, q_left, strip):
    """Which rows of a rectangle lie within a strip: (first, after the last), counted from 0.

    `block` is (left profile, right profile, q); `strip` are two words of the layer, between rows.
    A rectangle without words has no place: it goes with the word after it, or with the last
    one of its block, so that of all strips of a block exactly one has it.
    """
    pl, pr, q = block
    begin, end = strip
    offset, row_words = shape.offset[pl, pr, q], shape.row_words[pl, q_left]
    rows = shape.right_start[pr, q + 1] - shape.right_start[pr, q]
    if rows * row_words == 0:
        block_end = shape.offset[pl, pr, shape.offset.shape[2] - 1]
        is_here = begin <= offset < end or (offset == block_end and block_end <= end)
        return (0, rows) if is_here else (0, -1)
    first = min(rows, max(0, begin - offset) // row_words)
    return first, min(rows, max(0, end - offset) // row_words)


@inner
def left_part_plane(shape, colour, cells, owner, base, plane):
    """Which columns have stones of `owner` on all these cells; fills `plane` in place.

    `base` is the first word of the columns in the colour planes. Padding bits
    come out set where the owner is the second player or `cells` is empty.
    """
    flip = U0 if owner == 0 else ALL
    for word in range(len(plane)):
        plane[word] = ALL
    for column in range(shape.left_columns):
        for row in range(shape.height):
            if (cells >> np.uint64(column * (shape.height + 1) + row)) & U1:
                cell = column * shape.height + row
                for word in range(len(plane)):
                    plane[word] &= colour[cell, base + word] ^ flip
