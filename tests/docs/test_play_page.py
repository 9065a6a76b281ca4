"""The dialogue of docs/play.md is what a terminal shows."""

import importlib.util
import os
import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROMPT = re.compile(r"^(X|O|over)> (.*)$")


def load_terminal():
    """The harness of the dialogues."""
    path = ROOT / "tests" / "cli" / "test_play_terminal.py"
    spec = importlib.util.spec_from_file_location("play_terminal", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.talk


def test_the_dialogue_is_true(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TABLEBASE_DIR", str(tmp_path))
    page = (ROOT / "docs" / "play.md").read_text()
    command, *lines = re.search(r"```console\n\$ tablebase (.*?)```", page, re.DOTALL)[
        1
    ].splitlines()
    typed = [match[2] for line in lines if (match := PROMPT.match(line))]
    # A machine that is busy loads kernels for seconds; what is shown does not tell of the limit.
    with load_terminal()(*shlex.split(command), "--time-limit", "60") as seen:
        seen.until("> ")
        for line in typed[:-1]:
            seen.say(line)
        os.write(seen.master, f"{typed[-1]}\n".encode())
        assert seen.end() == 0
        shown = seen.text
    # A sign of life is wiped out again; colorama, where it is installed, resets the terminal.
    shown = re.sub(r"(?:\r\x1b\[K[^\r\n]*)*\r\x1b\[K|\x1b\[0m", "", shown)
    shown = shown.replace("\r\n", "\n")
    expected = "\n".join(PROMPT.sub(r"\1> ", line) for line in lines)
    assert [line.rstrip() for line in re.sub(r"(?<=> )", "\n", shown).splitlines()] == [
        line.rstrip() for line in expected.splitlines()
    ]
