"""Allis' rules as a position shows them: every instance, and what a set of them proves.

The rules speak of positions with the first player to move. With the second player to move each
of his moves leads to one, so he gets an answer for every move:

    first to move     one reading, without a move
    second to move    a reading for each of his moves

>>> from retro.games.catalogue import make_board
>>> print(rules_text(make_board("4x4").start()))  # doctest: +ELLIPSIS
Allis' rules in connect4 4x4, start
claimeven      8  a1 a2, a3 a4, b1 b2, b3 b4, c1 c2, c3 c4, 2 more
baseinverse    6  a1 b1, a1 c1, a1 d1, b1 c1, b1 d1, c1 d1
...
proof: the second player at least draws: baseclaim a1 b1 b2 d1, claimeven c1 c2, ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retro.errors import GameOverError, WrongBoardError
from retro.games.connect4.allis import require_even_height, rules_of, square_text, squares_in
from retro.games.connect4.allis_proof import NAMES, proof_after, unsolved
from retro.games.connect4.allis_proof import proof as proof_of
from retro.games.connect4.rules import Connect4Position

if TYPE_CHECKING:
    from retro.answers import Json
    from retro.games.connect4.allis import Rule
    from retro.games.connect4.allis_proof import Proof
    from retro.games.connect4.rules import Connect4Board
    from retro.games.game import Position

MOST_OF_A_NAME = 6  # instances of one rule that text shows


class Reading(NamedTuple):
    """What the rules say of a position with the first player to move, or of one that is over."""

    move: str  # of the second player, that leads there; "" if he need not move
    rules: list[Rule]
    proof: Proof | None
    unsolved: int  # groups that are left without a proof


def read_rules(position: Position) -> list[Reading]:
    """The readings of a position of Connect Four on a board of even height."""
    asked = _of_connect4(position)
    require_even_height(asked.board)
    if asked.is_over():
        raise GameOverError(asked.over_message())
    if asked.side_to_move == "first":
        return [_reading("", asked, proof_of(asked))]
    return [
        _reading(asked._text_of(move), asked._play(move), proof_after(asked, move))
        for move in asked._in_order()
    ]


def _of_connect4(position: Position) -> Connect4Position:
    if not isinstance(position, Connect4Position):
        raise WrongBoardError(f"found {position.board}, wanted a board of Connect Four")
    return position


def _reading(move: str, after: Connect4Position, proof: Proof | None) -> Reading:
    rules = [] if after.is_over() else rules_of(after)
    return Reading(move, rules, proof, 0 if proof is not None else unsolved(after))


def rules_text(position: Position) -> str:
    """The readings for people."""
    readings, board = read_rules(position), _of_connect4(position).board
    lines = [f"Allis' rules in {board.game_name} {board.size_text}, {position.text or 'start'}"]
    for reading in readings:
        if reading.move:
            found = f"{len(reading.rules)} instances; " if reading.rules else ""
            lines.append(f"after {reading.move}: {found}{_verdict(reading, board)}")
        else:
            lines += [*_instances(reading, board), _verdict(reading, board)]
    return "\n".join(lines)


def _instances(reading: Reading, board: Connect4Board) -> list[str]:
    """A line for each rule that is there: how many instances, and their squares."""
    lines = []
    for name in NAMES:
        found = [rule for rule in reading.rules if rule.name == name]
        if found:
            shown = ", ".join(" ".join(_squares(rule, board)) for rule in found[:MOST_OF_A_NAME])
            more = len(found) - MOST_OF_A_NAME
            lines.append(f"{name:<13}{len(found):>3}  {shown}" + (f", {more} more" * (more > 0)))
    return lines


def _verdict(reading: Reading, board: Connect4Board) -> str:
    if reading.proof is None:
        return f"no proof: {reading.unsolved} groups of the first player are left unsolved"
    if not reading.proof.rules:
        return f"proof: {reading.proof.claim}, no group of the first player is left"
    return f"proof: {reading.proof.text(board)}"


def _squares(rule: Rule, board: Connect4Board) -> list[str]:
    return [square_text(board, square) for square in squares_in(rule.squares)]


def rules_json(position: Position) -> list[Json]:
    """The readings for programs, all of them."""
    board = _of_connect4(position).board
    return [
        {
            "move": reading.move or None,
            "instances": [_rule_json(rule, board) for rule in reading.rules],
            "proof": None
            if reading.proof is None
            else {
                "claim": reading.proof.claim,
                "wins": reading.proof.wins,
                "rules": [_rule_json(rule, board) for rule in reading.proof.rules],
            },
            "unsolved": reading.unsolved,
        }
        for reading in read_rules(position)
    ]


def _rule_json(rule: Rule, board: Connect4Board) -> Json:
    return {
        "rule": rule.name,
        "squares": _squares(rule, board),
        "groups": [
            [square_text(board, square) for square in squares_in(group)]
            for group in rule.groups(board)
        ],
    }
