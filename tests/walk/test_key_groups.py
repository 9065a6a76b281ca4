"""Layers in groups: the plain twin of the invariant, and pieces against whole layers."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from retro.games.catalogue import make_board
from retro.games.kernels import canonical_of, orbit_of, successors_of
from retro.index.keys.groups import Grouping, find_orbits, groups_of, make_grouping
from retro.index.keys.keys import Keys
from retro.index.keys.sorting import empty_keys
from retro.walk.keys import layers as walks
from retro.walk.keys.group_kernels import View
from retro.walk.keys.hashing import NEAR
from retro.walk.keys.task import (
    Ground,
    Limits,
    Piece,
    TooManyKeysError,
    make_view,
    moves_from,
    walk_back,
    walk_forward,
)
from retro.walk.task import Task

# Every game; one and two words; with a symmetric invariant, and Quarto with what is left of it.
BOARDS = [
    "mnk 3x3 connect=3",
    "mnk 4x2 connect=2",
    "puissance-plus 3x2 target=4 values=121/232",
    "notakto 3x3 connect=3",
    "domineering 4x3",
    "quarto 2x2 attributes=2",
]


def layers_of(board: Any, *, distances: bool = False) -> list[walks.SolvedLayer]:
    return walks.solve(walks.prepare(board.rules, 1, distances=distances))


def plain_family(grouping: Grouping, a: int, b: int) -> int:
    """The number of a family, plainly: counts of stones, read as digits."""
    counts = [
        (a & int(mine)).bit_count() + (b & int(theirs)).bit_count()
        for mine, theirs in zip(grouping.a, grouping.b, strict=True)
    ]
    assert all(count < base for count, base in zip(counts, grouping.base, strict=True))
    return sum(c * int(place) for c, place in zip(counts, grouping.place, strict=True))


@pytest.mark.parametrize("name", BOARDS)
def test_a_symmetry_keeps_the_family_and_a_move_adds_one_of_a_few_steps(name: str) -> None:
    board = make_board(name)
    ground = Ground(board.rules, make_grouping(board.rules))
    orbits = find_orbits(board.rules)
    assert ground.grouping.families > 2
    for layer in layers_of(board):
        keys = layer.keys
        if not keys.size:
            continue
        moves = moves_from(ground, int(keys.a[0]), int(keys.b[0]) if len(keys.b) else 0)
        numbers = groups_of(ground.grouping, keys)
        seen = set()
        for i in range(0, keys.size, 1 + keys.size // 40):
            state = int(keys.a[i]), int(keys.b[i]) if len(keys.b) else 0
            family = plain_family(ground.grouping, *state)
            assert family == numbers[i]
            for move, after in successors_of(board.rules, *state).items():
                words = canonical_of(board.rules, *np.array(after, np.uint64))
                image = int(words[0]), int(words[1])
                assert plain_family(ground.grouping, *after) == family + moves.step[move]
                assert plain_family(ground.grouping, *image) == family + moves.step[move]
                seen.add(int(moves.step[move]))
        assert seen <= set(moves.steps.tolist())
        # A stone fills one orbit; a domino two neighbouring ones, or one twice.
        assert len(moves.steps) <= 2 * len(orbits)


def test_orbits_are_those_of_the_plain_symmetries() -> None:
    board = make_board("mnk 4x3 connect=3")
    number = {bit: cell for cell, bit in enumerate(board.all_bits)}
    plain = {frozenset(number[way[bit]] for way in board.symmetries) for bit in board.all_bits}
    both = {frozenset(cell + 12 * player for cell in o) for o in plain for player in (0, 1)}
    found = {
        frozenset(cell for cell in range(64) if a >> cell & 1) for a, _ in find_orbits(board.rules)
    }
    assert found == both


class Shelf:
    """Pieces in memory, cut anywhere."""

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self.found: dict[int, dict[Task, Piece]] = {}

    def sizes(self, ply: int) -> Any:
        return np.concatenate([np.diff(p.ends, prepend=0) for p in self._in_order(ply)])

    def _in_order(self, ply: int) -> list[Piece]:
        there = self.found.get(ply)
        if there is None:
            none = np.zeros(self.groups, np.int64)
            return [Piece(empty_keys(0, 1), none, np.empty(0, np.int8))]
        return [there[task] for task in sorted(there)]

    def pieces(self, ply: int) -> list[Task]:
        return sorted(self.found.get(ply, {}))

    def fetch(self, task: Task) -> Piece:
        return self.found[task.ply][task._replace(walk="alive")]

    def whole(self, walk: str, ply: int) -> View | None:
        return None


def walk_in_pieces(
    board: Any, shares: int, pieces: int, view: int | None, *, distances: bool
) -> list[Any]:
    """(keys, values, counts of the live, of the finished) of every ply, through tasks alone."""
    ground = Ground(board.rules, make_grouping(board.rules, shares), distances)
    groups = ground.grouping.groups
    cuts = sorted({groups * i // pieces for i in range(pieces + 1)})
    shelf, ply = Shelf(groups), 0
    keys = walks.first_layer(walks.prepare(board.rules, 1))
    state = int(keys.a[0]), int(keys.b[0]) if len(keys.b) else 0
    ends = np.cumsum(np.arange(groups) == groups_of(ground.grouping, keys)[0])
    shelf.found[0] = {Task("alive", 0, 0, groups): Piece(keys, ends, np.empty(0, np.int8))}
    ended = [np.zeros((2, 3), np.int64)]
    while shelf.sizes(ply).sum():
        ply += 1
        shelf.found[ply], total = {}, np.zeros((2, 3), np.int64)
        for first, last in pairwise(cuts):
            task = Task("alive", ply, first, last)
            made, counts = walk_forward(ground, task, state, shelf, Limits(10_000, view))
            shelf.found[ply][task] = made
            total += counts
            if made.keys.size:
                after = int(made.keys.a[0]), int(made.keys.b[0]) if len(made.keys.b) else 0
        state = after
        ended.append(total)
    found = []
    for ply in reversed(shelf.found):
        live: Any = 0
        for task, piece in shelf.found[ply].items():
            back = task._replace(walk="walk")
            values, counts = walk_back(ground, back, piece, shelf, Limits(0, view))
            shelf.found[ply][task] = piece._replace(values=values)
            live += counts
        there = [shelf.found[ply][task] for task in shelf.pieces(ply)]
        a, b = (np.concatenate([p.keys[word] for p in there]) for word in (0, 1))
        values = np.concatenate([piece.values for piece in there])
        order = np.lexsort((b, a) if len(b) else (a,))
        found.append((Keys(a[order], b[order] if len(b) else b), values[order], live, ended[ply]))
    return found[::-1]


@pytest.mark.parametrize("distances", [False, True])
@pytest.mark.parametrize("name", BOARDS)
def test_pieces_equal_whole_layers(name: str, distances: bool) -> None:
    """Cut into any number of pieces and shares, read at once or in many windows."""
    board = make_board(name)
    walk, real = walks.prepare(board.rules, 1), layers_of(board, distances=distances)
    for shares, pieces, view in ((1, 1, None), (1, 7, None), (3, 11, 200), (3, 2, 1)):
        found = walk_in_pieces(board, shares, pieces, view, distances=distances)
        assert len(found) == len(real)
        for layer, (keys, values, live, ended) in zip(real, found, strict=True):
            assert np.array_equal(layer.keys.a, keys.a)
            assert np.array_equal(layer.keys.b, keys.b)
            assert np.array_equal(layer.values, values)
            ply = layer.counts.ply
            assert walks.counts_of(ply, live.sum(axis=2), ended) == layer.counts
            if distances:
                left = board.last_ply - ply
                plain = walks.count_distances(walk, keys, values, ended, left)
                assert walks.distances_of(live[1], ended, left) == plain


def test_a_piece_with_too_many_keys_says_so() -> None:
    board = make_board("mnk 3x3 connect=3")
    ground = Ground(board.rules, make_grouping(board.rules))
    shelf = Shelf(ground.grouping.groups)
    layer = layers_of(board)[4].keys
    numbers = groups_of(ground.grouping, layer)
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=shelf.groups))
    task = Task("alive", 4, 0, shelf.groups)
    sorted_keys = Keys(layer.a[order], layer.b)
    shelf.found[4] = {task: Piece(sorted_keys, ends, np.empty(0, np.int8))}
    state = int(layer.a[0]), 0
    for view in (None, 100):
        with pytest.raises(TooManyKeysError, match="ply 5 have too many keys"):
            walk_forward(ground, task._replace(ply=5), state, shelf, Limits(20, view))


def test_a_table_beyond_the_cache_finds_what_a_small_one_does() -> None:
    """Successors then wait a while before they are looked up, and the room they need with them."""
    board = make_board("mnk 4x4 connect=4")
    ground = Ground(board.rules, make_grouping(board.rules))
    walk = walks.prepare(board.rules, 1)
    keys = walks.first_layer(walk)
    for _ in range(7):
        keys, _ = walks.next_layer(walk, keys)
    real, ended = walks.next_layer(walk, keys)
    assert 2 * real.size > NEAR  # slots
    shelf = Shelf(ground.grouping.groups)
    numbers = groups_of(ground.grouping, keys)
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=shelf.groups))
    task, none = Task("alive", 7, 0, shelf.groups), np.empty(0, np.int8)
    shelf.found[7] = {task: Piece(Keys(keys.a[order], keys.b), ends, none)}
    state, after = (int(keys.a[0]), 0), task._replace(ply=8)
    most = real.size + int(ended[0].sum())
    made, counts = walk_forward(ground, after, state, shelf, Limits(most, 100_000))
    assert np.array_equal(np.sort(made.keys.a), real.a)
    assert np.array_equal(counts, ended)
    with pytest.raises(TooManyKeysError):
        walk_forward(ground, after, state, shelf, Limits(most - 40, 100_000))


def test_a_view_finds_what_it_holds() -> None:
    """Every orbit counts: the states of a layer are those of its keys' symmetry classes."""
    board = make_board("domineering 4x3")
    for layer in layers_of(board):
        keys = layer.keys
        states = sum(int(orbit_of(board.rules, a, np.uint64(0))) for a in keys.a)
        assert states == layer.counts.every.positions - layer.counts.every.terminal
        ends = np.array([keys.size])
        view = make_view(keys, layer.values, ends - keys.size, ends)
        assert sorted(slot for slot in view.slots.tolist() if slot >= 0) == list(range(keys.size))
