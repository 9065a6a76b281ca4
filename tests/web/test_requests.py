"""Requests that nobody well-meaning sends: each is refused, with the status that says why."""

import socket

import pytest
from web_cases import Running


def _raw(service: Running, text: str | bytes) -> tuple[int, bytes]:
    """The status and all of the answer to bytes as they are."""
    data = text.encode() if isinstance(text, str) else text
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(data)
        connection.settimeout(30)
        answer = b""
        while b"\r\n\r\n" not in answer:
            more = connection.recv(65_536)
            if not more:
                break
            answer += more
    status = int(answer.split(b" ", 2)[1]) if answer else 0
    return status, answer


@pytest.mark.parametrize(
    ("status", "request_"),
    [
        (400, "\r\n\r\n"),
        (400, "NONSENSE\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: localhost\r\nBad Name: 1\r\n\r\n"),
        (400, "GET /%ff HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        (400, "GET /%0a HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        (400, "GET /?a=1&a=2 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        (505, "GET / HTTP/2.0\r\nHost: localhost\r\n\r\n"),
        (421, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
        (421, "GET /api/v1/games HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n"),
        (405, "DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        (405, "GET /api/v1/positions HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        (404, "GET /api/v2/games HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        (
            501,
            "POST /api/v1/load HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
        ),
        (413, "POST /api/v1/load HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\n"),
        (400, "POST /api/v1/load HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"),
        (415, "POST /api/v1/load HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"),
        (431, "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + "a" * 20_000 + "\r\n\r\n"),
    ],
)
def test_hostile_requests_are_refused(status: int, request_: str, service: Running) -> None:
    assert _raw(service, request_)[0] == status


def test_no_path_comes_from_a_request(service: Running) -> None:
    for values in ("/etc/passwd", "README.md", "../x", "1/../2", "ones\n"):
        found = service.ask("position", game="puissance-plus", board="3x3", values=values)
        assert found.status == (200 if values == "ones\n" else 400)
        text = f"puissance-plus 3x3 target=5 values={values}\nb2\n"
        if values != "ones\n":
            assert service.tell("load", {"text": text}).status == 400
    for path in ("/../pyproject.toml", "/page/index.html", "/%2e%2e/routes.py", "/.", "//etc"):
        assert _raw(service, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")[0] == 404


def test_other_pages_cannot_ask_for_changes(service: Running) -> None:
    content = {"text": "mnk 3x3\nb2\n"}
    assert service.tell("load", content, {"Origin": "http://evil.example"}).status == 403
    here = service.address.rstrip("/")
    assert service.tell("load", content, {"Origin": here}).status == 200
