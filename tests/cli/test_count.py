"""`tablebase stats --count`: positions without a table."""

import json
from pathlib import Path

import pytest
from cli_cases import Ask, check
from strategies import published

ROWS = [row for row in published("connect4_built.csv") if (row["width"], row["height"]) == (5, 4)]


def test_positions_are_counted_without_a_table(ask: Ask, tmp_path: Path) -> None:
    said = ask("stats", "5x4", "--count", "--json", "--dir", str(tmp_path))
    assert said.status == 0, said.err
    found = json.loads(said.out)
    check(found, "count")
    full = ROWS[-1]["positions"]
    wanted = [(row["ply"], row["positions"], row["terminal"]) for row in ROWS[:-1]]
    assert [tuple(ply.values()) for ply in found["plies"]] == [*wanted, (20, full, full)]
    assert found["positions"] == sum(row["positions"] for row in ROWS)
    assert list(tmp_path.iterdir()) == []


def test_some_plies_are_counted_alone(ask: Ask) -> None:
    said = ask("stats", "5x4", "--count", "--plies", "7..8", "--threads", "1")
    lines = said.out.splitlines()
    assert lines[0] == "connect4-5x4: legal positions"
    numbers = [ROWS[7]["positions"], ROWS[8]["positions"]]
    for line, ply, number in zip(lines[2:], ("7", "8"), numbers, strict=False):
        assert line.split() == [ply, f"{number:,}", f"{ROWS[int(ply)]['terminal']:,}"]
    assert lines[-1].split()[:2] == ["total", f"{sum(numbers):,}"]
    rooted = ask("stats", "5x4", "--count", "--from", "44", "--plies", "2..3", "--json")
    assert [ply["positions"] for ply in json.loads(rooted.out)["plies"]] == [1, 5]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("stats mnk 3x3 --count", "--count is for connect4"),
        ("stats 5x4 --plies 3", "--plies and --threads are for --count"),
        ("stats 5x4 --count --plies 3..30", "plies 3..30"),
    ],
)
def test_what_cannot_be_counted_so_is_refused(line: str, why: str, ask: Ask) -> None:
    said = ask(line)
    assert said.status != 0
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert why in said.err
