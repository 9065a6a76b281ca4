"""Where every position of a layer lies: the product of two halves.

A position of ply n is a profile (column heights) and a colouring with
ceil(n/2) first-player stones. Cut the board into left and right columns.
For one profile and one number q of first-player stones in the right half,
the positions form a full rectangle, stored row by row, one bit a position,
each row padded to whole 64-bit words:

                    column = left colouring with ceil(n/2) - q stones
                   +----------------------------------+--------+
    row = right    | 0  1  2  ...                 63 | 64 ... pad|   row_words
    colouring      |                                  |          |
    with q stones  +----------------------------------+--------+

A layer is its blocks (one per profile, by left half-profile, then by right
half-profile), a block its rectangles by increasing q. So

    rank = 64 * (offset[left, right, q] + row * row_words) + column

is computed, never stored: no hash, no search, no key. Each pair of
half-profiles has one ply, so one table `offset[left, right, q]` serves all layers.

A profile and its mirror image have the same values, so of the whole board's
profiles only one of the two, the canonical one, is walked and stored: the one
whose left columns hold more stones. The canonical blocks lie in front, so the
first `stored_words` words are the table; behind them the others have places,
too, which a walk fills as it needs them (see `walk.mirror`):

    layer  | canonical blocks ...        | mirrored blocks ...  |
           0                   stored_words                layer_words

Positions with a line inside a half have no rank: the game ended there. Those
whose line crosses the halves do have one, and their stored value means nothing.

A layout may be rooted: with halves that hold a root's stones it has a place for
everything that extends the root, and nothing else. Layers before the root's ply
are empty; the root's own is one word with one position. What a root costs is
known before any list is made (`layout_cost`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retro.errors import GameOverError, WrongBoardError
from retro.games.connect4.rules import Connect4Position
from retro.index.halves.colourings import Half, capacity, line_free_strings, make_half, root_columns
from retro.index.halves.counting import count_half
from retro.index.halves.sizes import Blocks, canonical_heights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.connect4.rules import Connect4Board

WORD_BITS = 64
MAX_LISTED = 200_000_000
# Listing a colouring costs as much as walking so many positions; beside a root the bounds of
# both are less sharp, and a 9x5 root took 28 s with the first number, 8 s with the second.
LISTING_COST, ROOTED_LISTING_COST = 160, 400


class Shape(NamedTuple):
    """The layout as kernels see it: flat, because nested tuples make numba slow to compile."""

    width: int
    height: int
    left_columns: int
    root_first: np.uint64  # the stones of the root
    root_second: np.uint64
    left_base: NDArray[np.int64]  # these as in Half, of either half
    right_base: NDArray[np.int64]
    left_radix: NDArray[np.int64]
    right_radix: NDArray[np.int64]
    left_heights: NDArray[np.int64]
    right_heights: NDArray[np.int64]
    left_stones: NDArray[np.int64]
    right_stones: NDArray[np.int64]
    left_occupied: NDArray[np.uint64]
    right_occupied: NDArray[np.uint64]
    left_tops: NDArray[np.uint64]
    right_tops: NDArray[np.uint64]
    left_playable: NDArray[np.uint64]
    right_playable: NDArray[np.uint64]
    left_start: NDArray[np.int64]
    right_start: NDArray[np.int64]
    left_colourings: NDArray[np.uint64]
    right_colourings: NDArray[np.uint64]
    stored: NDArray[np.bool_]  # [left profile, right profile] whether the profile is canonical
    row_words: NDArray[np.int64]  # [left profile, q] words of a row
    offset: NDArray[np.int64]  # [left profile, right profile, q] first word of the rectangle


@dataclass(frozen=True)
class Layout:
    """Everything needed to find a position in its layer."""

    board: Connect4Board
    root: Connect4Position
    left: Half
    right: Half
    shape: Shape
    layer_words: NDArray[np.int64]  # [ply]
    stored_words: NDArray[np.int64]  # [ply] of these, the words of canonical blocks

    @property
    def plies(self) -> int:
        """The number of layers, the empty and the full board included."""
        return len(self.layer_words)

    @property
    def first_ply(self) -> int:
        """The first layer that is not empty: the root's."""
        return self.root.ply


def first_stones(ply: int) -> int:
    """How many of the stones after `ply` plies are the first player's."""
    return (ply + 1) // 2


class Cost(NamedTuple):
    """What a layout takes at most: exact integers, however large, found without making it."""

    left_columns: int
    ranked: list[int]  # [ply] positions with a rank
    listed: int  # colourings of both halves
    offsets: int  # entries of the table of offsets

    @property
    def memory(self) -> int:
        """Bytes of the lists of both halves and of the table of offsets."""
        return 8 * (self.listed + self.offsets)


def layout_cost(
    board: Connect4Board, left_columns: int | None = None, root: Connect4Position | None = None
) -> Cost:
    """What the layout of a board, or of everything that extends a root, will take.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> cost = layout_cost(Connect4Board(8, 7))  # nobody's memory holds that
    >>> f"{sum(cost.ranked):.0e} ranked, {cost.memory:.0e} bytes"
    '3e+17 ranked, 3e+10 bytes'
    """
    root = root or Connect4Position(board)
    left_columns = default_left_columns(board, root) if left_columns is None else left_columns
    sides = _sides(board, left_columns, root)
    listed = sum(capacity(columns, board.height, board.connect, *s) for columns, *s in sides)
    profiles = prod(board.height + 1 - root.height(column) for column in range(board.width))
    offsets = profiles * (sides[1][0] * board.height + 2)
    return Cost(left_columns, ranked_bound(board, root), listed, offsets)


def default_left_columns(board: Connect4Board, root: Connect4Position | None = None) -> int:
    """Where to cut: as many left columns as their lists stay small beside the table.

    A larger left half has longer rows and leaves more finished positions out;
    but listing its colourings costs about 100 times what walking a position does.
    """
    ranked = sum(ranked_bound(board, root))
    root = root or Connect4Position(board)
    # The left half of a whole board is not the smaller one, so that it can be mirrored.
    left_columns = 0 if root.ply or board.width == 1 else (board.width + 1) // 2
    while left_columns + 1 < board.width:
        columns, first, second = _sides(board, left_columns + 1, root)[0]
        listed = capacity(columns, board.height, board.connect, first, second)
        if listed * (ROOTED_LISTING_COST if root.ply else LISTING_COST) > ranked:
            break
        if listed > MAX_LISTED:
            break
        left_columns += 1
    return left_columns


def make_layout(
    board: Connect4Board,
    left_columns: int | None = None,
    root: Connect4Position | None = None,
    *,
    listed: bool = True,
    last_ply: int | None = None,
) -> Layout:
    """Compute the layout of every layer of a board, or of everything that extends a root.

    Ranking takes the colourings of both halves; walking takes those of the right half, of which
    there are few, and only the numbers of the left one's. Those need not be `listed`. For layers up
    to `last_ply` halves of so many stones are enough; what the layout says of others is wrong.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> board = Connect4Board(5, 4)
    >>> layout = make_layout(board, left_columns=2)
    >>> layout.plies, int(ranked_positions(layout).sum())
    (21, 4658609)
    >>> rooted = make_layout(board, root=Connect4Position(board)._play(2)._play(2))
    >>> rooted.plies, rooted.first_ply, int(ranked_positions(rooted).sum())
    (21, 2, 1166842)
    """
    root = Connect4Position(board) if root is None else _require_root(board, root)
    left_columns = default_left_columns(board, root) if left_columns is None else left_columns
    if not 0 <= left_columns < board.width:
        raise ValueError(f"cannot cut {left_columns} left columns off a {board} board")
    sides, size = _sides(board, left_columns, root), (board.height, board.connect)
    counts = None if listed else count_half(sides[0][0], *size, *sides[0][1:])
    left = make_half(sides[0][0], *size, *sides[0][1:], counts=counts, most=last_ply)
    right = make_half(sides[1][0], *size, *sides[1][1:], most=last_ply)
    row_words = (left.counts() + WORD_BITS - 1) // WORD_BITS
    offset = _rectangles(left, row_words, right)
    stored = (
        np.ones(offset.shape[:2], np.bool_)
        if root.ply
        else canonical_heights(left.heights, right.heights)
    )
    blocks = offset[:, :, -1].copy()
    layer_words = np.zeros(board.cells + 1, np.int64)
    stored_words = np.zeros(board.cells + 1, np.int64)
    plies = left.stones[:, None] + right.stones[None, :]
    for ply in range(root.ply, board.cells + 1):
        for chosen in (stored, ~stored):
            here = (plies == ply) & chosen
            ends = layer_words[ply] + np.cumsum(blocks[here])
            blocks[here] = ends - blocks[here]
            layer_words[ply] = ends[-1] if len(ends) else layer_words[ply]
            if chosen is stored:
                stored_words[ply] = layer_words[ply]
    offset += blocks[:, :, None]
    arrays: dict[str, Any] = {}
    for side, half in (("left", left), ("right", right)):
        arrays |= {f"{side}_{name}": array for name, array in half._asdict().items()}
        del arrays[f"{side}_geometry"]
    sizes = (board.width, board.height, left_columns)
    stones = (np.uint64(root.first), np.uint64(root.second))
    shape = Shape(*sizes, *stones, **arrays, stored=stored, row_words=row_words, offset=offset)
    return Layout(board, root, left, right, shape, layer_words, stored_words)


def _require_root(board: Connect4Board, root: Connect4Position) -> Connect4Position:
    """The root, if a table can grow from it."""
    if root.board != board:
        raise WrongBoardError(f"found a root on {root.board.name}, wanted one on {board.name}")
    if root.check().is_over():
        raise GameOverError(f"{root.over_message()}; no table grows from there")
    return root


def _sides(
    board: Connect4Board, left_columns: int, root: Connect4Position
) -> list[tuple[int, int, int]]:
    """Columns and root stones (first, second) of both halves, each a board of its own."""
    cut = left_columns * board.stride
    low = (1 << cut) - 1
    return [
        (left_columns, root.first & low, root.second & low),
        (board.width - left_columns, root.first >> cut, root.second >> cut),
    ]


def _rectangles(left: Half, row_size: NDArray[np.int64], right: Half) -> NDArray[np.int64]:
    """[left profile, right profile, q]: size of all rectangles of the block before q's.

    `row_size` is the size of a row, [left profile, stones]. The last q gives the whole block.
    """
    rows = right.counts()
    sizes = np.zeros((len(left.stones), len(right.stones), rows.shape[1] + 1), np.int64)
    for a in range(left.stones[0], left.stones[-1] + 1):
        lefts = np.flatnonzero(left.stones == a)
        for b in range(right.stones[0], right.stones[-1] + 1):
            rights = np.flatnonzero(right.stones == b)
            total = first_stones(a + b)
            qs = np.array([q for q in range(b + 1) if 0 <= total - q <= a])
            widths = row_size[np.ix_(lefts, total - qs)]
            here = widths[:, None, :] * rows[np.ix_(rights, qs)][None, :, :]
            sizes[np.ix_(lefts, rights, qs + 1)] = here
    return np.cumsum(sizes, axis=2, out=sizes)


def layer_blocks(layout: Layout, ply: int) -> Blocks:
    """The canonical blocks of a layer: what is walked and stored."""
    plies = layout.left.stones[:, None] + layout.right.stones[None, :]
    left, right = map(np.ascontiguousarray, np.nonzero((plies == ply) & layout.shape.stored))
    offset = np.append(layout.shape.offset[left, right, 0], layout.stored_words[ply])
    return Blocks(left, right, offset)


def ranked_positions(layout: Layout) -> NDArray[np.int64]:
    """How many positions of canonical profiles have a rank, per ply (padding not counted)."""
    blocks = _rectangles(layout.left, layout.left.counts(), layout.right)[:, :, -1]
    plies = layout.left.stones[:, None] + layout.right.stones[None, :]
    plies = np.where(layout.shape.stored, plies, -1)
    return np.array([blocks[plies == ply].sum() for ply in range(layout.plies)], np.int64)


def ranked_bound(board: Connect4Board, root: Connect4Position | None = None) -> list[int]:
    """At most so many positions have a rank, per ply: exact integers for any board, at once.

    Leaves out only colourings with a vertical line, so it needs no list.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> sum(ranked_bound(Connect4Board(5, 4)))
    4658609
    """
    root = root or Connect4Position(board)
    ways = {(root.ply, root.first.bit_count()): 1}  # (cells, ones): number
    for below in root_columns(board.width, board.height, root.first, root.second):
        column = line_free_strings(board.height - len(below), board.connect, below)
        grown: dict[tuple[int, int], int] = {}
        for (cells, ones), number in ways.items():
            for more_cells, by_ones in enumerate(column):
                for more_ones, factor in enumerate(by_ones):
                    if factor:
                        key = (cells + more_cells, ones + more_ones)
                        grown[key] = grown.get(key, 0) + number * factor
        ways = grown
    return [ways.get((ply, first_stones(ply)), 0) for ply in range(board.cells + 1)]
