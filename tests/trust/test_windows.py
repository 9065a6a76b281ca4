"""The project runs where POSIX is missing, as far as `tests/windows.py` can take it away."""

import json
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from retro.errors import StorageError
from tablebase.files.atomic import only_builder, whole_file

TESTS = Path(__file__).parents[1]
RUN = """
import sys
sys.path.insert(0, {tests!r})
import pytest, windows
windows.take_away_posix(pytest.MonkeyPatch())
from tablebase.cli.main import {main}
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the simulation needs Linux")


def command(*words: str) -> list[str]:
    """A command of ours, as a process that lacks what Windows lacks."""
    start = RUN.format(tests=str(TESTS), main="main")
    if words[0] == "build-tablebase":
        start = start.replace("tablebase.cli.main", "tablebase.cli.build")
    return [sys.executable, "-c", f"{start}\nsys.exit(main({list(words[1:])!r}))"]


def run(*words: str) -> str:
    done = subprocess.run(command(*words), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("board", "options", "positions"),
    [
        ("4x4", ["--distances", "--memory", "300M"], 161_029),
        ("mnk 3x3", [], 5_478),
    ],
)
def test_tables_are_built_and_nothing_is_left(board, options, positions, tmp_path) -> None:
    folder = ["--dir", str(tmp_path)]
    built = json.loads(run("build-tablebase", *board.split(), *options, *folder, "--json"))
    assert built["positions"] == positions
    assert [path.suffix for path in tmp_path.iterdir()] == [".h5"]
    run("build-tablebase", *board.split(), *options, *folder, "--force", "--quiet")
    assert [path.suffix for path in tmp_path.iterdir()] == [".h5"]
    assert "sound" in run("tablebase", "verify", *board.split(), *folder, "--level", "quick")


def test_a_game_against_a_program_that_starts_others(tmp_path) -> None:
    program = tmp_path / "player.py"
    program.write_text(
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(0.1)'])\n"
        "moves = iter(('b2', 'a1', 'c1', 'a3', 'c3'))\n"
        "for line in sys.stdin:\n"
        "    if line.startswith('go'):\n"
        "        print(next(moves), flush=True)\n"
    )
    player = f"exec:{sys.executable} {program}"
    match = ["--first", player, "--second", "random", "--games", "1", "--json"]
    played = json.loads(run("tablebase", "match", "mnk", "3x3", *match))
    assert len(played["games"]) == 1


def test_the_service_answers_and_ends() -> None:
    serving = subprocess.Popen(
        command("tablebase", "serve", "--port", "0"),
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        address = next(word for line in serving.stdout for word in line.split() if "http" in word)
        asked = f"{address.split('?')[0].rstrip('/')}/api/v1/games"
        with urllib.request.urlopen(asked, timeout=20) as answer:
            assert "connect4" in answer.read().decode()
        serving.send_signal(signal.SIGINT)
        serving.wait(10)
    finally:
        serving.kill()
        serving.communicate()


def test_several_workers_are_refused_in_one_line() -> None:
    words = command("tablebase", "serve", "--port", "0", "--workers", "2")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "--workers needs a system that can fork" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_time_limit_needs_no_timers() -> None:
    begun = time.monotonic()
    words = command(
        "tablebase", "solve", "7x6", "--time-limit", "0.2", "--strong", "--dir", "/none"
    )
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 13)
    code = (
        RUN.format(tests=str(TESTS), main="main")
        + "import time\nfrom tablebase.cli.guard import time_limit\n"
        "from retro.errors import TimeLimitError\n"
        "try:\n    with time_limit(0.1):\n        time.sleep(20)\n"
        "except TimeLimitError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "not done within 0.1 s\n"
    assert time.monotonic() - begun < 120


def test_two_builders_of_one_table_do_not_meet(tmp_path) -> None:
    """`msvcrt` locks belong to a file handle; both are in this process here."""
    with pytest.MonkeyPatch.context() as patch:
        import windows

        windows.take_away_posix(patch)
        path = tmp_path / "folder" / "table.h5"
        with (
            only_builder(path),
            pytest.raises(StorageError, match="another process is building"),
            only_builder(path),
        ):
            pass
        with only_builder(path):
            pass


def test_a_table_that_is_open_is_not_replaced(tmp_path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        import windows

        windows.take_away_posix(patch)
        path = tmp_path / "table.h5"
        path.write_bytes(b"old")
        with (
            path.open("rb"),
            pytest.raises(StorageError, match=r"has it open.*Close that program"),
            whole_file(path) as aside,
        ):
            aside.write_bytes(b"new")
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]
