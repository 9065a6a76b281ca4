"""`tablebase trace` and `study` as people use them: positions, trees in files, exercises, rules."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from cli_cases import Ask, check

from retro.errors import BadTextError

pytestmark = pytest.mark.usefixtures("no_tables")

TREE = "# MAX above MIN\nMAX( MIN(3 12 8) b:MIN(2 4 c:MAX(6 9)) MIN(14 5 2) )\n"


def asked_json(ask: Ask, *words: str) -> Any:
    said = ask(*words, "--json")
    assert said.status == 0, said.err
    content = json.loads(said.out)
    check(content, words[0])
    return content


def test_a_tree_in_a_file(ask: Ask, tmp_path: Path) -> None:
    path, picture = tmp_path / "tree.txt", tmp_path / "tree.svg"
    path.write_text(TREE)
    said = ask("trace", "--tree", str(path), "--svg", str(picture))
    assert said.out.startswith("alpha-beta of tree: value 3, line #1 3; 11 nodes visited, 2 ")
    assert "x cut by alpha, 2 <= 3: 4 c" in said.out
    assert ET.fromstring(picture.read_text()).tag.endswith("svg")
    for algorithm, visited in (("minimax", 15), ("negamax", 15), ("alpha-beta", 11)):
        words = ("trace", "--tree", str(path), "--algorithm", algorithm)
        found = asked_json(ask, *words)["trace"]
        assert (found["value"], found["visited"]) == (3, visited)


@pytest.mark.parametrize(
    ("text", "tree", "why"),
    [
        ("MAX(MIN(? ? ?) MIN(? /? /?))", "MAX(MIN(3 2 1) MIN(0 /-1 /-1))", ""),
        ("MAX(MIN(? /?) MIN(? ?))", None, "a cut needs a bound that was found before"),
    ],
)
def test_an_exercise(ask: Ask, tmp_path: Path, text: str, tree: str | None, why: str) -> None:
    path, solved = tmp_path / "exercise.txt", tmp_path / "solved.txt"
    path.write_text(text)
    words = ("trace", "--tree", str(path), "--exercise")
    found, out = asked_json(ask, *words)["exercise"], ask(*words).out.strip()
    assert found["possible"] == (tree is not None)
    assert why in found["why"]
    if tree is None:
        assert out.startswith("impossible: ")
        said = ask(*words, "--svg", str(tmp_path / "none.svg"))
        assert (said.status, said.out) == (BadTextError.exit_code, "")
        assert why in said.err
        return
    picture = tmp_path / "solved.svg"
    assert ask(*words, "--svg", str(picture)).out.strip() == out
    assert ET.parse(picture).getroot().tag.endswith("svg")
    solved.write_text(out)  # a search of the answer cuts what was marked
    trace = asked_json(ask, "trace", "--tree", str(solved))["trace"]
    assert trace["branches_cut"] == text.count("/")


def test_a_position_is_bounded_and_says_what_is_left_out(ask: Ask) -> None:
    said = ask("trace", "5x4", "33", "--depth", "4", "--most", "10")
    assert said.out.splitlines()[-1].startswith("not shown: ")
    found = asked_json(ask, "trace", "5x4", "33", "--depth", "4", "--most", "10")["trace"]
    assert found["shown"] <= 10
    assert found["shown"] + found["left_out"] == found["visited"]


def test_rules_of_a_position(ask: Ask) -> None:
    assert "proof: the second player at least draws: " in ask("trace", "6x4", "--rules").out
    (reading,) = asked_json(ask, "trace", "6x4", "--rules")["rules"]
    names = {instance["rule"] for instance in reading["instances"]}
    assert {"claimeven", "baseinverse", "vertical", "aftereven"} <= names
    moves = asked_json(ask, "trace", "6x4", "3", "--rules")["rules"]
    assert {reading["move"] for reading in moves} == set("123456")


def test_a_study(ask: Ask, tmp_path: Path) -> None:
    picture = tmp_path / "study.svg"
    said = ask("study", "mnk", "3x3", "--nodes", "2000", "--svg", str(picture))
    assert "minimax" in said.out
    assert "alpha-beta" in said.out
    assert ET.fromstring(picture.read_text()).tag.endswith("svg")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("trace --exercise", "--exercise wants a tree"),
        ("trace --tree /nowhere", "cannot read /nowhere"),
        ("trace --rules --tree x", "--rules wants a position"),
        ("trace mnk 3x3 --rules", "wanted a board of Connect Four"),
        ("trace 7x5 --rules", "wanted an even height"),
        ("trace 7x6 --evaluation taste", "connect4 has: open, runs, cells"),
        ("study --nodes 100 --svg /nowhere/x.svg", "/nowhere/x.svg"),
    ],
)
def test_what_cannot_be_answered_gets_one_line(ask: Ask, words: str, message: str) -> None:
    said = ask(words)
    assert said.status != 0
    assert message in said.err
    assert len(said.err.splitlines()) == 1
