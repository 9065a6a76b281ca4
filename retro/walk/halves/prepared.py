"""A board made ready to walk: what every task of its walks needs, made once per process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from retro.bits import BitInstructions, bit_instructions
from retro.cores import available_cores
from retro.index.halves.layout import Layout, layer_blocks, make_layout
from retro.once import once
from retro.walk.halves.classes import Classes, make_classes
from retro.walk.halves.ended import Endings, make_endings
from retro.walk.halves.layer import Group, layer_groups, mirrored_groups
from retro.walk.halves.mirror import MirrorPlan, make_mirror_plan
from retro.walk.halves.plans import Plan, make_plan
from retro.walk.halves.reading import neighbours
from retro.walk.task import Planes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.connect4.rules import Connect4Board, Connect4Position

    Profiles = NDArray[np.int64]


@dataclass(frozen=True)
class Prepared:
    """Layout and plans of a board, and how to compute."""

    layout: Layout
    plan: Plan
    bits: BitInstructions
    threads: int
    planes: Planes
    _groups: dict[int, list[Group]] = field(default_factory=dict)
    _mirrored: dict[int, list[Group]] = field(default_factory=dict)
    _readable: dict[int, tuple[list[Group], NDArray[np.int64]]] = field(default_factory=dict)

    @once
    def mirror(self) -> MirrorPlan:
        """How blocks are mirrored; made when it is first asked for, as all that follows."""
        return make_mirror_plan(self.layout)

    @once
    def classes(self) -> Classes:
        """Which positions play can reach."""
        return make_classes(self.layout, self.plan)

    @once
    def endings(self) -> Endings:
        """What counting finished positions takes beside."""
        return make_endings(self.layout, self.plan, self.classes)

    def groups(self, ply: int) -> list[Group]:
        """The groups of a layer."""
        if ply not in self._groups:
            self._groups[ply] = layer_groups(self.layout, ply)
        return self._groups[ply]

    def mirrored(self, ply: int) -> list[Group]:
        """Groups of the mirrored blocks of a layer that the next one to be walked reads.

        Their numbers go on where those of the canonical blocks end.
        """
        if ply not in self._mirrored:
            blocks = self.mirrored_blocks(ply)
            first = len(self.groups(ply))
            self._mirrored[ply] = mirrored_groups(self.layout, ply, blocks, first)
        return self._mirrored[ply]

    def readable(self, ply: int) -> list[Group]:
        """All groups of a layer that the walk may read, in the order in which their words lie."""
        return self._all(ply)[0]

    def begins(self, ply: int) -> NDArray[np.int64]:
        """The first words of these."""
        return self._all(ply)[1]

    def _all(self, ply: int) -> tuple[list[Group], NDArray[np.int64]]:
        if ply not in self._readable:
            groups = self.groups(ply) + self.mirrored(ply)
            begins = np.array([group.begin for group in groups], np.int64)
            self._readable[ply] = groups, begins
        return self._readable[ply]

    def mirrored_blocks(self, ply: int) -> tuple[Profiles, Profiles]:
        """The mirrored blocks of a layer that the next one to be walked reads."""
        layout = self.layout
        if layout.shape.stored.all() or ply <= layout.first_ply:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        readers = layer_blocks(layout, ply - 1)
        left, right = neighbours(layout, readers.left, readers.right)
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
    planes, cores = Planes(layout.board.cells, distances), threads or available_cores()
    return Prepared(layout, make_plan(layout), bit_instructions(), cores, planes)


def block_weights(prepared: Prepared, left: Profiles, right: Profiles) -> NDArray[np.int64]:
    """How many positions of the board a position of each block stands for: itself and its image."""
    layout = prepared.layout
    if layout.shape.stored.all():
        return np.ones(len(left), np.int64)
    heights = np.concatenate((layout.left.heights[left], layout.right.heights[right]), axis=1)
    return np.where((heights == heights[:, ::-1]).all(axis=1), 1, 2)
