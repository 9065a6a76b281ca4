"""Checking a table, independently of the walk that made it.

    quick    header and digests; padding; the number of legal positions of every ply
    sample   quick, and random legal positions: the table's answer is the best over
             the successors' by the plain rules, and what a plain forward search
             finds where the game is near its end
    full     quick, and every stored unfinished position: its value is the best
             over its successors; it is blank where the format says so; and the
             legal positions won, drawn and lost are as many as the file counts

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
from retro.games.connect import Position
from retro.games.connect_bits import U1, column_part, geometry, has_line, popcount
from retro.games.connect_text import write_grid
from retro.games.values import VALUE_NAMES
from retro.index.enumerate import Stretch, stretch_positions, stretches
from retro.index.ranking import rank_many
from retro.jit import entry
from retro.walk.layers import available_cores, forward, prepare
from tablebase.probe import mirror_words

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
        for ply in table.header.plies[:-1]:  # whose successors are there, too
            report("sample", ply)
            checked, by_search = _check_sample(table, rng, ply)
            positions += checked
            searched += by_search
    elif level == "full":
        positions = _check_all(table, report)
    seconds = time.monotonic() - begin
    return Verified(level, len(table.header.plies), positions, searched, seconds)


def _check_counts(table: Tablebase, report: Callable[[str, int], None]) -> None:
    """Digests and padding of every ply; legal and finished positions by a forward walk."""
    prepared = prepare(table.board, table.header.left_columns, root=table.root)
    for tally, layer in forward(prepared):
        report("quick", layer.ply)
        if layer.ply in table.header.plies:
            _check_planes(table, layer.ply)
        stored = table.record(layer.ply)
        _compare_count(table, layer.ply, "positions", stored.positions, sum(tally))
        _compare_count(table, layer.ply, "terminal", stored.terminal, tally.terminal)
        _compare_count(
            table,
            layer.ply,
            "win, draw and loss",
            stored.win + stored.draw + stored.loss,
            sum(tally),
        )
    root = table.counts[0]
    if root.win - root.loss != table.value:
        raise VerificationError(f"{table.path}: the value of the root is not its ply's")


def _check_planes(table: Tablebase, ply: int) -> None:
    values = table.read_checked(ply)
    wanted = int(table.layout.stored_words[ply])
    if values.shape[1] != wanted:
        raise ChecksumError(f"{table.path}: ply {ply} has {values.shape[1]} words, wanted {wanted}")
    if (values[0] & values[1]).any():
        raise VerificationError(f"{table.path}: a position of ply {ply} is both won and lost")


def _compare_count(table: Tablebase, ply: int, name: str, stored: int, found: int) -> None:
    if stored != found:
        raise VerificationError(
            f"{table.path}: ply {ply} counts {name} {stored:,}, but there are {found:,}"
        )


def _check_sample(table: Tablebase, rng: np.random.Generator, ply: int) -> tuple[int, int]:
    """Check random positions of a ply with the plain rules and, late in the game, by search."""
    record = table.record(ply)
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
    """Every stored unfinished position against its successors, the fullest ply first.

    The plies that the file has not, or has blank in places, are solved here
    again, one position at a time; what the file has must agree.
    """
    checked = 0
    prepared = prepare(table.board, table.header.left_columns, root=table.root)
    alive = {layer.ply: layer.stored[0].copy() for _, layer in forward(prepared)}
    after = np.zeros((2, 0), np.uint64)
    with ThreadPoolExecutor(available_cores()) as pool:
        for ply in reversed(table.header.counted_plies):
            report("full", ply)
            stored = table.read_checked(ply) if ply in table.header.plies else None
            solved = np.zeros((2, table.layout.stored_words[ply]), np.uint64)
            check = partial(_check_stretch, table, stored, solved, after, alive[ply])
            found = np.sum([*pool.map(check, stretches(table.layout, ply)), (0, 0, 0, 0)], axis=0)
            record = table.record(ply)
            _compare_count(table, ply, "win", record.win, int(found[1]))
            _compare_count(table, ply, "draw", record.draw, int(found[2]))
            _compare_count(table, ply, "loss", record.loss, int(found[3]) + record.terminal)
            checked += int(found[0]) if stored is not None else 0
            after = solved
    return checked


def _check_stretch(
    table: Tablebase, stored: Values | None, solved: Values, after: Values, alive: Words,
    stretch: Stretch,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Check the positions of one stretch, and write their values to `solved` in place.

    Returns how many were not finished, and of the legal ones how many are won, drawn and lost.
    """
    geo, layout = geometry(table.board), table.layout
    first, second, ranks = stretch_positions(layout, stretch)
    next_first, next_second = np.empty_like(first), np.empty_like(second)
    next_ranks = np.empty_like(ranks)
    states = np.empty(len(ranks), np.int8)
    best = np.full(len(ranks), NOTHING, np.int8)
    is_decided = np.zeros(len(ranks), np.bool_)
    for column in range(table.board.width):
        _play(geo, column, (first, second), (next_first, next_second), states)
        is_decided |= (states == WINS) | _threatens(geo, column, first, second)
        rank_many(layout.shape, next_first, next_second, next_ranks)
        _improve(states, next_ranks, after, best)
    header = table.header
    if header.last_is_whole and len(ranks) and popcount_of(first[0] | second[0]) == header.last_ply:
        is_decided[:] = False
    planes = solved if stored is None else stored
    wrong = _find_wrong(geo, (first, second), ranks, planes, (best, is_decided, stored is not None))
    if wrong >= 0:
        word, bit = divmod(int(ranks[wrong]), 64)
        value = (int(planes[0, word]) >> bit & 1) - (int(planes[1, word]) >> bit & 1)
        position = Position(table.board, int(first[wrong]), int(second[wrong]))
        wanted = 0 if is_decided[wrong] or best[wrong] == NOTHING else int(best[wrong])
        who = (
            "a look decides it, so it should be blank:"
            if is_decided[wrong]
            else "its successors say"
        )
        _compare(table, position, value, wanted, who)
    counts = _write_solved(geo, (first, second), ranks, solved, best, alive)
    image = mirror_words(table.board, (first | second)[:1])
    weight = 2 if header.mirror and len(ranks) and image[0] != first[0] | second[0] else 1
    checked, won, drawn, lost = map(int, counts)
    return checked, weight * won, weight * drawn, weight * lost


def popcount_of(word: np.uint64) -> int:
    return int(word).bit_count()


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
def _threatens(geometry, column, first, second):
    """Whether the side that is not to move could complete a line in a column."""
    found = np.zeros(len(first), np.bool_)
    for i in range(len(first)):
        both = first[i] | second[i]
        height = popcount(column_part(geometry, both, column))
        if height < geometry.height:
            bit = U1 << np.uint64(column * (geometry.height + 1) + height)
            other = first[i] if popcount(both) & 1 else second[i]
            found[i] = has_line(geometry, other | bit)
    return found


@entry
def _find_wrong(geometry, stones, ranks, planes, expected):
    """The first unfinished position that does not hold what it should, or -1."""
    first, second = stones
    best, is_decided, is_stored = expected
    for i in range(len(ranks) if is_stored else 0):
        if not (has_line(geometry, first[i]) or has_line(geometry, second[i])):
            word, bit = ranks[i] >> 6, np.uint64(ranks[i] & 63)
            value = np.int64((planes[0, word] >> bit) & U1)
            value -= np.int64((planes[1, word] >> bit) & U1)
            if value != (0 if is_decided[i] or best[i] == NOTHING else best[i]):
                return i
    return -1


@entry
def _write_solved(geometry, stones, ranks, solved, best, alive):
    """Write values to their places; count unfinished positions, and legal ones by value."""
    first, second = stones
    counts = np.zeros(4, np.int64)
    for i in range(len(ranks)):
        if not (has_line(geometry, first[i]) or has_line(geometry, second[i])):
            word, bit = ranks[i] >> 6, np.uint64(ranks[i] & 63)
            value = 0 if best[i] == NOTHING else best[i]
            if value != 0:
                solved[0 if value > 0 else 1, word] |= U1 << bit
            counts[0] += 1
            counts[2 - value] += np.int64((alive[word] >> bit) & U1)
    return counts
