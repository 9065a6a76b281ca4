"""Where a layer that is not known yet is cut into tasks.

How many keys a group will have follows roughly from the groups that lead to it:

    guess(group) = sum over steps of keys(family - step) * moves of that step

scaled so that all of them make the forecast number of keys. Groups next to each other become a
task while the guess fits, and what they read does, too. A guess may be wrong: then the task says
so when it has too many keys, and is halved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retro.index.keys.groups import related_families
from retro.walk.keys.task import moves_from, needed_groups, view_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.walk.task import Task
    from tablebase.building.keys.tasks import KeysTasks

TASKS_PER_WORKER = 4  # of a layer, at least: so that all end at about the same time
LEAST_KEYS = 20_000  # of a task that is worth a file
CAUTION = 1.5  # how many times as large as guessed a piece may be
GROWS_AT_MOST = 3.0  # a layer of the one before, where there is no forecast


def halves_of(task: Task) -> list[Task]:
    """The groups of a task as two tasks."""
    middle = (task.first + task.last) // 2
    return [task._replace(first=middle), task._replace(last=middle)]


def guess_sizes(tasks: KeysTasks, ply: int, total: float) -> NDArray[np.float64]:
    """About how many keys each group of a ply will have, from the ply before."""
    ground, grouping = tasks.ground, tasks.ground.grouping
    sizes = tasks.sizes(ply - 1).reshape(grouping.families, grouping.shares).sum(axis=1)
    moves = moves_from(ground, *tasks.a_state(ply - 1))
    found = np.zeros(grouping.families)
    families = np.flatnonzero(sizes)
    for number, step in enumerate(moves.steps):
        after = related_families(grouping, families, moves.steps[number : number + 1], 1)
        found[after] += sizes[after - step] * (moves.cuts[number + 1] - moves.cuts[number])
    scale = total / max(1.0, float(found.sum()))
    return np.repeat(found * scale / grouping.shares, grouping.shares)


def cut_layer(tasks: KeysTasks, gap: Task, expected: float | None, workers: int) -> list[Task]:
    """Cut the groups of a task into tasks that fit; `expected` keys has the whole ply."""
    limits, ground, known = tasks.limits(gap), tasks.ground, tasks.sizes(gap.ply - 1)
    before = int(known.sum())
    total = expected if expected is not None else GROWS_AT_MOST * before
    most = max(LEAST_KEYS, total / (TASKS_PER_WORKER * workers))
    most = min(most, limits.keys / CAUTION)
    reading = gap._replace(walk="walk")
    if total <= most and view_bytes(ground, reading, before) <= (limits.view or 0):
        return [gap]  # whatever its groups have
    guess = guess_sizes(tasks, gap.ply, total)
    moves = moves_from(ground, *tasks.a_state(gap.ply - 1))

    def fits(task: Task) -> bool:
        if float(guess[task.first : task.last].sum()) > most:
            return False
        if limits.view is None:
            return True
        read = int(known[needed_groups(ground, moves, task)].sum())
        return view_bytes(ground, reading, read) <= limits.view

    found: list[Task] = []
    waiting = [gap]
    while waiting:
        task = waiting.pop()
        joined = found[-1]._replace(last=task.last) if found else task
        if found and fits(joined):
            found[-1] = joined
        elif fits(task) or task.last - task.first == 1:
            found.append(task)
        else:
            waiting += halves_of(task)
    return found
