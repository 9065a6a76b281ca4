"""Quarto, plainly: place the piece you were given, then give the next one.

Sixteen pieces, all different, have four attributes of two values each. The
first player gives a piece. From then on a turn is a double action: place the
piece in hand on any empty cell, then give one of the others to the opponent.
Who completes a row, a column or a diagonal (with `squares`: or a 2x2 square)
of pieces that share a value of some attribute wins. When the board is full, or
no piece is left, it is a draw.

    piece    3 2 1 0          one bit per attribute; a hexadecimal digit in text
             | | | colour
             | | height       two pieces share a value of attribute i
             | top            when bit i of their exclusive or is 0
             shape

    cells    2 3              row 1 is the bottom, column a the left;
             0 1              cell = row * size + column

    ply      0        1            2         ...   last
    action   give     place+give   place+give      place

`ply` counts actions, so every action changes the side to move and one rule
serves all: the value of a position is the best over its actions. An action that
ends the game gives nothing. Programs number actions, 0 standing for "nothing":

    move = (cell + 1) * (pieces + 1) + (piece + 1)

Smaller games: `size` 2 to 4, lines as long as the board, and 2**attributes
pieces. 2x2 with three attributes ends with four pieces to spare; 3x3 with three
attributes has a ninth cell but no ninth piece.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import permutations
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games.game import Board, Position
from retro.games.quarto import key
from retro.games.values import DRAW, LOSS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from retro.games.game import Rules
    from retro.games.values import Player

MIN_SIZE, MAX_SIZE, MAX_ATTRIBUTES = 2, 4, 4


class Action(NamedTuple):
    """What a turn does: fill a cell, give a piece, or (nearly always) both; None for neither."""

    cell: int | None
    piece: int | None


@dataclass(frozen=True, repr=False)
class QuartoBoard(Board):
    """A board of `size` x `size`, the number of attributes, and whether squares win.

    >>> board = QuartoBoard(4)
    >>> board.pieces, len(board.lines), len(board.symmetries), len(board.piece_symmetries)
    (16, 10, 32, 384)
    >>> squares = QuartoBoard(4, squares=True)
    >>> len(squares.lines), len(squares.symmetries)
    (19, 8)
    """

    game_name: ClassVar[str] = "quarto"

    side: int
    attributes: int = MAX_ATTRIBUTES
    squares: bool = False

    def __post_init__(self) -> None:
        if not MIN_SIZE <= self.side <= MAX_SIZE:
            raise BadTextError(
                f"found a Quarto board of {self.side}x{self.side}, wanted 2x2, 3x3 or 4x4"
            )
        if not 1 <= self.attributes <= MAX_ATTRIBUTES:
            raise BadTextError(f"found {self.attributes} attributes, wanted 1 to {MAX_ATTRIBUTES}")

    @property
    def cells(self) -> int:
        return self.side * self.side

    @property
    def last_ply(self) -> int:
        return self.most_placed + 1

    @property
    def pieces(self) -> int:
        return 1 << self.attributes

    @property
    def most_placed(self) -> int:
        """How many pieces are on the board when a game without a line ends."""
        return min(self.cells, self.pieces)

    @cached_property
    def lines(self) -> tuple[frozenset[int], ...]:
        """Every set of cells that wins: rows, columns, diagonals, then squares."""
        n = self.side
        found = [[row * n + i for i in range(n)] for row in range(n)]
        found += [[i * n + column for i in range(n)] for column in range(n)]
        found += [[i * n + i for i in range(n)], [i * n + n - 1 - i for i in range(n)]]
        if self.squares:
            corners = [row * n + column for row in range(n - 1) for column in range(n - 1)]
            found += [[corner, corner + 1, corner + n, corner + n + 1] for corner in corners]
        return tuple(frozenset(line) for line in found)

    @cached_property
    def symmetries(self) -> tuple[tuple[int, ...], ...]:
        """Every way to permute the cells that keeps the lines; cell i goes to way[i]."""
        return _line_keeping(self.cells, self.lines)

    @cached_property
    def piece_symmetries(self) -> tuple[tuple[int, ...], ...]:
        """Every way to permute the pieces that keeps what they share; piece p goes to way[p].

        The attributes may change places, and the two values of each may be exchanged.
        """
        bits = range(self.attributes)
        return tuple(
            tuple(flip ^ sum((p >> i & 1) << order[i] for i in bits) for p in range(self.pieces))
            for order in permutations(bits)
            for flip in range(self.pieces)
        )

    def move(self, action: Action) -> int:
        """The number of an action.

        >>> QuartoBoard(4).move(Action(0, 2)), QuartoBoard(4).move(Action(None, 2))
        (20, 3)
        """
        cell, piece = (0 if half is None else half + 1 for half in action)
        return cell * (self.pieces + 1) + piece

    def action(self, move: int) -> Action:
        """The action of a number; undoes `move`."""
        cell, piece = divmod(move, self.pieces + 1)
        return Action(cell - 1 if cell else None, piece - 1 if piece else None)

    def pack(self, position: QuartoPosition) -> tuple[int, int]:
        return key.pack(position)

    def unpack(self, a: int, b: int) -> QuartoPosition:
        return QuartoPosition(self, *key.unpack(self, a, b))

    def images(self, a: int, b: int) -> set[tuple[int, int]]:
        position = self.unpack(a, b)
        turned = (
            position.turned(cells, pieces)
            for cells in self.symmetries
            for pieces in self.piece_symmetries
        )
        return {image._state for image in turned}

    def _canonical(self, a: int, b: int) -> tuple[int, int]:
        return key.canonical(self, a, b)

    def plies_of(self, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.int64]:
        return key.plies_of(b)

    def is_state(self, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.bool_]:
        return key.is_state(self, a, b)

    def make_rules(self) -> Rules:
        from retro.games.quarto.kernels import quarto_rules  # numba: only who needs kernels

        return quarto_rules(self)

    def share(self, pieces: Sequence[int]) -> bool:
        """Whether all these pieces have the same value of some attribute.

        >>> QuartoBoard(4).share([0b0011, 0b0101, 0b1001]), QuartoBoard(4).share([0, 15])
        (True, False)
        """
        differing = 0
        for piece in pieces:
            differing |= piece ^ pieces[0]
        return differing != self.pieces - 1


@cache
def _line_keeping(cells: int, lines: tuple[frozenset[int], ...]) -> tuple[tuple[int, ...], ...]:
    """The permutations of cells that take every line to a line, by trying cell after cell."""
    board, wanted = range(cells), set(lines)
    # How many lines two cells have in common; their images have as many.
    common = [[sum(i in line and j in line for line in lines) for j in board] for i in board]
    # A line can be checked once its last cell has an image.
    ending_at = [[line for line in lines if max(line) == cell] for cell in board]
    found: list[tuple[int, ...]] = []

    def extend(images: tuple[int, ...]) -> None:
        cell = len(images)
        if cell == cells:
            found.append(images)
            return
        for image in set(board) - set(images):
            longer = (*images, image)
            if all(common[i][cell] == common[longer[i]][image] for i in range(cell + 1)) and all(
                frozenset(longer[i] for i in line) in wanted for line in ending_at[cell]
            ):
                extend(longer)

    extend(())
    return tuple(sorted(found))


@dataclass(frozen=True, repr=False)
class QuartoPosition(Position):
    """A position: what lies on each cell (None: nothing), and the piece in hand.

    Frozen: `play` and `undo` return another position. Moves are numbers of
    actions; `text` reads and writes them as `b2-3`.

    >>> board = QuartoBoard(4)
    >>> given = QuartoPosition(board)._play(board.move(Action(None, 5)))
    >>> position = given._play(board.move(Action(0, 10)))
    >>> position.ply, position.placed, position.hand, position.side_to_move
    (2, 1, 10, 'first')
    >>> len(position._numbers())               # 15 empty cells times 14 pieces
    210
    """

    board: QuartoBoard
    cells: tuple[int | None, ...] = ()
    hand: int | None = None
    history: tuple[int, ...] | None = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not self.cells:
            object.__setattr__(self, "cells", (None,) * self.board.cells)
        if not self.history and self.ply:
            object.__setattr__(self, "history", None)

    @property
    def placed(self) -> int:
        return sum(piece is not None for piece in self.cells)

    @property
    def ply(self) -> int:
        """How many actions were played: the first only gave, each other one placed a piece."""
        return self.placed + (self.placed > 0 or self.hand is not None)

    @property
    def side_to_move(self) -> Player:
        return "second" if self.ply % 2 else "first"

    def remaining(self) -> list[int]:
        """The pieces that can still be given."""
        away = {*self.cells, self.hand}
        return [piece for piece in range(self.board.pieces) if piece not in away]

    def has_line(self) -> bool:
        """Whether some line is full of pieces that share an attribute."""
        return any(self._is_whole(line) for line in self.board.lines)

    def _is_whole(self, line: frozenset[int]) -> bool:
        pieces = [self.cells[cell] for cell in line]
        filled = [piece for piece in pieces if piece is not None]
        return len(filled) == len(pieces) and self.board.share(filled)

    def ending_cells(self) -> set[tuple[int, int]]:
        whole = [line for line in self.board.lines if self._is_whole(line)]
        return {divmod(cell, self.board.side) for line in whole for cell in line}

    def is_over(self) -> bool:
        return self.placed == self.board.most_placed or self.has_line()

    def outcome(self) -> int | None:
        """The value for the side to move if the rules alone decide it, else None."""
        if self.has_line():
            return LOSS
        return DRAW if self.placed == self.board.most_placed else None

    def winner(self) -> Player | None:
        """Who completed a line: whoever moved last."""
        if not self.has_line():
            return None
        return "first" if self.side_to_move == "second" else "second"

    def _numbers(self) -> list[int]:
        """Cell by cell, and for each cell piece by piece; none once the game is over."""
        return [self.board.move(action) for action in self.legal_actions()]

    def legal_actions(self) -> list[Action]:
        if self.is_over():
            return []
        remaining = self.remaining()
        if self.hand is None:
            return [Action(None, piece) for piece in remaining]
        actions: list[Action] = []
        for cell in self.empty_cells():
            over = self._after_placing(cell).is_over()
            actions += [Action(cell, piece) for piece in ([None] if over else remaining)]
        return actions

    def empty_cells(self) -> list[int]:
        return [cell for cell, piece in enumerate(self.cells) if piece is None]

    def _after_placing(self, cell: int) -> QuartoPosition:
        """The hand on a cell and nothing given yet: half an action."""
        cells = (*self.cells[:cell], self.hand, *self.cells[cell + 1 :])
        return QuartoPosition(self.board, cells, None, None)

    def _play(self, move: int, /) -> QuartoPosition:
        """Place the piece in hand and give the next, as far as there is one."""
        if self.is_over():
            raise GameOverError(f"{self.over_message()}; nobody can move")
        cell, piece = self.board.action(move)
        if self.hand is None:
            if cell is not None:
                raise IllegalPositionError("no piece is in hand: the first action only gives one")
            after = self
        else:
            if cell is None:
                raise IllegalPositionError(f"piece {self.hand:x} is in hand and must be placed")
            if not 0 <= cell < self.board.cells:
                raise IllegalPositionError(f"the cell is not on the board {self.board}")
            if self.cells[cell] is not None:
                row, column = divmod(cell, self.board.side)
                raise IllegalPositionError(f"row {row + 1}, column {column + 1} is taken")
            after = self._after_placing(cell)
        self._check_gift(after, piece)
        history = None if self.history is None else (*self.history, move)
        return QuartoPosition(self.board, after.cells, piece, history)

    def _check_gift(self, after: QuartoPosition, piece: int | None) -> None:
        over = after.is_over()
        if piece is None and not over:
            raise IllegalPositionError("the game goes on: a piece must be given")
        if piece is not None and over:
            raise IllegalPositionError(f"{after.over_message()}; no piece is given any more")
        if piece is not None and piece not in self.remaining():
            raise IllegalPositionError(f"piece {piece:x} cannot be given: it is not in stock")

    def undo(self) -> QuartoPosition:
        """Take back the last move. Needs to know it: set-up positions have no last move."""
        if not self.history:
            raise IllegalPositionError("there is no move to take back")
        before = QuartoPosition(self.board)
        for move in self.history[:-1]:
            before = before._play(move)
        return before

    def over_message(self) -> str:
        """One clause that says how the game ended (call it only when it has)."""
        if self.has_line():
            return f"the game is over: the {self.winner()} player completed a line"
        what = "the board is full" if self.placed == self.board.cells else "no piece is left"
        return f"the game is over: {what} after {self.ply} plies, a draw"

    def turned(self, cell_way: Sequence[int], piece_way: Sequence[int]) -> QuartoPosition:
        """The position after a symmetry of the board and one of the pieces; same value."""
        cells: list[int | None] = [None] * self.board.cells
        for cell, piece in enumerate(self.cells):
            cells[cell_way[cell]] = None if piece is None else piece_way[piece]
        hand = None if self.hand is None else piece_way[self.hand]
        return QuartoPosition(self.board, tuple(cells), hand, None)

    def check(self) -> QuartoPosition:
        """Return self if play could have led here, else raise `IllegalPositionError`."""
        if len(self.cells) != self.board.cells:
            raise IllegalPositionError(
                f"found {len(self.cells)} cells, a board {self.board} has {self.board.cells}"
            )
        out = [piece for piece in (*self.cells, self.hand) if piece is not None]
        for piece in out:
            if not 0 <= piece < self.board.pieces:
                raise IllegalPositionError(
                    f"found piece {piece:x}, with {self.board.attributes} attributes "
                    f"the last one is {self.board.pieces - 1:x}"
                )
        twice = next((piece for piece in out if out.count(piece) > 1), None)
        if twice is not None:
            raise IllegalPositionError(f"piece {twice:x} is there twice")
        if find_order(self) is None:
            raise IllegalPositionError(
                "the game ended before this: no last move explains the lines"
            )
        if self.hand is not None and self.is_over():
            raise IllegalPositionError(f"{self.over_message()}, but a piece is in hand")
        if self.hand is None and self.placed and not self.is_over():
            raise IllegalPositionError("the game is not over, but no piece is in hand")
        return self


def find_order(position: QuartoPosition) -> tuple[int, ...] | None:
    """Some moves from the empty board to this position, or None if there are none.

    Without a line any order will do. With lines only the last piece needs to be
    found: one without which there is none.
    """
    filled = [cell for cell, piece in enumerate(position.cells) if piece is not None]
    if position.has_line():
        last = next((cell for cell in filled if not _without(position, cell).has_line()), None)
        if last is None:
            return None
        filled.remove(last)
        filled.append(last)
    given = [*(position.cells[cell] for cell in filled), position.hand]
    actions = [Action(*halves) for halves in zip([None, *filled], given, strict=True)]
    return tuple(position.board.move(a) for a in actions if a != Action(None, None))


def _without(position: QuartoPosition, cell: int) -> QuartoPosition:
    cells = (*position.cells[:cell], None, *position.cells[cell + 1 :])
    return QuartoPosition(position.board, cells, position.hand, None)
