"""Ctrl-C from the first moment on: one line and its exit code."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from retro.errors import EXIT_INTERRUPTED, TimeLimitError
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


@pytest.mark.skipif(not hasattr(os, "kill"), reason="signals of POSIX")
def test_ctrl_c_within_the_import_of_numpy(tmp_path: Path) -> None:
    """A module in numpy's place that waits as a slow disk would make it."""
    (tmp_path / "numpy.py").write_text(
        "import sys, time\nprint('here', flush=True)\ntime.sleep(60)\n"
    )
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
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (EXIT_INTERRUPTED, "interrupted\n")


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
