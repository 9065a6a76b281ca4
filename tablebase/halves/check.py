"""Checking a table of Connect Four, independently of the walk that made it.

    spot     random legal positions: the table's answer is the best over the
             successors' by the plain rules, and what a plain forward search
             finds where the game is near its end; digests of the chunks that are asked
    quick    header and digests, chunk by chunk, on all cores; the number of legal positions of
             every ply, of giants on request: 7x6 takes four minutes of one core
    sample   both
    full     every stored unfinished position: its value is the best over its
             successors; it is blank where the format says so; and the legal
             positions won, drawn and lost are as many as the file counts

Of a table with distances the same holds for the plies to the end: a *score* is value and
plies in one number, and the best of scores is the fastest win, a draw, or the slowest loss.

Sample and full share the rules and the index with the builder, but nothing of
the walks: no planes of lines, no bit extraction, one position at a time.
A fault raises `VerificationError` (or `ChecksumError`) and names the position.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from retro.bits import U1, popcount
from retro.cores import available_cores
from retro.errors import DoesNotFitError, VerificationError
from retro.games.connect4.bits import column_part, geometry, has_line
from retro.games.connect4.rules import Connect4Position
from retro.games.values import VALUE_NAMES
from retro.index.halves.listing import Stretch, stretch_positions, stretches
from retro.index.halves.ranking import rank_many
from retro.jit import entry
from retro.walk.halves.layer import Rooms
from retro.walk.halves.layers import count_layer
from retro.walk.halves.prepared import prepare_layout
from retro.walk.halves.task import live_blocks
from tablebase.answers import Verified
from tablebase.halves.reader import mirror_words
from tablebase.machine import available_memory
from tablebase.units import size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tablebase.answers import Level, Report
    from tablebase.halves.reader import HalvesReader
    from tablebase.halves.store import Values

    Words = NDArray[np.uint64]

SAMPLES_PER_PLY = 200
PIECE = 64  # chunks that a thread checks before it tells
MOST_COUNTED = 10**12  # positions with padding: a minute; 7x6 has four times as many
SEARCH_EMPTY_CELLS = 12  # a plain search settles so many empty cells at once
NOT_PLAYABLE, WINS, GOES_ON = 0, 1, 2
NOTHING = -30_000  # below every score
# What is counted: unfinished positions; legal ones won, drawn, lost; and those decided in n plies.
BY_PLIES, COUNTS = 4, 4 + 65
DECIDED = 1_000  # the score of a win in n plies is so many less n, of a loss the opposite


def check(
    table: HalvesReader, level: Level, seed: int, report: Report, *, counts: bool = False
) -> Verified:
    """Check a table; raise at the first fault. `report(what, ply)` is called as it goes.

    With `counts` positions are counted, however large the table is.
    """
    positions = searched = 0
    table.require_lengths()  # before anything is walked
    if level == "full":
        _require_memory(table)
    if level != "spot":
        _check_planes(table, report)
        root = table.counts[0]
        if root.win - root.loss != table.value:
            raise VerificationError(f"{table.path}: the value of the root is not its ply's")
    is_small = 64 * int(table.layout.stored_words.sum()) <= MOST_COUNTED
    is_counted = counts or level == "full" or (is_small and level != "spot")
    if is_counted and table.is_counted:
        _check_counts(table, report)
    if level in ("spot", "sample"):
        rng = np.random.default_rng(seed)
        for ply in table.header.plies[:-1]:  # whose successors are there, too
            report("sample", ply)
            checked, by_search = _check_sample(table, rng, ply)
            positions += checked
            searched += by_search
    elif level == "full":
        positions = _check_all(table, report)
    plies = len(table.header.plies)
    checked_plies = plies if level != "spot" else 0
    counted = plies if is_counted and table.is_counted else 0
    return Verified(level, checked_plies, counted, positions, searched, 0, 0.0)


def _check_counts(table: HalvesReader, report: Report) -> None:
    """Legal and finished positions of every ply, in closed form."""
    prepared, rooms, words = prepare_layout(table.layout), Rooms(), table.layout.stored_words
    with ThreadPoolExecutor(available_cores()) as pool:
        for ply in table.header.counted_plies:
            report("counts", ply, float(words[:ply].sum() / words.sum()))
            tally, stored = count_layer(prepared, ply, pool, rooms), table.record(ply)
            _compare_count(table, ply, "positions", stored.positions, tally.positions)
            _compare_count(table, ply, "terminal", stored.terminal, tally.terminal)
            decided = stored.win + stored.draw + stored.loss
            _compare_count(table, ply, "win, draw and loss", decided, tally.positions)


def _require_memory(table: HalvesReader) -> None:
    """Refuse a full check that does not fit: it takes a layer of values three times, whole."""
    planes = len(table.header.planes(table.header.first_ply))
    taken = 8 * (3 * planes + 2) * int(table.layout.stored_words.max())
    free = available_memory()
    if free is not None and taken > free:
        raise DoesNotFitError(
            f"{table.path}: level full takes {size(taken)} of memory, {size(free)} are free; "
            "level sample takes less"
        )


def _check_planes(table: HalvesReader, report: Report) -> None:
    """Digests and contradictions of every ply, some chunks at a time, on all cores."""
    chunks = {ply: table.chunks(ply) for ply in table.header.plies}
    done, total = 0, max(1, sum(chunks.values()))
    with ThreadPoolExecutor(available_cores()) as pool:
        for ply, number in chunks.items():
            report("quick", ply, done / total)
            pieces = [range(at, min(at + PIECE, number)) for at in range(0, number, PIECE)]
            digests: list[bytes] = []
            for found in pool.map(partial(_check_chunks, table, ply), pieces):
                digests += found
                done += len(found)
                report("quick", ply, done / total)
            table.require_digest(ply, digests)


def _check_chunks(table: HalvesReader, ply: int, numbers: range) -> list[bytes]:
    """Check some chunks of a ply; returns their digests."""
    digests = []
    for number in numbers:
        values, digest = table.chunk_checked(ply, number)
        digests.append(digest)
        if (values[0] & values[1]).any():
            raise VerificationError(f"{table.path}: a position of ply {ply} is both won and lost")
        if any((plane & ~(values[0] | values[1])).any() for plane in values[2:]):
            raise VerificationError(
                f"{table.path}: a position of ply {ply} that is neither won nor lost has a number"
            )
    return digests


def _compare_count(table: HalvesReader, ply: int, name: str, stored: int, found: int) -> None:
    """Hold a count against what was found, if the table has been counted."""
    if stored != found and table.is_counted:
        raise VerificationError(
            f"{table.path}: ply {ply} counts {name} {stored:,}, but there are {found:,}"
        )


def _check_sample(table: HalvesReader, rng: np.random.Generator, ply: int) -> tuple[int, int]:
    """Check random positions of a ply with the plain rules and, late in the game, by search."""
    searched = 0
    positions = table.random_positions(rng, ply, SAMPLES_PER_PLY)
    for position in positions:
        stored = _score_of(table, position)
        best = max(_score_of_move(table, position, c) for c in position._numbers())
        _compare(table, position, stored, best, "its successors say")
        if table.board.cells - ply <= SEARCH_EMPTY_CELLS:
            words = np.uint64(position.mover), np.uint64(position.opponent)
            if table.has_distances:
                found = plain_score(geometry(table.board), *words)
            else:
                found = DECIDED * plain_search(geometry(table.board), *words)
            _compare(table, position, stored, int(found), "a plain search finds")
            searched += 1
    return len(positions), searched


def _score_of(table: HalvesReader, position: Connect4Position) -> int:
    """The score that a table has of an unfinished position; without distances for no plies."""
    value, plies = table.answer_of(position) if table.has_distances else (None, 0)
    value = table.value_of(position) if value is None else value
    return value * (DECIDED - plies)


def _score_of_move(table: HalvesReader, position: Connect4Position, column: int) -> int:
    after = position._play(column)
    outcome = after.outcome()
    score = _score_of(table, after) if outcome is None else outcome * DECIDED
    return _one_ply_more(-score) if table.has_distances else -score


def _one_ply_more(score: int) -> int:
    return score - (score > 0) + (score < 0)


def _compare(
    table: HalvesReader, position: Connect4Position, stored: int, wanted: int, who: str
) -> None:
    if stored != wanted:
        raise VerificationError(
            f"{table.path}: ply {position.ply} holds {_score_text(table, stored)}, {who} "
            f"{_score_text(table, wanted)}, for the side to move:\n{position}"
        )


def _score_text(table: HalvesReader, score: int) -> str:
    name = VALUE_NAMES[(score > 0) - (score < 0)]
    return f"{name} in {DECIDED - abs(score)} plies" if score and table.has_distances else name


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


@entry
def plain_score(geometry, mine, other):
    """The score for the side to move, likewise; only a win at once needs no further look."""
    if has_line(geometry, other):
        return -DECIDED
    best = NOTHING
    for column in range(geometry.width):
        height = popcount(column_part(geometry, mine | other, column))
        if height < geometry.height:
            bit = U1 << np.uint64(column * (geometry.height + 1) + height)
            score = -plain_score(geometry, other, mine | bit)
            score += (score < 0) - (score > 0)
            if score > best:
                best = score
            if best == DECIDED - 1:
                return best
    return best if best > NOTHING else 0


def _check_all(table: HalvesReader, report: Report) -> int:
    """Every stored unfinished position against its successors, the fullest ply first.

    The plies that the file has not, or has blank in places, are solved here
    again, one position at a time; what the file has must agree.
    """
    checked = 0
    prepared = prepare_layout(table.layout)
    after = np.zeros((2, 0), np.uint64)
    by_plies = table.header.counts and table.has_distances
    with ThreadPoolExecutor(available_cores()) as pool:
        for ply in reversed(table.header.counted_plies):
            report("full", ply)
            stored = table.read_checked(ply) if ply in table.header.plies else None
            planes = len(table.header.planes(ply))
            solved = np.zeros((planes, table.layout.stored_words[ply]), np.uint64)
            alive = np.concatenate([live for _, live in live_blocks(prepared, ply)])
            check = partial(_check_stretch, table, stored, solved, after, alive)
            nothing = np.zeros(COUNTS, np.int64)
            found = np.sum([*pool.map(check, stretches(table.layout, ply)), nothing], axis=0)
            record = table.record(ply)
            _compare_count(table, ply, "win", record.win, int(found[1]))
            _compare_count(table, ply, "draw", record.draw, int(found[2]))
            _compare_count(table, ply, "loss", record.loss, int(found[3]) + record.terminal)
            ends = [record.terminal, *found[BY_PLIES + 1 : BY_PLIES + table.board.cells - ply + 1]]
            for plies, (counted, there) in enumerate(zip(record.distances, ends, strict=False)):
                _compare_count(table, ply, f"ends in {plies} plies", counted, int(there))
            if by_plies and len(record.distances) != len(ends):
                raise VerificationError(f"{table.path}: ply {ply} does not count all distances")
            checked += int(found[0]) if stored is not None else 0
            after = solved
    return checked


def _check_stretch(
    table: HalvesReader, stored: Values | None, solved: Values, after: Values, alive: Words,
    stretch: Stretch,
) -> NDArray[np.int64]:  # fmt: skip
    """Check the positions of one stretch, and write their values to `solved` in place.

    Returns how many were not finished, and of the legal ones how many are won, drawn and lost,
    and then how many are decided in 0, 1, ... plies.
    """
    geo, layout = geometry(table.board), table.layout
    first, second, ranks = stretch_positions(layout, stretch)
    next_first, next_second = np.empty_like(first), np.empty_like(second)
    next_ranks = np.empty_like(ranks)
    states = np.empty(len(ranks), np.int8)
    best = np.full(len(ranks), NOTHING, np.int16)
    is_decided = np.zeros(len(ranks), np.bool_)
    for column in range(table.board.width):
        _play(geo, column, (first, second), (next_first, next_second), states)
        is_decided |= (states == WINS) | _threatens(geo, column, first, second)
        rank_many(layout.shape, next_first, next_second, next_ranks)
        _improve(states, next_ranks, after, best)
    header = table.header
    if header.last_is_whole and len(ranks) and popcount_of(first[0] | second[0]) == header.last_ply:
        is_decided[:] = False
    if not table.has_distances:
        best[best != NOTHING] = DECIDED * np.sign(best[best != NOTHING])
    planes = solved if stored is None else stored
    has_distances = table.has_distances
    expected = (best, is_decided, stored is not None, has_distances)
    wrong = _find_wrong(geo, (first, second), ranks, planes, expected)
    if wrong >= 0:
        value = int(score_at(planes, int(ranks[wrong]), has_distances))
        position = Connect4Position(table.board, int(first[wrong]), int(second[wrong]))
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
    counts[1:] *= weight
    return counts


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
def score_at(planes, rank, has_distances):
    """The score that planes have at a rank; without distances for no plies."""
    word, bit = rank >> 6, np.uint64(rank & 63)
    won, lost = (planes[0, word] >> bit) & U1, (planes[1, word] >> bit) & U1
    number = 0
    for plane in range(2, planes.shape[0]):
        number += np.int64((planes[plane, word] >> bit) & U1) << (plane - 2)
    plies = 2 * number + np.int64(won) if has_distances else 0
    return (np.int64(won) - np.int64(lost)) * (DECIDED - plies)


@entry
def _improve(states, next_ranks, after, best):
    """Take a move into account: `best` becomes the better of itself and the move; in place."""
    for i in range(len(states)):
        score = NOTHING
        if states[i] == WINS:
            score = DECIDED - 1
        elif states[i] == GOES_ON:
            score = -score_at(after, next_ranks[i], True)
            score += (score < 0) - (score > 0)
        best[i] = max(best[i], score)


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
    best, is_decided, is_stored, has_distances = expected
    for i in range(len(ranks) if is_stored else 0):
        if not (has_line(geometry, first[i]) or has_line(geometry, second[i])):
            score = score_at(planes, ranks[i], has_distances)
            if score != (0 if is_decided[i] or best[i] == NOTHING else best[i]):
                return i
    return -1


@entry
def _write_solved(geometry, stones, ranks, solved, best, alive):
    """Write scores to their places; count unfinished positions, and legal ones by value.

    And then by plies, see BY_PLIES; there is room for more plies than there can be.
    """
    first, second = stones
    counts = np.zeros(COUNTS, np.int64)
    for i in range(len(ranks)):
        if not (has_line(geometry, first[i]) or has_line(geometry, second[i])):
            word, bit = ranks[i] >> 6, np.uint64(ranks[i] & 63)
            live = np.int64((alive[word] >> bit) & U1)
            score = 0 if best[i] == NOTHING else best[i]
            value = (score > 0) - (score < 0)
            if value != 0:
                solved[0 if value > 0 else 1, word] |= U1 << bit
                plies = DECIDED - abs(score)
                counts[BY_PLIES + plies] += live
                for plane in range(2, solved.shape[0]):
                    if ((plies // 2) >> (plane - 2)) & 1:
                        solved[plane, word] |= U1 << bit
            counts[0] += 1
            counts[2 - value] += live
    return counts
