"""Whole dialogues through a pseudo-terminal, for every game and every mode."""

import contextlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from retro.games.catalogue import NAMES
from retro.play.record_text import read_record

SECONDS = 90  # for an answer: the first may compile kernels

# A game of two humans that the first or the second player wins, and whose line is marked.
GAMES = {
    "connect4": (["5x4"], "1 2 1 2 1 2 1", "X (human) wins"),
    "mnk": (["3x3"], "a1 b1 a2 b2 a3", "X (human) wins"),
    "notakto": (["3x3"], "a1 b1 c1", "(human) wins"),
    "puissance-plus": (["4x4"], "b2 a1 c3", "X (human) wins"),
    "domineering": (["2x2"], "0_0", "Vertical (human) wins"),
    "quarto": (["2x2", "--attributes", "2"], "0 a1-1 b1", "(human) wins"),
}


class Talk:
    """A command on a terminal of its own."""

    def __init__(self, *words: str, colour: bool = False, folder: Path | None = None) -> None:
        self.master, slave = pty.openpty()
        attributes = termios.tcgetattr(slave)
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "" if colour else "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tablebase", *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            cwd=folder,
            start_new_session=True,
            preexec_fn=lambda: __import__("fcntl").ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.text, self._read_to = "", 0

    def until(self, words: str, seconds: float = SECONDS) -> str:
        """What is shown up to some words, from where the last wait ended."""
        end = time.monotonic() + seconds
        while words not in self.text[self._read_to :]:
            ready, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
            more = b""
            if ready:
                with contextlib.suppress(OSError):  # the terminal was closed
                    more = os.read(self.master, 65536)
            if not more:
                pytest.fail(f"no {words!r} after {self.text[self._read_to :]!r}")
            self.text += more.decode()
        begin = self._read_to
        self._read_to = self.text.index(words, begin) + len(words)
        return self.text[begin : self._read_to].replace("\r\n", "\n")

    def say(self, line: str, until: str = "> ") -> str:
        """Type a line; what is shown up to the next prompt."""
        os.write(self.master, line.encode() + b"\n")
        return self.until(until)

    def interrupt(self) -> None:
        os.write(self.master, b"\x03")

    def interrupt_prompt(self, until: str) -> None:
        """Ctrl-C at a prompt, again if it came before readline listened and was not seen."""
        for _ in range(9):
            self._wait_until_it_waits()
            self.interrupt()
            with contextlib.suppress(pytest.fail.Exception):
                self.until(until, SECONDS / 9)
                return
        pytest.fail(f"no {until!r} after Ctrl-C")

    def _wait_until_it_waits(self) -> None:
        """Until it has done nothing for a tenth of a second, where the system says so."""
        stat, before = Path(f"/proc/{self.process.pid}/stat"), None
        for _ in range(100):
            now = stat.read_text().rpartition(")")[2].split()[11:13] if stat.exists() else None
            time.sleep(0.1)
            if now == before:
                return
            before = now

    def end(self) -> int:
        """The exit code; what is left to read is thrown away."""
        end = time.monotonic() + SECONDS
        while self.process.poll() is None and time.monotonic() < end:
            ready, _, _ = select.select([self.master], [], [], 0.1)
            with contextlib.suppress(OSError):
                if ready:
                    self.text += os.read(self.master, 65536).decode()
        return self.process.wait(1)

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.master)


@contextlib.contextmanager
def talk(*words: str, colour: bool = False, folder: Path | None = None) -> Iterator[Talk]:
    talking = Talk(*words, colour=colour, folder=folder)
    try:
        yield talking
    finally:
        talking.close()


@pytest.mark.parametrize("name", NAMES)
def test_two_humans(name: str, tmp_path: Path) -> None:
    """Every word once; the end is told, marked, taken back, played again and saved."""
    board, moves, wins = GAMES[name]
    *before, last = [move.replace("_", " ") for move in moves.split(" ")]
    kept = tmp_path / "kept.json"
    with talk("play", name, *board, "--second", "human") as seen:
        seen.until("> ")
        assert "a move is" in seen.say("help")
        assert "wanted a move, or one of: help, new" in seen.say("what")
        for move in before:
            shown = seen.say(move)
            assert "(human) plays" in shown
        end = seen.say(last, "over> ")
        assert wins in end
        assert "another game?" in end
        if name != "domineering":
            assert "[" in end.split("plays")[-1]  # the line, or the last move, is marked
        assert "game is over" in seen.say(last)
        shown = seen.say("undo")
        assert "another game?" not in shown
        assert wins in seen.say("redo", "over> ")
        assert "saved in" in seen.say(f"save {kept}")
        replayed = seen.say("replay 0", "over> ")
        assert replayed.count(" plays ") == len(before) + 1
        seen.say("new")
        assert "there is no move to take back" in seen.say("undo")
        assert wins in seen.say(f"load {kept}", "over> ")
        os.write(seen.master, b"quit\n")
        assert seen.end() == 0
    record = read_record(kept.read_text())
    assert record.board.game_name == name
    assert len(record.entries) == len(before) + 1
    assert record.seats == ("human", "human")
    assert all(entry.cost.seconds is not None for entry in record.entries)


@pytest.mark.parametrize("name", NAMES)
def test_a_human_against_the_computer(name: str, tmp_path: Path) -> None:
    """She moves, it answers; she takes back both; swaps; asks; raises the level; gives up."""
    size = {"connect4": "5x4", "quarto": "3x3"}.get(name, "4x4")
    first = {"connect4": "3", "quarto": "5", "domineering": "1 1"}.get(name, "b2")
    with talk("play", name, size, "--seed", "4") as seen:
        seen.until("> ")
        assert "easy: draws 1 move in 4 by lot" in seen.text
        shown = seen.say(first)
        assert shown.count(" plays ") == 2
        assert " (easy) plays " in shown
        assert "values: " in seen.say("values on")
        seen.say("values off")
        seen.say("undo")
        assert "there is no move to take back" in seen.say("undo")
        assert "hint: " in seen.say("hint")
        assert "found player 'wizard'" in seen.say("level wizard")
        assert "beginner: draws 1 move in 2" in seen.say("level beginner")
        assert "(beginner) plays" in seen.say("swap")
        assert seen.say("resign", "over> ").count("(beginner) wins by resignation") == 1
        shown = seen.say("undo")  # the resignation, and no move
        assert "there is no move" not in shown
        assert not shown.endswith("over> ")
        os.write(seen.master, b"\x04")  # the end of the input
        assert seen.end() == 0


@pytest.mark.parametrize(
    "name", [n if n == "mnk" else pytest.param(n, marks=pytest.mark.slow) for n in NAMES]
)
def test_the_computer_against_itself(name: str) -> None:
    board, _, _ = GAMES[name]
    arguments = ["play", name, *board, "--first", "easy", "--second", "random", "--seed", "2"]
    with talk(*arguments) as seen:
        end = seen.until("over> ")
        assert re.search(r"\((easy|random)\) wins|nobody wins", end)
        assert "(easy) plays" in end
        assert "(human)" not in end
        end = seen.say("new", "over> ")
        assert "another game?" in end
        os.write(seen.master, b"quit\n")
        assert seen.end() == 0


def test_ctrl_c_asks_before_a_game_is_dropped() -> None:
    with talk("play", "mnk", "--second", "human") as seen:
        seen.until("> ")
        seen.say("b2")
        seen.interrupt_prompt("the game is not saved; leave it? [y/N] ")
        seen.say("n")
        assert "O (human) plays a1" in seen.say("a1")
        seen.interrupt_prompt("[y/N] ")
        os.write(seen.master, b"y\n")
        assert seen.end() == 130
        assert "interrupted" in seen.text
        assert "Traceback" not in seen.text


def test_ctrl_c_makes_the_computer_play_what_it_has_found(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with talk("play", "5x4", "--first", "uct:60.0s") as seen:
        seen.until("thinks: ")
        seen.until(" nodes, ")
        begin = time.monotonic()
        seen.interrupt()
        seen.until("X (uct:60.0s) plays ")
        assert time.monotonic() - begin < 50  # not until its minute is over
        seen.until("> ")
        seen.say(f"save {kept}")
        os.write(seen.master, b"quit\n")
        assert seen.end() == 0
    entry = read_record(kept.read_text()).entries[0]
    assert entry.cost.remark.startswith("interrupted; ")
    assert entry.cost.nodes > 0


def test_no_typo_ends_the_game(tmp_path: Path) -> None:
    with talk("play", "mnk", "--second", "human", folder=tmp_path) as seen:
        seen.until("> ")
        for line in (
            "save",
            "save a\0b",
            f"save {tmp_path}",
            "save /nowhere/at/all",
            f"save {'x' * 5000}",
            "load",
            "load /nowhere",
            "load a\0b",
            f"load {tmp_path}",
            "load /dev/zero",
            "values maybe",
            "level",
            "level easy",
            "new human",
            "new human wizard",
            "replay soon",
            "replay -1",
            "redo",
            "undo",
            "\0",
            "b2 b2",
            "z99",
            "é",
            "x" * 3000,
        ):
            shown = seen.say(line)
            assert shown.endswith("X> "), line
        assert "X (human) plays b2" in seen.say("b2")


def test_files_of_the_command_line(tmp_path: Path) -> None:
    """A game of earlier programs is gone on with, and shown; the board is the file's."""
    kept = tmp_path / "old.game"
    kept.write_text("mnk 3x3 connect=3\nb2 a1\n")
    with talk("play", "--load", str(kept), "--second", "human") as seen:
        assert " 2  . X .\n  1 [O]. .\n" in seen.until("X> ")
        seen.say("undo")
        seen.say("undo")
    with talk("play", "--replay", str(kept)) as seen:
        more = "; Enter goes on, b back, q stops> "
        seen.until(f"0 of 2{more}")
        assert "1. X plays b2" in seen.say("", f"1 of 2{more}")
        assert " plays " not in seen.say("b", f"0 of 2{more}")
        assert "1. X plays b2" in seen.say("", f"1 of 2{more}")
        os.write(seen.master, b"\n")
        assert seen.end() == 0
        assert "2. O plays a1" in seen.text


def test_colour_only_where_it_is_wanted() -> None:
    with talk("play", "mnk", "--second", "human", colour=True) as seen:
        seen.until("> ")
        assert "\x1b[1;4mX\x1b[0m" in seen.say("b2", "O> ")
    with talk("play", "mnk", "--second", "human") as seen:
        seen.until("> ")
        assert "\x1b[1;4m" not in seen.say("b2", "O> ")
        assert ".[X]." in seen.text
    piped = subprocess.run(
        [sys.executable, "-m", "tablebase", "play", "mnk", "--second", "human"],
        input="b2\na1\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "\x1b" not in piped.stdout + piped.stderr
    assert "[" not in piped.stdout


def test_a_closed_input_ends_the_game() -> None:
    done = subprocess.run(
        f"{sys.executable} -m tablebase play mnk <&-", shell=True, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_quarto_names_its_pieces() -> None:
    with talk("play", "quarto", "--second", "human") as seen:
        seen.until("> ")
        assert "f blue tall solid square" in seen.text
        assert "in hand: f (blue tall solid square)" in seen.say("f")
        assert "(human) plays b2-3" in seen.say("b2-blue tall hollow round")
        assert "(human) plays a1-0" in seen.say("a1-0")


def test_json_of_a_match_tells_all(tmp_path: Path) -> None:
    words = ["match", "mnk", "--first", "easy", "--second", "random", "--games", "4", "--json"]
    run = subprocess.run(
        [sys.executable, "-m", "tablebase", *words, "--save", str(tmp_path), "--openings", "2"],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(run.stdout)
    assert [game["first"] for game in found["games"]] == ["easy", "random"] * 2
    assert [game["moves"][0]["remark"] for game in found["games"]] == ["opening"] * 4
    assert {row["player"] for row in found["players"]} == {"easy", "random"}
    assert sum(row["points"] for row in found["players"]) == 4
    assert len(list(tmp_path.glob("0*.json"))) == 4
