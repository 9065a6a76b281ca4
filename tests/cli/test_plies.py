"""Tables of some plies at the terminal, for every game: built, shown, listed, asked, checked."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builds import build_without_counts
from cli_cases import Ask, board_words, check, small_board

import tablebase as tb
from retro.games.catalogue import NAMES


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_command_knows_which_plies_a_table_has(name: str, ask: Ask, tmp_path: Path) -> None:
    board, place = board_words(name), ["--dir", str(tmp_path)]
    said = ask("bt", *board, "--plies", "1..2", "--plan", "--json", *place)
    whole = ask("bt", *board, "--plan", "--json", *place)
    check(json.loads(said.out), "plan")
    assert json.loads(said.out)["positions"] < json.loads(whole.out)["positions"]
    built = ask("bt", *board, "--plies", "1..2", *place)
    assert built.status == 0, built.err
    assert "values are kept of plies 1 to 2\n" in built.out
    assert "value of the empty board for the first player" in built.out
    assert ask("stats", *board, *place).out == built.out
    stats = json.loads(ask("stats", *board, "--json", *place).out)
    check(stats, "stats")
    assert (stats["first_ply"], stats["last_ply"], stats["plies"][0]["ply"]) == (1, 2, 0)
    listed = json.loads(ask("list", *board, "--json", *place).out)["tables"][0]
    assert (listed["first_ply"], listed["last_ply"]) == (1, 2)
    assert f"{small_board(name).name}, plies 1..2 " in ask("list", *place).out
    for level in ("quick", "sample", "full"):
        assert ask("verify", *board, "--level", level, "--solver", *place).status == 0
    start = small_board(name).start()
    first = start._play(start._numbers()[0])
    for text, source in ((start.text, "search"), (first.text, "table")):
        found = json.loads(ask("probe", *board, text, "--memory", "16M", "--json", *place).out)
        assert found["source"] == source
    again = ask("bt", *board, "--plies", "1..2", *place)
    assert "nothing to do" in again.err
    refused = ask("bt", *board, *place)
    assert (refused.status, refused.out) == (7, "")
    assert "holds plies 1..2, not 0.." in refused.err
    assert refused.err.count("\n") == 1


def test_counts_cost_nothing_so_they_are_not_left_out(name: str, ask: Ask, tmp_path: Path) -> None:
    said = ask("bt", *board_words(name), "--counts", "off", "--dir", str(tmp_path))
    if name == "connect4":
        assert said.status == 0
        assert "positions are counted all the same" in said.err
        assert "positions are not counted" not in said.out
    else:
        assert (said.status, said.out, said.err.count("\n")) == (3, "", 1)
        assert "the walk forward that counts also finds the positions" in said.err
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("more", [{}, {"distances": True}, {"plies": range(7)}])
def test_what_was_not_counted_is_not_told(more: dict[str, Any], ask: Ask, tmp_path: Path) -> None:
    """No count of nothing: the zeros of such a table are nobody's answer."""
    place = ["4x3", "--dir", str(tmp_path)]
    build_without_counts(tb.board("4x3"), tmp_path / "connect4-4x3.h5", **more)
    shown = ask("stats", *place)
    assert not re.search(r"\b0\b.*\b0\b", shown.out.replace("plies 0 to 6", ""))
    assert "plies to the end" not in shown.out
    stats = json.loads(ask("stats", *place, "--json").out)
    check(stats, "stats")
    assert (stats["positions"], stats["plies"]) == (None, [])
    listed = json.loads(ask("list", "--json", *place[1:]).out)["tables"][0]
    assert listed["positions"] is None
    assert " not counted " in ask("list", *place[1:]).out
    with tb.open_tablebase("4x3", folder=tmp_path) as table:
        assert repr(table).endswith(", not counted>")
        assert "<td>" not in table._repr_html_()
        drawn = {table.random_position(np.random.default_rng(1), ply).ply for ply in range(6)}
        assert drawn == set(range(6))
    for how in (["quick"], ["sample", "--solver"], ["full"]):
        said = ask("verify", *place, "--level", *how)
        assert said.status == 0, said.err
        assert re.search(r"checked digests: \d+; not counted\n", said.out)
