"""`GET /solve?pos=4453` answers as a well-known page does; pages elsewhere may be let in."""

import json
import random
import urllib.request
from pathlib import Path

import pytest
from web_cases import Answer, Running, send, start, stop

from retro.games.catalogue import make_board
from retro.games.game import Position

CELLS, WIDTH, FULL = 42, 7, 100


def solve(service: Running, query: str, origin: str = "") -> Answer:
    headers = {"Origin": origin} if origin else {}
    return send(urllib.request.Request(f"{service.address}solve{query}", headers=headers))


def plain_score(position: Position) -> int:
    """Plain negamax as that page's tutorial defines it, for the side to move; never over."""
    if position.ply == CELLS:
        return 0
    best = -CELLS
    for move in position._numbers():
        after = position._play(move)
        if after.outcome() == -1:
            return (CELLS + 1 - position.ply) // 2
        best = max(best, -plain_score(after) if after.outcome() is None else 0)
    return best


def plain_scores(position: Position) -> list[int]:
    scores = [FULL] * WIDTH
    for move in position._numbers():
        after = position._play(move)
        if after.outcome() == -1:
            score = (CELLS + 1 - position.ply) // 2
        else:
            score = 0 if after.outcome() == 0 else -plain_score(after)
        scores[int(position._text_of(move)) - 1] = score
    return scores


def test_scores_are_those_of_a_plain_search(service: Running) -> None:
    rng, board, tried = random.Random(7), make_board("7x6"), 0
    while tried < 12:
        position = board.start()
        while position.ply < 34 and not position.is_over():
            position = position._play(rng.choice(position._numbers()))
        if position.is_over():
            continue
        tried += 1
        found = solve(service, f"?pos={position.text}")
        assert found.json == {"pos": position.text, "score": plain_scores(position)}


@pytest.mark.parametrize(
    ("pos", "score"),  # of the page's own test sets
    [
        ("2252576253462244111563365343671351441", -1),
        ("7422341735647741166133573473242566", 1),
        ("23163416124767223154467471272416755633", 0),
    ],
)
def test_positions_that_the_page_publishes(pos: str, score: int, service: Running) -> None:
    scores = solve(service, f"?pos={pos}").json["score"]
    assert max(one for one in scores if one != FULL) == score


def test_the_empty_board(service: Running) -> None:
    wanted = {"pos": "", "score": [-2, -1, 0, 1, 0, -1, -2]}
    assert (
        solve(service, "?pos=").body == json.dumps(wanted, separators=(",", ":")).encode() + b"\n"
    )
    assert solve(service, "").json == wanted
    assert solve(service, "?pos=12121212").status == 400  # the game is over after seven
    assert solve(service, "?pos=1212121").json["score"] == [FULL] * WIDTH
    assert solve(service, "?pos=8").status == 400
    assert solve(service, "?position=4").status == 400


def test_pages_elsewhere_read_answers_only_if_they_are_let_in(
    service: Running, web_folder: Path
) -> None:
    page = "https://example.org"
    assert "Access-Control-Allow-Origin" not in solve(service, "?pos=", page).headers
    for allowed, others in ((page, False), ("*", True)):
        running = start(web_folder, "--allow-origin", allowed)
        try:
            found = solve(running, "?pos=", page)
            assert found.headers["Access-Control-Allow-Origin"] == page
            assert found.headers["Vary"] == "Origin"
            again = running.ask("position", {"Origin": page}, board="5x4")
            assert again.headers["Access-Control-Allow-Origin"] == page
            other = solve(running, "?pos=", "https://example.com")
            assert ("Access-Control-Allow-Origin" in other.headers) == others
            refused = running.tell("load", {"text": "mnk 3x3\nb2\n"}, {"Origin": page})
            assert refused.status == 403
            assert "Access-Control-Allow-Origin" not in refused.headers
        finally:
            stop(running)
