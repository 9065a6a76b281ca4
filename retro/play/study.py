"""What alpha-beta saves: minimax against it, with the same evaluation, depth by depth.

    depth     minimax  alpha-beta   saved   as deep for the same nodes, time
        1           8           8    0.0%       1    1
        2          57          25   56.1%       3    2
        3         400         ...              4    4       the depth that alpha-beta completes
        4       2,801                          6    5       for what minimax pays here

Both see the same: the same moves with the same scores, which is checked. Minimax stops before
a depth that would take more than `most_nodes`; alpha-beta goes on until it has spent what
minimax had to spend. Times are CPU time and differ from run to run, nodes do not.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

import retro.svg as svg
from retro.errors import GameOverError
from retro.play.lookahead import alpha_beta, minimax

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retro.answers import Json
    from retro.games.game import Position
    from retro.play.lookahead import Evaluation, Found

MOST_NODES = 100_000
DEEPEST = 99


class Cost(NamedTuple):
    """What a search took."""

    nodes: int
    seconds: float


@dataclass(frozen=True)
class DepthRow:
    """One depth; what minimax did not try is None.

    `same_nodes` and `same_time` are the depths that alpha-beta completes for no more nodes
    or seconds than minimax spends here.
    """

    depth: int
    score: int
    alpha_beta: Cost
    minimax: Cost | None = None
    same_nodes: int | None = None
    same_time: int | None = None

    @property
    def saved(self) -> float | None:
        """The share of minimax's nodes that alpha-beta does not visit."""
        return None if self.minimax is None else 1 - self.alpha_beta.nodes / self.minimax.nodes


@dataclass(frozen=True)
class Study:
    """All depths, from 1 on."""

    title: str
    rows: tuple[DepthRow, ...]

    def as_dict(self) -> Json:
        """For JSON."""
        rows = [{**asdict(row), "saved": row.saved} for row in self.rows]
        for row in rows:
            for name in ("minimax", "alpha_beta"):
                row[name] = row[name] and row[name]._asdict()
        return {"title": self.title, "rows": rows}


def study_position(
    position: Position,
    evaluate: Evaluation,
    most_nodes: int = MOST_NODES,
    deepest: int = DEEPEST,
) -> Study:
    """Both searches of an unfinished position, as deep as they get.

    >>> from retro.games.catalogue import make_board
    >>> from retro.play.evaluations import find_evaluation
    >>> found = study_position(make_board("5x4").start(), find_evaluation("connect4"), 200)
    >>> [(row.depth, row.minimax and row.minimax.nodes, row.alpha_beta.nodes) for row in found.rows]
    [(1, 6, 6), (2, 31, 15), (3, 156, 44), (4, None, 95), (5, None, 698)]
    """
    if position.is_over():
        raise GameOverError(f"{position.over_message()}; there is nothing to search")
    slow = _deepen(position, evaluate, minimax, lambda costs: _next(costs) > most_nodes, deepest)
    spent = slow[-1][1]

    def enough(costs: Sequence[Cost]) -> bool:
        """Alpha-beta has spent what minimax had, or would spend far more."""
        beyond = costs[-1].nodes > spent.nodes or _next(costs) > 4 * most_nodes
        return len(costs) >= len(slow) and beyond

    fast = _deepen(position, evaluate, alpha_beta, enough, deepest)
    for (one, _), (other, _) in zip(slow, fast, strict=False):
        assert (one.move, one.score) == (other.move, other.score), "they see the same"
    costs = [cost for _, cost in fast]
    rows = tuple(
        _row(depth, found.score, costs, slow[depth - 1][1] if depth <= len(slow) else None)
        for depth, (found, _) in enumerate(fast, start=1)
    )
    return Study(f"{position.board}, {position.text or 'start'}", rows)


def _deepen(
    position: Position,
    evaluate: Evaluation,
    look: Callable[[Position, int, Evaluation], Found],
    enough: Callable[[Sequence[Cost]], bool],
    deepest: int,
) -> list[tuple[Found, Cost]]:
    """Search to 1, 2, 3 ... plies until it is enough or the game is over before the horizon."""
    done: list[tuple[Found, Cost]] = []
    while len(done) < deepest:
        begin = time.process_time()
        found = look(position, len(done) + 1, evaluate)
        cost = Cost(found.nodes, round(time.process_time() - begin, 4))
        if len(done) >= position.board.last_ply - position.ply:
            break
        done.append((found, cost))
        if enough([cost for _, cost in done]):
            break
    return done


def _next(costs: Sequence[Cost]) -> float:
    """About the nodes of one depth more: they grow as they grew."""
    before = costs[-2].nodes if len(costs) > 1 else 1
    return costs[-1].nodes * costs[-1].nodes / before


def _row(depth: int, score: int, costs: Sequence[Cost], paid: Cost | None) -> DepthRow:
    if paid is None:
        return DepthRow(depth, score, costs[depth - 1])
    nodes = max((i for i, c in enumerate(costs, start=1) if c.nodes <= paid.nodes), default=0)
    seconds = max((i for i, c in enumerate(costs, start=1) if c.seconds <= paid.seconds), default=0)
    return DepthRow(depth, score, costs[depth - 1], paid, nodes, seconds)


def study_text(study: Study) -> str:
    """The rows as a table."""
    lines = [
        f"{study.title}; nodes, CPU seconds",
        f"{'depth':>5}{'minimax':>20}{'alpha-beta':>20}{'saved':>8}  as deep for the same",
        f"{'':53}  nodes   time",
    ]
    for row in study.rows:
        slow = f"{row.minimax.nodes:12,}{row.minimax.seconds:8.2f}" if row.minimax else f"{'-':>20}"
        fast = f"{row.alpha_beta.nodes:12,}{row.alpha_beta.seconds:8.2f}"
        saved = "" if row.saved is None else f"{row.saved:8.1%}"
        same = "" if row.same_nodes is None else f"  {row.same_nodes:5}{row.same_time:7}"
        lines.append(f"{row.depth:5}{slow}{fast}{saved}{same}")
    return "\n".join(lines)


def study_svg(study: Study) -> str:
    """Nodes by depth, both searches, equal factors as equal steps."""
    slow = [(float(row.depth), float(row.minimax.nodes)) for row in study.rows if row.minimax]
    fast = [(float(row.depth), float(row.alpha_beta.nodes)) for row in study.rows]
    series = [svg.Series("minimax", slow), svg.Series("alpha-beta", fast)]
    return svg.plot(svg.Plot(study.title, "depth in plies", "nodes", series, log=True))
