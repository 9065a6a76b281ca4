"""Building a table: the walks joined to the store, resumable after every ply.

    backward walk   ply N ... 0    each finished ply is compressed and written
                                   by a thread of its own while the next is walked
    forward walk    ply 0 ... N    reads the plies back, checks their digests and
                                   counts the legal positions of each value
    join            parts and counts become the finished file

Whatever stops a build, the same call goes on after the last ply that was
written. Same bytes in every ply for any number of threads.
"""

from __future__ import annotations

import contextlib
import os
import time
from concurrent.futures import Future, ThreadPoolExecutor
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
from retro.index.layout import default_left_columns
from retro.walk.layers import Prepared, backward, forward, prepare
from tablebase.estimate import estimate_build, require_fit
from tablebase.format import Header, PlyRecord, header_for
from tablebase.places import table_path
from tablebase.store import PartialTable, TableFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from retro.games.connect import Board
    from retro.walk.layers import Counts
    from tablebase.store import Values


class Progress(NamedTuple):
    """How far a build has come."""

    phase: Literal["walk", "count"]
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
    threads: int | None = None,
    force: bool = False,
    report: Callable[[Progress], None] = lambda _: None,
) -> BuildResult:
    """Build the table of a board, or finish one that was begun, or find that it is there.

    Parameters
    ----------
    board
        The board to solve.
    path
        Where the file goes; by default `tables/NAME.h5`, see `places`.
    threads
        Default: all cores. The bytes of the values do not depend on it.
    force
        Build again from nothing, even if the table is there.
    report
        Called after every ply.
    """
    begin = time.monotonic()
    path = table_path(board) if path is None else Path(path)
    header = header_for(board, default_left_columns(board))
    partial = PartialTable(path, header)
    if path.exists() and not force:
        try:
            result = _finished(path, board, begin, was_there=True)
        except (DamagedFileError, FormatVersionError, IncompleteTableError) as error:
            raise type(error)(f"{error}; say --force to build it again") from error
        if partial.folder.exists():
            _tidy(partial)
        return result
    require_fit(estimate_build(board), path.parent, already_written=partial.size())
    with _only_builder(partial):
        if force:
            partial.discard()
        prepared = prepare(board, header.left_columns, threads)
        _walk(prepared, partial, report)
        counts = _count(prepared, partial, report)
        partial.join(_root_value(counts[0]), counts)
    return _finished(path, board, begin, was_there=False)


def _tidy(partial: PartialTable) -> None:
    """Remove parts that a build left when it died after joining; not those of a build at work."""
    with contextlib.suppress(StorageError), _only_builder(partial):
        partial.discard()


def _finished(path: Path, board: Board, begin: float, *, was_there: bool) -> BuildResult:
    with TableFile(path) as table:
        if table.header.board != board:
            raise WrongBoardError(
                f"{path} holds {table.header.board.name}, not {board.name}; "
                "choose another file or say --force"
            )
        seconds = time.monotonic() - begin
        return BuildResult(
            path, table.header, table.value, table.records, table.size, seconds, was_there
        )


def _root_value(counts: Counts) -> int:
    return counts.win - counts.loss


def _walk(prepared: Prepared, partial: PartialTable, report: Callable[[Progress], None]) -> None:
    """Walk backward from where the parts end, writing each ply while the next is walked."""
    words = prepared.layout.layer_words
    above, next_ply = _resume(partial)
    resumed = int(words[next_ply + 1 :].sum())
    done = resumed
    with ThreadPoolExecutor(1) as writer:
        writing: Future[None] | None = None
        for ply, values in backward(prepared, above, next_ply):
            if writing is not None:
                writing.result()
            writing = writer.submit(partial.write, ply, values)
            done += int(words[ply])
            report(Progress("walk", ply, 64 * done, 64 * int(words.sum()), 64 * resumed))
        if writing is not None:
            writing.result()


def _resume(partial: PartialTable) -> tuple[Values | None, int]:
    """The values of the last whole ply that was written, and the ply to go on with."""
    for ply in reversed(partial.finished_plies()):
        try:
            return partial.read(ply), ply - 1
        except DamagedFileError:
            partial.part(ply).unlink()
    return None, partial.header.last_ply


def _count(
    prepared: Prepared, partial: PartialTable, report: Callable[[Progress], None]
) -> list[Counts]:
    """Walk forward, counting; the next ply is read while this one is counted."""
    words = prepared.layout.layer_words
    done = 0
    counts = []
    with ThreadPoolExecutor(1) as reader:
        reading = {0: reader.submit(partial.read, 0)}

        def values_of(ply: int) -> Values:
            if ply < partial.header.last_ply:
                reading[ply + 1] = reader.submit(partial.read, ply + 1)
            try:
                return reading.pop(ply).result()
            except DamagedFileError as error:
                partial.part(ply).unlink(missing_ok=True)
                raise type(error)(f"{error}; run the same command again to mend it") from error

        for here, _ in forward(prepared, values_of):
            counts.append(here)
            done += int(words[here.ply])
            report(Progress("count", here.ply, 64 * done, 64 * int(words.sum()), 0))
    return counts


@contextlib.contextmanager
def _only_builder(partial: PartialTable) -> Iterator[None]:
    """Keep a second build of the same table out; the lock dies with its process."""
    try:
        import fcntl
    except ImportError:  # not a POSIX system: two builds at once would only waste time
        yield
        return
    lock = partial.path.with_name(partial.path.name + ".lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise StorageError(f"cannot write {lock.parent}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StorageError(f"another process is building {partial.path}") from None
        yield
        lock.unlink(missing_ok=True)
    finally:
        os.close(descriptor)
