"""Tables of some plies, of every game of the catalogue.

    ply   0   1 [ 2   3 ] 4   5   ...      all are walked and counted, values are kept of some

The small board of each game is held against plain recursion over its rules. What the table
does not keep it refuses by name, and the oracle searches.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest
from plain.recursion import every_position, layer

import tablebase as tb
from retro.errors import (
    BadTextError,
    ChecksumError,
    DamagedFileError,
    FormatVersionError,
    NotCoveredError,
    VerificationError,
    WrongBoardError,
)
from retro.games.game import Board, Position
from retro.index.keys.keys import Keys
from retro.walk.keys.forecast import forecast
from tablebase.answers import LEVELS, Level
from tablebase.files.seal import ply_name, table_digest
from tablebase.keys.file import KeysFile
from tablebase.keys.format import ALL, OF_SOME_PLIES
from tablebase.keys.store import Page, read_header, read_record
from tablebase.tables import Table

KEPT = range(1, 3)


@pytest.fixture(
    params=[pytest.param(False, marks=pytest.mark.slow), True], ids=["values", "distances"]
)
def distances(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Builds a table that nobody changes when it is first asked for."""
    folder, paths = tmp_path_factory.mktemp("plies"), {}

    def path_of(board: Board, distances: bool, plies: range | None) -> Path:
        key = board, distances, plies
        if key not in paths:
            place = folder / f"{'whole' if plies is None else 'some'}-{distances}"
            paths[key] = tb.build(board, folder=place, plies=plies, distances=distances).path
        return paths[key]

    return path_of


@pytest.fixture
def some(small: Board, distances: bool, built: Callable[..., Path]) -> Iterator[Table]:
    """The table of two plies of a small board."""
    with tb.open_tablebase(built(small, distances, KEPT)) as table:
        yield table


@pytest.fixture
def whole(small: Board, distances: bool, built: Callable[..., Path]) -> Iterator[Table]:
    """The table of all plies."""
    with tb.open_tablebase(built(small, distances, None)) as table:
        yield table


def unfinished(board: Board) -> list[tuple[Position, int]]:
    return [(k.position, k.value) for k in every_position(board.start()).values() if not k.is_over]


def digest(path: Path) -> str:
    with tb.open_tablebase(path) as table:
        return table.digest


# What is in it.


def test_it_says_what_it_holds_and_counts_all(some: Table, whole: Table, small: Board) -> None:
    assert some.plies == KEPT
    assert f"plies 1..2, {whole.positions_counted:,} positions" in repr(some)
    assert (some.value, some.has_distances) == (whole.value, whole.has_distances)
    assert [counts.ply for counts in some.counts] == [counts.ply for counts in whole.counts]
    for here, there in zip(some.counts, whole.counts, strict=True):
        digest = there.sha256 if here.ply in KEPT else ""
        assert here == replace(there, sha256=here.sha256)
        assert small.game.index == "two-halves" or here.sha256 == digest
        assert some.record(here.ply) == here
    assert some.digest != whole.digest
    assert some.size < whole.size


def test_what_it_keeps_has_its_values(some: Table, whole: Table, small: Board) -> None:
    for position, value in unfinished(small):
        if position.ply in KEPT:
            assert some.probe_wdl(position) == value
            assert some.get_wdl(position.text) == value
            if some.has_distances:
                assert some.probe_plies(position) == whole.probe_plies(position)
        else:
            with pytest.raises(NotCoveredError, match=f"holds plies 1 to 2, not {position.ply}"):
                some.probe_wdl(position)
            assert some.get_wdl(position, default="none") == "none"
    kept = [position for position, _ in unfinished(small) if position.ply in KEPT]
    states = small.states(kept)
    assert some.probe_many(states).tolist() == whole.probe_many(states).tolist()
    with pytest.raises(NotCoveredError, match="holds plies 1 to 2, not 0"):
        some.probe_many(small.states([*kept, small.start()]))


def test_moves_are_rated_where_all_successors_are_known(
    some: Table, whole: Table, small: Board
) -> None:
    """By the table or by the rules; first by plain code, then, when there are many, by kernels."""
    rated = 0
    while not some.reader.has_kernels or rated < 10:
        for position, _ in unfinished(small):
            after = [position._play(move) for move in position._numbers()]
            if position.ply == KEPT[0] or (
                position.ply == KEPT[-1] and all(successor.is_over() for successor in after)
            ):
                assert some.probe(position) == whole.probe(position)
                rated += 1
            elif position.ply == KEPT[-1]:
                with pytest.raises(NotCoveredError, match="holds plies 1 to 2, not 3"):
                    some.probe(position)


def test_positions_are_listed_and_drawn_of_its_plies(some: Table, small: Board) -> None:
    rng = np.random.default_rng(3)
    for ply in KEPT:
        truth = layer(small.start(), ply)
        assert {p._state: value for p, value in some.positions(ply)} == truth
        assert all(some.random_position(rng, ply)._state in truth for _ in range(20))
    for ply in (KEPT[0] - 1, KEPT[-1] + 1):
        with pytest.raises(NotCoveredError, match=f"holds plies 1 to 2, not {ply}"):
            list(some.positions(ply))
        with pytest.raises(NotCoveredError, match=f"holds plies 1 to 2, not {ply}"):
            some.random_position(rng, ply)


def test_the_oracle_searches_what_the_table_does_not_keep(
    some: Table, whole: Table, small: Board
) -> None:
    with (
        tb.oracle(small, folder=Path(str(some.path)).parent, memory="1M") as asked,
        tb.oracle(small, folder=Path("nowhere"), memory="1M") as by_search,
    ):
        assert [table.path for table in asked.tables] == [some.path]
        for position, value in unfinished(small)[::5]:
            found = asked.solve(position)
            assert found.value == value
            assert found.source == ("table" if position.ply in KEPT else "search")
            assert asked.covers(position) == (position.ply in KEPT)
            assert asked.probe(position).moves == whole.probe(position).moves or (
                some.has_distances and position.ply not in KEPT[:1]
            )
            assert asked.analyse(position).moves == by_search.analyse(position).moves
            assert asked.best_line(position).moves == by_search.best_line(position).moves
        states = small.states(position for position, _ in unfinished(small))
        assert asked.probe_many(states).tolist() == whole.probe_many(states).tolist()


# Building it.


def test_the_same_plies_are_there_and_others_are_refused(
    small: Board, tmp_path: Path, whole: Table, distances: bool
) -> None:
    end, of_all = whole.counts[-1].ply, tb.plan(small)
    for plies in (range(1), KEPT, range(end, end + 1)):
        path = tmp_path / f"{plies.start}-{plies.stop}.h5"
        plan = tb.plan(small, plies=plies)
        assert plan.positions <= of_all.positions
        assert plan.disk <= of_all.disk
        assert not tb.build(small, path, plies=plies, distances=distances).was_there
        assert tb.build(small, path, plies=plies).was_there
        with tb.open_tablebase(path) as table:
            assert table.plies == plies
            for level in LEVELS if plies == KEPT else ("full",):
                assert tb.verify(table, level).plies == (len(plies) if level != "spot" else 0)
            classes = sum(1 for ply in plies for _ in table.positions(ply, canonical=True))
            assert classes <= tb.verify(table, solver=True).solver
        for other in (None, range(1, 2)):
            with pytest.raises(WrongBoardError, match=r"holds plies .*, not .*; choose another"):
                tb.build(small, path, plies=other)
    with pytest.raises(WrongBoardError, match=r"holds plies 0\.\..*, not 1\.\.2"):
        tb.build(small, Path(str(whole.path)), plies=KEPT)


def test_all_plies_are_the_whole_table(
    small: Board, whole: Table, tmp_path: Path, distances: bool
) -> None:
    """Also the last ones of a board on which play ends earlier."""
    plies = range(small.last_ply + 1)
    path = tb.build(small, tmp_path / "all.h5", plies=plies, distances=distances).path
    assert digest(path) == whole.digest
    assert tb.build(small, Path(str(whole.path)), plies=plies).was_there
    late = tb.build(small, tmp_path / "late.h5", plies=plies[2:]).path
    with tb.open_tablebase(late) as table:
        assert table.plies == range(2, whole.counts[-1].ply + 1)
        tb.verify(table, "full")


@pytest.mark.parametrize("wrong", [range(3, 3), range(-1, 2), range(2, 999), range(0, 4, 2)])
def test_plies_that_a_board_does_not_have_are_refused(
    small: Board, tmp_path: Path, wrong: range
) -> None:
    for ask in (tb.plan, tb.build):
        with pytest.raises(BadTextError, match=r"found plies .*, wanted some of 0\.\."):
            ask(small, plies=wrong)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_kept_of_plies_behind_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the plan if it knows, else by the build when it has come there."""
    refused = r"found plies 6\.\.6, wanted some of 0\.\.5: play ends there"
    board = tb.board("mnk 2x3 connect=2")
    with pytest.raises(BadTextError, match=refused):
        tb.plan(board, plies=range(6, 7))
    monkeypatch.setattr("tablebase.building.keys.plan.forecast", partial(forecast, most_edges=9))
    with pytest.raises(BadTextError, match=refused):
        tb.build(board, tmp_path / "t.h5", plies=range(6, 7))
    assert list(tmp_path.iterdir()) == []


class Stop(Exception):
    """The build dies here."""


@pytest.mark.parametrize("ply", [0, 2, 3])
def test_a_build_goes_on(
    small: Board, some: Table, tmp_path: Path, distances: bool, ply: int
) -> None:
    path = tmp_path / "again.h5"

    def stop(progress: tb.Progress) -> None:
        if (progress.phase, progress.ply) == ("backward", ply):
            raise Stop

    with pytest.raises(Stop):
        tb.build(small, path, plies=KEPT, distances=distances, report=stop)
    assert not path.exists()
    tb.build(small, path, plies=KEPT, distances=distances)
    assert digest(path) == some.digest


def test_a_root_and_some_plies(small: Board, tmp_path: Path) -> None:
    move = small.start()._numbers()[0]
    root = small.start()._play(move)
    known = every_position(root)
    path = tb.build(small, tmp_path / "t.h5", root=root, plies=range(2, 4)).path
    with tb.open_tablebase(path) as table:
        assert (table.root, table.plies, table.counts[0].ply) == (root, range(2, 4), 1)
        for this in known.values():
            if not this.is_over:
                found = table.get_wdl(this.position)
                assert found == (this.value if this.position.ply in (2, 3) else None)
        for level in LEVELS:
            tb.verify(table, level)
    with pytest.raises(BadTextError, match=r"wanted some of 1\.\."):
        tb.build(small, tmp_path / "u.h5", root=root, plies=range(2))


# What is wrong with it is found. (Connect Four's: `test_verify`, `test_build`.)


@pytest.fixture
def copy(some: Table, tmp_path: Path) -> Path:
    if some.index != "sorted-keys":
        pytest.skip("another index")
    return Path(shutil.copy(str(some.path), tmp_path / "copy.h5"))


def seal(path: Path) -> None:
    """Give a file that was changed the digest that fits."""
    with h5py.File(path, "r+") as file:
        header = read_header(file, path)
        last = int(file.attrs["last_ply"])
        records = [
            read_record(ply, file[ply_name(ply)].attrs) for ply in range(header.first_ply, last + 1)
        ]
        digest = table_digest(header, int(file.attrs["value"]), records)
        file.attrs["digest"] = np.bytes_(digest)


def stored_layers(table: Table) -> dict[int, Page]:
    """The layers that a table keeps."""
    assert isinstance(table.reader, KeysFile)
    return {ply: table.reader.stored(ply) for ply in KEPT}


@pytest.mark.parametrize("ply", KEPT)
def test_full_finds_every_wrong_value(
    copy: Path, ply: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the last ply, too, whose successors are not kept."""
    with tb.open_tablebase(copy) as table:
        layers = stored_layers(table)
        truth = layers[ply]
        others = {int(value) for value in truth.values} | {1, -1} if len(truth.values) else set()
        monkeypatch.setattr("tablebase.keys.check._check_layers", lambda *_: None)
        for place in range(truth.keys.size):
            values = truth.values.copy()
            values[place] = min(others - {int(values[place])})
            planted = {**layers, ply: truth._replace(values=values)}
            monkeypatch.setattr(table.reader, "stored", planted.__getitem__)
            with pytest.raises(VerificationError, match=f"ply {ply} holds .* its successors say"):
                tb.verify(table, "full")


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_finds_a_key_that_is_not_there(
    copy: Path, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tb.open_tablebase(copy) as table:
        layers = stored_layers(table)
        keys, values = layers[2]
        less = Page(Keys(keys.a[1:], keys.b[1:]), values[1:])
        monkeypatch.setattr(table.reader, "stored", {**layers, 2: less}.__getitem__)
        with pytest.raises(VerificationError, match="ply 2"):
            tb.verify(table, level, counts=level == "spot")  # the others count anyway


@pytest.mark.parametrize("ply", [0, 3])
def test_counts_of_plies_without_values_are_checked(copy: Path, ply: int) -> None:
    """Quick counts positions; whose they are takes values, which full finds again."""
    with h5py.File(copy, "r+") as file:
        attributes = file[ply_name(ply)].attrs
        less = max(("win", "draw", "loss"), key=lambda name: int(attributes[name]))
        more, value = ("loss", -1) if less == "win" else ("win", 1)
        for prefix in ("", "canonical_"):
            attributes[prefix + less] = int(attributes[prefix + less]) - 1
            attributes[prefix + more] = int(attributes[prefix + more]) + 1
        if ply == 0:
            file.attrs["value"] = np.int64(value)
    with pytest.raises(ChecksumError, match="header or counts"):
        KeysFile(copy)
    seal(copy)
    tb.verify(copy, "quick")
    with pytest.raises(VerificationError, match=f"ply {ply} has values with other counts"):
        tb.verify(copy, "full")


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        ({"first_kept": 3, "last_kept": 2}, "plies 3..2 are kept"),
        ({"first_kept": -1, "last_kept": 2}, "plies -1..2 are kept"),
        ({"first_kept": 1, "last_kept": 99}, "plies 1..99 are kept"),
        ({"first_kept": 0}, "ply-00/a is not there"),
        ({"last_kept": 3}, "ply-03/a is not there|ply 3 has no digest"),
    ],
)
def test_plies_that_cannot_be_are_damage(copy: Path, names: dict[str, int], refused: str) -> None:
    with h5py.File(copy, "r+") as file:
        for name, value in names.items():
            file.attrs[name] = np.int64(value)
    seal(copy)
    with pytest.raises(DamagedFileError, match=f"{refused}|ply 0 has no digest"):
        tb.open_tablebase(copy)


def test_a_version_and_what_it_stands_for_go_together(copy: Path) -> None:
    with h5py.File(copy, "r+") as file:
        assert int(file.attrs["format_version"]) == OF_SOME_PLIES
        file.attrs["format_version"] = np.int64(1)
    with pytest.raises(FormatVersionError, match=r"has version 1 and says .*: that is version 3"):
        tb.open_tablebase(copy)
    with h5py.File(copy, "r+") as file:
        file.attrs["format_version"] = np.int64(OF_SOME_PLIES)
        del file.attrs["first_kept"], file.attrs["last_kept"]
    with pytest.raises(FormatVersionError, match=f"kept plies {ALL}..{ALL}: that is version"):
        tb.open_tablebase(copy)
    with h5py.File(copy, "r+") as file:
        file.attrs["format_version"] = np.int64(OF_SOME_PLIES + 1)
    with pytest.raises(FormatVersionError, match="of version 4; wanted 'sorted-keys' of version"):
        tb.open_tablebase(copy)
