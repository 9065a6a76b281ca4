"""What a request may carry: as much as the bound says is read, one more is refused."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from retro.errors import BadTextError
from tablebase.web import games, questions
from tablebase.web.http import HttpError, Request, body_length, read_head
from tablebase.web.server import Service, listen, running


def head(target: str) -> Request:
    return read_head(f"GET {target} HTTP/1.1\r\nHost: localhost".encode())


def refused(target: str) -> int:
    """The status that a target is refused with."""
    with pytest.raises(HttpError) as caught:
        head(target)
    return caught.value.status


def query(fields: int) -> str:
    return "/?" + "&".join(f"f{number}=1" for number in range(fields))


def test_heads_are_bounded() -> None:
    assert len(head(query(60)).query) == 60
    assert refused(query(61)) == 400
    assert head("/" + 8_000 * "a").path == "/" + 8_000 * "a"
    assert refused("/" + 8_001 * "a") == 400


def test_bodies_are_bounded() -> None:
    request = head("/")
    for length in (0, 2_000_000):
        request.headers["content-length"] = str(length)
        assert body_length(request) == length
    request.headers["content-length"] = "2000001"
    with pytest.raises(HttpError) as caught:
        body_length(request)
    assert caught.value.status == 413


@pytest.mark.parametrize("name", ["position", "moves"])
def test_texts_of_positions_are_bounded(name: str) -> None:
    assert questions.read_question({name: "4".ljust(4_000)}).position.ply == 1
    with pytest.raises(BadTextError, match="4,001 characters"):
        questions.read_question({name: "4".ljust(4_001)})


def test_options_are_bounded() -> None:
    fields = {"game": "mnk", "board": "5x5"}
    assert str(questions.read_board({**fields, "connect": "4".ljust(1_000)})) == "mnk 5x5 connect=4"
    with pytest.raises(BadTextError, match="1,001 characters"):
        questions.read_board({**fields, "connect": "4".ljust(1_001)})


def test_numbers_are_bounded() -> None:
    assert [questions.read_number({"n": text}, "n", 5, 12) for text in ("0", "12", "")] == [
        0,
        12,
        5,
    ]
    for text in ("13", "-1", "1.0", "x"):
        with pytest.raises(BadTextError, match="12"):
            questions.read_number({"n": text}, "n", 5, 12)


def test_saved_games_are_bounded() -> None:
    text = "mnk 3x3\nb2\n"
    assert games.load({"text": text.ljust(200_000)})["moves"] == ["b2"]
    with pytest.raises(BadTextError, match="at most 200,000 characters"):
        games.load({"text": text.ljust(200_001)})


def test_connections_are_bounded() -> None:
    """Two are answered; a third hears why it is not before it has asked."""
    service = Service(port=0, max_connections=2)

    async def ask() -> list[int]:
        listener, found, writers = listen(service), [], []
        async with running(service, listener):
            for question in (*2 * [b"GET /api/v1/games HTTP/1.1\r\nHost: localhost\r\n\r\n"], b""):
                reader, writer = await asyncio.open_connection(*listener.getsockname())
                writer.write(question)
                found.append(int((await reader.readline()).split()[1]))
                writers.append(writer)
            for writer in writers:
                writer.close()
        return found

    with ThreadPoolExecutor(1) as pool:  # this thread may have a loop already, a browser's
        assert pool.submit(lambda: asyncio.run(ask())).result() == [200, 200, 503]
