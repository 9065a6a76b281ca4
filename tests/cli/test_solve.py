"""`tablebase solve` and `analyse`: one word on stdout, statistics on stderr."""

import json
from pathlib import Path

import pytest
from cli_cases import Ask

from retro import errors

pytestmark = pytest.mark.usefixtures("no_tables")


@pytest.mark.parametrize(
    ("board", "letter"),
    [("1x1", "P"), ("1x5", "H"), ("2x5", "V"), ("4x4", "N"), ("5x5", "P"), ("4x5", "V")],
)
def test_classes_of_domineering(board: str, letter: str, ask: Ask) -> None:
    said = ask(f"solve domineering {board}")
    assert (said.status, said.out) == (0, f"{letter}\n")
    assert "vertical starts" in said.err
    assert "horizontal starts" in said.err
    assert f"{board} (ROWSxCOLS): {letter}" in said.err


def test_json_of_a_class(ask: Ask) -> None:
    found = json.loads(ask("solve domineering 4x5 --json").out)
    assert (found["class"], found["board"], found["size_order"]) == ("V", "4x5", "ROWSxCOLS")
    assert [found["starts"][side]["value"] for side in ("vertical", "horizontal")] == [
        "WIN",
        "LOSS",
    ]
    assert found["starts"]["horizontal"]["nodes"] > 0


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("domineering 3x3 'b1 a3'", "WIN"),
        ("domineering 3x3 --starts horizontal", "WIN"),
        ("domineering 2x4 --starts vertical", "LOSS"),
        ("domineering 2x2 '2x2 H X. ..'", "WIN"),
        ("domineering '2x2 H X. ..'", "WIN"),
        ("mnk", "DRAW"),
        ("mnk 3x3 'a1 a2'", "WIN"),
        ("mnk a1 a2", "WIN"),
        ("mnk 4x3 --connect 3", "WIN"),
        ("puissance-plus 3x3 --target 5 --values 121/232/121", "WIN"),
        ("quarto 2x2 --attributes 2", "LOSS"),
        ("quarto 9..2/d5.c/.b.6/.0.3,a", "DRAW"),
        ("44444432655555 --memory 64M", "WIN"),
    ],
)
def test_values_of_every_game(line: str, word: str, ask: Ask) -> None:
    said = ask(f"solve {line}")
    assert (said.status, said.out) == (0, f"{word}\n"), said.err
    assert f"{word} for the side to move, by search" in said.err


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("mnk 3x3", "DRAW 9"),
        ("mnk 3x3 'b2 b1'", "WIN 5"),
        ("domineering 3x3 --starts horizontal", "WIN 3"),
        ("domineering 2x4 --starts vertical", "LOSS 4"),
        ("domineering 4x4", "N 7 7"),
        ("domineering 4x5", "V 9 8"),
        ("quarto 2x2 --attributes 2", "LOSS 4"),
        ("notakto 3x3", "WIN 6"),
        ("5x4 443 --threads 2", "WIN 17"),
    ],
)
def test_strong_adds_the_plies(line: str, answer: str, ask: Ask) -> None:
    said = ask(f"solve {line} --strong")
    assert (said.status, said.out) == (0, f"{answer}\n")
    found = json.loads(ask(f"solve {line} --strong --json").out)
    plies = [int(word) for word in answer.split()[1:]]
    starts = found.get("starts", {"": found})
    assert [one["plies"] for one in starts.values()] == plies


def test_analysis_of_every_move(ask: Ask) -> None:
    lines = ask("analyse mnk 3x3 'b2 b1'").out.splitlines()
    assert lines[0].startswith("move  value  plies")
    assert [line.split() for line in lines[1:-1]] == [
        *([move, "WIN", "5"] for move in ("a1", "c1", "a2", "c2", "a3", "c3")),
        ["b3", "DRAW", "7"],
    ]
    assert lines[-1] == "line: a1 c3 a2 c1 c2"
    found = json.loads(ask("analyse mnk 3x3 'b2 b1' --json").out)
    assert (found["game"], found["position"], found["value"]) == ("mnk", "b2 b1", "WIN")
    assert found["moves"][0] == {"move": "a1", "value": "WIN", "plies": 5, "after": "b2 b1 a1"}
    assert found["line"] == ["a1", "c3", "a2", "c1", "c2"]


def test_a_lost_position_is_analysed_slowest_first(ask: Ask) -> None:
    moves = json.loads(ask("analyse notakto 3x3 b2 --json").out)["moves"]
    assert {move["value"] for move in moves} == {"LOSS"}
    plies = [move["plies"] for move in moves]
    assert plies == sorted(plies, reverse=True)


def test_tables_answer_first(ask: Ask, tmp_path: Path) -> None:
    place = f"--dir {tmp_path}"
    assert ask(f"bt mnk 3x3 {place} --quiet").status == 0
    assert "by table, 0 nodes" in ask(f"solve mnk 3x3 'b2 b1' {place}").err
    said = ask(f"solve mnk 3x3 'b2 b1' --strong {place}")
    assert (said.status, said.out) == (0, "WIN 5\n")
    assert "by table and search" in said.err
    question = "analyse mnk 3x3 'b2 b1'"
    assert ask(f"{question} {place}").out == ask(question).out
    for starts in ("vertical", "horizontal"):
        assert ask(f"bt domineering 3x3 --starts {starts} {place} --quiet").status == 0
    found = json.loads(ask(f"solve domineering 3x3 {place} --json").out)
    assert (found["class"], found["starts"]["vertical"]["source"]) == ("N", "table")
    # A hole: no play leads there.
    assert "by search" in ask(f"solve domineering 3x3 '3x3 V X.. ... ...' {place}").err


@pytest.mark.parametrize(
    ("line", "error", "message"),
    [
        ("solve domineering 3by3 --starts vertical", errors.BadTextError, "3by3"),
        ("solve domineering 3x3 a9", errors.IllegalPositionError, "not on the board"),
        ("solve domineering 3x3 --starts x", errors.BadTextError, "wanted vertical or"),
        ("solve domineering 8x8 --time-limit 0 --memory 1M", errors.TimeLimitError, "within 0 s"),
        ("solve 6x6 --time-limit 0 --memory 16M", errors.TimeLimitError, "within 0 s"),
        ("analyse mnk 6x6 --connect 5 --time-limit 0", errors.TimeLimitError, "within 0 s"),
        ("analyse mnk 3x3 'a1 b1 a2 b2 a3'", errors.GameOverError, "3 in a line"),
        ("analyse mnk 3x3 a9", errors.IllegalPositionError, "a9"),
    ],
)
def test_errors(line: str, error: type[errors.TablebaseError], message: str, ask: Ask) -> None:
    said = ask(line)
    assert (said.status, said.out) == (error.exit_code, "")
    assert message in said.err
    assert "Traceback" not in said.err


def test_connect_four_is_the_game_unless_another_is_named(ask: Ask) -> None:
    assert ask("solve connect4 4x4 12 --memory 16M").out == ask("solve 4x4 12 --memory 16M").out
    assert json.loads(ask("solve 444444 --json --memory 64M").out)["board"] == "7x6"


def test_a_full_board_is_a_draw(ask: Ask) -> None:
    said = ask("solve 2x2 1212")
    assert (said.status, said.out) == (0, "DRAW\n")
    assert "the board is full" in said.err
    assert ask("solve 2x2 1212 --strong").out == "DRAW 0\n"
