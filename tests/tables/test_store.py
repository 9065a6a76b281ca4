"""Table files: what is written is read back, and each kind of damage has its own name."""

import contextlib
import io
import pickle
import re
import shutil
from itertools import pairwise

import h5py
import hdf5plugin
import numpy as np
import pytest
from builds import build_tablebase
from plain import connect4 as naive

from retro.errors import (
    ChecksumError,
    DamagedFileError,
    FormatVersionError,
    IncompleteTableError,
    LostGroupError,
    MissingTableError,
    StorageError,
    TablebaseError,
)
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.index.halves import one, plain
from retro.walk.halves.layer import Group
from retro.walk.halves.layers import backward, prepare
from retro.walk.halves.task import Stretch
from tablebase.files.packing import (
    ChunkJoiner,
    FramedReader,
    pack_chunk,
    pack_group,
    unpack,
    write_framed,
)
from tablebase.halves.format import CHUNK_WORDS, PlyRecord, plane_digest
from tablebase.halves.partial import PartialTable
from tablebase.halves.plan import estimate_build
from tablebase.halves.store import TableFile

assert hdf5plugin  # importing it is what teaches h5py to read zstd

BOARD = Connect4Board(4, 3, 3)
GAME = naive.Game(4, 3, 3)
HEADER = estimate_build(BOARD).header
WORDS = one.stored_words(*HEADER.cut)  # of every ply
GROUP = Group(3, np.zeros(1, np.int64), np.zeros(1, np.int64), 0, 0)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """An undamaged table."""
    return build_tablebase(BOARD, tmp_path_factory.mktemp("sound") / "table.h5").path


def write_parts(partial, plies=HEADER.counted_plies):
    """Parts of the right length with one position that is won, and values that tell them apart."""
    partial.open()
    for ply in plies:
        words = int(WORDS[ply])
        planes = np.zeros((2, words), np.uint64)
        planes[0, :1] = 1 << ply
        chunks = [pack_chunk(0, planes, words)] if words else []
        record = PlyRecord(ply, 1, 1, 0, 0, 0, plane_digest(chunk.digest for chunk in chunks))
        partial.finish_ply(record, words, chunks)


@pytest.fixture
def path(sound, tmp_path):
    """A table to damage."""
    return shutil.copy(sound, tmp_path / "table.h5")


def read_everything(path):
    """All that a file says, or a named error."""
    with TableFile(path) as table:
        planes = [table.read_checked(ply).tobytes() for ply in table.header.plies]
        return table.header, table.value, table.digest, table.records, planes


def chunks(path):
    """(ply, plane, offset, size) of every stretch of compressed data in a file."""
    with h5py.File(path) as file:
        for group in file:
            for plane in ("win", "loss"):
                dataset = file[group][plane].id
                for i in range(dataset.get_num_chunks()):
                    info = dataset.get_chunk_info(i)
                    yield int(group[-2:]), plane, info.byte_offset, info.size


def flip(path, offset, bits=0x01):
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ bits]))


def can_win(position, stones):
    """The columns where one more of these stones completes a line."""
    board = position.board
    return [
        c
        for c in range(board.width)
        if position.height(c) < board.height
        and board.has_line(stones | board.bit(c, position.height(c)))
    ]


def is_blank(position):
    return bool(can_win(position, position.mover) or can_win(position, position.opponent))


@pytest.mark.parametrize("plies", [None, range(3, 9), range(12, 13), range(5)])
def test_a_table_holds_what_was_walked_less_what_a_look_decides(tmp_path, plies):
    path = build_tablebase(BOARD, tmp_path / "table.h5", plies=plies).path
    prepared = prepare(BOARD)
    with TableFile(path) as table:
        header = table.header
        assert list(header.plies) == list(range(13) if plies is None else plies)
        assert header.board == BOARD
        assert table.value == naive.values(GAME)[naive.empty(GAME)]
        assert table.size == path.stat().st_size
        stored = [(r.ply, r.positions, r.win, r.draw, r.loss, r.terminal) for r in table.records]
        assert stored == [tuple(c) for c in naive.counts(GAME)]
        for layer in backward(prepared):
            if layer.ply not in header.plies:
                assert not table.record(layer.ply).sha256
                continue
            found = table.read_checked(layer.ply)
            assert table.words(layer.ply) == found.shape[1] == layer.stored.shape[1]
            has_blanks = layer.ply < header.last_ply or header.last_ply == BOARD.cells
            places = plain.layer(BOARD, header.left_columns, layer.ply)
            for rank, position in enumerate(places):
                if position is None or position.winner() is None:  # else it may be anything
                    bits = found[:, rank // 64] >> np.uint64(rank % 64) & np.uint64(1)
                    walked = layer.stored[:, rank // 64] >> np.uint64(rank % 64) & np.uint64(1)
                    if has_blanks and position is not None and is_blank(position):
                        walked[:] = 0
                    assert bits.tolist() == walked.tolist()
            half = found.shape[1] // 2
            np.testing.assert_array_equal(table.read(layer.ply, half), found[:, half:])
            np.testing.assert_array_equal(table.read(layer.ply, 0, half), found[:, :half])


def test_joining_leaves_nothing_but_the_table(sound):
    assert [path.name for path in sound.parent.iterdir()] == ["table.h5"]


def read_value(file, ranks, position):
    """A value by the recipe of `tablebase.halves.format`, from an open HDF5 file."""
    if can_win(position, position.mover):
        return 1
    threats = can_win(position, position.opponent)
    if len(threats) > 1:
        return -1
    if threats:
        after = position.play(threats[0])
        return 0 if after.is_over() else -read_value(file, ranks, after)
    place = ranks.get(position)
    rank = ranks[position.mirror()] if place is None else place
    group, bit = file[f"ply-{position.ply:02d}"], np.uint64(1 << rank % 64)
    return int(bool(group["win"][rank // 64] & bit)) - int(bool(group["loss"][rank // 64] & bit))


def test_someone_with_only_h5py_reads_the_right_values(sound):
    """Follows the recipe of `halves.format`; the plain index lists the places in order."""
    checked = 0
    with h5py.File(sound) as file:
        board = Connect4Board(*(int(file.attrs[name]) for name in ("width", "height", "connect")))
        assert file.attrs["format"] == b"retro-tablebase"
        assert file.attrs["format_version"] == 2
        assert file.attrs["mirror"] == 1
        assert file.attrs["finished"] == 1
        ranks = {
            position: rank
            for ply in range(file.attrs["first_ply"], file.attrs["last_ply"] + 1)
            for rank, position in enumerate(
                plain.layer(board, int(file.attrs["left_columns"]), ply)
            )
            if position is not None
        }
        known = naive.values(GAME)
        for layer in naive.live_layers(GAME):
            for key in layer:
                position = Connect4Position(board, *naive.bitboards(GAME, key))
                assert read_value(file, ranks, position) == known[key]
                checked += 1
    assert checked == sum(map(len, naive.live_layers(GAME)))


def test_the_file_is_stored_as_the_format_says(sound):
    with h5py.File(sound) as file:
        for group in file.values():
            for plane in (group["win"], group["loss"]):
                assert plane.dtype == np.dtype("<u8")
                assert plane.chunks[0] <= CHUNK_WORDS
                assert "32015" in plane._filters  # zstd's registered number


def test_every_frame_carries_a_checksum(sound):
    with h5py.File(sound) as file:
        for group in file.values():
            for plane in (group["win"], group["loss"]):
                for i in range(plane.id.get_num_chunks()):
                    offset = plane.id.get_chunk_info(i).chunk_offset
                    frame = bytearray(plane.id.read_direct_chunk(offset)[1])
                    words = unpack(bytes(frame), "frame")
                    assert len(words) == plane.chunks[0]
                    frame[-1] ^= 1  # the checksum comes last
                    with pytest.raises(ChecksumError, match="frame is damaged"):
                        unpack(bytes(frame), "frame")


def test_parts_are_listed_from_the_fullest(tmp_path):
    partial = PartialTable(tmp_path / "table.h5", HEADER)
    assert partial.finished_plies() == []
    write_parts(partial, (12, 11, 9))
    assert partial.finished_plies() == [12, 11]  # 9 is no use without 10
    assert partial.check_ply(11).positions == 1
    partial.discard()
    assert partial.finished_plies() == []


def test_parts_of_other_options_are_thrown_away(tmp_path):
    write_parts(PartialTable(tmp_path / "t.h5", HEADER), (12,))
    other = PartialTable(tmp_path / "t.h5", estimate_build(BOARD, plies=range(3)).header)
    with pytest.raises(DamagedFileError, match="belongs to another table"):
        other.check_ply(12)
    other.open()
    assert other.finished_plies() == []


def some_words(length):
    """Two planes: noise, and noise with a long stretch of zeros in its middle."""
    words = np.random.default_rng(length).integers(0, 2**63, (2, length)).astype(np.uint64)
    words[1, length // 8 : -length // 8] = 0
    return words


def test_stretches_of_groups_come_back_and_damaged_groups_are_removed(tmp_path):
    partial = PartialTable(tmp_path / "t.h5", HEADER)
    partial.open()
    group = GROUP._replace(begin=1000, end=151_000)
    words = some_words(150_000)
    partial.write_group("walk", 7, group, words)
    wanted = [Stretch(1000, 1001, 5), Stretch(33_000, 70_000, 10), Stretch(150_999, 151_000, 0)]
    found = np.zeros((2, 50_000), np.uint64)
    partial.fetch("walk", 7, group, wanted, found)
    expected = np.zeros_like(found)
    for begin, end, place in wanted:
        expected[:, place : place + end - begin] = words[:, begin - 1000 : end - 1000]
    np.testing.assert_array_equal(found, expected)
    path = partial.group("walk", 7, 3)
    flip(path, path.stat().st_size // 3)
    for _ in range(2):  # damaged, then missing
        with pytest.raises(LostGroupError, match="is damaged") as lost:
            partial.fetch("walk", 7, group, [Stretch(1000, 51_000, 0)], found)
        assert not path.exists()
        again = pickle.loads(pickle.dumps(lost.value))
        assert (again.walk, again.ply, again.number) == ("walk", 7, 3)
        assert str(again) == str(lost.value)


@pytest.mark.parametrize("length", [99_999, 100_001, 1, 0])
@pytest.mark.parametrize("planes", [1, 2])
def test_a_group_of_another_length_is_damaged(tmp_path, planes, length):
    partial = PartialTable(tmp_path / "t.h5", HEADER)
    partial.open()
    partial.write_group("walk", 7, GROUP._replace(begin=0, end=100_000), some_words(100_000))
    found = np.empty((planes, length), np.uint64)
    group = GROUP._replace(begin=0, end=length)
    with pytest.raises(LostGroupError, match="is damaged"):
        partial.fetch("walk", 7, group, [Stretch(0, length, 0)], found)


@pytest.mark.parametrize("length", [0, 1, 32_768, 32_769])
def test_every_byte_of_a_group_is_guarded(tmp_path, length):
    partial = PartialTable(tmp_path / "t.h5", HEADER)
    partial.open()
    group, words = GROUP._replace(begin=0, end=length), some_words(length)[:, :length]
    path, found = partial.group("walk", 7, 3), np.empty((2, length), np.uint64)
    partial.write_group("walk", 7, group, words)
    size = path.stat().st_size
    for place in {*range(0, size, max(1, size // 40)), *range(max(0, size - 20), size)}:
        partial.write_group("walk", 7, group, words)
        flip(path, place)
        with pytest.raises(LostGroupError):
            partial.fetch("walk", 7, group, [Stretch(0, length, 0)], found)


@pytest.mark.parametrize("name", ["table.h5.tmp", "table.h5.partial/ply-12.part.0123.tmp"])
def test_leftovers_of_a_dead_build_are_harmless(tmp_path, name):
    partial = PartialTable(tmp_path / "table.h5", HEADER)
    partial.open()
    (tmp_path / name).write_bytes(b"half a file")
    assert partial.finished_plies() == []
    write_parts(partial)
    partial.join(int(WORDS.sum()))
    assert [path.name for path in tmp_path.iterdir()] == ["table.h5"]
    assert read_everything(tmp_path / "table.h5")[1] == 1


@pytest.mark.parametrize("words", [1, 5, CHUNK_WORDS - 1, CHUNK_WORDS, 3 * CHUNK_WORDS + 7])
@pytest.mark.parametrize("cuts", [[], [3], [CHUNK_WORDS], [10, CHUNK_WORDS + 1, CHUNK_WORDS + 2]])
def test_groups_of_any_size_make_the_same_chunks(words, cuts):
    rng = np.random.default_rng(1)
    planes = rng.integers(0, 2**63, (2, words), np.uint64)
    planes[1, :CHUNK_WORDS] = 0
    pieces = [0, *(cut for cut in cuts if cut < words), words]
    chunks, joiner, length = [], ChunkJoiner(words), min(words, CHUNK_WORDS)
    for begin, end in list(pairwise(pieces))[::-1]:
        whole, rest = pack_group(begin, planes[:, begin:end])
        chunks += [*whole, *(pack_chunk(*chunk, length) for chunk in joiner.add(rest))]
    expected = [
        pack_chunk(i, planes[:, i * CHUNK_WORDS : (i + 1) * CHUNK_WORDS], length)
        for i in range(-(-words // CHUNK_WORDS))
    ]
    assert sorted(chunks) == expected
    assert [chunk.number for chunk in expected] == list(range(-(-words // CHUNK_WORDS)))
    for chunk in expected:
        here = planes[:, chunk.number * CHUNK_WORDS : (chunk.number + 1) * CHUNK_WORDS]
        for frame, plane in zip(chunk.frames, here, strict=True):
            assert bool(frame) == plane.any()
            if frame:
                np.testing.assert_array_equal(unpack(frame, "frame")[: len(plane)], plane)


@pytest.mark.parametrize("share", [0.999, 0.9, 0.5, 0.1, 0.01, 0.0001])
def test_a_truncated_file_is_damaged(path, share):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(DamagedFileError, match=re.escape(str(path))):
        read_everything(path)


@pytest.mark.parametrize("content", [b"", b"PK not hdf5 at all" * 100])
def test_what_is_no_hdf5_file_is_damaged(path, content):
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match=f"{path} is damaged or no table"):
        TableFile(path)


def test_an_hdf5_file_of_someone_else_is_no_table(path):
    with h5py.File(path, "w") as file:
        file["temperatures"] = [1, 2, 3]
    with pytest.raises(DamagedFileError, match="an HDF5 file, but not a retro-tablebase file"):
        TableFile(path)


def test_no_file_is_a_missing_table(tmp_path):
    with pytest.raises(MissingTableError, match=f"no table at {tmp_path / 'no.h5'}"):
        TableFile(tmp_path / "no.h5")


def test_a_flipped_byte_in_any_chunk_fails_its_checksum(path):
    """Or does no harm: a few bits of a zstd frame mean nothing."""
    whole = path.read_bytes()
    found = list(chunks(path))
    assert len(found) > BOARD.cells  # chunks of zeros are left out
    harmless = 0
    for ply, _, offset, size in found:
        path.write_bytes(whole)
        with TableFile(path) as table:
            expected = table.read(ply)
        flip(path, offset + size // 2)
        with TableFile(path) as table, contextlib.suppress(ChecksumError):
            np.testing.assert_array_equal(table.read(ply), expected)
            harmless += 1
    assert harmless < len(found) / 4


def test_a_flipped_byte_anywhere_is_named_or_does_no_harm(path):
    """Either the answers are the same, or the error is one of ours; never a wrong answer.

    Strings are of fixed length for this: HDF5 keeps others in a heap without a checksum, and
    loops for ever over some damaged ones.
    """
    expected, whole = read_everything(path), path.read_bytes()
    assert b"GCOL" not in whole
    rng = np.random.default_rng(3)
    offsets = [int(o) for o in rng.integers(len(whole), size=150)]
    harmless = 0
    for offset in offsets:
        path.write_bytes(whole)
        flip(path, offset, bits=int(rng.integers(1, 256)))
        with contextlib.suppress(TablebaseError):
            assert read_everything(path) == expected
            harmless += 1
    assert harmless < len(offsets)


@pytest.mark.parametrize("name", ["positions", "win", "draw", "loss", "terminal"])
def test_a_changed_count_fails_the_digest(path, name):
    with h5py.File(path, "r+") as file:
        file["ply-05"].attrs[name] += 1
    with pytest.raises(ChecksumError, match="header or counts do not have their digest"):
        TableFile(path)


@pytest.mark.parametrize(
    ("name", "value"), [("value", 0), ("left_columns", 1), ("connect", 4), ("mirror", 0)]
)
def test_a_changed_root_attribute_fails_the_digest(path, name, value):
    with h5py.File(path, "r+") as file:
        assert file.attrs[name] != value
        file.attrs[name] = value
    with pytest.raises(ChecksumError, match="header or counts do not have their digest"):
        TableFile(path)


def test_swapped_plies_fail_the_digest(path):
    with h5py.File(path, "r+") as file:
        file.move("ply-05", "aside")
        file.move("ply-06", "ply-05")
        file.move("aside", "ply-06")
    with pytest.raises(ChecksumError, match="do not have their digest"):
        TableFile(path)


def test_values_swapped_between_plies_fail_when_checked(path):
    with h5py.File(path, "r+") as file:
        file.move("ply-05/win", "aside")
        file.move("ply-06/win", "ply-05/win")
        file.move("aside", "ply-06/win")
    with pytest.raises(DamagedFileError, match=r"ply-05/loss has shape"):
        TableFile(path)


def test_swapped_planes_fail_when_checked(path):
    with h5py.File(path, "r+") as file:
        file.move("ply-05/win", "aside")
        file.move("ply-05/loss", "ply-05/win")
        file.move("aside", "ply-05/loss")
    with TableFile(path) as table:
        with pytest.raises(ChecksumError, match="values of ply 5 do not have their digest"):
            table.read_checked(5)
        table.read_checked(6)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("format_version", 4, "format version 4; this program reads versions 2 and 3"),
        ("format_version", 3, "format version 3 and says distances 0"),
        ("format_version", 1, "format version 1; .* reads versions 2 and 3; build the table again"),
        ("game", "gomoku", "game 'gomoku'"),
        ("index", "hashed", "index 'hashed'"),
        ("metric", "dtw", "metric 'dtw'"),
    ],
)
def test_what_this_program_does_not_know_is_refused_by_name(path, name, value, message):
    with h5py.File(path, "r+") as file:
        file.attrs[name] = value
    with pytest.raises(FormatVersionError, match=message):
        TableFile(path)


def test_a_missing_ply_is_damage(path):
    with h5py.File(path, "r+") as file:
        del file["ply-07"]
    with pytest.raises(DamagedFileError, match="ply-07"):
        TableFile(path)


@pytest.mark.parametrize("name", ["width", "left_columns", "metric", "value", "digest"])
def test_a_missing_attribute_is_damage(path, name):
    with h5py.File(path, "r+") as file:
        del file.attrs[name]
    with pytest.raises(DamagedFileError, match=name):
        TableFile(path)


@pytest.mark.parametrize("finished", [None, 0])
def test_a_table_that_was_never_finished_is_incomplete(path, finished):
    with h5py.File(path, "r+") as file:
        del file.attrs["finished"]
        if finished is not None:
            file.attrs["finished"] = finished
    with pytest.raises(IncompleteTableError, match="never finished"):
        TableFile(path)


def test_a_full_disk_has_a_name(tmp_path, monkeypatch):
    partial = PartialTable(tmp_path / "table.h5", HEADER)
    write_parts(partial)
    full = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: full)
    with pytest.raises(StorageError, match=r"needs .* bytes, .* has 1,000 free"):
        partial.join(int(WORDS.sum()))
    assert len(partial.finished_plies()) == len(HEADER.counted_plies)  # nothing is lost


@pytest.mark.parametrize("length", [1, 100_000])
def test_a_group_that_a_power_cut_has_torn_is_damaged(length):
    """Words and then zeros, or nothing: no such file is taken for whole."""
    words = np.random.default_rng(1).integers(0, 99, (2, length)).astype(np.uint64)
    file = io.BytesIO()
    write_framed(file, words)
    whole, found = file.getvalue(), np.empty_like(words)
    for cut in np.random.default_rng(2).integers(0, len(whole), 50).tolist():
        for torn in (whole[:cut], whole[:cut] + bytes(len(whole) - cut), whole + b"\0"):
            if torn != whole:
                with pytest.raises(ChecksumError):
                    read_all(io.BytesIO(torn), found)
    read_all(io.BytesIO(whole), found)
    np.testing.assert_array_equal(found, words)


def read_all(file, planes):
    reader = FramedReader(file, planes.shape[1], len(planes), "a group")
    for number, plane in enumerate(planes):
        reader.fill(number, [(0, len(plane), 0)], plane)
