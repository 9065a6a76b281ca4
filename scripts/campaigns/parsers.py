"""Bytes for everything that reads text: boards, positions, moves, grids, saves, headers.

Texts that are right are mutated, byte by byte and piece by piece; a reader may take what comes
of it or refuse it by name, nothing else.
"""

from __future__ import annotations

import io
import json
import random
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import tablebase as tb
from campaigns.common import Campaign, Case, smallest
from retro.errors import TablebaseError
from retro.play.record import GameRecord
from retro.play.record_text import read_record, to_json, write_text
from tablebase.cli.input import Given, _decode
from tablebase.files.opening import opening, reading
from tablebase.halves import format as halves
from tablebase.halves.store import require_header
from tablebase.keys import format as keys
from tablebase.keys.store import board_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

AT_ONCE = 1_000
BOARDS = ("7x6", "5x4", "mnk 4x4 connect=4", "quarto 4x4", "domineering 4x4", "notakto 3x3",
          "puissance-plus 3x2 values=121/232")  # fmt: skip
TEXTS = (
    "443", "4x4 ..../..../.x../ox..", "5 x 4\n.....\n.....\n..x..\n.ox..", "b2 a1 c3", "a1a2 b1c1",
    "9..2/d5.c/.b.6/.0.3,a", "mnk 4x4 connect=4", "quarto 3x3 attributes=3", "7x6", "0..20",
    "[Game mnk]\n[Board 3x3]\n[First X]\n\n1. b2 a1\n2. c3\n", "# mine\n3x3\nxo.\n.x.\n...\n",
    '{"game": "mnk", "board": "3x3", "options": {}, "moves": ["b2", "a1"], "players": ["a", "b"]}',
    '{"connect": "4"}', "connect4", "first: you\nsecond: easy\n4 4 3",
)  # fmt: skip
PIECES = (
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\r\n", b"\n", b"/", b"x", b"9" * 30, b"-1", b"99x99",
    "٣".encode(), "é".encode(), "\u2028".encode(), b"{}", b'"', b"\\u0000", b"1e999", b"a1 " * 50,
    b"[" * 99, b"\x1b[31m", b"%s", b"../", b",", b"=", b"nan", b"\xed\xb2\x80",
)  # fmt: skip


def cases(campaign: Campaign) -> Iterator[Case]:
    """A thousand inputs a case."""
    boards = [tb.board(text) for text in BOARDS]
    readers = _readers(boards)
    for number in range(10**9):
        seed = f"{campaign.seed} {number}"
        broken: list[tuple[str, bytes]] = []
        attempt = partial(_attempt, campaign, readers, seed, broken)
        yield Case(f"thousand {number}", attempt, partial(_keep, readers, broken))


def _attempt(
    campaign: Campaign,
    readers: dict[str, Reader],
    seed: str,
    broken: list[tuple[str, bytes]],
) -> str | None:
    rng = random.Random(seed)
    names = list(readers)
    for _ in range(AT_ONCE):
        name = rng.choice(names)
        seeds = TEXTS if rng.random() < 0.3 else readers[name].seeds or TEXTS
        content = mutate(rng, seeds)
        kind, what = _read(readers[name].read, content)
        campaign.note(kind)
        if kind == "raised":
            broken.append((name, content))
            return f"{name} of {content[:60]!r}: {what}"
    return None


def _keep(readers: dict[str, Reader], broken: list[tuple[str, bytes]], out: Path) -> None:
    name, content = broken[0]
    items = [content[i : i + 1] for i in range(len(content))]
    read = readers[name].read
    least = smallest(items, lambda some: _read(read, b"".join(some))[0] == "raised")
    (out / name.replace(" ", "-").replace("/", "-")).write_bytes(b"".join(least))


def _read(reader: Callable[[bytes], Any], content: bytes) -> tuple[str, str]:
    try:
        reader(content)
    except TablebaseError:
        return "refused", ""
    except BaseException as error:
        return "raised", f"{type(error).__name__}: {error}"
    return "read", ""


def mutate(rng: random.Random, seeds: Sequence[str]) -> bytes:
    """Some text, with up to four changes."""
    content = bytearray(rng.choice(seeds).encode())
    for _ in range(rng.randint(0, 4)):
        at = rng.randrange(len(content) + 1)
        how = rng.randrange(5)
        if how == 0 and content:
            content[at % len(content)] = rng.randrange(256)
        elif how == 1:
            content[at:at] = rng.choice(PIECES)
        elif how == 2:
            del content[at : at + rng.randint(1, 8)]
        elif how == 3:
            content[at:at] = rng.choice(TEXTS).encode()
        else:
            content[at:at] = content[at : at + rng.randint(1, 20)] * rng.randint(1, 3)
    return bytes(content)


class Reader(NamedTuple):
    """What reads bytes, and texts that it takes."""

    read: Callable[[bytes], Any]
    seeds: Sequence[str] = ()


def _played(board: Any, rng: random.Random) -> list[Any]:
    """Positions of a board, by random play."""
    found = []
    for plies in range(20):
        position = board.start()
        for _ in range(plies):
            moves = position._numbers()
            position = position._play(rng.choice(moves)) if moves else position
        found.append(position)
    return found


def _readers(boards: list[Any]) -> dict[str, Reader]:
    def text(content: bytes) -> str:
        return _decode(io.BytesIO(content), "fuzz")

    readers = {
        "board": Reader(lambda content: tb.board(text(content)), BOARDS),
        "halves header": Reader(_read_halves, ("\x05\x04\x04\x03\x01\x00\x14443",)),
        "keys header": Reader(_read_keys, ('mnk/4x4/{"connect": "4"}/b2 a1', "quarto/3x3/{}/")),
    }
    saves = []
    for board in boards:
        positions = _played(board, random.Random(0))
        texts = [*{position.text for position in positions}, *map(str, positions)]
        own = [write_text(_record(position)) for position in positions]
        own += [json.dumps(to_json(_record(position))) for position in positions[:5]]
        saves += own[::4]

        def place(content: bytes, board: Any = board) -> None:
            any_counts = board.game_name == "connect4"
            Given(text(content)).on(board, any_counts=any_counts)

        def move(content: bytes, board: Any = board) -> None:
            board.start()._number_of(text(content))

        def record(content: bytes, board: Any = board) -> None:
            read_record(text(content), board)

        moves = [board.start()._text_of(m) for m in board.start()._numbers()]
        readers[f"position of {board}"] = Reader(place, texts)
        readers[f"move of {board}"] = Reader(move, moves)
        readers[f"record on {board}"] = Reader(record, own)
    readers["record"] = Reader(lambda content: read_record(text(content)), saves)
    return readers


def _record(position: Any) -> GameRecord:
    """The game that led to a position."""
    record = GameRecord.begin(position.board, ("you", "easy"))
    for move in position.history or ():
        record = record.play(move)
    return record


def _read_halves(content: bytes) -> None:
    """A header of numbers and a root made of the bytes, as an open file would have it."""
    numbers = np.frombuffer(content.ljust(7, b"\0")[:7], np.int8).tolist()
    path = Path("fuzz.h5")
    with reading(path), opening(path):
        width, height, connect, left, mirror, first, last = numbers
        sizes = (width, height, connect, left, mirror, first, last)
        header = halves.Header(*sizes, root=content[7:].decode("ascii"))
        require_header(path, header, 10_000)


def _read_keys(content: bytes) -> None:
    parts = [*content.decode("ascii", "replace").split("/", 3), "", "", ""]
    path = Path("fuzz.h5")
    with reading(path), opening(path):
        header = keys.Header(parts[0], parts[1], parts[2], parts[3], 1, 0)
        board = board_of(header)
        assert board.position(header.root).ply >= 0
