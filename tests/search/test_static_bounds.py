"""The static bounds against their plain twin: the same answers, position by position."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from plain.distance import positions
from plain.pairing import Pairing

from retro.search.connect4 import bits, bounds, engine

GOALS = range(-5, 7)


def cells_of(board, stones):
    height, step = int(board.height), int(board.step)
    return {(i // step, i % step) for i in range(64) if stones >> i & 1 and i % step < height}


def quiet_threats(board, mover, mask):
    """The threats of either side, or None if somebody can win at once."""
    free = int(board.full) & ~mask
    own, other = (int(bits.threats(board, np.uint64(s))) & free for s in (mover, mask ^ mover))
    if (own | other) & (mask + int(board.bottom)):
        return None
    return np.uint64(own), np.uint64(other)


def positions_by_lot(board, seed, games):
    """All that come up in some random games in which nobody wins while he has another move."""
    rng, full, bottom = random.Random(seed), int(board.full), int(board.bottom)
    for _ in range(games):
        mover, mask = 0, 0
        while mask != full and not bits.has_line(board, np.uint64(mask ^ mover)):
            yield mover, mask
            feet = [1 << i for i in range(64) if (mask + bottom) & full & 1 << i]
            calm = [foot for foot in feet if not bits.has_line(board, np.uint64(mover | foot))]
            mover, mask = mask ^ mover, mask | rng.choice(calm or feet)


def compare(shape, found):
    """How often each score was found for positions (mover, mask)."""
    board, fired = bits.make_board(*shape), Counter()
    for mover, mask in found:
        threats = quiet_threats(board, mover, mask)
        if threats is None:
            continue
        plainly = Pairing(shape, cells_of(board, mover), cells_of(board, mask ^ mover))
        words, played = (np.uint64(mover), np.uint64(mask)), mask.bit_count()
        for goal in GOALS:
            score = int(bounds.static_score(board, *words, threats, played, goal, engine.UNKNOWN))
            said = plainly.bound(goal)
            assert score == (engine.UNKNOWN if said is None else said), (mover, mask, goal)
            fired[said] += 1
    return fired


@pytest.mark.parametrize(
    ("shape", "each"), [((3, 4, 3), 1), ((4, 3, 3), 1), ((2, 5, 3), 1), ((4, 4, 3), 40)]
)
def test_static_bounds_of_small_boards_are_as_plainly_said(shape, each):
    fired = compare(shape, [row[:2] for row in positions(*shape)[::each]])
    assert fired[0] > 0


@pytest.mark.parametrize(
    ("shape", "games"), [((7, 6, 4), 150), ((6, 5, 4), 150), ((5, 7, 4), 80), ((6, 6, 5), 50)]
)
def test_static_bounds_of_large_boards_are_as_plainly_said(shape, games):
    board = bits.make_board(*shape)
    fired = compare(shape, positions_by_lot(board, str(shape), games))
    assert min(fired[score] for score in (-2, -1, 0, 1, 2, None)) > 0


@pytest.mark.parametrize(
    ("shape", "mover", "mask"),
    [
        ((5, 4, 4), 4489312, 7832032),
        ((6, 5, 4), 1125122240, 1125913537),
        ((7, 6, 4), 4398319503517, 30787137691583),
    ],
)
def test_the_foot_of_an_even_column_is_paired(shape, mover, mask):
    """One in a hundred thousand positions: the other side gets that foot, and a line with it."""
    assert compare(shape, [(mover, mask)]).total() == len(GOALS)
