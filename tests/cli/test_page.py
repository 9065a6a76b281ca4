"""The page of commands tells the truth: its sessions are run and compared with what it shows."""

import io
import re
import shlex
import sys
from pathlib import Path

import pytest
from cli_cases import Ask

PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"


def sessions() -> list[tuple[str, str]]:
    """The commands of the console blocks, each with the output shown for it."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)
    pieces = [p for block in blocks for p in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, shown) for command, _, shown in (p.partition("\n") for p in pieces)]


@pytest.mark.parametrize(("line", "shown"), sessions(), ids=[line for line, _ in sessions()])
@pytest.mark.usefixtures("no_tables")
def test_sessions_are_true(
    line: str, shown: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = shlex.split(line)
    if words[0] == "printf":
        piped = words[1].replace("\\n", "\n")
        monkeypatch.setattr(sys, "stdin", io.StringIO(piped))
        words = words[3:]
    assert words[0] == "tablebase"
    assert ask(*words[1:]).out == shown
