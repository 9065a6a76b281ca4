"""The walks as Python sees them: layer by layer, on any number of threads, in bounded memory.

    backward(prepared)   yields the layer of every ply, win and loss, the fullest first
    forward(prepared)    yields (tally, layer) of every ply, one plane: alive, the root first

A layer is walked from its *neighbour*, the one walked before it. Its groups
are dealt out to threads; every block writes words of its own, so the bytes do
not depend on the number of threads or on who comes first. What a group reads
of the neighbour is known beforehand: some groups, and the mirror images of
some blocks. So a layer is walked in batches of groups that fit into memory:

    bring in    what the batch reads and what is not there: groups are recalled
                from the keeper, mirrored blocks made from their images
    walk        every group of the batch, then hand it to the keeper
    drop        when memory runs short: first what no later batch reads, then
                finished groups, then what only later batches read

Without a limit there is one batch, nothing is dropped, and nothing recalled.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from retro.errors import DoesNotFitError
from retro.index.layout import Layout, make_layout
from retro.walk import backward as _backward
from retro.walk import forward as _forward
from retro.walk import mirror as _mirror
from retro.walk.bits import BitInstructions, bit_instructions
from retro.walk.layer import Group, Layer
from retro.walk.plans import Plan, make_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from retro.games.connect import Board, Position

    Values = NDArray[np.uint64]  # [plane, word]: plane 0 is win, plane 1 is loss
    Profiles = NDArray[np.int64]

BLOCKS_AT_ONCE = 64  # mirrored by one task


class Tally(NamedTuple):
    """What the forward walk counts: positions that are alive, and those with a completed line."""

    alive: int
    terminal: int


class Keeper(Protocol):
    """Takes finished groups, and knows those of an earlier run. Called from several threads."""

    def recall(self, ply: int, group: Group, values: Values) -> Tally | None:
        """Fill a group's words in place if it was kept, and return its tally; else None."""
        ...

    def finish(self, ply: int, group: Group, values: Values, tally: Tally) -> None:
        """A group is in `values`, walked or recalled. Called once for every group."""
        ...


class NoKeeper:
    """Keeps nothing: for walks that stay in memory."""

    def recall(self, ply: int, group: Group, values: Values) -> Tally | None:
        return None

    def finish(self, ply: int, group: Group, values: Values, tally: Tally) -> None:
        pass


@dataclass(frozen=True)
class Prepared:
    """A board made ready to walk: layout and plan, and how to compute."""

    layout: Layout
    plan: Plan
    mirror: _mirror.MirrorPlan
    bits: BitInstructions
    threads: int


def prepare(
    board: Board,
    left_columns: int | None = None,
    threads: int | None = None,
    root: Position | None = None,
) -> Prepared:
    """Make a board, or what extends a root on it, ready to walk; by default on all cores."""
    return prepare_layout(make_layout(board, left_columns, root), threads)


def prepare_layout(layout: Layout, threads: int | None = None) -> Prepared:
    """Make a layout ready to walk, by default on all cores."""
    plans = make_plan(layout), _mirror.make_mirror_plan(layout)
    return Prepared(layout, *plans, bit_instructions(), threads or available_cores())


def available_cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def block_weights(prepared: Prepared, left: Profiles, right: Profiles) -> NDArray[np.int64]:
    """How many positions of the board a position of each block stands for: itself and its image."""
    if prepared.layout.shape.stored.all():
        return np.ones(len(left), np.int64)
    image = _mirror.mirror_image(prepared.layout, prepared.mirror, left, right)
    return np.where((image[0] == left) & (image[1] == right), 1, 2)


def backward(
    prepared: Prepared,
    keeper: Keeper = NoKeeper(),  # noqa: B008 (it has no state)
    *,
    first_ply: int | None = None,
    memory: int | None = None,
) -> Iterator[Layer]:
    """Yield the layer of every ply, win and loss plane, the fullest first.

    To go on with an interrupted walk, say with which ply; the layer above is
    then recalled from the keeper. `memory` is how many bytes layers may take.

    >>> from retro.games.connect import Board
    >>> layer = list(backward(prepare(Board(6, 4))))[-1]
    >>> layer.ply, [int(plane[0]) for plane in layer.stored]  # the empty board: no win, a loss
    (0, [0, 1])
    """
    layout = prepared.layout
    last = layout.plies - 1
    first_ply = last if first_ply is None else first_ply

    def walk(ply: int, here: Layer, there: Layer | None, group: Group) -> Tally:
        after = np.zeros((2, 0), np.uint64) if there is None else there.values
        scratch = _backward.make_scratch(layout, prepared.plan)
        sides = (group.left, group.right)
        _backward.walk_blocks(
            prepared.bits, layout.shape, prepared.plan, scratch, ply, here.values, after, sides
        )
        return Tally(0, 0)

    there = Layer(layout, first_ply + 1, 2) if first_ply < last else None
    with ThreadPoolExecutor(prepared.threads) as pool:
        for ply in range(first_ply, layout.first_ply - 1, -1):
            here = Layer(layout, ply, 2)
            step = _Step(prepared, pool, keeper, here, there, _successors(layout), memory)
            step.run(walk)
            yield here
            there = here


def forward(
    prepared: Prepared,
    keeper: Keeper = NoKeeper(),  # noqa: B008 (it has no state)
    *,
    first_ply: int | None = None,
    memory: int | None = None,
) -> Iterator[tuple[Tally, Layer]]:
    """Yield the tally of every ply and its layer: the plane of live reachable positions.

    The tally counts both of a mirror pair, the plane has one of them.
    `first_ply` and `memory` as in `backward`.

    >>> from retro.games.connect import Board
    >>> [sum(tally) for tally, layer in forward(prepare(Board(2, 2)))]
    [1, 2, 4, 6, 5]
    """
    layout = prepared.layout
    extra = _forward.make_forward_plan(layout, prepared.plan)

    def walk(ply: int, here: Layer, there: Layer | None, group: Group) -> Tally:
        if there is None:
            here.values[0, group.begin] = 1  # the root is alone in its layer
            return Tally(1, 0)
        weights = block_weights(prepared, group.left, group.right)
        counts = np.zeros(2, np.int64)
        for weight in (1, 2):
            scratch = _forward.make_scratch(layout, prepared.plan, extra)
            sides = (group.left[weights == weight], group.right[weights == weight])
            planes, layers = (prepared.plan, extra), (there.values[0], here.values[0])
            _forward.forward_blocks(
                prepared.bits, layout.shape, planes, scratch, ply, layers, sides
            )
            counts += weight * scratch.counts
        return Tally(int(counts[_forward.ALIVE]), int(counts[_forward.TERMINAL]))

    first_ply = layout.first_ply if first_ply is None else first_ply
    there = Layer(layout, first_ply - 1, 1) if first_ply > layout.first_ply else None
    with ThreadPoolExecutor(prepared.threads) as pool:
        for ply in range(first_ply, layout.plies):
            here = Layer(layout, ply, 1)
            step = _Step(prepared, pool, keeper, here, there, _predecessors(layout), memory)
            yield step.run(walk), here
            there = here


def _successors(layout: Layout) -> Callable[[Profiles, Profiles], tuple[Profiles, Profiles]]:
    return partial(_neighbours, layout, 1)


def _predecessors(layout: Layout) -> Callable[[Profiles, Profiles], tuple[Profiles, Profiles]]:
    return partial(_neighbours, layout, -1)


def _neighbours(
    layout: Layout, step: int, left: Profiles, right: Profiles
) -> tuple[Profiles, Profiles]:
    """The profiles that one stone more (or less) makes of some profiles, each once."""
    found = []
    for half, own in ((layout.left, left), (layout.right, right)):
        for column in range(half.geometry.width):
            limit = half.heights[0, column] if step < 0 else layout.board.height
            movable = half.heights[own, column] != limit
            sides = [left[movable], right[movable]]
            sides[0 if half is layout.left else 1] += step * half.radix[column]
            found.append(sides[0] * len(layout.right.stones) + sides[1])
    blocks = np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)
    return np.divmod(blocks, len(layout.right.stones))


class _Need(NamedTuple):
    """What some groups read of the neighbour."""

    groups: NDArray[np.int64]  # those of mirror images, too
    mirrored: tuple[Profiles, Profiles]


class _Step:
    """The walk of one layer from its neighbour."""

    def __init__(
        self,
        prepared: Prepared,
        pool: ThreadPoolExecutor,
        keeper: Keeper,
        here: Layer,
        there: Layer | None,
        neighbours: Callable[[Profiles, Profiles], tuple[Profiles, Profiles]],
        memory: int | None,
    ) -> None:
        self.prepared, self.pool, self.keeper = prepared, pool, keeper
        self.here, self.there, self.memory = here, there, memory
        self.neighbours = neighbours

    def run(self, walk: Callable[[int, Layer, Layer | None, Group], Tally]) -> Tally:
        """Walk every group; return the sum of their tallies."""

        def walk_group(group: Group) -> Tally:
            tally = self.keeper.recall(self.here.ply, group, self.here.values)
            if tally is None:
                tally = walk(self.here.ply, self.here, self.there, group)
            self.here.present[group.number] = True
            self.keeper.finish(self.here.ply, group, self.here.values, tally)
            return tally

        total = Tally(0, 0)
        for batch, need in self._batches():
            self._bring(need)
            for tally in self.pool.map(walk_group, batch):
                total = Tally(total.alive + tally.alive, total.terminal + tally.terminal)
        return total

    def _batches(self) -> Iterator[tuple[Sequence[Group], _Need]]:
        """Cut the layer into batches that fit into memory with all that they read."""
        groups = self.here.groups
        if self.memory is None:
            yield groups, self._need(groups)
            return
        begin = 0
        while begin < len(groups):
            end = begin + 1
            need = self._need(groups[begin:end])
            if self._bytes(groups[begin:end], need) > self.memory:
                raise DoesNotFitError(
                    f"one group of ply {self.here.ply} and what it reads take "
                    f"{self._bytes(groups[begin:end], need):,} bytes, "
                    f"but layers may take {self.memory:,}"
                )
            while end < len(groups):
                more = self._need(groups[begin : end + 1])
                if self._bytes(groups[begin : end + 1], more) > self.memory:
                    break
                end, need = end + 1, more
            self._make_room(begin, end, need)
            yield groups[begin:end], need
            begin = end

    def _need(self, groups: Sequence[Group]) -> _Need:
        nothing = np.zeros(0, np.int64)
        if self.there is None:
            return _Need(nothing, (nothing, nothing))
        left = np.concatenate([group.left for group in groups])
        right = np.concatenate([group.right for group in groups])
        left, right = self.neighbours(left, right)
        stored = self.prepared.layout.shape.stored[left, right]
        mirrored = left[~stored], right[~stored]
        images = _mirror.mirror_image(self.prepared.layout, self.prepared.mirror, *mirrored)
        blocks = np.append(left[stored], images[0]), np.append(right[stored], images[1])
        return _Need(np.unique(self.there.group_of(*blocks)), mirrored)

    def _bytes(self, groups: Sequence[Group], need: _Need) -> int:
        own = self.here.group_bytes(np.array([group.number for group in groups]))
        if self.there is None:
            return own
        return own + self.there.group_bytes(need.groups) + self.there.block_bytes(*need.mirrored)

    def _make_room(self, begin: int, end: int, need: _Need) -> None:
        """Drop what this batch does not read until what it reads fits."""
        here, there = self.here, self.there
        assert self.memory is not None
        room = self.memory - self._bytes(here.groups[begin:end], need)

        def others() -> int:
            """Memory of what is there and not part of this batch."""
            there_now = 0
            if there is not None:
                is_read = np.zeros_like(there.present)
                is_read[need.groups] = True
                there_now = there.group_bytes(np.flatnonzero(there.present & ~is_read))
                made = there.is_made.copy()
                made[need.mirrored] = False
                there_now += there.block_bytes(*np.nonzero(made))
            return there_now + here.group_bytes(np.flatnonzero(here.present))

        if there is not None and others() > room:
            self._drop_but(self._need(here.groups[begin:]))
        if others() > room:
            here.drop_groups(np.flatnonzero(here.present))
        if there is not None and others() > room:
            self._drop_but(need)

    def _drop_but(self, need: _Need) -> None:
        """Drop of the neighbour what is not needed."""
        assert self.there is not None
        unread = self.there.present.copy()
        unread[need.groups] = False
        self.there.drop_groups(np.flatnonzero(unread))
        made = self.there.is_made.copy()
        made[need.mirrored] = False
        self.there.drop_blocks(*np.nonzero(made))

    def _bring(self, need: _Need) -> None:
        """Bring in what is needed of the neighbour and not there: groups, then mirrored blocks."""
        there = self.there
        if there is None:
            return
        missing = need.groups[~there.present[need.groups]]
        list(self.pool.map(self._recall, [there.groups[number] for number in missing]))
        left, right = need.mirrored
        is_new = ~there.is_made[left, right]
        left, right = left[is_new], right[is_new]
        pieces = [slice(i, i + BLOCKS_AT_ONCE) for i in range(0, len(left), BLOCKS_AT_ONCE)]
        list(self.pool.map(self._mirror, [(left[piece], right[piece]) for piece in pieces]))

    def _recall(self, group: Group) -> None:
        assert self.there is not None
        if self.keeper.recall(self.there.ply, group, self.there.values) is None:
            raise LookupError(f"group {group.number} of ply {self.there.ply} was not kept")
        self.there.present[group.number] = True

    def _mirror(self, targets: tuple[Profiles, Profiles]) -> None:
        layout, plan = self.prepared.layout, self.prepared.mirror
        assert self.there is not None
        sources = _mirror.mirror_image(layout, plan, *targets)
        scratch = _mirror.make_scratch(plan)
        _mirror.mirror_blocks(
            self.prepared.bits, layout.shape, plan, scratch,
            self.there.values, targets, sources,
        )  # fmt: skip
        self.there.is_made[targets] = True
