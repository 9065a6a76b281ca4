"""Tasks of a build: the same files from whoever runs them, however often; and what plans say."""

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from builds import group_path, result_of, run_plan, tasks_of, with_task_memory

import tablebase as tb
from retro.games.connect4.rules import Connect4Board
from retro.index.halves.layout import default_left_columns
from retro.index.halves.sizes import count_sizes
from retro.walk.halves.batches import Cutter, counted_side
from retro.walk.halves.layer import Room, is_strip
from retro.walk.halves.mirroring import mirror_tasks
from retro.walk.halves.prepared import prepare
from retro.walk.halves.reading import find_reads
from retro.walk.halves.task import task_groups, walk_alone
from retro.walk.task import Planes, Task
from tablebase.building.halves.tasks import HalvesTasks

BOARD = Connect4Board(5, 4)


@pytest.fixture
def in_strips(monkeypatch):
    """Groups of a few rows, so that blocks of a small board are giants; kept in files."""
    monkeypatch.setattr("retro.walk.halves.layer.GROUP_WORDS", (256, 1024))
    monkeypatch.setattr("tablebase.building.halves.plan.IN_MEMORY_BITS", 0)


def files(partial, task):
    """What the tasks of a layer have left, but for names that only one writer has."""
    names = f"walk-{task.ply:02d}-*"
    return {path: path.read_bytes() for path in partial.folder.glob(names) if path.suffix != ".tmp"}


def test_a_task_that_runs_twice_or_in_two_places_leaves_the_same_files(
    built_5x4, tmp_path, in_strips, monkeypatch
):
    """Every task of two layers, three times: two at once, and once more after both."""
    do, repeated = HalvesTasks.do, []

    def thrice(tasks, task):
        if task.ply in (9, 18):
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(lambda _: do(tasks, task), range(2)))
            left = files(tasks.partial, task)
            repeated.append(task)
        do(tasks, task)
        if task.ply in (9, 18):
            assert files(tasks.partial, task) == left

    monkeypatch.setattr(HalvesTasks, "do", thrice)
    path = tmp_path / "table.h5"
    run_plan(with_task_memory(tb.plan(BOARD, threads=1), 1_000_000), path)
    assert {task.ply for task in repeated} == {9, 18}
    assert result_of(path).records == result_of(built_5x4.path).records


def test_a_task_is_committed_last_of_all(tmp_path, in_strips, monkeypatch):
    """When the mark of a task is there, its groups are; a task that dies leaves no mark."""
    tasks, task = tasks_of(tmp_path / "table.h5", BOARD), Task("walk", 20, 0, 1)
    tasks.partial.open()

    def die(*_):
        assert group_path(tasks, 20, 0).exists()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(HalvesTasks, "_write_part", die)
        with pytest.raises(KeyboardInterrupt):
            tasks.do(task)
    assert not tasks.partial.done("walk", 20)
    assert not list(tasks.partial.folder.glob("*.tmp"))
    tasks.do(task)
    assert [done[:4] for done in tasks.partial.done("walk", 20)] == [task[:4]]


def test_strips_of_a_block_read_no_word_twice(in_strips):
    """Successors of rows in order are in order."""
    prepared, strips = prepare(Connect4Board(5, 5)), 0
    layout = prepared.layout
    for ply in (23, 24):
        groups = [g for g in prepared.groups(ply) if is_strip(layout, g)]
        for before, after in pairwise(groups):
            if before.left is not after.left:
                continue
            strips += 1
            ends, begins = find_reads(prepared, ply, before), find_reads(prepared, ply, after)
            one = {word for a, b in zip(ends.begin, ends.end, strict=True) for word in range(a, b)}
            two = [w for a, b in zip(begins.begin, begins.end, strict=True) for w in range(a, b)]
            assert not one.intersection(two)
    assert strips > 10


def test_a_strip_reads_its_share_of_what_its_block_reads(in_strips):
    prepared = prepare(Connect4Board(5, 5))
    layout, shape = prepared.layout, prepared.layout.shape
    group = next(g for g in prepared.groups(24) if is_strip(layout, g))
    block = group.left[0], group.right[0]
    whole = group._replace(begin=int(shape.offset[*block, 0]), end=int(shape.offset[*block, -1]))
    share = (group.end - group.begin) / (whole.end - whole.begin)
    reads = find_reads(prepared, 24, group).words
    assert reads < 3 * share * find_reads(prepared, 24, whole).words


def test_a_plan_cuts_layers_into_the_groups_that_a_build_has(in_strips):
    board = Connect4Board(5, 5)
    prepared, root = prepare(board), board.start()
    sizes = count_sizes(board, default_left_columns(board), root).sizes
    for ply in range(board.cells + 1):
        groups, side = prepared.groups(ply), counted_side(sizes, ply)
        assert len(groups) == len(side.words)
        words = np.array([group.end - group.begin for group in groups])
        assert np.abs(words - side.words).max() <= 2 * prepared.layout.shape.row_words.max()
        tasks = Cutter(sizes).batches(Task("walk", ply, 0, len(groups)), side, 40_000)
        assert [tasks[0].first, *(task.last for task in tasks)] == [
            *(task.first for task in tasks),
            len(groups),
        ]


def blocks_read(sizes, blocks):
    """The blocks that a stone more in some column of one of these leads to."""
    heights = [
        {tuple(row): profile for profile, row in enumerate(half.tolist())}
        for half in (sizes.left_heights, sizes.right_heights)
    ]
    found = set()
    for block in blocks:
        for side, half in enumerate((sizes.left_heights, sizes.right_heights)):
            for column in range(half.shape[1]):
                changed = half[block[side]].tolist()
                changed[column] += 1
                other = list(block)
                other[side] = heights[side].get(tuple(changed))
                if other[side] is not None:
                    found.add(tuple(other))
    return found


@pytest.mark.parametrize("pieces", [1, 3])
def test_tasks_fit_their_memory_with_all_that_they_read(in_strips, pieces):
    """As few as that allows: a block that several groups of a task read counts once."""
    board, limit = Connect4Board(5, 5), 300_000
    sizes = count_sizes(board, default_left_columns(board), board.start()).sizes
    cutter, shared = Cutter(sizes), 0
    for ply in range(1, board.cells):
        side = counted_side(sizes, ply)

        def words(first, last, side=side):
            """Of some groups, and of what they read."""
            whole, read = [], 0
            for group in range(first, last):
                own = range(side.cuts[group], side.cuts[group + 1])
                blocks = [(int(side.left[i]), int(side.right[i])) for i in own]
                if side.strip_of[group]:  # strips of a block read nothing in common
                    share = side.words[group] / side.strip_of[group]
                    there = blocks_read(sizes, blocks)
                    read += sum(math.ceil(share * sizes.words[block]) for block in there)
                else:
                    whole += blocks
            there = blocks_read(sizes, whole)
            return int(side.words[first:last].sum()), read + sum(sizes.words[b] for b in there)

        task = Task("walk", ply, 0, len(side.words))
        most = limit // (8 * Planes(board.cells).of(ply))
        most_own = side.words.sum() // pieces
        first = 0
        for last, own, read in cutter.cut(task, side, limit, pieces).tolist():
            assert (own, read) == words(first, last)
            assert last == first + 1 or (own + read <= most and own <= most_own)
            if last < len(side.words):
                more = words(first, last + 1)
                assert sum(more) > most or more[0] > most_own
                shared += sum(words(first, last)) < sum(words(first, last - 1)) + sum(
                    words(last - 1, last)
                )
            first = last
        assert first == len(side.words)
    assert shared > 10


@pytest.mark.parametrize("memory", [1, 30_000, 10**6, 10**9])
def test_mirror_tasks_make_every_group_once_within_their_memory(in_strips, memory):
    """Gaps between their blocks count; a task of one group takes what that needs."""
    prepared = prepare(Connect4Board(5, 5))
    for ply in (14, 20, 24):
        whole, last = len(prepared.groups(ply)), len(prepared.readable(ply))
        tasks = mirror_tasks(prepared, Task("walk", ply, whole, last), memory, pieces=3)
        made = [group.number for task in tasks for group in task_groups(prepared, task)]
        assert made == list(range(whole, last))
        assert {task.memory for task in tasks} == {memory}
        for task in tasks:
            groups, room = task_groups(prepared, task), Room()
            walk_alone(prepared, task, lambda *_: None, room)
            taken = sum(array.nbytes for array in room._arrays.values())
            assert taken <= memory or len(groups) == 1


def test_the_plan_of_7x6_has_its_figures():
    """Counted without a list; the largest block needs what a prototype found for it."""
    plan = tb.plan("7x6", memory=40 * 10**9, threads=16)
    found = plan.schedule
    assert found.stored == 64 * 65_892_548_358
    assert found.uncut == 9_745_555_584
    assert found.workers == 16
    assert plan.least_memory < 4 * 10**9


@pytest.mark.slow
def test_the_plan_of_8x6_has_its_figures():
    found = tb.plan("8x6", threads=64, task_memory="16G").schedule
    assert f"{found.stored:.3g}" == "2.33e+14"
    assert found.uncut == 111_786_732_224


@pytest.mark.slow
def test_the_plan_of_8x7_has_its_figures():
    """Hundreds of millions of groups, which are not looked at one by one."""
    found = tb.plan("8x7").schedule
    assert found.stored == 16_642_254_363_522_816
