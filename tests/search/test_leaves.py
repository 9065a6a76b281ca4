"""Tables as leaves of the search: the same answers, and a wrong leaf would be seen."""

from pathlib import Path

import numpy as np
import pytest
from plain import distance as plain

from retro.games.connect4.rules import Connect4Board
from retro.games.connect4.text import read_moves
from retro.index.halves.ranking import rank_many
from retro.jit import entry
from retro.search import Solver
from retro.search.connect4 import bits
from retro.search.connect4 import goals as engine_goals
from retro.search.connect4 import search as search_module
from retro.search.connect4.leaves import ANSWERED, ASKED, NO_VALUE, Leaves, NoLeaves, leaf_values
from tablebase.building.build import build
from tablebase.halves import leaves as table_leaves
from tablebase.tables import Table, open_tablebase

SHAPE = (4, 4, 3)  # decided often and early: wins, draws and losses on many plies
LOTS = 1 << 30


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("leaves") / "connect3-4x4.h5"
    build(Connect4Board(*SHAPE), path)
    with open_tablebase(path) as opened:
        yield opened


def load_leaves(table: Table, first_ply: int, max_bytes: int) -> Leaves | None:
    return table_leaves.load_leaves(table.reader, first_ply, max_bytes)


@pytest.fixture(scope="module")
def rows():
    """Every position with its true value and distance, as columns of arrays."""
    movers, masks, values, plies = zip(*plain.positions(*SHAPE), strict=True)
    return np.array(movers, np.uint64), np.array(masks, np.uint64), values, plies


def scores(rows, leaves, strong):
    """(value, score) of every position by a search with these leaves, from an empty table."""
    made = engine_goals.make_engine(*SHAPE, memory=1 << 16)._replace(leaves=leaves)
    bounds, _, solved = engine_goals.solve_batch(made, rows[0], rows[1], strong)
    assert solved == len(rows[0])
    return (bounds[:, 0] > 0).astype(int) - (bounds[:, 1] < 0), bounds[:, 0]


def is_quiet(mover, mask):
    """Whether neither side could complete a line if it were to move."""
    board = bits.make_board(*SHAPE)
    feet = (int(mask) + int(board.bottom)) & int(board.full)
    both = [bits.threats(board, np.uint64(s)) for s in (mover, int(mask) ^ int(mover))]
    return not any(int(cells) & feet for cells in both)


def spoil(leaves, rows, which):
    """Give the positions that `which` chooses the opposite of their values (a draw: WIN)."""
    chosen = np.array([which(*stones) for stones in zip(rows[0], rows[1], strict=True)])
    movers, masks = rows[0][chosen], rows[1][chosen]
    odd = np.bitwise_count(masks) % 2 == 1
    ranks = np.empty(len(movers), np.int64)
    first, second = np.where(odd, masks ^ movers, movers), np.where(odd, movers, masks ^ movers)
    rank_many(leaves.shape, first, second, ranks)
    words = leaves.words.copy()
    done = set()
    for rank, mask, value in zip(ranks, masks, np.array(rows[2])[chosen], strict=True):
        ply = int(mask).bit_count()
        if not leaves.first_ply <= ply <= leaves.last_ply or (ply, rank) in done:
            continue
        done.add((ply, rank))
        at, bit = leaves.start[ply] + 2 * (rank >> 6), np.uint64(1 << (int(rank) & 63))
        words[at : at + 2] &= ~bit
        words[at + (value > 0)] |= bit
    assert done
    return leaves._replace(words=words)


@pytest.mark.parametrize("strong", [False, True])
@pytest.mark.parametrize("first_ply", [0, 3, 8, 13])
def test_search_with_leaves_is_search_without(table: Table, rows, first_ply, strong):
    leaves = load_leaves(table, first_ply, LOTS)
    values, found = scores(rows, leaves, strong)
    np.testing.assert_array_equal(values, rows[2])
    assert leaves.tally[ANSWERED] > 0
    if strong:
        np.testing.assert_array_equal(found, scores(rows, NoLeaves(), strong)[1])


def test_leaves_save_nodes(table: Table):
    made = engine_goals.make_engine(*SHAPE, memory=1 << 16)
    columns = ("", "xox", "", "")
    start = int(plain.bits(columns, 4, "o")), int(plain.bits(columns, 4, "x"))
    nodes = [
        engine_goals.solve(
            engine_goals.make_engine(*SHAPE, memory=1 << 16)._replace(leaves=leaves),
            start[0], start[0] | start[1], strong=True,
        ).nodes
        for leaves in (load_leaves(table, 3, LOTS), load_leaves(table, 8, LOTS), made.leaves)
    ]  # fmt: skip
    assert nodes == sorted(nodes)
    assert nodes[0] < nodes[-1]


@pytest.mark.parametrize("first_ply", [3, 8])
def test_a_wrong_leaf_would_be_seen(table: Table, rows, first_ply):
    """Planted: every quiet leaf has the wrong sign. A search that did not ask would not mind."""
    leaves = spoil(load_leaves(table, first_ply, LOTS), rows, is_quiet)
    values, _ = scores(rows, leaves, strong=False)
    assert np.count_nonzero(values != np.array(rows[2])) > 100


@pytest.mark.parametrize("strong", [False, True])
def test_only_quiet_positions_are_asked(table: Table, rows, strong):
    """Tables may leave blank what a look decides: here all of that is wrong, and nobody minds."""
    leaves = spoil(load_leaves(table, 2, LOTS), rows, lambda *stones: not is_quiet(*stones))
    values, found = scores(rows, leaves, strong)
    np.testing.assert_array_equal(values, rows[2])
    if strong:
        np.testing.assert_array_equal(found, scores(rows, NoLeaves(), strong)[1])


@entry
def fast_values(leaves, words, values):
    leaf_values(leaves, (words, 0, 3), len(values) // 2, (values, 1, 2))


def test_fast_values_are_the_plain_ones(table: Table, rows):
    leaves = load_leaves(table, 5, LOTS)
    some = np.random.default_rng(5).permutation(len(rows[0]))[:3000]
    seen = set()
    for few in np.array_split(some, 150):
        words = np.zeros(3 * len(few), np.uint64)
        words[0::3], words[1::3] = rows[0][few], rows[1][few]
        fast, slow = np.full((2, 2 * len(few)), 7, np.int64)
        fast_values(leaves, words, fast)
        leaf_values(leaves, (words, 0, 3), len(few), (slow, 1, 2))
        np.testing.assert_array_equal(fast, slow)
        for i, value in zip(few, slow[1::2], strict=True):
            mover, mask = int(rows[0][i]), int(rows[1][i])
            assert (value == NO_VALUE) == (mask.bit_count() < 5)
            assert value in (rows[2][i], NO_VALUE) or not is_quiet(mover, mask)
            seen.add(int(value))
    assert seen == {-1, 0, 1, int(NO_VALUE)}


def test_stones_in_impossible_numbers_are_searched(table: Table):
    """Three stones of one side: no table has them, whatever its plies."""
    height, connect = SHAPE[1:]
    made = engine_goals.make_engine(*SHAPE, memory=1 << 16)
    made = made._replace(leaves=load_leaves(table, 0, LOTS))
    for columns in [("x", "x", "", "o"), ("o", "o", "", ""), ("xo", "", "", "xx")]:
        value, plies = plain.solve(columns, height, connect, "o", {})
        x, o = (plain.bits(columns, height, s) for s in "xo")
        answer = engine_goals.solve(made, o, x | o, strong=True)
        assert (answer.value, answer.plies) == (value, plies)


def test_as_many_plies_as_fit_are_loaded(table: Table):
    sizes = 16 * table.reader.layout.stored_words
    for first, last in [(0, 4), (6, 6), (7, 16)]:
        leaves = load_leaves(table, first, int(sizes[first : last + 1].sum()))
        assert (leaves.first_ply, leaves.last_ply) == (first, last)
        assert leaves.words.nbytes == sizes[first : last + 1].sum()
    assert load_leaves(table, 6, int(sizes[6]) - 1) is None
    assert load_leaves(table, 17, LOTS) is None


class Later:
    """A table that covers some plies only."""

    def __init__(self, table: Table, first_ply: int) -> None:
        self.table, self.board, self.first_ply = table, table.board, first_ply
        self.root = table.root
        self.loaded: list[tuple[int, int]] = []
        self.kept: list[Leaves] = []

    def is_ready_for(self, position):
        return True

    def get_wdl(self, position, default=None):
        is_covered = position.ply >= self.first_ply
        return self.table.get_wdl(position, default) if is_covered else default

    def leaves(self, first_ply: int, max_bytes: int) -> Leaves | None:
        found = load_leaves(self.table, max(first_ply, self.first_ply), max_bytes)
        self.loaded.append((int(found.first_ply), int(found.last_ply)))
        self.kept.append(found)
        return found


def test_the_solver_searches_down_to_the_table(
    built_5x4: object, table_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_module, "LEAVES_AFTER_NODES", 100)
    with open_tablebase(table_folder / "connect4-5x4.h5") as table:
        alone = Solver("5x4", memory_mb=1, slice_nodes=100)
        later = Later(table, 10)
        helped = Solver("5x4", memory_mb=1, tables=[later], slice_nodes=100)
        for strong in (False, True):
            mine, theirs = (s.solve("12", strong=strong) for s in (helped, alone))
            assert (mine.value, mine.plies) == (theirs.value, theirs.plies)
            assert (mine.source, theirs.source) == ("both", "search")
            assert mine.nodes < theirs.nodes
        assert [first for first, _ in later.loaded] == [10]
        assert helped.solve("1111222233").source == "table"
        assert helped.analyse("12") == alone.analyse("12")
        assert helped.solve("11112222").source == "both"  # it may know that from the table
        helped.forget()
        assert helped.solve("11112222").source == "search"


@pytest.fixture(scope="module")
def rooted(tmp_path_factory: pytest.TempPathFactory):
    """A small table: what follows 1111 on 5x4."""
    board = Connect4Board(5, 4)
    path = tmp_path_factory.mktemp("rooted") / "rooted.h5"
    build(board, path, root=read_moves(board, "1111"))
    with open_tablebase(path) as opened:
        yield opened


def test_a_rooted_table_is_asked_only_where_it_has_an_answer(rooted: Table):
    """Of a search from one stone few nodes hold the root's stones: only they ask."""
    leaves = load_leaves(rooted, 1, LOTS)
    made = engine_goals.make_engine(5, 4, memory=1 << 20)
    alone = engine_goals.solve(made, 0, 1, strong=True)
    made = engine_goals.make_engine(5, 4, memory=1 << 20)._replace(leaves=leaves)
    helped = engine_goals.solve(made, 0, 1, strong=True)
    assert helped[:5] == alone[:5]
    assert leaves.tally[ANSWERED] > 0
    assert leaves.tally[ASKED] < 0.1 * alone.nodes


@pytest.mark.parametrize(("moves", "is_loaded"), [("1", True), ("2112", False)])
def test_a_table_that_cannot_be_reached_is_not_read(
    rooted: Table, moves: str, is_loaded: bool
) -> None:
    """The root has a stone of the first player at the bottom of column 1; 2112 has another."""
    later = Later(rooted, 4)
    Solver("5x4", memory_mb=1, tables=[later], leaves="on").solve(moves, strong=True)
    assert bool(later.loaded) == is_loaded


def test_leaves_that_do_not_pay_are_given_up(
    built_5x4: object, table_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Distances: after a question about values, few of the answers decide anything."""
    monkeypatch.setattr(search_module, "LEAVES_AFTER_NODES", 200)
    monkeypatch.setattr(search_module, "JUDGED_AFTER", 50)
    asked = {}
    with open_tablebase(table_folder / "connect4-5x4.h5") as table:
        for worth in (1, 10**9):
            monkeypatch.setattr(search_module, "WORTH_ASKING", worth)
            for mode in ("auto", "on", "off"):
                later = Later(table, 10)
                solver = Solver("5x4", memory_mb=1, tables=[later], slice_nodes=200, leaves=mode)
                found = solver.solve("12", strong=True)
                assert (found.value, found.plies) == (-1, 18)
                asked[mode, worth] = sum(int(kept.tally[ASKED]) for kept in later.kept)
    assert asked["off", 1] == asked["off", 10**9] == 0
    assert asked["on", 1] == asked["on", 10**9] > asked["auto", 10**9] > asked["auto", 1] > 0


def test_a_table_gives_the_value_and_the_search_the_distance(
    built_5x4: object, table_folder: Path
) -> None:
    with open_tablebase(table_folder / "connect4-5x4.h5") as table:
        for moves in ("443", "44", "12", "1", "4431"):
            mine, theirs = (
                Solver("5x4", memory_mb=1, tables=tables).solve(moves, strong=True)
                for tables in ([table], [])
            )
            assert (mine.value, mine.plies) == (theirs.value, theirs.plies)
            assert mine.source == ("table" if mine.value == 0 else "both")
            assert mine.nodes <= theirs.nodes
