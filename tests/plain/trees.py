"""Minimax and alpha-beta on nested lists, as plainly as they can be written, and all small trees.

A tree is a number or a list; lists take turns, the outermost is MAX's. A path is the numbers of
the branches on the way to a node.
"""

from itertools import product
from math import inf

Nested = int | list


def minimax(tree: Nested, maximise: bool = True) -> int:
    if not isinstance(tree, list):
        return tree
    values = [minimax(branch, not maximise) for branch in tree]
    return max(values) if maximise else min(values)


def alpha_beta(tree: Nested) -> tuple[int, list[tuple], set[tuple]]:
    """The value; every visit in the order of leaving; the paths of the branches cut.

    A visit is (path, alpha and beta when entered, alpha and beta when left, value).
    """
    visits: list[tuple] = []
    cuts: set[tuple] = set()

    def max_value(tree: Nested, alpha: float, beta: float, path: tuple) -> float:
        if not isinstance(tree, list):
            visits.append((path, alpha, beta, alpha, beta, tree))
            return tree
        entered, value = (alpha, beta), -inf
        for number, branch in enumerate(tree):
            value = max(value, min_value(branch, alpha, beta, (*path, number)))
            alpha = max(alpha, value)
            if value >= beta:
                cuts.update((*path, later) for later in range(number + 1, len(tree)))
                break
        visits.append((path, *entered, alpha, beta, value))
        return value

    def min_value(tree: Nested, alpha: float, beta: float, path: tuple) -> float:
        if not isinstance(tree, list):
            visits.append((path, alpha, beta, alpha, beta, tree))
            return tree
        entered, value = (alpha, beta), inf
        for number, branch in enumerate(tree):
            value = min(value, max_value(branch, alpha, beta, (*path, number)))
            beta = min(beta, value)
            if value <= alpha:
                cuts.update((*path, later) for later in range(number + 1, len(tree)))
                break
        visits.append((path, *entered, alpha, beta, value))
        return value

    return int(max_value(tree, -inf, inf, ())), visits, cuts


def shapes(leaves: int, depth: int) -> list[Nested]:
    """All trees with so many leaves (written 0) and at most so many plies."""
    found: list[Nested] = [0] if leaves == 1 else []
    if depth:
        found += [list(split) for split in _splits(leaves, depth - 1)]
    return found


def _splits(leaves: int, depth: int) -> list[tuple]:
    """All rows of trees that share so many leaves."""
    if leaves == 0:
        return [()]
    return [
        (first, *rest)
        for here in range(1, leaves + 1)
        for first in shapes(here, depth)
        for rest in _splits(leaves - here, depth)
    ]


def filled(shape: Nested, values: list[int]) -> Nested:
    """The shape with these numbers, which are taken out of the list, at its leaves."""
    if not isinstance(shape, list):
        return values.pop(0)
    return [filled(branch, values) for branch in shape]


def cut_patterns(shape: Nested, leaves: int) -> set[frozenset]:
    """Every set of branches that alpha-beta cuts for some numbers.

    So many leaves have at most so many different numbers, and only their order matters.
    """
    return {
        frozenset(alpha_beta(filled(shape, list(values)))[2])
        for values in product(range(leaves), repeat=leaves)
    }


def marks(shape: Nested, path: tuple = ()) -> list[frozenset]:
    """Every way to mark branches, none below another."""
    if not isinstance(shape, list):
        return [frozenset()]
    found = [frozenset()]
    for number, branch in enumerate(shape):
        here = (*path, number)
        ways = [*marks(branch, here), frozenset([here])]
        found = [before | way for before in found for way in ways]
    return found
