"""Victor Allis' nine strategic rules of Connect Four: what the second player can count on.

From "A Knowledge-based Approach of Connect-Four" (1988), chapter 6. On a board of even
height the second player can answer every move above it, so the even rows are his if he
likes: whoever moves in an odd square opens the even one above. He *controls the zugzwang*.
Each rule is a way to answer moves in a few squares such that certain groups (lines that
have no stone of his yet) are never completed by the first player:

    claimeven      two empty squares, one on the other, the upper even: he gets the upper
    baseinverse    two playable squares: he gets one of them
    vertical       two empty squares, one on the other, the upper odd: he gets one of them
    aftereven      a group of his own that claimevens alone complete: play above all of its
                   columns comes too late
    lowinverse     two verticals in two columns: he gets one of the two upper squares
    highinverse    three empty squares in each of two columns, the uppermost even: one of the
                   two upper, of the two middle, of the upper two of a column
    baseclaim      three playable squares and the even one above the second: one of the first
                   and that one, and one of the second and third
    before         a group of his own whose squares he gets, or else the ones above them
    specialbefore  the same with one square playable, paired with another playable square

    6 . . . . . . .    even
    5 . . . . . . .    odd       a square is even if its row, counted from 1, is; a claimeven
    4 . . . . . . .    even      is a pair of rows 1-2, 3-4 or 5-6; a vertical of 2-3 or 4-5.
    3 . . . . . . .    odd
    2 . . . . . . .    even
    1 . . . . . . .    odd
      a b c d e f g

`rules_of` lists every instance that is of use in a position; which of them may be followed
together, and what that proves, is told by `allis_proof`.

A square is the number of its bit (`rules` draws them), a set of squares a word of these
bits; a set of groups is a word, too: bit i stands for `board.lines[i]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations, permutations, product
from operator import and_, or_
from typing import TYPE_CHECKING, Literal

from retro.errors import WrongBoardError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from retro.games.connect4.rules import Connect4Board, Connect4Position

Name = Literal[
    "claimeven",
    "baseinverse",
    "vertical",
    "aftereven",
    "lowinverse",
    "highinverse",
    "baseclaim",
    "before",
    "specialbefore",
]


@dataclass(frozen=True)
class Rule:
    """One instance of a rule: the squares in which it says how to answer, and what that solves."""

    name: Name
    squares: int
    solved: int  # groups, by their place in `board.lines`
    claimed: int = 0  # the lower squares of its claimevens
    special: int = 0  # of a specialbefore: its two playable squares
    below: int = 0  # of an inverse: its squares and all beneath them

    def text(self, board: Connect4Board) -> str:
        """`claimeven a1 a2`"""
        return " ".join([self.name, *(square_text(board, s) for s in squares_in(self.squares))])

    def groups(self, board: Connect4Board) -> list[int]:
        """The groups it solves, each as a set of squares."""
        return [board.lines[i] for i in squares_in(self.solved)]


def square_text(board: Connect4Board, square: int) -> str:
    """Column and row, as the thesis writes them.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> square_text(Connect4Board(7, 6), 8)
    'b2'
    """
    column, row = divmod(square, board.stride)
    return f"{chr(ord('a') + column)}{row + 1}"


def squares_in(word: int) -> list[int]:
    """The numbers of the bits that are set, from the lowest.

    >>> squares_in(0b1001)
    [0, 3]
    """
    found = []
    while word:
        found.append((word & -word).bit_length() - 1)
        word &= word - 1
    return found


def rules_of(position: Connect4Position) -> list[Rule]:
    """Every instance that solves a group of the first player. He is to move.

    >>> from retro.games.connect4.rules import Connect4Board, Connect4Position
    >>> board = Connect4Board(4, 4)
    >>> rules = rules_of(Connect4Position(board))
    >>> [rule.text(board) for rule in rules if rule.name == "claimeven"][:3]
    ['claimeven a1 a2', 'claimeven a3 a4', 'claimeven b1 b2']
    """
    require_even_height(position.board)
    seen = Sight(position)
    found = [
        *_claimevens(seen),
        *_baseinverses(seen),
        *_verticals(seen),
        *_afterevens(seen),
        *_lowinverses(seen),
        *_highinverses(seen),
        *_baseclaims(seen),
        *_befores(seen),
        *_specialbefores(seen),
    ]
    return list(dict.fromkeys(rule for rule in found if rule.solved))


def require_even_height(board: Connect4Board) -> None:
    """Refuse boards on which the second player cannot answer every move above it."""
    if board.height % 2:
        raise WrongBoardError(
            f"found board {board}, wanted an even height: Allis' rules need somebody to control "
            "the zugzwang"
        )


def problems_of(position: Connect4Position) -> int:
    """The groups that the first player might still complete, by their place in `board.lines`."""
    lines = enumerate(position.board.lines)
    return sum(1 << i for i, line in lines if not line & position.second)


class Sight:
    """What the rules look at in a position."""

    def __init__(self, position: Connect4Position) -> None:
        board = position.board
        self.board = board
        self.stride = board.stride
        occupied = position.first | position.second
        heights = enumerate(map(position.height, range(board.width)))
        self.playable = [c * board.stride + high for c, high in heights if high < board.height]
        self.empty = board.full & ~occupied
        self.problems = problems_of(position)
        self.own = [line for line in board.lines if not line & position.first]
        self.through = [0] * (board.width * board.stride)
        for i in squares_in(self.problems):
            for square in squares_in(board.lines[i]):
                self.through[square] |= 1 << i

    @cached_property
    def pairs(self) -> list[int]:
        """Every empty square with an empty one above it."""
        return squares_in(self.empty & self.empty >> 1)

    def is_even(self, square: int) -> bool:
        return square % self.stride % 2 == 1

    def is_empty(self, square: int) -> bool:
        return bool(self.empty >> square & 1)

    def is_top(self, square: int) -> bool:
        return square % self.stride == self.board.height - 1

    def column(self, square: int) -> int:
        return square // self.stride

    def up_to(self, square: int) -> int:
        """This square and all beneath it."""
        return (2 << square) - (1 << self.column(square) * self.stride)

    def with_both(self, one: int, two: int) -> int:
        """The problems that contain both squares."""
        return self.through[one] & self.through[two]

    def above_all(self, squares: Iterable[int]) -> int:
        """The problems that contain the square above each of these."""
        return reduce(and_, (self.through[square + 1] for square in squares), self.problems)

    def above(self, square: int) -> int:
        """The problems with a square above this one, in its column."""
        top = self.column(square) * self.stride + self.board.height
        return reduce(or_, (self.through[s] for s in range(square + 1, top)), 0)


def _word(squares: Iterable[int]) -> int:
    return sum(1 << square for square in squares)


def _claimevens(seen: Sight) -> Iterator[Rule]:
    for lower in seen.pairs:
        if seen.is_even(lower + 1):
            yield Rule("claimeven", 3 << lower, seen.through[lower + 1], claimed=1 << lower)


def _baseinverses(seen: Sight) -> Iterator[Rule]:
    for pair in combinations(seen.playable, 2):
        yield Rule("baseinverse", _word(pair), seen.with_both(*pair))


def _verticals(seen: Sight) -> Iterator[Rule]:
    for lower in seen.pairs:
        if not seen.is_even(lower + 1):
            yield Rule("vertical", 3 << lower, seen.with_both(lower, lower + 1))


def _afterevens(seen: Sight) -> Iterator[Rule]:
    """A group whose empty squares are all claimed: it will be completed before others above it.

    One that solves no more than its claimevens is of use, too: it wins (`allis_proof`).
    """
    for group in seen.own:
        gaps = squares_in(group & seen.empty)
        if gaps and all(seen.is_even(gap) and seen.is_empty(gap - 1) for gap in gaps):
            late = reduce(and_, (seen.above(gap) for gap in gaps), seen.problems)
            claimed = reduce(or_, (seen.through[gap] for gap in gaps), 0)
            lower = _word(gap - 1 for gap in gaps)
            yield Rule("aftereven", lower | lower << 1, late | claimed, claimed=lower)


def _lowinverses(seen: Sight) -> Iterator[Rule]:
    lowers = [lower for lower in seen.pairs if not seen.is_even(lower + 1)]
    for one, two in combinations(lowers, 2):
        inverse = seen.with_both(one + 1, two + 1)
        if inverse and seen.column(one) != seen.column(two):
            both = [seen.with_both(lower, lower + 1) for lower in (one, two)]
            below = seen.up_to(one + 1) | seen.up_to(two + 1)
            squares, solved = 3 << one | 3 << two, inverse | both[0] | both[1]
            yield Rule("lowinverse", squares, solved, below=below)


def _highinverses(seen: Sight) -> Iterator[Rule]:
    triples = [low for low in seen.pairs if seen.is_even(low) and seen.is_empty(low + 2)]
    for one, two in combinations(triples, 2):
        if seen.column(one) == seen.column(two):
            continue
        across = seen.with_both(one + 2, two + 2) | seen.with_both(one + 1, two + 1)
        if one in seen.playable:
            across |= seen.with_both(one, two + 2)
        if two in seen.playable:
            across |= seen.with_both(two, one + 2)
        if across:
            upward = [seen.with_both(low + 1, low + 2) for low in (one, two)]
            below = seen.up_to(one + 2) | seen.up_to(two + 2)
            squares, solved = 7 << one | 7 << two, across | upward[0] | upward[1]
            yield Rule("highinverse", squares, solved, below=below)


def _baseclaims(seen: Sight) -> Iterator[Rule]:
    for two in seen.playable:
        if seen.is_even(two):
            continue
        firsts = [one for one in seen.playable if one != two and seen.with_both(one, two + 1)]
        thirds = [one for one in seen.playable if one != two and seen.with_both(two, one)]
        for one, three in product(firsts, thirds):
            if one != three:
                squares = 3 << two | 1 << one | 1 << three
                solved = seen.with_both(one, two + 1) | seen.with_both(two, three)
                yield Rule("baseclaim", squares, solved, claimed=1 << two)


@dataclass(frozen=True)
class _Part:
    """How one square of a before group is answered for: by a vertical or by a claimeven."""

    squares: int
    solved: int
    claimed: int = 0


def _parts(seen: Sight, square: int) -> list[_Part]:
    """A vertical from this square up, whatever its parity; a claimeven of it if it is even."""
    parts = [_Part(3 << square, seen.with_both(square, square + 1))]
    if seen.is_even(square) and seen.is_empty(square - 1):
        parts.append(_Part(3 << square - 1, seen.through[square], 1 << square - 1))
    return parts


def _choices(seen: Sight, squares: list[int]) -> Iterator[tuple[_Part, ...]]:
    """One part for each square, no two of them with a square in common."""
    for parts in product(*(_parts(seen, square) for square in squares)):
        if reduce(or_, (p.squares for p in parts), 0) == sum(p.squares for p in parts):
            yield parts


def _before_groups(seen: Sight) -> Iterator[list[int]]:
    """The empty squares of each group of the second player, none of them in the top row."""
    for group in seen.own:
        gaps = squares_in(group & seen.empty)
        if gaps and not any(map(seen.is_top, gaps)):
            yield gaps


def _befores(seen: Sight) -> Iterator[Rule]:
    for gaps in _before_groups(seen):
        main = seen.above_all(gaps)
        for parts in _choices(seen, gaps) if main else ():
            if not all(part.claimed for part in parts):  # else an aftereven
                yield _joined("before", parts, main)


def _specialbefores(seen: Sight) -> Iterator[Rule]:
    for gaps in _before_groups(seen):
        above = seen.above_all(gaps)
        for own, other in permutations(seen.playable, 2) if above else ():
            main = above & seen.through[other]
            if not main or own not in gaps or other in gaps:
                continue
            special = 1 << own | 1 << other
            solved = main | seen.with_both(own, other)
            for parts in _choices(seen, [gap for gap in gaps if gap != own]):
                if not any(part.squares & special for part in parts):
                    yield _joined("specialbefore", parts, solved, special)


def _joined(name: Name, parts: Iterable[_Part], main: int, special: int = 0) -> Rule:
    """A before of its parts; they solve what they would alone."""
    squares, solved, claimed = special, main, 0
    for part in parts:
        squares |= part.squares
        solved |= part.solved
        claimed |= part.claimed
    return Rule(name, squares, solved, claimed, special)
