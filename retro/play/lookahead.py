"""Looking a few plies ahead in any game: minimax and alpha-beta with an evaluation.

Unlike `ladder`, which proves values, this guesses where it stops: a position at the
horizon is worth what an evaluation says of it. Scores are for the side to move:

    -DECIDED + n ............. evaluation ............. DECIDED - n
    lost in n plies       less | 0 | greater              won in n plies

so a faster win is worth more, a slower loss less bad, and any guess lies between.
It knows positions only as `retro.games.catalogue` describes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from retro.games.game import Position

    # What a position is worth to the side to move, well below DECIDED; it is not over.
    Evaluation = Callable[[Position], int]
    # The moves that are looked at, at least one; the position is not over.
    Candidates = Callable[[Position], Sequence[int]]
    # Told of the best move so far, whenever one more move is judged.
    Watch = Callable[["Found"], None]
    # `minimax` or `alpha_beta`.
    Look = Callable[[Position, int, Evaluation, Sequence[int] | None, Candidates, Watch], "Found"]

DECIDED = 1_000_000


def every_move(position: Position) -> Sequence[int]:
    """All legal moves: nothing is overlooked."""
    return position._numbers()


def unwatched(found: Found) -> None:
    """Nobody wants to know before it is over."""


class Found(NamedTuple):
    """The best move, its score for the player who makes it, and the positions visited."""

    move: int
    score: int
    nodes: int


def minimax(
    position: Position,
    depth: int,
    evaluate: Evaluation,
    moves: Sequence[int] | None = None,
    candidates: Candidates = every_move,
    watch: Watch = unwatched,
) -> Found:
    """Look `depth` plies ahead, at all candidates. Of equally good `moves` the first is chosen."""
    nodes = 0

    def value(position: Position, left: int) -> int:
        nonlocal nodes
        nodes += 1
        outcome = position.outcome()
        if outcome is not None:
            return outcome * (DECIDED - depth + left)
        if left == 0:
            return evaluate(position)
        return max(-value(position._play(move), left - 1) for move in candidates(position))

    best: Found | None = None
    for move in moves or candidates(position):
        score = -value(position._play(move), depth - 1)
        best = _better(best, move, score, nodes + 1)
        watch(best)
    assert best is not None, "a position that is not over has a move"
    return best


def alpha_beta(
    position: Position,
    depth: int,
    evaluate: Evaluation,
    moves: Sequence[int] | None = None,
    candidates: Candidates = every_move,
    watch: Watch = unwatched,
) -> Found:
    """The same move and score as `minimax`, without looking at what cannot change them.

    Successors are tried in the order of their own evaluations, except one ply
    above the horizon, where that would cost what it saves. It pays: a third of the
    nodes and of the time for six plies of Connect Four.
    """
    nodes = 0

    def value(position: Position, left: int, alpha: int, beta: int) -> int:
        """Exact within (alpha, beta); at most / at least what it says below / above."""
        nonlocal nodes
        nodes += 1
        outcome = position.outcome()
        if outcome is not None:
            return outcome * (DECIDED - depth + left)
        if left == 0:
            return evaluate(position)
        best = -DECIDED
        for after in _ordered(position, left, evaluate, candidates):
            best = max(best, -value(after, left - 1, -beta, -max(alpha, best)))
            if best >= beta:
                break
        return best

    best: Found | None = None
    for move in moves or candidates(position):
        alpha = -DECIDED - 1 if best is None else best.score
        score = -value(position._play(move), depth - 1, -DECIDED, -alpha)
        best = _better(best, move, score, nodes + 1)
        watch(best)
    assert best is not None, "a position that is not over has a move"
    return best


def _better(best: Found | None, move: int, score: int, nodes: int) -> Found:
    """The best move so far, the earlier of equals, with the nodes of all."""
    if best is None or score > best.score:
        return Found(move, score, nodes)
    return best._replace(nodes=nodes)


def _ordered(
    position: Position, left: int, evaluate: Evaluation, candidates: Candidates
) -> Iterable[Position]:
    """The successors, the most promising first; above the horizon as they come."""
    successors = (position._play(move) for move in candidates(position))
    if left == 1:
        return successors

    def promise(after: Position) -> int:
        outcome = after.outcome()
        return evaluate(after) if outcome is None else outcome * DECIDED

    return sorted(successors, key=promise)
