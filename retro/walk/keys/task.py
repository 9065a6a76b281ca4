"""One task of a walk over keys: some neighbouring groups of one layer, from the layer beside it.

A layer is cut into groups (`retro.index.keys.groups`), consecutive groups are a task. What a task
makes is a *piece*: its keys, sorted by group and key, and, walking back, their values.

    forward   "alive"   the keys of groups first .. last - 1 of a ply, from the ply before; finished
                        games are counted and left out
    back      "walk"    the values of such a piece, from keys and values of the ply after

A task is a pure function of the rules and of what it reads: it opens no file and shares nothing,
so it can run anywhere, twice or in two places at once, and gives the same bytes. Whoever runs it
says how a piece is fetched. It reads the families that one move leads to (or from), side by
side in one *view* if they fit into the memory it is given, else in several, one after another:

    views     | families 3-5, 40-42, 77 |        one view: the quick way, family after family
    windows   | 3-5, 40 | | 41-42, 77 |          two: the best value so far is kept between them,
                                                 and so is the table of what was found

A piece that turns out larger than there is room for is refused by `TooManyKeysError`: then its
groups must be given to smaller tasks. In a walk with distances (`Ground.distances`) values are
scores (`scores`), and keys are counted by the plies to their end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from retro.errors import DoesNotFitError, VerificationError
from retro.games.kernels import move_limit_of
from retro.index.keys.groups import groups_of, related_families
from retro.index.keys.keys import Keys
from retro.index.keys.sorting import empty_keys
from retro.walk.keys import arranging, hashing
from retro.walk.keys import group_kernels as kernels
from retro.walk.keys.scores import DECIDED, NOTHING
from retro.walk.task import STEP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from retro.games.game import Rules
    from retro.index.keys.groups import Grouping
    from retro.walk.task import Task, Walk

    Values = NDArray[np.int8]
    Counts = NDArray[np.int64]  # [canonical or every, loss / draw / win, and walking back plies]
    Numbers = NDArray[np.int64]

BYTES_OF_SLOTS = 8  # of a key in a view of the walk back


class TooManyKeysError(DoesNotFitError):
    """A piece has more keys than there is room for."""


class Piece(NamedTuple):
    """The keys of a task, its groups one after another, and their values if they are known."""

    keys: Keys
    ends: Numbers  # [group] where it ends
    values: Values

    def of(self, first: int, last: int) -> tuple[int, int]:
        """Where groups `first` to before `last`, counted from this piece's own, begin and end."""
        return int(self.ends[first - 1]) if first else 0, int(self.ends[last - 1]) if last else 0


class Store(Protocol):
    """Where pieces are."""

    def sizes(self, ply: int) -> Numbers:
        """How many keys every group of a finished layer has."""
        ...

    def pieces(self, ply: int) -> list[Task]:
        """The pieces of a layer, in order."""
        ...

    def fetch(self, task: Task) -> Piece:
        """A piece; "walk" with its values. Raises `LostGroupError`."""
        ...

    def whole(self, walk: Walk, ply: int) -> kernels.View | None:
        """All of a layer, if it is kept in memory."""
        ...


@dataclass(frozen=True)
class Ground:
    """What every task of a game needs."""

    rules: Rules
    grouping: Grouping
    distances: bool = False  # whether walking back gives scores, not values

    @property
    def key_bytes(self) -> int:
        return 8 * int(self.rules.words)


def moves_from(ground: Ground, a: int, b: int) -> kernels.Moves:
    """What the moves of a ply do, of which (a, b) is any state."""
    many = int(kernels.count_symmetries(ground.rules))
    limit, grouping = int(move_limit_of(ground.rules)), ground.grouping
    of_a, of_b = np.zeros((2, limit, max(many, 1)), np.uint64)
    kernels.fill_changes(ground.rules, np.uint64(a), np.uint64(b), of_a, of_b)
    step = np.zeros(limit, np.int64)
    for cells_a, cells_b, place in zip(grouping.a, grouping.b, grouping.place, strict=True):
        added = np.bitwise_count(of_a[:, 0] & cells_a) + np.bitwise_count(of_b[:, 0] & cells_b)
        step += place * added.astype(np.int64)
    order = np.argsort(step, kind="stable")
    if many:  # a move that changes nothing is never legal
        order = order[(of_a[order, 0] | of_b[order, 0]) != 0]
    steps, cuts = np.unique(step[order], return_index=True)
    cuts = np.append(cuts, len(order)).astype(np.int64)
    sets = np.zeros(len(steps), np.uint64)
    if many:
        bits = np.uint64(1) << order.astype(np.uint64)
        sets = np.bitwise_or.reduceat(bits, cuts[:-1])
    return kernels.Moves(of_a, of_b, step, steps, sets, order.astype(np.int64), cuts)


def needed_groups(ground: Ground, moves: kernels.Moves, task: Task) -> Numbers:
    """The groups of the neighbouring layer that a task reads, in order."""
    shares = ground.grouping.shares
    families = np.arange(task.first // shares, (task.last - 1) // shares + 1)
    read = related_families(ground.grouping, families, moves.steps, STEP[task.walk])
    return (read[:, None] * shares + np.arange(shares)).ravel()


def view_bytes(ground: Ground, task: Task, keys: int) -> int:
    """Bytes of a view with so many keys."""
    more = 1 + BYTES_OF_SLOTS if task.walk == "walk" else 0
    return keys * (ground.key_bytes + more)


def windows(
    ground: Ground, task: Task, moves: kernels.Moves, store: Store, memory: int | None
) -> list[Numbers]:
    """The groups that a task reads, in as few windows as fit into a memory; at least one."""
    sizes = store.sizes(task.ply + STEP[task.walk])
    groups = needed_groups(ground, moves, task)
    groups = groups[sizes[groups] > 0]
    if memory is None:
        return [groups]
    taken = np.cumsum(view_bytes(ground, task, 1) * sizes[groups])
    found: list[Numbers] = []
    begin = 0
    while begin < len(groups) or not found:
        before = int(taken[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(taken, before + memory, "right")), begin + 1)
        found.append(groups[begin:end])
        begin = end
    return found


def gather(
    ground: Ground, task: Task, store: Store, groups: Numbers, *, is_first: bool
) -> kernels.View:
    """A window: some groups of the neighbouring layer side by side.

    A group without keys is known to be empty; the first window says so, for all of them.
    """
    ply, back = task.ply + STEP[task.walk], task.walk == "walk"
    sizes = store.sizes(ply)
    begins, ends = np.full((2, len(sizes)), kernels.ABSENT, np.int64)
    if is_first:
        begins[sizes == 0] = ends[sizes == 0] = 0
    ends[groups] = np.cumsum(sizes[groups])
    begins[groups] = ends[groups] - sizes[groups]
    total = int(sizes[groups].sum())
    keys = empty_keys(total, ground.rules.words)
    values = np.empty(total if back else 0, np.int8)
    for name in store.pieces(ply):
        wanted = groups[(groups >= name.first) & (groups < name.last)]
        if len(wanted):
            piece = store.fetch(name._replace(walk=task.walk))
            for first, last in _runs(wanted):
                begin, end = piece.of(first - name.first, last - name.first)
                to = int(begins[first])
                place = slice(to, to + end - begin)
                for words, source in zip(keys, piece.keys, strict=True):
                    if len(source):
                        words[place] = source[begin:end]
                if back:
                    values[place] = piece.values[begin:end]
    return make_view(keys, values, begins, ends)


def make_view(keys: Keys, values: Values, begins: Numbers, ends: Numbers) -> kernels.View:
    """A view of keys in a row; with values also the table by which a key is found."""
    slots = np.empty(2 * len(values), np.int32)
    if len(values):
        hashing.seat(*keys, begins, ends, slots)
    return kernels.View(*keys, values, begins, ends, slots)


def _runs(groups: Numbers) -> Iterator[tuple[int, int]]:
    """Stretches of groups: those between two of them hold no key, or are not wanted."""
    cuts = np.flatnonzero(np.diff(groups) != 1) + 1
    for run in np.split(groups, cuts):
        yield int(run[0]), int(run[-1]) + 1


class Limits(NamedTuple):
    """What a task may take."""

    keys: int  # of its piece, finished games included
    view: int | None = None  # bytes of what it reads at once


def walk_forward(
    ground: Ground, task: Task, a_state: tuple[int, int], store: Store, limits: Limits
) -> tuple[Piece, Counts]:
    """The piece of a task, and the finished games of its groups.

    `a_state` is any state of the ply before.
    """
    moves = moves_from(ground, *a_state)
    whole = store.whole(task.walk, task.ply + STEP[task.walk])
    parts = [] if whole else windows(ground, task, moves, store, limits.view)
    out = empty_keys(limits.keys + int(move_limit_of(ground.rules)), ground.rules.words)
    counts = np.zeros((2, 3), np.int64)
    if len(parts) > 1:
        return _from_windows(ground, task, moves, store, parts, out, counts), counts
    view = whole or gather(ground, task, store, parts[0], is_first=True)
    shares = ground.grouping.shares
    before, end = task.first // shares, -(-task.last // shares)
    families = np.zeros(end - before, np.int64)
    span = (task.first, task.last)
    count = kernels.expand(ground.rules, ground.grouping, moves, view, span, out, families, counts)
    _require(task, count)
    keys, sizes = out.part(0, count), np.zeros((len(families), shares), np.int64)
    arranging.arrange(shares, *keys, families, sizes)
    own = sizes.ravel()[task.first - before * shares : task.last - before * shares]
    return Piece(keys, np.cumsum(own), np.empty(0, np.int8)), counts


def _require(task: Task, count: int) -> None:
    if count == kernels.TOO_MANY:
        raise TooManyKeysError(
            f"groups {task.first} to {task.last - 1} of ply {task.ply} have too many keys"
        )


def _from_windows(
    ground: Ground,
    task: Task,
    moves: kernels.Moves,
    store: Store,
    parts: list[Numbers],
    out: Keys,
    counts: Counts,
) -> Piece:
    """A piece made window after window: one table of all that was found, sorted at the end."""
    slots, count = np.full(1 << 10, -1, np.int32), 0
    for number, groups in enumerate(parts):
        view = gather(ground, task, store, groups, is_first=number == 0)
        slots, count = kernels.insert(
            ground.rules, ground.grouping, moves, view, (task.first, task.last), slots, out, count
        )
        del view
        _require(task, count)
    live = int(kernels.set_aside(ground.rules, out, count, counts))
    keys = out.part(0, live)
    numbers = groups_of(ground.grouping, keys)
    order = np.lexsort((keys.b, keys.a, numbers) if len(keys.b) else (keys.a, numbers))
    sizes = np.bincount(numbers - task.first, minlength=task.last - task.first)
    found = Keys(keys.a[order], keys.b[order] if len(keys.b) else keys.b)
    return Piece(found, np.cumsum(sizes), np.empty(0, np.int8))


def columns(*, distances: bool) -> int:
    """How many columns the counts of a walk back have: one for every number of plies."""
    return DECIDED + 1 if distances else 1


def walk_back(
    ground: Ground, task: Task, own: Piece, store: Store, limits: Limits
) -> tuple[Values, Counts]:
    """The values of a piece and how many of its keys and states have each of them.

    They are counted by the plies to the end, too: [canonical or every, value, plies]. Draws,
    and all if there are no distances, in the first column.
    """
    best = np.full(own.keys.size, NOTHING, np.int8)
    counts = np.zeros((2, 3, columns(distances=ground.distances)), np.int64)
    if not own.keys.size:
        return best, counts
    moves = moves_from(ground, *first_state(own.keys))
    mine = (own.keys.a, own.keys.b, task.first, own.ends)
    whole = store.whole(task.walk, task.ply + STEP[task.walk])
    parts = [own.ends[:0]] if whole else windows(ground, task, moves, store, limits.view)
    for number, groups in enumerate(parts):
        view = whole or gather(ground, task, store, groups, is_first=number == 0)
        counted = counts if number == len(parts) - 1 else counts[:0]
        place = kernels.evaluate(
            ground.rules, ground.grouping, moves, mine, view, best, counted, ground.distances
        )
        del view
        if place != kernels.SOUND:
            where = tuple(int(words[place]) for words in own.keys if len(words))
            raise VerificationError(
                f"the rules contradict themselves at state {where}: it is undecided but has no "
                "move, or a successor that the walk forward did not find"
            )
    return best, counts


def first_state(keys: Keys) -> tuple[int, int]:
    """The first of some keys."""
    return int(keys.a[0]), int(keys.b[0]) if len(keys.b) else 0
