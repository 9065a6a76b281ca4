"""Building a table: planned, refused if it does not fit, resumable, whole or not there.

    plan      what it will take                                         `plan`
    walk      layer by layer; what is finished is kept in parts         `halves`, `keys`
    join      the parts become the finished file

Whatever stops a build, the same call goes on from the parts that are whole, on any number of
threads, processes or a cluster. The bytes of the values do not depend on who worked, or on memory.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from retro.ahead import compile_ahead
from retro.cores import available_cores
from retro.errors import (
    BadTextError,
    DamagedFileError,
    DoesNotFitError,
    FormatVersionError,
    GameOverError,
    IncompleteTableError,
    WrongBoardError,
)
from retro.games.catalogue import make_board
from retro.games.connect4.rules import Connect4Position
from retro.memory import memory_bytes
from tablebase.building.driver import Driver
from tablebase.building.options import BuildOptions
from tablebase.building.partial import Resume
from tablebase.building.plan import WorkerSpec, kept_plies
from tablebase.building.workers import Workers
from tablebase.files.atomic import (
    is_begun,
    only_builder,
    parts_folder,
    parts_place,
    parts_size,
    tidy_parts,
)
from tablebase.files.places import path_to_write, table_path
from tablebase.tables import DEFAULT_CACHE_BYTES, open_checked

if TYPE_CHECKING:
    from collections.abc import Callable

    from retro.games.game import Board, Position
    from tablebase.building.cluster import Cluster
    from tablebase.building.driver import Build
    from tablebase.building.plan import Plan, Progress


def plan(
    board: Board | str,
    *,
    root: object = None,
    plies: range | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    processes: int | None = None,
    counts: bool = True,
    distances: bool = False,
    cluster: str | None = None,
    task_memory: int | str | None = None,
) -> Plan:
    """What building the table of a board will take.

    Parameters
    ----------
    board
        A board, or its text: `"5x4"`, `"mnk 4x4 connect=4"`.
    root
        Build everything that can arise from this position; by default from the start.
    plies
        Keep the values of these plies only; by default of all. All are walked and counted.
    memory
        What the build may take: bytes, or `"4G"`; by default as much as helps.
    threads
        Default: all cores.
    processes
        Work in so many processes instead, each with its own share of the memory.
    counts
        Positions are counted in any case, which costs next to nothing. Of Connect Four `False`
        is accepted, and says so.
    distances
        Also keep in how many plies every position ends; the values are the same. Of every game.
    cluster
        Work on a Dask cluster: the address of its scheduler, `"tcp://host:8786"`, or `"local"`
        to start one on this machine, with so many threads, processes and memory.
    task_memory
        What one task may take there; by default the threads of a worker share its memory. A
        plan may ask for it without a cluster: what so many threads would take, wherever they are.
    """
    options = BuildOptions(
        _bytes(memory), threads, processes, counts, distances, cluster, _bytes(task_memory)
    )
    start = _root(make_board(board), root)
    if cluster is None and task_memory is not None:
        anywhere = WorkerSpec(processes or threads or available_cores(), 1 << 62)
        return _plan(start, plies, options, (anywhere,))
    with _pool(options) as pool:
        return _plan(start, plies, options, pool.specs() if pool else ())


def _plan(
    start: Position, plies: range | None, options: BuildOptions, workers: tuple[WorkerSpec, ...]
) -> Plan:
    kept = kept_plies(start, plies)
    if isinstance(start, Connect4Position):
        from tablebase.building.halves.plan import make_plan

        return make_plan(start, options, kept, workers)
    from tablebase.building.keys.plan import make_plan as make_keys_plan

    return make_keys_plan(start, options, kept, workers)


def _builder(board: Board) -> Callable[..., Build]:
    """What tells the driver of builds of a board's index."""
    if board.game.index == "two-halves":
        from tablebase.building.halves.builder import HalvesBuild

        return HalvesBuild
    from tablebase.building.keys.builder import KeysBuild

    return KeysBuild


def _pool(
    options: BuildOptions, announce: Callable[[str], None] = lambda _: None
) -> contextlib.AbstractContextManager[Cluster | None]:
    """The cluster that works, if one does; to be closed."""
    if options.cluster is None:
        if options.task_memory is not None:
            raise BadTextError("found a task memory, wanted a cluster, too")
        return contextlib.nullcontext()
    try:
        from tablebase.building.cluster import open_cluster
    except ImportError as error:
        needed = "pip install 'retro-tablebase[cluster]'"
        raise BadTextError(f"a cluster needs dask: {needed} ({error})") from None
    return open_cluster(
        options.cluster,
        announce,
        threads=options.threads,
        processes=options.processes,
        memory=options.memory,
    )


def _bytes(memory: int | str | None) -> int | None:
    return None if memory is None else memory_bytes(memory)


def _root(board: Board, root: object) -> Position:
    """The position that a table grows from."""
    start = board.start() if root is None else board.position(root).check()
    if start.is_over():
        raise GameOverError(f"{start.over_message()}; no table grows from there")
    return start


@dataclass(frozen=True)
class Built:
    """A finished table."""

    path: Path
    seconds: float
    was_there: bool  # nothing had to be done


def build(
    board: Board | str,
    path: Path | str | None = None,
    *,
    folder: Path | str | None = None,
    root: object = None,
    plies: range | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    processes: int | None = None,
    counts: bool = True,
    distances: bool = False,
    cluster: str | None = None,
    task_memory: int | str | None = None,
    work_dir: Path | str | None = None,
    force: bool = False,
    report: Callable[[Progress], None] = lambda _: None,
    announce: Callable[[str], None] = lambda _: None,
) -> Built:
    """Build the table of a board, or finish one that was begun, or find that it is there.

    Parameters
    ----------
    board, root, plies, memory, threads, processes, counts, distances, cluster, task_memory
        As `plan` takes them.
    path, folder
        Where the file goes; by default `tables/NAME.h5`, see `files.places`.
    work_dir
        Where the parts are kept until the file is finished; by default beside it. All workers
        of a cluster must have this folder, under the same name.
    force
        Build again from nothing, even if the table is there.
    report
        Called as the build goes on.
    announce
        Called before the work begins with what it will take, and with a warning if that
        may be more than there is; then with what becomes of what an earlier run has left.
    """
    begin = time.monotonic()
    asked = make_board(board)
    start = _root(asked, root)
    where = path_to_write(table_path(start, folder) if path is None else Path(path))
    options = BuildOptions(
        _bytes(memory), threads, processes, counts, distances, cluster, _bytes(task_memory),
        work_dir, force,
    )  # fmt: skip
    beside = parts_place(where, work_dir)
    if where.exists() and not force:
        _require_same(where, start, plies, options)
        tidy_parts(beside)
        return Built(where, time.monotonic() - begin, was_there=True)
    with contextlib.ExitStack() as stack:
        stack.enter_context(compile_ahead(asked.game.index, alone=memory is not None))
        pool = stack.enter_context(_pool(options, announce))
        specs = pool.specs() if pool is not None else ()
        found = _plan(start, plies, options, specs)
        _require_fit(found, beside, announce)
        if not counts:
            announce("counting costs next to nothing: positions are counted all the same")
        resume, was_begun = Resume(announce), is_begun(beside)
        for place in dict.fromkeys([where, beside]):
            stack.enter_context(only_builder(place))
        if was_begun and not parts_folder(beside).exists():
            resume.starts_over("an earlier run was stopped and has kept nothing")
        workers = stack.enter_context(Workers(found, pool))
        of_index = _builder(asked)(found, where, beside, workers, force=force)
        Driver(of_index, workers, report, resume).run()
        resume.end()
    return Built(where, time.monotonic() - begin, was_there=False)


def _require_fit(found: Plan, beside: Path, announce: Callable[[str], None]) -> None:
    """Say what a build will take; refuse it if that is more than there is."""
    written = parts_size(beside)
    obstacle = found.obstacle(beside.parent, written)
    if obstacle is not None:
        raise DoesNotFitError(obstacle)
    announce(f"{found.title}: {found.summary()}")
    warning = found.warning(beside.parent, written)
    if warning is not None:
        announce(f"warning: {warning}")


def _require_same(path: Path, root: Position, plies: range | None, options: BuildOptions) -> None:
    """Refuse a file that is not the table asked for."""
    try:
        with open_checked(path, root, DEFAULT_CACHE_BYTES) as table:
            wanted = kept_plies(root, plies)
            if table.plies != range(wanted.start, min(wanted.stop, table.counts[-1].ply + 1)):
                raise WrongBoardError(
                    f"{path} holds plies {table.plies[0]}..{table.plies[-1]}, "
                    f"not {wanted[0]}..{wanted[-1]}"
                )
            # A root is not over, so something follows it, and is counted if anything is.
            if options.counts and not sum(of.positions for of in table.counts[1:]):
                raise WrongBoardError(f"{path} was built without counts")
            if options.distances and not table.has_distances:
                raise WrongBoardError(f"{path} was built without distances")
    except (DamagedFileError, FormatVersionError, IncompleteTableError) as error:
        raise type(error)(f"{error}; say --force to build it again") from error
    except WrongBoardError as error:
        raise WrongBoardError(f"{error}; choose another file or say --force") from None
