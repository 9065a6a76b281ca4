"""Tables at URLs: the same answers as from a file, by few requests; the network's errors named.

The server is one of this machine that counts what it is asked.
"""

import gc
import json
import shutil
import socket
from pathlib import Path

import h5py
import numpy as np
import pytest
from servers import server

import tablebase as tb
from retro.errors import (
    BadTextError,
    ChecksumError,
    DamagedFileError,
    MissingTableError,
    StorageError,
    UnreachableError,
)
from tablebase.cli.main import main
from tablebase.files import remote
from tablebase.files.remote import RemoteFile, is_url

pytest.importorskip("fsspec", reason="tables at URLs need the extra `remote`")
pytest.importorskip("aiohttp", reason="tables at URLs need the extra `remote`")

GOLDEN = Path(__file__).parents[1] / "data" / "golden"


@pytest.fixture
def shelf(tmp_path, built_5x4, built_5x5):
    """A server, its folder with two tables."""
    for built in (built_5x4, built_5x5):
        shutil.copy(built.path, tmp_path)
    with server(tmp_path) as found:
        yield found


def test_opening_and_a_cold_probe_take_few_requests(shelf):
    url = shelf.url("connect4-5x5.h5")
    with shelf.counted(3), tb.open_tablebase(url) as table:
        assert table.board == tb.board("5x5")
    assert {command for command, _ in shelf.asked} == {"HEAD", "GET"}
    rng = np.random.default_rng(1)
    with tb.open_tablebase("5x5", folder=shelf.folder) as local:
        asked = [local.random_position(rng, ply) for ply in range(0, 24, 3)]
        for position in asked:
            with tb.open_tablebase(url) as table:
                with shelf.counted(2):
                    value = table.probe_wdl(position)
                assert value == local.probe_wdl(position)
                with shelf.counted(0):  # what was fetched is kept
                    assert table.probe_wdl(position) == value


def test_the_chunks_of_both_planes_come_by_one_request(shelf, monkeypatch):
    monkeypatch.setattr(remote, "FIRST_BYTES", 64)
    monkeypatch.setattr(remote, "PAGE", 64)
    with tb.open_tablebase(shelf.url("connect4-5x5.h5")) as table:
        file = table.reader._file
        file.read(18, 0, 1)
        with shelf.counted(1):
            file.read(18, 40_000, 40_001)


def test_all_answers_are_those_of_the_file(shelf):
    with (
        tb.open_tablebase("5x4", folder=shelf.folder) as local,
        tb.open_tablebase(shelf.url("connect4-5x4.h5")) as table,
    ):
        assert (table.digest, table.counts, table.size) == (local.digest, local.counts, local.size)
        assert table.probe("443") == local.probe("443")
        positions = [position for position, _ in local.positions(8)]
        states = local.board.states(positions)
        assert (table.probe_many(states) == local.probe_many(states)).all()
        assert str(table.path) == shelf.url("connect4-5x4.h5")


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.h5")), ids=lambda path: path.stem)
def test_tables_of_every_version_and_game_are_read(path):
    with (
        server(GOLDEN) as found,
        found.counted(40),
        tb.open_tablebase(found.url(path.name)) as table,
        tb.open_tablebase(path) as local,
    ):
        assert table.digest == local.digest
        first = next(position for position, _ in local.positions(local.plies[0]))
        assert table.probe_wdl(first) == local.probe_wdl(first)


def test_memory_is_bounded(shelf, monkeypatch):
    monkeypatch.setattr(remote, "PAGE", 256)
    monkeypatch.setattr(remote, "FIRST_BYTES", 1_024)
    monkeypatch.setattr(remote, "CACHE_BYTES", 4_096)
    with (
        tb.open_tablebase("5x4", folder=shelf.folder) as local,
        tb.open_tablebase(shelf.url("connect4-5x4.h5")) as table,
    ):
        for ply in range(0, 20, 4):
            assert (table.reader.read_checked(ply) == local.reader.read_checked(ply)).all()
        assert sum(map(len, table.path._pages.values())) <= 4_096


def test_garbage_of_other_threads_does_not_stop_a_reading(shelf, monkeypatch):
    """HDF5's lock is held while bytes are fetched; h5py objects that are collected want it."""
    monkeypatch.setattr(remote, "PAGE", 256)
    monkeypatch.setattr(remote, "FIRST_BYTES", 256)
    monkeypatch.setattr(remote, "SECONDS", 5)
    path = shelf.folder / "connect4-5x4.h5"
    shelf.litter = [h5py.File(path, "r") for _ in range(100)]
    thresholds = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        with tb.open_tablebase(shelf.url("connect4-5x4.h5")) as table:
            assert table.probe_wdl("443") == 1
    finally:
        gc.set_threshold(*thresholds)
        for file in shelf.litter:
            file.close()
    assert gc.isenabled()
    assert len(shelf.litter) < 100


def test_other_file_systems(built_5x4):
    import fsspec

    fsspec.filesystem("memory").pipe("/shelf/table.h5", built_5x4.path.read_bytes())
    for url in ("memory://shelf/table.h5", built_5x4.path.as_uri()):
        with tb.open_tablebase(url) as table:
            assert table.probe_wdl("443") == 1


class TestPages:
    """`RemoteFile` alone: pages, runs and requests, against a system that only counts."""

    class System:
        def __init__(self, content):
            self.content, self.asked = content, []

        def cat_ranges(self, paths, begins, ends, on_error):
            self.asked.append(list(zip(begins, ends, strict=True)))
            return [self.content[a:b] for a, b in self.asked[-1]]

    @pytest.fixture
    def file(self, monkeypatch):
        for name, value in {"PAGE": 10, "FIRST_BYTES": 20, "CACHE_BYTES": 70}.items():
            monkeypatch.setattr(remote, name, value)
        return RemoteFile("x://y/z.h5", self.System(bytes(range(255))), "z", 255)

    def test_pages_are_fetched_once_and_in_runs(self, file):
        system = file._system
        assert system.asked == [[(0, 20)]]
        assert file.read_at(3, 18) == bytes(range(3, 18))
        assert len(system.asked) == 1
        assert file.read_at(15, 45) == bytes(range(15, 45))
        assert system.asked[1:] == [[(20, 50)]]
        file.fetch([(100, 101), (112, 113), (249, 255)])
        assert system.asked[2:] == [[(100, 120), (240, 255)]]
        assert file.read_at(250, 255) == bytes(range(250, 255))
        assert len(system.asked) == 3
        assert file.name == "z.h5"

    def test_a_file_is_read_as_files_are(self, file):
        assert (file.seek(-5, 2), file.tell(), file.read(9)) == (250, 250, bytes(range(250, 255)))
        assert file.read(1) == b""
        buffer = bytearray(4)
        file.seek(7)
        assert file.readinto(memoryview(buffer)) == 4
        assert bytes(buffer) == bytes(range(7, 11))

    def test_more_than_is_kept_is_not_fetched_ahead(self, file):
        file.fetch([(0, 255)])
        assert file._system.asked[1:] == [[(20, 70)]]
        assert file.read_at(0, 255) == bytes(range(255))

    def test_what_was_used_longest_ago_is_forgotten(self, file):
        for at in range(0, 250, 10):
            file.read_at(at, at + 5)
            file.read_at(0, 1)
            assert sum(map(len, file._pages.values())) <= 70
        assert [(0, 10)] not in file._system.asked


def test_what_goes_wrong_is_named(shelf, tmp_path):
    url = shelf.url("connect4-5x4.h5")
    with pytest.raises(MissingTableError, match="no table at http"):
        tb.open_tablebase(shelf.url("nothing.h5"))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{unused.getsockname()[1]}/x.h5"
        with pytest.raises(UnreachableError, match="cannot read http"):
            tb.open_tablebase(nobody)
    for status, error in ((503, UnreachableError), (403, StorageError)):
        shelf.status = status
        with pytest.raises(error, match="cannot read http"):
            tb.open_tablebase(url)
    shelf.status, shelf.knows_ranges = 200, False
    with pytest.raises(UnreachableError, match="its server needs ranges"):
        tb.open_tablebase(shelf.url("connect4-5x5.h5"))
    shelf.knows_ranges = True
    for wrong in ("nowhere://x/y.h5", "http:///"):
        with pytest.raises((BadTextError, UnreachableError, MissingTableError)):
            tb.open_tablebase(wrong)
    (tmp_path / "text.h5").write_text("no table")
    with pytest.raises(DamagedFileError):
        tb.open_tablebase(shelf.url("text.h5"))
    with pytest.raises(BadTextError, match="says itself what it holds"):
        tb.open_tablebase(url, connect=3)


def test_a_server_that_fails_between_two_questions_is_named(shelf):
    with tb.open_tablebase(shelf.url("connect4-5x5.h5")) as table:
        shelf.status = 503
        with pytest.raises(UnreachableError, match="503"):
            table.reader.read_checked(18)
        shelf.status = 200
        assert table.reader.read_checked(18).any()


def test_damage_is_found_from_afar(shelf, tmp_path):
    path = tmp_path / "connect4-5x5.h5"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with tb.open_tablebase(shelf.url(path.name)) as table, pytest.raises(ChecksumError):
        list(map(table.reader.read_checked, table.plies))


def test_commands_take_urls(shelf, capsys):
    url = shelf.url("connect4-5x4.h5")
    assert main(["probe", url, "443", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == "WIN"
    assert main(["stats", url, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == url
    assert main(["stats", shelf.url("nothing.h5")]) == MissingTableError.exit_code
    assert capsys.readouterr().err == f"error: no table at {shelf.url('nothing.h5')}\n"
    shelf.status = 500
    assert main(["probe", url, "443"]) == UnreachableError.exit_code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: cannot read http")
    assert said.err.count("\n") == 1


def test_what_is_a_url():
    assert [is_url(text) for text in ("https://x/y.h5", "s3://b/k", "simplecache::http://x")] == [
        True, True, True,
    ]  # fmt: skip
    assert not any(map(is_url, ("5x4", "a/b.h5", "./x:y", "c:/x.h5", "mnk 4x4 connect=4")))
