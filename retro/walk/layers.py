"""The walks as Python sees them: layer by layer, on any number of threads.

    backward(prepared)   yields (ply, values), the fullest layer first
    forward(prepared)    yields (counts, alive), the root first: the empty board by default

A layer's blocks are dealt out to threads in a few stretches of about equal
size. Every block writes words of its own, so the bytes do not depend on the
number of threads or on who comes first.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.index.layout import Blocks, Layout, layer_blocks, make_layout
from retro.walk import backward as _backward
from retro.walk import forward as _forward
from retro.walk.bits import BitInstructions, bit_instructions
from retro.walk.plans import Plan, make_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from retro.games.connect import Board, Position

    Values = NDArray[np.uint64]  # [plane, word]: plane 0 is win, plane 1 is loss
    Alive = NDArray[np.uint64]  # [word]

STRETCHES_PER_THREAD = 4


class Counts(NamedTuple):
    """Legal positions of one ply; win, draw and loss are for the side to move.

    Finished games are included: a completed line counts as a loss, a full
    board without one as a draw. `terminal` is the number of completed lines.
    """

    ply: int
    positions: int
    win: int
    draw: int
    loss: int
    terminal: int


@dataclass(frozen=True)
class Prepared:
    """A board made ready to walk: layout and plan, and how to compute."""

    layout: Layout
    plan: Plan
    bits: BitInstructions
    threads: int


def prepare(
    board: Board,
    left_columns: int | None = None,
    threads: int | None = None,
    root: Position | None = None,
) -> Prepared:
    """Make a board, or what extends a root on it, ready to walk; by default on all cores."""
    layout = make_layout(board, left_columns, root)
    return Prepared(layout, make_plan(layout), bit_instructions(), threads or available_cores())


def available_cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def backward(
    prepared: Prepared, above: Values | None = None, first_ply: int | None = None
) -> Iterator[tuple[int, Values]]:
    """Yield the values of every layer, the fullest first.

    To go on with an interrupted walk, give the values of the last finished
    layer as `above` and the next ply as `first_ply`.

    >>> from retro.games.connect import Board
    >>> ply, values = list(backward(prepare(Board(6, 4))))[-1]
    >>> ply, [int(plane[0]) for plane in values]  # the empty board: no win, a loss
    (0, [0, 1])
    """
    layout = prepared.layout
    first_ply = layout.plies - 1 if first_ply is None else first_ply
    after = np.zeros((2, 0), np.uint64) if above is None else above
    with ThreadPoolExecutor(prepared.threads) as pool:
        for ply in range(first_ply, layout.first_ply - 1, -1):
            here = np.empty((2, layout.layer_words[ply]), np.uint64)
            walk = partial(_walk, prepared, ply, here, after)
            list(pool.map(walk, _stretches(layer_blocks(layout, ply), prepared.threads)))
            yield ply, here
            after = here


def _walk(prepared: Prepared, ply: int, here: Values, after: Values, blocks: Blocks) -> None:
    layout, plan = prepared.layout, prepared.plan
    scratch = _backward.make_scratch(layout, plan)
    sides = (blocks.left, blocks.right)
    _backward.walk_blocks(prepared.bits, layout.shape, plan, scratch, ply, here, after, sides)


def forward(
    prepared: Prepared, values_of: Callable[[int], Values] | None = None
) -> Iterator[tuple[Counts, Alive]]:
    """Yield the counts of every layer and the plane of its live reachable positions.

    `values_of(ply)` gives the values to count; without it win and loss are 0
    and every live position counts as a draw.

    >>> from retro.games.connect import Board
    >>> [counts.positions for counts, alive in forward(prepare(Board(2, 2)))]
    [1, 2, 4, 6, 5]
    """
    layout = prepared.layout
    extra = _forward.make_forward_plan(layout, prepared.plan)
    nothing = np.zeros((2, 0), np.uint64)
    alive = np.ones(1, np.uint64)
    with ThreadPoolExecutor(prepared.threads) as pool:
        for ply in range(layout.first_ply, layout.plies):
            values = nothing if values_of is None else values_of(ply)
            if ply == layout.first_ply:
                won, lost = (0, 0) if values_of is None else map(int, values[:, 0])
                yield Counts(ply, 1, won, 1 - won - lost, lost, 0), alive
                continue
            layers = (alive, np.empty(layout.layer_words[ply], np.uint64))
            mark = partial(_mark, prepared, extra, ply, layers, values)
            stretches = _stretches(layer_blocks(layout, ply), prepared.threads)
            live, terminal, won, lost = map(int, np.sum(list(pool.map(mark, stretches)), axis=0))
            alive = layers[1]
            counts = (live + terminal, won, live - won - lost, lost + terminal, terminal)
            yield Counts(ply, *counts), alive


def _mark(
    prepared: Prepared,
    extra: _forward.ForwardPlan,
    ply: int,
    layers: tuple[Alive, Alive],
    values: Values,
    blocks: Blocks,
) -> NDArray[np.int64]:
    layout, plan = prepared.layout, prepared.plan
    scratch = _forward.make_scratch(layout, plan, extra)
    plans, sides = (plan, extra), (blocks.left, blocks.right)
    _forward.forward_blocks(prepared.bits, layout.shape, plans, scratch, ply, layers, values, sides)
    return scratch.counts


def _stretches(blocks: Blocks, threads: int) -> list[Blocks]:
    """Cut a layer into stretches of blocks with about equally many words."""
    pieces = 1 if threads == 1 else STRETCHES_PER_THREAD * threads
    goals = np.linspace(0, blocks.offset[-1], pieces + 1)[1:-1]
    cuts = np.unique([0, *np.searchsorted(blocks.offset[:-1], goals), len(blocks.left)])
    return [
        Blocks(blocks.left[a:b], blocks.right[a:b], blocks.offset[a : b + 1])
        for a, b in pairwise(cuts)
    ]
