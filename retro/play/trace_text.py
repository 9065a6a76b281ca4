"""A trace as lines of text: a node a line, its branches indented below it.

    alpha-beta of tree: value 3, line #1 3; 11 nodes visited, 2 branches cut
    MAX                 [-inf, inf] -> 3  [3, inf]
      #1  MIN           [-inf, inf] -> 3  [-inf, 3]  best
        3   leaf        [-inf, inf] -> 3             best
        ...
      #2  MIN           [3, inf]    -> 2  [3, 2]
        2   leaf        ...
        x   cut by alpha, 2 <= 3: 4 6

Brackets hold alpha and beta, when the node is entered and, after its value, when it is left.
W3 and L3 are games that MAX has won or lost in 3 plies (negamax: who is to move).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from retro.play.trace import Trace, TraceNode, Window
    from retro.play.tree import Number

    Say = Callable[[Number], str]  # `Trace.say`

STEP = 2


def trace_text(trace: Trace) -> str:
    """The lines of a trace.

    >>> from retro.play.trace import trace_tree
    >>> from retro.play.tree import read_tree
    >>> print(trace_text(trace_tree(read_tree("max(min(3 8) min(2 4))"))))
    alpha-beta of tree: value 3, line #1 3; 6 nodes visited, 1 branch cut
    MAX          [-inf, inf] -> 3  [3, inf]
      #1 MIN     [-inf, inf] -> 3  [-inf, 3]  best
        3 leaf   [-inf, inf] -> 3  best
        8 leaf   [-inf, 3] -> 8
      #2 MIN     [3, inf] -> 2  [3, 2]
        2 leaf   [3, inf] -> 2  best
        x cut by alpha, 2 <= 3: 4
    """
    rows = list(_rows(trace.root, trace.say, 0, best=False))
    width = max(len(head) for head, _ in rows if _)
    lines = [headline(trace)]
    lines += [f"{head:{width}}   {rest}" if rest else head for head, rest in rows]
    if trace.left_out:
        lines.append(f"not shown: {trace.left_out:,} of {trace.visited:,} nodes visited")
    return "\n".join(lines)


def headline(trace: Trace) -> str:
    """What was found and what it took, on one line."""
    cut = f"{trace.branches_cut:,} branch{'' if trace.branches_cut == 1 else 'es'} cut"
    counted = f"{trace.visited:,} nodes visited, {cut}"
    line = f", line {' '.join(trace.line)}" if trace.line else ""
    return f"{trace.algorithm} of {trace.title}: value {trace.say(trace.value)}{line}; {counted}"


def _rows(node: TraceNode, say: Say, depth: int, best: bool) -> Iterator[tuple[str, str]]:
    """What stands left and right on each line."""
    margin = " " * STEP * depth
    kind = node.kind if node.kind == "leaf" else node.kind.upper()
    head = f"{margin}{node.branch} {kind}" if depth else kind
    words = [say(node.value)]
    if node.entered is not None:
        words = [f"{window_text(node.entered, say)} -> {words[0]}"]
    if node.left is not None and node.kind != "leaf":
        words.append(window_text(node.left, say))
    if best:
        words.append("best")
    if node.left_out:
        words.append(f"({node.left_out:,} nodes below not shown)")
    yield head, "  ".join(words)
    for number, branch in enumerate(node.branches):
        yield from _rows(branch, say, depth + 1, number == node.best)
    if node.cut:
        yield f"{margin}{' ' * STEP}x {cut_text(node, say)}: {' '.join(node.cut)}", ""


def window_text(window: Window, say: Say) -> str:
    return f"[{say(window.alpha)}, {say(window.beta)}]"


def cut_text(node: TraceNode, say: Say) -> str:
    """Why branches of a node were cut."""
    assert node.entered is not None, "only a search with windows cuts"
    if node.cut_by == "alpha":
        return f"cut by alpha, {say(node.value)} <= {say(node.entered.alpha)}"
    return f"cut by beta, {say(node.value)} >= {say(node.entered.beta)}"
