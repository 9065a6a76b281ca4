"""Verification finds planted faults: each is caught at the level that promises to."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest

from retro.errors import ChecksumError, DamagedFileError, DoesNotFitError, VerificationError
from retro.games.connect4.bits import geometry
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.index.halves.listing import stretch_positions, stretches
from retro.index.halves.ranking import rank_position
from tablebase.answers import COUNT_NAMES, LEVELS, Level
from tablebase.building.build import build
from tablebase.checks import verify
from tablebase.files.seal import ply_name, table_digest
from tablebase.halves.check import plain_search
from tablebase.halves.chunks import digest_chunk
from tablebase.halves.format import CHUNK_WORDS, PLANES, PlyRecord, plane_digest
from tablebase.halves.store import TableFile
from tablebase.oracles import Oracle
from tablebase.tables import open_tablebase

BOARD = Connect4Board(4, 4)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "sound.h5"
    build(BOARD, path)
    return path


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sound, tmp_path / "copy.h5"))


@pytest.mark.parametrize("level", ["spot", "quick", "sample"])
def test_a_giant_is_checked_without_walking_it(
    sound: Path, monkeypatch: pytest.MonkeyPatch, level: Level
) -> None:
    """Nothing of it is in memory at once but a chunk: neither planes nor layers."""
    counted = (BOARD.cells + 1) * (level != "spot")
    assert verify(sound, level).counted == counted
    monkeypatch.delattr("tablebase.halves.check.prepare_layout")
    monkeypatch.delattr("tablebase.halves.store.TableFile.read_checked")
    monkeypatch.setattr("tablebase.halves.check.MOST_COUNTED", 0)
    found = verify(sound, level)
    assert (found.plies, found.counted) == (counted, 0)
    assert bool(found.positions) == (level != "quick")


@pytest.mark.hdf5
@pytest.mark.parametrize("level", ["spot", "quick"])
def test_a_giant_is_counted_on_request(
    copy: Path, monkeypatch: pytest.MonkeyPatch, level: Level
) -> None:
    monkeypatch.setattr("tablebase.halves.check.MOST_COUNTED", 0)
    told: list[int] = []
    done = verify(copy, level, counts=True, report=lambda what, ply, *_: told.append(ply))
    assert done.counted == BOARD.cells + 1
    assert set(told) == set(range(BOARD.cells + 1))
    with h5py.File(copy, "r") as file:
        before = int(file[ply_name(9)].attrs["positions"])

    def one_more(file: h5py.File) -> None:
        for name in ("positions", "loss"):
            file[ply_name(9)].attrs[name] = int(file[ply_name(9)].attrs[name]) + 1

    forge(copy, one_more)
    assert verify(copy, level).counted == 0
    with pytest.raises(VerificationError, match=f"positions {before + 1:,}, but there are"):
        verify(copy, level, counts=True)


def test_how_much_is_checked_is_told_chunk_by_chunk(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablebase.halves.check.PIECE", 1)
    told: list[tuple[str, int, float]] = []
    verify(copy, "quick", report=lambda what, ply, share=0.0: told.append((what, ply, share)))
    shares = [share for what, _, share in told if what == "quick"]
    with TableFile(copy) as file:
        chunks = sum(map(file.chunks, file.header.plies))
    assert shares == sorted(shares)
    assert (shares[0], shares[-1], len(set(shares))) == (0.0, 1.0, chunks + 1)


@pytest.mark.hdf5
def test_a_spot_check_reads_what_it_asks_for_and_finds_a_lie(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flipped value is found by positions; what no position asks for is not read."""
    position, rank = quiet_position(copy, 6, seed=1)
    assert position.ply == 6
    flip(copy, 6, "win", rank)
    monkeypatch.setattr("tablebase.halves.check.SAMPLES_PER_PLY", 5_000)
    with pytest.raises(VerificationError, match="its successors say"):
        check(copy, "spot")
    monkeypatch.delattr("tablebase.halves.store.TableFile.chunk_checked")
    monkeypatch.setattr("tablebase.halves.check.SAMPLES_PER_PLY", 0)
    check(copy, "spot")


def check(path: Path, level: Level) -> None:
    verify(path, level)


def forge(path: Path, change: Callable[[h5py.File], None]) -> None:
    """Change a table and make every digest fit again: the work of a wrong program, not of decay."""
    with TableFile(path) as table:
        header = table.header
    with h5py.File(path, "r+") as file:
        change(file)
        records = []
        for ply in header.counted_plies:
            group = file[ply_name(ply)]
            if ply in header.plies:
                planes = np.stack([group[name][:] for name in PLANES])
                starts = range(0, planes.shape[1], CHUNK_WORDS)
                digests = [digest_chunk(planes[:, at : at + CHUNK_WORDS]) for at in starts]
                group.attrs["sha256"] = np.bytes_(plane_digest(digests))
            counts = {name: int(group.attrs[name]) for name in COUNT_NAMES}
            sha256 = bytes(group.attrs["sha256"]).decode()
            records.append(PlyRecord(ply=ply, **counts, sha256=sha256))
        file.attrs["digest"] = table_digest(header, int(file.attrs["value"]), records)


def flip(path: Path, ply: int, plane: str, rank: int) -> None:
    """Flip one bit of a plane, digests and all."""

    def change(file: h5py.File) -> None:
        dataset = file[ply_name(ply)][plane]
        words = dataset[:]
        words[rank // 64] ^= np.uint64(1) << np.uint64(rank % 64)
        dataset[:] = words

    forge(path, change)


@pytest.mark.parametrize("level", LEVELS)
def test_a_sound_table_passes(sound: Path, level: Level) -> None:
    check(sound, level)


@pytest.mark.hdf5
def test_forging_nothing_changes_nothing(copy: Path) -> None:
    forge(copy, lambda file: None)
    check(copy, "full")


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize("ply", range(BOARD.cells + 1))
def test_a_flipped_byte_in_each_dataset_fails_its_checksum(
    copy: Path, ply: int, plane: str
) -> None:
    with h5py.File(copy, "r") as file:
        dataset = file[ply_name(ply)][plane].id
        if not dataset.get_num_chunks():
            assert not file[ply_name(ply)][plane][:].any()  # nothing there to damage
            return
        chunk = dataset.get_chunk_info(0)
    content = bytearray(copy.read_bytes())
    content[chunk.byte_offset + chunk.size // 2] ^= 0x10
    copy.write_bytes(content)
    with pytest.raises(ChecksumError, match=r"copy\.h5"):
        check(copy, "quick")


def quiet_position(path: Path, ply: int, seed: int) -> tuple[Connect4Position, int]:
    """A random position that the file has a value for, and its rank."""
    with open_tablebase(path) as table:
        rng = np.random.default_rng(seed)
        while True:
            position = table.random_position(rng, ply)
            if not decided_at_a_look(position):
                return position, rank_position(table.reader.layout, position).rank


def decided_at_a_look(position: Connect4Position) -> bool:
    board = position.board
    cells = [
        board.bit(c, position.height(c))
        for c in range(board.width)
        if position.height(c) < board.height
    ]
    sides = (position.first, position.second)
    return any(board.has_line(stones | cell) for stones in sides for cell in cells)


@pytest.mark.hdf5
def test_a_value_where_a_look_decides_is_found_by_the_full_check(copy: Path) -> None:
    with open_tablebase(copy) as table:
        rng = np.random.default_rng(5)
        position = table.random_position(rng, 9)
        while not decided_at_a_look(position):
            position = table.random_position(rng, 9)
        rank = rank_position(table.reader.layout, position).rank
    flip(copy, 9, "win", rank)
    with pytest.raises(VerificationError, match="blank"):
        check(copy, "full")


@pytest.mark.hdf5
@pytest.mark.parametrize("number", [8, pytest.param(400, marks=pytest.mark.slow)])
def test_every_forged_bit_of_a_ply_is_found_by_the_full_check(
    sound: Path, copy: Path, number: int
) -> None:
    """Even of positions that no game reaches: quick cannot see those, full must."""
    ply = 6
    with open_tablebase(sound) as table:
        layout = table.reader.layout
        listed = [stretch_positions(layout, stretch) for stretch in stretches(layout, ply)]
    places = [place for positions in listed for place in zip(*positions, strict=True)]
    seen = 0
    for first, second, rank in places[:: len(places) // number]:
        position = Connect4Position(BOARD, int(first), int(second))
        if position.winner() is None:
            shutil.copy(sound, copy)
            is_lost = not decided_at_a_look(position) and value_of(sound, position) == -1
            flip(copy, ply, "loss" if is_lost else "win", int(rank))
            with pytest.raises(VerificationError, match=f"ply {ply}"):
                check(copy, "full")
            seen += 1
    assert seen > number / 2


@pytest.mark.hdf5
def test_a_consistent_lie_about_many_values_is_found_by_the_sample(copy: Path) -> None:
    def swap_wins_and_losses(file: h5py.File) -> None:
        group = file[ply_name(10)]
        win, loss = group["win"][:], group["loss"][:]
        group["win"][:], group["loss"][:] = loss, win

    forge(copy, swap_wins_and_losses)
    check(copy, "quick")  # digests and legal positions fit: quick is not meant to see this
    with pytest.raises(VerificationError, match="successors say"):
        check(copy, "sample")
    with pytest.raises(VerificationError, match="successors say"):
        check(copy, "full")


@pytest.mark.hdf5
def test_a_lie_about_one_value_is_found_by_the_solver(copy: Path) -> None:
    position, rank = quiet_position(copy, 8, seed=6)
    flip(copy, 8, "loss" if value_of(copy, position) == -1 else "win", rank)
    with open_tablebase(copy) as table, pytest.raises(VerificationError, match="the solver finds"):
        verify(table, solver=True)


def test_a_distance_that_cannot_be_is_told_with_its_position(
    sound: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablebase.halves.cross_check.plies_of", lambda *_: 1000)
    with (
        open_tablebase(sound) as table,
        pytest.raises(VerificationError, match="1000 plies to the end, for the side to move:\n"),
    ):
        verify(table, solver=True)


def test_the_last_ply_of_a_table_of_some_plies_is_compared_with_the_solver(tmp_path: Path) -> None:
    path = build(BOARD, tmp_path / "table.h5", plies=range(3, 7)).path
    with open_tablebase(path) as table:
        live = sum(record.positions - record.terminal for record in table.counts[3:7])
        assert verify(table, solver=True).solver == live


def test_larger_tables_are_compared_with_the_solver_by_samples(
    built_5x5: object, table_folder: Path
) -> None:
    with open_tablebase(table_folder / "connect4-5x5.h5") as table:
        assert verify(table, solver=True).solver > 4_000


@pytest.mark.parametrize("name", COUNT_NAMES)
def test_a_wrong_count_does_not_have_its_digest(copy: Path, name: str) -> None:
    with h5py.File(copy, "r+") as file:
        file[ply_name(7)].attrs[name] = int(file[ply_name(7)].attrs[name]) + 1
    with pytest.raises(ChecksumError, match="counts"):
        check(copy, "quick")


@pytest.mark.hdf5
@pytest.mark.parametrize("name", ["positions", "win", "draw", "loss"])
def test_counts_that_do_not_add_up_are_refused_at_opening(copy: Path, name: str) -> None:
    forge(copy, partial(count_one_more, names=[name]))
    with pytest.raises(DamagedFileError, match="ply 7 has impossible counts"):
        check(copy, "quick")


@pytest.mark.hdf5
@pytest.mark.parametrize(
    "names", [["positions", "win"], ["positions", "draw"], ["positions", "loss"], ["terminal"]]
)
def test_a_wrong_count_with_fitting_digests_is_found(copy: Path, names: list[str]) -> None:
    forge(copy, partial(count_one_more, names=names))
    with pytest.raises(VerificationError, match="ply 7 counts"):
        check(copy, "quick")


def count_one_more(file: h5py.File, names: list[str]) -> None:
    for name in names:
        file[ply_name(7)].attrs[name] = int(file[ply_name(7)].attrs[name]) + 1


@pytest.mark.hdf5
@pytest.mark.parametrize(("less", "more"), [("win", "loss"), ("draw", "win"), ("loss", "draw")])
def test_wrong_counts_that_add_up_are_found_by_the_full_check(
    copy: Path, less: str, more: str
) -> None:
    def change(file: h5py.File) -> None:
        file[ply_name(7)].attrs[less] = int(file[ply_name(7)].attrs[less]) - 1
        file[ply_name(7)].attrs[more] = int(file[ply_name(7)].attrs[more]) + 1

    forge(copy, change)
    check(copy, "quick")
    with pytest.raises(VerificationError, match="ply 7 counts"):
        check(copy, "full")


@pytest.mark.hdf5
@pytest.mark.parametrize("plies", [range(5), range(6, 11), range(16, 17)])
def test_a_table_of_some_plies_is_checked_in_full(tmp_path: Path, plies: range) -> None:
    path = build(BOARD, tmp_path / "table.h5", plies=plies).path
    for level in ("quick", "sample", "full"):
        check(path, level)
    if plies.stop < 17:
        flip_some(path, plies[-1])
        with pytest.raises(VerificationError, match="successors say"):
            check(path, "full")


def flip_some(path: Path, ply: int) -> None:
    """Flip a bit of a position that is not finished, whether or not a look decides it."""
    with open_tablebase(path) as table:
        position = table.random_position(np.random.default_rng(4), ply)
        value, rank = table.probe_wdl(position), rank_position(table.reader.layout, position).rank
    flip(path, ply, "loss" if value == -1 else "win", rank)


def swap_plies(file: h5py.File) -> None:
    file.move(ply_name(8), "aside")
    file.move(ply_name(9), ply_name(8))
    file.move("aside", ply_name(9))


def test_swapped_plies_do_not_have_their_digest(copy: Path) -> None:
    with h5py.File(copy, "r+") as file:
        swap_plies(file)
    with pytest.raises(ChecksumError):
        check(copy, "quick")


@pytest.mark.hdf5
def test_swapped_plies_with_fitting_digests_have_the_wrong_size(copy: Path) -> None:
    forge(copy, swap_plies)
    with pytest.raises(DamagedFileError, match="words"):
        check(copy, "quick")


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_table_is_damaged(copy: Path, part: float) -> None:
    content = copy.read_bytes()
    copy.write_bytes(content[: int(len(content) * part)])
    with pytest.raises(DamagedFileError):
        check(copy, "quick")


def test_a_full_check_that_does_not_fit_is_refused_at_once(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablebase.halves.check.available_memory", lambda: 10_000)
    asked: list[str] = []
    with pytest.raises(DoesNotFitError, match=r"level full takes .* of memory, 10 kB are free"):
        verify(copy, "full", report=lambda what, *_: asked.append(what))
    assert asked == []
    assert verify(copy, "sample").positions > 0


def test_the_plain_search_knows_the_small_boards() -> None:
    for sizes, value in (((4, 3, 3), 1), ((3, 3, 3), 0), ((2, 2, 2), 1)):
        board = Connect4Board(*sizes)
        assert plain_search(geometry(board), np.uint64(0), np.uint64(0)) == value


def value_of(path: Path, position: Connect4Position) -> int:
    with open_tablebase(path) as table:
        return table.probe_wdl(position)


@pytest.mark.hdf5
def test_a_table_that_lies_is_an_error_by_name_or_harmless(copy: Path) -> None:
    """A line needs a move that keeps what the table says; a lie may leave none."""
    found = set()
    for ply, moves in enumerate(["", "2", "22", "221"]):
        position = BOARD.position(moves)
        with open_tablebase(copy) as table:
            rank = rank_position(table.reader.layout, position).rank
        for plane in PLANES:
            flip(copy, ply, plane, rank)
            with Oracle(BOARD, [open_tablebase(copy)], memory="1M") as oracle:
                for ask in (oracle.best_line, oracle.analyse, oracle.best_move):
                    try:
                        ask(position)
                    except VerificationError as error:
                        found.add((moves, "contradicts the rules" in str(error)))
            flip(copy, ply, plane, rank)
    assert found == {("", True), ("2", True), ("22", True), ("221", True)}
