"""`tablebase solve --game G BOARD [POSITION]`: any game but Connect Four, by table or by search.

    tablebase solve --game mnk 4x4 --connect 4            DRAW
    tablebase solve --game mnk 3x3 "b2 a1 c3"             WIN, DRAW or LOSS for the side to move
    tablebase solve --game domineering 6x6                N: the class of the board, see below

In Domineering either side may start. A board alone is therefore solved twice and
put into one of four classes: V or H if that side wins whoever starts, N if the
next player, who starts, wins, P if the previous player does. `--starts` or a position
asks for one value.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retro.errors import GameOverError, TablebaseError
from retro.games.catalogue import NAMES, find_game
from retro.games.values import VALUE_NAMES
from tablebase.cli.common import add_json, add_search, check_memory, read_text, report_search, say
from tablebase.places import keyed_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retro.games.catalogue import PlacementGame
    from retro.games.domineering import DomineeringBoard
    from retro.search.keyed_search import KeyedSolution

COMMAND = "solve"
GAME_OPTION = "--game"
CONNECT = "connect4"  # has a solver of its own
OTHERS = tuple(name for name in NAMES if name != CONNECT)


def is_asked(arguments: Sequence[str]) -> bool:
    """Whether a command line solves a position of another game than Connect Four."""
    return arguments[:1] == [COMMAND] and any(word in arguments for word in (GAME_OPTION, *OTHERS))


def without_connect(arguments: Sequence[str]) -> list[str]:
    """`solve --game connect4 443` is `solve 443`."""
    words = list(arguments)
    for i in range(1, len(words)):
        if words[0] == COMMAND and words[i - 1 : i + 1] == [GAME_OPTION, CONNECT]:
            return words[: i - 1] + words[i + 1 :]
    return words


def solve(arguments: Sequence[str]) -> int:
    """`solve --game G BOARD ...`, or `solve G BOARD ...` as with the commands on tables."""
    words = list(arguments[1:])
    if GAME_OPTION not in words:
        name = next(word for word in words if word in OTHERS)
        words.remove(name)
        words += [GAME_OPTION, name]
    game = find_game(_game_name(words))
    options = _parser(game).parse_intermixed_args(words)
    check_memory(options.memory)
    given = {option.name: getattr(options, f"option_{option.name}") for option in game.options}
    given = {name: text for name, text in given.items() if text is not None}
    board = game.parse(options.board, given)
    if game.name == "domineering" and options.position is None and "starts" not in given:
        return _class(options, board)
    return _value(options, game, _asked_position(options, game, board))


def _game_name(words: list[str]) -> str:
    parser = argparse.ArgumentParser(prog="tablebase solve", add_help=False)
    parser.add_argument(GAME_OPTION, required=True, metavar="G")
    name: str = parser.parse_known_args(words)[0].game
    return name


def _parser(game: PlacementGame) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"tablebase solve --game {game.name}", description=game.about
    )
    parser.add_argument(GAME_OPTION, metavar="G", help=f"one of {', '.join(OTHERS)}")
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
    add_search(parser)
    add_json(parser)
    return parser


def _asked_position(options: argparse.Namespace, game: PlacementGame, board: Any) -> Any:
    """The position that the options name: moves, or the path of a grid."""
    if options.position is None:
        return game.start(board)
    path = Path(options.position)
    try:
        is_file = path.is_file()
    except OSError:  # too long for the name of a file
        is_file = False
    if not is_file:
        return game.read_position(board, options.position)
    text = read_text(path)
    try:
        return game.read_position(board, text)
    except TablebaseError as error:
        raise type(error)(f"{path}: {error}") from None


def _value(options: argparse.Namespace, game: PlacementGame, position: Any) -> int:
    """Print the value of one position."""
    from tablebase.cli import show

    if position.is_over():
        raise GameOverError(f"{position.over_message()}: nothing to solve")
    found = _solve(options, game, position)
    word = VALUE_NAMES[found.value]
    size, details = game.describe(position.board)
    say(f"{word} for the side to move, by {found.source}, {found.nodes:,} nodes")
    if options.json:
        content = {"game": game.name, "board": size, "options": details}
        content |= {"position": game.write_position(position), "value": word}
        show.print_json({**content, "nodes": found.nodes, "source": found.source})
    else:
        print(word)
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
        seconds = time.monotonic() - started
        say(f"{side} starts: {word} for {side}, {nodes:,} nodes, {seconds:.1f} s")
    letter = outcome_class(found["vertical"].value, found["horizontal"].value)
    say(f"{board.rows} rows, {board.cols} columns: {letter}, {CLASSES[letter]}")
    if options.json:
        content = {"game": game.name, "board": str(board), "rows": board.rows, "cols": board.cols}
        starts = {
            f"{side}_starts": {"value": VALUE_NAMES[s.value], "nodes": s.nodes, "source": s.source}
            for side, s in found.items()
        }
        show.print_json({**content, "class": letter, "meaning": CLASSES[letter], **starts})
    else:
        print(letter)
    return 0


def _solve(
    options: argparse.Namespace, game: PlacementGame, position: Any, already: float = 0
) -> KeyedSolution:
    """By the table of the board, if it is there and covers the position, else by search.

    `already` are the seconds of the time limit that are gone.
    """
    from retro.search.keyed_search import KeyedSolution, KeyedSolver

    state = game.state(position)
    path = keyed_path(game, game.start(position.board), options.tables)
    if path.exists():
        from tablebase.keyed_probe import KeyedTable
        from tablebase.keyed_store import KeyedTableFile

        with KeyedTable(KeyedTableFile(path)) as table:
            value = table.get_state(position.ply, state)
        if value is not None:
            return KeyedSolution(value, 0, "table")
    limit = options.time_limit
    solver = KeyedSolver(
        game.rules(position.board),
        memory_mb=options.memory,
        time_limit=None if limit is None else max(0.0, limit - already),
        report=report_search,
    )
    return solver.solve(state)
