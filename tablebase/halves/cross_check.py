"""The solver against the table: two programs that share only the rules must agree.

The table was made backward, a layer at a time; the solver searches forward
from one position. Boards of up to some million positions are compared whole,
larger ones by seeded samples of every ply. Compared are the values, and for
some positions of every piece the distances: a win takes an odd number of
plies, a loss an even one, a draw all that are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retro.errors import VerificationError
from retro.games.connect4.rules import Connect4Position
from retro.games.values import VALUE_NAMES
from retro.search.connect4.goals import make_engine, plies_of, solve_batch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from retro.search.connect4.goals import Engine
    from tablebase.answers import Report
    from tablebase.halves.reader import HalvesReader

    Piece = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int8]]

WHOLE_POSITIONS = 5_000_000  # 5x4 has 3.9 million
SAMPLES_PER_PLY = 200
DISTANCES_PER_PIECE = 20
ENGINE_BYTES = 1 << 27


def cross_check(table: HalvesReader, seed: int, report: Report) -> int:
    """Compare solver and table; raise at the first disagreement. Returns how many agreed."""
    board = table.board
    engine = make_engine(board.width, board.height, board.connect, memory=ENGINE_BYTES)
    rng = np.random.default_rng(seed)
    agreed = 0
    for ply in table.header.plies:
        if ply == board.cells:  # a full board needs no search
            break
        report("solver", ply)
        for piece in _pieces(table, rng, ply):
            _compare(table, engine, ply, piece)
            agreed += len(piece[0])
    return agreed


def _pieces(table: HalvesReader, rng: np.random.Generator, ply: int) -> Iterator[Piece]:
    """The positions of a ply that are compared: all of them, or a sample."""
    if _count(table) <= WHOLE_POSITIONS:
        for states, values in table.layer(ply):
            yield states.a, states.b, values
        return
    states = table.board.states(table.random_positions(rng, ply, SAMPLES_PER_PLY))
    yield states.a, states.b, table.values(states)


def _count(table: HalvesReader) -> int:
    """The positions of a table; at most, if nobody counted them: two for every rank, its image."""
    if table.is_counted:
        return sum(record.positions for record in table.counts)
    return 2 * 64 * sum(int(table.layout.stored_words[ply]) for ply in table.plies)


def _compare(table: HalvesReader, engine: Engine, ply: int, piece: Piece) -> None:
    first, second, values = piece
    movers, masks = (second if ply % 2 else first), first | second
    bounds, _, _ = solve_batch(engine, movers, masks)
    found = (bounds[:, 0] > 0).astype(np.int8) - (bounds[:, 1] < 0)
    wrong = np.flatnonzero(found != values)
    if len(wrong):
        where = int(wrong[0])
        raise _disagreement(table, ply, piece, where, VALUE_NAMES[int(found[where])])
    some = np.arange(0, len(first), max(1, len(first) // DISTANCES_PER_PIECE))
    scores, _, _ = solve_batch(engine, movers[some], masks[some], strong=True)
    for where, score in zip(some.tolist(), scores[:, 0].tolist(), strict=True):
        value = int(values[where])
        plies = plies_of(engine.board, score, int(masks[where]))
        is_fitting = plies == table.board.cells - ply if value == 0 else plies % 2 == (value > 0)
        if table.has_distances:
            state = table.board.states_of(first[where : where + 1], second[where : where + 1])
            is_fitting = plies == int(table.answers(state).plies[0])
        if np.sign(score) != value or not is_fitting:
            raise _disagreement(table, ply, piece, where, f"{plies} plies to the end")


def _disagreement(
    table: HalvesReader, ply: int, piece: Piece, where: int, found: str
) -> VerificationError:
    """Everything about the position at a place of a piece that solver and table see otherwise."""
    first, second, values = piece
    position = Connect4Position(table.board, int(first[where]), int(second[where]))
    return VerificationError(
        f"{table.path}: ply {ply} holds {VALUE_NAMES[int(values[where])]}, the solver finds "
        f"{found}, for the side to move:\n{position}"
    )
