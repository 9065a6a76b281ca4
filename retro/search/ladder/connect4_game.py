"""Connect-k with gravity as the search sees it: a move is the bit of the cell the stone falls to.

What is known of the game beyond its rules, each piece in the hook of one rung:

- *candidates*: a win at once; else the block of a win at once; else no move
  directly beneath a cell where the opponent would then win.
- *bounds*: who has no live line cannot win, and *claim-even*. Let the number
  of empty cells be even and the other side answer every stone directly above
  it; where a column holds an odd number of empty cells, its lowest one, in
  the lowest one of another such column (there is an even number of them).
  Then the side to move gets at most the cells marked m, counted in pairs from
  the top, and both of the odd ones:

      f   f   f   f        f  the follower's, m  the mover's at most, #  stones
      m   m   m   m
      f   m   m   #        columns 2 and 3 have three empty cells each: their
      m   #   #   #        lowest may be the mover's; columns 1 and 4 pair up

  If those cells and her stones hold no line, the side to move cannot win:
  the follower reaches at least a draw (she may even win on the way). On
  boards of even height this is the second player's claim-even of Allis
  (1988); counted from the top it holds for any height and either player.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.stones import bits_of
from retro.games.values import DRAW
from retro.search.ladder.lines import LineGame, Stones

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retro.games.connect4.rules import Connect4Board, Connect4Position


class ConnectGame(LineGame):
    """The rules of `Connect4Board` and every hook the ladder knows.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> game = ConnectGame(Connect4Board(5, 4))
    >>> [game.column(move) for move in game.moves(game.start())]
    [0, 1, 2, 3, 4]
    """

    def __init__(self, board: Connect4Board) -> None:
        self.board = board
        super().__init__(board.lines, [_identity(board), _mirror(board)])
        self._bottom = sum(board.bit(c, 0) for c in range(board.width))
        # Counted from the top, which is row 0 here: 1, 3, 5 ... fall to the mover.
        self._lower_of_pairs = sum(
            board.bit(c, board.height - 1 - from_top)
            for c in range(board.width)
            for from_top in range(1, board.height, 2)
        )

    def state(self, position: Connect4Position) -> Stones:
        return Stones(position.mover, position.opponent)

    def column(self, move: int) -> int:
        return (move.bit_length() - 1) // self.board.stride

    def moves(self, state: Stones) -> Sequence[int]:
        return bits_of(self._playable(state))

    def centre_distance(self, move: int) -> int:
        return abs(2 * self.column(move) - self.board.width + 1)

    def candidates(self, state: Stones) -> Sequence[int]:
        empty, playable = self.empty(state), self._playable(state)
        urgent = self.lines.winning_cells(state.mine, playable)
        if not urgent:
            their_wins = self.lines.winning_cells(state.theirs, empty)
            # Two cells to block cannot both be blocked: every move loses, one is enough.
            urgent = their_wins & playable
            if not urgent:
                safe = playable & ~(their_wins >> 1)
                # Every move lets the opponent win: again one is enough.
                return bits_of(safe or playable & -playable)
        return [urgent & -urgent]

    def bounds(self, state: Stones) -> tuple[int, int]:
        low, high = self.lines.bounds(state)
        if high > DRAW and not self.claim_even_leaves_a_win(state):
            high = DRAW
        return low, high

    def claim_even_leaves_a_win(self, state: Stones) -> bool:
        """Whether the side to move might win although the other side claims even.

        True when the number of empty cells is odd: there is nobody to follow.
        """
        empty = self.empty(state)
        if empty.bit_count() % 2:
            return True
        lowest_of_odd = self._playable(state) & ~self._lower_of_pairs
        reach = state.mine | empty & self._lower_of_pairs | lowest_of_odd
        return self.lines.complete(reach)

    def _playable(self, state: Stones) -> int:
        """The lowest empty cell of each column: a carry runs up through the stones."""
        return ((state.mine | state.theirs | state.grey) + self._bottom) & self._all


def _identity(board: Connect4Board) -> dict[int, int]:
    return {
        board.bit(c, r): board.bit(c, r) for c in range(board.width) for r in range(board.height)
    }


def _mirror(board: Connect4Board) -> dict[int, int]:
    return {
        board.bit(c, r): board.bit(board.width - 1 - c, r)
        for c in range(board.width)
        for r in range(board.height)
    }
