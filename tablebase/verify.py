"""Checking a table, independently of the walk that made it.

    quick    header and digests; padding; counts made again from the stored values
    sample   quick, and random legal positions: the stored value is the best over
             the successors' values by the plain rules, and what a plain forward
             search finds where the game is near its end
    full     quick, and every ranked unfinished position against its successors

Sample and full share the rules and the index with the builder, but nothing of
the walks: no planes of lines, no bit extraction, one position at a time.
A fault raises `VerificationError` (or `ChecksumError`) and names the position.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from retro.errors import ChecksumError, VerificationError
from retro.games.connect import VALUE_NAMES, Position
from retro.games.connect_bits import U1, column_part, geometry, has_line, popcount
from retro.games.connect_text import write_grid
from retro.index.enumerate import Stretch, stretch_positions, stretches
from retro.index.ranking import rank_many
from retro.jit import entry
from retro.walk.layers import available_cores, forward, prepare
from tablebase.format import COUNT_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tablebase.probe import Tablebase
    from tablebase.store import Values

    Words = NDArray[np.uint64]

Level = Literal["quick", "sample", "full"]
SAMPLES_PER_PLY = 200
SEARCH_EMPTY_CELLS = 12  # a plain search settles so many empty cells at once
NOT_PLAYABLE, WINS, GOES_ON = 0, 1, 2
NOTHING = -2  # below every value


@dataclass(frozen=True)
class Verified:
    """What was checked; that it exists means that no fault was found."""

    level: Level
    plies: int
    positions: int  # positions whose value was checked against the rules
    searched: int  # of these, positions that a plain search confirmed
    seconds: float


def verify(
    table: Tablebase,
    level: Level = "quick",
    *,
    seed: int = 0,
    report: Callable[[str, int], None] = lambda *_: None,
) -> Verified:
    """Check a table; raise at the first fault. `report(what, ply)` is called as it goes."""
    begin = time.monotonic()
    positions = searched = 0
    _check_counts(table, report)
    if level == "sample":
        rng = np.random.default_rng(seed)
        for ply in table.header.plies[:-1]:  # a full board has no successor
            report("sample", ply)
            checked, by_search = _check_sample(table, rng, ply)
            positions += checked
            searched += by_search
    elif level == "full":
        positions = _check_all(table, report)
    seconds = time.monotonic() - begin
    return Verified(level, len(table.header.plies), positions, searched, seconds)


def _check_counts(table: Tablebase, report: Callable[[str, int], None]) -> None:
    """Digests, padding, and every stored count made again by the forward walk."""
    prepared = prepare(table.board, table.header.left_columns)

    def values_of(ply: int) -> Values:
        report("quick", ply)
        values = table.read_checked(ply)
        wanted = int(table.layout.layer_words[ply])
        if values.shape[1] != wanted:
            raise ChecksumError(
                f"{table.path}: ply {ply} has {values.shape[1]} words, wanted {wanted}"
            )
        if (values[0] & values[1]).any():
            raise VerificationError(f"{table.path}: a position of ply {ply} is both won and lost")
        return values

    for counts, _ in forward(prepared, values_of):
        stored = table.counts[counts.ply - table.header.first_ply]
        for name in COUNT_NAMES:
            if getattr(counts, name) != getattr(stored, name):
                raise VerificationError(
                    f"{table.path}: ply {counts.ply} counts {name} {getattr(stored, name):,}, "
                    f"but the values have {getattr(counts, name):,}"
                )
        if counts.ply == 0 and counts.win - counts.loss != table.value:
            raise VerificationError(f"{table.path}: the value of the empty board is not ply 0's")


def _check_sample(table: Tablebase, rng: np.random.Generator, ply: int) -> tuple[int, int]:
    """Check random positions of a ply with the plain rules and, late in the game, by search."""
    record = table.counts[ply - table.header.first_ply]
    live = record.positions - record.terminal
    searched = 0
    samples = min(SAMPLES_PER_PLY, live)
    for _ in range(samples):
        position = table.random_position(rng, ply)
        stored = table.probe_wdl(position)
        best = max(_value_of_move(table, position, c) for c in position.legal_columns())
        _compare(table, position, stored, best, "its successors say")
        if table.board.cells - ply <= SEARCH_EMPTY_CELLS:
            words = np.uint64(position.mover), np.uint64(position.opponent)
            found = plain_search(geometry(table.board), *words)
            _compare(table, position, stored, int(found), "a plain search finds")
            searched += 1
    return samples, searched


def _value_of_move(table: Tablebase, position: Position, column: int) -> int:
    after = position.play(column)
    outcome = after.outcome()
    return -(table.probe_wdl(after) if outcome is None else outcome)


def _compare(table: Tablebase, position: Position, stored: int, wanted: int, who: str) -> None:
    if stored != wanted:
        raise VerificationError(
            f"{table.path}: ply {position.ply} holds {VALUE_NAMES[stored]}, {who} "
            f"{VALUE_NAMES[wanted]}, White to move:\n{write_grid(position)}"
        )


@entry
def plain_search(geometry, mine, other):
    """The value for the side to move, by looking at all that can follow: no table, no tricks."""
    if has_line(geometry, other):
        return -1
    best = -2
    for column in range(geometry.width):
        height = popcount(column_part(geometry, mine | other, column))
        if height < geometry.height:
            bit = U1 << np.uint64(column * (geometry.height + 1) + height)
            value = -plain_search(geometry, other, mine | bit)
            if value > best:
                best = value
            if best == 1:
                return 1
    return best if best > -2 else 0


def _check_all(table: Tablebase, report: Callable[[str, int], None]) -> int:
    """Every ranked unfinished position against its successors, the fullest ply first."""
    checked = 0
    after = np.zeros((2, 0), np.uint64)
    with ThreadPoolExecutor(available_cores()) as pool:
        for ply in reversed(table.header.plies):
            report("full", ply)
            here = table.read_checked(ply)
            check = partial(_check_stretch, table, here, after)
            checked += sum(pool.map(check, stretches(table.layout, ply)))
            after = here
    return checked


def _check_stretch(table: Tablebase, here: Values, after: Values, stretch: Stretch) -> int:
    """Check the positions of one stretch; return how many were not finished."""
    geo, layout = geometry(table.board), table.layout
    first, second, ranks = stretch_positions(layout, stretch)
    next_first, next_second = np.empty_like(first), np.empty_like(second)
    next_ranks = np.empty_like(ranks)
    states = np.empty(len(ranks), np.int8)
    best = np.full(len(ranks), NOTHING, np.int8)
    for column in range(table.board.width):
        _play(geo, column, (first, second), (next_first, next_second), states)
        rank_many(layout.shape, next_first, next_second, next_ranks)
        _improve(states, next_ranks, after, best)
    wrong, checked = _find_wrong(geo, (first, second), ranks, here, best)
    if wrong >= 0:
        word, bit = divmod(int(ranks[wrong]), 64)
        stored = int(here[0, word]) >> bit & 1, int(here[1, word]) >> bit & 1
        position = Position(table.board, int(first[wrong]), int(second[wrong]))
        wanted = 0 if best[wrong] == NOTHING else int(best[wrong])
        _compare(table, position, stored[0] - stored[1], wanted, "its successors say")
    return int(checked)


@entry
def _play(geometry, column, before, after, states):
    """Play one column in many positions; fills `after` and `states` in place."""
    first, second = before
    next_first, next_second = after
    for i in range(len(first)):
        both = first[i] | second[i]
        height = popcount(column_part(geometry, both, column))
        next_first[i], next_second[i] = first[i], second[i]
        states[i] = NOT_PLAYABLE
        if height < geometry.height:
            bit = U1 << np.uint64(column * (geometry.height + 1) + height)
            if popcount(both) & 1:
                next_second[i] |= bit
                wins = has_line(geometry, next_second[i])
            else:
                next_first[i] |= bit
                wins = has_line(geometry, next_first[i])
            states[i] = WINS if wins else GOES_ON


@entry
def _improve(states, next_ranks, after, best):
    """Take a move into account: `best` becomes the better of itself and the move; in place."""
    for i in range(len(states)):
        value = NOTHING
        if states[i] == WINS:
            value = 1
        elif states[i] == GOES_ON:
            word, bit = next_ranks[i] >> 6, np.uint64(next_ranks[i] & 63)
            value = np.int64((after[1, word] >> bit) & U1) - np.int64((after[0, word] >> bit) & U1)
        best[i] = max(best[i], value)


@entry
def _find_wrong(geometry, stones, ranks, here, best):
    """The first unfinished position whose stored value is not the best one, or -1; and how many
    positions were not finished."""
    first, second = stones
    checked = 0
    for i in range(len(ranks)):
        if not (has_line(geometry, first[i]) or has_line(geometry, second[i])):
            checked += 1
            word, bit = ranks[i] >> 6, np.uint64(ranks[i] & 63)
            stored = np.int64((here[0, word] >> bit) & U1) - np.int64((here[1, word] >> bit) & U1)
            if stored != (0 if best[i] == NOTHING else best[i]):
                return i, checked
    return -1, checked
