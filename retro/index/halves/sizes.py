"""How large the blocks of a board are: all that planning needs, without any colouring.

The size of a block follows from how many colourings the halves have, not from
which they are:

    rectangle   rows = |right colourings with q stones|
                words per row = |left colourings with the other stones| / 64, rounded up
    block       the sum of its rectangles

so sizes are known for boards whose colourings nobody could list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.index.halves.colourings import root_columns
from retro.index.halves.counting import count_half

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.connect4.rules import Connect4Board, Connect4Position
    from retro.index.halves.layout import Layout


class Sizes(NamedTuple):
    """Half-profiles and words of every block, as kernels see them."""

    height: int
    first_ply: int
    last_ply: int
    left_base: NDArray[np.int64]  # [column] the root's height; these as in `Half`
    right_base: NDArray[np.int64]
    left_radix: NDArray[np.int64]
    right_radix: NDArray[np.int64]
    left_heights: NDArray[np.int64]  # [profile, column]
    right_heights: NDArray[np.int64]
    left_stones: NDArray[np.int64]  # [profile]
    right_stones: NDArray[np.int64]
    stored: NDArray[np.bool_]  # [left profile, right profile] whether the block is canonical
    words: NDArray[np.int64]  # [left profile, right profile]
    right_mirror: NDArray[np.int64]  # [right profile] the mirrored profile
    middle_mirror: NDArray[np.int64]  # [profile of the columns between] likewise


def layout_sizes(layout: Layout) -> Sizes:
    """The sizes of a layout that was made."""
    shape, left, right = layout.shape, layout.left, layout.right
    words = shape.offset[:, :, -1] - shape.offset[:, :, 0]
    return Sizes(
        layout.board.height, layout.first_ply, layout.plies - 1,
        left.base, right.base, left.radix, right.radix, left.heights, right.heights,
        left.stones, right.stones, shape.stored, words,
        *mirrored_profiles(left.geometry.width, right.geometry.width, layout.board.height),
    )  # fmt: skip


class Counted(NamedTuple):
    """The sizes of a board, and what else its counts tell."""

    sizes: Sizes
    left: NDArray[np.int64]  # [profile, q] colourings
    right: NDArray[np.int64]
    ranked: NDArray[np.int64]  # [ply] positions of canonical profiles that have a rank
    stored_words: NDArray[np.int64]  # [ply] words of canonical blocks
    layer_words: NDArray[np.int64]  # [ply] words of all blocks
    rows: NDArray[np.int64]  # [ply] rows of canonical blocks


def count_sizes(board: Connect4Board, left_columns: int, root: Connect4Position) -> Counted:
    """The sizes of a board, or of what extends a root on it, without any list.

    >>> from retro.games.connect4.rules import Connect4Board, Connect4Position
    >>> board = Connect4Board(7, 6)
    >>> int(count_sizes(board, 4, Connect4Position(board)).ranked.sum())
    4209700559762
    """
    cut = left_columns * board.stride
    low = (1 << cut) - 1
    sides = (
        (left_columns, root.first & low, root.second & low),
        (board.width - left_columns, root.first >> cut, root.second >> cut),
    )
    left, right = (count_half(n, board.height, board.connect, *s) for n, *s in sides)
    profiles = [half_profiles(n, board.height, *stones) for n, *stones in sides]
    (left_base, left_radix, left_heights), (right_base, right_radix, right_heights) = profiles
    left_stones, right_stones = left_heights.sum(axis=1), right_heights.sum(axis=1)
    if root.ply:
        stored = np.ones((len(left), len(right)), np.bool_)
    else:
        stored = canonical_heights(left_heights, right_heights)
    stones = left_stones, right_stones
    words = block_sums((left + 63) // 64, right, stones)
    sizes = Sizes(
        board.height, root.ply, board.cells,
        left_base, right_base, left_radix, right_radix, left_heights, right_heights,
        left_stones, right_stones, stored, words,
        *mirrored_profiles(left_columns, board.width - left_columns, board.height),
    )  # fmt: skip
    every = np.ones_like(stored)
    return Counted(
        sizes,
        left,
        right,
        ranked=_by_ply(block_sums(left, right, stones), stored, stones),
        stored_words=_by_ply(words, stored, stones),
        layer_words=_by_ply(words, every, stones),
        rows=_by_ply(block_sums((left > 0).astype(np.int64), right, stones), stored, stones),
    )


def _by_ply(
    blocks: NDArray[np.int64],
    chosen: NDArray[np.bool_],
    stones: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> NDArray[np.int64]:
    """The sums of chosen blocks, [ply]; exact, for each fits 63 bits."""
    left_stones, right_stones = stones
    sums = np.zeros(int(left_stones.max() + right_stones.max()) + 1, np.int64)
    for a in np.unique(left_stones):
        lefts = left_stones == a
        np.add.at(sums, a + right_stones, np.where(chosen[lefts], blocks[lefts], 0).sum(axis=0))
    return sums


def half_profiles(
    columns: int, height: int, first: int, second: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Base, radix and heights of the profiles of a half, as in `Half`."""
    base = np.array([len(c) for c in root_columns(columns, height, first, second)], np.int64)
    spans = height + 1 - base
    radix = np.cumprod(spans) // spans
    numbers = np.arange(spans.prod(), dtype=np.int64)
    return base, radix, base + numbers[:, None] // radix % spans


def block_sums(
    columns: NDArray[np.int64],
    rows: NDArray[np.int64],
    stones: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> NDArray[np.int64]:
    """[left profile, right profile]: the sum over q of columns[left, rest] * rows[right, q]."""
    left_stones, right_stones = stones
    sums = np.zeros((len(columns), len(rows)), np.int64)
    for a in np.unique(left_stones):
        lefts = np.flatnonzero(left_stones == a)
        for b in np.unique(right_stones):
            rights = np.flatnonzero(right_stones == b)
            total = (a + b + 1) // 2
            qs = np.arange(max(0, total - a), min(total, b) + 1)
            sums[np.ix_(lefts, rights)] = (
                columns[np.ix_(lefts, total - qs)] @ rows[np.ix_(rights, qs)].T
            )
    return sums


def canonical_heights(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[left profile, right profile]: which of each mirror pair of profiles is stored.

    The one with more stones on the left; then the one whose outermost pair of
    unequal columns is higher on the left. Counting all stones keeps moves that
    lead to a profile of the other kind rare. A cut that leaves the right half
    wider than the left one admits no mirroring (`walk.mirror`): all are stored.
    """
    shape = len(left), len(right)
    columns = left.shape[1] + right.shape[1]
    if left.shape[1] < right.shape[1]:
        return np.ones(shape, np.bool_)
    heights = [
        *(np.broadcast_to(h[:, None], shape) for h in left.T.astype(np.int8)),
        *(np.broadcast_to(h[None, :], shape) for h in right.T.astype(np.int8)),
    ]
    steps = [heights[c] - heights[columns - 1 - c] for c in range(columns // 2)]
    lean = np.zeros(shape, np.int8)
    surplus = np.zeros(shape, np.int16)
    for step in reversed(steps):
        lean = np.where(step == 0, lean, np.sign(step))
        surplus += step
    return np.asarray(np.where(surplus == 0, lean, surplus) >= 0)


def mirrored_profiles(
    left_columns: int, right_columns: int, height: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The mirrored profiles of the right half, and of the columns between it and its image."""
    middle = max(0, left_columns - right_columns)
    return reversed_profiles(right_columns, height), reversed_profiles(middle, height)


def reversed_profiles(columns: int, height: int) -> NDArray[np.int64]:
    """For every profile of some columns the one with the columns in reverse order.

    >>> reversed_profiles(2, 1).tolist()  # heights 00, 10, 01, 11
    [0, 2, 1, 3]
    """
    radix = (height + 1) ** np.arange(columns, dtype=np.int64)
    heights = np.arange((height + 1) ** columns)[:, None] // radix % (height + 1)
    return np.asarray(heights[:, ::-1] @ radix, np.int64)


class Blocks(NamedTuple):
    """Blocks of one layer in the order in which they lie."""

    left: NDArray[np.int64]  # half-profiles
    right: NDArray[np.int64]
    offset: NDArray[np.int64]  # first word of each; one more entry at the end


def stored_blocks(sizes: Sizes, ply: int) -> Blocks:
    """The canonical blocks of a layer: what is walked and stored.

    Each left profile goes with the right ones that have the stones it lacks: looking at all
    pairs would take minutes on 8x7, which has 17 million of them.
    """
    rights = sizes.right_stones
    order = np.argsort(rights, kind="stable")
    begins = np.searchsorted(rights[order], np.arange(ply + 2))
    missing = ply - sizes.left_stones
    is_any = (missing >= 0) & (missing <= int(rights.max()))
    lefts, missing = np.flatnonzero(is_any), missing[is_any]
    numbers = begins[missing + 1] - begins[missing]
    ends = np.cumsum(numbers)
    left = np.repeat(lefts, numbers)
    within = np.arange(len(left)) - np.repeat(ends - numbers, numbers)
    right = order[np.repeat(begins[missing], numbers) + within]
    is_stored = sizes.stored[left, right]
    left, right = left[is_stored], right[is_stored]
    return Blocks(left, right, np.concatenate(([0], np.cumsum(sizes.words[left, right]))))
