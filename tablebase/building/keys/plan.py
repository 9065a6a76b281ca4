"""What a build of any game will take: keys, time, memory, disk. Said before it starts.

`retro.walk.keys.forecast` says how many keys and finished games each ply will have, and how long
the walk forward takes for a move on this machine; the rest follows:

    memory   what Python and kernels take; beside it, for quick work, the largest layer as the
             walk back looks keys up, and a few pieces. With less, layers stay in files and tasks
             fetch what they read: then at least one group and a part of what it reads
    time     of the walk forward of small layers, times what a whole build takes of it
    disk     packed keys and values: as pieces, as finished plies, and in the file

The sizes are right where the walk reached (`is_exact`), and elsewhere within `error`: measured
against real tables, a tenth at most in games whose positions have whole numbers of predecessors,
and 1.6 times at most in others. Time depends on what else the machine does.

Workers of a cluster take what they have: base, and tasks as their memory allows; the driver
sorts and packs.

A build takes no more memory than it is given (`Budget`): what a task may hold and whether a layer
stays in memory is decided again for every ply, by the sizes that it turns out to have.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from retro.cores import available_cores
from retro.errors import BadTextError
from retro.index.keys.groups import make_grouping
from retro.walk.keys.forecast import Forecast, forecast
from retro.walk.keys.layers import MOST_THREADS, prepare
from tablebase.building.keys.tasks import Cut, task_key
from tablebase.building.options import BuildOptions
from tablebase.building.plan import Plan, PlyPlan, TaskBudget
from tablebase.keys.format import Header, header_for
from tablebase.machine import available_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retro.games.game import Position
    from retro.walk.task import Walk
    from tablebase.building.plan import WorkerSpec

# Python, compiled kernels (350 MB at most), what tasks have at least, and what is freed but lies
# between what is not: 5x5 three-in-a-row took 2.02 GB of 2 when this was 500 MB.
BASE_MEMORY = 550_000_000
TASKS_AT_LEAST = 100_000_000  # of the above: the groups of a small table, and some of a larger one
PROCESS_MEMORY = 300_000_000  # the same of another process, which need not compile
SECONDS_AT_LEAST = 0.5
WHOLE_BUILD = 1.4  # CPU time, of the plain walk forward of a small layer
MORE_WITH_DISTANCES = 0.15  # fewer moves are left out, a byte more to pack: a tenth at most
FROM_FILES = 1.5  # times as long, if layers do not stay in memory
BYTES_PER_WORD = 0.6  # in the file; 0.4 to 0.7 in tables of a million keys
BYTES_OF_PLIES = 0.25  # in the file, of a key, with distances: 0.1 to 0.3
BYTES_OF_PIECES = 3.0  # of a key of one word, while building: pieces are packed for speed
BYTES_PER_PLY = 4000
STRAIGHT_ERROR = 1.2
BENT_ERROR, BENT_PLIES = 2.0, 12  # measured on up to so many sampled plies; beyond, it multiplies
DIGITS = 3  # of a number that is not exact
SHARE_OF_FREE_MEMORY = 0.8
MOST_IN_MEMORY = 32_000_000  # bytes of all parts of a build that writes none of them
KEYS_OF_A_SHARE = 1 << 20  # a family of more is cut into shares, so that a task can have some
MOST_SHARES = 4096
SHARE_OF_LAYER = 0.6  # of the memory: more than that is better left to tasks
LEAST_TASK = 1 << 24  # bytes of a task of a cluster
MOST_TO_SORT = 1 << 30  # bytes that the driver of a cluster sorts at once


class Budget(NamedTuple):
    """How much memory the tasks of a build may take, all together."""

    workers: int
    free: int  # bytes
    own: int  # bytes of this process for sorting a ply, when no task runs

    def layer(self, walk: Walk, words: int, keys: int) -> int:
        """Bytes of a whole layer as a walk reads it: walking back with values and slots."""
        return keys * (8 * words + (9 if walk == "walk" else 0))

    def keeps(self, walk: Walk, words: int, keys: int) -> bool:
        """Whether a whole layer stays in memory."""
        return self.layer(walk, words, keys) <= SHARE_OF_LAYER * self.free

    def task_memory(self, kept: int) -> int:
        """What a task may take for what it makes, and as much for what it reads.

        Beside a layer of so many bytes.
        """
        return max(0, self.free - kept) // self.workers // 2

    def stretch(self, words: int) -> int:
        """Keys that are sorted at once when a ply is finished, and as many that are written."""
        return max(1, self.own // stretch_key(words))


def stretch_key(words: int) -> int:
    """Bytes of a key in a stretch that is sorted and written."""
    return 5 * (8 * words + 1)


class Detail(NamedTuple):
    """What the build is told."""

    layers: dict[int, float]  # how many keys and finished games are expected of a ply, at most
    cut: Cut  # unless an earlier run has cut otherwise
    budget: Budget
    header: Header
    walked: int  # keys of all plies, kept or not
    in_memory: bool  # whether parts never touch the disk


def require_reached(header: Header, last_ply: int) -> None:
    """Refuse a table that would keep nothing, because play ends on `last_ply`."""
    if header.first_kept > last_ply:
        found = f"{header.first_kept}..{header.last_kept}"
        wanted = f"{header.first_ply}..{last_ply}"
        raise BadTextError(f"found plies {found}, wanted some of {wanted}: play ends there")


def make_plan(
    root: Position,
    options: BuildOptions | None = None,
    plies: range | None = None,
    workers: Sequence[WorkerSpec] = (),
    *,
    seed: int = 0,
) -> Plan:
    """What the table of all that can follow `root` will take; a second or two, little memory.

    >>> from retro.games.catalogue import make_board
    >>> plan = make_plan(make_board("mnk", "3x3").start())
    >>> plan.positions, plan.error, plan.plies[5].positions
    (627, 1.0, 153)
    >>> make_plan(plan.root, plies=range(4)).positions
    54
    """
    rules = root.board.rules
    options = options or BuildOptions()
    if not options.counts:
        raise BadTextError(
            f"{root.board.game_name} cannot be built without counts: the walk forward that counts "
            "also finds the positions to store"
        )
    found = forecast(prepare(rules), root._state, root.ply, seed=seed)
    layers, error = found.layers, _error(found)
    header = header_for(root, plies, distances=options.distances)
    if found.is_exact:
        require_reached(header, layers[-1].ply)
    families = make_grouping(rules).families
    largest = max(layer.keys + layer.ended for layer in layers) * error
    crowds = {layer.ply: layer.crowd * (layer.keys + layer.ended) * error for layer in layers}
    family = max(crowds.values())
    shares = min(MOST_SHARES, max(1, ceil(family / KEYS_OF_A_SHARE)))
    group = 2 * task_key(rules.words) * int(family / shares)
    if workers:
        taken = _on_cluster(options, workers, rules.words, largest, group)
    else:
        taken = _on_this_machine(options, rules.words, largest, group)
    budget = taken.budget
    times = WHOLE_BUILD + MORE_WITH_DISTANCES * options.distances
    times *= 1 if taken.is_whole else FROM_FILES
    times *= available_cores() / budget.workers  # the forecast was timed on all cores
    seconds = [times * found.seconds_per_edge * layer.edges for layer in layers]
    walked = sum(layer.keys for layer in layers)
    keys = sum(layer.keys for layer in layers if header.keeps(layer.ply))
    bytes_per_key = rules.words * BYTES_PER_WORD + BYTES_OF_PLIES * options.distances
    disk = _rounded(bytes_per_key * keys + BYTES_PER_PLY * len(layers))
    pieces = _rounded(rules.words * BYTES_OF_PIECES * walked)
    return Plan(
        root=root,
        positions=int(keys) if found.is_exact else _rounded(keys),
        plies={
            layer.ply: PlyPlan(
                int(layer.keys) if layer.is_exact else _rounded(layer.keys),
                taken_seconds,
                _rounded(budget.layer("walk", rules.words, int(layer.keys))),
                groups=min(families * shares, int(layer.keys)),
                largest=_rounded(crowds[layer.ply] * task_key(rules.words)),
            )
            for layer, taken_seconds in zip(layers, seconds, strict=True)
        },
        seconds=SECONDS_AT_LEAST + sum(seconds),
        memory=taken.memory,
        least_memory=taken.least,
        disk=disk,
        disk_while_building=2 * disk + pieces,
        error=error,
        exact_plies=sum(layer.is_exact for layer in layers),
        detail=Detail(
            {layer.ply: error * (layer.keys + layer.ended) for layer in layers},
            Cut(families, shares),
            budget,
            header,
            int(walked),
            in_memory=found.is_exact and (16 * rules.words + 2) * walked <= MOST_IN_MEMORY,
        ),
        workers=budget.workers,
        processes=options.processes is not None,
        budget=taken.of_worker,
    )


class _Taken(NamedTuple):
    """What a build takes of memory."""

    budget: Budget
    memory: int  # bytes of this process and of others of this machine
    least: int
    is_whole: bool  # whether the largest layer stays in memory
    of_worker: TaskBudget | None = None  # of a cluster


def _on_this_machine(options: BuildOptions, words: int, largest: float, group: int) -> _Taken:
    """What threads or processes of this machine take; `largest` keys of a ply, bytes of a group."""
    processes = options.processes
    workers = min(processes or options.threads or available_cores(), MOST_THREADS)
    base = BASE_MEMORY + (workers * PROCESS_MEMORY if processes else 0)
    # A group for each worker; and at its best the largest layer, whole.
    least = base + max(0, workers * group - TASKS_AT_LEAST)
    whole = base + int(largest * ((8 * words + 9) / SHARE_OF_LAYER))
    least = min(least, whole)
    best = whole if not processes else max(least, base + workers * 2 * KEYS_OF_A_SHARE * 64)
    allowed = options.memory if options.memory is not None else _share_of_free_memory(least, best)
    taken = min(best, allowed)
    free = max(0, max(taken, least) - base) + TASKS_AT_LEAST
    return _Taken(Budget(workers, free, free), taken, least, taken >= whole)


def _on_cluster(
    options: BuildOptions,
    workers: Sequence[WorkerSpec],
    words: int,
    largest: float,
    group: int,
) -> _Taken:
    """What the workers of a cluster take, and the driver, who sorts and packs finished plies."""
    base = BASE_MEMORY - TASKS_AT_LEAST
    least = max(LEAST_TASK, group)
    of_worker = TaskBudget.of(workers, options.task_memory, aside=base, least=least)
    places = of_worker.places(workers)
    own = int(min(max(TASKS_AT_LEAST, stretch_key(words) * largest), MOST_TO_SORT))
    budget = Budget(places, places * of_worker.each, own)
    return _Taken(budget, base + own, base + own, is_whole=False, of_worker=of_worker)


def _share_of_free_memory(least: int, best: int) -> int:
    free = available_memory()
    return best if free is None else max(least, int(SHARE_OF_FREE_MEMORY * free))


def _error(found: Forecast) -> float:
    """The sizes are right within this factor."""
    if found.is_exact:
        return 1.0
    if found.is_straight:
        return STRAIGHT_ERROR
    sampled = sum(not layer.is_exact for layer in found.layers)
    return float(round(BENT_ERROR ** max(1.0, sampled / BENT_PLIES), 1))


def _rounded(number: float) -> int:
    return int(float(f"{number:.{DIGITS}g}"))
