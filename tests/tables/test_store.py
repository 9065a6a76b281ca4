"""Table files: what is written is read back, by this program and by others."""

from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from builds import build_tablebase
from plain import connect4 as naive
from store_cases import BOARD, GAME

from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.index.halves import plain
from retro.walk.halves.layers import backward, prepare
from tablebase.files import hdf5
from tablebase.files.frames import unpack
from tablebase.halves.format import CHUNK_WORDS
from tablebase.halves.store import TableFile


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
        after = position._play(threats[0])
        return 0 if after.is_over() else -read_value(file, ranks, after)
    place = ranks.get(position)
    rank = ranks[position.mirror()] if place is None else place
    group, bit = file[f"ply-{position.ply:02d}"], np.uint64(1 << rank % 64)
    return int(bool(group["win"][rank // 64] & bit)) - int(bool(group["loss"][rank // 64] & bit))


@pytest.mark.hdf5
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
                    words = np.empty(plane.chunks[0], "<u8")
                    unpack(bytes(frame), words)
                    frame[-1] ^= 1  # the checksum comes last
                    with pytest.raises(ValueError, match="frame is damaged"):
                        unpack(bytes(frame), words)


@pytest.mark.parametrize("there", [(), (0,), (2,), (0, 2, 4), range(5)])
def test_frames_of_zeros_are_told_from_those_that_are_there(tmp_path, there):
    frames = [(number, [b"frame%d" % number if number in there else b""]) for number in range(5)]
    with hdf5.new_file(tmp_path / "table.h5", 1_000) as file:
        hdf5.write_frames(file, ["win"], 5 * CHUNK_WORDS, CHUNK_WORDS, frames, level=1)
    with hdf5.open_file(tmp_path / "table.h5") as file:
        found = [hdf5.read_frame(file, "win", number * CHUNK_WORDS) for number, _ in frames]
    assert found == [frame for _, (frame,) in frames]


def test_a_frame_is_read_without_going_through_those_before(tmp_path):
    """HDF5 tells where a chunk is by going through all: 10 ms of each look into 7x6."""
    with hdf5.new_file(tmp_path / "table.h5", 1_000) as file:
        hdf5.write_frames(file, ["win"], 2 * CHUNK_WORDS, CHUNK_WORDS, [(0, [b"x"])], level=1)
    with hdf5.open_file(tmp_path / "table.h5") as file:
        reads_only = SimpleNamespace(read_direct_chunk=file["win"].id.read_direct_chunk)
        group = {"win": SimpleNamespace(id=reads_only)}
        assert [hdf5.read_frame(group, "win", at) for at in (0, CHUNK_WORDS)] == [b"x", b""]
