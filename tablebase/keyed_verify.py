"""Checking a table of any game, with the plain rules.

    quick    header and digests; the keys and counts made again by the walk forward
    sample   quick, and random positions: the stored value is the best over the successors'
             values, by the plain rules
    full     quick, and every stored position in the same way

Sample and full share nothing with the walk but the canonical form of a key.
`check_by_search` compares values with the forward search.
A fault raises `VerificationError` (or `ChecksumError`) and names the position.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from retro.errors import VerificationError
from retro.games.values import VALUE_NAMES
from retro.walk import keyed as walks
from tablebase.keyed_format import record_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tablebase.keyed_probe import KeyedTable
    from tablebase.keyed_store import Page

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
    _check_layers(table, report)
    checked = 0
    rng = np.random.default_rng(seed)
    for ply in table.plies if level != "quick" else ():
        report(level, ply)
        layer = table.layer(ply)
        size = layer.keys.size
        places = range(size) if level == "full" else _some(rng, size)
        for place in places:
            _check_position(table, ply, layer, place)
        checked += len(places)
    return KeyedVerified(level, len(table.plies), checked, time.monotonic() - begin)


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
