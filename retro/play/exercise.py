"""The inverse exercise: numbers for the leaves so that alpha-beta cuts exactly the marked branches.

Only the order of the numbers matters, so the search needs no numbers. A node is entered with a
window that has or has not a lower and an upper bound; told from who is to move there, what it
returns lies

    LOW    no better than the lower bound         the one above learns nothing new
    IN     strictly between the bounds            the one above has a better move
    HIGH   no worse than the upper bound          the one above is cut

Stretching the numbers between two bounds changes no comparison, so if one number inside is
possible all are, and *whether* each of the three can happen depends on nothing but which bounds
there are: four windows, three outcomes a node. A node tries its branches one after another:

    nothing yet --LOW--> nothing yet --IN--> something --LOW/IN--> something --HIGH--> cut

It must not be cut before its first marked branch and must be cut there. One pass over the tree
decides this exactly; a second one, along the ways found, writes numbers down. A mark is a branch
that alpha-beta meets and leaves out: the marked branches of a node are its last ones, never all,
and none hangs below another.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from retro.errors import BadTextError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retro.play.tree import Tree


class Outcome(Enum):
    """Where the value of a node lies, seen by who is to move above it or at it."""

    LOW = -1
    IN = 0
    HIGH = 1


LOW, IN, HIGH = Outcome
Way = tuple[Outcome, ...]  # what the visited branches of a node return, one after another


class Bounds(NamedTuple):
    """The bounds of a window; None: no such bound."""

    low: Fraction | None = None
    high: Fraction | None = None

    def turned(self) -> Bounds:
        """As the other side sees them."""
        return Bounds(
            None if self.high is None else -self.high, None if self.low is None else -self.low
        )


@dataclass(frozen=True)
class Solved:
    """The tree with numbers (`tree`), or None and `why` there are none."""

    tree: Tree | None
    why: str = ""


def solve_exercise(tree: Tree) -> Solved:
    """Numbers for which alpha-beta cuts the marked branches of a tree and no others.

    Numbers that the tree already has are not looked at. Marked branches get 0 everywhere:
    alpha-beta never sees them, so any number does.

    >>> from retro.play.tree import read_tree
    >>> print(solve_exercise(read_tree("max(min(? ? ?) min(? /? /?) min(? ? ?))")).tree)
    MAX(MIN(4 3 2) MIN(1 /0 /0) MIN(5 4 3))
    >>> solve_exercise(read_tree("max(min(? /?) min(? ?))")).why
    'MIN(? /?), branch 1 of the root: a cut needs a bound that was found before'
    """
    check_marks(tree)
    if tree.kind == "leaf":
        return Solved(tree.with_values(iter([1])))
    finder = _Finder()
    if IN not in finder.outcomes(tree, _sign(tree), Bounds()):
        return Solved(None, _reason(finder, tree))
    numbers: list[Fraction | None] = []
    finder.write(tree, 1, Bounds(), IN, Fraction(0), numbers)
    ranks = {n: i for i, n in enumerate(sorted({n for n in numbers if n is not None}), start=1)}
    return Solved(tree.with_values(iter([0 if n is None else ranks[n] for n in numbers])))


def check_marks(tree: Tree, path: str = "the root") -> None:
    """Refuse a mark below a mark: what is never visited has no cuts."""
    for number, branch in enumerate(tree.branches, start=1):
        here = f"branch {number} of {path}"
        if branch.cut and _marked(branch):
            raise BadTextError(f"found a stroke below another one, in {here}, wanted the upper one")
        check_marks(branch, here)


def _marked(tree: Tree) -> bool:
    return any(branch.cut or _marked(branch) for branch in tree.branches)


def _sign(tree: Tree) -> int:
    return 1 if tree.kind == "max" else -1


def _visited(tree: Tree) -> int:
    """How many branches are visited if the marks are the last ones, else 0."""
    count = next((i for i, branch in enumerate(tree.branches) if branch.cut), len(tree.branches))
    return count if all(branch.cut for branch in tree.branches[count:]) else 0


class _Finder:
    """What can happen at each node; the answers are kept."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bool, bool], dict[Outcome, Way]] = {}

    def outcomes(self, tree: Tree, sign: int, bounds: Bounds) -> dict[Outcome, Way]:
        """The outcomes that some numbers give, seen by `sign` (+1: MAX), each with a way to it."""
        low, high = bounds.low is not None, bounds.high is not None
        if tree.kind == "leaf":
            return {IN: (), **({LOW: ()} if low else {}), **({HIGH: ()} if high else {})}
        if sign != _sign(tree):
            turned = self.outcomes(tree, -sign, bounds.turned())
            return {Outcome(-outcome.value): way for outcome, way in turned.items()}
        key = (id(tree), low, high)
        if key not in self._known:
            self._known[key] = self._ways(tree, sign, bounds)
        return self._known[key]

    def _ways(self, tree: Tree, sign: int, bounds: Bounds) -> dict[Outcome, Way]:
        visited = _visited(tree)
        # After each branch: what the best so far is, and a way to it. LOW is also "nothing yet".
        ways: dict[Outcome, Way] = {LOW: ()} if visited else {}
        for branch in tree.branches[:visited]:
            after: dict[Outcome, Way] = {}
            for best, way in ways.items():
                if best == HIGH:
                    continue  # would be cut here, where a branch is to be visited
                window = bounds if best == LOW else Bounds(Fraction(0), bounds.high)
                for outcome in self.outcomes(branch, sign, window):
                    reached = Outcome(max(best.value, outcome.value))
                    after.setdefault(reached, (*way, outcome))
            ways = after
        if visited < len(tree.branches):
            return {HIGH: ways[HIGH]} if HIGH in ways else {}
        return ways

    def write(
        self,
        tree: Tree,
        sign: int,
        bounds: Bounds,
        goal: Outcome,
        inside: Fraction,
        numbers: list[Fraction | None],
    ) -> None:
        """Append numbers of the leaves that reach a goal; `inside` is the value if it is IN."""
        if tree.kind == "leaf":
            numbers.append(sign * _value(bounds, goal, inside))
            return
        if sign != _sign(tree):
            turned = Outcome(-goal.value)
            self.write(tree, -sign, bounds.turned(), turned, -inside, numbers)
            return
        way = self.outcomes(tree, sign, bounds)[goal]
        rising = iter(_rising(bounds, way.count(IN), inside if goal == IN else None))
        window = bounds
        for branch, outcome in zip(tree.branches, way, strict=False):
            value = next(rising) if outcome == IN else Fraction(0)
            self.write(branch, sign, window, outcome, value, numbers)
            if outcome == IN:
                window = Bounds(value, bounds.high)
        for branch in tree.branches[len(way) :]:
            numbers.extend(None for _ in branch.leaves())


def _value(bounds: Bounds, goal: Outcome, inside: Fraction) -> Fraction:
    if goal == IN:
        return inside
    bound = bounds.low if goal == LOW else bounds.high
    assert bound is not None, "only a bound can be missed"
    return bound + goal.value


def _rising(bounds: Bounds, count: int, last: Fraction | None) -> list[Fraction]:
    """So many numbers within the bounds, rising; the last one is given or is anywhere."""
    low, high = bounds
    if last is None:
        if low is not None and high is not None:
            last = (low + high) / 2
        else:
            last = high - 1 if high is not None else low + 1 if low is not None else Fraction(0)
    if low is None:
        return [last - count + i for i in range(1, count + 1)]
    return [low + (last - low) * i / count for i in range(1, count + 1)]


def _reason(finder: _Finder, tree: Tree) -> str:
    """Why there are no numbers: the simplest rule that a node breaks, else the lowest such node."""
    nodes = list(_nodes(tree, "the root", frozenset()))
    for node, path, bounded in nodes:
        where = f"{node}, {path}"
        if node.branches[0].cut:
            return f"{where}: the first branch is always visited"
        if not _visited(node):
            return f"{where}: after a cut nothing more is visited"
        if _visited(node) < len(node.branches) and node.kind not in bounded:
            return f"{where}: a cut needs a bound that was found before"
    zero = Fraction(0)
    for node, path, _ in reversed(nodes):
        windows = (Bounds(low, high) for low in (None, zero) for high in (None, zero))
        if not any(finder.outcomes(node, _sign(node), window) for window in windows):
            return f"{node}, {path}: no order of the numbers does it"
    return f"{tree}: no order of the numbers cuts these branches and no others"


def _nodes(
    tree: Tree, path: str, bounded: frozenset[str]
) -> Iterator[tuple[Tree, str, frozenset[str]]]:
    """The inner nodes that are to be visited, each with the kinds that can be cut there.

    A MAX node can be cut once a MIN node above it has tried another branch, and the reverse.
    """
    yield tree, path, bounded
    other = "min" if tree.kind == "max" else "max"
    for number, branch in enumerate(tree.branches, start=1):
        if not branch.cut and branch.kind != "leaf":
            yield from _nodes(branch, f"branch {number} of {path}", bounded)
        bounded |= {other}
