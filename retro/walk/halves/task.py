"""One task of a walk: some neighbouring groups of one layer, from the layer beside it.

    step        some of its groups, or some rows of one, that fit into memory with all they read
      fetch     what they read of the next layer, as a *view*
      walk      values from those of the next layer
    count       positions that play can reach, won, lost and finished ones: see `count`
    blank       what one look at a board decides, for the file

Groups of mirrored blocks are made from their images in the same layer, by tasks of their own,
so whoever walks finds them as it finds any other.

A task is a pure function of the board and of the groups it fetches: it opens no
file and shares nothing with other tasks, so it can run anywhere, at any time,
twice or in two places at once, and always gives the same words. Whoever runs it
says how groups are fetched, and packs and keeps what it gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from retro.index.halves.layout import layer_blocks
from retro.walk.halves import backward as _backward
from retro.walk.halves import blank as _blank
from retro.walk.halves.count import Sums, count_group, fill_live_rows
from retro.walk.halves.count_planes import Known, make_scratch
from retro.walk.halves.layer import Group, Own, Room, View, is_strip, row_begin
from retro.walk.halves.mirror import Made, mirror_blocks, mirror_image
from retro.walk.halves.mirror import make_scratch as mirror_scratch
from retro.walk.halves.prepared import Prepared, block_weights
from retro.walk.halves.reading import Reads, block_reads, find_reads
from retro.walk.task import Tally, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from retro.index.halves.layout import Layout

    Words = NDArray[np.uint64]
    Profiles = NDArray[np.int64]

Scratch = TypeVar("Scratch")


class Stretch(NamedTuple):
    """Words of a layer, and where they are wanted."""

    begin: int
    end: int
    place: int


class Fetch(Protocol):
    """Fills planes in place with stretches of a group, each at its place."""

    def __call__(
        self, ply: int, group: Group, wanted: Sequence[Stretch], planes: Words
    ) -> None: ...


def is_mirrored(prepared: Prepared, task: Task) -> bool:
    """Whether a task makes mirrored blocks, and walks nothing."""
    return task.first >= len(prepared.groups(task.ply))


def task_groups(prepared: Prepared, task: Task) -> list[Group]:
    """The groups of a task."""
    groups = prepared.groups(task.ply)
    if is_mirrored(prepared, task):
        first = len(groups)
        return prepared.mirrored(task.ply)[task.first - first : task.last - first]
    return groups[task.first : task.last]


def is_first_layer(prepared: Prepared, task: Task) -> bool:
    """Whether a task has no layer to read: the full board's."""
    return task.ply == prepared.layout.plies - 1


class Step(NamedTuple):
    """Some groups of a task, or some rows of one, and what is read for them."""

    group: Group
    reads: Reads | None  # of the neighbouring layer; of their own, if they are mirrored
    only: int = -1  # rows of a mirrored block: the rectangle of its image that is read
    is_first: bool = True  # of the steps that make these rows


def walk_alone(prepared: Prepared, task: Task, fetch: Fetch, room: Room) -> Own:
    """Walk a task step by step, fetching what each step reads, within the task's memory.

    All lies in one array, so that a worker who keeps it has never more than one task's words.
    """
    groups, planes = task_groups(prepared, task), prepared.planes.of(task.ply)
    begin, length = groups[0].begin, groups[-1].end - groups[0].begin
    is_made = is_mirrored(prepared, task)
    find = _mirror_steps if is_made else _walk_steps
    steps = list(find(prepared, task, groups, task.memory // (8 * planes) - length))
    most = max((step.reads.words for step in steps if step.reads is not None), default=0)
    words = room.words("task", 1, planes * (length + most))[0]
    own = Own(words[: planes * length].reshape(planes, length), begin)
    ply = task.ply if is_made else task.ply + 1
    there_planes = prepared.planes.of(ply)  # never more than here
    for step in steps:
        there = None
        if step.reads is not None:
            end = planes * length + there_planes * step.reads.words
            values = words[planes * length : end].reshape(there_planes, step.reads.words)
            fetch_words(prepared, ply, step.reads, fetch, values)
            slot = _slots(prepared, room, "read", step.reads.left, step.reads.right)
            there = View(values, slot, step.reads.base)
        if is_made:
            assert there is not None
            _mirror(prepared, step, own, there, room)
        else:
            _walk(prepared, task.ply, step.group, Place(own, there), room)
    return own


def _walk_steps(
    prepared: Prepared, task: Task, groups: Sequence[Group], free: int
) -> Iterator[Step]:
    """Cut groups into steps that read at most `free` words of a plane, or one row each."""
    if is_first_layer(prepared, task):
        yield from (Step(group, None) for group in groups)
        return
    waiting = [_merged(run) for run in _runs(prepared, groups)][::-1]
    while waiting:
        group = waiting.pop()
        reads = find_reads(prepared, task.ply, group)
        halves = _halves(prepared, group) if reads.words > free else []
        if halves:
            waiting += reversed(halves)
        else:
            yield Step(group, reads)


def _mirror_steps(
    prepared: Prepared, task: Task, groups: Sequence[Group], free: int
) -> Iterator[Step]:
    """Cut groups of mirrored blocks into steps whose images have at most `free` words of a plane.

    A giant block is made from one rectangle of its image at a time.
    """
    layout = prepared.layout
    for run in _runs(prepared, groups):
        whole = _merged(run)
        if is_strip(layout, run[0]):
            image = mirror_image(layout, prepared.mirror, whole.left, whole.right)
            for number, q in enumerate(feeding_rectangles(layout, whole)):
                yield Step(whole, _rectangle_reads(layout, image, q), q, is_first=not number)
            continue
        waiting = [whole]
        while waiting:
            group = waiting.pop()
            images = mirror_image(layout, prepared.mirror, group.left, group.right)
            reads = block_reads(layout, *images)
            if reads.words > free and len(group.left) > 1:
                waiting += _halves(prepared, group)
            else:
                yield Step(group, reads)


def _rectangle_reads(layout: Layout, block: tuple[Profiles, Profiles], q: int) -> Reads:
    """One rectangle of a block."""
    offset = layout.shape.offset[block]
    return Reads(*block, np.zeros_like(offset), offset[:, q], offset[:, q + 1])


def _runs(prepared: Prepared, groups: Sequence[Group]) -> list[list[Group]]:
    """Neighbouring groups of whole blocks together, and the strips of each block together."""
    runs: list[list[Group]] = []
    block: tuple[int, int] | None = None
    for group in groups:
        of = (int(group.left[0]), int(group.right[0])) if is_strip(prepared.layout, group) else None
        if runs and of == block:
            runs[-1].append(group)
        else:
            runs.append([group])
        block = of
    return runs


def _merged(groups: Sequence[Group]) -> Group:
    """Neighbouring groups as one."""
    first, last = groups[0], groups[-1]
    if len(groups) == 1 or last.left is first.left:
        return first._replace(end=last.end)
    left = np.concatenate([group.left for group in groups])
    right = np.concatenate([group.right for group in groups])
    return Group(first.number, left, right, first.begin, last.end)


def _halves(prepared: Prepared, step: Group) -> list[Group]:
    """Cut a step in two, between blocks or between rows; none if it is a row."""
    layout, number = prepared.layout, len(step.left)
    if number > 1:
        offset = layout.shape.offset[step.left, step.right, 0]
        half = int(np.searchsorted(offset, (step.begin + step.end) // 2))
        half = min(max(half, 1), number - 1)
        cut = int(offset[half])
        return [
            step._replace(left=step.left[:half], right=step.right[:half], end=cut),
            step._replace(left=step.left[half:], right=step.right[half:], begin=cut),
        ]
    cut = _middle_row(prepared, step)
    if cut == step.begin:
        return []
    return [step._replace(end=cut), step._replace(begin=cut)]


def _middle_row(prepared: Prepared, step: Group) -> int:
    """The first word of the row in the middle of a strip."""
    layout, block = prepared.layout, (int(step.left[0]), int(step.right[0]))
    cut = row_begin(layout, *block, (step.begin + step.end) // 2)
    if cut > step.begin or step.begin == step.end:
        return cut
    # The middle is in the first row; the second row begins where that one ends, if there is one.
    shape = layout.shape
    offset = shape.offset[block]
    q = int(np.searchsorted(offset, step.begin, side="right")) - 1
    total = (int(shape.left_stones[block[0]] + shape.right_stones[block[1]]) + 1) // 2
    second = step.begin + int(shape.row_words[block[0], total - q])
    return second if second < step.end else step.begin


def fetch_words(prepared: Prepared, ply: int, reads: Reads, fetch: Fetch, values: Words) -> None:
    """Fill planes with stretches of a layer, one after another; in place."""
    groups, begins = prepared.readable(ply), prepared.begins(ply)
    wanted: dict[int, list[Stretch]] = {}
    place = 0
    for begin, end in zip(reads.begin.tolist(), reads.end.tolist(), strict=True):
        number = int(np.searchsorted(begins, begin, side="right")) - 1
        at = begin
        while at < end:
            until = min(end, groups[number].end)
            wanted.setdefault(number, []).append(Stretch(at, until, place + at - begin))
            at = until
            number += 1
        place += end - begin
    for number in sorted(wanted):
        fetch(ply, groups[number], sorted(wanted[number]), values)


def _slots(
    prepared: Prepared, room: Room, name: str, left: Profiles, right: Profiles
) -> NDArray[np.int32]:
    """Which row of a view's `base` each block has; one table a room, used again and again."""

    def make() -> tuple[NDArray[np.int32], list[tuple[Profiles, Profiles]]]:
        return np.full(prepared.layout.shape.stored.shape, -1, np.int32), []

    slot, last = _scratch(room, f"slots {name}", make)
    if last:
        slot[last.pop()] = -1
    slot[left, right] = np.arange(len(left), dtype=np.int32)
    last.append((left, right))
    return slot


def feeding_rectangles(layout: Layout, strip: Group) -> list[int]:
    """The rectangles of its image that rows of a mirrored block are made from."""
    shape, (left, right) = layout.shape, (int(strip.left[0]), int(strip.right[0]))
    offset = shape.offset[left, right]
    stones = int(shape.left_stones[left]), int(shape.right_stones[right])
    total = (sum(stones) + 1) // 2
    outer = left % len(shape.right_stones)  # its image's right half has these stones
    middle = stones[0] - int(shape.right_stones[outer])
    found: set[int] = set()
    for q in range(stones[1] + 1):
        if max(offset[q], strip.begin) < min(offset[q + 1], strip.end):
            found |= {total - q - inside for inside in range(middle + 1)}
    return sorted(q for q in found if 0 <= q <= shape.right_stones[outer])


def _mirror(prepared: Prepared, step: Step, own: Own, view: View, room: Room) -> None:
    """Make mirrored blocks, or rows of one, from their images in a view; in place."""
    group = step.group
    if step.only >= 0 and step.is_first:
        own.values[:, group.begin - own.origin : group.end - own.origin] = 0
    slot = _slots(prepared, room, "made", group.left, group.right)
    base = prepared.layout.shape.offset[group.left, group.right] - own.origin
    into = View(own.values, slot, base)
    made = Made(into, (group.begin, group.end), group.left, group.right, step.only)
    assert step.reads is not None
    mirror_into(prepared, view, made, (step.reads.left, step.reads.right), room)


def mirror_into(
    prepared: Prepared, view: View, made: Made, images: tuple[Profiles, Profiles], room: Room
) -> None:
    """Make mirrored blocks from their images in a view; in place."""
    layout, plan = prepared.layout, prepared.mirror
    scratch = _scratch(room, "mirror", lambda: mirror_scratch(layout, plan))
    mirror_blocks(prepared.bits, layout.shape, plan, scratch, view, made, images)


class Place(NamedTuple):
    """Where a step works: what it walks, and what it reads, if it reads anything."""

    own: Own
    there: View | None


def walk_task(prepared: Prepared, task: Task, place: Place, room: Room) -> None:
    """Walk the groups of a task, in place, with all they read at hand."""
    for group in task_groups(prepared, task):
        _walk(prepared, task.ply, group, place, room)


def _walk(prepared: Prepared, ply: int, group: Group, place: Place, room: Room) -> None:
    layout, plan = prepared.layout, prepared.plan
    planes = prepared.planes.of(layout.first_ply)
    scratch = _scratch(room, "back", lambda: _backward.make_scratch(layout, plan, planes))
    there = place.there or _no_view()
    _backward.walk_group(prepared.bits, layout.shape, plan, scratch, ply, place.own, there, group)


def count_task(prepared: Prepared, task: Task, own: Own | None, room: Room) -> Tally:
    """Count the positions of a task's groups; those that are won and lost if they were walked.

    Nothing of another layer is needed, so a task that walks nothing counts any ply by itself.
    """
    layout, plan = prepared.layout, prepared.plan
    known = Known(prepared.bits, layout.shape, plan, prepared.classes, prepared.endings)
    scratch = _scratch(
        room, "count", lambda: make_scratch(layout, plan, prepared.classes, prepared.endings)
    )
    sums = Sums(np.zeros(4, np.int64), np.zeros(0, np.int64))
    if own is None:
        own = Own(np.zeros((2, 0), np.uint64), 0)
    elif prepared.planes.distances:
        plies = np.zeros(prepared.planes.cells - task.ply + 1, np.int64)
        sums = sums._replace(distances=plies)
    for run in _runs(prepared, task_groups(prepared, task)):
        group = _merged(run)
        weights = block_weights(prepared, group.left, group.right)
        count_group(known, scratch, task.ply, own, group, weights, sums)
    alive, terminal, won, lost = sums.found.tolist()
    return Tally(alive, terminal, won, lost, tuple(sums.distances.tolist()))


def live_blocks(prepared: Prepared, ply: int) -> Iterator[tuple[Group, Words]]:
    """The blocks of a ply, those of one left profile after another, and which positions are live.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> from retro.walk.halves.prepared import prepare
    >>> prepared = prepare(Connect4Board(4, 4))
    >>> sum(int(np.bitwise_count(live).sum()) for _, live in live_blocks(prepared, 3))
    26
    """
    layout, plan, blocks = prepared.layout, prepared.plan, layer_blocks(prepared.layout, ply)
    scratch = make_scratch(layout, plan, prepared.classes, None)
    cuts = np.flatnonzero(np.diff(blocks.left)) + 1
    for number, some in enumerate(np.split(np.arange(len(blocks.left)), cuts)):
        begin, end = int(blocks.offset[some[0]]), int(blocks.offset[some[-1] + 1])
        group = Group(number, blocks.left[some], blocks.right[some], begin, end)
        plane = np.zeros(end - begin, np.uint64)
        fill_live_rows(layout.shape, plan, prepared.classes, scratch, ply, group, plane)
        yield group, plane


def kept_groups(
    prepared: Prepared, task: Task, own: Own, room: Room, *, blanked: bool
) -> Iterator[tuple[int, Words]]:
    """The walked groups as a table keeps them: (first word, planes), one after another.

    The planes are lost as soon as the next group is asked for.
    """
    layout, plan = prepared.layout, prepared.plan
    scratch = _scratch(room, "blank", lambda: _blank.make_scratch(layout, plan))
    for group in task_groups(prepared, task):
        planes = own.values[:, group.begin - own.origin : group.end - own.origin]
        if blanked:
            planes = room.words("kept", len(planes), group.end - group.begin)
            _blank.blank_group(layout.shape, plan, scratch, own, planes, group)
        yield group.begin, planes


def _scratch(room: Room, name: str, make: Callable[[], Scratch]) -> Scratch:
    if name not in room.scratch:
        room.scratch[name] = make()
    return cast("Scratch", room.scratch[name])


def _no_view() -> View:
    """Of the layer behind the full board: nothing reads it."""
    return View(np.zeros((2, 0), np.uint64), np.zeros((1, 1), np.int32), np.zeros((1, 1), np.int64))
