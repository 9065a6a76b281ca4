"""Looking a few plies ahead in any game: minimax and alpha-beta with an evaluation.

Unlike `ladder`, which proves values, this guesses where it stops: a position at the
horizon is worth what an evaluation says of it. Scores are for the side to move:

    -DECIDED + n ............. evaluation ............. DECIDED - n
    lost in n plies       less | 0 | greater              won in n plies

so a faster win is worth more, a slower loss less bad, and any guess lies between.
It knows positions only as `retro.games.catalogue` describes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    # What a position is worth to the side to move, well below DECIDED; it is not over.
    Evaluation = Callable[[Any], int]
    # The moves that are looked at, at least one; the position is not over.
    Candidates = Callable[[Any], Sequence[int]]

DECIDED = 1_000_000


def every_move(position: Any) -> Sequence[int]:
    """All legal moves: nothing is overlooked."""
    moves: list[int] = position.legal_moves()
    return moves


class Found(NamedTuple):
    """The best move, its score for the player who makes it, and the positions visited."""

    move: int
    score: int
    nodes: int


def minimax(
    position: Any,
    depth: int,
    evaluate: Evaluation,
    moves: Sequence[int] | None = None,
    candidates: Candidates = every_move,
) -> Found:
    """Look `depth` plies ahead, at all candidates. Of equally good `moves` the first is chosen."""
    nodes = 0

    def value(position: Any, left: int) -> int:
        nonlocal nodes
        nodes += 1
        outcome = position.outcome()
        if outcome is not None:
            return int(outcome) * (DECIDED - depth + left)
        if left == 0:
            return evaluate(position)
        return max(-value(position.play(move), left - 1) for move in candidates(position))

    scores = [
        (-value(position.play(move), depth - 1), move) for move in moves or candidates(position)
    ]
    score, move = max(scores, key=lambda scored: scored[0])
    return Found(move, score, nodes + 1)


def alpha_beta(
    position: Any,
    depth: int,
    evaluate: Evaluation,
    moves: Sequence[int] | None = None,
    candidates: Candidates = every_move,
) -> Found:
    """The same move and score as `minimax`, without looking at what cannot change them.

    Successors are tried in the order of their own evaluations, except one ply
    above the horizon, where that would cost what it saves. It pays: a third of the
    nodes and of the time for six plies of Connect Four.
    """
    nodes = 0

    def value(position: Any, left: int, alpha: int, beta: int) -> int:
        """Exact within (alpha, beta); at most / at least what it says below / above."""
        nonlocal nodes
        nodes += 1
        outcome = position.outcome()
        if outcome is not None:
            return int(outcome) * (DECIDED - depth + left)
        if left == 0:
            return evaluate(position)
        best = -DECIDED
        for after in _ordered(position, left, evaluate, candidates):
            best = max(best, -value(after, left - 1, -beta, -max(alpha, best)))
            if best >= beta:
                break
        return best

    best_move, best = None, -DECIDED - 1
    for move in moves or candidates(position):
        score = -value(position.play(move), depth - 1, -DECIDED, -best)
        if best_move is None or score > best:
            best_move, best = move, score
    assert best_move is not None, "a position that is not over has a move"
    return Found(best_move, best, nodes + 1)


def _ordered(
    position: Any, left: int, evaluate: Evaluation, candidates: Candidates
) -> Iterable[Any]:
    """The successors, the most promising first; above the horizon as they come."""
    successors = (position.play(move) for move in candidates(position))
    if left == 1:
        return successors

    def promise(after: Any) -> int:
        outcome = after.outcome()
        return evaluate(after) if outcome is None else int(outcome) * DECIDED

    return sorted(successors, key=promise)
