"""Every shortcut by itself: bounds, keys, table, lines.  Each test fails if it is unsound."""

from __future__ import annotations

import random

import numpy as np
import pytest
from plain import distance as plain
from plain.distance import positions

from retro.search.connect4 import bits, bounds, engine, goals
from retro.search.connect4 import table as tables

PLAINLY_SLOW = pytest.param((4, 4, 4), marks=pytest.mark.slow)  # for the recursion


def columns_of(board, mover, mask):
    step = int(board.step)
    return tuple(
        "".join(
            "x" if mover >> (c * step + r) & 1 else "o"
            for r in range(int(board.height))
            if mask >> (c * step + r) & 1
        )
        for c in range(int(board.width))
    )


@pytest.mark.parametrize("shape", [PLAINLY_SLOW, (3, 4, 3), (4, 4, 3), (4, 3, 3), (2, 5, 3)])
def test_static_bounds_never_contradict_the_truth(shape):
    """Pairing strategies, every quiet position, every goal; and they do fire."""
    board = bits.make_board(*shape)
    fired = {-1: 0, 0: 0, 1: 0}
    for mover, mask, value, plies in positions(*shape):
        played = mask.bit_count()
        own, other = (
            int(bits.threats(board, np.uint64(s))) & int(board.full) & ~mask
            for s in (mover, mask ^ mover)
        )
        feet = (mask + int(board.bottom)) & int(board.full)
        if (own | other) & feet:
            continue
        both = (np.uint64(own), np.uint64(other))
        truth = value * int(engine.win_score(board, played + plies)) if value else 0
        for goal in range(-3, 5):
            found = bounds.static_score(
                board, np.uint64(mover), np.uint64(mask), both, played, goal, 1000
            )
            if found == 1000:
                continue
            fired[int(np.sign(found))] += 1
            assert truth >= found if found >= goal else truth <= found
    assert fired[0] > 0
    if shape == (4, 4, 3):
        assert all(fired.values())


@pytest.mark.parametrize("shape", [PLAINLY_SLOW, (3, 4, 3), (4, 3, 3), (3, 3, 2), (4, 3, 4)])
def test_settle_keeps_the_value(shape):
    """Forced moves played by `settle` change neither value nor end."""
    board = bits.make_board(*shape)
    truth = {(a, b): (v, p) for a, b, v, p in positions(*shape)}
    for (mover, mask), (value, plies) in truth.items():
        own, other = (
            int(bits.threats(board, np.uint64(s))) & int(board.full) & ~mask
            for s in (mover, mask ^ mover)
        )
        if own & (mask + int(board.bottom)):
            continue
        played = mask.bit_count()
        score, sign, k_mover, k_mask, k_own, k_other, k_played, _ = engine.settle(
            board, *(np.uint64(n) for n in (mover, mask, own, other)), played
        )
        if score != engine.UNKNOWN:
            assert score == (value * engine.win_score(board, played + plies) if value else 0)
            continue
        then = truth[int(k_mover), int(k_mask)]
        assert (value, played + plies) == (sign * then[0], k_played + then[1])
        empty = int(board.full) & ~int(k_mask)
        assert int(k_own) == int(bits.threats(board, np.uint64(k_mover))) & empty
        assert int(k_other) == int(bits.threats(board, np.uint64(k_mover ^ k_mask))) & empty


@pytest.mark.parametrize("shape", [PLAINLY_SLOW, (4, 4, 3), (4, 3, 4), (3, 3, 2)])
def test_codes_are_equal_only_for_mirror_images(shape):
    board = bits.make_board(*shape)
    seen: dict = {}
    for mover, mask, value, plies in positions(*shape):
        code = int(engine.code_of(board, np.uint64(mover), np.uint64(mask), 0))
        columns = columns_of(board, mover, mask)
        seen.setdefault(code, set()).add((min(columns, columns[::-1]), value, plies))
        plain_code = int(engine.code_of(board, np.uint64(mover), np.uint64(mask), 60))
        assert plain_code == mover + mask
    assert all(len(group) == 1 for group in seen.values())


@pytest.mark.parametrize("shape", [(2, 4), (3, 3), (4, 2), (5, 1)])
def test_scramble_is_one_to_one(shape):
    board = bits.make_board(*shape, 2)
    hashing = tables.make_hashing(board, tables.make_table(board, 1 << 6)[1])
    size = 1 << int(board.width * board.step)
    assert len({int(tables.scramble(hashing, np.uint64(n))) for n in range(size)}) == size


@pytest.mark.parametrize(("shape", "memory"), [((7, 6), 1 << 10), ((8, 7), 1 << 24)])
def test_a_crowded_table_never_lies(shape, memory):
    """A table far too small, as seen by a dictionary: entries may vanish, never be wrong."""
    board = bits.make_board(*shape)
    table, bucket_bits = tables.make_table(board, memory)
    hashing = tables.make_hashing(board, bucket_bits)
    rng = random.Random(1)
    size = int(board.width * board.step)
    codes = [rng.getrandbits(size) for _ in range(3000)]
    if shape == (8, 7):  # one bucket: only the tags differ
        low = int(hashing.bucket_bits)
        codes = [rng.getrandbits(size - low) << low for _ in range(3000)]
    truth: dict = {}
    hits = 0
    for _ in range(20000):
        code = rng.choice(codes)
        x = np.uint64(code) if shape == (8, 7) else tables.scramble(hashing, np.uint64(code))
        entry = np.uint64(tables.fetch(table, hashing, x))
        low, high = truth.get(code, (-31, 31))
        if entry:
            hits += 1
            assert int(tables.lower_of(entry)) <= low
            assert int(tables.upper_of(entry)) >= high
        if rng.random() < 0.5:
            low = rng.randint(low, high)
        else:
            high = rng.randint(low, high)
        truth[code] = (low, high)
        work, age = rng.randint(1, 1000), np.uint64(rng.randint(0, 7))
        tables.store(table, hashing, x, low, high, work, age)
    assert hits > 100 or shape == (8, 7)


@pytest.mark.parametrize(("shape", "bits_before"), [((7, 6), 5), ((7, 6), 9), ((4, 4), 1)])
def test_a_table_that_grows_loses_nothing(shape, bits_before):
    """What was there is there, as it was; and what was not is not."""
    board = bits.make_board(*shape)
    table = np.zeros(2 << 13, np.uint64)
    rng = random.Random(2)
    codes = [rng.getrandbits(int(board.width * board.step)) for _ in range(2000)]
    hashing = tables.make_hashing(board, bits_before)
    for code in codes:
        x = tables.scramble(hashing, np.uint64(code))
        low = rng.randint(-31, 31)
        work, age = rng.randint(1, 1000), np.uint64(rng.randint(0, 7))
        tables.store(table, hashing, x, low, rng.randint(low, 31), work, age)
    keys = [tables.scramble(hashing, np.uint64(code)) for code in codes]
    data = np.uint64((1 << tables.DATA_BITS) - 1)
    before = [int(tables.fetch(table, hashing, x)) & int(data) for x in keys]
    stored = np.count_nonzero(table)
    assert stored == len({x for x, found in zip(keys, before, strict=True) if found})
    for bucket_bits in range(bits_before, 12):
        tables.grow(table, hashing)
        hashing = tables.make_hashing(board, bucket_bits + 1)
        assert [int(tables.fetch(table, hashing, x)) & int(data) for x in keys] == before
        assert np.count_nonzero(table) == stored
        assert not table[2 << (bucket_bits + 1) :].any()


def test_an_engine_grows_as_it_searches_and_finds_the_same(monkeypatch):
    monkeypatch.setattr(tables, "FIRST_BYTES", 1 << 10)
    monkeypatch.setattr(goals, "NODES_PER_WORD", 1)
    made = goals.make_engine(5, 4, memory=1 << 14)
    assert (made.words, len(made.table)) == (1 << 7, 1 << 11)
    sizes = []
    answer = goals.solve(made, 0, 0, strong=True, node_limit=100)
    while not answer.done:
        goals.make_room(made)
        sizes.append(made.words)
        answer = goals.solve(made, 0, 0, strong=True, node_limit=100)
    assert (answer.value, answer.plies) == (0, 20)
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 5  # doubled up to all there is, and no further
    assert sizes[-1] == len(made.table)


def test_small_tables_are_refused_for_large_boards():
    with pytest.raises(ValueError, match="too small"):
        tables.make_table(bits.make_board(8, 7), 1 << 20)


@pytest.mark.parametrize(
    "shape", [(7, 6, 4), (8, 7, 4), (5, 5, 3), (6, 4, 5), (4, 6, 2), (3, 9, 4)]
)
def test_lines_and_threats_cell_by_cell(shape):
    board = bits.make_board(*shape)
    step, width, height, connect = int(board.step), *shape
    lines = [
        sum(1 << ((c + i * dc) * step + r + i * dr) for i in range(connect))
        for c in range(width)
        for r in range(height)
        for dc, dr in ((0, 1), (1, 0), (1, 1), (1, -1))
        if 0 <= c + (connect - 1) * dc < width and 0 <= r + (connect - 1) * dr < height
    ]
    rng = random.Random(2)
    full = int(board.full)
    for _ in range(300):
        cells = rng.getrandbits(64) & full
        if rng.random() < 0.5:
            cells |= rng.getrandbits(64) & full
        inside = [line for line in lines if line & ~cells == 0]
        missing = 0
        for line in lines:
            if (line & ~cells).bit_count() == 1:
                missing |= line & ~cells
        assert bool(bits.has_line(board, np.uint64(cells))) == bool(inside)
        assert int(bits.gaps(board, np.uint64(cells))) & full & ~cells == missing


@pytest.mark.parametrize("shape", [(4, 4, 4), (7, 6, 4), (6, 7, 4), (4, 4, 3), (5, 4, 5)], ids=str)
def test_threats_of_standing_stones_are_gaps(shape):
    """In the course of games by lot; threats may take for granted that stones stand on stones."""
    board = bits.make_board(*shape)
    step, full, rng = int(board.step), int(board.full), random.Random(3)
    found = 0
    for _ in range(60):
        mover, mask = 0, 0
        while mask != full and not bits.has_line(board, np.uint64(mask ^ mover)):
            threats = int(bits.threats(board, np.uint64(mover))) & full & ~mask
            assert threats == int(bits.gaps(board, np.uint64(mover))) & full & ~mask
            found += threats != 0
            feet = [c * step for c in range(shape[0]) if not mask >> (c * step + shape[1] - 1) & 1]
            mover, mask = mask ^ mover, mask | mask + (1 << rng.choice(feet))
    assert found > 5


def test_plain_knows_a_line_when_it_sees_one():
    assert plain.won(("xo", "ox", "", ""), "x", 2)
    assert not plain.won(("xo", "ox", "", ""), "x", 3)
