"""`tablebase solve` and `analyse` of any game but Connect Four, by table or by search.

    tablebase solve --game mnk 4x4 --connect 4            DRAW
    tablebase solve --game mnk 3x3 "b2 a1 c3"             WIN, DRAW or LOSS for the side to move
    tablebase solve --game mnk 3x3 "b2 b1" --strong       WIN 5: and the plies to the end
    tablebase solve --game domineering 6x6                N: the class of the board, see below
    tablebase analyse --game mnk 3x3 "b2 b1"              every move, best first, and the main line

In Domineering either side may start. A board alone is therefore solved twice and
put into one of four classes: V or H if that side wins whoever starts, N if the
next player, who starts, wins, P if the previous player does. `--starts` or a position
asks for one value. With `--strong` the plies follow, Vertical's start before Horizontal's.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retro.errors import GameOverError
from retro.games.catalogue import find_game
from retro.games.values import VALUE_NAMES
from tablebase.cli.common import (
    add_json,
    add_search,
    check_memory,
    open_keyed_tables,
    read_position,
    say,
    say_search,
)
from tablebase.cli.progress import SearchProgress
from tablebase.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retro.games.catalogue import PlacementGame
    from retro.games.domineering import DomineeringBoard
    from retro.search.keyed_search import KeyedSolution
    from tablebase.keyed_oracle import KeyedOracle

COMMANDS = ("solve", "analyse")


def answer(command: str, game: PlacementGame, arguments: Sequence[str]) -> int:
    """`COMMAND --game G BOARD ...`, or `COMMAND G BOARD ...` as with the commands on tables."""
    options = _parser(command, game).parse_intermixed_args(arguments)
    check_memory(options.memory)
    given = {option.name: getattr(options, f"option_{option.name}") for option in game.options}
    given = {name: text for name, text in given.items() if text is not None}
    board = game.parse(options.board, given)
    if command == "analyse":
        return _analysis(options, game, _asked_position(options, game, board))
    if game.name == "domineering" and options.position is None and "starts" not in given:
        return _class(options, board)
    return _value(options, game, _asked_position(options, game, board))


def _parser(command: str, game: PlacementGame) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"tablebase {command} --game {game.name}", description=game.about
    )
    size = "rows x columns" if game.name == "domineering" else "columns x rows"
    parser.add_argument("board", metavar="BOARD", help=f"{size}, such as 3x3")
    parser.add_argument(
        "position", nargs="?", metavar="POSITION", help="moves from the start, or a grid file"
    )
    for option in game.options:
        parser.add_argument(
            f"--{option.name}",
            dest=f"option_{option.name}",
            metavar=option.metavar,
            help=option.help,
        )
    parser.add_argument("--tables", type=Path, metavar="DIR", help="folder of tables to ask first")
    if command == "solve":
        parser.add_argument("--strong", action="store_true", help="also the plies to the end")
    add_search(parser)
    add_json(parser)
    return parser


def _asked_position(options: argparse.Namespace, game: PlacementGame, board: Any) -> Any:
    """The position that the options name: moves, or the path of a grid."""
    if options.position is None:
        return game.start(board)
    return read_position(game, board, options.position)


def _value(options: argparse.Namespace, game: PlacementGame, position: Any) -> int:
    """Print the value of one position, and its distance."""
    from tablebase.cli import show

    if position.is_over():
        raise GameOverError(f"{position.over_message()}: nothing to solve")
    found = _solve(options, game, position)
    word = VALUE_NAMES[found.value]
    by = "table and search" if found.source == "both" else found.source
    say(f"{word} for the side to move, by {by}, {found.nodes:,} nodes")
    if options.json:
        content = {**_about(game, position), "value": word, "plies": found.plies}
        show.print_json({**content, "nodes": found.nodes, "source": found.source})
    else:
        print(f"{word} {found.plies}" if options.strong else word)
    return 0


def _about(game: PlacementGame, position: Any) -> dict[str, Any]:
    size, details = game.describe(position.board)
    text = game.write_position(position)
    return {"game": game.name, "board": size, "options": details, "position": text}


def _analysis(options: argparse.Namespace, game: PlacementGame, position: Any) -> int:
    """Print value and distance of every move, best first, and the main line."""
    from tablebase.cli import show

    with _open_oracle(options, game, position.board) as oracle:
        moves, best_line = oracle.analyse_and_line(position)
    line = [move.move for move in best_line]
    if options.json:
        show.print_json({**_about(game, position), **show.analysis_json(moves), "line": line})
    else:
        show.print_analysis(moves, " ".join(line))
    return 0


def _class(options: argparse.Namespace, board: DomineeringBoard) -> int:
    """Print the class of a board of Domineering, by solving both starts."""
    from retro.games.domineering import CLASSES, OTHER, outcome_class
    from tablebase.cli import show

    game = find_game("domineering")
    begin = time.monotonic()
    found = {}
    for side in OTHER:
        started = time.monotonic()
        found[side] = _solve(
            options, game, game.start(replace(board, first=side)), already=started - begin
        )
        word, nodes = VALUE_NAMES[found[side].value], found[side].nodes
        distance = found[side].plies
        end = "" if distance is None else f" in {counted(distance, 'ply', 'plies')}"
        seconds = time.monotonic() - started
        say(f"{side} starts: {word} for {side}{end}, {nodes:,} nodes, {seconds:.1f} s")
    letter = outcome_class(found["vertical"].value, found["horizontal"].value)
    say(f"{board.rows} rows, {board.cols} columns: {letter}, {CLASSES[letter]}")
    if options.json:
        content = {"game": game.name, "board": str(board), "rows": board.rows, "cols": board.cols}
        starts = {
            f"{side}_starts": {**asdict(solution), "value": VALUE_NAMES[solution.value]}
            for side, solution in found.items()
        }
        show.print_json({**content, "class": letter, "meaning": CLASSES[letter], **starts})
    else:
        plies = [str(found[side].plies) for side in OTHER] if options.strong else []
        print(" ".join([letter, *plies]))
    return 0


def _solve(
    options: argparse.Namespace, game: PlacementGame, position: Any, already: float = 0
) -> KeyedSolution:
    """By a table of the board that covers the position, else by search.

    `already` are the seconds of the time limit that are gone.
    """
    with _open_oracle(options, game, position.board, already) as oracle:
        return oracle.solve(position, strong=options.strong)


@contextlib.contextmanager
def _open_oracle(
    options: argparse.Namespace, game: PlacementGame, board: Any, already: float = 0
) -> Iterator[KeyedOracle]:
    """The tables of a board, if they are there, and the solver."""
    from tablebase.keyed_oracle import KeyedOracle

    limit = options.time_limit
    with contextlib.ExitStack() as stack:
        yield KeyedOracle(
            game,
            game.start(board),
            open_keyed_tables(game, board, options.tables, stack),
            memory_mb=options.memory,
            time_limit=None if limit is None else max(0.0, limit - already),
            before_search=lambda: say_search(board),
            report=SearchProgress().report,
        )
