"""A small board of every game, as words of a command line; and the schema of answers."""

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any, NamedTuple

from catalogue_cases import CASES
from jsonschema import Draft202012Validator

from retro.games.catalogue import make_board
from retro.games.game import Board

SCHEMA = json.loads(files("tablebase").joinpath("answers.schema.json").read_text())


def check(content: Any, definition: str) -> None:
    """Hold JSON to one definition of the schema, and to the schema as a whole."""
    part = {"$ref": f"#/$defs/{definition}", "$defs": SCHEMA["$defs"]}
    Draft202012Validator(part).validate(content)
    Draft202012Validator(SCHEMA).validate(content)


def small_board(name: str) -> Board:
    return make_board(name, CASES[name].shown)


def board_words(name: str) -> list[str]:
    """The words that name the small board of a game on a command line."""
    size, *options = CASES[name].shown.split()
    words = (part for option in options for part in option.split("=", 1))
    return [name, size, *(f"--{word}" if i % 2 == 0 else word for i, word in enumerate(words))]


def some_moves(name: str, plies: int = 2) -> str:
    """Text of a position that is not over: the last listed move, again and again."""
    position: Any = small_board(name).start()
    for _ in range(plies):
        position = position._play(position._in_order()[-1])
    assert not position.is_over()
    text: str = position.text
    return text


class Said(NamedTuple):
    """What a command ended with and printed."""

    status: int
    out: str
    err: str


Ask = Callable[..., Said]
