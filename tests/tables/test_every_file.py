"""Files that are no tables, or not the one that was asked for: named errors, alike in every game.

Damage is never taken for absence: every byte of a table matters or does no harm.
"""

import re
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
from catalogue_cases import build_small, small_board
from plain.recursion import every_position, layer

import tablebase as tb
from retro.errors import (
    ChecksumError,
    DamagedFileError,
    FormatVersionError,
    IncompleteTableError,
    MissingTableError,
    TablebaseError,
    WrongBoardError,
)
from retro.games.catalogue import NAMES
from retro.games.game import Board
from tablebase.files.places import build_command, table_path

# Connect Four's planes and other games' values: what damage to the answers of a ply hits.
DATASETS = {"two-halves": ("win", "loss"), "sorted-keys": ("values",)}


# One game of each index and width of keys; the others have the same files.
FEW = ("connect4", "mnk", "quarto")


@pytest.fixture(
    scope="session",
    params=[pytest.param(name, marks=[pytest.mark.slow] * (name not in FEW)) for name in NAMES],
)
def small(request: pytest.FixtureRequest, small_folder: Path) -> Board:
    """The small board of a game, its table built in `small_folder`."""
    return build_small(request.param, small_folder)


@pytest.fixture
def path(small: Board, small_folder: Path, tmp_path: Path) -> Path:
    """A copy of a game's small table that a test may break, in a folder of its own."""
    return Path(shutil.copy(table_path(small.start(), small_folder), tmp_path))


def set_attribute(path: Path, name: str, value: object) -> None:
    with h5py.File(path, "r+") as file:
        if value is None:
            del file.attrs[name]
        else:
            file.attrs[name] = np.bytes_(value) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("format", "something", DamagedFileError),
        ("format_version", 99, FormatVersionError),
        ("format_version", 0, FormatVersionError),
        ("game", "gomoku", (FormatVersionError, DamagedFileError)),
        ("index", "hashed", FormatVersionError),
        ("index", None, DamagedFileError),
        ("metric", "dtw", FormatVersionError),
        ("value", 7, ChecksumError),
        ("value", None, DamagedFileError),
        ("digest", None, DamagedFileError),
        ("digest", "0" * 64, ChecksumError),
        ("root", "?", (ChecksumError, DamagedFileError)),
        ("first_ply", None, DamagedFileError),
        ("first_ply", 1, ChecksumError),
        ("last_ply", 99, (ChecksumError, DamagedFileError)),
        ("finished", None, IncompleteTableError),
        ("finished", 0, IncompleteTableError),
    ],
)
def test_a_wrong_header_has_its_error(
    small: Board, path: Path, name: str, value: object, error: type[TablebaseError]
) -> None:
    set_attribute(path, name, value)
    for ask in (
        lambda: tb.open_tablebase(path),
        lambda: tb.open_tablebase(small, folder=path.parent),
        lambda: tb.verify(path),
        lambda: tb.oracle(small, folder=path.parent),
    ):
        with pytest.raises(error, match=re.escape(str(path))):
            ask()
    with pytest.raises(error, match="say --force"):
        tb.build(small, folder=path.parent)
    if name == "digest" or small.game_name in ("connect4", "mnk"):  # a game of either index
        assert not tb.build(small, folder=path.parent, force=True).was_there
        tb.verify(path)


def test_no_file_is_a_missing_table_and_names_the_command(small: Board, tmp_path: Path) -> None:
    command = build_command(small.start(), tmp_path)
    for ask in (tb.open_tablebase, tb.verify):
        with pytest.raises(MissingTableError, match=f"build it with: {re.escape(command)}$"):
            ask(small, folder=tmp_path)
        with pytest.raises(MissingTableError, match="no table at"):
            ask(tmp_path / "no.h5")


@pytest.mark.smoke
@pytest.mark.parametrize("content", [b"", b"no HDF5 at all" * 100])
def test_what_is_no_hdf5_file_is_damaged(small: Board, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for ask in (tb.open_tablebase, tb.verify, tb.oracle):
        with pytest.raises(DamagedFileError, match=re.escape(str(path))):
            ask(small, folder=path.parent)


@pytest.mark.parametrize("share", [0.999, 0.9, 0.5, 0.1, 0.01])
def test_a_truncated_table_is_damaged(small: Board, path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(DamagedFileError, match=re.escape(str(path))):
        tb.verify(small, "quick", folder=path.parent)


def test_an_hdf5_file_of_someone_else_is_no_table(small: Board, path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["temperatures"] = [1, 2, 3]
    with pytest.raises(DamagedFileError, match="an HDF5 file, but not a retro-tablebase file"):
        tb.open_tablebase(small, folder=path.parent)


def test_a_missing_ply_is_damage(small: Board, path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file["ply-02"]
    with pytest.raises(DamagedFileError, match="ply-02"):
        tb.open_tablebase(small, folder=path.parent)


def test_the_table_of_another_game_or_board_is_refused(
    small: Board, path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in NAMES:
        other = small_board(name)
        if other == small:
            continue
        folder = tmp_path_factory.mktemp("foreign")
        foreign = Path(shutil.copy(path, table_path(other.start(), folder)))
        wanted = f"{re.escape(str(foreign))} holds {re.escape(small.name)}, not "
        wanted += re.escape(other.name)
        for ask in (tb.open_tablebase, tb.verify, tb.oracle):
            with pytest.raises(WrongBoardError, match=wanted):
                ask(other, folder=folder)
        with pytest.raises(WrongBoardError, match=f"{wanted}; choose another file or say --force"):
            tb.build(other, folder=folder)


def test_the_table_of_another_root_is_refused(
    small: Board, path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = small.start()._play(small.start()._numbers()[0])
    folder = tmp_path_factory.mktemp("roots")
    shutil.copy(path, table_path(root, folder))
    wanted = f"holds {small.name}, not {small.name} from {root.root_text}"
    with pytest.raises(WrongBoardError, match=re.escape(wanted)):
        tb.open_tablebase(small, folder=folder, root=root)


def damage_answers(path: Path, ply: int) -> None:
    """Flip a byte in the middle of every chunk of a ply's answers."""
    with h5py.File(path) as file:
        group = file[f"ply-{ply:02d}"]
        names = DATASETS[bytes(file.attrs["index"]).decode()]
        chunks = [
            group[name].id.get_chunk_info(i)
            for name in names
            for i in range(group[name].id.get_num_chunks())
        ]
    assert chunks
    content = bytearray(path.read_bytes())
    for chunk in chunks:
        content[chunk.byte_offset + chunk.size // 2] ^= 0x10
    path.write_bytes(content)


@pytest.mark.smoke
def test_damage_is_never_taken_for_absence(small: Board, path: Path) -> None:
    """A damaged chunk raises, with a default, too, and never answers wrongly."""
    ply = 2
    damage_answers(path, ply)
    truth = layer(small.start(), ply)
    with tb.open_tablebase(path) as table:
        raised = 0
        for state, value in truth.items():
            position = small.unpack(*state)
            try:
                assert table.get_wdl(position, default="none") == value
            except ChecksumError:
                raised += 1
                for ask in (table.get_wdl, table.probe_wdl, table.probe):
                    with pytest.raises(ChecksumError, match=re.escape(str(path))):
                        ask(position)
        assert raised > len(truth) / 3
        with pytest.raises(ChecksumError):
            table.probe_many(small.states(small.unpack(*state) for state in truth))
        with pytest.raises(ChecksumError):
            list(table.positions(ply))
        for level in ("quick", "sample", "full"):
            with pytest.raises(ChecksumError):
                tb.verify(table, level)
        other = next(k for k in every_position(small.start()).values() if k.position.ply == 1)
        assert table.get_wdl(other.position) == other.value
    with tb.oracle(small, folder=path.parent, memory="1M") as oracle:
        position = next(small.unpack(*s) for s, v in truth.items() if raises(oracle, s))
        for ask in (oracle.probe, oracle.value, oracle.solve):
            with pytest.raises(ChecksumError):
                ask(position)


def raises(oracle: tb.Oracle, state: tuple[int, int]) -> bool:
    """Whether the tables of an oracle are damaged where they hold a state."""
    try:
        oracle.tables[0].probe_wdl(oracle.board.unpack(*state))
    except ChecksumError:
        return True
    return False


def test_a_flipped_byte_anywhere_is_named_or_does_no_harm(small: Board, path: Path) -> None:
    """Either the answers are the same, or the error is one of ours; never a wrong answer."""
    states = small.states(this.position for this in every_position(small.start()).values())
    with tb.open_tablebase(path) as table:
        truth = table.probe_many(states).tolist()
    whole, rng = path.read_bytes(), np.random.default_rng(3)
    harmless = 0
    for _ in range(60):
        content = bytearray(whole)
        content[int(rng.integers(len(content)))] ^= int(rng.integers(1, 256))
        path.write_bytes(content)
        try:
            with tb.open_tablebase(path) as table:
                assert table.probe_many(states).tolist() == truth
            harmless += 1
        except TablebaseError:
            pass
    assert harmless < 60
