"""A game to a file and back: the page saves and loads what the terminal does.

    POST save   {"game", "board", ..., "from", "moves", "seats", "costs"} -> the text of the record
    POST load   {"text"} -> the same, with "options" and "result"

The text is that of `retro.play.record_text`, or its JSON. Before it is read, the board that it
names is read as that of any request: bounded, and naming no file.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from retro.errors import BadTextError
from retro.games.catalogue import ALL_NAMES
from retro.games.scene import grid_of, set_up
from retro.play.record import Cost, GameRecord
from retro.play.record_text import read_record, write_text
from tablebase.web.questions import read_board, read_question, require_known
from tablebase.web.seats import is_seat

if TYPE_CHECKING:
    from retro.games.game import Board
    from tablebase.answers import Json

LONGEST_RECORD = 200_000
HUMAN = "human"
SAVED = ("from", "moves", "seats", "costs", "position")


def save(content: Json) -> str:
    """The record of the game that a page shows."""
    require_known(content, *SAVED)
    question = read_question({n: v for n, v in content.items() if n not in ("seats", "costs")})
    seats, costs = content.get("seats", ["", ""]), content.get("costs", [])
    if not _is_list(seats, str) or len(seats) != 2 or not _is_list(costs, dict):
        raise BadTextError("wanted seats, two names, and costs, a list of objects")
    root = set_up(question.board, question.grid) if question.grid else question.board.start()
    record = GameRecord.begin(root, (seats[0], seats[1]))
    for number, text in enumerate(question.moves):
        cost = _cost(costs[number]) if number < len(costs) else Cost()
        record = record.play(record.position._number_of(text), cost)
    return write_text(record)


def _is_list(thing: object, kind: type) -> bool:
    return isinstance(thing, list) and all(isinstance(part, kind) for part in thing)


def _cost(content: Json) -> Cost:
    seconds, nodes, remark = (content.get(name) for name in ("seconds", "nodes", "remark"))
    return Cost(
        float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < 1e9 else None,
        int(nodes) if isinstance(nodes, int) and 0 <= nodes < 10**18 else None,
        remark if isinstance(remark, str) else "",
    )


def load(content: Json) -> Json:
    """The game of a file."""
    text = content.get("text")
    if not isinstance(text, str) or len(text) > LONGEST_RECORD:
        raise BadTextError(f"wanted the text of a game, at most {LONGEST_RECORD:,} characters")
    board = _named_board(text, content)
    record = read_record(text, board)
    is_start = record.root == board.start()
    return {
        **board.to_dict(),
        "from": "" if is_start else grid_of(record.root),
        "moves": [entry.text for entry in record.entries],
        "seats": _seats(record),
        "costs": [entry.cost._asdict() for entry in record.entries],
        "result": str(record.result) if record.result else "",
    }


def _seats(record: GameRecord) -> list[str]:
    """Who sits there again, if a human did: as at the terminal, nobody unknown is started."""
    found = [name if is_seat(name) else HUMAN for name in record.seats]
    return found if HUMAN in record.seats else [HUMAN, HUMAN]


def _named_board(text: str, content: Json) -> Board:
    """The board that a record names, or else the one that the page shows."""
    fields: Json = {n: v for n, v in content.items() if n != "text"}
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            raise BadTextError("the game is no JSON") from None
        options = found.get("options", {}) if isinstance(found, dict) else None
        if not isinstance(options, dict):
            raise BadTextError("found options that are none in a game")
        fields = {"game": found.get("game", ""), "board": found.get("board", ""), **options}
    else:
        words = (text.strip().splitlines() or [""])[0].split()
        if words and words[0] in ALL_NAMES:
            fields = {"game": words[0], "board": words[1] if len(words) > 1 else ""}
            for word in words[2:]:
                name, _, value = word.partition("=")
                fields[name] = value
    require_known(fields)
    return read_board(fields)
