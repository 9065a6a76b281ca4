"""`tablebase tournament`: the same result on any number of cores, interrupted or not."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_cases import Ask

from retro.errors import BadTextError, WrongBoardError

WORDS = ["tournament", "mnk", "3x3", "random", "easy", "alphabeta:2", "--games", "4"]


def without_times(text: str) -> dict:
    content = json.loads(text)
    for row in content["players"]:
        del row["seconds"], row["longest"]
    for game in content["games"]:
        for move in game["moves"]:
            del move["seconds"], move["remark"]
    return content


def test_cores_and_kept_games_change_nothing(ask: Ask, no_tables: None, tmp_path: Path) -> None:
    one = without_times(ask(*WORDS, "--threads", "1", "--json").out)
    two = without_times(ask(*WORDS, "--threads", "2", "--json").out)
    assert one == two
    assert [len(one["players"]), len(one["games"])] == [3, 12]
    kept = ["--threads", "1", "--json", "--save", str(tmp_path)]
    assert without_times(ask(*WORDS, *kept).out) == one
    for number in (3, 7):
        (tmp_path / f"{number:04}.json").unlink()
    said = ask(*WORDS, *kept)
    assert without_times(said.out) == one
    assert "10 games were played before" in said.err
    assert said.err.count(" of 12: ") == 2
    other = ask(*WORDS, *kept, "--seed", "5")
    assert other.status == WrongBoardError.exit_code
    assert "holds the games of another contest" in other.err


def test_the_cross_table_adds_up(ask: Ask, no_tables: None) -> None:
    out = ask(*WORDS, "--threads", "1").out.splitlines()
    header, *rows = (line.split() for line in out[1:5])
    assert header == ["player", "Elo", "+-", "points", "games", "1", "2", "3"]
    elos = [int(row[2]) for row in rows]
    assert elos == sorted(elos, reverse=True)
    assert sum(float(row[4]) for row in rows) == 12
    for row in rows:
        assert float(row[4]) == sum(map(float, row[6:]))
        assert row[5] == "8"


def test_mistakes_are_counted_with_a_table(ask: Ask, shelf: Path) -> None:
    words = ["tournament", "mnk", "3x3", "random", "perfect", "--games", "10", "--threads", "1"]
    found = json.loads(ask(*words, "--json").out)
    random, perfect = (row["mistakes"] for row in found["players"])
    assert sum(random.values()) > 5
    assert perfect == {}
    assert "mistakes" in ask(*words).out


def test_an_interrupted_tournament_goes_on(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tablebase", *WORDS[:-1], "60", "--threads", "2"]
    words += ["--save", str(tmp_path), "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 120
    while len(list(tmp_path.glob("0*.json"))) < 3 and time.monotonic() < end:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0
    played = len(json.loads(out)["games"])
    assert 3 <= played < 180
    assert f"interrupted after {played} of 180 games; the same command goes on from there" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("tournament mnk easy", "found 1 player, wanted at least 2"),
        ("tournament mnk easy easy", "found a player twice"),
        ("tournament mnk easy human", "a human plays in a match"),
        ("tournament mnk easy wizard", "found player 'wizard'"),
        ("tournament mnk easy allis --threads 1", "wanted a board of Connect Four"),
        ("tournament mnk easy random --games 0", "wanted at least 1"),
        ("tournament mnk easy random --openings 9", "is open after 9 plies"),
        ("match mnk --first easy --second random --openings /nowhere", "cannot read /nowhere"),
    ],
)
def test_mistakes_of_the_user_get_one_line(
    ask: Ask, no_tables: None, words: str, text: str
) -> None:
    said = ask(words)
    assert said.status in (BadTextError.exit_code, WrongBoardError.exit_code)
    assert text in said.err
    assert len(said.err.splitlines()) == 1


def test_openings_from_a_file(ask: Ask, no_tables: None, tmp_path: Path) -> None:
    lines = tmp_path / "openings"
    lines.write_text("b2 a1   # the middle\n\nc3 b2\n")
    said = ask(
        *["match", "mnk", "--first", "easy", "--second", "random", "--games", "4"],
        *["--openings", str(lines), "--json"],
    )
    begun = [[m["move"] for m in game["moves"][:2]] for game in json.loads(said.out)["games"]]
    assert begun == [["b2", "a1"]] * 2 + [["c3", "b2"]] * 2
    lines.write_text("b2 b2\n")
    said = ask("match", "mnk", "--first", "easy", "--second", "random", "--openings", str(lines))
    assert "openings, line 1: move 2 of 'b2 b2'" in said.err
