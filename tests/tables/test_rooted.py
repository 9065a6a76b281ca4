"""Tables from a root: built, stored, probed, verified and counted like any other."""

import numpy as np
import pytest
from plain import connect4 as naive
from walk.test_rooted import position_of, random_root

from retro.errors import GameOverError, IllegalPositionError, NotCoveredError, WrongBoardError
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.games.connect4.text import read_moves
from retro.search import Solver
from tablebase import plan
from tablebase.building.build import build
from tablebase.checks import verify
from tablebase.tables import open_tablebase

GAME, MOVES = naive.Game(4, 4, 3), "213"


@pytest.fixture(scope="module")
def rooted(tmp_path_factory):
    """The table of what follows a few moves on a small board."""
    root = position_of(GAME, naive.after_moves(GAME, MOVES))
    return build(root.board, tmp_path_factory.mktemp("rooted") / "t.h5", root=root).path


def test_a_rooted_table_answers_every_position_that_follows_its_root(rooted):
    text = naive.after_moves(GAME, MOVES)
    known = naive.values(GAME, text)
    with open_tablebase(rooted) as table:
        records = [table.reader.record(ply) for ply in table.plies]
        counts = [(r.ply, r.positions, r.win, r.draw, r.loss, r.terminal) for r in records]
        assert counts == [tuple(c) for c in naive.counts(GAME, text)]
        assert table.value == known[text]
        asked = 0
        for layer in naive.live_layers(GAME, text):
            positions = sorted(layer)
            stones = np.array([naive.bitboards(GAME, p) for p in positions], np.uint64)
            if len(stones):
                values = table.probe_many(stones[:, 0], stones[:, 1])
                assert values.tolist() == [known[p] for p in positions]
                asked += len(stones)
    assert asked == sum(map(len, naive.live_layers(GAME, text)))


@pytest.mark.parametrize("moves", ["213", "2", "2233", "1144"])
def test_one_position_of_each_class_that_follows_a_root(tmp_path, moves):
    """Its canonical mirror image need not follow the root."""
    text = naive.after_moves(GAME, moves)
    root = position_of(GAME, text)
    path = build(root.board, tmp_path / "t.h5", root=root).path
    with open_tablebase(path) as table:
        for ply, layer in enumerate(naive.live_layers(GAME, text)[:-1], start=root.ply):
            stones = [naive.bitboards(GAME, position) for position in layer]
            classes = {root.board._canonical(*words) for words in stones}
            listed = [position._state for position, _ in table.positions(ply, canonical=True)]
            assert set(listed) <= set(stones)
            assert len(listed) == len(classes)
            assert {root.board._canonical(*words) for words in listed} == classes


@pytest.mark.parametrize("level", ["quick", "sample", "full"])
def test_a_rooted_table_is_verified(rooted, level):
    with open_tablebase(rooted) as table:
        assert verify(table, level).plies == 14


def test_what_does_not_follow_the_root_is_not_covered(rooted):
    with open_tablebase(rooted) as table:
        for moves in ("", "21", "2131", "213"):
            is_covered = moves.startswith(MOVES)
            assert (table.get_wdl(moves) is not None) == is_covered
        with pytest.raises(NotCoveredError, match="holds plies 3 to 16, not 2"):
            table.probe_wdl("21")
        with pytest.raises(NotCoveredError, match=r"holds what follows .*; this does not"):
            table.probe_wdl("2241")


@pytest.mark.parametrize(
    ("board", "empty"),
    [(Connect4Board(7, 6), 14), (Connect4Board(8, 7), 12), (Connect4Board(9, 5), 13)],
)
def test_rooted_tables_of_large_boards_agree_with_the_solver(tmp_path, board, empty):
    root = random_root(board, empty, seed=5)
    path = build(board, tmp_path / "t.h5", root=root).path
    solver, rng = Solver(board, memory="17M"), np.random.default_rng(1)
    with open_tablebase(path) as table:
        verify(table, "full")
        assert table.value == solver.solve(root).value
        assert not table.reader.has_kernels  # one question is answered without, on any board
        for ply in range(root.ply, board.cells, 2):
            record = table.record(ply)
            if record.positions > record.terminal:
                for _ in range(20):
                    position = table.random_position(rng, ply)
                    assert table.probe_wdl(position) == solver.solve(position).value


def test_a_root_says_beforehand_what_it_costs():
    found = plan("7x6", root="4444443322")
    assert found.root.ply == min(found.plies) == 10
    assert 10**8 < found.positions < 10**11


@pytest.mark.parametrize(
    ("moves", "error", "match"),
    [
        ("1212121", GameOverError, "has 4 in a line"),
        ("1111111", IllegalPositionError, "full"),
    ],
)
def test_a_root_that_nothing_grows_from_is_refused(tmp_path, moves, error, match):
    board = Connect4Board(7, 6)
    with pytest.raises(error, match=match):
        build(board, tmp_path / "t.h5", root=read_moves(board, moves))
    assert not list(tmp_path.iterdir())


def test_a_root_of_another_board_is_refused(tmp_path):
    other = Connect4Position(Connect4Board(5, 4))._play(1)
    with pytest.raises(WrongBoardError, match="the position is on 5x4, wanted one on 7x6"):
        build(Connect4Board(7, 6), tmp_path / "t.h5", root=other)
