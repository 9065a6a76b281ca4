"""`solve --lines` and `analyse --lines`: one position a line, one answer a line, in order."""

import io
import json
import sys
from pathlib import Path

import pytest
from cli_cases import Ask, board_words, small_board

import tablebase as tb
from retro import errors
from retro.games.catalogue import NAMES

pytestmark = pytest.mark.usefixtures("shelf")


def some_lines(name: str, number: int = 12) -> list[str]:
    """Texts of positions, finished ones among them."""
    found, position = [], small_board(name).start()
    for place in range(number):
        if position.is_over():
            position = small_board(name).start()
        found.append(position.text or "-")
        position = position.play(position.moves[place % len(position.moves)])
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["solve", "solve --strong", "analyse"])
def test_lines_are_answered_as_one_by_one(
    name: str, command: str, ask: Ask, shelf: Path, tmp_path: Path
) -> None:
    lines, path = some_lines(name), tmp_path / "lines.txt"
    path.write_text("# positions\n\n" + "\n".join(lines) + "\n")
    words = [*command.split(), *board_words(name), "--memory", "1M"]
    said = ask(*words, "--lines", str(path), "--format", "jsonl")
    assert said.status == 0, said.err
    found = [json.loads(line) for line in said.out.splitlines()]
    assert [(row["line"], row["position"]) for row in found] == [*enumerate(lines, start=3)]
    strong = command != "solve"
    with tb.oracle(small_board(name), folder=shelf, memory="1M") as oracle:
        for text, row in zip(lines, found, strict=True):
            alone = oracle.solve(text, strong=strong).to_dict()
            assert (row["value"], row["plies"]) == (alone["value"], alone["plies"])
            if command == "analyse" and not oracle.board.position(text).is_over():
                moves = [(move["move"], move["value"], move["plies"]) for move in row["moves"]]
                rated = oracle.analyse(text).moves
                assert moves == [(one.move, str(one.value), one.plies) for one in rated]
    table = ask(*words, "--lines", str(path), "--format", "tsv").out.splitlines()
    assert table[0].split("\t")[:3] == ["position", "value", "plies"]
    assert [row.split("\t")[:2] for row in table[1:]] == [
        [r["position"], r["value"]] for r in found
    ]
    text = ask(*words, "--lines", str(path)).out.splitlines()
    assert [row.split()[0] for row in text] == [row["value"] for row in found]


def test_processes_keep_the_order(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(some_lines("mnk", 50)))
    alone = ask("solve", "mnk", "4x3", "--lines", str(path)).out
    assert len(alone.splitlines()) == 50
    assert ask("solve", "mnk", "4x3", "--lines", str(path), "--jobs", "2").out == alone


def test_scores_of_test_sets_are_left_out(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("443 7\n44 -2\n-\n"))
    assert ask("solve 5x4 --lines").out.splitlines() == ["WIN", "DRAW", "DRAW"]


def test_an_error_names_its_line(ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = "443\n\n4z\n11111\n12\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    said = ask("solve 5x4 --lines")
    assert (said.status, said.out) == (errors.IllegalPositionError.exit_code, "WIN\n")
    assert said.err.startswith("error: standard input, line 3: move 2 of '4z'")
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    said = ask("solve 5x4 --lines - --keep-going")
    assert said.status == errors.IllegalPositionError.exit_code
    assert said.out.splitlines() == ["WIN", "error", "error", "LOSS"]
    assert [line.split(":")[0] for line in said.err.splitlines()] == [
        "standard input, line 3", "standard input, line 4",
    ]  # fmt: skip
    for words in ("solve 5x4 443 --lines", "analyse 5x4 --lines /nowhere/at/all"):
        said = ask(words)
        assert (said.status, said.out) == (errors.BadTextError.exit_code, "")
        assert len(said.err.splitlines()) == 1
    path = tmp_path / "long.txt"
    path.write_text("443\n" + "1" * 20_000)
    assert "line 2 has more than 10,000 bytes" in ask("solve", "5x4", "--lines", str(path)).err
