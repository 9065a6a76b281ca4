"""Building a table: the walks joined to the store, resumable after every group.

    forward walk    root ... full board    marks what can arise and counts it
    backward walk   full board ... root    values; each group is counted, packed
                                           and written by the thread that walked it
    join            the plies become the finished file

Whatever stops a build, the same call goes on after the last group that was
written. Same bytes in every ply for any number of threads and any memory.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from retro.errors import (
    DamagedFileError,
    FormatVersionError,
    IncompleteTableError,
    StorageError,
    WrongBoardError,
)
from retro.index.layout import make_layout
from retro.walk.layer import layer_groups
from retro.walk.layers import Prepared, backward, forward, prepare_layout
from tablebase.estimate import Estimate, estimate_build, require_fit
from tablebase.files import only_builder
from tablebase.keeper import GroupFiles, PlyMaker
from tablebase.places import table_path
from tablebase.store import PartialTable, TableFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from retro.games.connect import Board, Position
    from tablebase.format import Header, PlyRecord


class Progress(NamedTuple):
    """How far a build has come."""

    phase: Literal["mark", "walk"]
    ply: int
    done: int  # positions, padding included
    total: int
    resumed: int  # of `done`, what an earlier run had done


@dataclass(frozen=True)
class BuildResult:
    """A finished table."""

    path: Path
    header: Header
    value: int
    records: list[PlyRecord]
    size: int
    seconds: float
    was_there: bool  # nothing had to be done


def build_tablebase(
    board: Board,
    path: Path | str | None = None,
    *,
    root: Position | None = None,
    plies: range | None = None,
    memory: int | None = None,
    threads: int | None = None,
    force: bool = False,
    report: Callable[[Progress], None] = lambda _: None,
    announce: Callable[[str], None] = lambda _: None,
) -> BuildResult:
    """Build the table of a board, or finish one that was begun, or find that it is there.

    Parameters
    ----------
    board
        The board to solve.
    path
        Where the file goes; by default `tables/NAME.h5`, see `places`.
    root
        Build everything that can arise from this position; by default from the empty board.
    plies
        Keep the values of these plies only; by default of all. Counts are kept of every ply.
    memory
        Bytes that the build may take; by default as much as helps, at most most of what is free.
    threads
        Default: all cores. The bytes of the values do not depend on it.
    force
        Build again from nothing, even if the table is there.
    report
        Called after every ply.
    announce
        Called once before the work begins, with what it will take.
    """
    begin = time.monotonic()
    estimate = estimate_build(board, root=root, plies=plies, memory=memory)
    header = estimate.header
    path = table_path(board, root=header.root) if path is None else Path(path)
    partial = PartialTable(path, header)
    if path.exists() and not force:
        try:
            result = _finished(path, header, begin, was_there=True)
        except (DamagedFileError, FormatVersionError, IncompleteTableError) as error:
            raise type(error)(f"{error}; say --force to build it again") from error
        except WrongBoardError as error:
            raise WrongBoardError(f"{error}; choose another file or say --force") from None
        if partial.folder.exists():
            _tidy(partial)
        return result
    require_fit(estimate, path.parent, already_written=partial.size())
    announce(f"{header.name}: {estimate.summary()}")
    with only_builder(partial.path):
        if force:
            partial.discard()
        partial.open()
        layout = estimate.layout or make_layout(board, header.left_columns, root)
        prepared = prepare_layout(layout, threads)
        first_ply = _resume(prepared, partial)
        _mark(prepared, partial, first_ply, estimate, report)
        _walk(prepared, partial, first_ply, estimate, report)
        partial.join()
    return _finished(path, header, begin, was_there=False)


def _tidy(partial: PartialTable) -> None:
    """Remove parts that a build left when it died after joining; not those of a build at work."""
    with contextlib.suppress(StorageError), only_builder(partial.path):
        partial.discard()


def _finished(path: Path, header: Header, begin: float, *, was_there: bool) -> BuildResult:
    with TableFile(path) as table:
        found = table.header
        if (found.board, found.root) != (header.board, header.root):
            raise WrongBoardError(f"{path} holds {found.name}, not {header.name}")
        if found.plies != header.plies:
            raise WrongBoardError(
                f"{path} holds plies {found.first_ply}..{found.last_ply}, not "
                f"{header.first_ply}..{header.last_ply}"
            )
        seconds = time.monotonic() - begin
        return BuildResult(
            path, table.header, table.value, table.records, table.size, seconds, was_there
        )


def _resume(prepared: Prepared, partial: PartialTable) -> int:
    """The ply with which the backward walk goes on. What cannot be gone on from is removed."""
    finished = partial.finished_plies()
    if not finished:
        return partial.header.counted_plies[-1]
    last = finished[-1]
    try:
        for ply in finished:
            partial.check_part(ply)
        is_whole = partial.has_groups("walk", last, len(layer_groups(prepared.layout, last)))
    except DamagedFileError:
        is_whole = False
    if is_whole or last == partial.header.counted_plies[0]:
        return last - 1
    partial.discard()
    partial.open()
    return partial.header.counted_plies[-1]


def _mark(
    prepared: Prepared,
    partial: PartialTable,
    last_ply: int,
    estimate: Estimate,
    report: Callable[[Progress], None],
) -> None:
    """Walk forward to the ply where the backward walk begins, writing every group."""
    layout = prepared.layout
    first_ply = layout.first_ply
    while first_ply <= last_ply and partial.has_groups(
        "alive", first_ply, len(layer_groups(layout, first_ply))
    ):
        first_ply += 1
    if first_ply > last_ply:
        return
    words = layout.stored_words[: last_ply + 1]
    resumed = int(words[:first_ply].sum())
    done = resumed
    keeper = GroupFiles(partial, "alive")
    memory = estimate.layer_memory
    for _, layer in forward(prepared, keeper, first_ply=first_ply, memory=memory):
        done += int(words[layer.ply])
        report(Progress("mark", layer.ply, 64 * done, 64 * int(words.sum()), 64 * resumed))
        if layer.ply == last_ply:
            break


def _walk(
    prepared: Prepared,
    partial: PartialTable,
    first_ply: int,
    estimate: Estimate,
    report: Callable[[Progress], None],
) -> None:
    """Walk backward from where the parts end, making the part of every ply."""
    if first_ply < prepared.layout.first_ply:
        return
    words = prepared.layout.stored_words
    resumed = int(words[first_ply + 1 :].sum())
    done = resumed
    memory = estimate.layer_memory
    with PlyMaker(partial, prepared, first_ply) as keeper:
        for layer in backward(prepared, keeper, first_ply=first_ply, memory=memory):
            keeper.complete(layer.ply)
            done += int(words[layer.ply])
            report(Progress("walk", layer.ply, 64 * done, 64 * int(words.sum()), 64 * resumed))
