"""The service with tables that keep some plies only: the rest is searched, and nothing breaks."""

from collections.abc import Iterator

import pytest
from web_cases import Running, start, stop

import tablebase as tb
from retro.games.values import VALUE_NAMES

BOARDS = {"connect4": "4x3", "mnk": "3x3", "domineering": "3x3"}
KEPT = range(1, 3)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("some")
    for game, size in BOARDS.items():
        tb.build(f"{game} {size}", folder=folder, plies=KEPT)
    tb.build("notakto 3x3", folder=folder, plies=range(2, 3))
    running = start(folder, "--time-limit", "60")
    yield running
    stop(running)


@pytest.mark.parametrize("game", BOARDS)
def test_tables_of_some_plies_are_asked_where_they_reach(service: Running, game: str) -> None:
    fields = {"game": game, "board": BOARDS[game]}
    board = tb.board(f"{game} {BOARDS[game]}")
    first = board.start()._play(board.start()._numbers()[0])
    for text, source in (("", "search"), (first.text, "table")):
        answer = service.ask("position", position=text, **fields)
        assert (answer.status, answer.json["source"]) == (200, source)
    for seed in range(1, 6):
        drawn = service.ask("random", seed=str(seed), **fields)
        assert (drawn.status, drawn.json["ply"], drawn.json["source"]) == (200, 1, "table")
    outside = service.ask("random", ply="2", **fields)
    assert (outside.status, outside.json["kind"]) == (404, "MissingTableError")
    tables = service.ask("tables").json["tables"]
    (found,) = [
        table for table in tables if (table["game"], table["board"]) == (game, BOARDS[game])
    ]
    assert (found["first_ply"], found["last_ply"]) == (KEPT[0], KEPT[-1])


def test_one_ply_alone_has_no_position_with_all_its_moves(service: Running) -> None:
    answer = service.ask("random", game="notakto", board="3x3")
    assert (answer.status, answer.json["kind"]) == (404, "MissingTableError")
    assert "has no position with all its moves" in answer.json["error"]


def test_what_a_table_of_the_board_does_not_have_is_searched(service: Running) -> None:
    """No play leads to a board with these holes; tables do not have it, people may ask it."""
    board = {"game": "domineering", "board": "3x3"}
    whole = service.ask("position", **board, **{"from": "X../.../..X,V", "distances": "on"}).json
    text = "3x3 V X.. ... ..X"
    with tb.oracle("domineering 3x3", memory="1M") as oracle:
        found = oracle.analyse(text)
    assert (whole["value"], whole["plies"]) == (VALUE_NAMES[found.value], found.plies)
    assert whole["best"] == [move.move for move in found.best]
    plain = service.ask("position", **board, **{"from": "X../.../..X,V"}).json
    assert (plain["value"], plain["source"]) == (whole["value"], "search")
    many = service.tell("positions", {**board, "positions": [text, ""]}).json
    assert many["values"][0] == whole["value"]
