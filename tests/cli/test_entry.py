"""From the first moment on: Ctrl-C, SIGTERM and too little memory get one line, an exit code."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from retro.errors import EXIT_INTERRUPTED, DoesNotFitError, TimeLimitError
from tablebase.cli import entry
from tablebase.cli.guard import time_limit


@pytest.mark.parametrize("command", [entry.tablebase, entry.build_tablebase])
def test_ctrl_c_while_importing(
    command: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # put back afterwards
    monkeypatch.setattr(entry, "import_module", interrupted)
    assert callable(command)
    assert command() == EXIT_INTERRUPTED
    assert capsys.readouterr() == ("", "interrupted\n")


WAITS = """
import time
print("here", flush=True)
{}
"""
SLOW_IMPORTS = {
    "as a slow disk would": "time.sleep(60)",
    "and calls what ends it a failure": """
try: time.sleep(60)
except BaseException as error: raise ImportError("no compiler") from error""",
    "and goes on whatever happens": """
while True:
    try: time.sleep(60)
    except BaseException: pass""",
}


@pytest.mark.skipif(not hasattr(os, "kill"), reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, EXIT_INTERRUPTED), (signal.SIGTERM, entry.EXIT_TERMINATED)],
)
@pytest.mark.parametrize("module", ["numpy", "h5py"])
@pytest.mark.parametrize("how", SLOW_IMPORTS)
def test_a_signal_ends_an_import(
    tmp_path: Path, number: signal.Signals, status: int, module: str, how: str
) -> None:
    """A module that waits, in the place of one that all commands import, or that some do."""
    (tmp_path / f"{module}.py").write_text(WAITS.format(SLOW_IMPORTS[how]))
    folders = [str(tmp_path), str(Path(__file__).parents[2])]
    process = subprocess.Popen(
        [sys.executable, "-m", "tablebase", "list"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (status, "interrupted\n")


@pytest.mark.skipif(not hasattr(os, "kill"), reason="signals of POSIX")
def test_a_build_that_imports_says_what_it_keeps(tmp_path: Path) -> None:
    (tmp_path / "dask.py").write_text(WAITS.format("time.sleep(60)"))
    folders = [str(tmp_path), str(Path(__file__).parents[2])]
    process = subprocess.Popen(
        [sys.executable, "-m", "tablebase", "build", "3x3", "--cluster", "local"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == entry.EXIT_TERMINATED
    assert err.endswith("interrupted; so short a build begins again\n")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep to the limit")
@pytest.mark.parametrize("command", ["tablebase", "build_tablebase"])
@pytest.mark.parametrize("megabytes", [60, 200, 400])
def test_too_little_address_space_gets_one_line(command: str, megabytes: int) -> None:
    start = f"import sys; from tablebase.cli import entry; sys.exit(entry.{command}())"
    done = subprocess.run(
        ["bash", "-c", f'ulimit -v {megabytes}000 && exec "$0" -c "$1" 4x4', sys.executable, start],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == DoesNotFitError.exit_code
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: this process may take {megabytes * 1024 // 1000} MB of address")


def test_ctrl_c_within_a_finalizer_is_not_lost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    def drop_one() -> None:
        thing = Interrupted()
        del thing
        for _ in range(500):
            time.sleep(0.01)

    monkeypatch.setattr(sys, "unraisablehook", entry.interrupt_again)
    with pytest.raises(KeyboardInterrupt):
        drop_one()
    assert capsys.readouterr().err == ""


def test_a_time_limit_within_a_callback_is_not_lost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compilers call back from C: what is raised there goes nowhere."""

    class Slow:
        def __del__(self) -> None:
            for _ in range(50):
                time.sleep(0.01)

    def drop_one() -> None:
        thing = Slow()
        del thing
        for _ in range(500):
            time.sleep(0.01)

    monkeypatch.setattr(sys, "unraisablehook", entry.interrupt_again)
    monkeypatch.setattr("tablebase.cli.guard.GRACE_SECONDS", 0)
    with pytest.raises(TimeLimitError), time_limit(0.1):
        drop_one()
    assert capsys.readouterr().err == ""
