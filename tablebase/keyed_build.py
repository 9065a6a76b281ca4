"""Building tables of any game: joins the generic walk to its store.

    forecast   what it will take; refused if that is surely too much
    forward    keys of every ply, written as they are found
    backward   values and counts of every ply, written as they are found
    join       one file

Two layers are in memory at a time, so memory is at most about twice the keys of the two
largest neighbouring layers, and half a gigabyte. An interrupted build goes on
after the last part that is whole.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from retro.errors import (
    DamagedFileError,
    DoesNotFitError,
    FormatVersionError,
    IncompleteTableError,
    WrongBoardError,
)
from retro.walk import keyed as walks
from retro.walk.sorting import empty_keys
from tablebase.estimate import available_memory
from tablebase.files import only_builder
from tablebase.keyed_estimate import BASE_MEMORY, estimate_keyed, require_fit
from tablebase.keyed_format import KeyedRecord, header_for, record_of
from tablebase.keyed_store import KeyedTableFile, PartialKeyedTable, digest_layer, pack_values
from tablebase.places import keyed_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from retro.games.catalogue import PlacementGame
    from retro.walk.sorting import Keys


class KeyedProgress(NamedTuple):
    """How far a build has come."""

    phase: Literal["forward", "backward"]
    ply: int
    positions: int  # canonical unfinished ones of this ply


@dataclass(frozen=True)
class KeyedBuild:
    """A finished table."""

    path: Path
    value: int
    records: list[KeyedRecord]
    size: int
    seconds: float
    was_there: bool  # nothing had to be done


def build_keyed(
    game: PlacementGame,
    root: Any,
    path: Path | str | None = None,
    *,
    threads: int | None = None,
    force: bool = False,
    report: Callable[[KeyedProgress], None] = lambda _: None,
    announce: Callable[[str], None] = lambda _: None,
) -> KeyedBuild:
    """Build the table of all that can follow `root`, or finish one that was begun.

    Parameters
    ----------
    game, root
        A game of the catalogue and a position of it; `game.start(board)` for the whole board.
    path
        Where the file goes; by default `tables/NAME.h5`, see `places`.
    threads
        Default: all cores. The bytes do not depend on it.
    force
        Build again from nothing, even if the table is there.
    report
        Called after every ply.
    announce
        Called before the first ply with a line that says what the build will take, and with
        a warning if that may be more than there is. If it surely is: `DoesNotFitError`.
    """
    begin = time.monotonic()
    path = keyed_path(game, root) if path is None else Path(path)
    rules = game.rules(root.board)
    partial = PartialKeyedTable(path, header_for(game, root, rules.words))
    if path.exists() and not force:
        try:
            return _finished(partial, begin, was_there=True)
        except (DamagedFileError, FormatVersionError, IncompleteTableError) as error:
            raise type(error)(f"{error}; say --force to build it again") from error
        except WrongBoardError as error:
            raise WrongBoardError(f"{error}; choose another file or say --force") from None
    walk = walks.prepare(rules, threads, _memory(path))
    first = walks.first_layer(walk, game.state(root))
    written = sum(part.stat().st_size for part in partial.folder.glob("*.h5"))
    estimate = estimate_keyed(game, root, threads)
    warning = require_fit(estimate, path.parent, written)
    announce(f"{estimate.name}: {estimate.summary()}")
    if warning is not None:
        announce(f"warning: {warning}")
    with only_builder(path):
        if force:
            partial.discard()
        try:
            last_ply = _forward(walk, partial, first, report)
            value, records = _backward(walk, partial, last_ply, report)
        except DoesNotFitError as error:
            raise DoesNotFitError(
                f"the table {path.stem} does not fit: {error}; "
                f"what is finished is kept in {partial.folder}"
            ) from None
        partial.join(value, records)
    return _finished(partial, begin, was_there=False)


def _memory(path: Path) -> int | None:
    available = available_memory()
    if available is None:
        return None
    if available < BASE_MEMORY:
        raise DoesNotFitError(
            f"a build of {path.stem} needs half a gigabyte of memory at least, "
            f"there are {available / 1e9:.2g} GB"
        )
    return available - BASE_MEMORY


def _finished(partial: PartialKeyedTable, begin: float, *, was_there: bool) -> KeyedBuild:
    with KeyedTableFile(partial.path) as table:
        if table.header != partial.header:
            raise WrongBoardError(
                f"{partial.path} holds {table.header.game} {table.header.board} "
                f"{table.header.options} from {table.header.root or 'the empty board'!r}"
            )
        seconds = time.monotonic() - begin
        return KeyedBuild(table.path, table.value, table.records, table.size, seconds, was_there)


def _forward(
    walk: walks.Walk,
    partial: PartialKeyedTable,
    first: Keys,
    report: Callable[[KeyedProgress], None],
) -> int:
    """Walk forward from where the parts end; returns the last ply."""
    resumed = _resume_keys(partial)
    if resumed is None:
        ply, layers = partial.header.first_ply, walks.forward(walk, first)
    else:
        ply, keys, ended = resumed
        layers = walks.forward(walk, keys, ended)
        next(layers)  # is written
        ply += 1
    for keys, ended in layers:
        partial.write_keys(ply, keys, ended)
        report(KeyedProgress("forward", ply, keys.size))
        ply += 1
    return ply - 1


def _resume_keys(partial: PartialKeyedTable) -> tuple[int, Keys, NDArray[np.int64]] | None:
    """The last ply whose keys are there, as all before it are; what is damaged is written anew."""
    ply = partial.header.first_ply
    while partial.part("keys", ply).exists():
        ply += 1
    while ply > partial.header.first_ply:
        ply -= 1
        with contextlib.suppress(DamagedFileError):
            return ply, *partial.read_keys(ply)
    return None


def _backward(
    walk: walks.Walk,
    partial: PartialKeyedTable,
    last_ply: int,
    report: Callable[[KeyedProgress], None],
) -> tuple[int, list[KeyedRecord]]:
    """Walk back, using values that are there; the value of the root and the counts of all plies."""
    keys, values = empty_keys(0, walk.rules.words), np.empty(0, np.int8)
    records = []
    for ply in range(last_ply, partial.header.first_ply - 1, -1):
        after, after_values = keys, values
        try:
            keys, ended = partial.read_keys(ply)
        except DamagedFileError as error:
            partial.discard()
            raise type(error)(f"{error}; run the same command again to begin anew") from error
        try:
            values, record = partial.read_values(ply, keys)
        except (DamagedFileError, KeyError):
            values = walks.evaluate(walk, keys, after, after_values)
            counts = walks.count(walk, ply, keys, values, ended)
            record = record_of(counts, keys.size, digest_layer(keys, pack_values(values)))
            partial.write_values(ply, values, record)
        records.append(record)
        report(KeyedProgress("backward", ply, keys.size))
    return int(values[0]), records[::-1]
