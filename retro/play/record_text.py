"""Records of games as text and as JSON, there and back. Version 1 of both.

Text is for people: a line that names the board, the moves, and what else is known as comments.
Files of earlier programs are the first two lines alone; a list of moves alone is read, too, if
the reader knows the board.

    connect4 5x4 connect=4
    443
    # version: 1
    # first: human
    # second: easy
    # move 1: 2.351 s
    # move 2: 0.021 s, 1200 nodes; blocks the column
    # result: first wins, time-out: no move within 10 s

JSON is for programs:

    {"format": "tablebase game", "version": 1, "game": "connect4", "board": "5x4",
     "options": {"connect": "4"}, "root": "", "first": "human", "second": "easy",
     "moves": [{"move": "4", "seconds": 2.351, "nodes": null, "remark": ""}, ...],
     "result": {"winner": "first", "reason": "time-out", "words": "no move within 10 s"}}

`root` is the position that the game began from, "" for the start of the board. Whatever is
read is played move by move; an error names the move that is wrong. Moves that were taken back
are not kept.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from retro.errors import (
    BadTextError,
    FormatVersionError,
    GameOverError,
    IllegalPositionError,
    TablebaseError,
    WrongBoardError,
)
from retro.games.catalogue import ALL_NAMES, NAMES, find_game
from retro.play.record import REASONS, RULES, Cost, GameRecord, Reason, rules_result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retro.answers import Json
    from retro.games.game import Board, Position
    from retro.games.values import Player as Side

Kind = TypeVar("Kind")

FORMAT, VERSION = "tablebase game", 1
LONGEST = 1_000_000  # characters: nobody's game takes a megabyte
MOST_DIGITS = 18  # of a number of nodes
_COMMENT = re.compile(r"#\s*([a-z]+)(?: ([0-9]{1,4}))?: ?(.*)", re.ASCII)
_COST = re.compile(r"(?:([0-9.]+) s)?(?:, )?(?:([0-9]+) nodes)?(?:; )?(.*)", re.ASCII)
_RESULT = re.compile(rf"(first|second|nobody) wins, ({'|'.join(REASONS)})(?:: (.*))?", re.ASCII)


def header(board: Board) -> str:
    """The line that names a board, with all of its options."""
    options = (f"{name}={text}" for name, text in board.options.items())
    return " ".join([board.game_name, board.size_text, *options])


def write_text(record: GameRecord) -> str:
    """A record for people."""
    is_start = record.root == record.board.start()
    lines = [header(record.board), record.position.text if is_start else record.text]
    lines += [f"# version: {VERSION}"]
    lines += [] if is_start else [f"# root: {record.root.text}"]
    for seat, name in zip(("first", "second"), record.seats, strict=True):
        lines += [f"# {seat}: {name}"] if name else []
    for number, entry in enumerate(record.entries, start=1):
        cost = _write_cost(entry.cost)
        lines += [f"# move {number}: {cost}"] if cost else []
    lines += [f"# result: {record.result}"] if record.result else []
    return "\n".join(lines) + "\n"


def _write_cost(cost: Cost) -> str:
    seconds = cost.seconds
    words = [] if seconds is None else [f"{seconds:.{3 if seconds >= 1 else 6}f} s"]
    words += [f"{cost.nodes} nodes"] if cost.nodes is not None else []
    return ", ".join(words) + (f"; {cost.remark}" if cost.remark else "")


def to_json(record: GameRecord) -> Json:
    """A record for programs."""
    board, result = record.board, record.result
    return {
        "format": FORMAT,
        "version": VERSION,
        "game": board.game_name,
        "board": board.size_text,
        "options": board.options,
        "root": record.root.root_text,
        "first": record.seats[0],
        "second": record.seats[1],
        "moves": [{"move": entry.text, **entry.cost._asdict()} for entry in record.entries],
        "result": result._asdict() if result else None,
    }


def read_record(text: str, board: Board | None = None) -> GameRecord:
    """A record from its text or JSON; `board` is what is wanted, and what bare moves are on.

    >>> from retro.games.catalogue import make_board
    >>> read_record("mnk 3x3 connect=3\\nb2 a1\\n").text
    'b2 a1'
    >>> read_record("b2 a1", make_board("mnk", "3x3")).seats
    ('', '')
    >>> read_record("b2 b2", make_board("mnk", "3x3"))
    Traceback (most recent call last):
    retro.errors.IllegalPositionError: move 2 of 'b2 b2': row 2, column 2 is taken
    """
    if len(text) > LONGEST:
        raise BadTextError(f"found more than {LONGEST:,} characters, wanted a game")
    if "\0" in text:
        raise BadTextError("found bytes that are no text, wanted a game")
    is_json = text.lstrip().startswith("{")
    return from_json(_parse_json(text), board) if is_json else _read_text(text, board)


def _parse_json(text: str) -> object:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadTextError(f"the game is no JSON: {error}") from None
    return found


def _read_text(text: str, board: Board | None) -> GameRecord:
    lines = text.strip().splitlines()
    if lines and lines[0].split(" ")[0] in ALL_NAMES:
        board = _require(_read_header(lines.pop(0)), board)
    if board is None:
        begin = lines[0][:60] if lines else ""
        raise BadTextError(f"found {begin!r}, wanted a line such as {header(_example())!r}")
    known: dict[tuple[str, int], str] = {}
    for line in lines:
        comment = _COMMENT.fullmatch(line.strip())
        if comment:
            known[comment[1], int(comment[2] or 0)] = comment[3].strip()
    _check_version(known.get(("version", 0), str(VERSION)))
    moves = "\n".join(line for line in lines if not line.lstrip().startswith("#")).strip()
    record = _read_moves(board, moves, known.get(("root", 0), ""))
    costs = [_read_cost(known.get(("move", n + 1), "")) for n in range(len(record.entries))]
    entries = tuple(e._replace(cost=c) for e, c in zip(record.entries, costs, strict=True))
    record = replace(record, entries=entries)
    record = record.seated(known.get(("first", 0), ""), known.get(("second", 0), ""))
    return _with_result(record, _read_result(known.get(("result", 0))))


def _example() -> Board:
    board: Board = find_game(NAMES[0]).make("")
    return board


def _read_header(line: str) -> Board:
    name, *words = line.split()
    size = words.pop(0) if words else ""
    options: dict[str, object] = {}
    for word in words:
        option, equals, text = word.partition("=")
        if not equals:
            raise BadTextError(f"found {word[:60]!r} after the board, wanted NAME=VALUE")
        options[option] = text
    board: Board = find_game(name).make(size, **options)
    return board


def _require(found: Board, wanted: Board | None) -> Board:
    if wanted is not None and found != wanted:
        raise WrongBoardError(f"the game is on {header(found)}, not on {header(wanted)}")
    return found


def _check_version(found: object) -> None:
    if str(found) != str(VERSION):
        raise FormatVersionError(f"found a game of version {found!r:.20}, wanted {VERSION}")


def _read_moves(board: Board, moves: str, root: str) -> GameRecord:
    """Moves as a game writes them; a grid is a position to begin from."""
    if root:
        return _play_words(GameRecord.begin(board.position(root)), moves.split())
    reached = board.position(moves)
    if reached.history is None or _before(reached) != board.start():
        return GameRecord.begin(reached)
    record = GameRecord.begin(board)
    for move in reached.history:
        record = record.play(move)
    return record


def _before(position: Position) -> Position:
    """Where the known moves of a position began."""
    for _ in position.history or ():
        position = position.undo()
    return position


def _play_words(record: GameRecord, words: list[str]) -> GameRecord:
    for number, word in enumerate(words, start=1):
        try:
            record = record.play(record.position._number_of(word))
        except (BadTextError, GameOverError, IllegalPositionError) as error:
            raise type(error)(f"move {number}, {word[:60]!r}: {error}") from None
    return record


def _read_cost(text: str) -> Cost:
    match = _COST.fullmatch(text)
    assert match is not None, "all of it is optional"
    try:
        seconds = None if match[1] is None else float(match[1])
    except ValueError:
        raise BadTextError(f"found {match[1][:60]!r} seconds, wanted a number") from None
    if match[2] is not None and len(match[2]) > MOST_DIGITS:
        raise BadTextError(f"found {match[2][:60]!r} nodes, wanted fewer")
    return Cost(seconds, None if match[2] is None else int(match[2]), match[3])


def _read_result(text: str | None) -> tuple[Side | None, Reason, str] | None:
    if text is None:
        return None
    match = _RESULT.fullmatch(text)
    if match is None:
        raise BadTextError(f"found result {text[:60]!r}, wanted one such as 'first wins, time-out'")
    winner = None if match[1] == "nobody" else cast("Side", match[1])
    return winner, cast("Reason", match[2]), match[3] or ""


def _with_result(record: GameRecord, claimed: tuple[Side | None, Reason, str] | None) -> GameRecord:
    """The record with what it says of its end; the rules have the first word."""
    by_rules = rules_result(record.position)
    if claimed is None:
        return record
    winner, reason, words = claimed
    if by_rules is not None and (by_rules.winner, by_rules.reason) == (winner, reason):
        return record
    if by_rules is not None or reason in RULES:
        true = f"by the moves {by_rules}" if by_rules else "by the moves it is not over"
        raise IllegalPositionError(f"the game says {winner or 'nobody'} wins, {reason}; {true}")
    return record.end(winner, reason, words)


def from_json(content: object, board: Board | None = None) -> GameRecord:
    """A record from the JSON of one, already parsed."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BadTextError(f'found other JSON than a game\'s, wanted "format": "{FORMAT}"')
    _check_version(content.get("version"))
    options = _get(content, "options", dict, {})
    texts = {str(name): str(text) for name, text in options.items()}
    found: Board = find_game(_get(content, "game", str)).make(_get(content, "board", str), **texts)
    root = _require(found, board).position(_get(content, "root", str, ""))
    seats = _get(content, "first", str, ""), _get(content, "second", str, "")
    record = GameRecord.begin(root, seats)
    for number, move in enumerate(_get(content, "moves", list, []), start=1):
        try:
            record = _play_json(record, move)
        except TablebaseError as error:
            raise type(error)(f"move {number}: {error}") from None
    result = content.get("result")
    return record if result is None else _with_result(record, _result_of(result))


def _play_json(record: GameRecord, move: object) -> GameRecord:
    if isinstance(move, str):  # a list of moves alone
        move = {"move": move}
    if not isinstance(move, dict):
        raise BadTextError(f'found {move!r:.60}, wanted {{"move": ...}}')
    seconds, nodes = move.get("seconds"), move.get("nodes")
    for number in (seconds, nodes):
        if number is not None and (
            isinstance(number, bool)
            or not isinstance(number, int | float)
            or not (0 <= number < 1e18 and math.isfinite(number))
        ):
            raise BadTextError(f"found {number!r:.60}, wanted a number of seconds or nodes")
    cost = Cost(seconds, None if nodes is None else int(nodes), _get(move, "remark", str, ""))
    return record.play(record.position._number_of(_get(move, "move", str)), cost)


def _result_of(content: object) -> tuple[Side | None, Reason, str]:
    if not isinstance(content, dict):
        raise BadTextError(f"found result {content!r:.60}, wanted an object")
    winner, reason = content.get("winner"), content.get("reason")
    if winner not in (None, "first", "second") or reason not in REASONS:
        raise BadTextError(f"found result {winner!r:.30}, {reason!r:.30}, wanted {REASONS}")
    return winner, reason, _get(content, "words", str, "")


def _get(
    content: Mapping[str, object], name: str, kind: type[Kind], default: Kind | None = None
) -> Kind:
    """What a JSON object holds by a name, of the right kind; without a default it must."""
    found = content.get(name, default)
    if found is None and name not in content:
        raise BadTextError(f"the game has no {name!r}")
    if not isinstance(found, kind):
        raise BadTextError(f"found {name} {found!r:.60}, wanted {kind.__name__}")
    return found
