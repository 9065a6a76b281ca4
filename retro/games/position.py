"""A position of any game: a board with pieces on it, and the moves that lead on.

    position = board.position("b2 a1")
    position.moves                        Move objects: text for people, `action` for programs
    position.play("c3")                   or a Move, or `action=0`; the successor
    position.action_mask                  which actions are legal, for programs

Inside, a move is a number as the game likes it (a column, the bit of a cell), which the rules
and kernels count by; `_numbers`, `_play` and their kin speak of those.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from retro.errors import BadTextError, IllegalPositionError
from retro.games.moves import Move, MoveNumber

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from retro.games.game import Board
    from retro.games.values import Player

    State = tuple[int, int]


POSITION_NAMES = (
    "action_mask", "actions", "board", "canonical", "check", "history", "is_over", "mover_name",
    "moves", "outcome", "over_message", "play", "play_all", "ply", "returns", "side_to_move",
    "text", "to_dict", "undo",
)  # fmt: skip


class Position(ABC):
    """A board with stones on it. Frozen: two are equal when all that matters for play is.

    >>> from retro.games.catalogue import make_board
    >>> position = make_board("tictactoe").position("b2 a1")
    >>> position.ply, position.side_to_move, position.mover_name, position.text
    (2, 'first', 'X', 'b2 a1')
    >>> after = position.play_all(["c3", "a2", "a3", "c1"])
    >>> after.is_over(), after.outcome(), [str(move) for move in after.moves], after.undo().ply
    (False, None, ['b3', 'c2', 'b1'], 5)
    >>> position.play_all(["a2", "b1", "c2"]).is_over()
    True
    """

    board: Board
    history: tuple[int, ...] | None  # the moves that led here; None when nobody knows

    @property
    @abstractmethod
    def ply(self) -> int:
        """Moves made so far."""

    @property
    @abstractmethod
    def side_to_move(self) -> Player: ...

    @property
    def moves(self) -> list[Move]:
        """The legal moves, in the order of their actions; none once the game is over.

        >>> from retro.games.catalogue import make_board
        >>> [str(move) for move in make_board("mnk", "3x3").position("b2 a1").moves]
        ['a3', 'b3', 'c3', 'a2', 'c2', 'b1', 'c1']
        """
        action = self.board.game.arrays.action
        found = [Move(self._text_of(number), action(self, number)) for number in self._numbers()]
        return sorted(found, key=lambda move: move.action)

    @property
    def actions(self) -> list[int]:
        """The legal actions, in order.

        >>> from retro.games.catalogue import make_board
        >>> make_board("mnk", "3x3").position("b2 a1").actions
        [0, 1, 2, 3, 5, 7, 8]
        """
        action = self.board.game.arrays.action
        return sorted(action(self, number) for number in self._numbers())

    @property
    def action_mask(self) -> NDArray[np.bool_]:
        """Which of the board's actions are legal here.

        >>> from retro.games.catalogue import make_board
        >>> make_board("4x4").position("1111").action_mask
        array([False,  True,  True,  True])
        """
        mask = np.zeros(self.board.num_actions, np.bool_)
        mask[self.actions] = True
        return mask

    def play(
        self, move: str | Move | MoveNumber | None = None, /, *, action: int | None = None
    ) -> Self:
        """The position after a move: its text, a `Move`, or its number as `action=`.

        A bare number is refused, because it could be either: people count columns from 1,
        programs count actions from 0. `IllegalPositionError` or `GameOverError` name what is wrong.

        >>> from retro.games.catalogue import make_board
        >>> start = make_board("5x4").start()
        >>> start.play("3") == start.play(action=2) == start.play(start.moves[2])
        True
        >>> start.play(2)
        Traceback (most recent call last):
        retro.errors.BadTextError: 2 can be read in two ways: play('2') is the text of a move, \
play(action=2) is '3'
        """
        if (move is None) == (action is None):
            raise BadTextError("play takes one move: text, a Move, or action=")
        if action is not None:
            return self._play(self._number_of_action(action))
        if isinstance(move, str | Move):
            return self._play(self._number_of(str(move)))
        if not isinstance(move, MoveNumber):
            raise BadTextError(self._refusal(move))
        return self._play(int(move))

    def _number_of_action(self, action: int) -> int:
        """The number of a legal action; the error says what is wrong with any other."""
        if isinstance(action, bool) or not hasattr(action, "__index__"):
            raise BadTextError(f"an action is a whole number, not {action!r:.60}")
        if not 0 <= action < self.board.num_actions:
            last = self.board.num_actions - 1
            raise IllegalPositionError(f"action {action} is not on {self.board}: 0 to {last} are")
        number = self.board.game.arrays.number(self, int(action))
        if number is None:
            side = self.mover_name
            raise IllegalPositionError(f"action {action} is no move of {side} in this position")
        return number

    def _refusal(self, move: object) -> str:
        """What to say of a move that is neither text nor a `Move`."""
        if not isinstance(move, int | np.integer) or isinstance(move, bool):
            return f"a move is its text, a Move or action=, not a {type(move).__name__}"
        texts = {one.action: one.text for one in self.moves}
        as_text = str(move) if str(move) in texts.values() else next(iter(texts.values()), "...")
        as_action = repr(texts[int(move)]) if int(move) in texts else "no move here"
        return (
            f"{move} can be read in two ways: play({as_text!r}) is the text of a move, "
            f"play(action={move}) is {as_action}"
        )

    @abstractmethod
    def _numbers(self) -> list[int]:
        """The numbers of the legal moves; none once the game is over."""

    @abstractmethod
    def _play(self, move: int, /) -> Self:
        """The successor, by the number of a move; text says what is wrong with it."""

    @abstractmethod
    def undo(self) -> Self:
        """The position before the last move; `IllegalPositionError` when it is not known."""

    @abstractmethod
    def outcome(self) -> int | None:
        """The value for the side to move if the rules alone decide it, else None."""

    @abstractmethod
    def over_message(self) -> str:
        """One clause that says how the game ended (call it only when it has)."""

    @abstractmethod
    def check(self) -> Self:
        """Return self if the rules could show this position, else raise what is wrong."""

    def is_over(self) -> bool:
        """Whether the game has ended here."""
        return self.outcome() is not None

    def ending_cells(self) -> set[tuple[int, int]]:
        """(row, column) of the cells whose line ended the game, from 0 at the bottom left."""
        return set()

    @property
    def _state(self) -> State:
        """The position as kernels take it."""
        return self.board.pack(self)

    @property
    def text(self) -> str:
        """What `Board.position` reads: the moves if they are known, else some, or a grid."""
        return self.board.game.write_position(self)

    @property
    def root_text(self) -> str:
        """The text of a position that something starts from; "" is the start of its board."""
        return "" if self == self.board.start() else self.text

    @property
    def mover_name(self) -> str:
        """What the side to move is called: X, Vertical, ..."""
        return self.board.players[0 if self.side_to_move == "first" else 1]

    @property
    def returns(self) -> tuple[int, int]:
        """What a finished game gave the first and the second player: 1, 0 or -1 each.

        >>> from retro.games.catalogue import make_board
        >>> make_board("mnk", "3x3").position("a1 b1 a2 b2 a3").returns
        (1, -1)
        """
        outcome = self.outcome()
        if outcome is None:
            raise IllegalPositionError("the game is not over: it has no returns yet")
        first = outcome if self.side_to_move == "first" else -outcome
        return first, -first

    def canonical(self) -> Position:
        """The chosen one of all positions that are the same up to symmetry.

        >>> from retro.games.catalogue import make_board
        >>> board = make_board("mnk", "3x3")
        >>> board.position("c3").canonical() == board.position("a3").canonical()
        True
        """
        return self.board.unpack(*self.board._canonical(*self._state))

    def _number_of(self, text: str) -> int:
        """The number of a move as people write it; whether it is legal `_play` will say."""
        return self.board.game.read_move(self, text)

    def _text_of(self, number: int) -> str:
        """A move of this position as people write it."""
        return self.board.game.write_move(self, number)

    def _in_order(self) -> list[int]:
        """The legal moves as they are listed: Connect Four's centre first."""
        return self.board.game.in_order(self.board, self._numbers())

    def play_all(self, moves: Sequence[str | Move | MoveNumber]) -> Self:
        """The position after some moves.

        >>> from retro.games.catalogue import make_board
        >>> make_board("5x4").start().play_all(["4", "4", "3"]).text
        '443'
        """
        position = self
        for move in moves:
            position = position.play(move)
        return position

    def _play_all(self, numbers: Sequence[int]) -> Self:
        position = self
        for number in numbers:
            position = position._play(number)
        return position

    # What older programs use.

    def legal_moves(self) -> list[MoveNumber]:
        """Deprecated: `moves`, or `actions` for programs."""
        deprecated("legal_moves()", "moves, or actions for programs")
        return [MoveNumber(number) for number in self._numbers()]

    def moves_in_order(self) -> list[MoveNumber]:
        """Deprecated: `moves`."""
        deprecated("moves_in_order()", "moves")
        return [MoveNumber(number) for number in self._in_order()]

    def move_text(self, move: int) -> str:
        """Deprecated: `str(move)` of one of `moves`."""
        deprecated("move_text(move)", "str(move) of one of position.moves")
        return self._text_of(int(move))

    def read_move(self, text: str) -> MoveNumber:
        """Deprecated: `play` takes the text."""
        deprecated("read_move(text)", "position.play(text)")
        return MoveNumber(self._number_of(text))

    @property
    def state(self) -> State:
        """Deprecated: `board.states([position])` has the two words."""
        deprecated("position.state", "board.states([position])")
        return self._state

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON: board, moves that lead here, who is to move.

        >>> from retro.games.catalogue import make_board
        >>> found = make_board("mnk", "3x3").position("b2 a1").to_dict()
        >>> found["position"], found["ply"], found["side_to_move"], found["over"]
        ('b2 a1', 2, 'first', False)
        """
        return {
            **self.board.to_dict(),
            "position": self._text_or_none(),
            "ply": self.ply,
            "side_to_move": self.side_to_move,
            "over": self.is_over(),
        }

    def _text_or_none(self) -> str | None:
        """Text that leads here, or None if none does."""
        try:
            return self.text
        except IllegalPositionError:
            return None

    def __repr__(self) -> str:
        state = "over" if self.is_over() else f"{self.mover_name} to move"
        text = self._text_or_none()
        known = repr(text) if text is not None else "set up"
        return f"Position({known}, {self.board.title}, {state})"

    def __dir__(self) -> list[str]:
        """What a user may use; what a game keeps for itself is left out."""
        return [*POSITION_NAMES]

    def __str__(self) -> str:
        return self.board.game.draw(self)

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows."""
        from retro.games.picture import Layout, draw
        from retro.games.scene import scene_of

        return draw(Layout(scene_of(self)))


def deprecated(old: str, new: str) -> None:
    """Warn who uses an old name, at the place where it is used."""
    warnings.warn(f"{old} is deprecated: use {new}", DeprecationWarning, stacklevel=3)
