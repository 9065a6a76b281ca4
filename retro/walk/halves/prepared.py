"""A board made ready to walk: what every task of its walks needs, made once per process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from retro.bits import BitInstructions, bit_instructions
from retro.cores import available_cores
from retro.index.halves.layout import Layout, layer_blocks, make_layout
from retro.once import once
from retro.walk.halves import forward, mirror
from retro.walk.halves.layer import Group, layer_groups, mirrored_groups
from retro.walk.halves.plans import Plan, make_plan
from retro.walk.halves.reading import neighbours
from retro.walk.task import STEP, Planes, Walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.connect4.rules import Connect4Board, Connect4Position

    Profiles = NDArray[np.int64]


@dataclass(frozen=True)
class Prepared:
    """Layout and plans of a board, and how to compute."""

    layout: Layout
    plan: Plan
    mirror: mirror.MirrorPlan
    bits: BitInstructions
    threads: int
    planes: Planes
    _groups: dict[int, list[Group]] = field(default_factory=dict)
    _mirrored: dict[tuple[Walk, int], list[Group]] = field(default_factory=dict)
    _readable: dict[tuple[Walk, int], tuple[list[Group], NDArray[np.int64]]] = field(
        default_factory=dict
    )

    @once
    def forward(self) -> forward.ForwardPlan:
        """What the forward walk needs beside; made when it is first asked for."""
        return forward.make_forward_plan(self.layout, self.plan)

    def forget_forward(self) -> None:
        """The forward walk is done: give back what only that needs. Asked for, it is made again."""
        self.__dict__.pop("forward", None)

    def groups(self, ply: int) -> list[Group]:
        """The groups of a layer."""
        if ply not in self._groups:
            self._groups[ply] = layer_groups(self.layout, ply)
        return self._groups[ply]

    def mirrored(self, walk: Walk, ply: int) -> list[Group]:
        """Groups of the mirrored blocks of a layer that the next one to be walked reads.

        Their numbers go on where those of the canonical blocks end.
        """
        if (walk, ply) not in self._mirrored:
            blocks = self.mirrored_blocks(walk, ply)
            first = len(self.groups(ply))
            self._mirrored[walk, ply] = mirrored_groups(self.layout, ply, blocks, first)
        return self._mirrored[walk, ply]

    def readable(self, walk: Walk, ply: int) -> list[Group]:
        """All groups of a layer that a walk may read, in the order in which their words lie."""
        return self._all(walk, ply)[0]

    def begins(self, walk: Walk, ply: int) -> NDArray[np.int64]:
        """The first words of these."""
        return self._all(walk, ply)[1]

    def _all(self, walk: Walk, ply: int) -> tuple[list[Group], NDArray[np.int64]]:
        if (walk, ply) not in self._readable:
            groups = self.groups(ply) + self.mirrored(walk, ply)
            begins = np.array([group.begin for group in groups], np.int64)
            self._readable[walk, ply] = groups, begins
        return self._readable[walk, ply]

    def mirrored_blocks(self, walk: Walk, ply: int) -> tuple[Profiles, Profiles]:
        """The mirrored blocks of a layer that the next one to be walked reads."""
        layout, reader = self.layout, ply - STEP[walk]
        if layout.shape.stored.all() or not layout.first_ply <= reader < layout.plies:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        readers = layer_blocks(layout, reader)
        left, right = neighbours(layout, STEP[walk], readers.left, readers.right)
        is_made = ~layout.shape.stored[left, right]
        return left[is_made], right[is_made]


def prepare(
    board: Connect4Board,
    left_columns: int | None = None,
    threads: int | None = None,
    root: Connect4Position | None = None,
    *,
    distances: bool = False,
) -> Prepared:
    """Make a board, or what extends a root on it, ready to walk; by default on all cores."""
    return prepare_layout(make_layout(board, left_columns, root), threads, distances=distances)


def prepare_layout(
    layout: Layout, threads: int | None = None, *, distances: bool = False
) -> Prepared:
    """Make a layout ready to walk, by default on all cores and without distances."""
    plans = make_plan(layout), mirror.make_mirror_plan(layout)
    planes = Planes(layout.board.cells, distances)
    return Prepared(layout, *plans, bit_instructions(), threads or available_cores(), planes)


def block_weights(prepared: Prepared, left: Profiles, right: Profiles) -> NDArray[np.int64]:
    """How many positions of the board a position of each block stands for: itself and its image."""
    if prepared.layout.shape.stored.all():
        return np.ones(len(left), np.int64)
    image = mirror.mirror_image(prepared.layout, prepared.mirror, left, right)
    return np.where((image[0] == left) & (image[1] == right), 1, 2)
