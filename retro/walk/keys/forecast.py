"""How many positions the layers of a game will have: exact at first, then by sampling.

Nobody knows the size of a layer before it is walked, but layers grow by a rule. Count every
arrow from a position of layer n to an undecided one of layer n + 1, once from either end:

    positions(n) * successors(n)  =  positions(n + 1) * predecessors(n + 1)        (means)

Here a position and its images under symmetry are all counted (keys times their orbits):
then predecessors are a plain number. In a game of stones any stone of the player who has just
moved may have been the last: 1, 1, 2, 2, 3, 3, ... In Quarto 1, 1, 2, 3, 4, ... In Domineering
two dominoes cover the same cells in several ways, so a little more: 2.01, 2.04, 3.12, 3.28, ...

    exact     walk forward while a layer has few successors; both sides of the equation
              are counted, and give the predecessors
    sampled   a few thousand positions, drawn from the last exact layer, go on by random moves;
              their successors are counted, the predecessors extrapolated

Where every order of the same moves is possible, all positions of a layer are drawn with the same
probability, and all that is left is the noise of the sample. Domineering draws those more often
that can be covered in many ways. Measured against real tables in `tests/walk/test_forecast.py`.

Keys are positions divided by their orbits; finished games count as one more kind of successor.
How crowded the largest family of a layer is (`retro.index.keys.groups`) the sample tells, too.
"""

from __future__ import annotations

import time
from math import inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.games.kernels import UNDECIDED, move_limit, orbit, outcome, play
from retro.index.keys.groups import groups_of, make_grouping
from retro.index.keys.keys import Keys
from retro.index.keys.sorting import empty_keys
from retro.jit import entry
from retro.walk.keys.layers import first_layer, next_layer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from retro.index.keys.groups import Grouping
    from retro.walk.keys.layers import Walk

MOST_EDGES = 2_000_000  # moves from the largest layer that is walked
MOST_SECONDS = 0.25  # and the time that may take
LONGEST_SECONDS = 2.0  # as long as it is not clear how predecessors grow
SAMPLE = 2000  # positions of a layer
CROWD_ERRORS = 3.0  # standard errors that the largest family may be larger than its sample says
ORBITS = 400  # of these, whose orbits are counted
LEAST_TERMS = 4  # numbers of predecessors that make it clear
TIMED_EDGES = 2000  # of a layer whose time says something
BENDS_MORE = 1.6  # with every ply; Domineering from 5x5 to 8x4: 1.5 to 1.9
U0 = np.uint64(0)


class LayerForecast(NamedTuple):
    """What a layer will have; floats, since the giants are beyond every integer type."""

    ply: int
    keys: float  # undecided positions, one for each symmetry class: what a table stores
    ended: float  # symmetry classes of finished games
    edges: float  # moves from all keys
    crowd: float  # the share of its keys that its largest family has; of a sample, at most
    is_exact: bool


class Forecast(NamedTuple):
    """All layers from the root on; the last has no keys."""

    layers: list[LayerForecast]
    seconds_per_edge: float  # of the walk forward; 0 if no layer was large enough to tell
    is_straight: bool  # predecessors are whole numbers, so only noise is left

    @property
    def is_exact(self) -> bool:
        return all(layer.is_exact for layer in self.layers)


def forecast(
    walk: Walk,
    root: tuple[int, int] | None = None,
    ply: int = 0,
    *,
    most_edges: int = MOST_EDGES,
    seed: int = 0,
) -> Forecast:
    """The sizes of all layers; takes a second or two and little memory.

    >>> from retro.games.line_kernels import lines_rules
    >>> from retro.games.mnk.rules import MnkBoard
    >>> from retro.walk.keys.layers import prepare
    >>> found = forecast(prepare(lines_rules(MnkBoard(3, 3, 3))))
    >>> found.is_exact, [int(layer.keys) for layer in found.layers]
    (True, [1, 3, 12, 38, 108, 153, 183, 95, 34, 0])
    """
    keys, ended = first_layer(walk, root), 0.0
    layers: list[LayerForecast] = []
    predecessors: list[float] = []  # of the positions of every ply after the root's
    of_ended = 0.0  # predecessors of a finished game
    moves, live, rate = 1.0, 0.0, inf
    grouping = make_grouping(walk.rules)
    while keys.size:
        crowd = largest_share(grouping, keys)
        orbits = np.empty(keys.size, np.int64)
        count_orbits(walk.rules, *keys, orbits)
        if layers:
            predecessors.append(live / float(orbits.sum()))
        expected = moves * keys.size
        patience = MOST_SECONDS if len(predecessors) >= LEAST_TERMS else LONGEST_SECONDS
        if expected > most_edges or (isfinite(rate) and expected * rate > patience):
            rng = np.random.default_rng(seed)
            layer = LayerForecast(ply, keys.size, ended, 0.0, crowd, is_exact=True)
            known = _Known(walk, grouping, keys, orbits)
            layers += _sampled(known, layer, [*predecessors], of_ended, rng)
            break
        edges, live, over = count_arrows(walk.rules, *keys, orbits)
        layers.append(LayerForecast(ply, keys.size, ended, edges, crowd, is_exact=True))
        moves, begin = edges / keys.size, time.process_time()
        keys, counts = next_layer(walk, keys)
        if edges > TIMED_EDGES:  # the least, of CPU time: what else the machine does is not ours
            rate = min(rate, (time.process_time() - begin) / walk.threads / edges)
        ply, ended = ply + 1, float(counts[0].sum())
        of_ended = over / float(counts[1].sum()) if ended else of_ended
    else:
        layers.append(LayerForecast(ply, 0.0, ended, 0.0, 1.0, is_exact=True))
    straight = len(predecessors) >= LEAST_TERMS and is_whole(predecessors)
    return Forecast(layers, rate if isfinite(rate) else 0.0, straight)


class _Known(NamedTuple):
    """The last layer that was walked."""

    walk: Walk
    grouping: Grouping
    keys: Keys
    orbits: NDArray[np.int64]


def _sampled(
    known: _Known,
    layer: LayerForecast,
    predecessors: list[float],
    of_ended: float,
    rng: np.random.Generator,
) -> Iterator[LayerForecast]:
    """The last exact layer and all that follow; extends `predecessors`."""
    walk, grouping, keys, orbits = known
    positions = float(orbits.sum())
    drawn = rng.choice(keys.size, SAMPLE, p=orbits / positions)
    sample = Keys(keys.a[drawn], keys.b[drawn] if len(keys.b) else keys.b)
    classes = keys.size / positions
    while sample.size:
        after = empty_keys(SAMPLE, walk.rules.words)
        live, over = random_successors(walk.rules, *sample, *after, rng.integers(1 << 31))
        yield layer._replace(edges=layer.keys * (live + over) / sample.size)
        predecessors.append(next_term(predecessors))
        if over and not of_ended:  # the first games to end are those that any last stone ends
            of_ended = predecessors[-1]
        ended = positions * over / sample.size / of_ended if over else 0.0
        positions *= live / sample.size / predecessors[-1]
        sample = after.part(0, min(live, SAMPLE))
        classes = _classes(walk, sample) if sample.size else classes
        crowd = largest_share(grouping, sample, errors=CROWD_ERRORS)
        ply, sizes = layer.ply + 1, (positions * classes, ended * classes)
        layer = LayerForecast(ply, *sizes, 0.0, crowd, is_exact=False)
    yield layer


def largest_share(grouping: Grouping, keys: Keys, errors: float = 0.0) -> float:
    """The share of some keys that their largest family has.

    Of a sample, so many standard errors are added.
    """
    if not keys.size:
        return 1.0
    most = int(np.bincount(groups_of(grouping, keys)).max())
    return min(1.0, (most + errors * most**0.5) / keys.size)


def _classes(walk: Walk, sample: Keys) -> float:
    """How many symmetry classes there are for each position: the mean of 1 / orbit."""
    few = slice(None, None, max(1, sample.size // ORBITS))
    return float(mean_inverse_orbit(walk.rules, sample.a[few], sample.b[few]))


def next_term(terms: list[float]) -> float:
    """Go on with a sequence that grows by about the same step from every other term to the next.

    Whole numbers keep their step; that of others grows, more with every term:

    >>> next_term([1, 1, 2, 2]), next_term([1, 2, 3, 4]), next_term([1, 1, 2, 3])
    (3.0, 5.0, 4.0)
    >>> domineering_6x5 = [1, 1, 2.006, 2.027, 3.074, 3.166]
    >>> round(next_term(domineering_6x5), 3)  # 4.328 is right
    4.327
    """
    if len(terms) < 3:
        return terms[-2] + 1 if len(terms) > 1 else 1
    step = terms[-1] - terms[-3]
    bend = 0 if len(terms) < 4 or is_whole(terms) else step - (terms[-2] - terms[-4])
    return terms[-2] + step + BENDS_MORE * max(0, bend)


def is_whole(terms: list[float]) -> bool:
    """Whether all are whole numbers, but for rounding."""
    return all(abs(term - round(term)) < 1e-9 for term in terms)


@entry
def count_orbits(rules, keys_a, keys_b, orbits):
    """Fill in how many positions each key stands for."""
    for i in range(len(keys_a)):
        orbits[i] = orbit(rules, keys_a[i], keys_b[i] if len(keys_b) > 0 else U0)


@entry
def count_arrows(rules, keys_a, keys_b, orbits):
    """(moves from the keys, arrows to undecided, to finished positions).

    Arrows are counted from all positions, images under symmetry included.
    """
    moves, live, over = 0, 0.0, 0.0
    for i in range(len(keys_a)):
        a, b = keys_a[i], keys_b[i] if len(keys_b) > 0 else U0
        for move in range(move_limit(rules)):
            legal, next_a, next_b = play(rules, a, b, move)
            if legal:
                moves += 1
                if outcome(rules, next_a, next_b) == UNDECIDED:
                    live += orbits[i]
                else:
                    over += orbits[i]
    return moves, live, over


@entry
def random_successors(rules, a, b, out_a, out_b, seed):
    """Draw undecided successors, any arrow alike.

    Returns how many there are to draw from, and how many moves end the game.
    """
    np.random.seed(seed)  # noqa: NPY002 - of this kernel's own generator
    live, over = 0, 0
    for i in range(len(a)):
        for move in range(move_limit(rules)):
            legal, next_a, next_b = play(rules, a[i], b[i] if len(b) > 0 else U0, move)
            if not legal:
                continue
            if outcome(rules, next_a, next_b) != UNDECIDED:
                over += 1
                continue
            # Reservoir sampling: the n-th arrow enters with probability room / n.
            place = live if live < len(out_a) else np.random.randint(live + 1)  # noqa: NPY002
            if place < len(out_a):
                out_a[place] = next_a
                if len(out_b) > 0:
                    out_b[place] = next_b
            live += 1
    return live, over


@entry
def mean_inverse_orbit(rules, a, b):
    """The mean of 1 / orbit over states."""
    total = 0.0
    for i in range(len(a)):
        total += 1.0 / orbit(rules, a[i], b[i] if len(b) > 0 else U0)
    return total / len(a)
