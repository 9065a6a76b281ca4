"""The README tells the truth: its sessions are run and compared with what it shows."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from retro.games.catalogue import NAMES, find_game
from tablebase.cli.overview import HELP

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture
def home(tmp_path: Path, built_5x4: object, table_folder: Path) -> Path:
    """An empty folder with a 5x4 table and our commands on the path."""
    (tmp_path / "tables").symlink_to(table_folder)
    return tmp_path


def sessions() -> list[tuple[str, str]]:
    """The commands of the console blocks, each with the output shown for it."""
    blocks = re.findall(r"```console\n(.*?)```", README.read_text(), re.DOTALL)
    found = []
    for block in blocks:
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = piece.partition("\n")
            found.append((command, output))
    return found


@pytest.mark.parametrize(("command", "shown"), sessions(), ids=[c for c, _ in sessions()])
def test_sessions_are_true(home: Path, command: str, shown: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    environment.pop("TABLEBASE_DIR", None)
    done = subprocess.run(
        command, shell=True, cwd=home, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == shown


def test_python_examples_are_true(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    monkeypatch.delenv("TABLEBASE_DIR", raising=False)
    page = README.parent / "docs" / "python.md"
    tried = doctest.testfile(str(page), module_relative=False, verbose=False)
    assert tried.attempted >= 7
    assert tried.failed == 0


def test_it_names_the_two_commands() -> None:
    text = README.read_text()
    assert "pip install -e . && build-tablebase 5x4" in text
    assert 'pip install -e ".[test]" && pytest' in text


def test_the_page_of_commands_has_every_command_and_every_game() -> None:
    page = (README.parent / "docs" / "commands.md").read_text()
    assert "probe" in HELP
    assert [command for command in HELP if f"`tablebase {command}" not in page] == []
    options = {f"--{option.name}" for name in NAMES for option in find_game(name).options}
    assert [word for word in (*NAMES, *sorted(options)) if word not in page] == []
