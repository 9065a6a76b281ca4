"""The walk and its counts against the plain truth, on any threads, and against the literature.

Every reachable position of many small boards, cut in every way, has the value
that `naive` finds; then larger boards have the published counts and values.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from plain import connect4 as naive
from strategies import published
from walks import count_alone
from walks import walk as walk_both

from retro.bits import Native, Portable, has_bmi2
from retro.games.connect4.rules import Connect4Board
from retro.index.halves import plain
from retro.index.halves.ranking import rank_many, unrank_in_block
from retro.walk.halves.backward import make_scratch as backward_scratch
from retro.walk.halves.backward import walk_group
from retro.walk.halves.layer import Group, Own, Room, is_strip, make_view
from retro.walk.halves.layers import backward, prepare
from retro.walk.halves.mirror import Made, mirror_blocks, mirror_image
from retro.walk.halves.mirror import make_scratch as mirror_scratch
from retro.walk.halves.task import count_task, is_mirrored, task_groups, walk_alone
from retro.walk.task import Tally, Task

SMALL = [
    (1, 1, 2), (1, 6, 3), (1, 7, 4), (6, 1, 3), (7, 1, 2), (2, 2, 2), (3, 3, 2), (4, 3, 2),
    (3, 3, 3), (4, 3, 3), (3, 4, 3), (2, 5, 3), (2, 7, 3), (5, 2, 3), (5, 3, 3),
    (3, 3, 4), (2, 6, 4), (5, 2, 4), (4, 3, 4), (4, 4, 4), (3, 3, 5),
]  # fmt: skip
EVERY_CUT = [(naive.Game(*g), left) for g in SMALL for left in range(g[0])]
LETTER = {1: "W", 0: "D", -1: "L"}


@cache
def naive_arrays(game):
    """[ply] -> bitboards and values of the live positions, as arrays."""
    known = naive.values(game)
    result = []
    for layer in naive.live_layers(game):
        positions = sorted(layer)
        stones = np.array([naive.bitboards(game, p) for p in positions], np.uint64).reshape(-1, 2)
        values = np.array([known[p] for p in positions], np.int64)
        result.append((stones[:, 0].copy(), stones[:, 1].copy(), values))
    return result


def bit_at(plane, ranks):
    return (plane[ranks // 64] >> (ranks % 64).astype(np.uint64) & np.uint64(1)).astype(np.int64)


def set_bits(plane):
    return np.flatnonzero(np.unpackbits(plane.astype("<u8").view(np.uint8), bitorder="little"))


def whole_view(layout, ply, values):
    """A view of a layer that is all there, mirrored blocks behind the canonical ones."""
    plies = layout.left.stones[:, None] + layout.right.stones[None, :]
    left, right = np.nonzero(plies == ply)
    return make_view(layout, values, (left, right), np.zeros(len(left), np.int64))


@pytest.mark.parametrize(("game", "left_columns"), EVERY_CUT)
def test_every_reachable_position_has_the_value_that_naive_finds(game, left_columns):
    prepared = prepare(Connect4Board(*game), left_columns)
    counts, values, alive = walk_both(prepared)
    assert [tuple(c) for c in counts] == [tuple(c) for c in naive.counts(game)]
    for ply, (first, second, expected) in enumerate(naive_arrays(game)):
        ranks = np.empty(len(first), np.int64)
        rank_many(prepared.layout.shape, first, second, ranks)
        assert (ranks >= 0).all()
        win, loss = (bit_at(plane, ranks) for plane in values[ply])
        assert not (win & loss).any()
        np.testing.assert_array_equal(win - loss, expected)
        # The classes mark these positions and no others.
        np.testing.assert_array_equal(set_bits(alive[ply]), np.unique(ranks))


@pytest.mark.parametrize(("game", "left_columns"), EVERY_CUT)
def test_any_ply_is_counted_alone_as_naive_counts_it(game, left_columns):
    prepared = prepare(Connect4Board(*game), left_columns)
    found = {ply: (tally.positions, tally.terminal) for ply, tally in count_alone(prepared).items()}
    assert found == {c.ply: (c.positions, c.terminal) for c in naive.counts(game)}


@pytest.mark.parametrize(
    ("game", "left_columns"),
    # Of the larger ones only a cut with rows of more than one word.
    [*(c for c in EVERY_CUT if c[0].width * c[0].height <= 10), (naive.Game(4, 3, 4), 3)],
)
def test_padding_is_zero_in_both_planes(game, left_columns):
    board = Connect4Board(*game)
    for layer in backward(prepare(board, left_columns)):
        padding = np.array([p is None for p in plain.layer(board, left_columns, layer.ply)])
        for plane in layer.stored:
            assert not padding[set_bits(plane)].any()


@pytest.mark.parametrize(
    "board", [Connect4Board(5, 4), Connect4Board(4, 5), Connect4Board(5, 4, 3), Connect4Board(6, 3)]
)
def test_the_bytes_do_not_depend_on_the_number_of_threads(board):
    expected_counts, expected, expected_alive = walk_both(prepare(board, threads=1))
    for threads in (2, 3):
        counts, values, alive = walk_both(prepare(board, threads=threads))
        assert counts == expected_counts
        for ply in range(board.cells + 1):
            assert values[ply].tobytes() == expected[ply].tobytes()
            assert alive[ply].tobytes() == expected_alive[ply].tobytes()


@pytest.mark.skipif(not has_bmi2(), reason="this CPU has no PEXT and PDEP")
@pytest.mark.parametrize(
    ("board", "left_columns"),
    [(Connect4Board(5, 4), 3), (Connect4Board(4, 4, 3), 2), (Connect4Board(6, 3), 4)],
)
def test_the_bytes_do_not_depend_on_the_bit_instructions(board, left_columns):
    prepared = prepare(board, left_columns)
    counts, values, alive = walk_both(replace(prepared, bits=Native()))
    portable_counts, portable_values, portable_alive = walk_both(replace(prepared, bits=Portable()))
    assert counts == portable_counts
    for ply in range(board.cells + 1):
        assert values[ply].tobytes() == portable_values[ply].tobytes()
        assert alive[ply].tobytes() == portable_alive[ply].tobytes()


def run_tasks(prepared, limit, at_once):
    """The walk by tasks of some groups at once that fetch all they read, within `limit` bytes.

    Returns the groups, and what was counted.
    """
    groups, room = {}, Room()

    def fetch(ply, group, wanted, planes):
        words = groups[ply, group.number]
        for begin, end, place in wanted:
            assert group.begin <= begin <= end <= group.end
            planes[:, place : place + end - begin] = words[
                :, begin - group.begin : end - group.begin
            ]

    tally = {}
    for ply in reversed(range(prepared.layout.first_ply, prepared.layout.plies)):
        whole, number = len(prepared.groups(ply)), len(prepared.readable(ply))
        for first, last in ((0, whole), (whole, number)):
            for begin in range(first, last, at_once):
                task = Task("walk", ply, begin, min(last, begin + at_once), limit)
                own = walk_alone(prepared, task, fetch, room)
                if not is_mirrored(prepared, task):
                    found = count_task(prepared, task, own, room)
                    tally[ply] = found.plus(tally.get(ply, Tally()))
                for g in task_groups(prepared, task):
                    part = own.values[:, g.begin - own.origin : g.end - own.origin]
                    groups[ply, g.number] = part.copy()
    return groups, tally


BY_TASKS = [
    pytest.param(board, *how, marks=[pytest.mark.slow] * (how[0] < 10_000 and board.cells > 16))
    for board in (Connect4Board(5, 4), Connect4Board(6, 3), Connect4Board(4, 4, 3))
    for how in ((1, 1), (5_000, 3), (100_000, 1), (10**9, 10**6))
]


@pytest.mark.parametrize(("board", "limit", "at_once"), BY_TASKS)
def test_tasks_that_fetch_what_they_read_have_the_bytes_of_whole_layers(
    monkeypatch, board, limit, at_once
):
    monkeypatch.setattr("retro.walk.halves.layer.GROUP_WORDS", (16, 64))
    prepared = prepare(board)
    counts, values, _ = walk_both(prepared)
    groups, tally = run_tasks(prepared, limit, at_once)
    assert any(is_strip(prepared.layout, group) for group in prepared.groups(board.cells - 2))
    assert any(is_strip(prepared.layout, g) for g in prepared.mirrored(board.cells - 1))
    for ply in values:
        for group in prepared.groups(ply):
            expected = values[ply][:, group.begin : group.end]
            assert groups[ply, group.number].tobytes() == expected.tobytes()
        found = tally[ply]
        assert (found.positions, found.terminal) == (counts[ply].positions, counts[ply].terminal)
        assert (found.won, found.lost) == (counts[ply].win, counts[ply].loss - found.terminal)


@pytest.mark.parametrize(
    ("board", "left_columns"),
    [(Connect4Board(5, 4), 4), (Connect4Board(6, 3), 3), (Connect4Board(4, 5), 2)],
)
def test_mirrored_blocks_are_those_that_walking_them_would_give(board, left_columns):
    """A walk that stores every profile, against the mirror images of one that stores half."""
    prepared = prepare(board, left_columns)
    layout = prepared.layout
    assert not layout.shape.stored.all()
    after = whole_view(layout, layout.plies - 1, np.zeros((2, 0), np.uint64))
    compared = 0
    for ply in range(layout.plies - 1, -1, -1):
        here = np.zeros((2, layout.layer_words[ply]), np.uint64)
        plies = layout.left.stones[:, None] + layout.right.stones[None, :]
        blocks = tuple(map(np.ascontiguousarray, np.nonzero(plies == ply)))
        walk_group(
            prepared.bits, layout.shape, prepared.plan,
            backward_scratch(layout, prepared.plan), ply, Own(here, 0), after,
            Group(0, *blocks, 0, 1 << 62),
        )  # fmt: skip
        is_stored = layout.shape.stored[blocks]
        targets = blocks[0][~is_stored], blocks[1][~is_stored]
        sources = mirror_image(layout, prepared.mirror, *targets)
        assert layout.shape.stored[sources].all()
        mirrored = here.copy()
        mirrored[:, layout.stored_words[ply] :] = np.uint64(0xAAAA)
        scratch = mirror_scratch(layout, prepared.mirror)
        view = whole_view(layout, ply, mirrored)
        made = Made(view, (0, 1 << 62), *targets, -1)
        mirror_blocks(prepared.bits, layout.shape, prepared.mirror, scratch, view, made, sources)
        differ = (mirrored[0] ^ here[0]) | (mirrored[1] ^ here[1])
        for left, right in zip(*targets, strict=True):
            begin, end = layout.shape.offset[left, right, [0, -1]]
            for bit in set_bits(differ[begin:end]):
                first, second, is_position = unrank_in_block(layout.shape, left, right, int(bit))
                assert is_position
                assert board.has_line(int(first)) or board.has_line(int(second))
            compared += end - begin
        after = whole_view(layout, ply, here)
    assert compared == (layout.layer_words - layout.stored_words).sum()


def test_the_cut_changes_the_places_but_not_the_counts():
    board = Connect4Board(5, 4)
    first, *others = [walk_both(prepare(board, left))[0] for left in (1, 2, 3)]
    assert all(counts == first for counts in others)


def in_memory(name):
    """Published rows of boards that walk in little memory; `test_built` has the others."""
    return [row for row in published(name) if row["width"] * row["height"] <= 30]


def by_board(row):
    """A row of published numbers as a test; large boards are slow ones."""
    width, height = row["width"], row["height"]
    is_slow = width * height > 25 or (width, height) == (8, 3)
    marks = [pytest.mark.slow] if is_slow else []
    return pytest.param(row, id=f"{width}x{height}", marks=marks)


@cache
def counts_of(board):
    return walk_both(prepare(board))[0]


@pytest.mark.parametrize("row", [by_board(row) for row in in_memory("connect4_counts.csv")])
def test_connect4_has_the_published_number_of_positions(row):
    counts = counts_of(Connect4Board(row["width"], row["height"]))
    assert sum(c.positions for c in counts) == row["positions"]
    # "Nonterminal" in the source leaves out full boards as well as lines.
    unfinished = sum(c.positions - c.terminal for c in counts[:-1])
    assert unfinished == row["nonterminal_positions"]


@pytest.mark.parametrize("row", [by_board(row) for row in in_memory("connect4_values.csv")])
def test_connect4_has_the_published_value(row):
    root = counts_of(Connect4Board(row["width"], row["height"]))[0]
    assert LETTER[root.win - root.loss] == row["value"]


@pytest.mark.parametrize("shape", [(4, 4), (4, 5), (5, 4), (5, 5)], ids=str)
def test_connect4_has_the_published_values_ply_by_ply(shape):
    rows = [r for r in published("connect4_wdl_per_ply.csv") if (r["width"], r["height"]) == shape]
    names = ("ply", "positions", "win", "draw", "loss", "terminal")
    expected = [tuple(row[name] for name in names) for row in rows]
    assert len(expected) == shape[0] * shape[1] + 1
    assert [tuple(counts) for counts in counts_of(Connect4Board(*shape))] == expected


@pytest.mark.parametrize("row", [by_board(row) for row in published("connect3_values.csv")])
def test_connect3_has_the_known_values(row):
    counts = counts_of(Connect4Board(row["width"], row["height"], 3))
    assert LETTER[counts[0].win - counts[0].loss] == row["value"]
    names = {"positions": "positions", "win": "stm_win", "draw": "draw", "loss": "stm_loss"}
    for name, published_name in names.items():
        assert sum(getattr(c, name) for c in counts) == row[published_name]
