"""The rank of one position, without kernels: for a process that has a single question.

Importing numba and listing all halves for kernels takes most of a second. One rank needs less:
how many colourings each half-profile has (to know the words of the rectangles before), and the
colourings of the position's own two half-profiles. Both come from one list per half, made
column by column with numpy, leaving out lines as soon as they are there:

    columns so far   colourings that have no line      profile = heights in mixed radix,
    0                1                                 first column least significant
    1                sum over heights h of 2**h
    2                every pair of these without a line, ...

`layout` says what a rank is, `ranking` has the jitted twin, `plain` the definition.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.connect4.rules import Connect4Board, Connect4Position

    Words = NDArray[np.uint64]

MOST_COLOURINGS = 200_000  # of a half, lines included: some hundredths of a second
WORD_BITS = 64


class Half(NamedTuple):
    """All colourings of some columns that have no line, and how many there are of each kind."""

    columns: int
    profile: NDArray[np.int64]
    first: Words  # the first player's stones
    ones: NDArray[np.int64]
    counts: NDArray[np.int64]  # [profile, ones]
    heights: NDArray[np.int64]  # [profile, column]


def is_small(board: Connect4Board, left_columns: int) -> bool:
    """Whether the halves of a board are listed at once."""
    widest = max(left_columns, board.width - left_columns)
    return (2 ** (board.height + 1) - 1) ** widest <= MOST_COLOURINGS


def rank(
    board: Connect4Board, left_columns: int, root: Connect4Position, position: Connect4Position
) -> int | None:
    """The rank of a position in its layer; None if a half has a line or the root does not fit.

    >>> from retro.games.connect4.rules import Connect4Board, Connect4Position
    >>> board = Connect4Board(5, 4)
    >>> rank(board, 3, Connect4Position(board), Connect4Position(board, board.bit(0, 0)))
    0
    """
    mirrored = 2 * left_columns >= board.width and not root.ply
    heights = [position.height(column) for column in range(board.width)]
    if mirrored and not _is_canonical(np.array([heights]))[0]:
        position = position.mirror()
        heights.reverse()
    cut = left_columns * board.stride
    low = (1 << cut) - 1
    left, right = _halves(board, left_columns, root)
    place_left = _place(left, heights[:left_columns], position.first & low)
    place_right = _place(right, heights[left_columns:], position.first >> cut)
    if place_left is None or place_right is None:
        return None
    where = _Where(tuple(heights), (position.ply + 1) // 2, (position.first >> cut).bit_count())
    before, row_words = _words_before(left, right, where, mirrored)
    return WORD_BITS * (before + place_right * row_words) + place_left


def listed_bytes(board: Connect4Board, left_columns: int, root: Connect4Position) -> int:
    """Bytes of the lists that kernels need to find ranks, at most: exact, however large.

    >>> from retro.games.connect4.rules import Connect4Board, Connect4Position
    >>> listed_bytes(Connect4Board(9, 6), 5, Connect4Position(Connect4Board(9, 6)))
    274781662640
    """
    free = [board.height - root.height(column) for column in range(board.width)]
    colourings = [2 ** (cells + 1) - 1 for cells in free]
    listed = prod(colourings[:left_columns]) + prod(colourings[left_columns:])
    offsets = prod(cells + 1 for cells in free) * ((board.width - left_columns) * board.height + 2)
    return 8 * (listed + offsets)


def stored_words(
    board: Connect4Board, left_columns: int, root: Connect4Position
) -> NDArray[np.int64]:
    """[ply] the words of the planes of every layer, of boards that are small."""
    mirrored = 2 * left_columns >= board.width and not root.ply
    left, right = _halves(board, left_columns, root)
    stones = left.heights.sum(axis=1)[:, None] + right.heights.sum(axis=1)
    found = np.zeros(board.cells + 1, np.int64)
    for ply in range(root.ply, board.cells + 1):
        pairs = np.argwhere(stones == ply)
        if mirrored:
            whole = np.hstack([left.heights[pairs[:, 0]], right.heights[pairs[:, 1]]])
            pairs = pairs[_is_canonical(whole)]
        found[ply] = _rectangles(left, right, pairs, (ply + 1) // 2)[0].sum()
    return found


def _halves(board: Connect4Board, left_columns: int, root: Connect4Position) -> tuple[Half, Half]:
    cut = left_columns * board.stride
    low = (1 << cut) - 1
    sizes = (board.height, board.connect)
    left = _half(left_columns, *sizes, root.first & low, root.second & low)
    right = _half(board.width - left_columns, *sizes, root.first >> cut, root.second >> cut)
    return left, right


class _Where(NamedTuple):
    """The rectangle of a position: its profile, its first stones, and those on the right."""

    heights: tuple[int, ...]
    ones: int
    on_right: int


def _place(half: Half, heights: list[int], first: int) -> int | None:
    """The place of a colouring among those of its profile with as many first stones."""
    profile = int(np.flatnonzero((half.heights == heights).all(axis=1))[0])
    alike = half.first[(half.profile == profile) & (half.ones == first.bit_count())]
    place = int(np.searchsorted(np.sort(alike), np.uint64(first)))
    is_there = place < len(alike) and int(np.sort(alike)[place]) == first
    return place if is_there else None


def _words_before(left: Half, right: Half, where: _Where, mirrored: bool) -> tuple[int, int]:
    """The words of the layer before the position's rectangle, and those of a row of it."""
    stones = left.heights.sum(axis=1)[:, None] + right.heights.sum(axis=1)
    pairs = np.argwhere(stones == sum(where.heights))  # by left profile, then by right
    whole = np.hstack([left.heights[pairs[:, 0]], right.heights[pairs[:, 1]]])
    if mirrored:
        kept = _is_canonical(whole)
        pairs, whole = pairs[kept], whole[kept]
    own = int(np.flatnonzero((whole == where.heights).all(axis=1))[0])
    words, row_words = _rectangles(left, right, pairs[: own + 1], where.ones)
    before = words[:own].sum() + words[own, : where.on_right].sum()
    return int(before), int(row_words[own, where.on_right])


def _rectangles(
    left: Half, right: Half, pairs: NDArray[np.int64], ones: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """[pair, first stones on the right] words of the rectangles of pairs of profiles; of a row."""
    on_right = np.arange(ones + 1)
    rows = _padded(right.counts, ones)[pairs[:, 1]][:, on_right]
    columns = _padded(left.counts, ones)[pairs[:, 0]][:, ones - on_right]
    row_words = -(-columns // WORD_BITS)
    return rows * row_words, row_words


def _padded(counts: NDArray[np.int64], ones: int) -> NDArray[np.int64]:
    """Counts for every number of stones up to `ones`; more than fit: none."""
    return np.pad(counts, ((0, 0), (0, max(0, ones + 1 - counts.shape[1]))))


def _is_canonical(heights: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which profiles, not their mirror images, are stored: the left columns hold more stones."""
    leans = (heights - heights[:, ::-1])[:, : heights.shape[1] // 2]
    surplus = leans.sum(axis=1)
    first = np.zeros(len(heights), np.int64)
    for lean in leans.T[::-1]:
        first = np.where(lean != 0, lean, first)
    kept: NDArray[np.bool_] = np.where(surplus != 0, surplus, first) >= 0
    return kept


@lru_cache(8)
def _half(columns: int, height: int, connect: int, first: int, second: int) -> Half:
    """The line-free colourings of some columns that hold the root's stones."""
    from retro.games.connect4.rules import Connect4Board

    board = Connect4Board(max(columns, 1), height, connect)
    profile, ours, theirs = np.zeros(1, np.int64), np.zeros(1, np.uint64), np.zeros(1, np.uint64)
    radix = 1
    for column in range(columns):
        mask = board.column_mask(column)
        base = ((first | second) & mask).bit_count()
        options = [
            (top - base, top, bits << column * board.stride)
            for top in range(base, height + 1)
            for bits in range(1 << top)
        ]
        steps = np.array([step for step, _, _ in options], np.int64)
        mine = np.array([bits for _, _, bits in options], np.uint64)
        full = np.array(
            [((1 << top) - 1) << column * board.stride for _, top, _ in options], np.uint64
        )
        keeps = (mine & np.uint64(first & mask) == first & mask) & (
            (full ^ mine) & np.uint64(second & mask) == second & mask
        )
        steps, mine, full = steps[keeps], mine[keeps], full[keeps]
        profile = (profile[:, None] + radix * steps).ravel()
        ours, theirs = (ours[:, None] | mine).ravel(), (theirs[:, None] | (full ^ mine)).ravel()
        free = ~(_has_line(board, ours) | _has_line(board, theirs))
        profile, ours, theirs = profile[free], ours[free], theirs[free]
        radix *= height + 1 - base
    ones = np.bitwise_count(ours).astype(np.int64)
    counts = np.zeros((radix, columns * height + 1), np.int64)
    np.add.at(counts, (profile, ones), 1)
    bases = [((first | second) & board.column_mask(c)).bit_count() for c in range(columns)]
    return Half(columns, profile, ours, ones, counts, _heights(bases, height))


def _heights(bases: list[int], height: int) -> NDArray[np.int64]:
    """[profile, column] the heights of every profile, first column least significant."""
    found = np.zeros((1, 0), np.int64)
    for base in bases:
        tops = np.arange(base, height + 1)
        found = np.hstack([np.tile(found, (len(tops), 1)), np.repeat(tops, len(found))[:, None]])
    return found


def _has_line(board: Connect4Board, stones: Words) -> NDArray[np.bool_]:
    found = np.zeros(len(stones), np.bool_)
    for line in board.lines:
        found |= stones & np.uint64(line) == np.uint64(line)
    return found
