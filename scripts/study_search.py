"""What each rung of the search ladder is worth, and alpha-beta against minimax in every game.

    python scripts/study_search.py                  # every board, every rung (a few minutes)
    python scripts/study_search.py 3,3,3 4x3/3      # these boards only
    python scripts/study_search.py --depths 5x4     # minimax against alpha-beta at equal depths
    python scripts/study_search.py --memory         # small tables, each replacement scheme
    python scripts/study_search.py --guided         # every rung with and without the last one
    python scripts/study_search.py --games          # players that look ahead, in every game
    python scripts/study_search.py --games "mnk 5x5 connect=4"
    python scripts/study_search.py --json

A board is `WIDTHxHEIGHT/K` (Connect-k with gravity) or `ROWS,COLS,K` (free
placement), and after a colon the moves played before the search begins:
`4x4/4:222332`. Minimax and negamax are left out (`-`) where their tree is too
large to walk. A rung is compared with the one before it in the list: nodes, table
hits, time and the share of nodes saved.

`--guided` solves ever larger boards with each rung, once as it is and once with guided
deepening (deepening that doubles, graded horizon, best move remembered), each until a
board takes longer than `--limit` seconds of CPU time; `--lowest table` leaves out the rungs
below that one.

`--games` compares minimax with alpha-beta as the players use them (`lookahead`), with
the game's own evaluation: nodes and CPU time at equal depth, and the depth each reaches
when a move may take `--seconds`. A game is its name, its board and its options.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from retro.errors import TimeLimitError
from retro.games import grid_text
from retro.games.catalogue import find_game
from retro.games.connect4 import text as connect_text
from retro.games.connect4.rules import Connect4Board
from retro.games.mnk.rules import MnkBoard
from retro.play.evaluations import find_evaluation
from retro.play.players import DEEP
from retro.search.ladder.connect4_game import ConnectGame
from retro.search.ladder.ladder import search
from retro.search.ladder.mnk_game import MnkGame
from retro.search.ladder.rungs import Rungs, climb, guided

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from retro.games.game import Game
    from retro.search.ladder.lines import Stones
    from retro.search.ladder.table import Replacement

# Boards from tiny to what plain Python can still search; moves lead to positions of mixed values.
BOARDS = [
    "3,3,3",
    "2,4,3",
    "4x3/3",
    "4x4/4:222332",
    "4x4/4:2223",
    "5x3/3",
    "4x4/4",
    "3,4,3",
    "5x4/4:33",
    "4,4,4",
]
# Trees without cuts grow with the factorial or the width; beyond these they take too long.
MOST_EMPTY_FOR_MINIMAX = {"connect": 12, "mnk": 9}
MOST_EMPTY_FOR_ALPHA_BETA = {"connect": 15, "mnk": 12}

# From small to large: what a rung cannot solve in time it is not asked to surpass.
GUIDED_BOARDS = {
    "gravity": [
        "3x3/3",
        "4x3/3",
        "5x3/3",
        "4x4/4",
        "5x4/4:33",
        "5x4/4",
        "6x4/4",
        "5x5/4",
        "7x4/4",
        "6x5/4",
    ],
    "free": [
        "2,4,3",
        "3,3,3",
        "3,4,3",
        "3,4,4",
        "3,5,4",
        "4,4,4",
        "4,5,4",
        "4,6,4",
        "5,5,4",
        "5,6,4",
        "6,6,4",
    ],
}

SCHEMES: tuple[Replacement, ...] = ("newest", "costliest", "two-tier")


# Every game of the catalogue, on boards that people play.
GAMES = [
    "connect4 7x6 connect=4",
    "mnk 3x3 connect=3",
    "mnk 5x5 connect=4",
    "puissance-plus 5x5 target=6",
    "domineering 6x6",
    "notakto 3x3",
    "quarto 4x4",
]
OPENINGS = 3  # positions per game, after OPENING_PLIES plies by lot
OPENING_PLIES = 2


class Case(NamedTuple):
    """A position to search, and what the text that names it says."""

    name: str
    game: ConnectGame | MnkGame
    state: Stones

    @property
    def empty(self) -> int:
        return self.game.plies_left(self.state)

    def first_rung(self) -> int:
        """The lowest rung that gets through the tree in reasonable time."""
        kind = "mnk" if isinstance(self.game, MnkGame) else "connect"
        if self.empty <= MOST_EMPTY_FOR_MINIMAX[kind]:
            return 0
        return 2 if self.empty <= MOST_EMPTY_FOR_ALPHA_BETA[kind] else 3


def read_case(text: str) -> Case:
    """Read a board and its moves as described above."""
    board_text, _, moves = text.partition(":")
    if "," in board_text:
        mnk = MnkGame(MnkBoard.parse(board_text))
        return Case(text, mnk, mnk.state(grid_text.read_moves(mnk.board, moves)))
    size, _, connect = board_text.partition("/")
    board = Connect4Board.parse(size, int(connect)) if connect else Connect4Board.parse(size)
    game = ConnectGame(board)
    return Case(text, game, game.state(connect_text.read_moves(board, moves)))


def study(case: Case, slots: int) -> list[dict[str, Any]]:
    """One row per rung, from the ground up."""
    rows: list[dict[str, Any]] = []
    for name, rungs in climb(slots)[case.first_rung() :]:
        row = measure(case, rungs)
        before = rows[-1]["nodes"] if rows else row["nodes"]
        rows.append({"rung": name, **row, "saved": 1 - row["nodes"] / before})
    if len({row["value"] for row in rows}) != 1:
        raise SystemExit(f"the rungs disagree about {case.name}: {rows}")
    return rows


def measure(case: Case, rungs: Rungs, depth: int | None = None) -> dict[str, Any]:
    begin = time.perf_counter()
    found = search(case.game, case.state, rungs, depth=depth)
    seconds = time.perf_counter() - begin
    return {
        "value": found.value,
        "nodes": found.nodes,
        "table_hits": found.table_hits,
        "seconds": round(seconds, 4),
        "nodes_at_ply": found.nodes_at_ply,
    }


def study_depths(case: Case, most_nodes: int, slots: int) -> list[dict[str, Any]]:
    """Nodes at equal depth, each core until it visits more than `most_nodes`.

    The wins and losses of so short a search are few, so most values are the
    horizon's draw: alpha-beta meets nearly its best case.
    """
    steps = dict(climb(slots))
    columns = {"minimax": steps["minimax"], "alpha-beta": steps["alpha-beta"]}
    columns["to forced moves"] = steps["forced moves"]
    rows: list[dict[str, Any]] = []
    for depth in range(1, case.empty + 1):
        row: dict[str, Any] = {"depth": depth}
        for name, rungs in columns.items():
            before = rows[-1].get(name) if rows else 0
            if before is not None and before <= most_nodes / 3:
                row[name] = measure(case, rungs, depth)["nodes"]
        if len(row) == 1:
            break
        rows.append(row)
    return rows


def study_guided(
    boards: Iterable[str], limit: float, slots: int, lowest: str = "minimax"
) -> Iterator[dict[str, Any]]:
    """Each rung below deepening with and without what guided deepening adds to it."""
    steps = climb(slots)
    names = [name for name, _ in steps]
    late: set[tuple[str, str]] = set()
    for text in boards:
        case = read_case(text)
        values = set()
        for name, rungs in steps[names.index(lowest) : names.index("deepening")]:
            row: dict[str, Any] = {"board": text, "rung": name}
            for way, used in (("plain", rungs), ("guided", guided(rungs))):
                if (name, way) in late or (way == "guided" and rungs.core == "minimax"):
                    continue  # minimax is the definition and takes no other rung
                found = measure_in_time(case, used, limit)
                if found is None:
                    late.add((name, way))
                    continue
                values.add(found["value"])
                row[way] = (found["nodes"], found["seconds"])
            yield row
        if len(values) > 1:
            raise SystemExit(f"the rungs disagree about {text}")


def measure_in_time(case: Case, rungs: Rungs, limit: float) -> dict[str, Any] | None:
    """Nodes and CPU seconds of a search, or None if it takes longer."""
    begin = time.process_time()

    def watch(state: Stones) -> None:
        if time.process_time() - begin > limit:
            raise TimeLimitError("time is up")

    try:
        found = search(case.game, case.state, rungs, watch)
    except TimeLimitError:
        return None
    seconds = round(time.process_time() - begin, 3)
    return {"value": found.value, "nodes": found.nodes, "seconds": seconds}


def study_memory(case: Case) -> list[dict[str, Any]]:
    """Nodes with tables far too small, by replacement scheme."""
    rungs = dict(climb())["bounds"]
    return [
        {"slots": slots}
        | {
            scheme: measure(case, replace(rungs, slots=slots, replacement=scheme))["nodes"]
            for scheme in SCHEMES
        }
        for slots in (1 << 6, 1 << 8, 1 << 10, 1 << 12, 1 << 20)
    ]


def read_openings(text: str) -> tuple[Game[Any, Any], list[Any]]:
    """A game such as `mnk 5x5 connect=4`, and some positions early in it."""
    name, size, *options = text.split()
    game = find_game(name)
    board = game.parse(size, dict(option.split("=", 1) for option in options))
    rng = random.Random(text)
    positions = []
    for _ in range(OPENINGS):
        position = game.start(board)
        for _ in range(OPENING_PLIES):
            position = position._play(rng.choice(position._numbers()))
        positions.append(position)
    return game, positions


def study_game(text: str, most_nodes: int) -> list[dict[str, Any]]:
    """Nodes and seconds of both searches at equal depth, sums over the openings."""
    game, positions = read_openings(text)
    evaluate = find_evaluation(game.name)
    rows: list[dict[str, Any]] = []
    while not rows or rows[-1].get("minimax", 0) <= most_nodes / 10:
        row: dict[str, Any] = {"depth": len(rows) + 1}
        moves = []
        for name, look in DEEP.items():
            begin = time.process_time()
            found = [look(position, row["depth"], evaluate) for position in positions]
            row[f"{name} seconds"] = round(time.process_time() - begin, 3)
            row[name] = sum(f.nodes for f in found)
            moves.append([f.move for f in found])
        if moves[0] != moves[1]:
            raise SystemExit(f"minimax and alpha-beta disagree about {text}: {moves}")
        if rows and rows[-1]["minimax"] == row["minimax"]:
            break  # the games are over before this depth
        rows.append(row)
    return rows


def study_equal_time(text: str, seconds: float) -> dict[str, Any]:
    """The depth that each search completes within some seconds a move, mean over the openings."""
    game, positions = read_openings(text)
    found: dict[str, Any] = {"game": text}
    for name, look in DEEP.items():
        reached = [deepest(look, game, position, seconds) for position in positions]
        found[name] = sum(reached) / len(reached)
    return found


def deepest(look: Any, game: Game[Any, Any], position: Any, seconds: float) -> int:
    """How many plies a search sees ahead when it deepens step by step until time is up."""
    evaluate, end = find_evaluation(game.name), time.process_time() + seconds

    def watched(position: Any) -> int:
        if time.process_time() > end:
            raise TimeLimitError("time is up")
        return evaluate(position)

    depth, nodes = 0, -1
    while True:
        try:
            found = look(position, depth + 1, watched)
        except TimeLimitError:
            return depth
        if found.nodes == nodes:
            return depth  # nothing is left to see
        depth, nodes = depth + 1, found.nodes


def print_game(
    text: str, rows: list[dict[str, Any]], reached: dict[str, Any], seconds: float
) -> None:
    print(f"\n{text}   {OPENINGS} positions after {OPENING_PLIES} plies; nodes, seconds")
    print(f"  depth{'minimax':>20}{'alphabeta':>20}{'nodes saved':>13}")
    for row in rows:
        cells = [f"{row[name]:12,}{row[f'{name} seconds']:8.2f}" for name in DEEP]
        saved = 1 - row["alphabeta"] / row["minimax"]
        print(f"  {row['depth']:5}" + "".join(cells) + f"{saved:13.1%}")
    depths = ", ".join(f"{name} {reached[name]:.1f}" for name in DEEP)
    print(f"  plies seen ahead in {seconds:g} s: {depths}")


def print_study(case: Case, rows: list[dict[str, Any]]) -> None:
    word = {1: "WIN", 0: "DRAW", -1: "LOSS"}[rows[0]["value"]]
    print(f"\n{case.name}   {case.empty} empty cells, {word}")
    print(f"  {'rung':14}{'nodes':>10}{'saved':>8}{'hits':>9}{'seconds':>9}")
    for row in rows:
        saved = f"{row['saved']:8.0%}" if row is not rows[0] else " " * 8
        print(
            f"  {row['rung']:14}{row['nodes']:10,}{saved}{row['table_hits']:9,}"
            f"{row['seconds']:9.2f}"
        )


def print_depths(case: Case, rows: list[dict[str, Any]]) -> None:
    names = [name for name in rows[0] if name != "depth"]
    print(f"\n{case.name}   nodes at equal depth (effective branching factor: nodes^(1/depth))")
    print("  depth" + "".join(f"{name:>22}" for name in names))
    for row in rows:
        cells = [_depth_cell(row.get(name), row["depth"]) for name in names]
        print(f"  {row['depth']:5}" + "".join(cells))


def print_guided(row: dict[str, Any]) -> None:
    cells = [
        f"{row[way][0]:12,}{row[way][1]:9.2f}s" if way in row else f"{'-':>22}"
        for way in ("plain", "guided")
    ]
    print(f"  {row['board']:14}{row['rung']:14}" + "".join(cells), flush=True)


def print_memory(case: Case, rows: list[dict[str, Any]]) -> None:
    print(f"\n{case.name}   nodes by size of the table and replacement scheme")
    print(f"  {'slots':>9}" + "".join(f"{scheme:>12}" for scheme in SCHEMES))
    for row in rows:
        print(f"  {row['slots']:9,}" + "".join(f"{row[scheme]:12,}" for scheme in SCHEMES))


def _depth_cell(nodes: int | None, depth: int) -> str:
    return f"{nodes:14,} ({nodes ** (1 / depth):5.2f})" if nodes else f"{'-':>22}"


def study_all_games(arguments: argparse.Namespace) -> None:
    found = {}
    for text in arguments.boards or GAMES:
        rows = study_game(text, arguments.most_nodes)
        reached = study_equal_time(text, arguments.seconds)
        found[text] = {"equal depth": rows, "equal time": reached}
        if not arguments.json:
            print_game(text, rows, reached, arguments.seconds)
    if arguments.json:
        print(json.dumps(found, indent=1))


def study_all_guided(arguments: argparse.Namespace) -> None:
    lists = {"boards": arguments.boards} if arguments.boards else GUIDED_BOARDS
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in lists}
    if not arguments.json:
        print(f"nodes and CPU seconds; -: more than {arguments.limit:g} s, or on a smaller board")
        print(f"  {'board':14}{'rung':14}{'plain':>22}{'guided':>22}")
    for name, boards in lists.items():
        for row in study_guided(boards, arguments.limit, arguments.slots, arguments.lowest):
            found[name].append(row)
            if not arguments.json:
                print_guided(row)
    if arguments.json:
        print(json.dumps(found, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("boards", nargs="*", help="such as 3,3,3 or 4x3/3 or 4x4/4:222332")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--depths", action="store_true", help="compare at equal depths instead")
    what.add_argument("--memory", action="store_true", help="compare replacement schemes instead")
    what.add_argument("--guided", action="store_true", help="each rung with and without the last")
    what.add_argument("--games", action="store_true", help="compare players in every game instead")
    parser.add_argument("--seconds", type=float, default=1.0, help="a move may take in --games")
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds of --guided")
    parser.add_argument("--lowest", default="minimax", help="the rung that --guided begins with")
    parser.add_argument("--most-nodes", type=int, default=500_000, help="where --depths stops")
    parser.add_argument("--slots", type=int, default=1 << 20, help="entries in the table")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.games:
        study_all_games(arguments)
        return
    if arguments.guided:
        study_all_guided(arguments)
        return
    default = ["5x4/4"] if arguments.depths or arguments.memory else BOARDS
    found = {}
    for text in arguments.boards or default:
        case = read_case(text)
        if arguments.depths:
            rows, show = study_depths(case, arguments.most_nodes, arguments.slots), print_depths
        elif arguments.memory:
            rows, show = study_memory(case), print_memory
        else:
            rows, show = study(case, arguments.slots), print_study
        found[text] = rows
        if not arguments.json:
            show(case, rows)
    if arguments.json:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
