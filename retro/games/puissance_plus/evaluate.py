"""Puissance Plus at a glance: today's evaluation, the classic program's, and its plausible moves.

    runs      lines with stones of one player only, by the square of what their stones are worth,
              with a bonus one stone short of winning
    classic   from every stone in each of eight directions: the run of own stones that starts
              there. What ends it decides:

              X X O      a stone of the other player, or the edge: nothing
              X X .      an empty cell: the square of the run's worth, and a bonus, the worth
                         of that cell, if it is worth 2 or 3
              10,000     for a run that wins

              A run with both ends open is met from both of its ends and counts twice. The
              program said that there is a bonus, not how much; the cell's worth is our choice.

*Plausible* moves are those on cells worth 2 or 3 and those beside a stone. With the classic
evaluation and these the three modes of the classic program are the players `half` (the move
after which the position looks best), `minimax:N:classic:plausible` and
`alphabeta:N:classic:plausible`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from retro.games.grid import DIRECTIONS, near_stones
from retro.games.puissance_plus.rules import SHORTEST_RUN, PuissanceBoard
from retro.games.stones import bits_of, squares_of_open

if TYPE_CHECKING:
    from retro.games.grid import GridPosition

WON = 10_000


def runs(position: GridPosition) -> int:
    """Open lines, squared by the worth of their stones, with a bonus for those that lack one."""
    board = _board(position)
    return squares_of_open(position, board.target, board.worth)


def classic(position: GridPosition) -> int:
    """The classic program's evaluation, for the side to move.

    >>> from retro.games.catalogue import make_board
    >>> board = make_board("puissance-plus", "3x3", target=9, values="111/111/112")
    >>> classic(board.position("b2"))     # one stone: eight open ways, one of them to a cell of 2
    -10
    >>> classic(board.position("b2 a1"))  # one way shut; the corner: two open ways of three
    7
    """
    board = _board(position)
    ours = _points(board, position.mover, position.opponent)
    theirs = _points(board, position.opponent, position.mover)
    if ours == WON or theirs == WON:
        return WON if ours == WON else -WON
    return ours - theirs


def plausible_moves(position: GridPosition) -> list[int]:
    """Legal moves on cells worth 2 or 3, or next to a stone; all of them when there are none.

    The filter of the classic program. It keeps every move that wins at once
    (the new stone lies next to another of the run), but not every move that
    keeps a won position won: `docs/puissance-plus.md` shows one that it drops.

    >>> from retro.games.cells import cell_text
    >>> from retro.games.grid import GridPosition
    >>> board = PuissanceBoard(4, 4, 4, (1, 1, 2, *[1] * 13))
    >>> [cell_text(board, move) for move in plausible_moves(GridPosition(board))]
    ['c1']
    """
    near, worth = near_stones(position), _board(position).worth
    legal = position._numbers()
    return [bit for bit in legal if bit & near or worth[bit] > 1] or legal


def _board(position: GridPosition) -> PuissanceBoard:
    board = position.board
    assert isinstance(board, PuissanceBoard), "a position of Puissance Plus"
    return board


def _points(board: PuissanceBoard, own: int, other: int) -> int:
    """What the runs of a player count; no more than WON."""
    ways, worth, total = _ways(board), board.worth, 0
    for stone in bits_of(own):
        for way in ways[stone]:
            run, stones = worth[stone], 1
            for bit in way:
                if not own & bit:
                    if not other & bit:
                        total += run**2 + (worth[bit] if worth[bit] > 1 else 0)
                    break
                run, stones = run + worth[bit], stones + 1
                if stones >= SHORTEST_RUN and run >= board.target:
                    return WON
    return min(total, WON - 1)


@cache
def _ways(board: PuissanceBoard) -> dict[int, list[list[int]]]:
    """From every cell in eight directions: the cells beyond it up to the edge."""
    found: dict[int, list[list[int]]] = {}
    for cell in board.all_bits:
        found[cell] = []
        for up, right in (*DIRECTIONS, *((-up, -right) for up, right in DIRECTIONS)):
            (row, column), way = board.place(cell), []
            while board.has(row := row + up, column := column + right):
                way.append(board.bit(row, column))
            found[cell].append(way)
    return found


EVALUATIONS = {"runs": runs, "classic": classic}
FILTERS = {"plausible": plausible_moves}
