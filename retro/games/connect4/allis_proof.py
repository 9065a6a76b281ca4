"""What Allis' rules prove together: a set of them that solves every group of the first player.

Chapters 7 to 9 of the thesis. Two instances may be followed side by side when the answers
of one do not disturb the other's. The table below says what has to be asked of a pair:

    1  no square in common
    2  no claimeven of the other at or below the inverse, in its columns: it would decide
       who has to move first in them
    3  in each column no square in common or all of them (they answer alike there); the two
       playable squares of a specialbefore are never alike
    4  no square in common, and the same two columns or none in common

If a set of instances, each pair of which may be combined, solves every group that the first
player might still complete, then the second player at least draws. If an aftereven is in
the set, the second player even wins: on the full board its group would be complete.

    proof(position)     first to move: a set of rules, or None (which says nothing)
                        second to move: a move to such a position, and the rules there

The set is found as an exact cover is: take the group that the fewest instances solve, try
each of these, drop all that cannot be combined with it, and go on with what is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from retro.games.connect4.allis import Rule, problems_of, rules_of, squares_in

if TYPE_CHECKING:
    from retro.games.connect4.allis import Name
    from retro.games.connect4.rules import Connect4Board, Connect4Position

MOST_STEPS = 3_000  # of a search for a set; a proof takes some tens of steps, if there is one

NAMES: tuple[Name, ...] = (
    *("claimeven", "baseinverse", "vertical", "aftereven", "lowinverse", "highinverse"),
    *("baseclaim", "before", "specialbefore"),
)
_TABLE = """
    1
    1  1
    1  1  1
    1  1  1  3
    2  1  1  12 4
    2  1  1  12 4  4
    1  1  1  1  12 12 1
    1  1  1  3  23 12 1  3
    1  1  1  3  23 12 1  3  3
"""
ASKED: dict[tuple[str, str], str] = {}  # of a pair of names: the digits of what is asked
for _row, _line in enumerate(_TABLE.split("\n")[1:-1]):
    for _column, _digits in enumerate(_line.split()):
        ASKED[NAMES[_row], NAMES[_column]] = ASKED[NAMES[_column], NAMES[_row]] = _digits


@dataclass(frozen=True)
class Proof:
    """Rules that solve every group of the first player together; he is to move after `move`."""

    rules: tuple[Rule, ...]
    wins: bool
    move: int | None = None  # the column that the second player plays first, if he is to move

    @property
    def claim(self) -> str:
        """What is proved."""
        return "the second player " + ("wins" if self.wins else "at least draws")

    def text(self, board: Connect4Board) -> str:
        """The claim and the rules in one line."""
        return f"{self.claim}: " + ", ".join(rule.text(board) for rule in self.rules)


def combine(board: Connect4Board, one: Rule, two: Rule) -> bool:
    """Whether two instances may be followed side by side: the table of chapter 7.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> claimeven = Rule("claimeven", 0b11, 1, claimed=0b1)
    >>> vertical, over = Rule("vertical", 0b110, 1), Rule("vertical", 0b11000, 1)
    >>> [combine(Connect4Board(7, 6), claimeven, other) for other in (vertical, over)]
    [False, True]
    """
    common = one.squares & two.squares
    for asked in ASKED[one.name, two.name]:
        if asked in "14" and common:
            return False
        if asked == "2" and (one.claimed & two.below or two.claimed & one.below):
            return False
        if asked == "3" and common:
            apart = one.squares ^ two.squares
            if common & (one.special | two.special) or _columns(board, common) & apart:
                return False
        if asked == "4" and one.below & two.below:
            columns = _columns(board, one.squares), _columns(board, two.squares)
            if columns[0] != columns[1]:
                return False
    return True


def _columns(board: Connect4Board, squares: int) -> int:
    """All squares of the columns that these squares lie in."""
    found = 0
    for mask in _masks(board):
        if mask & squares:
            found |= mask
    return found


@cache
def _masks(board: Connect4Board) -> tuple[int, ...]:
    return board.columns


class _Cover:
    """A search for instances that can be combined and solve all problems."""

    def __init__(self, board: Connect4Board, rules: list[Rule], problems: int) -> None:
        self._board, self.rules, self.problems = board, rules, problems
        self.solvers = {
            problem: sum(1 << i for i, rule in enumerate(rules) if rule.solved >> problem & 1)
            for problem in squares_in(problems)
        }
        self._friends: dict[int, int] = {}
        self._failed: set[tuple[int, int]] = set()
        self.steps = 0

    def friends(self, index: int) -> int:
        """The instances that can be combined with this one."""
        if index not in self._friends:
            rule = self.rules[index]
            fitting = (combine(self._board, rule, other) for other in self.rules)
            self._friends[index] = sum(1 << i for i, fits in enumerate(fitting) if fits)
        return self._friends[index]

    def find(self, left: int, allowed: int) -> list[int] | None:
        """Instances among those allowed that solve what is left; None if no set was found."""
        if not left:
            return []
        if (left, allowed) in self._failed or self.steps >= MOST_STEPS:
            return None
        self.steps += 1
        choices = min(
            (self.solvers[problem] & allowed for problem in squares_in(left)), key=int.bit_count
        )
        indices = squares_in(choices)
        indices.sort(key=lambda i: (self.rules[i].solved & left).bit_count(), reverse=True)
        for index in indices:
            rest = self.find(left & ~self.rules[index].solved, allowed & self.friends(index))
            if rest is not None:
                return [index, *rest]
            allowed &= ~(1 << index)
        self._failed.add((left, allowed | choices))
        return None


def proof(position: Connect4Position) -> Proof | None:
    """A proof that the second player at least draws, or wins; None if the rules give none.

    >>> from retro.games.connect4.rules import Connect4Board, Connect4Position
    >>> board = Connect4Board(4, 4)
    >>> found = proof(Connect4Position(board))
    >>> found.claim, [rule.text(board) for rule in found.rules][:2]
    ('the second player at least draws', ['baseclaim a1 b1 b2 d1', 'claimeven c1 c2'])
    """
    if position.is_over():
        return None
    if position.side_to_move == "first":
        return _cover(position)
    best = None
    for move in position._in_order():
        found = proof_after(position, move)
        if found is not None and found.wins:
            return found
        best = best or found
    return best


def proof_after(position: Connect4Position, move: int) -> Proof | None:
    """The proof that holds once the second player has made a move."""
    after = position._play(move)
    if after.is_over():
        return Proof((), after.winner() is not None, move)
    found = _cover(after)
    return None if found is None else Proof(found.rules, found.wins, move)


def _cover(position: Connect4Position) -> Proof | None:
    """A set of rules for a position with the first player to move; one that wins, if any does."""
    if _wins_at_once(position):
        return None  # no rule solves a group that is completed at once
    rules = rules_of(position)
    cover = _Cover(position.board, rules, problems_of(position))
    if not all(cover.solvers.values()):
        return None
    everything = (1 << len(rules)) - 1
    for index, rule in enumerate(rules):
        if rule.name == "aftereven":
            rest = cover.find(cover.problems & ~rule.solved, cover.friends(index))
            if rest is not None:
                return Proof((rule, *(rules[i] for i in rest)), wins=True)
    found = cover.find(cover.problems, everything)
    return None if found is None else Proof(tuple(rules[i] for i in found), wins=False)


def unsolved(position: Connect4Position) -> int:
    """How many groups are left when rules are chosen one by one and never taken back.

    For a position with the first player to move that has no proof: the fewer, the nearer.
    """
    rules, left = rules_of(position), problems_of(position)
    cover = _Cover(position.board, rules, left)
    allowed, given_up = (1 << len(rules)) - 1, 0
    while left:
        problem = min(
            squares_in(left), key=lambda problem: (cover.solvers[problem] & allowed).bit_count()
        )
        choices = squares_in(cover.solvers[problem] & allowed)
        if choices:
            index = max(choices, key=lambda index: (rules[index].solved & left).bit_count())
            left &= ~rules[index].solved
            allowed &= cover.friends(index)
        else:
            left &= ~(1 << problem)
            given_up += 1
    return given_up


def _wins_at_once(position: Connect4Position) -> bool:
    """Whether the first player completes a group with his next stone."""
    board, stones = position.board, position.first | position.second
    bottom = sum(board.bit(column, 0) for column in range(board.width))
    playable = stones + bottom
    gaps = (line & ~stones for line in board.lines if not line & position.second)
    return any(gap & playable == gap and gap & (gap - 1) == 0 for gap in gaps)
