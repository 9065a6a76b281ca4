"""Odd files, odd folders, odd moments: each has one clear line, none takes for ever."""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import h5py
import pytest

import tablebase as tb
from retro import kernel_cache
from retro.errors import BadTextError, DamagedFileError, StorageError, TimeLimitError
from tablebase.cli.guard import time_limit
from tablebase.cli.input import read_file
from tablebase.cli.main import main
from tablebase.files.atomic import only_builder

GOLDEN = Path(__file__).parents[1] / "data" / "golden" / "halves-2-whole.h5"


def make_odd(folder, kind):
    path = folder / "odd.h5"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with socket.socket(socket.AF_UNIX) as opened:
            cwd = Path.cwd()
            os.chdir(folder)  # names of sockets are short
            opened.bind("odd.h5")
            os.chdir(cwd)
    return path


@pytest.mark.parametrize("kind", ["pipe", "folder", "loop", "device", "socket"])
def test_what_is_no_file_is_refused_at_once(tmp_path, kind, capsys):
    path = make_odd(tmp_path, kind)
    shutil.copy(GOLDEN, tmp_path / "good.h5")
    with pytest.raises(DamagedFileError, match=str(path)):
        tb.open_tablebase(path)
    assert main(["list", "--dir", str(tmp_path)]) == DamagedFileError.exit_code
    said = capsys.readouterr()
    assert f"bad: {path} (DamagedFileError)" in said.out
    assert "connect3-4x3" in said.out  # the header's name, not the file's
    assert said.err.count("\n") == 1


def test_a_pipe_that_nobody_writes_into_holds_no_position(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tablebase.cli.input.PIPE_SECONDS", 0.5)
    os.mkfifo(tmp_path / "position")
    for words in ([str(tmp_path / "position")], ["--grid", str(tmp_path / "position")]):
        assert main(["probe", "3x3", *words]) == BadTextError.exit_code
        assert "a pipe that nobody writes into" in capsys.readouterr().err


def test_a_position_comes_through_a_pipe_that_is_written_into(tmp_path):
    """As the shell's <(...) gives it; what comes late is waited for."""
    os.mkfifo(tmp_path / "position")
    held = os.open(tmp_path / "position", os.O_RDWR)

    def write() -> None:
        os.write(held, b"b2 a1")
        os.close(held)

    threading.Timer(0.3, write).start()
    assert read_file(tmp_path / "position").text == "b2 a1"


def test_a_folder_whose_name_is_no_text(tmp_path):
    folder = tmp_path / os.fsdecode(b"\xff\xfe")
    folder.mkdir()
    shutil.copy(GOLDEN, folder / "good.h5")
    code = "import sys; from tablebase.cli.entry import tablebase; sys.exit(tablebase())"
    for more in ([], ["--json"]):
        done = subprocess.run(
            [sys.executable, "-c", code, "list", "--dir", str(folder), *more],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert "\\udcff" in done.stdout
        assert done.stderr == ""


def test_a_file_that_is_being_written_is_locked(tmp_path):
    with h5py.File(tmp_path / "new.h5", "w"):
        descriptor = os.open(tmp_path / "held.h5", os.O_RDWR | os.O_CREAT)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.raises(StorageError, match="is locked"):
            tb.open_tablebase(tmp_path / "held.h5")
        os.close(descriptor)


def test_a_second_builder_is_told(tmp_path):
    path = tmp_path / "table.h5"
    with only_builder(path), pytest.raises(StorageError, match="another process is building"):
        tb.build("2x2 connect=2", path)
    assert not list(tmp_path.iterdir())


def test_a_lock_is_gone_whatever_ends_the_build(tmp_path):
    with pytest.raises(RuntimeError), only_builder(tmp_path / "table.h5"):
        raise RuntimeError
    assert not list(tmp_path.iterdir())


def test_the_leftovers_of_a_finished_table_are_tidied(tmp_path):
    path = Path(shutil.copy(GOLDEN, tmp_path / "table.h5"))
    (tmp_path / "table.h5.partial").mkdir()
    (tmp_path / "table.h5.partial" / "ply-03.part").write_bytes(b"old")
    (tmp_path / "table.h5.tmp").write_bytes(b"half a table")
    (tmp_path / "table.h5.lock").touch()
    assert tb.build("4x3 connect=3", path).was_there
    assert list(tmp_path.iterdir()) == [path]


def test_sigterm_is_as_clean_as_ctrl_c(tmp_path):
    code = "import sys; from tablebase.cli.entry import tablebase; sys.exit(tablebase())"
    words = ["solve", "9x6", "--dir", str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-c", code, *words], stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(1.5)  # whatever it is doing by then: importing, compiling, searching
        process.send_signal(signal.SIGTERM)
        complaints = process.communicate()[1]
    assert process.returncode in (143, -signal.SIGTERM)
    assert "Traceback" not in complaints


def test_a_time_limit_covers_what_no_search_looks_at():
    with pytest.raises(TimeLimitError, match=r"within 0\.1 s"), time_limit(0.1):
        time.sleep(30)
    with time_limit(None), time_limit(100):
        pass


@pytest.mark.parametrize(
    "words",
    [
        "solve 7x6 --connect 100000", "solve 7x6 --connect 101", "solve mnk 3x3 --connect 999",
        "solve 7x6 --threads 100000", "solve 7x6 --time-limit 1e300",
        "trace 4x4 --depth 100000", "match 4x4 --first random --second random --games 9999999999",
        "solve 7x6 --connect " + "9" * 5000,
    ],
)  # fmt: skip
def test_absurd_numbers_are_refused_before_anything_is_begun(words, capsys):
    assert main(words.split()) in (2, 3)
    (line,) = capsys.readouterr().err.splitlines()
    assert len(line) < 240


def test_kernels_beside_the_sources_are_used(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache, "BESIDE", tmp_path / "beside")
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda: None)
    shelf = kernel_cache.Shelf()
    assert shelf.read("x.kernel") is None
    filled = kernel_cache.Shelf()
    filled._folder = tmp_path / "beside"
    filled.write("x.kernel", kernel_cache.pickle.dumps("a kernel"))
    assert shelf.has("x.kernel")
    assert shelf.read("x.kernel") == "a kernel"


@pytest.mark.slow
def test_without_a_home_every_command_works_and_says_once_that_kernels_are_not_kept(tmp_path):
    """A folder below a device cannot be made by anybody, not even by root."""
    kept = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {"HOME": "/dev/null/home", "PYTHONDONTWRITEBYTECODE": "1"}
    start = "import sys; from tablebase.cli import entry; sys.exit(entry.{}())"
    commands = {
        "build_tablebase": ["3x3 --connect 3 --out t.h5 --quiet"],
        "tablebase": ["probe t.h5 12", "solve 4x4 12", "verify t.h5", "play 3x3 --connect 3"],
    }
    for entry, lines in commands.items():
        for line in lines:
            done = subprocess.run(
                [sys.executable, "-c", start.format(entry), *line.split()],
                input="1\nquit\n", cwd=tmp_path, env=environment, capture_output=True, text=True,
                check=False,
            )  # fmt: skip
            assert (line, done.returncode, done.stderr.count("Traceback")) == (line, 0, 0)
            compiles = not line.startswith("probe")
            assert done.stderr.count("compiled in memory, not kept on disk") == compiles, line


def test_a_path_with_a_nul_is_refused(tmp_path):
    for path in ("a\0b", "a\0.h5"):
        with pytest.raises(BadTextError, match="wanted the path of a file"):
            tb.build("2x2 connect=2", tmp_path / path)
