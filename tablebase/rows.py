"""Tables as data: their unfinished legal positions in rows, with values for every action.

    for batch in table.batches(moves=True):
        batch.a, batch.b          the words of the states       uint64 [rows]
        batch.value, batch.plies  for the side to move          int8, int16 or None
        batch.legal               which actions are legal       bool [rows, actions]
        batch.move_value          for the player who moves      int8 [rows, actions], 0 if not legal
        batch.move_plies          to the end, the move included int16, or None

Rows come ply by ply, a batch at a time, so memory is bounded. Iterating, counting, drawing by
chance and exporting a table all speak of these positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retro.errors import BadTextError, MissingTableError, NotCoveredError
from retro.games.catalogue import make_board
from retro.games.game import States
from retro.games.values import VALUE_NAMES, WIN, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from retro.games.game import Board, Position
    from tablebase.tables import Table

    Words = NDArray[np.uint64]

ROWS = 1 << 16  # of a batch
MOST_CELLS = 1 << 22  # rows times actions of a batch
MOST_DRAWN = 2_000_000  # positions drawn in vain
DRAWN_AT_ONCE = 4_096


@dataclass(frozen=True)
class Batch:
    """Some unfinished legal positions of one ply."""

    board: Board
    ply: int
    a: Words
    b: Words
    value: NDArray[np.int8]
    plies: NDArray[np.int16] | None
    legal: NDArray[np.bool_] | None = None
    move_value: NDArray[np.int8] | None = None
    move_plies: NDArray[np.int16] | None = None

    def __len__(self) -> int:
        return len(self.a)

    def __repr__(self) -> str:
        return f"Batch({self.board.title!r}, ply {self.ply}, {len(self):,} positions)"

    @property
    def states(self) -> States:
        """The positions as `board.planes` and `probe_many` take them."""
        return States(self.a, self.b, np.full(len(self), self.ply, np.int64))

    def positions(self) -> Iterator[Position]:
        """The positions one by one."""
        for a, b in zip(self.a.tolist(), self.b.tolist(), strict=True):
            yield self.board.unpack(a, b)

    def columns(self) -> dict[str, NDArray[Any]]:
        """One array a column; of a move that is not legal, the value is masked."""
        found: dict[str, NDArray[Any]] = {
            "ply": np.full(len(self), self.ply, np.int16),
            "a": self.a,
            "b": self.b,
            "value": self.value,
        }
        if self.plies is not None:
            found["plies"] = self.plies
        for name, array in (("value", self.move_value), ("plies", self.move_plies)):
            if array is not None and self.legal is not None:
                for action in range(self.board.num_actions):
                    column = array[:, action], ~self.legal[:, action]
                    found[f"{name}_{action}"] = np.ma.masked_array(*column)
        return found


def batches(
    table: Table,
    plies: Iterable[int],
    *,
    moves: bool = True,
    canonical: bool = False,
    given: States | None = None,
) -> Iterator[Batch]:
    """The rows of some plies, in order; or of the states that are given."""
    rows = max(1, min(ROWS, MOST_CELLS // (table.board.num_actions if moves else 1)))
    if given is not None:
        plies = np.unique(given.ply).tolist()
    for ply in plies:
        if ply == table.board.last_ply:
            continue  # no game goes on there
        if given is None:
            pieces = _listed(table, table.reader.listing(ply), canonical)
        else:
            here = given.ply == ply
            pieces = iter([(given.a[here], given.b[here])])
        for a, b in _gathered(pieces, rows):
            if len(a):
                yield _batch(table, ply, a, b, moves=moves)


def _listed(
    table: Table, pieces: Iterable[States], canonical: bool
) -> Iterator[tuple[Words, Words]]:
    """The words of positions: all, or one of each symmetry class."""
    board = table.board
    for states in pieces:
        if canonical:
            keep = table.reader.one_of_each(states)
            yield states.a[keep], states.b[keep]
        elif table.reader.lists_images:
            yield states.a, states.b
        else:
            yield from _images(board, states)


def _images(board: Board, states: States) -> Iterator[tuple[Words, Words]]:
    """Every position of the classes of some states."""
    from retro.games.row_kernels import count_symmetries, fill_images

    many = int(count_symmetries(board.rules))
    at_once = ROWS // max(many, 1)
    for begin in range(0, states.size, at_once if many else 1):
        if not many:  # symmetries that do more than move bits about
            images = sorted(board.images(int(states.a[begin]), int(states.b[begin])))
            words = np.array(images, np.uint64)
            yield words[:, 0], words[:, 1]
            continue
        a, b = states.a[begin : begin + at_once], states.b[begin : begin + at_once]
        found = np.empty((2, many * len(a)), np.uint64)
        count = fill_images(board.rules, a, b, found[0], found[1])
        yield found[0, :count], found[1, :count]


def _gathered(pieces: Iterable[tuple[Words, Words]], rows: int) -> Iterator[tuple[Words, Words]]:
    """Pieces of any size as pieces of so many rows, the last one of fewer."""
    waiting: list[tuple[Words, Words]] = []
    held = 0
    for piece in pieces:
        waiting.append(piece)
        held += len(piece[0])
        if held >= rows:
            a, b = (np.concatenate(part) for part in zip(*waiting, strict=True))
            whole = held - held % rows
            for begin in range(0, whole, rows):
                yield a[begin : begin + rows], b[begin : begin + rows]
            waiting, held = [(a[whole:], b[whole:])], held - whole
    if waiting:
        a, b = (np.concatenate(part) for part in zip(*waiting, strict=True))
        yield a, b


def _batch(table: Table, ply: int, a: Words, b: Words, *, moves: bool) -> Batch:
    """The values of some positions, and of their moves."""
    board = table.board
    if not moves:
        value, plies = _values(table, ply, a, b)
        return Batch(board, ply, a, b, value, plies)
    from retro.games.kernels import move_limit_of
    from retro.games.row_kernels import fill_successors

    limit = int(move_limit_of(board.rules))
    is_legal = np.zeros((len(a), limit), np.bool_)
    next_a, next_b = np.zeros((2, len(a), limit), np.uint64)
    fill_successors(board.rules, a, b, is_legal, next_a, next_b)
    numbers = np.flatnonzero(is_legal.any(axis=0))
    try:
        after, left = _values(table, ply + 1, next_a[is_legal], next_b[is_legal])
    except NotCoveredError as error:
        raise NotCoveredError(f"{error}; moves=False leaves the values of moves out") from None
    by_number = np.zeros((len(a), limit), np.int8)
    by_number[is_legal] = -after
    actions = _actions(board.unpack(int(a[0]), int(b[0])), numbers)
    legal = np.zeros((len(a), board.num_actions), np.bool_)
    move_value = np.zeros(legal.shape, np.int8)
    legal[:, actions], move_value[:, actions] = is_legal[:, numbers], by_number[:, numbers]
    # The value of a position is that of its best move.
    value = np.where(is_legal, by_number, np.int8(-2)).max(axis=1).astype(np.int8)
    if left is None:
        return Batch(board, ply, a, b, value, None, legal, move_value)
    plies_by_number = np.zeros((len(a), limit), np.int16)
    plies_by_number[is_legal] = left + np.int16(1)
    move_plies = np.zeros(legal.shape, np.int16)
    move_plies[:, actions] = plies_by_number[:, numbers]
    is_best = is_legal & (by_number == value[:, None])
    longest = np.where(is_best, plies_by_number, np.int16(-1)).max(axis=1)
    quickest = np.where(is_best, plies_by_number, np.iinfo(np.int16).max).min(axis=1)
    plies = np.where(value == WIN, quickest, longest).astype(np.int16)
    return Batch(board, ply, a, b, value, plies, legal, move_value, move_plies)


def _values(
    table: Table, ply: int, a: Words, b: Words
) -> tuple[NDArray[np.int8], NDArray[np.int16] | None]:
    states = States(a, b, np.full(len(a), ply, np.int64))
    if not table.has_distances:
        return table.reader.values(states), None
    found = table.reader.answers(states)
    return found.values, found.plies


def _actions(position: Position, numbers: NDArray[np.int64]) -> list[int]:
    """The actions of moves as kernels number them; who is to move is the same on a whole ply."""
    arrays = position.board.game.arrays
    by_kernel = arrays.kernel_numbers(position.board)
    return [arrays.action(position, by_kernel[number]) for number in numbers.tolist()]


class Wanted(NamedTuple):
    """Which positions are drawn."""

    ply: int | None
    value: Value | None


def read_wanted(table: Table, ply: int | None, value: object) -> Wanted:
    """Check what is asked of `sample`."""
    if ply is not None and ply not in table.plies:
        first, last = table.plies[0], table.plies[-1]
        raise NotCoveredError(f"{table.path} holds plies {first} to {last}, not {ply}")
    if value is None:
        return Wanted(ply, None)
    names = {name.lower(): number for number, name in VALUE_NAMES.items()}
    number = names.get(value.lower()) if isinstance(value, str) else value
    if isinstance(number, bool) or number not in (1, 0, -1):
        raise BadTextError(f"{value!r:.40} is no value: win, draw and loss are")
    return Wanted(ply, Value(number))


def draw_positions(table: Table, number: int, wanted: Wanted, seed: int | None) -> list[Position]:
    """Unfinished legal positions by chance, each with the same, one perhaps several times."""
    if number < 0:
        raise BadTextError(f"a sample of {number} positions is none")
    rng = np.random.default_rng(seed)
    plies = [wanted.ply] if wanted.ply is not None else [*table.plies]
    live = np.array([live_of(table, ply) for ply in plies], np.float64)
    if not live.any():
        raise MissingTableError(f"{table.path} has no unfinished position there")
    found: list[Position] = []
    drawn = 0
    while len(found) < number:
        at_once = number if wanted.value is None else max(number, DRAWN_AT_ONCE)
        some = _draw(table, plies, rng.multinomial(at_once, live / live.sum()), rng)
        rng.shuffle(some)
        drawn += len(some)
        if wanted.value is not None:
            values = table.probe_many(table.board.states(some)).tolist()
            some = [p for p, value in zip(some, values, strict=True) if value == wanted.value]
        found += some[: number - len(found)]
        if drawn >= MOST_DRAWN and not found:
            raise MissingTableError(f"of {drawn:,} positions drawn none is a {wanted.value}")
    return found


def _draw(
    table: Table, plies: list[int], numbers: NDArray[np.int64], rng: np.random.Generator
) -> list[Position]:
    found: list[Position] = []
    for ply, number in zip(plies, numbers.tolist(), strict=True):
        if number:
            found += table.reader.draw(rng, ply, number)
    return found


def live_of(table: Table, ply: int) -> int:
    """How many unfinished legal positions a ply has."""
    if not table.is_counted and table.index != "two-halves":
        raise MissingTableError(
            f"{table.path} was built without counts; build it again without --counts off"
        )
    return table.reader.count_live(ply)


def random_position(
    board: Board | str, *, ply: int | None = None, seed: int | None = None
) -> Position:
    """An unfinished position that random moves lead to; of any ply unless one is said.

    Positions that more orders of moves lead to come more often; `Table.sample` gives all the
    same chance.

    >>> random_position("7x6", ply=8, seed=1).ply
    8
    """
    board, rng = make_board(board), np.random.default_rng(seed)
    for _ in range(DRAWN_AT_ONCE):
        position = board.start()
        last = board.last_ply if ply is None else ply
        path = [position]
        while not position.is_over() and position.ply < last:
            position = position.play(action=int(rng.choice(position.actions)))
            path.append(position)
        live = [one for one in path if not one.is_over()]
        if ply is None and live:
            return live[int(rng.integers(len(live)))]
        if live and live[-1].ply == ply:
            return live[-1]
    raise MissingTableError(f"random moves lead to no unfinished position of ply {ply} of {board}")
