"""The generic walk: against dictionaries, published counts, and the bit-sliced walk."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain.mnk import MnkRules, bitboards, values
from strategies import published

from retro.errors import DoesNotFitError, GameOverError
from retro.games.connect4.kernels import connect_rules
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.games.grid_text import read_moves
from retro.games.kernels import UNDECIDED, orbit_of, outcome_of
from retro.games.line_kernels import lines_rules
from retro.games.mnk.rules import MnkBoard, MnkPosition
from retro.index.keys.keys import Keys
from retro.index.keys.sorting import merged, sorted_set
from retro.walk.keys import layers as walks
from tablebase.building.build import build
from tablebase.tables import open_tablebase

SMALL = [MnkRules(1, 3, 3), MnkRules(2, 2, 2), MnkRules(2, 4, 3), MnkRules(3, 3, 3)]


def solved(board: MnkBoard, **how: int) -> list[walks.SolvedLayer]:
    return walks.solve(walks.prepare(lines_rules(board), **how))


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_every_position_against_dictionaries(game: MnkRules) -> None:
    board = MnkBoard(*game)
    rules = lines_rules(board)
    truth: dict[tuple[int, int], int] = {}  # canonical key: value
    classes: dict[tuple[int, int], int] = {}  # canonical key: positions with it
    for text, value in values(game).items():
        position = MnkPosition(board, *bitboards(game, text))
        # The least key of all images, by the plain symmetries.
        images = [position.turned(i) for i in range(len(board.symmetries))]
        key = min(image._state for image in images)
        assert truth.setdefault(key, value) == value
        classes[key] = classes.get(key, 0) + 1
    found = {}
    for layer in solved(board):
        for a, value in zip(layer.keys.a.tolist(), layer.values.tolist(), strict=True):
            found[a, 0] = value
    live = {k: v for k, v in truth.items() if outcome_of(rules, *np.uint64(k)) == UNDECIDED}
    assert found == live
    assert all(orbit_of(rules, *np.uint64(key)) == many for key, many in classes.items())


def test_tic_tac_toe_per_ply() -> None:
    for row, layer in zip(
        published("tictactoe_3x3_per_ply.csv"), solved(MnkBoard(3, 3, 3)), strict=True
    ):
        ply, every, canonical = layer.counts
        terminal = row["terminal_wins"] + row["terminal_draws"]
        numbers = (row["positions"], row["win"], row["draw"], row["loss"], terminal)
        assert (ply, every, canonical.positions) == (row["ply"], numbers, row["canonical"])


@pytest.mark.parametrize(
    "row", [row for row in published("mnk_values.csv") if row["positions"]],
    ids=lambda row: f"{row['rows']},{row['cols']},{row['k']}",
)  # fmt: skip
def test_published_counts_and_values(row: dict[str, int]) -> None:
    found = solved(MnkBoard(row["rows"], row["cols"], row["k"]))
    assert sum(layer.counts.every.positions for layer in found) == row["positions"]
    assert sum(layer.counts.canonical.positions for layer in found) == row["canonical_positions"]
    assert int(found[0].values[0]) == {"W": 1, "D": 0, "L": -1}[row["value"]]


@pytest.mark.parametrize("game", [(4, 4, 4), (3, 4, 3), (5, 3, 4), (2, 5, 3)], ids=str)
def test_connect_four_through_the_generic_walk(game: tuple[int, int, int], tmp_path: Path) -> None:
    check_against_the_bit_sliced_walk(Connect4Board(*game), tmp_path)


@pytest.mark.slow
def test_connect_four_5x4_through_the_generic_walk(tmp_path: Path) -> None:
    check_against_the_bit_sliced_walk(Connect4Board(5, 4), tmp_path)


def check_against_the_bit_sliced_walk(board: Connect4Board, folder: Path) -> None:
    """Counts ply by ply, and the value of every class of live positions."""
    found = walks.solve(walks.prepare(connect_rules(board)))
    build(board, folder / "connect.h5")
    with open_tablebase(folder / "connect.h5") as table:
        for there, layer in zip(table.counts, found, strict=False):
            ply, every, _ = layer.counts
            counts = (there.positions, there.win, there.draw, there.loss, there.terminal)
            assert (ply, *every[:4], every.terminal) == (there.ply, *counts)
            stones = list(zip(layer.keys.a.tolist(), layer.keys.b.tolist(), strict=True))
            first, second = (np.array([pair[i] for pair in stones], np.uint64) for i in (0, 1))
            assert np.array_equal(table.probe_many(first, second), layer.values)
        assert len(found) == len(table.counts)


def test_the_bytes_do_not_depend_on_threads_or_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    board = MnkBoard(3, 4, 3)
    one = solved(board, threads=1)
    monkeypatch.setattr(walks, "LEAST_ROOM", 1 << 9)  # many runs to merge
    monkeypatch.setattr(walks, "LEAST_SHARED", 0)  # and threads for every layer
    for threads in (1, 2, 5):
        other = solved(board, threads=threads)
        for x, y in zip(one, other, strict=True):
            assert x.keys.a.tobytes() == y.keys.a.tobytes()
            assert x.values.tobytes() == y.values.tobytes()
            assert x.counts == y.counts


def test_keys_of_two_words() -> None:
    """The same small game, far from home: a long board on which only few cells are left."""
    board = MnkBoard(2, 17, 3)
    rules = lines_rules(board)
    assert rules.words == 2
    start = read_moves(board, " ".join(
        f"{'abcdefghijklmnopq'[c]}{r}" for c, r in PAIRED_CELLS
    ))  # fmt: skip
    found = walks.solve(walks.prepare(rules), start._state, start.ply)
    known: dict[MnkPosition, int] = {}

    def value(position: MnkPosition) -> int:
        if position not in known:
            outcome = position.outcome()
            known[position] = (
                max(-value(position._play(move)) for move in position._numbers())
                if outcome is None
                else outcome
            )
        return known[position]

    assert int(found[0].values[0]) == value(start)
    live = {p.canonical() for p in known if p.outcome() is None}
    assert sum(layer.keys.size for layer in found) == len(live)
    by_key = {p._state: v for p, v in known.items()}
    for layer in found:
        for a, b, v in zip(*(x.tolist() for x in (*layer.keys, layer.values)), strict=True):
            images = board.unpack(a, b)
            turned = (images.turned(i) for i in range(len(board.symmetries)))
            assert v in {by_key[t._state] for t in turned if t._state in by_key}


# 26 cells of 2 x 17 in an order that makes no three in a line: the two players in pairs.
PAIRED_CELLS = [(c, r) for c in range(0, 14, 2) for r in (1, 2)] + [
    (c, r) for c in range(1, 13, 2) for r in (2, 1)
]


def test_a_finished_game_has_nothing_to_solve() -> None:
    over = read_moves(MnkBoard(3, 3, 3), "a1 a2 b1 b2 c1")
    walk = walks.prepare(lines_rules(over.board))
    with pytest.raises(GameOverError, match="over"):
        walks.first_layer(walk, over._state)


def test_too_little_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "LEAST_ROOM", 1 << 9)
    walk = walks.prepare(lines_rules(MnkBoard(3, 4, 3)), memory=50_000)
    with pytest.raises(DoesNotFitError, match="GB"):
        walks.solve(walk)


words = st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 3)), max_size=60)


@given(words, words, st.booleans())
def test_sorted_sets(x: list[tuple[int, int]], y: list[tuple[int, int]], pairs: bool) -> None:
    def keys(states: list[tuple[int, int]]) -> Keys:
        a, b = (np.array([state[i] for state in states], np.uint64) for i in (0, 1))
        return Keys(a, b if pairs else b[:0])

    def listed(keys: Keys) -> list[tuple[int, int]]:
        b = keys.b.tolist() if pairs else [0] * keys.size
        return list(zip(keys.a.tolist(), b, strict=True))

    plain_x, plain_y = ({(a, b if pairs else 0) for a, b in states} for states in (x, y))
    one, other = sorted_set(keys(x)), sorted_set(keys(y))
    assert listed(one) == sorted(plain_x)
    assert listed(merged(one, other)) == sorted(plain_x | plain_y)


def test_position_and_state_there_and_back() -> None:
    position = Connect4Position(Connect4Board(4, 4))
    for column in (1, 1, 0, 3, 3, 2):
        position = position._play(column)
    assert position.board.unpack(*position._state) == position


def test_a_layer_is_never_cut_into_more_stretches_than_it_has_keys() -> None:
    walk = walks.prepare(lines_rules(MnkBoard(3, 3, 3)), threads=100_000)
    assert walk.threads == walks.MOST_THREADS
    for size in (0, 1, 3):
        found = walks._each_stretch(walk, size, lambda begin, end, _: list(range(begin, end)))
        assert [key for _, keys, _ in found for key in keys] == list(range(size))
        assert len(found) == max(1, size)
