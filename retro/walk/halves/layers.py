"""The walk in memory: whole layers, one after another, on any number of threads.

    backward(prepared)   yields the layer of every ply, win and loss, the fullest first

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
from retro.walk.halves.task import Place, count_task, mirror_into, walk_task
from retro.walk.task import Tally, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from retro.walk.halves.layer import Group

__all__ = ["Layer", "Layers", "backward", "block_weights", "prepare"]

BLOCKS_AT_ONCE = 64  # mirrored by one call
TASKS_PER_THREAD = 4
COUNTED_AT_ONCE = 64  # tasks of a layer
ALL_WORDS = (0, 1 << 62)


class Layer:
    """One layer in memory: its canonical blocks, and room for those that its reader mirrors."""

    def __init__(self, prepared: Prepared, ply: int, room: Room) -> None:
        self.ply = ply
        self.groups: list[Group] = prepared.groups(ply)
        self._words = int(prepared.layout.stored_words[ply])
        self.mirrored = prepared.mirrored_blocks(ply)
        offset = prepared.layout.shape.offset
        sizes = offset[*self.mirrored, -1] - offset[*self.mirrored, 0]
        self.places = self._words + np.cumsum(sizes) - sizes  # of mirrored blocks
        length = self._words + int(sizes.sum())
        planes = prepared.planes.of(ply)
        self.values = room.words(f"layer {ply % 2}", planes, length)  # [plane, word]

    @property
    def stored(self) -> NDArray[np.uint64]:
        """The canonical blocks: [plane, word]."""
        return self.values[:, : self._words]


class Layers:
    """The layer being walked and the one it is walked from, in memory that is used again."""

    def __init__(self, prepared: Prepared, rooms: Rooms) -> None:
        self._prepared, self._rooms = prepared, rooms
        self._room = Room()

    def new(self, ply: int) -> Layer:
        """A layer to be filled; that of the ply before the last one is lost."""
        return Layer(self._prepared, ply, self._room)

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


def whole_task(prepared: Prepared, ply: int) -> Task:
    """All groups of a layer."""
    return Task("walk", ply, 0, len(prepared.groups(ply)))


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
    layout = prepared.layout
    rooms = Rooms()
    layers = Layers(prepared, rooms)
    with ThreadPoolExecutor(prepared.threads) as pool:
        there: Layer | None = None
        for ply in range(layout.plies - 1, layout.first_ply - 1, -1):
            here = layers.new(ply)
            view = None if there is None else layers.view(pool, there)

            def run(task: Task, here: Layer = here, view: View | None = view) -> None:
                with rooms.one() as room:
                    walk_task(prepared, task, Place(Own(here.values, 0), view), room)

            task = whole_task(prepared, ply)
            list(pool.map(run, split_task(task, TASKS_PER_THREAD * prepared.threads)))
            yield here
            there = here


def count_layer(prepared: Prepared, ply: int, pool: Executor, rooms: Rooms) -> Tally:
    """Count the positions of a ply, and the finished ones; nothing is known of other plies.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> prepared, rooms = prepare(Connect4Board(2, 2)), Rooms()
    >>> with ThreadPoolExecutor(1) as pool:
    ...     [count_layer(prepared, ply, pool, rooms).positions for ply in range(5)]
    [1, 2, 4, 6, 5]
    """

    def run(task: Task) -> Tally:
        with rooms.one() as room:
            return count_task(prepared, task, None, room)

    total = Tally()
    for tally in pool.map(run, split_task(whole_task(prepared, ply), COUNTED_AT_ONCE)):
        total = total.plus(tally)
    return total
