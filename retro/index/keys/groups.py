"""How a layer of keys is cut into groups: by how many stones lie in each orbit of cells.

A symmetry moves a cell within its *orbit* only, so how many stones of each player an orbit holds
is the same for a state and all its images, and a move changes one count:

    orbits of 3x3     o e o        family   corners and edges of the first player,
    o corner          e c e                 corners and edges of the second, ...
    e edge            o e o                 read as one number, a digit for each count

All keys with the same counts are a *family*. A move adds a fixed *step* to the number of the
family, whatever the state (a stone: the place value of its orbit's digit; a domino: of two), so
the successors of a family lie in as many families as there are steps, and so do its
predecessors. Nothing else of a layer has to be at hand, and nothing is shuffled.

Where families would be too large, because a game has few orbits or says nothing of them,
each is cut further into equal *shares* by a hash of the key. A share reads all shares of the
families that it reads: correct for any game, at the price of reading more.

    group number = family * shares + share

Within a layer keys are sorted by group, then as in the file. Which orbits are counted is
chosen so that there are many families, but not more than `MOST_FAMILIES`: the largest orbits first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import popcount
from retro.games.kernels import canonical_of, cells_of
from retro.jit import entry, inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retro.games.game import Rules
    from retro.index.keys.keys import Keys

    Numbers = NDArray[np.int64]

MOST_FAMILIES = 20_000
HASH, OTHER_HASH = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
HALF_WORD, FOLD = np.uint64(32), np.uint64(29)
U0 = np.uint64(0)


class Grouping(NamedTuple):
    """What is counted, and into how many shares a family is cut; for kernels."""

    a: NDArray[np.uint64]  # [digit] the cells of an orbit in the first word of a state
    b: NDArray[np.uint64]  # and in the second
    place: Numbers  # [digit] its place value
    base: Numbers  # [digit] one more than the cells of the orbit
    families: int
    shares: int

    @property
    def groups(self) -> int:
        return self.families * self.shares


def make_grouping(rules: Rules, shares: int = 1, most: int = MOST_FAMILIES) -> Grouping:
    """How the layers of a game are cut.

    >>> from retro.games.line_kernels import lines_rules
    >>> from retro.games.mnk.rules import MnkBoard
    >>> grouping = make_grouping(lines_rules(MnkBoard(3, 3, 3)))
    >>> grouping.families, [bin(cells) for cells in grouping.a[:2]]
    (2500, ['0b10101010', '0b101000101'])
    """
    orbits = find_orbits(rules)
    orbits.sort(key=lambda orbit: (-_size(orbit), orbit))
    # From either end in turn: in games of two kinds of stones, of both.
    orbits = [orbits[i // 2 if i % 2 == 0 else -1 - i // 2] for i in range(len(orbits))]
    orbits.sort(key=lambda orbit: -_size(orbit))
    chosen, families = [], 1
    for orbit in orbits:
        if families * (_size(orbit) + 1) <= most:
            chosen.append(orbit)
            families *= _size(orbit) + 1
    base = np.array([_size(orbit) + 1 for orbit in chosen], np.int64)
    place = np.cumprod(base) // base
    a, b = (np.array([orbit[word] for orbit in chosen], np.uint64) for word in (0, 1))
    return Grouping(a, b, place, base, families, shares)


def find_orbits(rules: Rules) -> list[tuple[int, int]]:
    """The orbits of the cells that a game counts, each as the bits of a state.

    The canonical state of one bit alone is the first bit of its orbit.
    """
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for word, cells in enumerate(int(cells) for cells in cells_of(rules)):
        for bit in (1 << place for place in range(64)):
            if cells & bit:
                state = (bit, 0) if word == 0 else (0, bit)
                first = canonical_of(rules, *np.array(state, np.uint64))
                name = (int(first[0]), int(first[1]))
                known = found.get(name, (0, 0))
                found[name] = (known[0] | state[0], known[1] | state[1])
    return list(found.values())


def _size(orbit: tuple[int, int]) -> int:
    return orbit[0].bit_count() + orbit[1].bit_count()


def related_families(
    grouping: Grouping, families: Numbers, steps: Numbers, direction: int
) -> Numbers:
    """The families that some families lead to (direction 1), or come from (-1); each once."""
    found = [families[:0]]
    for step in steps.tolist():
        low, high = (families, families + step) if direction > 0 else (families - step, families)
        fits = (low >= 0) & (high < grouping.families)
        # No digit may run over: then it would be another family's number.
        for place, base in zip(grouping.place.tolist(), grouping.base.tolist(), strict=True):
            fits &= low // place % base + step // place % base < base
        found.append((high if direction > 0 else low)[fits])
    return np.unique(np.concatenate(found))


@inner
def family_of(grouping, a, b):
    """The family of a state."""
    number = 0
    for digit in range(len(grouping.place)):
        number += grouping.place[digit] * (
            popcount(a & grouping.a[digit]) + popcount(b & grouping.b[digit])
        )
    return number


@inner
def share_of(shares, a, b):
    """The share of a key within its family."""
    if shares == 1:
        return 0
    mixed = (a ^ (b * HASH)) * HASH
    mixed = (mixed ^ (mixed >> FOLD)) * OTHER_HASH
    return np.int64(((mixed >> HALF_WORD) * np.uint64(shares)) >> HALF_WORD)


def groups_of(grouping: Grouping, keys: Keys) -> Numbers:
    """The groups of some keys."""
    found = np.empty(keys.size, np.int64)
    _fill_groups(grouping, *keys, found)
    return found


@entry
def _fill_groups(grouping, keys_a, keys_b, found):
    for i in range(len(keys_a)):
        a, b = keys_a[i], keys_b[i] if len(keys_b) > 0 else U0
        found[i] = family_of(grouping, a, b) * grouping.shares + share_of(grouping.shares, a, b)
