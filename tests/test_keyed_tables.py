"""Tables of any game: written, read, asked, checked; damaged and interrupted ones."""

import json
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_mnk import MnkRules, bitboards, values

from retro.errors import (
    BadTextError,
    ChecksumError,
    DamagedFileError,
    FormatVersionError,
    GameOverError,
    IllegalPositionError,
    IncompleteTableError,
    MissingTableError,
    StorageError,
    TablebaseError,
    VerificationError,
    WrongBoardError,
)
from retro.games.catalogue import NAMES, find_game
from retro.games.mnk import MnkBoard, MnkPosition
from retro.walk import keyed as walks
from tablebase import keyed_build, keyed_probe, keyed_store, keyed_verify
from tablebase.files import only_builder
from tablebase.format import table_digest
from tablebase.keyed_build import KeyedProgress, build_keyed
from tablebase.keyed_probe import KeyedTable, open_keyed, open_rooted
from tablebase.keyed_store import KeyedTableFile, pack_values, unpack_values
from tablebase.keyed_verify import verify_keyed
from tablebase.places import keyed_path
from tablebase.probe import open_tablebase

MNK = find_game("mnk")
TIC_TAC_TOE = MNK.start(MnkBoard(3, 3, 3))
# 26 cells of 17x2 in an order that makes no three in a line.
SPREAD = [(c, r) for c in "acegikm" for r in (1, 2)] + [(c, r) for c in "bdfhjl" for r in (2, 1)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keyed") / "mnk-3x3-connect3.h5"
    build_keyed(MNK, TIC_TAC_TOE, path)
    return path


@pytest.fixture
def path(finished: Path, tmp_path: Path) -> Path:
    """A copy that a test may break."""
    return Path(shutil.copy(finished, tmp_path / finished.name))


def opened(path: Path) -> KeyedTable:
    return KeyedTable(KeyedTableFile(path))


def test_every_position_is_answered(finished: Path) -> None:
    game = MnkRules(3, 3, 3)
    with opened(finished) as table:
        assert table.value == 0
        for text, value in values(game).items():
            position = MnkPosition(table.board, *bitboards(game, text))
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
    with opened(finished) as table:
        known = [
            (MnkPosition(table.board, *bitboards(game, text)), value)
            for text, value in values(game).items()
        ]
        for ply in table.plies:
            here = [(MNK.state(p)[0], value) for p, value in known if p.ply == ply]
            found = table.probe_many(ply, np.array([a for a, _ in here], np.uint64))
            assert found.tolist() == [value for _, value in here]
        with pytest.raises(MissingTableError, match="state 1 is not"):
            table.probe_many(1, np.array([1, 3], np.uint64))
        with pytest.raises(MissingTableError, match="ply 12"):
            table.probe_many(12, np.array([1], np.uint64))


def test_each_kind_is_opened_by_its_own_name(finished: Path) -> None:
    with pytest.raises(WrongBoardError, match="holds mnk 3x3, not Connect Four"):
        open_tablebase(finished)


def test_a_best_line_keeps_the_value(finished: Path) -> None:
    with opened(finished) as table:
        for text, outcome in (("", 0), ("a1 b1", 1), ("b2 b1", 1)):
            position = table.as_position(text)
            line = table.best_line(position)
            for move in line:
                position = position.play(move.number)
            winner = -1 if len(line) % 2 else 1
            assert position.outcome() == winner * outcome


def test_every_position_of_a_ply_is_listed(finished: Path) -> None:
    with opened(finished) as table:
        for ply in table.plies:
            listed = list(table.positions(ply))
            assert all(p.ply == ply and table.probe_wdl(p) == value for p, value in listed)
            record = table.counts[ply]
            assert len(listed) == record.keys
            assert record.keys == record.canonical_positions - record.canonical_terminal


def test_positions_that_are_not_there(finished: Path) -> None:
    with opened(finished) as table:
        board = table.board
        other = MNK.start(MnkBoard(3, 4, 3))
        assert table.get_state(12, (0, 0)) is None
        unreachable = MnkPosition(board, board.bit(0, 0) | board.bit(0, 1), 0)
        for thing, error in [
            (other, WrongBoardError),
            (unreachable, IllegalPositionError),
            ("b2 b2", IllegalPositionError),
            ("?", BadTextError),
        ]:
            with pytest.raises(error):
                table.probe_wdl(thing)


@pytest.mark.parametrize("level", ["quick", "sample", "full"])
def test_a_sound_table_is_found_sound(finished: Path, level: Any) -> None:
    with opened(finished) as table:
        done = verify_keyed(table, level)
    assert (done.plies, done.positions) == (10, {"quick": 0}.get(level, 627))


def test_rooted_tables(finished: Path, tmp_path: Path) -> None:
    root = MNK.read_position(TIC_TAC_TOE.board, "b2 a1")
    build_keyed(MNK, root, tmp_path / "rooted.h5")
    with opened(finished) as whole, opened(tmp_path / "rooted.h5") as rooted:
        assert rooted.root == root
        assert rooted.value == whole.probe_wdl(root)
        assert rooted.plies == range(2, 10)
        for ply in rooted.plies:
            for position, value in rooted.positions(ply):
                assert whole.probe_wdl(position) == value
        with pytest.raises(MissingTableError, match="covers only"):
            rooted.probe_wdl("a1 b2 b3 a3")
        assert verify_keyed(rooted, "full").positions > 100


@pytest.mark.parametrize(
    ("name", "size", "options", "root"),
    [
        ("mnk", "4x3", {"connect": "3"}, ""),
        ("mnk", "17x2", {"connect": "3"}, " ".join(f"{c}{r}" for c, r in SPREAD)),
    ],
    ids=["one word", "two words"],
)
def test_many_pages(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    size: str,
    options: dict[str, str],
    root: str,
) -> None:
    """Small pages, so that a layer has many: every key is found, and none that is not there."""
    for module in (keyed_store, keyed_probe):
        monkeypatch.setattr(module, "CHUNK_KEYS", 8)
    game = find_game(name)
    start = game.read_position(game.parse(size, options), root)
    build_keyed(game, start, tmp_path / "pages.h5")
    with opened(tmp_path / "pages.h5") as table:
        assert table.rules.words == (2 if root else 1)
        assert max(record.keys for record in table.counts) > 80
        for ply in table.plies:
            keys, values = table.layer(ply)
            b = keys.b if len(keys.b) else np.zeros(keys.size, np.uint64)
            known = dict(zip(zip(keys.a.tolist(), b.tolist(), strict=True), values, strict=True))
            for (low, high), value in known.items():
                assert table.get_state(ply, (low, high)) == value
            for state in [
                key for p in table.plies if p != ply for key in table.layer(p).keys.a[:9]
            ]:
                assert table.get_state(ply, (int(state), 0)) is None


def test_building_twice_does_nothing_the_second_time(path: Path) -> None:
    before = path.read_bytes()
    assert build_keyed(MNK, TIC_TAC_TOE, path).was_there
    assert path.read_bytes() == before
    assert not build_keyed(MNK, TIC_TAC_TOE, path, force=True).was_there
    with pytest.raises(WrongBoardError, match="holds mnk 3x3"):
        build_keyed(MNK, MNK.start(MnkBoard(3, 4, 3)), path)


class Stop(Exception):
    """The build dies here."""


@pytest.mark.parametrize(("phase", "ply"), [("forward", 3), ("forward", 9), ("backward", 5)])
def test_an_interrupted_build_goes_on(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str, ply: int
) -> None:
    path = tmp_path / finished.name

    def stop(progress: KeyedProgress) -> None:
        if (progress.phase, progress.ply) == (phase, ply):
            raise Stop

    with pytest.raises(Stop):
        build_keyed(MNK, TIC_TAC_TOE, path, report=stop)
    calls: list[str] = []
    for name in ("next_layer", "evaluate"):
        work = getattr(walks, name)
        monkeypatch.setattr(
            walks, name, lambda *args, n=name, w=work: (calls.append(n), w(*args))[1]
        )
    build_keyed(MNK, TIC_TAC_TOE, path)
    layers = 9 - ply if phase == "forward" else 0
    assert calls.count("next_layer") == layers
    assert calls.count("evaluate") == (10 if phase == "forward" else ply)
    assert not path.with_name(path.name + ".partial").exists()
    assert _digest(path) == _digest(finished)


@pytest.mark.parametrize("kind", ["keys-04", "values-08", "keys-09"])
def test_damaged_parts_are_made_again(finished: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / finished.name

    def stop(progress: KeyedProgress) -> None:
        if (progress.phase, progress.ply) == ("backward", 7):
            raise Stop

    with pytest.raises(Stop):
        build_keyed(MNK, TIC_TAC_TOE, path, report=stop)
    part = path.with_name(path.name + ".partial") / f"{kind}.h5"
    content = bytearray(part.read_bytes())
    content[len(content) // 2 :] = b"\\0" * (len(content) - len(content) // 2)
    part.write_bytes(content)
    if kind == "keys-04":  # behind the last ply of the walk forward: found on the way back
        with pytest.raises(DamagedFileError, match="run the same command again"):
            build_keyed(MNK, TIC_TAC_TOE, path)
    build_keyed(MNK, TIC_TAC_TOE, path)
    assert _digest(path) == _digest(finished)


def test_a_second_builder_is_kept_out(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with only_builder(path), pytest.raises(StorageError, match="another process"):
        build_keyed(MNK, TIC_TAC_TOE, path)


def _digest(path: Path) -> str:
    with h5py.File(path) as file:
        return bytes(file.attrs["digest"]).decode()


def _set(path: Path, name: str, value: object) -> None:
    with h5py.File(path, "r+") as file:
        if value is None:
            del file.attrs[name]
        else:
            file.attrs[name] = np.bytes_(value) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("format", "something", DamagedFileError),
        ("format_version", 2, FormatVersionError),
        ("index", "two-halves", FormatVersionError),
        ("metric", "dtw", FormatVersionError),
        ("value", 1, ChecksumError),
        ("words", None, DamagedFileError),
        ("digest", None, DamagedFileError),
        ("root", "a1", ChecksumError),
        ("finished", None, IncompleteTableError),
        ("last_ply", 8, ChecksumError),
        ("last_ply", 12, ChecksumError),
    ],
)
def test_wrong_headers_have_their_error(
    path: Path, name: str, value: object, error: type[TablebaseError]
) -> None:
    _set(path, name, value)
    with pytest.raises(error):
        KeyedTableFile(path)
    with pytest.raises(error, match="--force"):
        build_keyed(MNK, TIC_TAC_TOE, path)


def test_no_file_and_no_table(tmp_path: Path) -> None:
    with pytest.raises(MissingTableError):
        KeyedTableFile(tmp_path / "none.h5")
    with pytest.raises(MissingTableError, match="build-tablebase mnk 3x3 --connect 3"):
        open_keyed("mnk", "3x3", tmp_path, connect="3")
    (tmp_path / "text.h5").write_text("not HDF5")
    with pytest.raises(DamagedFileError):
        KeyedTableFile(tmp_path / "text.h5")


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
            keys = keyed_store._keys({"a": group["a"][...]})
            group.attrs["sha256"] = np.bytes_(keyed_store.digest_layer(keys, group["values"][...]))
            header = keyed_store._read_header(file, path)
            records = [keyed_store._record(p, file[f"ply-{p:02d}"].attrs) for p in range(10)]
            value = int(file.attrs["value"])
            file.attrs["digest"] = np.bytes_(table_digest(header, value, records))


@pytest.mark.parametrize(
    ("ply", "name", "place", "change", "honest", "error"),
    [
        (4, "values", 3, 1, False, ChecksumError),
        (4, "a", 3, 1 << 40, False, ChecksumError),
        (4, "a", 3, 1 << 40, True, VerificationError),
        (4, "values", 3, 1, True, VerificationError),
        (4, "values", 3, 3, True, VerificationError),
    ],
)
def test_planted_faults_are_found(
    path: Path, ply: int, name: str, place: int, change: int, honest: bool, error: type[Exception]
) -> None:
    plant(path, ply, name, place, change, honest)
    with pytest.raises(error), opened(path) as table:
        verify_keyed(table, "quick")


def test_values_that_keep_the_counts_are_found_by_their_successors(path: Path) -> None:
    """Two values exchanged: digests and counts are right, only the rules can tell."""
    with h5py.File(path) as file:
        codes = unpack_values(file["ply-02/values"][...], 12)
    assert codes.tolist().count(1) > 0
    assert codes.tolist().count(0) > 0
    with opened(path) as table:
        orbits = [len({MNK.state(p.turned(i)) for i in range(8)}) for p, _ in table.positions(2)]
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
    with opened(path) as table:
        verify_keyed(table, "quick")
        with pytest.raises(VerificationError, match="its successors say"):
            verify_keyed(table, "full")
        with pytest.raises(VerificationError, match="its successors say"):
            verify_keyed(table, "sample")


def test_the_search_finds_a_wrong_value(path: Path) -> None:
    with opened(path) as table:
        assert keyed_verify.check_by_search(table) == 627
    with h5py.File(path) as file:
        code = int(file["ply-05/values"][3]) & 3
    plant(path, 5, "values", 3, code ^ (code + 1) % 3, honest=True)
    with opened(path) as table, pytest.raises(VerificationError, match="the search finds"):
        keyed_verify.check_by_search(table)


def test_either_wrong_value_is_found(finished: Path) -> None:
    with opened(finished) as table:
        for ply in table.plies[:-1]:
            layer = table.layer(ply)
            for place in range(layer.keys.size):
                truth = layer.values[place]
                keyed_verify._check_position(table, ply, layer, place)
                for wrong in {-1, 0, 1} - {int(truth)}:
                    layer.values[place] = wrong
                    with pytest.raises(VerificationError, match="its successors say"):
                        keyed_verify._check_position(table, ply, layer, place)
                layer.values[place] = truth


@given(st.lists(st.sampled_from([-1, 0, 1]), max_size=40))
def test_values_there_and_back(numbers: list[int]) -> None:
    packed = pack_values(np.array(numbers, np.int8))
    assert len(packed) == -(-len(numbers) // 4)
    assert unpack_values(packed, len(numbers)).tolist() == numbers


def test_the_catalogue(tmp_path: Path) -> None:
    with pytest.raises(BadTextError, match="mnk"):
        find_game("chess")
    for name in NAMES:
        game = find_game(name)
        assert game.name == name
        assert all(option.default or option.name for option in game.options)
    with pytest.raises(BadTextError):
        MNK.parse("3,3", {})
    with pytest.raises(BadTextError):
        MNK.parse("3x3", {"connect": "three"})


def test_too_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed_build, "available_memory", lambda: 1000)
    with pytest.raises(TablebaseError, match="half a gigabyte"):
        build_keyed(MNK, TIC_TAC_TOE, tmp_path / "x.h5")
    monkeypatch.setattr(keyed_build, "available_memory", lambda: keyed_build.BASE_MEMORY + 1000)
    with pytest.raises(TablebaseError, match="x does not fit"):
        build_keyed(MNK, TIC_TAC_TOE, tmp_path / "x.h5")


def test_header_is_text_that_reads_back(finished: Path) -> None:
    with opened(finished) as table:
        header = table.header
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
    game = find_game(name)
    board = game.parse(size, {})
    paths = {keyed_path(game, game.read_position(board, text)) for text in texts}
    assert len(paths) == len(texts)


def test_a_table_of_another_root_is_refused(tmp_path: Path) -> None:
    board = MNK.parse("3x3", {})
    there, asked = (MNK.read_position(board, text) for text in ("b2 a1", "b2 a2"))
    build_keyed(MNK, there, keyed_path(MNK, asked, tmp_path))
    with pytest.raises(WrongBoardError, match="from 'b2 a1', not mnk-3x3-connect3 from"):
        open_rooted(MNK, asked, tmp_path)


def test_the_start_of_the_other_side_is_a_root_of_its_own(tmp_path: Path) -> None:
    """An empty board is not always the start of a game: in Domineering either side may begin."""
    game = find_game("domineering")
    board = game.parse("2x4", {})
    for root, value in ((game.start(board), -1), (game.read_position(board, "2x4 H .... ...."), 1)):
        build_keyed(game, root, keyed_path(game, root, tmp_path))
        with open_rooted(game, root, tmp_path) as table:
            assert (table.root, table.value) == (root, value)
