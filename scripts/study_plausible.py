"""Plausible moves of Puissance Plus against all moves: nodes, time, quality, by phase of the game.

    python scripts/study_plausible.py                          # the three phases (minutes)
    python scripts/study_plausible.py --search minimax --depth 2 --board 6x6
    python scripts/study_plausible.py --claims                 # every position of small boards
    python scripts/study_plausible.py --claims "3x3 target=3 values=ones"

The classic program looked only at cells worth 2 or 3 and at cells beside a stone, and reported
much less work early in the game, nothing saved at its end. This repeats its study with its
evaluation (`classic`): positions by lot after a twentieth, a third and four fifths of the plies
(plausible moves that did not end the game led there), each searched with all moves and with
plausible ones only.

    nodes, seconds   sums over the positions; CPU time
    as good          chosen moves that the search of all moves finds as good as its own
    wins missed      positions with a win in sight that the plausible move gives up

`--claims` asks of every unfinished position of small boards whether the filter keeps each move that
wins at once, and whether it keeps a move that wins (or, where there is none, another best move).
"""

from __future__ import annotations

import argparse
import json
import random
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from retro.games.catalogue import make_board
from retro.play.lookahead import DECIDED, alpha_beta, every_move, minimax

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retro.games.game import Board, Position
    from retro.play.lookahead import Found

GAME = "puissance-plus"
PHASES = {"opening": 0.05, "middle": 0.33, "end": 0.8}
SEARCHES = {"minimax": minimax, "alphabeta": alpha_beta}
SMALL = [
    "3x3 target=3 values=ones",
    "3x3 target=5 values=diamond",
    "3x3 target=5 values=rings",
    "4x2 target=3 values=ones",
    "4x2 target=5 values=diamond",
    "4x3 target=3 values=ones",
    "4x3 target=4 values=ones",
    "4x3 target=6 values=diamond",
]
NEAR = 1000  # a score this close to DECIDED is a win or a loss


class Phase(NamedTuple):
    """What a phase of the game took and gave, with all moves and with plausible ones."""

    phase: str
    ply: int
    positions: int
    moves: float
    plausible: float
    nodes: tuple[int, int]
    seconds: tuple[float, float]
    as_good: int
    wins_missed: int


def some_positions(board: Board, ply: int, number: int, seed: int) -> list[Position]:
    """Positions by lot at a ply, as such players reach them; no move on the way ends the game."""
    rng, plausible = random.Random(seed), board.game.filters["plausible"]
    found: list[Position] = []
    while len(found) < number:
        position = board.start()
        while position.ply < ply:
            after = [position._play(move) for move in plausible(position)]
            going_on = [successor for successor in after if not successor.is_over()]
            if not going_on:
                break
            position = rng.choice(going_on)
        if position.ply == ply:
            found.append(position)
    return found


def study_phase(name: str, board: Board, arguments: argparse.Namespace) -> Phase:
    """Both ways to look at the same positions."""
    ply = round(PHASES[name] * board.cells)
    positions = some_positions(board, ply, arguments.positions, arguments.seed)
    evaluate, plausible = board.game.evaluations["classic"], board.game.filters["plausible"]
    look = SEARCHES[arguments.search]
    seconds, found = [], []
    for candidates in (every_move, plausible):
        begin = time.process_time()
        found.append([look(p, arguments.depth, evaluate, candidates=candidates) for p in positions])
        seconds.append(round(time.process_time() - begin, 3))
    every, kept = found
    judged = [
        alpha_beta(p, arguments.depth, evaluate, moves=[choice.move]).score
        for p, choice in zip(positions, kept, strict=True)
    ]
    return Phase(
        name,
        ply,
        len(positions),
        _mean([len(p._numbers()) for p in positions]),
        _mean([len(plausible(p)) for p in positions]),
        (_nodes(every), _nodes(kept)),
        (seconds[0], seconds[1]),
        sum(score == best.score for score, best in zip(judged, every, strict=True)),
        sum(
            best.score > DECIDED - NEAR >= score for score, best in zip(judged, every, strict=True)
        ),
    )


def _nodes(found: Sequence[Found]) -> int:
    return sum(one.nodes for one in found)


def _mean(numbers: Sequence[int]) -> float:
    return round(sum(numbers) / len(numbers), 1)


class Claims(NamedTuple):
    """Unfinished positions, and in how many the filter drops what."""

    positions: int
    drops_a_win_at_once: int
    won: int
    drops_every_win: int
    drops_every_best: int
    example: str


def study_claims(board: Board) -> Claims:
    """Every unfinished position of a small board, symmetric ones each for itself."""
    plausible = board.game.filters["plausible"]
    values: dict[tuple[int, int], int] = {}
    tally = dict.fromkeys(Claims._fields[:-1], 0)
    example = ""

    def value(position: Position) -> int:
        """The value of a position; each is counted once, when it is first met."""
        nonlocal example
        if position._state in values:
            return values[position._state]
        outcome = position.outcome()
        if outcome is not None:
            return values.setdefault(position._state, outcome)
        worth = {move: -value(position._play(move)) for move in position._numbers()}
        best, kept = max(worth.values()), set(plausible(position))
        at_once = {move for move in worth if position._play(move).outcome() == -1}
        dropped = all(worth[move] < best for move in kept)
        tally["positions"] += 1
        tally["drops_a_win_at_once"] += not at_once <= kept
        tally["won"] += best > 0
        tally["drops_every_win"] += best > 0 and dropped
        tally["drops_every_best"] += dropped
        if dropped and (not example or len(position.text) < len(example)):
            example = position.text
        return values.setdefault(position._state, best)

    value(board.start())
    return Claims(**tally, example=example)


def print_phases(rows: Sequence[Phase]) -> None:
    counted = f"  {'phase':9}{'ply':>4}{'moves':>7}{'kept':>7}{'nodes: all':>13}{'kept':>11}"
    judged = f"{'seconds: all':>14}{'kept':>8}{'times':>7}{'as good':>10}{'wins missed':>13}"
    print(counted + judged)
    for row in rows:
        times = row.seconds[0] / max(row.seconds[1], 1e-3)
        print(
            f"  {row.phase:9}{row.ply:4}{row.moves:7}{row.plausible:7}{row.nodes[0]:13,}"
            f"{row.nodes[1]:11,}{row.seconds[0]:14.2f}{row.seconds[1]:8.2f}{times:7.1f}"
            f"{row.as_good:6}/{row.positions:<3}{row.wins_missed:13}"
        )


def claims_of(texts: Sequence[str], as_json: bool) -> None:
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        found[text] = study_claims(make_board(f"{GAME} {text}"))._asdict()
        if not as_json:
            print(text, "  ".join(f"{k}={v}" for k, v in found[text].items()), flush=True)
    if as_json:
        print(json.dumps(found, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("boards", nargs="*", help="for --claims, such as '3x3 target=5'")
    parser.add_argument("--claims", action="store_true", help="every position of small boards")
    parser.add_argument("--board", default="8x8 target=8", help="size and options")
    parser.add_argument("--search", choices=SEARCHES, default="alphabeta")
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--positions", type=int, default=10, help="of each phase")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.claims:
        claims_of(arguments.boards or SMALL, arguments.json)
        return
    board = make_board(f"{GAME} {arguments.board}")
    rows = [study_phase(name, board, arguments) for name in PHASES]
    if arguments.json:
        print(json.dumps([row._asdict() for row in rows], indent=1))
        return
    print(f"{board}, {arguments.search} {arguments.depth} plies deep")
    print_phases(rows)


if __name__ == "__main__":
    main()
