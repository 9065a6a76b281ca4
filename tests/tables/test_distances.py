"""Tables with distances: against plain recursion, at every door, through every kind of build."""

import shutil
from functools import cache

import h5py
import numpy as np
import pytest
from builds import build_tablebase, run_plan
from plain import distance as plain
from strategies import published

import tablebase as tb
from retro.answers import order_moves
from retro.errors import FormatVersionError, NoDistancesError, VerificationError, WrongBoardError
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.games.connect4.text import read_moves
from retro.search import Solver
from tablebase.checks import verify
from tablebase.files.seal import ply_name, table_digest
from tablebase.halves.chunks import digest_chunk
from tablebase.halves.format import CHUNK_WORDS, plane_digest
from tablebase.halves.store import TableFile
from tablebase.oracles import Oracle
from tablebase.perfect import PerfectPlayer
from tablebase.tables import open_tablebase

BOARDS = [
    Connect4Board(3, 3, 3),
    Connect4Board(4, 3, 3),
    Connect4Board(2, 5, 3),
    Connect4Board(4, 3),
]


@cache
def truth(board):
    """{(first, second): (value, plies)} of every unfinished position, by recursion."""
    known = {}
    for mover, mask, value, plies in plain.positions(board.width, board.height, board.connect):
        other = mask ^ mover
        stones = (other, mover) if mask.bit_count() % 2 else (mover, other)
        known[stones] = (value, plies)
    return known


def build(board, path, **options):
    return build_tablebase(board, path, distances=True, **options)


@pytest.fixture(scope="module", params=BOARDS, ids=str)
def every(request, tmp_path_factory):
    """A small board and its table."""
    path = tmp_path_factory.mktemp("tables") / "every.h5"
    build(request.param, path)
    return request.param, path


@pytest.fixture(scope="module")
def table_4x4(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "connect4-4x4.h5"
    build(Connect4Board(4, 4), path)
    return path


def test_one_question_has_value_and_plies_of_plain_recursion(every):
    board, path = every
    known = list(truth(board).items())
    with open_tablebase(path) as table:
        for (first, second), expected in known[:: max(7, len(known) // 300)]:
            position = Connect4Position(board, first, second)
            table.reader._asked = 0  # plain, however many were asked
            assert table.reader.answer_of(position) == expected
            assert table.probe_plies(position) == expected[1]


def test_questions_in_bulk_have_values_and_plies_of_plain_recursion(every):
    board, path = every
    known = truth(board)
    with open_tablebase(path) as table:
        words = np.array([*known], np.uint64)
        found = table.probe_many(words[:, 0].copy(), words[:, 1].copy(), distances=True)
        assert [*zip(found.values.tolist(), found.plies.tolist(), strict=True)] == [*known.values()]
        assert (table.probe_many(words[:, 0].copy(), words[:, 1].copy()) == found.values).all()


def test_finished_games_end_in_no_plies(every):
    board, path = every
    with open_tablebase(path) as table:
        for (first, second), (value, plies) in truth(board).items():
            if (value, plies) == (1, 1):
                position = Connect4Position(board, first, second)
                after = [position._play(c) for c in position._numbers()]
                over = [p for p in after if p.outcome() == -1]
                break
        found = table.probe_many(board.states(over), distances=True)
        assert found.values.tolist() == [-1] * len(over)
        assert found.plies.tolist() == [0] * len(over)


def test_moves_come_in_the_one_order_with_their_plies(every):
    board, path = every
    known = truth(board)
    with open_tablebase(path) as table:
        for (first, second), expected in list(known.items())[::11]:
            position = Connect4Position(board, first, second)
            found = table.probe(position)
            assert (found.value, found.plies) == expected
            assert found.moves == order_moves(found.moves)
            for move in found.moves:
                after = position._play(move.number)
                value, plies = known.get(after._state, (after.outcome(), 0))
                assert (move.value, move.plies) == (-value, 1 + plies)


def test_counts_by_distance_are_those_of_all_positions(every):
    board, path = every
    with open_tablebase(path) as table:
        for counts in table.counts[:-1]:
            here = [k for s, k in truth(board).items() if (s[0] | s[1]).bit_count() == counts.ply]
            for value, counted in ((1, counts.win_in), (0, counts.draw_in), (-1, counts.loss_in)):
                plies = [p for v, p in here if v == value]
                expected = np.bincount(plies, minlength=board.cells - counts.ply + 1)
                if value < 0:
                    expected[0] = counts.terminal
                assert counted == tuple(expected.tolist())
            wins = [p for v, p in here if v == 1]
            assert counts.longest_win == (max(wins) if wins else None)


@pytest.mark.parametrize("plies", [range(13), range(3, 8), range(1), range(12, 13)], ids=str)
def test_tables_of_some_plies_know_them(tmp_path, plies):
    board = Connect4Board(4, 3, 3)
    build(board, tmp_path / "some.h5", plies=plies)
    with open_tablebase(tmp_path / "some.h5") as table:
        asked = {s: k for s, k in truth(board).items() if (s[0] | s[1]).bit_count() in plies}
        if asked:
            words = np.array([*asked], np.uint64)
            found = table.probe_many(words[:, 0].copy(), words[:, 1].copy(), distances=True)
            both = zip(found.values.tolist(), found.plies.tolist(), strict=True)
            assert [*both] == [*asked.values()]
        for stones, expected in list(asked.items())[::5]:
            assert table.reader.answer_of(Connect4Position(board, *stones)) == expected
    verify(tmp_path / "some.h5", "full")


def test_rooted_tables_know_distances(tmp_path):
    board = Connect4Board(4, 4, 3)
    root = read_moves(board, "23")
    build(board, tmp_path / "rooted.h5", root=root)
    verify(tmp_path / "rooted.h5", "full", solver=True)
    with open_tablebase(tmp_path / "rooted.h5") as table:
        assert table.reader.answer_of(root) == truth(board)[root._state]


def test_values_and_counts_are_those_of_a_table_without_distances(tmp_path, table_4x4):
    build_tablebase(Connect4Board(4, 4), tmp_path / "plain.h5")
    with TableFile(tmp_path / "plain.h5") as without, TableFile(table_4x4) as table:
        assert (without.header.format_version, table.header.format_version) == (2, 3)
        for one, other in zip(without.records, table.records, strict=True):
            names = ("positions", "win", "draw", "loss", "terminal")
            assert all(getattr(one, name) == getattr(other, name) for name in names)
            assert (without.read(one.ply) == table.read(one.ply)[:2]).all()


def test_every_kind_of_build_gives_the_same_bytes(tmp_path, monkeypatch, table_4x4):
    monkeypatch.setattr("retro.walk.halves.layer.GROUP_WORDS", (16, 64))
    board = Connect4Board(4, 4)
    with open_tablebase(table_4x4) as table:
        expected = table.digest
    monkeypatch.setattr("tablebase.building.halves.plan.IN_MEMORY_BITS", 0)
    plan = tb.plan(board, distances=True)
    assert not plan.detail.in_memory
    least = tb.plan(board, memory=plan.least_memory, threads=1, distances=True)
    for number, wanted in enumerate((plan, least)):
        run_plan(wanted, tmp_path / f"{number}.h5")
        with open_tablebase(tmp_path / f"{number}.h5") as table:
            assert table.digest == expected


@pytest.mark.slow
def test_processes_give_the_same_bytes(tmp_path, table_4x4):
    build(Connect4Board(4, 4), tmp_path / "processes.h5", processes=2)
    with open_tablebase(tmp_path / "processes.h5") as table, open_tablebase(table_4x4) as other:
        assert table.digest == other.digest


@pytest.mark.parametrize("level", ["quick", "sample", "full"])
def test_a_sound_table_passes(table_4x4, level):
    assert verify(table_4x4, level, solver=level == "full").level == level


def forge(path, change):
    """Change a table and make every digest fit again: the work of a wrong program, not of decay."""
    with TableFile(path) as table:
        header, records = table.header, table.records
    with h5py.File(path, "r+") as file:
        change(file)
        again = []
        for record in records:
            group = file[ply_name(record.ply)]
            planes = np.stack([group[name][:] for name in header.planes(record.ply)])
            starts = range(0, planes.shape[1], CHUNK_WORDS)
            digests = [digest_chunk(planes[:, at : at + CHUNK_WORDS]) for at in starts]
            group.attrs["sha256"] = np.bytes_(plane_digest(digests))
            said = {**vars(record), "sha256": plane_digest(digests)}
            said["distances"] = tuple(group.attrs["distances"].tolist())
            again.append(type(record)(**said))
        file.attrs["digest"] = table_digest(header, int(file.attrs["value"]), again)


@pytest.mark.hdf5
@pytest.mark.parametrize(("ply", "plane"), [(4, 0), (5, 1), (6, 2), (9, 0), (12, 1), (14, 0)])
def test_a_fault_in_any_plane_of_numbers_is_found(table_4x4, tmp_path, ply, plane):
    path = shutil.copy(table_4x4, tmp_path / "forged.h5")

    def change(file):
        group = file[ply_name(ply)]
        decided = np.flatnonzero(group["win"][:] | group["loss"][:])
        dataset, place = group[f"number-{plane}"], int(decided[len(decided) // 2])
        words = dataset[:]
        bits = int(group["win"][place] | group["loss"][place])
        words[place] ^= np.uint64(bits & -bits)
        dataset[:] = words

    forge(path, change)
    with pytest.raises(VerificationError, match=rf"ply {ply} holds .* plies, its successors say"):
        verify(path, "full")


@pytest.mark.hdf5
def test_a_number_without_a_value_and_a_wrong_count_are_found(table_4x4, tmp_path):
    path = shutil.copy(table_4x4, tmp_path / "forged.h5")

    def change(file):
        words = file["ply-06/number-1"][:]
        free = np.flatnonzero(~(file["ply-06/win"][:] | file["ply-06/loss"][:]) & np.uint64(1))
        words[free[0]] |= np.uint64(1)
        file["ply-06/number-1"][:] = words

    forge(path, change)
    with pytest.raises(VerificationError, match="neither won nor lost has a number"):
        verify(path, "quick")
    path = shutil.copy(table_4x4, tmp_path / "forged.h5")

    def count(file):
        numbers = file["ply-06"].attrs["distances"]
        numbers[5] += 1
        file["ply-06"].attrs["distances"] = numbers

    forge(path, count)
    with pytest.raises(VerificationError, match="ply 6 counts ends in 5 plies"):
        verify(path, "full")


def test_a_table_without_distances_says_so(tmp_path):
    build_tablebase(Connect4Board(4, 3), tmp_path / "plain.h5")
    with open_tablebase(tmp_path / "plain.h5") as table:
        assert not table.has_distances
        assert table.probe("").plies is None
        for ask in (
            lambda: table.probe_plies(""),
            lambda: table.probe_many(table.board.states([""]), distances=True),
            lambda: table.reader.answer_of(table.board.start()),
        ):
            with pytest.raises(NoDistancesError, match="knows values, not distances"):
                ask()
    with pytest.raises(WrongBoardError, match="was built without distances"):
        build(Connect4Board(4, 3), tmp_path / "plain.h5")


def test_version_and_attribute_must_agree(table_4x4, tmp_path):
    path = shutil.copy(table_4x4, tmp_path / "forged.h5")
    with h5py.File(path, "r+") as file:
        file.attrs["format_version"] = np.int64(2)
    with pytest.raises(FormatVersionError, match="version 3 is that of tables with distances"):
        open_tablebase(path)


def test_the_oracle_and_the_perfect_player_do_not_search(table_4x4):
    solver = Solver("4x4", memory="16M")
    with open_tablebase(table_4x4) as table:
        oracle = Oracle(table.board, [table], memory="16M")

        def refuse():
            raise AssertionError("searched")

        oracle.before_search = refuse
        player = PerfectPlayer(oracle)
        for text in ("", "2", "22", "2233", "123412", "3321"):
            position = table.board.position(text)
            found, line = oracle.analyse(position), oracle.best_line(position)
            assert found.moves == solver.analyse(position)
            assert [m.number for m in line.moves] == [m.number for m in solver.best_line(position)]
            assert (found.source, line.source, line.plies) == ("table", "table", found.plies)
            assert oracle.solve(position, strong=True).plies == found.plies
            assert player.advise(position).plies == found.plies
            assert oracle.best_move(position) == found.moves[0]
            asked = table.board.states([position])
            assert oracle.probe_many(asked, distances=True).plies.tolist() == [found.plies]


def test_a_line_that_leaves_the_table_is_searched_to_its_end(tmp_path):
    board = Connect4Board(4, 3)
    build(board, tmp_path / "some.h5", plies=range(4))
    with open_tablebase(tmp_path / "some.h5") as table:
        line = Oracle(board, [table], memory="1M").best_line("")
        assert line.source == "both"
        assert (
            line.plies == table.probe_plies("") == Solver("4x3", memory="1M").solve("", True).plies
        )


@pytest.mark.parametrize(
    ("size", "plies"),
    [
        ("4x4", 16), ("5x4", 20), ("4x5", 20), ("6x4", 24),
        pytest.param("7x4", 28, marks=pytest.mark.slow),
        pytest.param("5x5", 25, marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_empty_boards_end_with_their_last_cell(tmp_path, size, plies):
    """Draws do, of course; 6x4 is lost with its last stone."""
    tb.build(size, tmp_path / "board.h5", distances=True)
    with open_tablebase(tmp_path / "board.h5") as table:
        assert table.probe_plies("") == plies
        assert table.value == (-1 if size == "6x4" else 0)


@pytest.mark.slow
@pytest.mark.parametrize("size", ["5x5", "6x5"])
def test_the_solver_finds_the_same_distances(tmp_path, size):
    tb.build(size, tmp_path / "board.h5", distances=True)
    solver, rng = Solver(size, memory="256M"), np.random.default_rng(7)
    with open_tablebase(tmp_path / "board.h5") as table:
        for ply in range(6, table.board.cells, 2):
            asked = table.board.states([table.random_position(rng, ply) for _ in range(50)])
            found = table.probe_many(asked, distances=True)
            searched = solver.solve_many(asked, strong=True)
            np.testing.assert_array_equal(found.values, searched.values)
            np.testing.assert_array_equal(found.plies, searched.plies)


QUICK = [row for row in published("connect4_distances.csv") if row["board"] in ("5x4", "5x5")]


@pytest.mark.parametrize("row", QUICK, ids=lambda row: row["board"])
def test_tables_have_the_recorded_digests(tmp_path, row):
    """The others take minutes and gigabytes: compare them with `tablebase list --json`."""
    tb.build(row["board"], tmp_path / "board.h5", distances=True)
    with open_tablebase(tmp_path / "board.h5") as table:
        assert table.digest == row["digest"]
        assert table.probe_plies("") == row["plies"]
