"""Tables as data: a mapping, batches of columns, samples, files; all of the same positions."""

import csv
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from builds import build_without_counts
from catalogue_cases import small_board
from plain.recursion import every_position

import tablebase as tb
from retro.errors import BadTextError, GameOverError, MissingTableError, NotCoveredError
from retro.games.catalogue import NAMES
from retro.games.connect4.rules import Connect4Board
from retro.games.game import Board
from retro.games.values import VALUE_NAMES

State = tuple[int, int]


def unfinished(board: Board) -> dict[State, int]:
    """{state: value} of every unfinished legal position, by the rules alone."""
    known = every_position(board.start())
    return {
        state: found.value
        for state, found in known.items()
        if board.unpack(*state).outcome() is None
    }


@pytest.fixture(scope="module", params=[*product(NAMES, (False, True))], ids=str)
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """The small table of every game, with and without distances."""
    name, distances = request.param
    folder = tmp_path_factory.mktemp("rows")
    tb.build(small_board(name), folder=folder, distances=distances)
    with tb.open_tablebase(small_board(name), folder=folder) as found:
        yield found


def test_a_table_is_a_mapping(table: tb.Table) -> None:
    known = unfinished(table.board)
    assert len(table) == len(known)
    positions = list(table)
    assert Counter(position._state for position in positions) == Counter(known.keys())
    assert [position.ply for position in positions] == sorted(p.ply for p in positions)
    for position in positions[:: max(1, len(positions) // 20)]:
        assert position in table
        assert table[position] == table.probe(position) == table.get(position)
        assert table[position].value == known[position._state]
    over = positions[-1]
    while not over.is_over():
        over = over.play(over.moves[0])
    assert over not in table
    with pytest.raises(GameOverError):
        table[over]
    with pytest.raises((BadTextError, ValueError)):
        "no such move" in table  # noqa: B015
    assert table
    assert table == table
    assert {table: 1}[table] == 1


def test_batches_have_the_value_of_every_action(table: tb.Table) -> None:
    known, board = unfinished(table.board), table.board
    found = 0
    for batch in table.batches():
        assert batch.legal is not None
        assert batch.move_value is not None
        plain = next(table.batches(batch.ply, moves=False))
        np.testing.assert_array_equal(plain.value[: len(batch)], batch.value)
        for row, position in enumerate(batch.positions()):
            assert position._state in known
            assert batch.value[row] == known[position._state]
            assert np.flatnonzero(batch.legal[row]).tolist() == position.actions
            assert not batch.move_value[row][~batch.legal[row]].any()
            probe = table.probe(position)
            if table.has_distances:
                assert batch.plies is not None
                assert plain.plies is not None
                assert batch.plies[row] == plain.plies[row] == probe.plies
            for action in position.actions:
                rated = probe.rated(next(m for m in position.moves if m.action == action))
                assert batch.move_value[row, action] == rated.value
                if table.has_distances:
                    assert batch.move_plies is not None
                    assert batch.move_plies[row, action] == rated.plies
        found += len(batch)
    assert found == len(known) == sum(len(batch) for batch in table.batches(moves=False))
    classes = {board.unpack(*state).canonical()._state for state in known}
    chosen = [p for batch in table.batches(moves=False, canonical=True) for p in batch.positions()]
    assert Counter(p.canonical()._state for p in chosen) == Counter(classes)
    assert sum(len(batch) for batch in table.batches(0)) == 1
    assert list(table.batches(board.last_ply)) == []


def test_a_sample_gives_every_position_the_same_chance(table: tb.Table) -> None:
    known = unfinished(table.board)
    ply = max({p.ply for p in table}, key=lambda ply: -abs(ply - 2))
    here = [state for state in known if table.board.unpack(*state).ply == ply]
    drawn = Counter(p._state for p in table.sample(60 * len(here), ply=ply, seed=1))
    assert set(drawn) == set(here)
    chi = sum((number - 60) ** 2 / 60 for number in drawn.values())
    assert chi < len(here) + 6 * (2 * len(here)) ** 0.5 + 10
    assert table.sample(5, seed=3) == table.sample(5, seed=3)
    values = set(known.values())
    for value, name in VALUE_NAMES.items():
        if value in values:
            some = table.sample(20, value=name.lower(), seed=2)
            assert {known[p._state] for p in some} == {value}
    assert table.sample(0) == []
    with pytest.raises(BadTextError, match="win, draw and loss are"):
        table.sample(1, value="victory")
    with pytest.raises(NotCoveredError):
        table.sample(1, ply=99)


def test_files_hold_what_batches_do(table: tb.Table, tmp_path: Path) -> None:
    wanted = list(table.batches())
    rows = sum(map(len, wanted))
    assert table.export(tmp_path / "t.npz", moves=True) == rows
    with np.load(tmp_path / "t.npz") as found:
        for name in ("a", "b", "value", "legal", "move_value"):
            whole = np.concatenate([getattr(batch, name) for batch in wanted])
            np.testing.assert_array_equal(found[name], whole)
    assert table.export(str(tmp_path / "t.csv"), moves=True) == rows
    with (tmp_path / "t.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == rows
    place = 0
    for batch in wanted:
        for row in range(len(batch)):
            line = lines[place]
            assert (int(line["a"]), int(line["b"])) == (int(batch.a[row]), int(batch.b[row]))
            for action in range(table.board.num_actions):
                text = str(batch.move_value[row, action]) if batch.legal[row, action] else ""
                assert line[f"value_{action}"] == text
            place += 1
    card = (tmp_path / "t.csv.card.md").read_text()
    assert table.digest in card
    assert f"{rows:,} unfinished legal positions" in card
    assert table.export(tmp_path / "s.csv", sample=7, seed=1) == 7
    with pytest.raises(BadTextError, match="names no format"):
        table.export(tmp_path / "t.xls")
    with pytest.raises(BadTextError, match="leave the rest out"):
        table.export(tmp_path / "t.csv", sample=3, canonical=True)


def test_arrow_and_parquet(table: tb.Table, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
    import pyarrow.parquet as pq

    rows = table.export(tmp_path / "t.parquet", moves=True)
    found = pq.read_table(tmp_path / "t.parquet")
    assert found.num_rows == rows == len(table)
    assert found.equals(table.to_arrow(moves=True))
    assert found.schema.metadata[b"digest"].decode() == table.digest
    wanted = np.concatenate([batch.value for batch in table.batches(moves=False)])
    assert found["value"].to_pylist() == wanted.tolist()


def test_tables_without_counts_or_plies(tmp_path: Path) -> None:
    build_without_counts(Connect4Board(4, 4), tmp_path / "t.h5")
    with tb.open_tablebase(tmp_path / "t.h5") as uncounted:
        assert not uncounted.is_counted
        assert len(uncounted) == sum(len(b) for b in uncounted.batches(moves=False))
    tb.build("mnk 3x3", folder=tmp_path, plies=range(4))
    with tb.open_tablebase("mnk 3x3", folder=tmp_path) as few:
        assert len(few) == sum(len(b) for b in few.batches(moves=False))
        assert next(few.batches(2)).ply == 2
        with pytest.raises(NotCoveredError, match="moves=False"):
            list(few.batches(3))


def test_a_rooted_table_lists_what_follows(tmp_path: Path) -> None:
    tb.build("4x4", folder=tmp_path, root="213")
    with tb.open_tablebase("4x4", folder=tmp_path, root="213") as rooted:
        assert len(rooted) == len(list(rooted))
        assert all(position in rooted for position in rooted)
        assert "12" not in rooted


def test_the_connect_4_set_of_the_uci(tmp_path: Path) -> None:
    """Ply 8 of 7x6, nobody about to win, one of two mirror images: its published numbers."""
    with tb.open_tablebase("7x6", folder=tmp_path) as shipped:
        found: Counter[int] = Counter()
        for batch in shipped.batches(8, moves=False, canonical=True):
            ours, theirs = (batch.board.planes(batch.states)[:, side] for side in (0, 1))
            quiet = ~(_wins_next(ours, theirs) | _wins_next(theirs, ours))
            found.update(batch.value[quiet].tolist())
    assert found == {1: 44_473, 0: 6_449, -1: 16_635}


def _wins_next(mine: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Whether one more stone on top of a column completes four in a line."""
    n, rows, cols = mine.shape
    taken = (mine | others).astype(bool)
    below = np.concatenate([taken[:, 1:], np.ones((n, 1, cols), bool)], axis=1)
    found = np.zeros(n, bool)
    for row, column in product(range(rows), range(cols)):
        with_it = mine.astype(bool)
        with_it[:, row, column] = True
        falls = ~taken[:, row, column] & below[:, row, column]
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            for begin in range(-3, 1):
                cells = [(row + down * (begin + i), column + right * (begin + i)) for i in range(4)]
                if all(0 <= r < rows and 0 <= c < cols for r, c in cells):
                    found |= falls & np.all([with_it[:, r, c] for r, c in cells], axis=0)
    return found


def test_counts_come_with_the_package(built_5x4: object, table_folder: Path) -> None:
    with tb.open_tablebase("5x4", folder=table_folder) as five:
        counted = [(c.positions, c.win, c.draw, c.loss, c.terminal) for c in five.counts]
    known = [(c.positions, c.win, c.draw, c.loss, c.terminal) for c in tb.counts("5x4")]
    assert known == counted
    assert sum(c.positions for c in tb.counts("7x6")) == 4_531_985_219_092
    assert sum(c.positions for c in tb.counts("tictactoe")) == 5_478
    with pytest.raises(MissingTableError, match="those of connect4 4x6"):
        tb.counts("mnk 9x9 connect=5")


def test_random_positions_need_no_table() -> None:
    for name in NAMES:
        board = small_board(name)
        found = tb.random_position(board, seed=1)
        assert found == tb.random_position(board, seed=1)
        assert not found.is_over()
        assert tb.random_position(board, ply=2, seed=1).ply == 2
    with pytest.raises(MissingTableError):
        tb.random_position("4x4", ply=16)
