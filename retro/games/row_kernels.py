"""Rows of tables in bulk: successors of many positions, their symmetric images, their orbits."""

from __future__ import annotations

import numpy as np

from retro.games.kernels import images, orbit, play, symmetries
from retro.jit import entry


@entry
def fill_successors(rules, a, b, legal, next_a, next_b):
    """[position, move] -> whether it is legal, and the state after it; filled in place.

    The positions are UNDECIDED.
    """
    for i in range(len(a)):
        for move in range(legal.shape[1]):
            is_legal, x, y = play(rules, a[i], b[i], move)
            legal[i, move] = is_legal
            if is_legal:
                next_a[i, move] = x
                next_b[i, move] = y


@entry
def count_symmetries(rules):
    """How many symmetries the rules know, 0 if they do more than move bits about."""
    return symmetries(rules)


@entry
def fill_orbits(rules, a, b, orbits):
    """How many images each position has; filled in place."""
    for i in range(len(a)):
        orbits[i] = orbit(rules, a[i], b[i])


@entry
def fill_images(rules, a, b, found_a, found_b):
    """The images of each position, every one once; filled in place. Returns how many there are.

    Rules whose `symmetries` are not 0 only.
    """
    many = symmetries(rules)
    some_a, some_b = np.empty(many, np.uint64), np.empty(many, np.uint64)
    count = 0
    for i in range(len(a)):
        images(rules, a[i], b[i], some_a, some_b)
        for k in range(many):
            is_new = True
            for j in range(k):
                if some_a[j] == some_a[k] and some_b[j] == some_b[k]:
                    is_new = False
                    break
            if is_new:
                found_a[count], found_b[count] = some_a[k], some_b[k]
                count += 1
    return count
