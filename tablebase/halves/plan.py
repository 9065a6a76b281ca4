"""What a build will take: time, memory, disk. Known before it starts, and refused if too much.

Sizes are exact: colourings are counted, not listed (`retro.index.halves.counting`), and
every group of every layer is asked what it reads (`memory.find_needs`). So
a plan is a promise: what it accepts runs to its end within the memory it was given.

    memory   = base + lists + workers * (buffers + task)
    in memory  groups never touch the disk: for builds that are short
    whole      two neighbouring layers stay in memory; groups go to files as well
    in tasks   each worker fetches what its task reads; fewer workers where groups are giants
    elsewhere  a cluster's workers: each has base and lists, and tasks as its memory allows

Time follows from counted work and the speed of the machine (`rates`); how well a board's
values pack is known from the boards that were built.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.cores import available_cores
from retro.errors import BadTextError
from retro.games.connect4.rules import Connect4Position, find_moves
from retro.games.connect4.text import column_text
from retro.index.halves.layout import default_left_columns
from retro.index.halves.sizes import Counted, count_sizes
from retro.walk.halves.batches import Cutter, counted_side
from retro.walk.task import Planes, Task
from tablebase.building.plan import Labour, PlyPlan
from tablebase.halves.format import CHUNK_WORDS, VERSION, WITH_DISTANCES, Header
from tablebase.halves.memory import (
    BASE,
    BYTES_PER_CHUNK,
    COMPILING,
    Needs,
    base_memory,
    find_needs,
    layers_memory,
    lists_memory,
    worker_memory,
)
from tablebase.halves.order import Hire, How
from tablebase.halves.rates import Work, machine_factor, seconds_of
from tablebase.machine import available_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.connect4.rules import Connect4Board
    from tablebase.halves.order import Hand

SECONDS_AT_LEAST = 1.5  # Python's start, kernels loaded, the calibration, parts joined
SECONDS_PER_TASK = 0.002
MANY_GROUPS = 1 << 20  # are not looked at one by one
MANY_TASKS = 20_000  # end at the same time, however they are shared out
LAST_PLIES = 10  # which have few blocks, and giants
READ_TO_MIRROR = 2  # an image's rectangle is read for several of the mirrored block's
LISTING_NANOSECONDS = 100  # of one core, for a colouring of the halves
TASKS_PER_WORKER = 4  # of a layer, at least: so that all end at about the same time
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


class Shift(NamedTuple):
    """How a layer is worked on."""

    workers: int
    task_memory: int | None  # bytes of what one task walks and reads; None: whole layers
    mirroring: Shift | None = None  # how what it reads is mirrored, if otherwise


@dataclass(frozen=True)
class Estimate:
    """What building a table will take."""

    header: Header
    ranked: int  # positions of canonical profiles that have a rank, of the plies that are kept
    stored: int  # with padding
    plies: dict[int, PlyPlan]
    seconds: float
    core_seconds: float
    narrow_seconds: float  # of `seconds`: workers wait for the last tasks of a layer
    last_busy: float  # of the time of the last ten plies: how much of it workers work
    traffic: int  # bytes that tasks read and write
    memory: int  # bytes at the peak
    least_memory: int  # with less the build cannot be done
    least_task_memory: int  # bytes for the words of any one group
    workers: int
    processes: bool  # whether workers are processes, not threads
    shifts: dict[int, Shift]  # [ply]
    uncut: int  # bytes that the largest block would take with all it reads if it were not cut
    in_memory: bool  # whether groups never touch the disk
    disk: int  # bytes of the finished file
    disk_while_building: int
    hire: Hire | None = None  # if a cluster works; `memory` is then the driver's

    @property
    def labour(self) -> Labour:
        """How the work is shared out."""
        memory = [shift.task_memory for shift in self.shifts.values()]
        return Labour(
            self.workers,
            max((taken for taken in memory if taken is not None), default=None),
            sum(of_ply.tasks for of_ply in self.plies.values()),
            self.core_seconds,
            max(0.0, self.narrow_seconds),
            self.last_busy,
            self.traffic,
            self.stored,
            self.uncut,
        )

    @property
    def is_whole(self) -> bool:
        """Whether two layers stay in memory."""
        return all(shift.task_memory is None for shift in self.shifts.values())


def estimate_build(
    board: Connect4Board,
    how: How | None = None,
    *,
    root: Connect4Position | None = None,
    plies: range | None = None,
) -> Estimate:
    """What a table will take.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> estimate_build(Connect4Board(5, 4)).ranked
    2584821
    """
    how, root = how or How(), root or Connect4Position(board)
    columns = default_left_columns(board, root)
    header = make_header(board, columns, root, plies, distances=how.distances)
    counted = count_sizes(board, header.left_columns, root)
    needs = list(find_needs(counted, header))
    workers = how.processes or how.threads or available_cores()
    crew = _Crew(workers, how.processes is not None or bool(how.hands))
    disk, while_building, whole_file = _disk(counted, header)
    room = _Room(counted, header, needs, crew, whole_file)
    # Without a limit this process compiles as well: two do it in half the time.
    compiling = 0 if how.memory is not None or how.hands else COMPILING
    allowed = how.memory if how.memory is not None else _share_of_free_memory(room.least)
    hire = room.hire(how.hands, how.task_memory) if how.hands else None
    shifts, taken = room.share(allowed) if hire is None else room.spread(how.hands, hire)
    workers = max(shift.workers for shift in shifts.values())
    in_memory = taken == room.in_memory and not crew.are_processes
    times = _Times(counted, header, needs, shifts, in_memory=in_memory)
    lists = int(counted.left.sum() + counted.right.sum()) * LISTING_NANOSECONDS / 1e9
    start = times.factor * (SECONDS_AT_LEAST + lists)
    return Estimate(
        header=header,
        ranked=int(counted.ranked[header.first_ply : header.last_ply + 1].sum()),
        stored=64 * int(counted.stored_words.sum()),
        plies=times.plies,
        seconds=start + times.seconds,
        core_seconds=start + times.core_seconds,
        narrow_seconds=times.narrow,
        last_busy=float(times.last[1] / times.last[0]),
        traffic=0 if in_memory else times.traffic,
        memory=taken + compiling,
        least_memory=room.least if hire is None else taken,
        least_task_memory=room.task,
        workers=workers,
        processes=crew.are_processes,
        shifts=shifts,
        uncut=max(need.uncut for need in needs),
        in_memory=in_memory,
        disk=disk,
        disk_while_building=disk if in_memory else while_building,
        hire=hire,
    )


class _Crew(NamedTuple):
    workers: int
    are_processes: bool


class _Room:
    """Who may take how much memory."""

    def __init__(
        self, counted: Counted, header: Header, needs: list[Needs], crew: _Crew, whole_file: int
    ) -> None:
        self._needs, self._crew = needs, crew
        group = max(need.largest_group for need in needs)
        self._lists = lists_memory(counted, header)
        self._worker = worker_memory(counted, header, group)
        chunks = int(counted.stored_words.max()) // CHUNK_WORDS + 1
        self._base = base_memory()
        self._driver = self._base + BYTES_PER_CHUNK * chunks + 40 * counted.sizes.words.size
        self.task = max(max(need.largest, need.mirroring) for need in needs)
        self.least = self._fixed(1) + self._most
        layers = layers_memory(counted, header, needs)
        self.whole = self._fixed(1) + layers + crew.workers * self._worker
        words = int(counted.stored_words.sum())
        self.in_memory = self.whole + 2 * whole_file
        self._is_short = 64 * words <= IN_MEMORY_BITS
        if not crew.are_processes:
            self.least = min(self.least, self.whole)

    def _fixed(self, processes: int) -> int:
        """What a build takes beside its workers' tasks."""
        lists = self._lists
        if self._crew.are_processes:
            return self._driver + lists + processes * (self._base + lists)
        return self._driver + lists

    def share(self, allowed: int | None) -> tuple[dict[int, Shift], int]:
        """How every layer is worked on, and the bytes that are taken."""
        if not self._crew.are_processes:
            for taken, fits in ((self.in_memory, self._is_short), (self.whole, True)):
                if fits and (allowed is None or taken <= allowed):
                    whole = Shift(self._crew.workers, None)
                    return {need.ply: whole for need in self._needs}, taken
        if allowed is None:
            allowed = self._needed(self._crew.workers)
        taken, allowed = allowed, max(allowed, self.least)
        workers = self._crew.workers
        if self._crew.are_processes:
            workers = self._processes(allowed)
        shifts = {}
        for need in self._needs:
            free = allowed - self._fixed(workers)
            walking, mirroring = (
                self._shift(free, workers, least) for least in (need.largest, need.mirroring)
            )
            shifts[need.ply] = walking._replace(mirroring=mirroring)
        return shifts, taken

    def _shift(self, free: int, workers: int, least: int) -> Shift:
        """How many work at once, and what each may take beside its buffers."""
        aside = self._worker
        if not self._crew.are_processes:
            workers = max(1, min(workers, free // (aside + least)))
        return Shift(workers, free // workers - aside)

    def hire(self, hands: tuple[Hand, ...], task_memory: int | None) -> Hire:
        """What workers of a cluster take; by default their threads share their memory."""
        aside = BASE + COMPILING + self._lists
        return Hire.of(hands, task_memory, aside=aside, least=self._most)

    def spread(self, hands: tuple[Hand, ...], hire: Hire) -> tuple[dict[int, Shift], int]:
        """How every layer is worked on by a cluster, and the bytes that its driver takes."""
        shift = Shift(hire.places(hands), hire.each - self._worker)
        shifts = {need.ply: shift for need in self._needs}
        return shifts, self._driver + COMPILING + self._lists

    @property
    def _most(self) -> int:
        return self._worker + self.task

    def _needed(self, workers: int) -> int:
        """What so many workers need, each for any task."""
        return self._fixed(workers) + workers * self._most

    def _processes(self, allowed: int) -> int:
        """So many processes fit, each with lists of its own."""
        number = self._crew.workers
        while number > 1 and self._needed(number) > allowed:
            number -= 1
        return number


class _Times:
    """How long the layers take."""

    def __init__(
        self,
        counted: Counted,
        header: Header,
        needs: list[Needs],
        shifts: dict[int, Shift],
        *,
        in_memory: bool,
    ) -> None:
        self._cutter = Cutter(counted.sizes, distances=bool(header.distances))
        self._counted, self._in_memory = counted, in_memory
        self._header = header
        self.factor = factor = machine_factor()
        more = DISTANCES_IN_TIME if header.distances else 1.0
        self._factor = factor * more
        self.seconds = self.core_seconds = self.narrow = 0.0
        self.last = np.zeros(2)  # of the last plies: seconds of all workers, and those of work
        self.traffic = 0
        self.plies: dict[int, PlyPlan] = {}
        for need in needs:
            self._add(need, shifts[need.ply])

    def _add(self, need: Needs, shift: Shift) -> None:
        words = int(self._counted.stored_words[need.ply])
        kept = words if need.ply in self._header.plies else 0
        rows = int(self._counted.rows[need.ply])
        whole = Work(words, rows, need.mirrored, written=words, counted=words, kept=kept)
        if shift.task_memory is None:
            phases = [self._in_layers(need, shift, whole)]
        else:
            phases = [self._mirroring(need, shift), self._in_tasks(need, shift, whole)]
        seconds = sum(phase.seconds for phase in phases)
        core_seconds = sum(phase.core_seconds for phase in phases)
        self.core_seconds += core_seconds
        self.seconds += seconds
        self.narrow += seconds - core_seconds / shift.workers
        if need.ply > self._counted.sizes.last_ply - LAST_PLIES:
            self.last += np.array([seconds * shift.workers, core_seconds])
        packed = 8 * bits_in_file(self._counted)
        if self._header.distances:
            packed *= DISTANCES_IN_FILE
        self.traffic += int(sum(phase.moved for phase in phases) * packed)
        self.plies[need.ply] = PlyPlan(
            64 * words,
            seconds,
            8 * len(self._header.planes(need.ply)) * (words + need.mirrored),
            need.groups,
            sum(phase.tasks for phase in phases),
            need.uncut,
        )

    def _in_layers(self, need: Needs, shift: Shift, whole: Work) -> _Phase:
        """A layer that is in memory, as is the one it reads."""
        tasks = min(need.groups, TASKS_PER_WORKER * shift.workers)
        work = whole._replace(read=whole.words // 2)
        if self._in_memory:
            work = work._replace(read=0, written=0)
        seconds = seconds_of(work, self._factor)
        return _phase(np.full(tasks, seconds / tasks), shift.workers, work)

    def _in_tasks(self, need: Needs, shift: Shift, whole: Work) -> _Phase:
        """The tasks that walk a layer, one by one."""
        assert shift.task_memory is not None
        side = counted_side(self._counted.sizes, need.ply, MANY_GROUPS)
        task = Task("walk", need.ply, 0, len(side.words))
        pieces = TASKS_PER_WORKER * shift.workers
        batches = self._cutter.cut(task, side, shift.task_memory, pieces)
        own, read = batches[:, 1], batches[:, 2] + batches[:, 1] // 2
        own_work = whole._replace(mirrored=0)
        walking = seconds_of(own_work, self._factor)
        costs = walking * own / max(whole.words, 1) + read * seconds_of(Work(read=1), self._factor)
        tasks = np.ones_like(own)
        if len(side.words) < need.groups:  # bundles of strips: as many tasks as they would be
            planes = Planes(self._header.board.cells, bool(self._header.distances))
            at_once = shift.task_memory // (8 * planes.of(need.ply))
            tasks = -(-batches[:, 1:].sum(axis=1) // max(at_once, 1))
        return _phase(costs, shift.workers, own_work._replace(read=int(read.sum())), tasks)

    def _mirroring(self, need: Needs, shift: Shift) -> _Phase:
        """The tasks that mirror what a layer reads: giants by rectangles, the others in groups."""
        shift = shift.mirroring or shift
        work = Work(0, 0, need.mirrored, READ_TO_MIRROR * need.mirrored, need.mirrored)
        rest = need.mirrored - int(need.made.sum())
        pieces = min(max(1, need.groups), TASKS_PER_WORKER * shift.workers)
        words = np.append(need.made, np.full(pieces, rest / pieces))
        seconds = seconds_of(work, self._factor)
        return _phase(seconds * words / max(need.mirrored, 1), shift.workers, work)


class _Phase(NamedTuple):
    """Tasks between two barriers."""

    seconds: float
    core_seconds: float
    tasks: int
    moved: int  # words read and written


def _phase(
    costs: NDArray[np.float64],
    workers: int,
    work: Work,
    tasks: NDArray[np.int64] | None = None,
) -> _Phase:
    """What tasks of so many seconds take if each worker takes the next one when it is free.

    Or bundles of so many `tasks`.
    """
    some = costs > 0
    tasks = np.ones(len(costs), np.int64)[some] if tasks is None else tasks[some]
    costs = costs[some] + SECONDS_PER_TASK * tasks
    total, seconds, number = float(costs.sum()), 0.0, int(tasks.sum())
    if number > MANY_TASKS:
        seconds = total / workers + total / number
    elif len(costs):
        free = [0.0] * workers
        for cost in costs.tolist():
            heapq.heappush(free, heapq.heappop(free) + cost)
        seconds = max(free)
    return _Phase(seconds, total, number, work.read + work.written)


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
    board: Connect4Board,
    left_columns: int,
    root: Connect4Position,
    plies: range | None = None,
    *,
    distances: bool = False,
) -> Header:
    """The header of a table of some plies, by default all, from a root."""
    mirror = int(2 * left_columns >= board.width and not root.ply)
    first, last = root.ply, board.cells
    if plies is not None:
        if not (len(plies) and first <= plies[0] and plies[-1] <= last):
            found = f"{plies.start}..{plies.stop - 1}"
            raise BadTextError(f"found plies {found}, wanted some of {first}..{last}")
        first, last = plies[0], plies[-1]
    sizes = (board.width, board.height, board.connect)
    moves = "".join(column_text(column) for column in find_moves(root.check()) or ())
    return Header(
        *sizes, left_columns, mirror, first_ply=first, last_ply=last, root=moves,
        distances=int(distances),
        format_version=WITH_DISTANCES if distances else VERSION,
    )  # fmt: skip


def _share_of_free_memory(least: int) -> int | None:
    free = available_memory()
    return None if free is None else max(least, int(SHARE_OF_FREE_MEMORY * free) - COMPILING)
