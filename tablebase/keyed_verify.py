"""Checking a table of any game against its rules.

    quick    header and digests; the keys and counts made again by the walk forward
    sample   quick, and random positions: the stored value is the best over the successors'
             values, by the plain rules
    full     sample, and every stored position by `keyed_check`: order, canonical form, value, and
             that the keys are those that play can reach, no more and no less

`keyed_check` shares nothing with the walk, the plain rules nothing with the jitted ones but the
canonical form of a key. `check_by_search` compares values with the forward search.
A fault raises `VerificationError` (or `ChecksumError`) and names the position.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from retro.errors import TablebaseError, VerificationError
from retro.games.keyed import canonical_of
from retro.games.values import VALUE_NAMES
from retro.walk import keyed as walks
from retro.walk.sorting import empty_keys
from tablebase.keyed_check import (
    NOT_CANONICAL,
    NOT_CLOSED,
    NOT_LIVE,
    NOT_REACHED,
    ORDER,
    WRONG_VALUE,
    find_fault,
    find_unreached,
)
from tablebase.keyed_format import record_of
from tablebase.keyed_store import Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tablebase.keyed_check import Fault
    from tablebase.keyed_probe import KeyedTable

Level = Literal["quick", "sample", "full"]
SAMPLES_PER_PLY = 200
SOLVER_MB = 64


@dataclass(frozen=True)
class KeyedVerified:
    """What was checked; that it exists means that no fault was found."""

    level: Level
    plies: int
    positions: int  # positions whose value was checked against the rules
    seconds: float


def verify_keyed(
    table: KeyedTable,
    level: Level = "quick",
    *,
    seed: int = 0,
    report: Callable[[str, int], None] = lambda *_: None,
) -> KeyedVerified:
    """Check a table; raise at the first fault. `report(what, ply)` is called as it goes."""
    begin = time.monotonic()
    checked = check_every_position(table, report) if level == "full" else 0
    rng = np.random.default_rng(seed)
    for ply in table.plies if level != "quick" else ():
        report("sample", ply)
        layer = table.layer(ply)
        places = _some(rng, layer.keys.size)
        for place in places:
            _check_position(table, ply, layer, place)
        checked += len(places) if level == "sample" else 0
    _check_layers(table, report)
    return KeyedVerified(level, len(table.plies), checked, time.monotonic() - begin)


def check_every_position(
    table: KeyedTable, report: Callable[[str, int], None] = lambda *_: None
) -> int:
    """Check all keys and values by the jitted rules; returns how many there are."""
    first = table.layer(table.plies.start)
    words = (np.uint64(word) for word in table.game.state(table.root))
    root = tuple(int(word) for word in canonical_of(table.rules, *words))
    if first.keys.size != 1 or _state(first, 0) != root:
        raise VerificationError(f"{table.path}: the first ply does not hold the root alone")
    checked = 0
    after = Page(empty_keys(0, table.rules.words), np.empty(0, np.int8))
    for ply in reversed(table.plies):
        report("full", ply)
        layer = table.layer(ply)
        met = np.zeros(after.keys.size, np.bool_)
        fault = find_fault(table.rules, layer, after, met, partial(report, "full", ply))
        if fault is not None:
            raise VerificationError(_fault_text(table, ply, layer, fault))
        unreached = find_unreached(met)
        if unreached is not None:
            raise VerificationError(_fault_text(table, ply + 1, after, unreached))
        checked += layer.keys.size
        after = layer
    return checked


def _fault_text(table: KeyedTable, ply: int, layer: Page, fault: Fault) -> str:
    where = f"{table.path}: ply {ply}"
    if fault.kind == ORDER:
        return f"{where} has keys out of order at place {fault.place}"
    what = {
        NOT_CANONICAL: "holds another than the chosen one of its symmetry class",
        NOT_LIVE: "holds a finished game",
        NOT_CLOSED: f"holds a position with a successor that ply {ply + 1} lacks",
        NOT_REACHED: "holds a position that no move leads to",
        WRONG_VALUE: f"holds {VALUE_NAMES.get(int(layer.values[fault.place]), 'no value')}, its "
        f"successors say {VALUE_NAMES[fault.value]}, for the side to move",
    }[fault.kind]
    state = _state(layer, fault.place)
    try:
        drawn = table.game.draw(table.game.position(table.board, *state))
    except TablebaseError as error:  # a key may stand for no position at all
        drawn = f"state {state}: {error}"
    return f"{where} {what}:\n{drawn}"


def check_by_search(
    table: KeyedTable,
    *,
    seed: int = 0,
    report: Callable[[str, int], None] = lambda *_: None,
) -> int:
    """Compare values with the forward search: all of a small layer, a sample of a large one.

    Returns how many agree; the first that does not raises `VerificationError`.
    """
    from retro.search.keyed_search import KeyedSolver

    solver = KeyedSolver(table.rules, memory_mb=SOLVER_MB)
    rng = np.random.default_rng(seed)
    agreed = 0
    for ply in reversed(table.plies):
        report("solver", ply)
        layer = table.layer(ply)
        for place in _some(rng, layer.keys.size):
            state = _state(layer, place)
            stored, found = int(layer.values[place]), solver.solve(state).value
            if stored != found:
                position = table.game.position(table.board, *state)
                raise VerificationError(
                    f"{table.path}: ply {ply} holds {VALUE_NAMES[stored]}, the search finds "
                    f"{VALUE_NAMES[found]}, for the side to move:\n{table.game.draw(position)}"
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


def _check_layers(table: KeyedTable, report: Callable[[str, int], None]) -> None:
    """Walk forward again: the same keys, and the same counts with the stored values."""
    walk = walks.prepare(table.rules)
    layers = walks.forward(walk, walks.first_layer(walk, table.game.state(table.root)))
    for ply, stored, (keys, ended) in zip(table.plies, table.counts, layers, strict=True):
        report("quick", ply)
        layer = table.layer(ply)
        if not all(np.array_equal(x, y) for x, y in zip(layer.keys, keys, strict=True)):
            raise VerificationError(f"{table.path}: ply {ply} does not have the keys of its layer")
        if keys.size and not -1 <= layer.values.min() <= layer.values.max() <= 1:
            raise VerificationError(f"{table.path}: ply {ply} holds something that is no value")
        counts = walks.count(walk, ply, keys, layer.values, ended)
        if record_of(counts, keys.size, stored.sha256) != stored:
            raise VerificationError(f"{table.path}: ply {ply} has values with other counts")
        if ply == table.plies.start and int(layer.values[0]) != table.value:
            raise VerificationError(f"{table.path}: the value of the root is not its ply's")


def _check_position(table: KeyedTable, ply: int, layer: Page, place: int) -> None:
    position = table.game.position(table.board, *_state(layer, place))
    stored = int(layer.values[place])
    values = [_value(table, ply + 1, position.play(move)) for move in position.legal_moves()]
    if position.outcome() is not None or not values:
        raise VerificationError(
            f"{table.path}: ply {ply} holds a finished game:\n{table.game.draw(position)}"
        )
    if stored != -min(values):
        raise VerificationError(
            f"{table.path}: ply {ply} holds {VALUE_NAMES[stored]}, its successors say "
            f"{VALUE_NAMES[-min(values)]}, for the side to move:\n{table.game.draw(position)}"
        )


def _value(table: KeyedTable, ply: int, position: Any) -> int:
    """The value of a successor, by the rules or by the table."""
    outcome = position.outcome()
    if outcome is not None:
        return int(outcome)
    value = table.get_state(ply, table.game.state(position))
    if value is None:
        raise VerificationError(
            f"{table.path}: ply {ply} lacks a position:\n{table.game.draw(position)}"
        )
    return value
