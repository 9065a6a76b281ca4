"""The counts of every board that was built, held against what is published and built again.

`tablebase/data/connect4_built.csv` is written by `scripts/record_counts.py` from finished tables.
"""

from itertools import groupby

import pytest
from strategies import published

from retro.games.connect4.rules import Connect4Board
from tablebase.answers import COUNT_NAMES
from tablebase.building.build import build
from tablebase.tables import open_tablebase

BUILT = {
    Connect4Board(*sizes): list(rows)
    for sizes, rows in groupby(
        published("connect4_built.csv"), lambda row: (row["width"], row["height"], row["connect"])
    )
}
COUNTS = {(row["width"], row["height"]): row for row in published("connect4_counts.csv")}
VALUES = {(row["width"], row["height"]): row["value"] for row in published("connect4_values.csv")}


def marked(board):
    marks = [pytest.mark.slow] if board.cells > 25 else []
    return pytest.param(board, marks=marks, id=str(board))


def test_the_boards_that_matter_were_built():
    wanted = ["5x5", "6x5", "6x6", "7x5", "7x6", "7x4", "5x6", "8x4"]
    assert {str(board) for board in BUILT} >= set(wanted)


@pytest.mark.parametrize("board", BUILT, ids=str)
def test_a_built_board_has_its_published_count_and_value(board):
    rows = BUILT[board]
    assert [row["ply"] for row in rows] == list(range(board.cells + 1))
    known = COUNTS[board.width, board.height]
    assert sum(row["positions"] for row in rows) == known["positions"]
    unfinished = sum(row["positions"] - row["terminal"] for row in rows[:-1])
    if known["nonterminal_positions"]:
        assert unfinished == known["nonterminal_positions"]
    for row in rows:
        assert row["positions"] == row["win"] + row["draw"] + row["loss"]
        assert row["terminal"] <= row["loss"]
        assert len(str(row["sha256"])) == 64
    value = "DWL"[rows[0]["win"] - rows[0]["loss"]]
    assert value == VALUES[board.width, board.height]


@pytest.mark.parametrize("board", [marked(board) for board in BUILT if board.cells <= 32])
def test_building_again_gives_the_same_counts_and_digests(tmp_path, board):
    path = build(board, tmp_path / "table.h5").path
    expected = [(*(row[name] for name in COUNT_NAMES), row["sha256"]) for row in BUILT[board]]
    with open_tablebase(path) as table:
        records = [table.reader.record(ply) for ply in table.plies]
    found = [(*(getattr(r, name) for name in COUNT_NAMES), r.sha256) for r in records]
    assert found == expected
