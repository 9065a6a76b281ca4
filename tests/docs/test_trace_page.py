"""The page about traces: its examples run, its picture is the one it speaks of."""

import doctest
from pathlib import Path

from retro.play.trace import trace_tree
from retro.play.trace_svg import trace_svg
from retro.play.tree import read_tree

DOCS = Path(__file__).parents[2] / "docs"
TREE = "MAX( MIN(3 12 8) b:MIN(2 4 c:MAX(6 9)) MIN(14 5 2) )"


def test_the_examples_run() -> None:
    found = doctest.testfile(str(DOCS / "trace.md"), module_relative=False)
    assert (found.failed, found.attempted > 10) == (0, True)
    assert TREE in (DOCS / "trace.md").read_text()


def test_the_picture_is_that_of_the_tree() -> None:
    assert (DOCS / "trace.svg").read_text() == trace_svg(trace_tree(read_tree(TREE)))
