"""The inverse exercise against brute force: every small tree, every way to mark its branches."""

import random
import re
from dataclasses import replace

import pytest
from plain import trees

from retro.errors import BadTextError
from retro.play.exercise import Solved, solve_exercise
from retro.play.trace import trace_tree
from retro.play.tree import Tree, read_tree

# (leaves, plies): 633 trees, marked in 29,349 ways.
SMALL = [(1, 3), (2, 4), (3, 4), (4, 3)]


def marked_tree(shape: trees.Nested, marks: frozenset, path: tuple = ()) -> Tree:
    cut = path in marks
    if not isinstance(shape, list):
        return Tree("leaf", cut=cut)
    branches = tuple(marked_tree(branch, marks, (*path, i)) for i, branch in enumerate(shape))
    return Tree("min" if len(path) % 2 else "max", branches, cut=cut)


def nested_of(tree: Tree) -> trees.Nested:
    return list(map(nested_of, tree.branches)) if tree.branches else tree.value


def check(shape: trees.Nested, leaves: int) -> tuple[int, int]:
    """How many ways to mark a tree have numbers and how many have none, as brute force says."""
    possible = trees.cut_patterns(shape, leaves)
    solved = refused = 0
    for marks in trees.marks(shape):
        found = solve_exercise(marked_tree(shape, marks))
        assert (found.tree is not None) == (marks in possible), (shape, marks)
        if found.tree is None:
            assert found.why
            refused += 1
        else:
            assert trees.alpha_beta(nested_of(found.tree))[2] == marks
            solved += 1
    return solved, refused


def test_the_trees_are_all_there_are() -> None:
    for leaves, plies, number in ((1, 0, 1), (2, 1, 1), (2, 2, 5), (3, 2, 13)):
        found = trees.shapes(leaves, plies)
        assert len(found) == len({repr(shape) for shape in found}) == number
    assert sum(len(trees.shapes(*size)) for size in SMALL) == 633


@pytest.mark.parametrize(
    ("leaves", "plies"),
    [pytest.param(*size, marks=[pytest.mark.slow] * (size == (4, 3))) for size in SMALL],
)
def test_small_trees_as_brute_force_has_them(leaves: int, plies: int) -> None:
    counts = [check(shape, leaves) for shape in trees.shapes(leaves, plies)]
    solved, refused = (sum(column) for column in zip(*counts, strict=True))
    assert solved >= len(counts)  # no marks at all can always be had
    assert refused > 0


@pytest.mark.slow  # 3,819 trees, marked in 482,530 ways: five minutes
@pytest.mark.parametrize(("leaves", "plies"), [(5, 3), (4, 4)])
def test_more_trees_as_brute_force_has_them(leaves: int, plies: int) -> None:
    for shape in trees.shapes(leaves, plies):
        check(shape, leaves)


def test_the_cuts_of_random_numbers_can_be_asked_for() -> None:
    """Trees of textbook size: cuts that happened have numbers, and those give the same cuts."""
    rng = random.Random(12)

    def some(depth: int) -> trees.Nested:
        if depth == 0:
            return rng.randint(1, 20)
        return [some(depth - 1) for _ in range(rng.randint(2, 3))]

    with_cuts = 0
    for _ in range(200):
        nested = some(4)
        cut = frozenset(trees.alpha_beta(nested)[2])
        found = solve_exercise(marked_tree(nested, cut))
        assert found.tree is not None
        assert trees.alpha_beta(nested_of(found.tree))[2] == cut
        with_cuts += bool(cut)
    assert with_cuts > 150


def test_max_may_follow_max() -> None:
    for text in ("max(max(? ?) min(max(? ?) max(? /?)))", "min(min(? ?) max(max(? /?) /?))"):
        found = solve_exercise(read_tree(text)).tree
        assert found is not None
        again = trace_tree(found)
        assert again.branches_cut == text.count("/")
        assert [leaf.cut for leaf in found.leaves()] == [w == "/" for w in _marks(text)]


def _marks(text: str) -> list[str]:
    return [text[i - 1] for i, letter in enumerate(text) if letter == "?"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("max(? /?)", r"MAX\(\? /\?\), the root: a cut needs a bound that was found before"),
        ("max(/? ?)", "the root: the first branch is always visited"),
        ("max(? min(? /? ?))", "branch 2 of the root: after a cut nothing more is visited"),
        ("max(min(? /?) ?)", "branch 1 of the root: a cut needs a bound"),
        ("max(? max(? /?))", "branch 2 of the root: a cut needs a bound"),
        # A MIN node that is cut has no more to say, so the MAX node below it has no second bound.
        ("max(? min(max(? /?) ?))", "a cut needs a bound"),
    ],
)
def test_it_says_why_there_are_none(text: str, why: str) -> None:
    found = solve_exercise(read_tree(text))
    assert found.tree is None
    assert re.search(why, found.why)


def test_a_mark_below_a_mark_is_refused() -> None:
    with pytest.raises(BadTextError, match="below another one, in branch 2 of the root"):
        solve_exercise(read_tree("max(? /min(? /?))"))


def test_numbers_there_are_not_looked_at() -> None:
    one, other = (solve_exercise(read_tree(f"max({n} min({n} /{n}))")).tree for n in (3, 8))
    assert one == other
    assert solve_exercise(read_tree("5")) == Solved(replace(read_tree("5"), value=1))
