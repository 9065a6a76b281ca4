"""Tables of some plies at the terminal, for every game: built, shown, listed, asked, checked."""

import json
from pathlib import Path

import pytest
from cli_cases import Ask, board_words, check, small_board

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
    (listed,) = json.loads(ask("list", "--json", *place).out)["tables"]
    assert (listed["first_ply"], listed["last_ply"]) == (1, 2)
    assert f"{small_board(name).name}, plies 1..2 " in ask("list", *place).out
    for level in ("quick", "sample", "full"):
        assert ask("verify", *board, "--level", level, "--solver", *place).status == 0
    start = small_board(name).start()
    first = start.play(start.legal_moves()[0])
    for text, source in ((start.text, "search"), (first.text, "table")):
        found = json.loads(ask("probe", *board, text, "--memory", "16M", "--json", *place).out)
        assert found["source"] == source
    again = ask("bt", *board, "--plies", "1..2", *place)
    assert "nothing to do" in again.err
    refused = ask("bt", *board, *place)
    assert (refused.status, refused.out) == (7, "")
    assert "holds plies 1..2, not 0.." in refused.err
    assert refused.err.count("\n") == 1


def test_counts_are_left_out_where_they_can_be(name: str, ask: Ask, tmp_path: Path) -> None:
    said = ask("bt", *board_words(name), "--counts", "off", "--quiet", "--dir", str(tmp_path))
    if name == "connect4":
        assert said.status == 0
    else:
        assert (said.status, said.out, said.err.count("\n")) == (3, "", 1)
        assert "the walk forward that counts also finds the keys of" in said.err
        assert list(tmp_path.iterdir()) == []
