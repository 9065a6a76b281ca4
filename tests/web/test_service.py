"""The service: the JSON of the commands, statuses, caches, bounds, searches that end."""

import ast
import http.client
import json
import time
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeGuard

import pytest
from jsonschema import Draft202012Validator
from web_cases import Running, answers_of

import tablebase as tb
from retro.errors import TablebaseError
from retro.games.catalogue import NAMES, make_board
from retro.play.levels import EXACT_SECONDS
from tablebase.cli import main
from tablebase.web import guard
from tablebase.web.http import REASONS
from tablebase.web.questions import MOST_CELLS
from tablebase.web.searches import Errand
from tablebase.web.seats import think
from tablebase.web.server import Service

SCHEMA = json.loads(files("tablebase").joinpath("answers.schema.json").read_text())
SMALL = {"connect4": "4x4", "quarto": "2x2", "puissance-plus": "3x3", "domineering": "3x3"}


def hold(content: Any, definition: str) -> None:
    """Hold JSON to one definition of the schema."""
    part = {"$ref": f"#/$defs/{definition}", "$defs": SCHEMA["$defs"]}
    Draft202012Validator(part).validate(content)


@pytest.mark.parametrize("game", NAMES)
def test_the_json_is_that_of_the_commands(
    game: str, service: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    size = SMALL.get(game, "3x3")
    moves = _two_moves(game, size)
    for path, command, definition in (
        ("position", "probe", "probe"),
        ("line", "line", "line"),
    ):
        found = service.ask(path, game=game, board=size, position=moves)
        assert found.status == 200, found.body
        hold(found.json, definition)
        words = [command, game, size, moves, "--json", "--dir", str(service.folder)]
        assert main.main(words) == 0
        assert json.loads(capsys.readouterr().out) == found.json


def _two_moves(game: str, size: str) -> str:
    position = make_board(game, size).start()
    for _ in range(2):
        position = position._play(position._numbers()[-1])
    return position.text


def test_a_finished_game_is_worth_what_the_rules_say(service: Running) -> None:
    found = service.ask("position", game="mnk", position="a1 b1 a2 b2 a3").json
    hold(found, "solution")
    assert (found["over"], found["value"], found["source"]) == (True, "LOSS", "rules")


def test_distances_are_those_of_the_oracle(service: Running) -> None:
    found = service.ask("position", board="5x4", position="443", distances="on").json
    with tb.oracle("5x4", folder=service.folder, memory="16M") as oracle:
        wanted = oracle.analyse("443")
    assert [(m["move"], m["plies"]) for m in found["moves"]] == [
        (m.move, m.plies) for m in wanted.moves
    ]


@pytest.mark.parametrize(
    ("status", "kind", "path", "fields"),
    [
        (400, "BadTextError", "position", {"board": "4x4", "position": "1!"}),
        (400, "IllegalPositionError", "position", {"board": "4x4", "position": "9"}),
        (400, "BadTextError", "position", {"game": "chess"}),
        (400, "BadTextError", "position", {"board": "4x4", "colour": "red"}),
        (400, "BadTextError", "position", {"game": "mnk", "board": "50x50"}),
        (400, "BadTextError", "position", {"board": "4x4", "position": "1" * 5_000}),
        (400, "GameOverError", "line", {"game": "mnk", "position": "a1 b1 a2 b2 a3"}),
        (400, "IllegalPositionError", "scene", {"board": "3x2", "from": "X../.O."}),
        (400, "BadTextError", "move", {"board": "4x4", "player": "exec:id"}),
        (400, "BadTextError", "move", {"board": "4x4", "player": "x.py:Y"}),
        (404, "MissingTableError", "stats", {"board": "7x7"}),
        (404, "MissingTableError", "random", {"board": "7x7"}),
        (404, "MissingTableError", "board.svg", {"board": "7x7", "rated": "on"}),
    ],
)
def test_errors_have_names_and_statuses(
    status: int, kind: str, path: str, fields: dict[str, str], service: Running
) -> None:
    found = service.ask(path, **fields)
    assert (found.status, found.json["kind"]) == (status, kind)
    hold(found.json, "error")


def test_a_position_that_search_cannot_reach_is_503(web_folder: Any, service: Running) -> None:
    from web_cases import start, stop

    running = start(web_folder, "--time-limit", "0.3")
    try:
        found = running.ask("position", board="8x7")
        assert (found.status, found.json["kind"]) == (503, "TimeLimitError")
        assert found.headers["Retry-After"] == "2"
    finally:
        stop(running)


def test_the_first_plies_of_7x6_are_known_at_once(service: Running) -> None:
    found = service.ask("position", board="7x6", distances="on")
    assert (found.json["value"], found.json["plies"], found.json["best"]) == ("WIN", 41, ["4"])
    hold(found.json, "probe")
    values = {move["move"]: move["value"] for move in found.json["moves"]}
    assert [values[column] for column in "1234567"] == [
        "LOSS", "LOSS", "DRAW", "WIN", "DRAW", "LOSS", "LOSS",
    ]  # fmt: skip
    events = service.ask("position/events", board="7x6").body
    assert events.startswith(b"event: values")
    assert b"event: answer" in events


def test_answers_of_tables_are_kept_by_caches(service: Running) -> None:
    found = service.ask("position", board="4x4", position="12")
    tag = found.headers["ETag"]
    assert "max-age" in found.headers["Cache-Control"]
    again = service.ask("position", {"If-None-Match": tag}, board="4x4", position="12")
    assert (again.status, again.body) == (304, b"")
    other = service.ask("position", board="4x4", position="21")
    assert other.headers["ETag"] != tag
    searched = service.ask("position", board="4x4", position="12", distances="on")
    assert searched.headers["Cache-Control"] == "no-store"


def test_many_positions_at_once(service: Running) -> None:
    texts = ["", "1", "1212121", "443"]
    content = {"board": "5x4", "positions": texts}
    found = service.tell("positions", content).json
    with tb.oracle("5x4", folder=service.folder) as oracle:
        names = {1: "WIN", 0: "DRAW", -1: "LOSS"}
        assert found["values"] == [names[oracle.value(text)] for text in texts]
    assert found["source"] == "table"
    unsolved = {"game": "mnk", "board": "3x2", "positions": ["a1", "b2"]}
    assert service.tell("positions", unsolved).json["source"] == "search"
    for wrong in ({"positions": "443"}, {"positions": [1]}, {"positions": ["zz"]}, {}):
        assert service.tell("positions", {"board": "5x4", **wrong}).status == 400
    assert service.tell("positions", {"board": "5x4", "positions": [""] * 10_000}).status == 200
    assert service.tell("positions", {"board": "5x4", "positions": [""] * 10_001}).status == 400


def test_random_positions_are_repeatable_and_of_the_ply(service: Running) -> None:
    found = [service.ask("random", board="5x4", ply="7", seed="5").json for _ in range(2)]
    assert found[0] == found[1]
    assert found[0]["ply"] == 7
    hold(found[0], "probe")
    assert service.ask("random", board="5x4", ply="21").status == 400
    assert service.ask("random", board="5x4", ply="20").status == 404


@pytest.mark.parametrize("path", ["random", "move"])
def test_seeds_are_bounded_as_the_error_says(path: str, service: Running) -> None:
    assert service.ask(path, board="5x4", seed=f"{10**9}").status == 200
    over = service.ask(path, board="5x4", seed=f"{10**9 + 1}")
    assert over.status == 400
    assert "at most 1,000,000,000" in over.json["error"]


def test_a_board_that_is_hardly_a_game_names_another(service: Running) -> None:
    usual = service.ask("palette", game="puissance-plus").json
    preset = usual["preset"]
    assert preset["why"] == "X wins this board in three plies"
    other = {"game": "puissance-plus", "board": preset["size"], **preset["options"]}
    assert service.ask("palette", **other).json["preset"] is None
    assert service.ask("palette", game="mnk").json["preset"] is None


def test_players_move(service: Running) -> None:
    names = [seat["name"] for seat in service.ask("palette", game="mnk").json["seats"]]
    assert "perfect" in names
    for name in names:
        found = service.ask("move", game="mnk", player=name, position="b2", seed="1").json
        after = make_board("mnk", "3x3").position(f"b2 {found['move']}")
        assert (after.ply, found["player"]) == (2, name)
        assert found["remark"]
        assert found["seconds"] >= 0


def test_perfect_has_as_long_for_a_proof_as_at_the_terminal() -> None:
    """The level answers within a second; the service's own limit is for questions."""
    seen: list[float | None] = []
    with tb.oracle("mnk 3x3", memory="1M", time_limit=20.0) as oracle:
        oracle.report = lambda *_: seen.append(oracle.time_limit)
        thought = think("perfect", oracle.board.position("b2 a1"), 1, oracle, Errand(20.0))
        assert oracle.time_limit == 20.0
    assert set(seen) == {EXACT_SECONDS}
    assert "by search" in thought.remark


def test_pictures(service: Running) -> None:
    found = service.ask("board.svg", board="5x4", position="443", rated="on")
    assert found.headers["Content-Type"].startswith("image/svg+xml")
    assert found.body.count(b'<g class="chip ') == 5


def test_values_come_before_distances(service: Running) -> None:
    body = service.ask("position/events", board="5x4", position="443").body.decode()
    events = [block.split("\n", 1) for block in body.strip().split("\n\n")]
    names = [name.removeprefix("event: ") for name, _ in events]
    assert names[0] == "values"
    assert names[-2:] == ["answer", "end"]
    by_name = {
        name: json.loads(data.removeprefix("data: "))
        for name, (_, data) in zip(names, events, strict=True)
    }
    assert by_name["values"]["plies"] is None
    assert by_name["answer"]["plies"] == 17
    hold(by_name["answer"], "probe")


def test_the_answer_has_every_distance_where_the_rules_know_one(service: Running) -> None:
    """The table has values only, and a win in one that the rules tell."""
    text = "1512323155541432"
    body = service.ask("position/events", board="5x4", position=text).body.decode()
    events = dict(block.split("\n", 1) for block in body.strip().split("\n\n"))
    answer = json.loads(events["event: answer"].removeprefix("data: "))
    with tb.oracle("5x4", folder=service.folder) as oracle:
        found = oracle.analyse(text)
    assert answer["plies"] == 1
    assert {(move["move"], move["plies"]) for move in answer["moves"]} == {
        (move.move, move.plies) for move in found.moves
    }


def test_positions_of_a_board_too_large_for_states_are_searched(service: Running) -> None:
    board = {"game": "mnk", "board": "9x9", "connect": "2"}
    found = service.tell("positions", {**board, "positions": ["a1", "a1 i9"]})
    assert (found.status, found.json["source"]) == (200, "search")
    assert found.json["values"] == ["LOSS", "WIN"]


def test_aliases_and_unknown_names(service: Running) -> None:
    found = service.ask("scene", game="tictactoe", moves="b2").json
    assert (found["game"], found["board"], found["history"]) == ("mnk", "3x3", ["b2"])
    for fields in ({"game": "tiktaktoe"}, {"game": "mnk", "colour": "red"}):
        answer = service.ask("scene", **fields)
        assert answer.status == 400
        assert next(reversed(fields.values())) in answer.json["error"] or "colour" in fields


def test_a_search_ends_when_its_client_leaves(web_folder: Any) -> None:
    """With one slot for searches, a second client gets its answer once the first has left."""
    from web_cases import start, stop

    running = start(web_folder, "--searches", "1", "--time-limit", "600")
    try:
        running.ask("position", board="5x4", distances="on")  # kernels are warm
        connection = http.client.HTTPConnection("localhost", running.port, timeout=60)
        connection.request("GET", "/api/v1/position/events?board=8x7")
        response = connection.getresponse()
        response.read(10)  # the search is under way
        busy = running.ask("position", {"X-Client": "other"}, board="5x4", distances="on")
        assert (busy.status, busy.json["kind"]) == (503, "BusyError")
        response.close()
        connection.close()
        free = running.ask("position", {"X-Client": "other"}, board="5x4", distances="on")
        assert free.status == 200
    finally:
        stop(running)


def test_a_client_has_one_search_at_a_time(web_folder: Any) -> None:
    from web_cases import start, stop

    running = start(web_folder, "--searches", "2", "--time-limit", "600")
    try:
        running.ask("position", board="5x4", distances="on")
        connection = http.client.HTTPConnection("localhost", running.port, timeout=60)
        connection.request("GET", "/api/v1/position/events?board=8x7", headers={"X-Client": "a"})
        stream = connection.getresponse()  # kept: a stream that nobody holds is closed
        stream.read(10)
        same = running.ask("position", {"X-Client": "a"}, board="5x4", distances="on")
        other = running.ask("position", {"X-Client": "b"}, board="5x4", distances="on")
        assert (same.status, other.status) == (503, 200)
        stream.close()
        connection.close()
    finally:
        stop(running)


def test_a_game_saved_here_opens_at_the_terminal(service: Running) -> None:
    from retro.play.record_text import read_record

    content = {
        "game": "mnk", "board": "3x3", "moves": "b2 a1 c3", "seats": ["human", "perfect"],
        "costs": [{}, {"seconds": 0.25, "nodes": 12, "remark": "why not"}, {}],
    }  # fmt: skip
    text = service.tell("save", content).body.decode()
    record = read_record(text)
    assert (record.text, record.seats) == ("b2 a1 c3", ("human", "perfect"))
    assert record.entries[1].cost.nodes == 12
    back = service.tell("load", {"text": text}).json
    assert (back["moves"], back["seats"]) == (["b2", "a1", "c3"], ["human", "perfect"])
    for seats in (["easy", "hard"], ["human", "exec:./mine"], ["", ""]):  # nobody who would start
        text = service.tell("save", {**content, "seats": seats}).body.decode()
        assert service.tell("load", {"text": text}).json["seats"] == ["human", "human"]
    for wrong in ("nonsense", "mnk 3x3\nz9", "{", "mnk 99x99\n", "mnk 3x3 values=/etc/passwd\n"):
        assert service.tell("load", {"text": wrong}).status == 400, wrong


def test_grids_come_back_as_they_went(service: Running) -> None:
    for game, grid in (
        ("mnk", ".X./O../..."),
        ("domineering", "X../X../...,H"),
        ("quarto", "0./..,3"),
        ("notakto", "X../.../..."),
    ):
        size = {"quarto": "2x2"}.get(game, "3x3")
        found = service.ask("scene", game=game, board=size, **{"from": grid})
        assert found.json["grid"] == grid, found.body


def test_a_mistake_of_the_service_is_500_and_no_more(
    web_folder: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from tablebase.web import scenes

    def fail(*_: object) -> None:
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr(scenes, "scene_json", fail)
    found = answers_of(Service(folder=web_folder, port=0), "GET /api/v1/scene", "GET /api/v1/games")
    assert [line for line, _ in found] == ["HTTP/1.1 500 Internal Server Error", "HTTP/1.1 200 OK"]
    assert "ZeroDivisionError" in caplog.text


def test_several_workers_build_nothing(web_folder: Any) -> None:
    """None of them would know what the others build."""
    asked = ("GET /api/v1/plan", "GET /api/v1/builds", "POST /api/v1/build", "POST /api/v1/pause")
    found = answers_of(Service(folder=web_folder, port=0, workers=2), *asked)
    assert [line for line, _ in found] == ["HTTP/1.1 409 Conflict"] * 4
    for _, content in found:
        hold(content, "error")


def test_every_status_in_use_has_its_words() -> None:
    """A status without them would end the connection instead of an answer."""
    used = {status for _, status in guard._STATUSES} | {guard.status_of(TablebaseError())}
    for path in Path(guard.__file__).parent.glob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call):
                given = [argument.value for argument in call.args if is_number(argument)]
                used |= {number for number in given if 200 <= number < 600}
    assert len(used) > 10
    assert used <= {status for status, words in REASONS.items() if words}


def is_number(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and type(node.value) is int


def test_of_two_tables_of_one_root_the_longer_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first plies come with the package, with distances; somebody has built the rest."""
    shipped, folder = tmp_path / "shipped", tmp_path / "tables"
    tb.build("4x3", folder=shipped, plies=range(4), distances=True)
    whole = tb.build("4x3", folder=folder)
    monkeypatch.setattr("tablebase.files.places.SHIPPED", shipped)
    asked = ("GET /api/v1/stats?board=4x3", "GET /api/v1/random?board=4x3&ply=10")
    (_, stats), (_, drawn) = answers_of(Service(folder=folder, port=0), *asked)
    with tb.open_tablebase(whole.path) as table:
        assert stats["digest"] == table.digest
    assert drawn["ply"] == 10


def test_building_needs_the_token(service: Running) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": service.token}):
        assert service.tell("build", {"board": "3x3"}, headers).status == 401
        assert service.tell("pause", {"board": "3x3"}, headers).status == 401


def test_a_table_is_planned_built_and_explored(service: Running) -> None:
    plan = service.ask("plan", board="4x3")
    assert plan.status == 200, plan.body
    assert plan.json["fits"]
    allowed = {"Authorization": f"Bearer {service.token}"}
    assert service.tell("build", {"board": "4x3"}, allowed).status == 202
    deadline = time.monotonic() + 120
    while (work := _work(service, "connect4-4x3"))["stage"] == "building":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert work["stage"] == "built", work
    assert service.ask("position", board="4x3").json["source"] == "table"
    assert any(t["board"] == "4x3" for t in service.ask("tables").json["tables"])


def _work(service: Running, name: str) -> dict[str, Any]:
    """A build by the name of its board."""
    works = service.ask("builds").json["works"]
    found: dict[str, Any] = next(work for work in works if work["name"] == name)
    return found


def test_a_build_is_paused_and_goes_on(service: Running) -> None:
    allowed = {"Authorization": f"Bearer {service.token}"}
    board = {"board": "6x5"}
    assert service.tell("pause", board, allowed).status == 400
    assert service.tell("build", board, allowed).status == 202
    assert service.tell("build", {"board": "3x3"}, allowed).status == 503  # one at a time
    assert service.tell("pause", board, allowed).json["stage"] == "paused"
    assert service.tell("build", board, allowed).json["stage"] == "building"
    assert service.tell("pause", board, allowed).json["stage"] == "paused"
    assert not (service.folder / "connect4-6x5.h5").exists()


def test_every_answer_is_safe_to_show(service: Running) -> None:
    for path in ("", "tables", "api/v1/games", "api/v1/board.svg", "explorer.js"):
        connection = http.client.HTTPConnection("localhost", service.port, timeout=30)
        connection.request("GET", f"/{path}")
        response = connection.getresponse()
        response.read()
        assert response.status == 200
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        connection.close()


def test_a_connection_answers_one_question_after_the_other(service: Running) -> None:
    connection = http.client.HTTPConnection("localhost", service.port, timeout=30)
    for _ in range(3):
        connection.request("GET", "/api/v1/position?board=4x4")
        assert connection.getresponse().read().startswith(b'{"game"')
    connection.close()


def test_boards_are_bounded() -> None:
    assert make_board("mnk", "20x20").cells == MOST_CELLS
