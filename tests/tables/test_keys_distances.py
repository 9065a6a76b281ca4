"""Tables of sorted keys with distances: every game against plain recursion, at every door."""

from functools import cache

import h5py
import numpy as np
import pytest

import tablebase as tb
from retro.answers import order_moves
from retro.errors import ChecksumError, NoDistancesError, VerificationError
from retro.games.catalogue import make_board
from retro.search import Solver
from tablebase.checks import verify
from tablebase.files.seal import ply_name, table_digest
from tablebase.keys.file import KeysFile
from tablebase.keys.store import Packed, digest_layer
from tablebase.oracles import Oracle
from tablebase.tables import open_tablebase

BOARDS = [
    ("mnk 3x3", ""), ("mnk 3x3", "b2 a1"), ("puissance-plus 3x2", ""), ("domineering 3x3", ""),
    ("notakto 3x3", ""),
]  # fmt: skip


@cache
def truth(root):
    """{state: (position, value, plies)} of all unfinished positions that follow a root."""
    known = {}

    def solve(position):
        outcome = position.outcome()
        if outcome is not None:
            return outcome, 0
        if position._state not in known:
            replies = [solve(position._play(move)) for move in position._numbers()]
            rated = [(-value, 1 + plies) for value, plies in replies]
            value, plies = max(rated, key=lambda found: (found[0], -found[0] * found[1]))
            known[position._state] = (position, value, plies)
        return known[position._state][1:]

    solve(root)
    return known


@pytest.fixture(scope="module", params=BOARDS, ids=" ".join)
def built(request, tmp_path_factory):
    text, moves = request.param
    root = make_board(text).position(moves)
    path = tmp_path_factory.mktemp("tables") / "built.h5"
    tb.build(root.board, path, root=root if moves else None, distances=True)
    return root, path


def test_every_position_has_value_and_plies_of_plain_recursion(built):
    root, path = built
    known = truth(root)
    positions = [position for position, *_ in known.values()]
    with open_tablebase(path) as table:
        found = table.probe_many(root.board.states(positions), distances=True)
        both = zip(found.values.tolist(), found.plies.tolist(), strict=True)
        assert [*both] == [(value, plies) for _, value, plies in known.values()]
        assert (table.probe_many(root.board.states(positions)) == found.values).all()
        for position, value, plies in list(known.values())[::9]:
            assert table.reader.answer_of(position) == (value, plies)
            probe = table.probe(position)
            assert (probe.value, probe.plies) == (value, plies)
            assert probe.moves == order_moves(probe.moves)


def test_finished_games_end_in_no_plies(built):
    root, path = built
    over = [
        after
        for position, *_ in list(truth(root).values())[::5]
        for after in map(position._play, position._numbers())
        if after.is_over()
    ]
    with open_tablebase(path) as table:
        found = table.probe_many(root.board.states(over), distances=True)
        assert not found.plies.any()
        assert found.values.tolist() == [position.outcome() for position in over]


def test_it_is_sound_and_counts_every_distance(built):
    root, path = built
    verify(path, "full", solver=True)
    with open_tablebase(path) as table:
        for counts in table.counts:
            live = counts.positions - counts.terminal
            ends = [np.sum(c or 0) for c in (counts.win_in, counts.draw_in, counts.loss_in)]
            assert ends == [counts.win, counts.draw, counts.loss]
            if not root.root_text and live:
                here = [k for k in truth(root).values() if k[0].ply == counts.ply]
                wins = [plies for _, value, plies in here if value == 1]
                if wins:
                    assert counts.longest_win == max(wins)


def test_values_are_those_of_a_table_without_distances(built, tmp_path):
    root, path = built
    tb.build(root.board, tmp_path / "plain.h5", root=root if root.root_text else None)
    with KeysFile(path) as table, KeysFile(tmp_path / "plain.h5") as plain:
        assert (plain.header.format_version, table.header.format_version) == (1, 2)
        for one, other in zip(plain.records, table.records, strict=True):
            assert (one.win, one.draw, one.loss) == (other.win, other.draw, other.loss)
            values = np.sign(table.stored(one.ply).values)
            assert (plain.stored(one.ply).values == values).all()
    with open_tablebase(tmp_path / "plain.h5") as plain:
        assert plain.probe(root).plies in (None, 1)
        with pytest.raises(NoDistancesError, match="knows values, not distances"):
            plain.probe_plies(root)


def test_the_oracle_answers_as_the_solver_without_searching(built):
    root, path = built
    if root.root_text:
        pytest.skip("the oracle of a whole board")
    solver = Solver(root.board, memory="1M")
    with open_tablebase(path) as table:
        oracle = Oracle(table.board, [table], memory="1M")

        def refuse():
            raise AssertionError("searched")

        oracle.before_search = refuse
        for position, *_ in list(truth(root).values())[::40]:
            assert oracle.analyse(position).moves == solver.analyse(position)
            assert oracle.best_line(position).moves == solver.best_line(position)


@pytest.mark.hdf5
@pytest.mark.parametrize("ply", [3, 5, 7])
def test_a_planted_fault_in_the_plies_is_found(tmp_path, ply):
    path = tmp_path / "forged.h5"
    tb.build("mnk 3x3", path, distances=True)
    with KeysFile(path) as table:
        header, records, keys = table.header, table.records, table.stored(ply).keys
    with h5py.File(path, "r+") as file:
        group = file[ply_name(ply)]
        plies = group["plies"][:]
        decided = np.flatnonzero(plies)
        one = decided[len(decided) // 2]
        # Not longer than there is, which is seen at once.
        plies[one] = 2 if plies[one] == 1 else plies[one] - 1
        group["plies"][:] = plies
        digest = digest_layer(keys, Packed(group["values"][:], plies))
        group.attrs["sha256"] = np.bytes_(digest)
        again = [type(r)(**{**vars(r), "sha256": digest}) if r.ply == ply else r for r in records]
        file.attrs["digest"] = table_digest(header, int(file.attrs["value"]), again)
    # A game that would last longer than there are cells is refused by whoever reads it.
    found = rf"ply {ply} (holds .* plies, its successors say|has games that last longer)"
    with pytest.raises((VerificationError, ChecksumError), match=found):
        verify(path, "full")
