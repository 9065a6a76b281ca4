"""Building: what a table then holds, what is refused, and a named error for each obstacle."""

import numpy as np
import pytest
from build_cases import BOARD, assert_same_table, stopped
from builds import build_tablebase, build_without_counts, result_of
from plain import connect4 as naive

import tablebase as tb
from retro.errors import BadTextError, NotCoveredError, StorageError, WrongBoardError
from retro.games.connect4.rules import Connect4Board
from tablebase.tables import open_tablebase

pytestmark = pytest.mark.usefixtures("in_files")


@pytest.mark.parametrize(
    "game", [naive.Game(*g) for g in [(3, 3, 3), (4, 3, 3), (2, 2, 2), (1, 5, 3), (3, 3, 2)]]
)
def test_a_built_table_has_the_counts_and_the_value_of_naive(game, tmp_path):
    result = build_tablebase(Connect4Board(*game), tmp_path / "table.h5")
    counts = [(r.ply, r.positions, r.win, r.draw, r.loss, r.terminal) for r in result.records]
    assert counts == [tuple(c) for c in naive.counts(game)]
    assert result.value == naive.values(game)[naive.empty(game)]
    assert result.size == result.path.stat().st_size
    assert not result.was_there


def test_a_second_build_finds_that_there_is_nothing_to_do(tmp_path):
    path = tmp_path / "deep" / "folder" / "table.h5"
    first = build_tablebase(Connect4Board(4, 3), path)
    before = path.stat()
    second = build_tablebase(Connect4Board(4, 3), path)
    assert (first.was_there, second.was_there) == (False, True)
    assert second.records == first.records
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_force_builds_again_the_same_table(built_5x4, tmp_path):
    path = tmp_path / "table.h5"
    path.write_bytes(b"an old file in the way")
    result = build_tablebase(BOARD, path, force=True)
    assert not result.was_there
    assert_same_table(path, built_5x4)


def test_force_does_not_trust_old_parts(built_5x4, tmp_path):
    path = tmp_path / "table.h5"
    resumed = []
    stopped(path, "backward", 8)
    build_tablebase(BOARD, path, force=True, report=lambda p: resumed.append(p.resumed))
    assert set(resumed) == {0}
    assert_same_table(path, built_5x4)


def test_the_number_of_threads_does_not_change_the_table(built_5x4, tmp_path):
    for threads in (1, 3):
        path = tmp_path / str(threads) / "table.h5"
        build_tablebase(BOARD, path, threads=threads)
        assert_same_table(path, built_5x4)


def test_progress_counts_up_to_the_whole(tmp_path):
    seen = []
    build_tablebase(BOARD, tmp_path / "table.h5", report=seen.append)
    assert [(p.phase, p.ply) for p in seen] == [("backward", ply) for ply in range(20, -1, -1)]
    assert [p.done for p in seen] == sorted(p.done for p in seen)
    assert seen[-1].done == seen[-1].total


def test_processes_make_the_same_table(built_5x4, tmp_path):
    path = tmp_path / "table.h5"
    result = build_tablebase(BOARD, path, processes=2)
    assert not result.was_there
    assert_same_table(path, built_5x4)


@pytest.mark.parametrize("in_memory", [0, 10**9])
def test_who_asks_for_no_counts_gets_them_and_is_told(built_5x4, tmp_path, monkeypatch, in_memory):
    monkeypatch.setattr("tablebase.building.halves.plan.IN_MEMORY_BITS", in_memory)
    path, told = tmp_path / "table.h5", []
    build_tablebase(BOARD, path, counts=False, announce=told.append)
    assert "counting costs next to nothing: positions are counted all the same" in told
    assert_same_table(path, built_5x4)
    assert build_tablebase(BOARD, path, counts=False).was_there


def test_a_table_that_was_built_without_counts_is_read_and_checked(built_5x4, tmp_path):
    path = tmp_path / "table.h5"
    result, whole = build_without_counts(BOARD, path), result_of(built_5x4.path)
    assert result.value == whole.value
    assert [r.sha256 for r in result.records] == [r.sha256 for r in whole.records]
    assert [r.positions for r in result.records] == [1] + [0] * 20
    assert tb.verify(path, level="full").positions > 0
    with pytest.raises(WrongBoardError, match="was built without counts"):
        build_tablebase(BOARD, path)


@pytest.mark.parametrize("level", ["spot", "sample"])
def test_plies_without_a_position_are_sound_though_nobody_counted_them(tmp_path, level):
    """Lines of two: nobody gets beyond ply 4 of a board of nine cells, and the table ends there."""
    path = tmp_path / "table.h5"
    build_without_counts(Connect4Board(3, 3, 2), path)
    assert tb.verify(path, level=level).positions > 0
    assert tb.verify(path, level=level, solver=True).positions > 0


def test_a_table_has_no_counts_of_plies_that_it_does_not_have(built_5x4):
    with open_tablebase(built_5x4.path) as table:
        assert table.record(20).ply == 20
        for ply in (-1, 21):
            with pytest.raises(NotCoveredError, match=f"counts plies 0 to 20, not {ply}"):
                table.record(ply)


@pytest.mark.parametrize("plies", [range(21), range(7), range(4, 12), range(20, 21), range(1)])
def test_some_plies_have_the_values_of_the_whole_table(built_5x4, tmp_path, plies):
    path = tmp_path / "table.h5"
    result = build_tablebase(BOARD, path, plies=plies)
    assert result.value == result_of(built_5x4.path).value
    with open_tablebase(path) as some, open_tablebase(built_5x4.path) as whole:
        for ply in {plies[0], plies[-1]}:
            for states, values in whole.reader.layer(ply):
                np.testing.assert_array_equal(some.probe_many(states), values)
        outside = [ply for ply in (0, 10, 19) if ply not in plies]
        refused = f"holds plies {plies[0]} to {plies[-1]}, not"
        for ply in outside:
            with pytest.raises(NotCoveredError, match=refused):
                some.probe_wdl(whole.random_position(np.random.default_rng(1), ply))
    if len(plies) < 21:
        with pytest.raises(WrongBoardError, match=r"holds plies .*, not 0\.\.20"):
            build_tablebase(BOARD, path)


@pytest.mark.parametrize("plies", [range(22), range(-1, 3), range(5, 5), range(9, 4)])
def test_plies_that_the_board_does_not_have_are_refused(tmp_path, plies):
    with pytest.raises(BadTextError, match=r"wanted some of 0\.\.20"):
        build_tablebase(BOARD, tmp_path / "table.h5", plies=plies)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageError, match="cannot write"):
        build_tablebase(Connect4Board(3, 3), tmp_path / "file" / "table.h5")


def test_two_builders_of_one_table_do_not_meet(tmp_path):
    path = tmp_path / "table.h5"

    def build_again(progress):
        if progress.ply == 3:
            build_tablebase(Connect4Board(3, 3), path)

    with pytest.raises(StorageError, match="another process is building"):
        build_tablebase(Connect4Board(3, 3), path, report=build_again)
    assert not build_tablebase(Connect4Board(3, 3), path).was_there
