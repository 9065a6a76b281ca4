"""A shelf with a small table of every game, and the commands as a function."""

import shlex
from pathlib import Path

import pytest
from cli_cases import Ask, Said, board_words

from retro.games.catalogue import NAMES
from tablebase.cli import build, main


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run a command: one line as a shell would split it, or its words.

    `bt` stands for build-tablebase, all else is asked of tablebase.
    """

    def run(*words: str) -> Said:
        split = shlex.split(words[0]) if len(words) == 1 else list(words)
        command, split = (build.main, split[1:]) if split[:1] == ["bt"] else (main.main, split)
        capsys.readouterr()
        try:
            status = command(split)
        except SystemExit as exit_:  # --help, --version
            status = int(exit_.code or 0)
        return Said(status, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def full_shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small table of every game, one of 5x4, one from a root."""
    folder = tmp_path_factory.mktemp("shelf")
    place = ["--dir", str(folder), "--quiet"]
    for name in NAMES:
        assert build.main([*board_words(name), *place]) == 0
    assert build.main(["5x4", *place]) == 0
    assert build.main(["mnk", "3x3", "--from", "b2 a1", *place]) == 0
    return folder


@pytest.fixture
def shelf(full_shelf: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TABLEBASE_DIR", str(full_shelf))
    return full_shelf


@pytest.fixture
def no_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEBASE_DIR", str(tmp_path / "none"))
