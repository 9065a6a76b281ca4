"""How commands are called: help, other names, names with a slip, and lines that stay whole."""

import random
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cli_cases import Ask

from retro.version import VERSION
from tablebase.cli.grammar import find_command, read_words
from tablebase.cli.guard import LONGEST_LINE, shorten
from tablebase.cli.main import commands
from tablebase.cli.overview import ALIASES, BUILD, EXAMPLES, HELP, show_examples


def test_tablebase_alone_and_help_print_help(ask: Ask) -> None:
    overview = ask("--help")
    assert (overview.status, overview.err) == (0, "")
    assert ask(*[]) == ask("help") == overview
    for command in commands():
        assert re.search(rf"^  {command.name}  +[A-Z]", overview.out, re.MULTILINE)


@pytest.mark.parametrize("words", ["--version", "solve --version", "bt --version"])
def test_the_version_says_which_bit_instructions_are_used(
    words: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retro.bits.has_bmi2", lambda: True)
    monkeypatch.setattr("retro.bits.pext_nanoseconds", lambda: 1.0)
    version = f"retro-tablebase {VERSION}, bit instructions:"
    assert ask(words) == (0, f"{version} PEXT\n", "")
    monkeypatch.setattr("retro.bits.pext_nanoseconds", lambda: 50.0)
    assert ask(words) == (0, f"{version} portable\n", "")


def test_the_overview_names_all_commands_and_no_other() -> None:
    assert {command.name: command.help for command in commands()} == HELP
    assert {command.name: command.aliases for command in commands() if command.aliases} == ALIASES


@pytest.mark.parametrize("words", ["--help", "help"])
def test_the_overview_needs_no_numbers(words: str) -> None:
    """Help is there at once: numpy alone takes longer to load than all of it."""
    code = f"""
import contextlib, sys
sys.argv = ["tablebase", *{words.split()}]
from tablebase.cli.entry import tablebase
with contextlib.suppress(SystemExit):
    tablebase()
print(sorted({{"numpy", "h5py", "numba", "rich"}} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


@pytest.mark.parametrize("name", [command.name for command in commands()])
def test_help_of_a_command_is_its_help(name: str, ask: Ask) -> None:
    said = ask("help", name)
    assert (said.status, said.err) == (0, "")
    assert said.out.startswith(f"usage: tablebase {name}")
    assert said == ask(name, "--help")


@pytest.mark.parametrize("name", [command.name for command in commands()])
def test_the_examples_of_a_command_are_commands(name: str, ask: Ask) -> None:
    assert ask(name, "--help").out.endswith(f"{show_examples(name)}\n")
    first, second = EXAMPLES[name]
    for example in (first, second):
        program, *words = shlex.split(example)
        command = find_command(words if program == "tablebase" else ["build", *words], commands())
        assert command is not None
        assert command.name == name
        command = replace(command, name=BUILD) if program == BUILD else command
        asked = read_words(command, words)
        if command.board != "none":
            board = asked.board()
            given = asked.given()
            assert given is None or asked.on(board, given) is not None


def test_tablebase_build_is_build_tablebase(ask: Ask, tmp_path: Path) -> None:
    asked = f"mnk 3x2 --connect 2 --dir {tmp_path} --json"
    assert ask(f"build {asked}").status == 0
    again = ask(f"bt {asked}")
    assert '"was_there": true' in again.out
    assert '"was_there": true' in ask(f"build {asked}").out
    assert (
        ask(f"build 3x3 --dir {tmp_path} --plan").out == ask(f"bt 3x3 --dir {tmp_path} --plan").out
    )


def test_quiet_prints_the_value_and_the_file(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "t.h5"
    for _ in range(2):  # built, and there already
        said = ask("bt", "3x3", "--connect", "3", "--out", str(path), "--quiet", "--distances")
        value, file = said.out.splitlines()
        assert value == "value of the empty board for the first player: DRAW"
        assert re.fullmatch(rf"file: {path} \([0-9.]+ kB\)", file)
        assert said.err == ""


def test_analyze_is_analyse(ask: Ask) -> None:
    asked = "4x4 121212 --memory 1M"
    assert ask(f"analyze {asked}") == ask(f"analyse {asked}")
    assert ask(f"--json analyze {asked}") == ask(f"analyse {asked} --json")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("slove", "solve"), ("Probe", "probe"), ("analise", "analyse"), ("bulid", "build"),
        ("tournement", "tournament"), ("lists", "list"),
    ],
)  # fmt: skip
def test_a_slip_gets_the_nearest_command(typed: str, meant: str, ask: Ask) -> None:
    said = ask(typed, "5x4")
    assert (said.status, said.out) == (2, "")
    assert said.err == f"error: no command is called '{typed}'. Did you mean '{meant}'?\n"
    assert ask("help", typed).err == said.err


def test_what_is_near_no_command_gets_the_way_to_the_list(ask: Ask) -> None:
    said = ask("5x4")
    assert said.status == 2
    assert said.err == "error: no command is called '5x4'. `tablebase help` lists the commands.\n"


def test_no_word_of_an_error_line_is_cut() -> None:
    rng = random.Random(25)
    lengths = (1, 4, 9, 59, 60, 61, 200, 700)
    for _ in range(2_000):
        words = ["x" * rng.choice(lengths) for _ in range(rng.randint(1, 60))]
        text = "".join(word + rng.choice((" ", " ", "/", "-")) for word in words)
        line = shorten(text)
        assert len(line) <= LONGEST_LINE
        assert {*re.split("[ /-]+", line)} <= {*words, "...", ""}
        if len(text.strip()) <= LONGEST_LINE:
            assert line == text.strip()
