"""Command lines and Python calls made of right, wrong and absurd words.

A command line ends with one of the documented exit codes and at most one short line of complaint;
a Python call gives an answer or a named error. Neither takes long: every search gets a
time limit. Tables are in a folder with good, bad and odd files.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import tablebase as tb
from campaigns.common import Campaign, Case, Guinea, scratch, smallest, told
from retro.errors import TablebaseError

if TYPE_CHECKING:
    from collections.abc import Iterator

AT_ONCE = 20
EXIT_CODES = frozenset(range(15))
LONGEST = 240  # of a line on stderr: "error: " and 200 letters, some of them escaped
COMMANDS = (
    "probe",
    "line",
    "solve",
    "analyse",
    "stats",
    "list",
    "verify",
    "draw",
    "trace",
    "build",
    "play",
)
GAMES = ("", "connect4", "mnk", "quarto", "domineering", "notakto", "puissance-plus", "chess")
SIZES = ("2x2", "3x3", "4x3", "3x2", "4x4", "1x1", "0x0", "-1x3", "7x6", "99x99", "3x", "x", "")
POSITIONS = (
    "", "1", "12", "b2", "a1 b2", "a1a2", "..../..../..../....,3", "0", "99999", "9" * 5000, "\0",
    "é", "-", "--", "/dev/null", "/dev/zero", "nothing.txt", ".", "good.h5", "bad.h5", "folder.h5",
    "fifo.h5", "loop.h5", "x" * 100_000, "3x3 xo. .x. ..o", "\udcff", "4x4", "{}", "$(ls)", "a\nb",
)  # fmt: skip
NUMBERS = ("0", "1", "2", "3", "-1", "1e9", "nan", "inf", "10" * 20, "", "x", "0x10", "٣", "1_0")
OPTIONS = (
    "--connect", "--attributes", "--values", "--target", "--memory", "--threads", "--depth",
    "--level", "--plies", "--from", "--grid", "--most", "--games", "--seed", "--starts",
)  # fmt: skip
FLAGS = (
    "--json",
    "--strong",
    "--plan",
    "--any-counts",
    "--help",
    "--version",
    "--solver",
    "--bogus",
)


TYPED = (  # in a game at the terminal
    "1", "2", "3", "b2", "a1", "a1a2", "undo", "help", "hint", "moves", "", "\0", "\0" * 9, "save",
    "save \0", "save .", "save /", "save fifo.h5", "save loop.h5", "save good.h5", "save x/y/z",
    "save " + "x" * 5000, "save game.txt", "save game.json", "load game.txt", "load bad.h5",
    "load /dev/zero", "load", "9" * 5000, "\x1b[A", "é", "\udcff", "resign", "quit quit", "level x",
)  # fmt: skip


def cases(campaign: Campaign) -> Iterator[Case]:
    guinea = Guinea()
    with scratch() as folder:
        furnish(folder)
        try:
            for number in range(10**9):
                rng = random.Random(f"{campaign.seed} {number}")
                make = _line if rng.random() < 0.25 else _call
                asked = [(make.__name__, make(rng)) for _ in range(AT_ONCE)]
                found = guinea.ask(try_each, str(folder), asked)
                if found[0] in ("died", "hung"):
                    found = [guinea.ask(try_each, str(folder), [one]) for one in asked]
                    found = [one if one[0] in ("died", "hung") else one[0] for one in found]
                for (kind, words), (how, what) in zip(asked, found, strict=True):
                    campaign.notes[f"{kind[1:]} {how}"] = (
                        campaign.notes.get(f"{kind[1:]} {how}", 0) + 1
                    )
                    failed = None if how in ("answered", "refused") else f"{how}: {what}"
                    keep = partial(_keep, guinea, folder, kind, words)
                    yield Case(f"{kind[1:]} {words!r:.300}", told(failed), keep)
        finally:
            guinea.close()


def furnish(folder: Path) -> None:
    """A folder with good, bad and odd files."""
    tb.build("3x3 connect=3", folder / "good.h5", threads=1)
    for board in ("3x3 connect=3", "mnk 3x3"):
        tb.build(board, folder=folder, threads=1)
    (folder / "bad.h5").write_bytes((folder / "good.h5").read_bytes()[:5000])
    (folder / "folder.h5").mkdir()
    os.mkfifo(folder / "fifo.h5")
    (folder / "loop.h5").symlink_to("loop.h5")
    (folder / "grid.txt").write_text("3x3\n...\n...\n.x.\n")


def _line(rng: random.Random) -> list[str]:
    """The words of a command line."""
    words = [rng.choice(COMMANDS), rng.choice(GAMES), rng.choice(SIZES)]
    words += [rng.choice(POSITIONS) for _ in range(rng.choice((0, 1, 1, 2)))]
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        if rng.random() < 0.5:
            words += [rng.choice(OPTIONS), rng.choice((*NUMBERS, *POSITIONS[:20], "grid.txt"))]
        else:
            words.append(rng.choice(FLAGS))
    words = [word for word in words if word]
    if words[0] == "build":
        return [*words, "--plan"]
    return [*words, "--time-limit", "0.2"] if words[0] in COMMANDS[:4] else words


CALLS = ("board", "position", "open", "probe_many", "oracle", "plan", "verify", "solver", "record")


def _call(rng: random.Random) -> list[str]:
    """A Python call: which, a board, and some arguments."""
    board = " ".join(filter(None, (rng.choice(GAMES), rng.choice(SIZES))))
    return [rng.choice(CALLS), board, rng.choice(POSITIONS), rng.choice(NUMBERS)]


def try_each(text: str, asked: list[tuple[str, list[str]]]) -> list[tuple[str, str]]:
    os.chdir(text)
    os.environ["TABLEBASE_DIR"] = text
    return [(_try_line if kind == "_line" else _try_call)(words) for kind, words in asked]


def _try_line(words: list[str]) -> tuple[str, str]:
    from tablebase.cli.build import main as build
    from tablebase.cli.main import main

    out, complaints = io.StringIO(), io.StringIO()
    stdin, sys.stdin = sys.stdin, io.StringIO(_typed(words))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(complaints):
            code = build(words[1:]) if words[0] == "build" else main(words)
    except SystemExit as error:  # --help, --version
        code = error.code if isinstance(error.code, int) else 0
    except BaseException as error:
        return "raised", f"{type(error).__name__}: {error}"
    finally:
        sys.stdin = stdin
    longest = max(map(len, complaints.getvalue().splitlines()), default=0)
    if code not in EXIT_CODES or longest > LONGEST or "Traceback" in complaints.getvalue():
        return "bad end", f"exit {code}, {longest} letters: {complaints.getvalue()[:200]}"
    return ("refused" if code else "answered"), ""


def _typed(words: list[str]) -> str:
    """What is typed: a position, or in a game whatever may come, and then the end."""
    if words[0] != "play":
        return "3x3 ... ... .x."
    rng = random.Random(repr(words))
    return "".join(f"{rng.choice(TYPED)}\n" for _ in range(rng.randrange(12)))


def _try_call(words: list[str]) -> tuple[str, str]:
    try:
        _do_call(*words)
    except TablebaseError:
        return "refused", ""
    except BaseException as error:
        return "raised", f"{type(error).__name__}: {error}"
    return "answered", ""


def _do_call(name: str, board: str, text: str, number: str) -> Any:
    if name == "board":
        return tb.board(board, connect=number) if number else tb.board(text)
    if name == "position":
        return tb.board(board).position(text).outcome()
    if name == "open":
        return tb.open_tablebase(text or board).close()
    if name == "probe_many":
        with tb.open_tablebase("good.h5") as table:
            return table.probe_many(*_arrays(text + number))
    if name == "oracle":
        with tb.oracle(board, memory="1M", time_limit=0.1) as oracle:
            return oracle.probe(text)
    if name == "plan":
        made = tb.board(board)
        return tb.plan(made, root=text or None, memory=number or None) if made.cells < 20 else None
    if name == "verify":
        return tb.verify(Path(text) if text.endswith(".h5") else board)
    if name == "solver":
        return tb.Solver(board, memory="1M", time_limit=0.1).solve(text)
    from retro.play.record_text import read_record

    return read_record(text + number)


def _arrays(text: str) -> tuple[Any, Any]:
    """Arrays for `probe_many`, right and wrong, made of the letters of a text."""
    rng = np.random.default_rng(list(text.encode("utf-8", "replace"))[:50])
    kinds = ("u8", "i8", "f8", "u4", "i1", "U3", "O", "?", "c16")
    dtypes = [kinds[int(rng.integers(len(kinds)))] for _ in range(2)]
    sizes = [int(rng.integers(0, 4)) for _ in range(2)] if rng.random() < 0.5 else [2, 2]
    numbers = [
        rng.integers(-1, 600, size).astype(dtype) for size, dtype in zip(sizes, dtypes, strict=True)
    ]
    return numbers[0], None if rng.random() < 0.2 else numbers[1]


def _keep(guinea: Guinea, folder: Path, kind: str, words: list[str], out: Path) -> None:
    def fails(fewer: list[str]) -> bool:
        found = guinea.ask(try_each, str(folder), [(kind, fewer)])
        return found[0] in ("died", "hung") or found[0][0] not in ("answered", "refused")

    least = (
        words
        if kind == "_call"
        else [words[0], *smallest(words[1:], lambda w: fails([words[0], *w]))]
    )
    (out / "words.txt").write_text(shlex.join(least), errors="backslashreplace")
