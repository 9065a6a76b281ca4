"""The generic walk: any game that kernels know, positions as sorted canonical keys, layer by layer.

    forward    the live positions of a ply, expanded, sorted, without repeats, are the next
               ply; those that the rules alone decide are counted and set aside
    backward   the value of a position is the best over its successors, which are decided by
               the rules or found by binary search in the layer after

    ply 0      ply 1      ply 2          a layer: one key per class of symmetric
    [start] -> [keys  ] -> [keys   ] ->           live positions, increasing
            <- [values] <- [values ] <-           one value each

A layer needs only its neighbour, so a builder keeps two in memory and the rest
on disk; `solve` keeps all, for small boards and tests.

Threads take stretches of keys; sets are sorted, and each thread writes values
of its own, so the bytes do not depend on the number of threads. `memory` is the
number of bytes the arrays of a walk may take: a step that needs more raises
`DoesNotFitError` before it takes them.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from retro.cores import available_cores
from retro.errors import DoesNotFitError, GameOverError, VerificationError
from retro.games.kernels import UNDECIDED, canonical_of, move_limit_of, outcome_of, start_of
from retro.index.keys.sorting import empty_keys, merged, sorted_set
from retro.walk.keys import kernels
from retro.walk.keys.distances import count_scores, evaluate_scores
from retro.walk.keys.scores import DECIDED, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from retro.games.game import Rules
    from retro.index.keys.keys import Keys

    Values = NDArray[np.int8]
    Counts = NDArray[np.int64]  # [canonical or every, loss / draw / win]
    Ended = Counts

Made = TypeVar("Made")

LEAST_ROOM, MOST_ROOM = 1 << 16, 1 << 21  # successors that a thread makes at a time
RUNS_PER_THREAD = 16
STRETCHES_PER_THREAD = 4
LEAST_SHARED = 1 << 12  # keys: of a smaller layer all is done before a thread has started
MOST_THREADS = 256  # more would only wait for each other


class Tally(NamedTuple):
    """Positions of one ply; win, draw and loss are for the side to move, finished games included.

    `terminal` are those that the rules alone decide.
    """

    positions: int
    win: int
    draw: int
    loss: int
    terminal: int


class LayerCounts(NamedTuple):
    """The counts of one ply: of every position, and of one for each symmetry class."""

    ply: int
    every: Tally
    canonical: Tally


@dataclass(frozen=True)
class Walk:
    """A game made ready to walk."""

    rules: Rules
    threads: int
    memory: int | None = None  # bytes
    distances: bool = False  # whether walking back gives scores (`scores`), not values


def prepare(
    rules: Rules, threads: int | None = None, memory: int | None = None, *, distances: bool = False
) -> Walk:
    """Make a game ready to walk, by default on all cores and without a limit of memory."""
    return Walk(rules, min(threads or available_cores(), MOST_THREADS), memory, distances)


def first_layer(walk: Walk, root: tuple[int, int] | None = None) -> Keys:
    """The layer of the root alone: the empty board, or the given state."""
    a, b = (np.uint64(word) for word in root or start_of(walk.rules))
    if outcome_of(walk.rules, a, b) != UNDECIDED:
        raise GameOverError("the game is over in the position to start from: nothing to solve")
    keys = empty_keys(1, walk.rules.words)
    for words, word in zip(keys, canonical_of(walk.rules, a, b), strict=True):
        words[:] = word
    return keys


def next_layer(walk: Walk, keys: Keys) -> tuple[Keys, Ended]:
    """The live positions one ply on, and counts of those where the game has ended."""
    found = _successors(walk, keys)
    ends = _each_stretch(
        walk,
        found.size,
        lambda begin, end, counts: kernels.set_aside_ended(
            walk.rules, *found.part(begin, end), counts
        ),
    )
    live = 0
    for begin, kept, _ in ends:
        for words in found:
            words[live : live + kept] = words[begin : begin + kept]
        live += kept
    return found.part(0, live), sum((counts for *_, counts in ends), _no_counts())


def evaluate(walk: Walk, keys: Keys, after: Keys, after_values: Values) -> Values:
    """The values of a layer, or the scores (`scores`), from the layer after it."""
    values = np.empty(keys.size, np.int8)
    kernel = evaluate_scores if walk.distances else kernels.evaluate
    _require(walk, keys.nbytes + after.nbytes + after.size + 2 * values.nbytes)
    layer = kernels.solved(after, after_values)

    def work(begin: int, end: int, _: Counts) -> int:
        place: int = kernel(walk.rules, *keys.part(begin, end), layer, values[begin:end])
        return place

    for begin, place, _ in _each_stretch(walk, keys.size, work):
        if place != kernels.SOUND:
            state = tuple(int(words[begin + place]) for words in keys if len(words))
            raise VerificationError(
                f"the rules contradict themselves at state {state}: it is undecided but has no "
                "move, or a successor that the walk forward did not find"
            )
    return values


def count(walk: Walk, ply: int, keys: Keys, values: Values, ended: Ended) -> LayerCounts:
    """Count a layer by its values or scores: its live positions and those that ended there."""
    values = values_of(values)
    parts = _each_stretch(
        walk,
        keys.size,
        lambda begin, end, counts: kernels.count_values(
            walk.rules, *keys.part(begin, end), values[begin:end], counts
        ),
    )
    return counts_of(ply, sum((counts for *_, counts in parts), _no_counts()), ended)


def counts_of(ply: int, live: Counts, ended: Ended) -> LayerCounts:
    """The counts of a layer from those of its live positions and those that have ended there."""
    total = live + ended
    canonical, every = (
        Tally(
            positions=int(by_value.sum()),
            win=int(by_value[2]),
            draw=int(by_value[1]),
            loss=int(by_value[0]),
            terminal=int(over.sum()),
        )
        for by_value, over in zip(total, ended, strict=True)
    )
    return LayerCounts(ply, every, canonical)


class Distances(NamedTuple):
    """[plies] how many positions of a ply end in so many: in 0 those that have ended there."""

    win_in: tuple[int, ...]
    draw_in: tuple[int, ...]
    loss_in: tuple[int, ...]


def count_distances(walk: Walk, keys: Keys, scores: Values, ended: Ended, left: int) -> Distances:
    """Count the positions of a layer by the plies to their end; `left` is the most there can be."""
    total = np.zeros((3, DECIDED + 1), np.int64)
    count_scores(walk.rules, *keys, scores, total)
    return distances_of(total, ended, left)


def distances_of(live: Counts, ended: Ended, left: int) -> Distances:
    """The same from counts of live positions by value and plies, where draws have none."""
    total = live.copy()
    total[1, left] = total[1, 0]  # draws have no plies of their own
    total[1, 0] *= left == 0
    total[:, 0] += ended[1]
    loss, draw, win = (tuple(counted[: left + 1].tolist()) for counted in total)
    return Distances(win, draw, loss)


class SolvedLayer(NamedTuple):
    """All that is known of one ply."""

    keys: Keys
    values: Values
    counts: LayerCounts


def solve(walk: Walk, root: tuple[int, int] | None = None, ply: int = 0) -> list[SolvedLayer]:
    """Every layer from the root (of that ply) on, all in memory.

    >>> from retro.games.line_kernels import lines_rules
    >>> from retro.games.mnk.rules import MnkBoard
    >>> layers = solve(prepare(lines_rules(MnkBoard(3, 3, 3))))
    >>> sum(layer.counts.every.positions for layer in layers)
    5478
    >>> sum(layer.counts.canonical.positions for layer in layers), int(layers[0].values[0])
    (765, 0)
    """
    layers = list(forward(walk, first_layer(walk, root)))
    keys, values = empty_keys(0, walk.rules.words), np.empty(0, np.int8)
    found = []
    for number, (here, ended) in reversed(list(enumerate(layers))):
        values = evaluate(walk, here, keys, values)
        keys = here
        found.append(SolvedLayer(keys, values, count(walk, ply + number, keys, values, ended)))
    return found[::-1]


def forward(walk: Walk, keys: Keys, ended: Ended | None = None) -> Iterator[tuple[Keys, Ended]]:
    """Yield this layer and all that follow; the last has no live position."""
    ended = _no_counts() if ended is None else ended
    yield keys, ended
    while keys.size:
        keys, ended = next_layer(walk, keys)
        yield keys, ended


def _no_counts() -> Counts:
    return np.zeros((2, 3), np.int64)


def _successors(walk: Walk, keys: Keys) -> Keys:
    """All canonical successors of a layer as one set.

    Stretches become sorted runs; of two runs of about the same length one is
    made, as in a binary counter, so that repeats do not pile up.
    """
    limit = int(move_limit_of(walk.rules))
    room = keys.size * limit // (RUNS_PER_THREAD * walk.threads)
    step = max(1, min(max(room, LEAST_ROOM), MOST_ROOM) // limit)
    cuts = [*range(0, keys.size, step), keys.size]

    def run(begin: int, end: int) -> Keys:
        out = empty_keys((end - begin) * limit, walk.rules.words)
        return sorted_set(out.part(0, kernels.expand(walk.rules, *keys.part(begin, end), *out)))

    if len(cuts) == 2:
        return run(*cuts)
    runs: list[Keys] = []
    with ThreadPoolExecutor(walk.threads) as pool:
        waiting: deque[Future[Keys]] = deque()
        for begin, end in pairwise(cuts):
            waiting.append(pool.submit(run, begin, end))
            if len(waiting) > walk.threads:
                _add_run(walk, keys, runs, waiting.popleft().result())
        for future in waiting:
            _add_run(walk, keys, runs, future.result())
    while len(runs) > 1:
        _merge_last(walk, keys, runs)
    return runs[0]


def _add_run(walk: Walk, keys: Keys, runs: list[Keys], run: Keys) -> None:
    runs.append(run)
    while len(runs) > 1 and runs[-2].size < 2 * runs[-1].size:
        _merge_last(walk, keys, runs)


def _merge_last(walk: Walk, keys: Keys, runs: list[Keys]) -> None:
    x, y = runs.pop(), runs.pop()
    _require(walk, keys.nbytes + sum(run.nbytes for run in runs) + 2 * (x.nbytes + y.nbytes))
    runs.append(merged(x, y))


def _require(walk: Walk, needed: int) -> None:
    if walk.memory is not None and needed > walk.memory:
        raise DoesNotFitError(
            f"a layer needs more than {needed / 1e9:.2g} GB of memory, "
            f"there are {walk.memory / 1e9:.2g} GB"
        )


def _each_stretch(
    walk: Walk, size: int, work: Callable[[int, int, Counts], Made]
) -> list[tuple[int, Made, Counts]]:
    """Call work(begin, end, counts) for stretches of a layer, on threads.

    Returns (begin, what work returned, the counts it added to) in order.
    """
    pieces = 1 if walk.threads == 1 else max(1, min(size, STRETCHES_PER_THREAD * walk.threads))
    cuts = [size * piece // pieces for piece in range(pieces + 1)]

    def one(stretch: tuple[int, int]) -> tuple[int, Made, Counts]:
        counts = _no_counts()
        return stretch[0], work(*stretch, counts), counts

    with ThreadPoolExecutor(walk.threads) as pool:
        each = pool.map if size >= LEAST_SHARED else map
        return list(each(one, pairwise(cuts)))
