"""How the mirrored blocks of a layer are cut into tasks.

A giant block is made by rectangles: those of a task are made together, from one rectangle of the
image at a time, so a task needs room for its own and for the largest that it reads.

    made   | q = 0 |  1  |  2  |  3  | ...        tasks     | 0, 1 | 2 | 3, 4, ...
    image  | q = 5 |  4  |  3  |  2  | ...        made from | 5, 4, 3 | ...

Cutting a rectangle in two makes it twice, for every tile has rows of both: only one that does
not fit is cut.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from retro.walk.halves.layer import is_strip
from retro.walk.halves.mirror import mirror_image
from retro.walk.halves.task import feeding_rectangles, task_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retro.walk.halves.layer import Group
    from retro.walk.halves.prepared import Prepared
    from retro.walk.task import Task


def mirror_tasks(prepared: Prepared, task: Task, memory: int, pieces: int) -> list[Task]:
    """Cut a task of mirrored groups into some of at most so many bytes, in about so many pieces."""
    groups = task_groups(prepared, task)
    limit = memory // (8 * prepared.planes.of(task.ply))
    piece = sum(group.end - group.begin for group in groups) // pieces
    tasks: list[Task] = []
    start, own, source = groups[0], 0, 0
    for run in _made_together(prepared, groups):
        words, reads = sum(group.end - group.begin for group in run), _source(prepared, run)
        # Blocks that nobody reads leave gaps, which a task's words span.
        fits = run[-1].end - start.begin + max(source, reads) <= limit
        if own and not (fits and own + words <= piece):
            tasks.append(_ending(task, start, run[0].number, memory))
            start, own, source = run[0], 0, 0
        for group in run:
            if own and group.end - start.begin + max(source, reads) > limit:
                tasks.append(_ending(task, start, group.number, memory))
                start, own, source = group, 0, 0
            own, source = own + group.end - group.begin, max(source, reads)
    tasks.append(_ending(task, start, task.last, memory))
    return tasks


def _ending(task: Task, start: Group, last: int, memory: int) -> Task:
    """The groups of a task from one on to before another."""
    return task._replace(first=start.number, last=last, memory=memory)


def _made_together(prepared: Prepared, groups: list[Group]) -> Iterator[list[Group]]:
    """Groups of the same rectangle of a giant block, and every other group by itself."""
    layout = prepared.layout

    def rectangle(group: Group) -> tuple[int, ...]:
        if not is_strip(layout, group):
            return (group.number,)
        block = int(group.left[0]), int(group.right[0])
        q = np.searchsorted(layout.shape.offset[block], group.begin, side="right")
        return (*block, int(q))

    return (list(run) for _, run in groupby(groups, rectangle))


def _source(prepared: Prepared, run: list[Group]) -> int:
    """Words of the largest piece of the images that groups made together are made from."""
    layout, offset = prepared.layout, prepared.layout.shape.offset
    left, right = run[0].left, run[0].right
    images = mirror_image(layout, prepared.mirror, left, right)
    if not is_strip(layout, run[0]):
        return int((offset[*images, -1] - offset[*images, 0]).max(initial=0))
    whole = run[0]._replace(end=run[-1].end)
    sizes = np.diff(offset[images][0])
    return int(sizes[feeding_rectangles(layout, whole)].max(initial=0))
