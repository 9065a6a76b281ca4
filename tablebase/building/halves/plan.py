"""What a build of Connect Four will take: time, memory, disk. Known before it starts.

Sizes are exact: colourings are counted, not listed (`retro.index.halves.counting`), and
every group of every layer is asked what it reads (`memory.find_needs`). So a plan is a
promise: what it accepts runs to its end within the memory it was given.

    memory     = base + lists + workers * (buffers + task)
    in memory  groups never touch the disk: for builds that are short
    whole      two neighbouring layers stay in memory; groups go to files as well
    in tasks   each worker fetches what its task reads; fewer workers where groups are large
    elsewhere  a cluster's workers: each has base and lists, and tasks as its memory allows

Time is so many nanoseconds a word, measured; how well a board's values pack is known from the
boards that were built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retro.cores import available_cores
from retro.games.connect4.rules import Connect4Position, find_moves
from retro.games.connect4.text import column_text
from retro.index.halves.layout import default_left_columns
from retro.index.halves.sizes import Counted, count_sizes
from tablebase.building.halves.memory import (
    BASE,
    BYTES_PER_CHUNK,
    COMPILING,
    Needs,
    base_memory,
    find_needs,
    layers_memory,
    listing_memory,
    lists_memory,
    worker_memory,
)
from tablebase.building.options import BuildOptions
from tablebase.building.plan import Plan, PlyPlan, Schedule, TaskBudget, kept_plies
from tablebase.halves.format import CHUNK_WORDS, VERSION, WITH_DISTANCES, Header
from tablebase.machine import available_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tablebase.building.plan import WorkerSpec

SECONDS_AT_LEAST = 1.5  # Python's start, kernels loaded, parts joined
NANOSECONDS_PER_WORD = 130  # of one core of a 2.8 GHz Xeon: walked, counted, packed, written
LISTING_NANOSECONDS = 100  # the same for a colouring of the halves
# Larger tables pack better: 0.23 bits per padded position on 5x5, 0.175 on 6x5, 0.096 on 6x6.
BITS_IN_FILE, AT_POSITIONS, SHRINKS_BY = 0.23, 6e7, 0.144
BITS_OF_EARLY_PLIES = 1.0  # which hold few blank and few finished positions
# With distances the file is 2.5 times as large on 5x5 and 2.75 times on 6x5, and walking back
# with all that follows takes twice the time.
DISTANCES_IN_FILE, DISTANCES_IN_TIME = 2.8, 2.0
SPILLED_SHARE = 0.8  # of the file's size: groups while building
BYTES_PER_PLY = 20_000  # attributes and chunk tables
SHARE_OF_FREE_MEMORY = 0.8
IN_MEMORY_BITS = 4_000_000_000  # of all layers: half a minute at most, and half a gigabyte


class Work(NamedTuple):
    """How a layer is worked on."""

    at_once: int  # tasks
    task_memory: int | None  # bytes of what one task walks and reads; None: whole layers
    mirroring: Work | None = None  # how what it reads is mirrored, if otherwise


class Detail(NamedTuple):
    """What the build is told."""

    header: Header
    work: dict[int, Work]  # [ply]
    least_task_memory: int  # bytes for the words of any one group
    in_memory: bool  # whether parts never touch the disk
    words: int  # of all plies

    @property
    def is_whole(self) -> bool:
        """Whether two layers stay in memory."""
        return all(work.task_memory is None for work in self.work.values())


def make_plan(
    root: Connect4Position,
    options: BuildOptions | None = None,
    plies: range | None = None,
    workers: Sequence[WorkerSpec] = (),
) -> Plan:
    """What the table of all that can follow `root` will take.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> make_plan(Connect4Board(5, 4).start()).positions
    2584821
    """
    options, board = options or BuildOptions(), root.board
    header = make_header(root, plies, distances=options.distances)
    counted = count_sizes(board, header.left_columns, root)
    needs = list(find_needs(counted, header))
    disk, while_building, whole_file = _disk(counted, header)
    shares = _Shares(counted, header, needs, options, whole_file, elsewhere=bool(workers))
    # Without a limit this process compiles as well: two do it in half the time.
    compiling = 0 if options.memory is not None or workers else COMPILING
    allowed = options.memory
    if allowed is None:
        allowed = _share_of_free_memory(shares.least)
    budget = shares.budget(workers, options.task_memory) if workers else None
    if budget is None:
        work, taken = shares.share(allowed)
    else:
        work, taken = shares.spread(workers, budget)
    in_memory = taken == shares.in_memory and not shares.are_processes
    at_once = max(of_ply.at_once for of_ply in work.values())
    lists = int(counted.left.sum() + counted.right.sum()) * LISTING_NANOSECONDS / 1e9
    each = NANOSECONDS_PER_WORD * (DISTANCES_IN_TIME if header.distances else 1) / at_once / 1e9
    words = [int(words) for words in counted.stored_words]
    least = shares.least if budget is None else taken
    return Plan(
        root=root,
        positions=int(counted.ranked[header.first_ply : header.last_ply + 1].sum()),
        plies={
            need.ply: PlyPlan(
                64 * words[need.ply],
                each * words[need.ply],
                8 * len(header.planes(need.ply)) * (words[need.ply] + need.mirrored),
                need.groups,
                need.uncut,
            )
            for need in needs
        },
        seconds=SECONDS_AT_LEAST + lists + each * sum(words),
        memory=taken + compiling,
        least_memory=least,
        disk=disk,
        disk_while_building=disk if in_memory else while_building,
        error=1.0,
        exact_plies=len(needs),
        detail=Detail(header, work, shares.task, in_memory, sum(words)),
        workers=at_once,
        processes=options.processes is not None,
        budget=budget,
        schedule=Schedule(
            at_once,
            max((w.task_memory for w in work.values() if w.task_memory is not None), default=None),
            64 * sum(words),
            max(need.uncut for need in needs),
        ),
    )


class _Shares:
    """Who may take how much memory."""

    def __init__(
        self,
        counted: Counted,
        header: Header,
        needs: list[Needs],
        options: BuildOptions,
        whole_file: int,
        *,
        elsewhere: bool,
    ) -> None:
        self._needs = needs
        self._workers = options.processes or options.threads or available_cores()
        self.are_processes = options.processes is not None or elsewhere
        group = max(need.largest_group for need in needs)
        self._lists = lists_memory(counted, header)
        self._worker = worker_memory(counted, header, group)
        chunks = int(counted.stored_words.max()) // CHUNK_WORDS + 1
        self._base = base_memory()
        self._driver = self._base + BYTES_PER_CHUNK * chunks + 40 * counted.sizes.words.size
        self.task = max(max(need.largest, need.mirroring) for need in needs)
        self.least = self._fixed(1) + max(self._most, listing_memory(counted, header))
        layers = layers_memory(counted, header, needs)
        self.whole = self._fixed(1) + layers + self._workers * self._worker
        words = int(counted.stored_words.sum())
        self.in_memory = self.whole + 2 * whole_file
        self._is_short = 64 * words <= IN_MEMORY_BITS
        if not self.are_processes:
            self.least = min(self.least, self.whole)

    def _fixed(self, processes: int) -> int:
        """What a build takes beside its workers' tasks."""
        lists = self._lists
        if self.are_processes:
            return self._driver + lists + processes * (self._base + lists)
        return self._driver + lists

    def share(self, allowed: int | None) -> tuple[dict[int, Work], int]:
        """How every layer is worked on, and the bytes that are taken."""
        if not self.are_processes:
            for taken, fits in ((self.in_memory, self._is_short), (self.whole, True)):
                if fits and (allowed is None or taken <= allowed):
                    whole = Work(self._workers, None)
                    return {need.ply: whole for need in self._needs}, taken
        if allowed is None:
            allowed = self._needed(self._workers)
        taken, allowed = allowed, max(allowed, self.least)
        workers = self._workers
        if self.are_processes:
            workers = self._processes(allowed)
        work = {}
        for need in self._needs:
            free = allowed - self._fixed(workers)
            walking, mirroring = (
                self._work(free, workers, least) for least in (need.largest, need.mirroring)
            )
            work[need.ply] = walking._replace(mirroring=mirroring)
        return work, taken

    def _work(self, free: int, workers: int, least: int) -> Work:
        """How many work at once, and what each may take beside its buffers."""
        aside = self._worker
        if not self.are_processes:
            workers = max(1, min(workers, free // (aside + least)))
        return Work(workers, free // workers - aside)

    def budget(self, workers: Sequence[WorkerSpec], task_memory: int | None) -> TaskBudget:
        """What workers of a cluster take; by default their threads share their memory."""
        aside = BASE + COMPILING + self._lists
        return TaskBudget.of(workers, task_memory, aside=aside, least=self._most)

    def spread(
        self, workers: Sequence[WorkerSpec], budget: TaskBudget
    ) -> tuple[dict[int, Work], int]:
        """How every layer is worked on by a cluster, and the bytes that its driver takes."""
        each = Work(budget.places(workers), budget.each - self._worker)
        work = {need.ply: each for need in self._needs}
        return work, self._driver + COMPILING + self._lists

    @property
    def _most(self) -> int:
        return self._worker + self.task

    def _needed(self, workers: int) -> int:
        """What so many workers need, each for any task."""
        return self._fixed(workers) + workers * self._most

    def _processes(self, allowed: int) -> int:
        """So many processes fit, each with lists of its own."""
        number = self._workers
        while number > 1 and self._needed(number) > allowed:
            number -= 1
        return number


def bits_in_file(counted: Counted) -> float:
    """Bits that a padded position takes, packed; groups take about as many."""
    positions = max(64.0 * int(counted.stored_words.sum()), AT_POSITIONS)
    return float(BITS_IN_FILE * (positions / AT_POSITIONS) ** -SHRINKS_BY)


def _disk(counted: Counted, header: Header) -> tuple[int, int, int]:
    """Bytes of the file, of all that is on disk while building, and of a file of all plies."""
    bits = [64 * int(words) for words in counted.stored_words]
    times = DISTANCES_IN_FILE if header.distances else 1.0
    whole_file = times * sum(bits) * bits_in_file(counted) / 8
    early = times * sum(bits[ply] for ply in header.plies) * BITS_OF_EARLY_PLIES / 8
    disk = int(min(whole_file, early)) + BYTES_PER_PLY * len(bits)
    return disk, 2 * disk + int(SPILLED_SHARE * whole_file), int(whole_file)


def make_header(
    root: Connect4Position, plies: range | None = None, *, distances: bool = False
) -> Header:
    """The header of a table of some plies, by default all, from a root."""
    board, kept = root.board, kept_plies(root, plies)
    left_columns = default_left_columns(board, root)
    mirror = int(2 * left_columns >= board.width and not root.ply)
    sizes = (board.width, board.height, board.connect)
    moves = "".join(column_text(column) for column in find_moves(root.check()) or ())
    return Header(
        *sizes, left_columns, mirror, first_ply=kept[0], last_ply=kept[-1], root=moves,
        distances=int(distances),
        format_version=WITH_DISTANCES if distances else VERSION,
    )  # fmt: skip


def _share_of_free_memory(least: int) -> int | None:
    free = available_memory()
    return None if free is None else max(least, int(SHARE_OF_FREE_MEMORY * free) - COMPILING)
