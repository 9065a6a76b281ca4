"""Verification finds planted faults: each is caught at the level that promises to."""

import shutil
from collections.abc import Callable
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np
import pytest

from retro.errors import ChecksumError, DamagedFileError, VerificationError
from retro.games.connect import Board, Position
from retro.games.connect_bits import geometry
from retro.index.enumerate import stretch_positions, stretches
from retro.index.ranking import rank_position
from tablebase.build import build_tablebase
from tablebase.cross_check import cross_check
from tablebase.format import COUNT_NAMES, PLANES, PlyRecord, ply_name, table_digest
from tablebase.probe import open_tablebase
from tablebase.store import TableFile, digest_values
from tablebase.verify import Level, plain_search, verify

assert hdf5plugin  # registers the zstd filter
BOARD = Board(4, 4)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "sound.h5"
    build_tablebase(BOARD, path)
    return path


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sound, tmp_path / "copy.h5"))


def check(path: Path, level: Level) -> None:
    with open_tablebase(path) as table:
        verify(table, level)


def forge(path: Path, change: Callable[[h5py.File], None]) -> None:
    """Change a table and make every digest fit again: the work of a wrong program, not of decay."""
    with TableFile(path) as table:
        header = table.header
    with h5py.File(path, "r+") as file:
        change(file)
        records = []
        for ply in header.plies:
            group = file[ply_name(ply)]
            group.attrs["sha256"] = digest_values(np.stack([group[name][:] for name in PLANES]))
            counts = {name: int(group.attrs[name]) for name in COUNT_NAMES}
            records.append(PlyRecord(ply=ply, **counts, sha256=group.attrs["sha256"]))
        file.attrs["digest"] = table_digest(header, int(file.attrs["value"]), records)


def flip(path: Path, ply: int, plane: str, rank: int) -> None:
    """Flip one bit of a plane, digests and all."""

    def change(file: h5py.File) -> None:
        dataset = file[ply_name(ply)][plane]
        words = dataset[:]
        words[rank // 64] ^= np.uint64(1) << np.uint64(rank % 64)
        dataset[:] = words

    forge(path, change)


@pytest.mark.parametrize("level", ["quick", "sample", "full"])
def test_a_sound_table_passes(sound: Path, level: Level) -> None:
    check(sound, level)


def test_forging_nothing_changes_nothing(copy: Path) -> None:
    forge(copy, lambda file: None)
    check(copy, "full")


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize("ply", range(BOARD.cells + 1))
def test_a_flipped_byte_in_each_dataset_fails_its_checksum(
    copy: Path, ply: int, plane: str
) -> None:
    with h5py.File(copy, "r") as file:
        chunk = file[ply_name(ply)][plane].id.get_chunk_info(0)
    content = bytearray(copy.read_bytes())
    content[chunk.byte_offset + chunk.size // 2] ^= 0x10
    copy.write_bytes(content)
    with pytest.raises(ChecksumError, match=r"copy\.h5"):
        check(copy, "quick")


def test_a_forged_value_of_a_reachable_position_changes_the_counts(copy: Path) -> None:
    with open_tablebase(copy) as table:
        position = table.random_position(np.random.default_rng(5), 9)
        place = rank_position(table.layout, position)
    plane = {1: "win", -1: "loss", 0: "win"}[value_of(copy, position)]
    flip(copy, 9, plane, place.rank)
    with pytest.raises(VerificationError, match="ply 9 counts"):
        check(copy, "quick")


def test_every_forged_bit_of_a_ply_is_found_by_the_full_check(sound: Path, copy: Path) -> None:
    """Even of positions that no game reaches: quick cannot see those, full must."""
    ply = 6
    with open_tablebase(sound) as table:
        layout = table.layout
        listed = [stretch_positions(layout, stretch) for stretch in stretches(layout, ply)]
    seen = 0
    for positions in listed:
        for first, second, rank in list(zip(*positions, strict=True))[::40]:
            position = Position(BOARD, int(first), int(second))
            if position.winner() is None:
                shutil.copy(sound, copy)
                flip(copy, ply, "loss" if value_of(sound, position) == -1 else "win", int(rank))
                with pytest.raises(VerificationError, match=f"ply {ply}"):
                    check(copy, "full")
                seen += 1
    assert seen > 10


def test_a_consistent_lie_about_many_values_is_found_by_the_sample(copy: Path) -> None:
    def swap_wins_and_losses(file: h5py.File) -> None:
        group = file[ply_name(10)]
        win, loss = group["win"][:], group["loss"][:]
        group["win"][:], group["loss"][:] = loss, win
        won, terminal = int(group.attrs["win"]), int(group.attrs["terminal"])
        group.attrs["win"] = int(group.attrs["loss"]) - terminal
        group.attrs["loss"] = won + terminal

    forge(copy, swap_wins_and_losses)
    check(copy, "quick")  # the counts fit: quick is not meant to see this
    with pytest.raises(VerificationError, match="successors say"):
        check(copy, "sample")
    with pytest.raises(VerificationError, match="successors say"):
        check(copy, "full")


def test_a_lie_about_one_value_is_found_by_the_solver(copy: Path) -> None:
    with open_tablebase(copy) as table:
        position = table.random_position(np.random.default_rng(6), 8)
        place = rank_position(table.layout, position)
    flip(copy, 8, "loss" if value_of(copy, position) == -1 else "win", place.rank)
    with open_tablebase(copy) as table, pytest.raises(VerificationError, match="the solver finds"):
        cross_check(table)


def test_larger_tables_are_compared_with_the_solver_by_samples(
    built_5x5: object, table_folder: Path
) -> None:
    with open_tablebase(table_folder / "connect4-5x5.h5") as table:
        assert cross_check(table) > 4_000


@pytest.mark.parametrize("name", COUNT_NAMES)
def test_a_wrong_count_does_not_have_its_digest(copy: Path, name: str) -> None:
    with h5py.File(copy, "r+") as file:
        file[ply_name(7)].attrs[name] = int(file[ply_name(7)].attrs[name]) + 1
    with pytest.raises(ChecksumError, match="counts"):
        check(copy, "quick")


@pytest.mark.parametrize("name", COUNT_NAMES)
def test_a_wrong_count_with_fitting_digests_is_found(copy: Path, name: str) -> None:
    def change(file: h5py.File) -> None:
        file[ply_name(7)].attrs[name] = int(file[ply_name(7)].attrs[name]) + 1

    forge(copy, change)
    with pytest.raises(VerificationError, match=f"ply 7 counts {name}"):
        check(copy, "quick")


def swap_plies(file: h5py.File) -> None:
    file.move(ply_name(8), "aside")
    file.move(ply_name(9), ply_name(8))
    file.move("aside", ply_name(9))


def test_swapped_plies_do_not_have_their_digest(copy: Path) -> None:
    with h5py.File(copy, "r+") as file:
        swap_plies(file)
    with pytest.raises(ChecksumError):
        check(copy, "quick")


def test_swapped_plies_with_fitting_digests_have_the_wrong_size(copy: Path) -> None:
    forge(copy, swap_plies)
    with pytest.raises(ChecksumError, match="words"):
        check(copy, "quick")


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_table_is_damaged(copy: Path, part: float) -> None:
    content = copy.read_bytes()
    copy.write_bytes(content[: int(len(content) * part)])
    with pytest.raises(DamagedFileError):
        check(copy, "quick")


def test_the_plain_search_knows_the_small_boards() -> None:
    for board, value in ((Board(4, 3, 3), 1), (Board(3, 3, 3), 0), (Board(2, 2, 2), 1)):
        assert plain_search(geometry(board), np.uint64(0), np.uint64(0)) == value


def value_of(path: Path, position: Position) -> int:
    with open_tablebase(path) as table:
        return table.probe_wdl(position)
