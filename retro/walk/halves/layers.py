"""The walks in memory: whole layers, one after another, on any number of threads.

    backward(prepared)   yields the layer of every ply, win and loss, the fullest first
    forward(prepared)    yields (tally, layer) of every ply, one plane: alive, the root first

A layer is walked from its *neighbour*, the one walked before it, by tasks
(`retro.walk.task`) that threads share: every group writes words of its own, so the
bytes do not depend on the number of threads or on who comes first.
"""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from retro.index.halves.layout import layer_blocks
from retro.walk.halves.layer import Own, Room, Rooms, View, make_view
from retro.walk.halves.mirror import Made, mirror_image
from retro.walk.halves.prepared import Prepared, block_weights, prepare
from retro.walk.halves.task import Place, mirror_into, walk_task
from retro.walk.task import STEP, Tally, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from retro.walk.halves.layer import Group
    from retro.walk.task import Walk

__all__ = ["Layer", "Layers", "Tally", "backward", "block_weights"]
__all__ += ["forward", "prepare"]

BLOCKS_AT_ONCE = 64  # mirrored by one call
TASKS_PER_THREAD = 4
ALL_WORDS = (0, 1 << 62)


class Layer:
    """One layer in memory: its canonical blocks, and room for those that its reader mirrors."""

    def __init__(self, prepared: Prepared, walk: Walk, ply: int, room: Room) -> None:
        self.walk: Walk = walk
        self.ply = ply
        self.groups: list[Group] = prepared.groups(ply)
        self._words = int(prepared.layout.stored_words[ply])
        self.mirrored = prepared.mirrored_blocks(walk, ply)
        offset = prepared.layout.shape.offset
        sizes = offset[*self.mirrored, -1] - offset[*self.mirrored, 0]
        self.places = self._words + np.cumsum(sizes) - sizes  # of mirrored blocks
        length = self._words + int(sizes.sum())
        planes = prepared.planes.of(walk, ply)
        self.values = room.words(f"layer {ply % 2}", planes, length)  # [plane, word]

    @property
    def stored(self) -> NDArray[np.uint64]:
        """The canonical blocks: [plane, word]."""
        return self.values[:, : self._words]


class Layers:
    """The layer being walked and the one it is walked from, in memory that is used again."""

    def __init__(self, prepared: Prepared, walk: Walk, rooms: Rooms) -> None:
        self.walk: Walk = walk
        self._prepared, self._rooms = prepared, rooms
        self._room = Room()

    def new(self, ply: int) -> Layer:
        """A layer to be filled; that of the ply before the last one is lost."""
        return Layer(self._prepared, self.walk, ply, self._room)

    def view(self, pool: Executor, layer: Layer) -> View:
        """A view of a filled layer for the next one to be walked; makes what that mirrors."""
        layout = self._prepared.layout
        left, right = layer.mirrored
        stored = layer_blocks(layout, layer.ply)
        blocks = np.append(stored.left, left), np.append(stored.right, right)
        shift = np.append(
            np.zeros_like(stored.left), layer.places - layout.shape.offset[left, right, 0]
        )
        view = make_view(layout, layer.values, blocks, shift)

        def mirror(begin: int) -> None:
            some = slice(begin, begin + BLOCKS_AT_ONCE)
            made = Made(view, ALL_WORDS, left[some], right[some], -1)
            images = mirror_image(layout, self._prepared.mirror, left[some], right[some])
            with self._rooms.one() as room:
                mirror_into(self._prepared, view, made, images, room)

        list(pool.map(mirror, range(0, len(left), BLOCKS_AT_ONCE)))
        return view


def whole_task(prepared: Prepared, walk: Walk, ply: int) -> Task:
    """All groups of a layer."""
    return Task(walk, ply, 0, len(prepared.groups(ply)))


def split_task(task: Task, pieces: int) -> list[Task]:
    """Cut a task into about so many of equal numbers of groups."""
    cuts = np.linspace(task.first, task.last, min(pieces, task.last - task.first) + 1)
    bounds = cuts.astype(int).tolist()
    return [task._replace(first=a, last=b) for a, b in pairwise(bounds)]


def backward(prepared: Prepared) -> Iterator[Layer]:
    """Yield the layer of every ply, win and loss plane and those of numbers, the fullest first.

    A layer's words are lost two layers later.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> *_, layer = backward(prepare(Connect4Board(6, 4)))
    >>> layer.ply, [int(plane[0]) for plane in layer.stored]  # the empty board: no win, a loss
    (0, [0, 1])
    """
    for _, layer in _walk(prepared, "walk"):
        yield layer


def forward(prepared: Prepared) -> Iterator[tuple[Tally, Layer]]:
    """Yield the tally of every ply and its layer: the plane of live reachable positions.

    The tally counts both of a mirror pair, the plane has one of them.
    A layer's words are lost two layers later.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> [tally.alive + tally.terminal for tally, layer in forward(prepare(Connect4Board(2, 2)))]
    [1, 2, 4, 6, 5]
    """
    assert prepared.forward  # made here, not by every thread
    yield from _walk(prepared, "alive")


def _walk(prepared: Prepared, walk: Walk) -> Iterator[tuple[Tally, Layer]]:
    layout = prepared.layout
    plies = range(layout.first_ply, layout.plies)
    rooms = Rooms()
    layers = Layers(prepared, walk, rooms)
    with ThreadPoolExecutor(prepared.threads) as pool:
        there: Layer | None = None
        for ply in plies if STEP[walk] < 0 else reversed(plies):
            here = layers.new(ply)
            task = whole_task(prepared, walk, ply)
            view = None if there is None else layers.view(pool, there)

            def run(task: Task, here: Layer = here, view: View | None = view) -> Tally:
                with rooms.one() as room:
                    return walk_task(prepared, task, Place(Own(here.values, 0), view), room)

            total = Tally()
            for tally in pool.map(run, split_task(task, TASKS_PER_THREAD * prepared.threads)):
                total = total.plus(tally)
            yield total, here
            there = here
