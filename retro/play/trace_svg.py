"""A trace as a picture: the tree that was visited, and strokes where branches were cut.

                /\\ 3                      triangles: up MAX, down MIN; boxes: leaves
            [-inf, inf]                   alpha and beta when the node is entered
             > [3, inf]                   and when it is left
              /         \\
          \\/ 3          \\/ 2             thick: the branch that gave the value
         / | \\         /  /\\
       [3][12][8]    [2]   2 cut          a stroke: branches that were never visited

Small trees grow downward, as in books. Large ones grow to the right, a node a row, where
there is room for the words. Every node also has its full line as a tooltip.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

import retro.svg as svg
from retro.play.trace_text import cut_text, headline, window_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retro.play.trace import Trace, TraceNode
    from retro.play.trace_text import Say
    from retro.svg import Point

MOST_DOWNWARD = 24  # leaves side by side
MOST_STUBS = 4  # cut branches drawn one by one
HALF = 12.0  # of a triangle or a box
MARGIN, HEAD = 40.0, 50.0
DOWN, RIGHT = 110.0, 260.0  # from one ply to the next
WORDS = 170.0  # room for what stands beside a node


class _Spot(NamedTuple):
    """A node or a stub in the tree: how deep, and in which slot across; None is a stub."""

    node: TraceNode | None
    label: str
    depth: int
    slot: float
    above: int  # the number of the spot above it, -1 at the root
    best: bool = False


class _Paper(NamedTuple):
    """Where things go: downward as in books, or to the right."""

    downward: bool
    slots: int
    plies: int
    say: Say

    @property
    def across(self) -> float:
        return max(56.0, min(110.0, 900.0 / self.slots)) if self.downward else 30.0

    @property
    def size(self) -> svg.Size:
        if self.downward:
            return svg.Size(self.slots * self.across + 2 * MARGIN, self.plies * DOWN + HEAD)
        return svg.Size(self.plies * RIGHT + 2 * MARGIN, self.slots * self.across + HEAD + 20)

    def place(self, spot: _Spot) -> Point:
        if self.downward:
            return MARGIN + (spot.slot + 0.5) * self.across, HEAD + 20 + spot.depth * DOWN
        return MARGIN + spot.depth * RIGHT, HEAD + 20 + spot.slot * self.across

    def edge(self, above: _Spot, spot: _Spot) -> tuple[Point, Point]:
        """From behind the words of the upper node to the lower one."""
        (x1, y1), (x2, y2) = self.place(above), self.place(spot)
        if self.downward:
            return (x1, y1 + 42), (x2, y2 - HALF)
        return (x1 + WORDS, y1), (x2 - HALF, y2)


def trace_svg(trace: Trace) -> str:
    """The picture of a trace.

    >>> from retro.play.trace import trace_tree
    >>> from retro.play.tree import read_tree
    >>> drawn = trace_svg(trace_tree(read_tree("max(min(3 8) min(2 4))")))
    >>> drawn.count("<polygon"), drawn.count("<rect"), drawn.count('class="cut"')
    (3, 3, 2)
    """
    spots: list[_Spot] = []
    slots = _lay_out(trace.root, spots)
    plies = max(spot.depth for spot in spots) + 1
    paper = _Paper(slots <= MOST_DOWNWARD, slots, plies, trace.say)
    words = headline(trace)
    if trace.left_out:
        words += f"; {trace.left_out:,} of them not shown"
    parts = [svg.text((MARGIN / 2, 22), words, anchor="start")]
    for spot in spots:
        if spot.above >= 0:
            parts += _edge(paper, *paper.edge(spots[spot.above], spot), spot)
    for spot in spots:
        parts += _node(paper, spot)
    width, height = paper.size
    return svg.picture(svg.Size(max(width, 7.0 * len(words)), height), parts, trace.title)


def _lay_out(root: TraceNode, spots: list[_Spot]) -> int:
    """Append the spots of a tree; leaves get slots from 0 on, others stand between theirs."""
    free = 0

    def lay(node: TraceNode | None, label: str, depth: int, above: int, best: bool) -> float:
        nonlocal free
        here = len(spots)
        spots.append(_Spot(node, label, depth, 0.0, above, best))
        slots = []
        if node is not None:
            for number, branch in enumerate(node.branches):
                slots.append(lay(branch, branch.branch, depth + 1, here, number == node.best))
            slots += [lay(None, label, depth + 1, here, False) for label in _stubs(node)]
        if slots:
            slot = (slots[0] + slots[-1]) / 2
        else:
            slot, free = float(free), free + 1
        spots[here] = spots[here]._replace(slot=slot)
        return slot

    lay(root, "", 0, -1, False)
    return free


def _stubs(node: TraceNode) -> list[str]:
    return list(node.cut) if len(node.cut) <= MOST_STUBS else [f"{len(node.cut)} cut"]


def _edge(paper: _Paper, start: Point, end: Point, spot: _Spot) -> Iterator[str]:
    yield svg.line(start, end, "cut" if spot.node is None else "best" if spot.best else "edge")
    if spot.node is None:
        x, y = ((a + b) / 2 for a, b in zip(start, end, strict=True))
        yield svg.line((x - 7, y + 3), (x + 7, y - 3), "cut")
    elif spot.node.kind != "leaf" or spot.label != paper.say(spot.node.value):
        if paper.downward:
            yield svg.text((end[0] + 4, end[1] - 4), spot.label, "small", "start")
        else:
            yield svg.text((end[0] - 2, end[1] - 3), spot.label, "small", "end")


def _node(paper: _Paper, spot: _Spot) -> Iterator[str]:
    x, y = paper.place(spot)
    node = spot.node
    if node is None:
        if paper.downward:
            yield svg.text((x, y + 2), spot.label, "small cuttext")
        else:
            yield svg.text((x - HALF + 3, y + 4), spot.label, "small cuttext", "start")
        return
    yield f"<g><title>{escape(_tooltip(node, paper.say))}</title>"
    yield _shape((x, y), node)
    value = paper.say(node.value)
    fits = node.kind == "leaf" and len(value) <= 4
    yield (
        svg.text((x, y + 4), value)
        if fits
        else svg.text((x + HALF + 4, y + 4), value, "title", "start")
    )
    lines = _beside(node, paper.say)
    if paper.downward:
        for number, words in enumerate(lines if node.kind != "leaf" else []):
            yield svg.text((x, y + 25 + 12 * number), words, "small")
    else:
        room = x + HALF + 8 + (0 if fits else 10 * len(value))
        yield svg.text((room, y + 4), " ".join(lines), "small", "start")
    yield "</g>"


def _beside(node: TraceNode, say: Say) -> list[str]:
    """The window when entered, when left, and what is not shown."""
    lines = [window_text(node.entered, say)] if node.entered else []
    if node.left and node.kind != "leaf":
        lines.append(f"> {window_text(node.left, say)}")
    return [*lines, f"+{node.left_out:,} nodes"] if node.left_out else lines


def _shape(at: Point, node: TraceNode) -> str:
    x, y = at
    if node.kind == "leaf":
        return svg.rectangle((x - HALF, y - 10), svg.Size(2 * HALF, 20), "node")
    up = HALF if node.kind == "max" else -HALF
    return svg.polygon([(x - HALF, y + up), (x + HALF, y + up), (x, y - up)], node.kind)


def _tooltip(node: TraceNode, say: Say) -> str:
    words = [f"{node.branch} {node.kind}: {say(node.value)}".strip()]
    if node.entered is not None and node.left is not None:
        entered, left = window_text(node.entered, say), window_text(node.left, say)
        words.append(f"entered {entered}, left {left}")
    if node.cut:
        words.append(f"{cut_text(node, say)}: {' '.join(node.cut)}")
    if node.left_out:
        words.append(f"{node.left_out:,} nodes below not shown")
    return "; ".join(words)
