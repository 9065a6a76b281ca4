"""The index from its definition alone: the plain twin that the fast one is tested against.

Slow on purpose, with nothing shared but the rules: every profile and every
colouring is found by trying all of them, and a rank is found by counting the
positions that come before. Good for boards of a dozen cells.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, product
from typing import TYPE_CHECKING

from retro.games.connect4.rules import Connect4Board, Connect4Position

if TYPE_CHECKING:
    from collections.abc import Iterator

Heights = tuple[int, ...]


@cache
def colourings(
    heights: Heights, height: int, connect: int, ones: int, first: int = 0, second: int = 0
) -> list[int]:
    """Line-free colourings of some columns with so many first-player stones, in order.

    All of them hold the root's stones, `first` and `second`.
    """
    if not heights:
        return [0] if ones == 0 else []
    board = Connect4Board(len(heights), height, connect)
    bits = [board.bit(column, row) for column, top in enumerate(heights) for row in range(top)]
    free = [bit for bit in bits if not bit & (first | second)]
    more = ones - first.bit_count()
    chosen = (first + sum(some) for some in combinations(free, more)) if more >= 0 else ()
    return sorted(c for c in chosen if not board.has_line(c) and not board.has_line(sum(bits) - c))


def is_canonical(heights: Heights) -> bool:
    """Whether a profile, not its mirror image, is the stored one of the two."""
    pairs = [(heights[c], heights[-1 - c]) for c in range(len(heights) // 2)]
    surplus = sum(left - right for left, right in pairs)
    lean = next((left - right for left, right in pairs if left != right), 0)
    return (surplus or lean) >= 0


def layer(
    board: Connect4Board, left_columns: int, ply: int, root: Connect4Position | None = None
) -> Iterator[Connect4Position | None]:
    """Every stored place of a layer in order: its position, or None for padding.

    With a root only what extends it has a place.

    >>> [place and place.first for place in layer(Connect4Board(3, 1), 1, ply=1)][:66:64]
    [4, 16]
    """
    height, connect = board.height, board.connect
    root = root or Connect4Position(board)
    profiles = list(product(*(range(root.height(c), height + 1) for c in range(board.width))))
    # Numbered in mixed radix with the first column least significant, left half before right.
    profiles.sort(key=lambda h: (h[:left_columns][::-1], h[left_columns:][::-1]))
    total = (ply + 1) // 2
    cut = left_columns * board.stride
    low = (1 << cut) - 1
    root_left, root_right = (
        (root.first & low, root.second & low),
        (root.first >> cut, root.second >> cut),
    )
    for heights in profiles:
        has_mirror = 2 * left_columns >= board.width and not root.ply
        if sum(heights) != ply or (has_mirror and not is_canonical(heights)):
            continue
        left, right = heights[:left_columns], heights[left_columns:]
        occupied = sum(board.bit(c, r) for c, top in enumerate(heights) for r in range(top))
        for q in range(total + 1):
            columns = colourings(left, height, connect, total - q, *root_left)
            padding = -len(columns) % 64
            for row in colourings(right, height, connect, q, *root_right):
                for column in columns:
                    first = column | row << cut
                    yield Connect4Position(board, first, occupied & ~first)
                yield from [None] * padding
