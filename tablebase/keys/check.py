"""Checking a table of sorted keys against the rules.

    spot     header, and random positions: the stored value is the best over the successors'
             values, by the plain rules
    quick    header and digests; the keys and counts made again by the walk forward
    sample   both
    full     sample, and every stored position by `check_kernels`: order, canonical form, value, and
             that the keys are those that play can reach, no more and no less

A table may keep some plies only. Then `sample` leaves its last ply out, whose successors are not
there; `full` makes the other plies again, holds them to `check_kernels` as well, and so has the
successors of the last kept ply, and the counts of all.

    ply   0   1   2 [ 3   4   5 ] 6   7   8       kept: 3 to 5
          ^ made again             ^ made again, walked back, and the values of 5 held against 6

`check_kernels` shares nothing with the walk, the plain rules nothing with the jitted ones but the
canonical form of a key. `check_by_search` compares values with the forward search.
A fault raises `VerificationError` (or `ChecksumError`) and names the position.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from retro.errors import TablebaseError, VerificationError
from retro.games.kernels import canonical_of
from retro.games.values import VALUE_NAMES
from retro.index.keys.sorting import empty_keys
from retro.walk.keys import layers as walks
from retro.walk.keys.scores import DECIDED, plies_of, values_of
from tablebase.answers import Verified
from tablebase.keys.check_kernels import (
    NOT_CANONICAL,
    NOT_CLOSED,
    NOT_LIVE,
    NOT_REACHED,
    ORDER,
    SCORES,
    VALUES,
    WRONG_VALUE,
    find_fault,
    find_unreached,
)
from tablebase.keys.format import record_of
from tablebase.keys.store import Page

if TYPE_CHECKING:
    from retro.games.game import Position
    from retro.index.keys.keys import Keys
    from tablebase.answers import Level, Report
    from tablebase.keys.check_kernels import Fault
    from tablebase.keys.file import KeysFile

SAMPLES_PER_PLY = 200
SOLVER_MEMORY = "64M"


def check(
    table: KeysFile, level: Level, seed: int, report: Report, *, counts: bool = False
) -> Verified:
    """Check a table; raise at the first fault. `report(what, ply)` is called as it goes.

    With `counts` a spot check makes keys and counts again, too; the others do it anyway.
    """
    is_whole = table.plies == table.counted_plies
    is_counted = level != "spot" or counts
    if not is_whole and is_counted:  # what `full` makes again follows from keys that are right
        _check_layers(table, report)
    checked = check_every_position(table, report) if level == "full" else 0
    rng = np.random.default_rng(seed)
    followed = table.plies if table.plies[-1] == table.counted_plies[-1] else table.plies[:-1]
    for ply in followed if level != "quick" else ():
        report("sample", ply)
        layer = table.stored(ply)
        places = _some(rng, layer.keys.size)
        for place in places:
            _check_position(table, ply, layer, place)
        checked += len(places) if level != "full" else 0
    if is_whole and is_counted:
        _check_layers(table, report)
    plies = len(table.plies) if is_counted else 0
    return Verified(level, plies, plies, checked, 0, 0, 0.0)


def check_every_position(table: KeysFile, report: Report) -> int:
    """Check all keys and values by the jitted rules; returns how many there are."""
    if table.counted_plies[0] in table.plies:
        _check_root(table)
    checked = 0
    walk = walks.prepare(table.board.rules, distances=table.has_distances)
    others = _other_layers(table, walk)
    after = Page(empty_keys(0, table.board.rules.words), np.empty(0, np.int8))
    for ply in reversed(table.counted_plies):
        report("full", ply)
        if ply in table.plies:
            layer = table.stored(ply)
            checked += layer.keys.size
        else:
            layer = Page(others[ply][0], walks.evaluate(walk, others[ply][0], *after))
            _check_counts(table, walk, ply, layer, others[ply][1])
        met = np.zeros(after.keys.size, np.bool_)
        worth = SCORES if table.has_distances else VALUES
        tell = partial(report, "full", ply)
        fault = find_fault(table.board.rules, layer, after, met, tell, worth=worth)
        if fault is not None:
            raise VerificationError(_fault_text(table, ply, layer, fault))
        unreached = find_unreached(met)
        if unreached is not None:
            raise VerificationError(_fault_text(table, ply + 1, after, unreached))
        after = layer
    return checked


def _check_root(table: KeysFile) -> None:
    """The first ply holds the root alone."""
    first = table.stored(table.counted_plies[0])
    words = (np.uint64(word) for word in table.root._state)
    root = tuple(int(word) for word in canonical_of(table.board.rules, *words))
    if first.keys.size != 1 or _state(first, 0) != root:
        raise VerificationError(f"{table.path}: the first ply does not hold the root alone")


def _other_layers(table: KeysFile, walk: walks.Walk) -> dict[int, tuple[Keys, walks.Ended]]:
    """Keys, and how many games have ended there, of the plies that the table does not keep."""
    if table.plies == table.counted_plies:
        return {}
    layers = walks.forward(walk, walks.first_layer(walk, table.root._state))
    found = zip(table.counted_plies, layers, strict=True)  # as `_check_layers` has seen
    return {ply: layer for ply, layer in found if ply not in table.plies}


def _fault_text(table: KeysFile, ply: int, layer: Page, fault: Fault) -> str:
    where = f"{table.path}: ply {ply}"
    if fault.kind == ORDER:
        return f"{where} has keys out of order at place {fault.place}"
    what = {
        NOT_CANONICAL: "holds another than the chosen one of its symmetry class",
        NOT_LIVE: "holds a finished game",
        NOT_CLOSED: f"holds a position with a successor that ply {ply + 1} lacks",
        NOT_REACHED: "holds a position that no move leads to",
        WRONG_VALUE: f"holds {_text(table, int(layer.values[fault.place]))}, its "
        f"successors say {_text(table, fault.value)}, for the side to move",
    }[fault.kind]
    state = _state(layer, fault.place)
    try:
        drawn = str(table.board.unpack(*state))
    except TablebaseError as error:  # a key may stand for no position at all
        drawn = f"state {state}: {error}"
    return f"{where} {what}:\n{drawn}"


def _text(table: KeysFile, value: int) -> str:
    """A value in words, or a score."""
    if not table.has_distances:
        return VALUE_NAMES.get(value, "no value")
    name = VALUE_NAMES[(value > 0) - (value < 0)]
    return f"{name} in {DECIDED - abs(value)} plies" if value else name


def check_by_search(table: KeysFile, seed: int, report: Report) -> int:
    """Compare values with the forward search: all of a small layer, a sample of a large one.

    Returns how many agree; the first that does not raises `VerificationError`.
    """
    from retro.search import Solver

    solver = Solver(table.board, memory=SOLVER_MEMORY)
    rng = np.random.default_rng(seed)
    agreed = 0
    for ply in reversed(table.plies):
        report("solver", ply)
        layer = table.stored(ply)
        for place in _some(rng, layer.keys.size):
            state = _state(layer, place)
            position = table.board.unpack(*state)
            stored = int(layer.values[place])
            solution = solver.solve(position, strong=table.has_distances)
            found = solution.value
            if table.has_distances:
                found *= DECIDED - (solution.plies or 0)
            if stored != found:
                raise VerificationError(
                    f"{table.path}: ply {ply} holds {_text(table, stored)}, the search finds "
                    f"{_text(table, found)}, for the side to move:\n{position}"
                )
            agreed += 1
    return agreed


def _some(rng: np.random.Generator, size: int) -> list[int]:
    """All places, or a sample of many."""
    if size <= SAMPLES_PER_PLY:
        return list(range(size))
    return [int(place) for place in rng.choice(size, SAMPLES_PER_PLY, replace=False)]


def _state(layer: Page, place: int) -> tuple[int, int]:
    keys = layer.keys
    return int(keys.a[place]), int(keys.b[place]) if len(keys.b) else 0


def _check_layers(table: KeysFile, report: Report) -> None:
    """Walk forward again: the same keys, and the same counts with the stored values."""
    walk = walks.prepare(table.board.rules)
    layers = walks.forward(walk, walks.first_layer(walk, table.root._state))
    for ply in table.counted_plies:
        report("quick", ply)
        keys, ended = next(layers, (None, None))
        if keys is None or ended is None:
            raise VerificationError(f"{table.path}: play ends before ply {ply}")
        if ply not in table.plies:
            _check_sizes(table, walk, ply, keys, ended)
            continue
        layer = table.stored(ply)
        if not all(np.array_equal(x, y) for x, y in zip(layer.keys, keys, strict=True)):
            raise VerificationError(f"{table.path}: ply {ply} does not have the keys of its layer")
        values, left = values_of(layer.values), table.board.last_ply - ply
        is_odd = plies_of(layer.values) > left if table.has_distances else layer.values != values
        if is_odd.any():
            raise VerificationError(f"{table.path}: ply {ply} holds something that is no value")
        _check_counts(table, walk, ply, layer, ended)
        if ply == table.counted_plies[0] and int(values[0]) != table.value:
            raise VerificationError(f"{table.path}: the value of the root is not its ply's")
    if next(layers, None) is not None:
        raise VerificationError(f"{table.path}: play goes on after ply {table.counted_plies[-1]}")


def _check_counts(
    table: KeysFile, walk: walks.Walk, ply: int, layer: Page, ended: walks.Ended
) -> None:
    """The counts of a ply are those of its values."""
    stored, left = table.record(ply), table.board.last_ply - ply
    counts = walks.count(walk, ply, layer.keys, layer.values, ended)
    ends = None
    if table.has_distances:
        ends = walks.count_distances(walk, layer.keys, layer.values, ended, left)
    if record_of(counts, layer.keys.size, stored.sha256, ends) != stored:
        raise VerificationError(f"{table.path}: ply {ply} has values with other counts")


def _check_sizes(
    table: KeysFile, walk: walks.Walk, ply: int, keys: Keys, ended: walks.Ended
) -> None:
    """A ply without values counts as many positions, finished ones and keys as there are."""
    stored, draws = table.record(ply), np.zeros(keys.size, np.int8)
    counts = walks.count(walk, ply, keys, draws, ended)
    found = [(of.positions, of.terminal) for of in (counts.every, counts.canonical)]
    counted = [
        (stored.positions, stored.terminal),
        (stored.canonical_positions, stored.canonical_terminal),
    ]
    if found != counted or stored.keys != keys.size:
        raise VerificationError(f"{table.path}: ply {ply} has other positions than it counts")


def _check_position(table: KeysFile, ply: int, layer: Page, place: int) -> None:
    position = table.board.unpack(*_state(layer, place)).check()
    stored = int(layer.values[place])
    values = [_value(table, ply + 1, position._play(move)) for move in position._numbers()]
    if position.outcome() is not None or not values:
        raise VerificationError(f"{table.path}: ply {ply} holds a finished game:\n{position}")
    best = -min(values)
    if table.has_distances:  # one ply later
        best = max((abs(value) - 1) * -np.sign(value) for value in values)
    if stored != best:
        raise VerificationError(
            f"{table.path}: ply {ply} holds {_text(table, stored)}, its successors say "
            f"{_text(table, int(best))}, for the side to move:\n{position}"
        )


def _value(table: KeysFile, ply: int, position: Position) -> int:
    """The value of a successor, or its score, by the rules or by the table."""
    outcome = position.outcome()
    if outcome is not None:
        return int(outcome) * (DECIDED if table.has_distances else 1)
    value = table.find_score(ply, position._state)
    if value is None:
        raise VerificationError(f"{table.path}: ply {ply} lacks a position:\n{position}")
    return value
