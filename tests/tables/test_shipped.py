"""The first plies of 7x6, which come with the package: true, and found at every door."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tablebase as tb
from retro.errors import MissingTableError, TimeLimitError
from retro.search import Solver
from retro.search.connect4.bits import make_board
from retro.search.connect4.goals import plies_of
from tablebase.files.places import shipped_path
from tablebase.perfect import PerfectPlayer

BOARD = tb.board("7x6")
ROOT = Path(__file__).parents[2]
LAST_PLY = 12
ROOT_MOVES = "44444432655555323332"  # of a table of one's own: best play, so far
MOST_BYTES = 10_000_000
# The six files of Pons' benchmark, where somebody has them.
SETS = Path(os.environ.get("CONNECT4_SETS", "no such folder"))


@pytest.fixture(scope="module")
def table():
    with tb.open_tablebase(shipped_path(BOARD.start())) as opened:
        yield opened


@pytest.fixture
def asked(tmp_path):
    """An oracle that finds no other table and has no time to search."""
    with tb.oracle(BOARD, folder=tmp_path, memory="1M", time_limit=0) as oracle:
        yield oracle


def layer_after(states):
    """The unfinished positions one ply later, each once, of a pair of sets of stones."""
    found = set()
    for a, b in states:
        position = BOARD.unpack(a, b)
        for move in position._numbers():
            after = position._play(move)
            if not after.is_over():
                found.add(after._state)
    return found


def test_what_is_shipped(table):
    assert table.plies == range(LAST_PLY + 1)
    assert table.has_distances
    assert table.size <= MOST_BYTES
    assert (table.value, table.probe_plies("")) == (1, 41)  # Allis and Allen, 1988


def test_the_empty_board_has_the_published_scores(table):
    """-2 -1 0 1 0 -1 -2, published by Pons: how many stones before its last the winner wins."""
    scores = dict(zip("1234567", (-2, -1, 0, 1, 0, -1, -2), strict=True))
    moves = table.probe("").moves
    assert [move.move for move in moves] == ["4", "3", "5", "2", "6", "1", "7"]
    for move in moves:
        assert move.value == np.sign(scores[move.move])
        assert move.plies == 1 + plies_of(make_board(7, 6, 4), -scores[move.move], 1)


def test_eight_plies_are_those_of_the_uci_data_set(table):
    """Of 67,557 with no forced move 44,473 are won, 6,449 drawn and 16,635 lost (Tromp, 1995)."""
    layer = {BOARD.start()._state}
    for _ in range(8):
        layer = {min(BOARD.images(*state)) for state in layer_after(layer)}
    quiet = [state for state in layer if is_quiet(*state)]
    assert len(quiet) == 67_557
    states = BOARD.states_of(*(np.array(words, np.uint64) for words in zip(*quiet, strict=True)))
    values, counts = np.unique(table.probe_many(states), return_counts=True)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == {
        1: 44473,
        0: 6449,
        -1: 16635,
    }


def is_quiet(a, b):
    """Whether neither side could complete a line at once, were it to move."""
    position = BOARD.unpack(a, b)
    return not (wins_at_once(a, b, position) or wins_at_once(b, a, position))


def wins_at_once(mine, theirs, position):
    for column in position._numbers():
        bit = 1 << column * BOARD.stride + position.height(column)
        if BOARD.has_line(mine | bit):
            return True
    return False


@pytest.mark.parametrize("ply", range(LAST_PLY))
def test_positions_are_worth_the_best_of_their_moves(table, ply):
    """Without kernels and with them, and as their mirror images, column by column."""
    rng = np.random.default_rng(ply)
    for _ in range(20):
        position = table.random_position(rng, ply)
        probe, image = table.probe(position), table.probe(position.mirror())
        assert (probe.value, probe.plies) == (
            table.probe_wdl(position),
            table.probe_plies(position),
        )
        assert {(6 - m.number, m.value, m.plies) for m in image.moves} == {
            (m.number, m.value, m.plies) for m in probe.moves
        }


@pytest.mark.parametrize("ply", [LAST_PLY - 1, LAST_PLY])
def test_the_last_plies_are_as_the_solver_finds_them(table, ply):
    rng, solver = np.random.default_rng(ply), Solver(BOARD, memory="64M")
    for _ in range(10):
        position = table.random_position(rng, ply)
        found = solver.solve(position, strong=True)
        assert (found.value, found.plies) == (
            table.probe_wdl(position),
            table.probe_plies(position),
        )


@pytest.mark.parametrize("name", ["Test_L1_R1", "Test_L1_R2", "Test_L1_R3"])
def test_the_published_sets(table, name):
    if not SETS.is_dir():
        pytest.skip("CONNECT4_SETS names no folder")
    lines = [line.split() for line in (SETS / name).read_text().splitlines()]
    kept = [(moves, int(score)) for moves, score in lines if len(moves) <= LAST_PLY]
    assert len(kept) > 500
    found = table.probe_many(BOARD.states([moves for moves, _ in kept]), distances=True)
    board = make_board(7, 6, 4)
    for (moves, score), value, plies in zip(kept, found.values, found.plies, strict=True):
        mask = int(BOARD.position(moves).first | BOARD.position(moves).second)
        assert (value, plies) == (np.sign(score), plies_of(board, score, mask)), moves


def test_nobody_waits_for_what_is_shipped(asked):
    found = asked.analyse("")
    assert (found.plies, found.source) == (41, "table")
    assert asked.probe("") == found
    assert asked.best_move("") == found.moves[0]
    assert asked.solve("7", strong=True).plies == 39
    assert asked.solve("7").plies is None
    assert asked.value("7") == 1
    player = PerfectPlayer(asked)
    assert player.advise(BOARD.start()) == (3, 1, 41, "table")
    assert player.rate(BOARD.start()) == (found.moves, [])


def test_the_line_of_the_empty_board_is_shipped_to_its_end(asked):
    """With no time to search; the rest of it is what the solver finds."""
    line = asked.best_line("")
    assert (line.plies, line.source) == (41, "both")
    assert [(move.value, move.plies) for move in line.moves] == [
        ((-1) ** ply, 41 - ply) for ply in range(41)
    ]
    assert line.end.is_over()
    late = line.position._play_all([move.number for move in line.moves[:17]])
    assert asked.best_line(late).moves == line.moves[17:]
    assert Solver(BOARD, memory="16M").best_line(late) == line.moves[17:]
    with pytest.raises(TimeLimitError):
        asked.best_line(late.undo()._play(0))  # no position of the line


def test_a_line_goes_on_where_the_table_ends(tmp_path):
    with tb.oracle(BOARD, folder=tmp_path, memory="64M") as oracle:
        line = oracle.best_line("7557532311")
        assert line.source == "both"
        assert line.plies == oracle.solve("7557532311", strong=True).plies == 29
        assert line.end.is_over()
        late = line.position._play_all([move.number for move in line.moves[:8]])
        assert Solver(BOARD, memory="64M").best_line(late) == line.moves[8:]


def test_a_table_of_ones_own_comes_before_unless_it_knows_no_distances(tmp_path):
    values, distances = tmp_path / "values", tmp_path / "distances"
    tb.build(BOARD, folder=values, root=ROOT_MOVES)
    tb.build(BOARD, folder=distances, root=ROOT_MOVES, distances=True)
    with tb.oracle(BOARD, folder=values) as oracle:
        assert [table.has_distances for table in oracle.tables] == [True, False]
        assert oracle.probe("").plies == 41
    with tb.oracle(BOARD, folder=distances) as oracle:
        assert [table.root.ply for table in oracle.tables] == [20, 0]


def test_a_board_without_is_none_the_wiser(tmp_path):
    for text in ("6x6", "7x6 connect=3", "mnk 3x3", "quarto 2x2 attributes=2"):
        board = tb.board(text)
        assert shipped_path(board.start()) is None
        with tb.oracle(board, folder=tmp_path) as oracle:
            assert not oracle.tables
    with pytest.raises(MissingTableError, match="build it with"):
        tb.open_tablebase("6x6", folder=tmp_path)


def test_packing_again_keeps_the_digest(tmp_path):
    built = tb.build("4x4", folder=tmp_path, distances=True, plies=range(9))
    script = [sys.executable, "scripts/ship_table.py", built.path, "--out", tmp_path / "s.h5"]
    subprocess.run(script, check=True, cwd=ROOT, capture_output=True)
    with tb.open_tablebase(built.path) as before, tb.open_tablebase(tmp_path / "s.h5") as after:
        assert after.digest == before.digest
        assert after.size < before.size


@pytest.mark.slow
def test_many_positions_are_as_the_solver_finds_them(table):
    rng, solver = np.random.default_rng(5), Solver(BOARD)
    for ply in random.Random(5).choices(range(6, LAST_PLY + 1), k=300):
        position = table.random_position(rng, ply)
        found = solver.solve(position, strong=True)
        assert (found.value, found.plies) == table.reader.answer_of(position)
