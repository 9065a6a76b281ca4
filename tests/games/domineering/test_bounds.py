"""What Domineering's search believes without searching, against the truth of all sets of cells."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from numba import njit
from plain.domineering import Size, covered_bits, every_position, value

from retro.games.domineering.bounds import is_won, places, taken_in_turn
from retro.games.domineering.kernels import dominoes_rules, ways_of
from retro.games.domineering.rules import DomineeringBoard

ONE = np.uint64(1)


@njit(nogil=True)
def truth(rules):
    """[side, set of free cells]: whether the side to move wins; from small sets to large ones."""
    wins = np.zeros((2, 1 << (rules.rows * rules.cols)), np.bool_)
    for index in range(wins.shape[1]):
        free = np.uint64(index)
        for side in range(2):
            ways = ways_of(rules, np.uint64(side))
            left = places(free, ways.step, ways.inner)
            while left:
                move = left & (~left + ONE)
                left ^= move
                if not wins[1 - side, free & ~(move | move << ways.step)]:
                    wins[side, index] = True
                    break
    return wins


@njit(nogil=True)
def contradictions(rules, wins):
    """(sets where a bound is wrong, sets it decides), either side to move."""
    wrong = decided = 0
    for index in range(wins.shape[1]):
        free = np.uint64(index)
        for side in range(2):
            ways = ways_of(rules, np.uint64(side))
            won = is_won(ways, free, 1)
            lost = is_won(ways_of(rules, np.uint64(1 - side)), free, 0)
            decided += won or lost
            wrong += (won and not wins[side, index]) or (lost and wins[side, index])
    return wrong, decided


@pytest.mark.parametrize("size", [Size(2, 2), Size(1, 6), Size(3, 3), Size(2, 5)], ids=str)
def test_the_truth_is_true(size: Size) -> None:
    rules = dominoes_rules(DomineeringBoard(*size))
    wins = truth(rules)
    for side, cells in every_position(size):
        free = int(rules.full) & ~covered_bits(cells)
        assert wins["VH".index(side), free] == (value(size, (side, cells)) == 1)


SIZES = ["1x12", "12x1", "2x9", "9x2", "3x6", "6x3", "4x5", "5x4", "4x4", "3x5"]


@pytest.mark.parametrize(
    "text", [*SIZES, *(pytest.param(size, marks=pytest.mark.slow) for size in ("5x5", "4x6"))]
)
def test_no_bound_contradicts_the_truth(text: str) -> None:
    """On every set of free cells, reachable or not."""
    rules = dominoes_rules(DomineeringBoard.parse(text))
    wins = truth(rules)
    wrong, decided = contradictions(rules, wins)
    assert wrong == 0
    assert decided > wins.size * 0.5  # they are worth having: that many need no search


@cache
def worst(protective: int, vulnerable: int, loose: int, we_move: int) -> int:
    """What `taken_in_turn` computes, from its definition: they choose what is worst for us."""
    if we_move:
        if protective:
            return 2 + worst(protective - 1, vulnerable, loose, 0)
        if loose:
            return 1 + worst(protective, vulnerable, loose - 1, 0)
        return 1 + worst(protective, vulnerable - 1, loose, 0) if vulnerable else 0
    spoil = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (0, 0, 2)]
    left = [(protective - p, vulnerable - v, loose - o) for p, v, o in spoil]
    return min(worst(*areas, 1) for areas in left if min(areas) >= 0)


def test_turns_are_the_worst_they_can_do() -> None:
    @njit
    def call(protective, vulnerable, loose, we_move):
        return taken_in_turn(protective, vulnerable, loose, we_move)

    for areas in product(range(7), range(9), range(11), (0, 1)):
        assert call(*areas) == worst(*areas)
