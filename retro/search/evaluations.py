"""What a position looks worth at a glance: evaluations for players that look a few plies ahead.

Each takes an unfinished position and returns an integer for the side to move, her
pluses less those of the opponent:

    connect4      cells     the lines through each stone's cell: the centre counts most
                  open      lines with stones of one player only, of two and of three stones
    mnk, puissance-plus
                  runs      such lines by the square of their stones, or of what the cells are
                            worth, with a bonus one short of winning
    domineering   mobility  places for a domino
                  safe      also places that the opponent can never take away
    quarto        answers   moves that do not lose at once (`quarto_game`)
                  parity    whether an odd number of safe gifts is left

Other games have none: there a player sees wins and losses within her depth only.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from retro.errors import BadTextError
from retro.search.lines import bits_of
from retro.search.quarto_game import answers, parity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from retro.search.lookahead import Evaluation

TWO, THREE = 2, 9  # worth of an open line that lacks two stones, or one


def no_opinion(position: Any) -> int:
    """Everything unfinished looks equal."""
    return 0


def cells(position: Any) -> int:
    """Lines through the cells of each player's stones.

    >>> from retro.games.connect import Board, Position
    >>> cells(Position(Board(7, 6)).play(3).play(0))      # 7 lines in the middle, 3 in a corner
    4
    """
    worth = _lines_through(position.board)

    def sum_of(stones: int) -> int:
        return sum(lines for bit, lines in worth if stones & bit)

    return sum_of(position.mover) - sum_of(position.opponent)


@cache
def _lines_through(board: Any) -> list[tuple[int, int]]:
    """(bit of a cell, number of lines through it)."""
    every = 0
    for line in board.lines:
        every |= line
    bits = [1 << i for i in range(every.bit_length()) if every >> i & 1]
    return [(bit, sum(1 for line in board.lines if line & bit)) for bit in bits]


def open_lines(position: Any) -> int:
    """Open lines that lack one stone or two.

    >>> from retro.games.connect_text import Board, read_moves
    >>> open_lines(read_moves(Board(7, 6), "3747"))       # X has 3 and 4: three lines hold both
    4
    """
    lacking_two = position.board.connect - 2
    worth = {lacking_two: TWO, lacking_two + 1: THREE}
    return _sum_of_open(position, lambda line, held: worth.get(held.bit_count(), 0))


def runs(position: Any) -> int:
    """Open lines, squared by the worth of their stones, with a bonus for those that lack one.

    >>> from retro.games.mnk_text import MnkBoard, read_moves
    >>> runs(read_moves(MnkBoard(3, 3, 3), "b2 a1"))      # X: three lines of 1; O: two
    1
    """
    goal, worth = _goal_and_worth(position.board)

    def points(line: int, held: int) -> int:
        total = sum(worth[bit] for bit in bits_of(held))
        return total**2 + (goal**2 if (line ^ held).bit_count() == 1 else 0)

    return _sum_of_open(position, points)


@cache
def _goal_and_worth(board: Any) -> tuple[int, dict[int, int]]:
    """What a line must total, and what every cell counts: 1 unless the game says otherwise."""
    if hasattr(board, "worth"):
        return board.target, board.worth
    return board.k, dict.fromkeys(board.all_bits, 1)


def _sum_of_open(position: Any, points: Callable[[int, int], int]) -> int:
    """The points of lines with stones of one player only: her own less the opponent's.

    `points` is asked with the cells of a line and those that hold a stone.
    """
    mover, opponent = position.mover, position.opponent
    total = 0
    for line in position.board.lines:
        ours, theirs = line & mover, line & opponent
        if ours and not theirs:
            total += points(line, ours)
        elif theirs and not ours:
            total -= points(line, theirs)
    return total


def mobility(position: Any) -> int:
    """Places for a domino of the side to move, less the opponent's."""
    ours, theirs = _places(position)
    return len(ours) - len(theirs)


def safe_places(position: Any) -> int:
    """Mobility, where a place that shares no cell with any of the opponent's counts thrice.

    Such places never go away; of those that overlap one another only one can be used.
    """
    ours, theirs = _places(position)
    return mobility(position) + 2 * (_safe(ours, theirs) - _safe(theirs, ours))


def _places(position: Any) -> tuple[list[int], list[int]]:
    """The free places of the side to move and of the other side."""
    dominoes, turn = position.board.dominoes, position.turn
    by_side = {
        side: [domino for domino in places if not domino & position.covered]
        for side, places in dominoes.items()
    }
    ours = by_side.pop(turn)
    (theirs,) = by_side.values()
    return ours, theirs


def _safe(places: Iterable[int], others: Iterable[int]) -> int:
    taken = 0
    for place in others:
        taken |= place
    count = 0
    for place in places:
        if not place & taken:
            count += 1
            taken |= place
    return count


EVALUATIONS: dict[str, dict[str, Evaluation]] = {
    "connect4": {"open": open_lines, "cells": cells},
    "mnk": {"runs": runs},
    "puissance-plus": {"runs": runs},
    "domineering": {"safe": safe_places, "mobility": mobility},
    "quarto": {"answers": answers, "parity": parity},
}


def find_evaluation(game: str, name: str = "") -> Evaluation:
    """An evaluation of a game by name; without one, the best we have.

    >>> find_evaluation("mnk").__name__
    'runs'
    """
    known = EVALUATIONS.get(game, {})
    if not name:
        return next(iter(known.values()), no_opinion)
    if name not in known:
        wanted = ", ".join(known) or "none"
        raise BadTextError(f"found evaluation {name!r}, {game} has: {wanted}")
    return known[name]
