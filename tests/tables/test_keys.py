"""Tables of sorted keys: pages, parts, planted faults.

What tables of every game have in common is tried in `test_every_game`.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain.mnk import MnkRules, bitboards, values

import tablebase as tb
from retro.errors import (
    ChecksumError,
    DamagedFileError,
    DoesNotFitError,
    GameOverError,
    IllegalPositionError,
    NotCoveredError,
    VerificationError,
    WrongBoardError,
)
from retro.games.grid import GridPosition
from retro.games.mnk.rules import MnkBoard
from retro.walk.keys.task import Limits
from tablebase.building.keys import join as keys_join
from tablebase.building.keys.tasks import KeysTasks
from tablebase.files.places import table_path
from tablebase.files.seal import table_digest
from tablebase.keys import check as keys_check
from tablebase.keys import file as keys_file
from tablebase.keys import store as keys_store
from tablebase.keys.file import KeysFile
from tablebase.keys.store import pack_values, unpack_values

BOARD = MnkBoard(3, 3, 3)
# 26 cells of 17x2 in an order that makes no three in a line.
SPREAD = [(c, r) for c in "acegikm" for r in (1, 2)] + [(c, r) for c in "bdfhjl" for r in (2, 1)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tb.build(BOARD, folder=tmp_path_factory.mktemp("keys")).path


@pytest.fixture
def path(finished: Path, tmp_path: Path) -> Path:
    """A copy that a test may break."""
    return Path(shutil.copy(finished, tmp_path / finished.name))


def test_every_position_is_answered(finished: Path) -> None:
    game = MnkRules(3, 3, 3)
    with tb.open_tablebase(finished) as table:
        assert table.value == 0
        for text, value in values(game).items():
            position = GridPosition(table.board, *bitboards(game, text))
            if position.is_over():
                with pytest.raises(GameOverError):
                    table.probe_wdl(position)
                continue
            probe = table.probe(position)
            assert probe.value == value
            best = {m.number for m in probe.moves if m.value == value}
            assert best == {m.number for m in probe.best} != set()
            assert [m.value for m in probe.moves] == sorted(m.value for m in probe.moves)[::-1]


def test_many_positions_at_once(finished: Path) -> None:
    game = MnkRules(3, 3, 3)
    with tb.open_tablebase(finished) as table:
        known = [
            (GridPosition(table.board, *bitboards(game, text)), value)
            for text, value in values(game).items()
        ]
        asked = table.board.states(position for position, _ in known)
        assert table.probe_many(asked).tolist() == [value for _, value in known]
        assert table.probe_many(asked.a).tolist() == [value for _, value in known]
        with pytest.raises(IllegalPositionError, match="position 1: impossible counts"):
            table.probe_many(np.array([1, 3], np.uint64))


@pytest.mark.parametrize(("cache_bytes", "reads"), [(1 << 20, 9), (0, 18)])
def test_plies_that_fit_into_the_cache_are_read_once(
    finished: Path, cache_bytes: int, reads: int
) -> None:
    with tb.open_tablebase(finished, cache_bytes=cache_bytes) as table:
        stored, read = table.reader.stored, []
        table.reader.stored = lambda ply: [read.append(ply), stored(ply)][1]
        for _ in range(2):
            for ply in table.plies[:9]:
                states = table.board.states(p for p, _ in table.positions(ply))
                assert table.probe_many(states).size == states.size
                read.remove(ply)  # of the list of positions
        assert len(read) == reads
        assert len(table.reader._layers) == (9 if cache_bytes else 2)


def test_a_key_is_found_on_its_ply_alone(finished: Path) -> None:
    with tb.open_tablebase(finished) as table:
        assert table.reader.find(0, (0, 0)) == 0
        assert table.reader.find(1, (0, 0)) is None
        assert table.reader.find(12, (0, 0)) is None


@pytest.mark.parametrize("level", ["quick", "sample", "full"])
def test_a_sound_table_is_found_sound(finished: Path, level: Any) -> None:
    done = tb.verify(finished, level)
    assert (done.plies, done.positions) == (10, {"quick": 0}.get(level, 627))


def test_every_key_is_a_class(finished: Path) -> None:
    with tb.open_tablebase(finished) as table:
        for record in table.reader.records:
            assert record.keys == record.canonical_positions - record.canonical_terminal
            assert record.keys == len(list(table.positions(record.ply, canonical=True)))


def test_what_play_cannot_reach_is_illegal(finished: Path) -> None:
    with tb.open_tablebase(finished) as table:
        stones = BOARD.bit(0, 0) | BOARD.bit(0, 1)
        for ask in (table.probe_wdl, table.get_wdl):
            with pytest.raises(IllegalPositionError, match="impossible counts"):
                ask(GridPosition(BOARD, stones, 0))


def test_rooted_tables(finished: Path, tmp_path: Path) -> None:
    root = BOARD.position("b2 a1")
    path = tb.build(BOARD, tmp_path / "rooted.h5", root=root).path
    with tb.open_tablebase(finished) as whole, tb.open_tablebase(path) as rooted:
        assert rooted.root == root
        assert rooted.value == whole.probe_wdl(root)
        assert rooted.plies == range(2, 10)
        for ply in rooted.plies:
            for position, value in rooted.positions(ply):
                assert whole.probe_wdl(position) == value
        with pytest.raises(NotCoveredError, match="holds what follows b2 a1; this does not"):
            rooted.probe_wdl("a1 b2 b3 a3")
        assert tb.verify(rooted, "full").positions > 100


@pytest.mark.parametrize(
    ("size", "root"),
    [
        pytest.param("3x3", "", id="one word"),
        pytest.param("4x3", "", id="one word, more pages", marks=pytest.mark.slow),
        pytest.param("17x2", " ".join(f"{c}{r}" for c, r in SPREAD), id="two words"),
    ],
)
def test_many_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: str, root: str) -> None:
    """Small pages, so that a layer has many: every key is found, and none that is not there."""
    for module in (keys_store, keys_file, keys_join):
        monkeypatch.setattr(module, "CHUNK_KEYS", 8)
    path = tb.build(f"mnk {size}", tmp_path / "pages.h5", root=root).path
    with tb.open_tablebase(path) as table:
        reader = table.reader
        assert table.board.rules.words == (2 if root else 1)
        assert max(record.keys for record in reader.records) > 80
        for ply in table.plies:
            keys, values = reader.stored(ply)
            b = keys.b if len(keys.b) else np.zeros(keys.size, np.uint64)
            known = dict(zip(zip(keys.a.tolist(), b.tolist(), strict=True), values, strict=True))
            for state, value in known.items():
                assert reader.find(ply, state) == value
            for state in [
                key for p in table.plies if p != ply for key in reader.stored(p).keys.a[:9]
            ]:
                assert reader.find(ply, (int(state), 0)) is None


class Stop(Exception):
    """The build dies here."""


@pytest.mark.parametrize(("phase", "ply"), [("forward", 3), ("forward", 9), ("backward", 5)])
@pytest.mark.usefixtures("in_files")
def test_an_interrupted_build_goes_on(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str, ply: int
) -> None:
    path = tmp_path / finished.name

    def stop(progress: tb.Progress) -> None:
        if (progress.phase, progress.ply) == (phase, ply):
            raise Stop

    with pytest.raises(Stop):
        tb.build(BOARD, path, report=stop)
    done: set[tuple[str, int]] = set()
    do = KeysTasks.do

    def watched(self: Any, task: Any) -> None:
        done.add((task.walk, task.ply))
        do(self, task)

    monkeypatch.setattr(KeysTasks, "do", watched)
    tb.build(BOARD, path)
    forward = range(ply + 1, 10) if phase == "forward" else ()
    back = range(10) if phase == "forward" else range(ply)
    assert done == {("alive", p) for p in forward} | {("walk", p) for p in back}
    assert not path.with_name(path.name + ".partial").exists()
    assert _digest(path) == _digest(finished)


@pytest.mark.parametrize("kind", ["alive-04", "alive-07", "walk-07", "walk-08", "ply-08"])
@pytest.mark.parametrize("is_there", [True, False], ids=["damaged", "missing"])
@pytest.mark.usefixtures("in_files")
def test_damaged_parts_are_made_again(
    finished: Path, tmp_path: Path, kind: str, is_there: bool
) -> None:
    path = tmp_path / finished.name

    def stop(progress: tb.Progress) -> None:
        if (progress.phase, progress.ply) == ("backward", 7):
            raise Stop

    with pytest.raises(Stop):
        tb.build(BOARD, path, report=stop)
    (part, *_) = path.with_name(path.name + ".partial").glob(f"{kind}*")
    if is_there:
        content = bytearray(part.read_bytes())
        content[len(content) // 2 :] = b"\\0" * (len(content) - len(content) // 2)
        part.write_bytes(content)
    else:
        part.unlink()
    tb.build(BOARD, path)
    assert _digest(path) == _digest(finished)


def _digest(path: Path) -> str:
    with h5py.File(path) as file:
        return bytes(file.attrs["digest"]).decode()


@pytest.mark.parametrize(("name", "value"), [("words", None), ("last_ply", 8), ("last_ply", 12)])
def test_wrong_headers_have_their_error(path: Path, name: str, value: int | None) -> None:
    """Besides those that `test_every_game` tries."""
    with h5py.File(path, "r+") as file:
        if value is None:
            del file.attrs[name]
        else:
            file.attrs[name] = value
    error = ChecksumError if value == 8 else DamagedFileError
    with pytest.raises(error):
        KeysFile(path, 1_000_000)
    with pytest.raises(error, match="--force"):
        tb.build(BOARD, path)


def plant(path: Path, ply: int, name: str, place: int, change: int, honest: bool) -> None:
    """Change a stored number; `honest` also mends the digests, as a wrong builder would."""
    with h5py.File(path, "r+") as file:
        group = file[f"ply-{ply:02d}"]
        data = group[name][...]
        data[place] ^= data.dtype.type(change)
        group[name][...] = data
    if honest:
        with h5py.File(path, "r+") as file:
            group = file[f"ply-{ply:02d}"]
            arrays = {name: group[name][...] for name in ("a", "values")}
            layer = keys_file._keys(arrays), keys_file._packed(arrays)
            group.attrs["sha256"] = np.bytes_(keys_store.digest_layer(*layer))
            header = keys_store.read_header(file, path)
            records = [keys_store.read_record(p, file[f"ply-{p:02d}"].attrs) for p in range(10)]
            value = int(file.attrs["value"])
            file.attrs["digest"] = np.bytes_(table_digest(header, value, records))


@pytest.mark.hdf5
@pytest.mark.parametrize(
    ("ply", "name", "place", "change", "honest", "error"),
    [
        (4, "values", 3, 1, False, ChecksumError),
        (4, "a", 3, 1 << 40, False, ChecksumError),
        (4, "a", 3, 1 << 40, True, ChecksumError),  # off the board: no kernel sees it
        (4, "values", 3, 1, True, VerificationError),
        (4, "values", 3, 3, True, VerificationError),
    ],
)
def test_planted_faults_are_found(
    path: Path, ply: int, name: str, place: int, change: int, honest: bool, error: type[Exception]
) -> None:
    plant(path, ply, name, place, change, honest)
    with pytest.raises(error):
        tb.verify(path, "quick")


@pytest.mark.hdf5
def test_values_that_keep_the_counts_are_found_by_their_successors(path: Path) -> None:
    """Two values exchanged: digests and counts are right, only the rules can tell."""
    with h5py.File(path) as file:
        codes = unpack_values(file["ply-02/values"][...], 12)
    assert codes.tolist().count(1) > 0
    assert codes.tolist().count(0) > 0
    with tb.open_tablebase(path) as table:
        listed = table.positions(2, canonical=True)
        orbits = [len(BOARD.images(*position._state)) for position, _ in listed]
    x, y = next(
        (i, j)
        for i in range(12)
        for j in range(12)
        if codes[i] == 1 and codes[j] == 0 and orbits[i] == orbits[j]
    )
    codes[x], codes[y] = codes[y], codes[x]
    packed = pack_values(codes)
    with h5py.File(path, "r+") as file:
        file["ply-02/values"][...] = packed
    plant(path, 2, "values", 0, 0, honest=True)
    tb.verify(path, "quick")
    for level in ("full", "sample"):
        with pytest.raises(VerificationError, match="its successors say"):
            tb.verify(path, level)


@pytest.mark.hdf5
def test_the_search_finds_a_wrong_value(path: Path) -> None:
    assert tb.verify(path, solver=True).solver == 627
    with h5py.File(path) as file:
        code = int(file["ply-05/values"][3]) & 3
    plant(path, 5, "values", 3, code ^ (code + 1) % 3, honest=True)
    with tb.open_tablebase(path) as table:
        with pytest.raises(VerificationError, match="the search finds"):
            keys_check.check_by_search(table.reader, 0, lambda *_: None)
        with pytest.raises(VerificationError):
            tb.verify(table, solver=True)


def test_either_wrong_value_is_found(finished: Path) -> None:
    with tb.open_tablebase(finished) as table:
        reader = table.reader
        for ply in table.plies[:-1]:
            layer = reader.stored(ply)
            for place in range(layer.keys.size):
                truth = layer.values[place]
                keys_check._check_position(reader, ply, layer, place)
                for wrong in {-1, 0, 1} - {int(truth)}:
                    layer.values[place] = wrong
                    with pytest.raises(VerificationError, match="its successors say"):
                        keys_check._check_position(reader, ply, layer, place)
                layer.values[place] = truth


@given(st.lists(st.sampled_from([-1, 0, 1]), max_size=40))
def test_values_there_and_back(numbers: list[int]) -> None:
    packed = pack_values(np.array(numbers, np.int8))
    assert len(packed) == -(-len(numbers) // 4)
    assert unpack_values(packed, len(numbers)).tolist() == numbers


@pytest.mark.usefixtures("in_files")
def test_too_little_memory(tmp_path: Path) -> None:
    """The forecast may err: a group that turns out not to fit ends the build by name."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(KeysTasks, "limits", lambda *_: Limits(2, 1000))
        with pytest.raises(
            DoesNotFitError, match=r"x does not fit: groups .* what is finished is kept"
        ):
            tb.build(BOARD, tmp_path / "x.h5")
    assert list(tmp_path.glob("*.partial/alive-03-*.part"))
    walked: list[tuple[str, int]] = []
    tb.build(BOARD, tmp_path / "x.h5", report=lambda p: walked.append((p.phase, p.ply)))
    assert ("forward", 2) not in walked
    assert walked[-10:] == [("backward", ply) for ply in range(9, -1, -1)]


def test_header_is_text_that_reads_back(finished: Path) -> None:
    with tb.open_tablebase(finished) as table:
        header = table.reader.header
        assert (header.game, header.board, header.root) == ("mnk", "3x3", "")
        assert json.loads(header.options) == {"connect": "3"}


@pytest.mark.parametrize(
    ("name", "size", "texts"),
    [
        ("quarto", "4x4", [".c1d/b.e./.7.f/a5..,6", "c1d./b.e./.7.f/a5..,6", "f b2-3", "f b2-4"]),
        ("domineering", "2x3", ["", "a1", "2x3 H ... ...", "2x3 H X.. ...", "2x3 H .X. ..."]),
    ],
)
def test_distinct_roots_have_distinct_files(name: str, size: str, texts: list[str]) -> None:
    board = tb.board(name, size)
    paths = {table_path(board.position(text)) for text in texts}
    assert len(paths) == len(texts)


def test_a_table_of_another_root_is_refused(tmp_path: Path) -> None:
    there, asked = (BOARD.position(text) for text in ("b2 a1", "b2 a2"))
    tb.build(BOARD, table_path(asked, tmp_path), root=there)
    with pytest.raises(WrongBoardError, match="from b2 a1, not mnk-3x3-connect3 from b2 a2"):
        tb.open_tablebase(BOARD, folder=tmp_path, root=asked)


def test_the_start_of_the_other_side_is_a_root_of_its_own(tmp_path: Path) -> None:
    """An empty board is not always the start of a game: in Domineering either side may begin."""
    board = tb.board("domineering", "2x4")
    for root, value in ((board.start(), -1), (board.position("2x4 H .... ...."), 1)):
        tb.build(board, folder=tmp_path, root=root)
        with tb.open_tablebase(board, folder=tmp_path, root=root) as table:
            assert (table.root, table.value) == (root, value)
