"""`tablebase probe`, `line`, `solve` and `analyse`: questions about one position.

Tables that are there answer first, then the solver. The value of a finished game is known to
`solve`; the others ask for moves, and there are none.

On some boards either side may start (Domineering). Such a board alone is solved for both starts
and put into a class; a position, or the option that says who starts, asks for one value.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from retro.answers import Solution
from retro.deadline import Deadline
from retro.errors import GameOverError
from retro.games.values import VALUE_NAMES
from tablebase import answers
from tablebase.cli import show
from tablebase.cli.grammar import Command
from tablebase.cli.guard import say
from tablebase.cli.lines import add_lines, lines_command
from tablebase.cli.open import open_oracle
from tablebase.cli.options import (
    add_folder,
    add_grid,
    add_leaves,
    add_root,
    add_search,
    add_threads,
    given_options,
)
from tablebase.cli.overview import ALIASES, HELP

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from retro.games.game import Board, Position
    from tablebase.cli.grammar import Asked
    from tablebase.oracles import Oracle


def _add_table_options(parser: argparse.ArgumentParser) -> None:
    """Of questions to a table, which the solver answers where the table does not."""
    add_grid(parser)
    add_root(parser)
    add_folder(parser)
    add_search(parser)


def _add_solver_options(parser: argparse.ArgumentParser) -> None:
    add_lines(parser)
    add_grid(parser)
    add_folder(parser)
    add_search(parser)
    add_threads(parser, shown="1; 2 after a second, if a core is free")
    add_leaves(parser)


def _add_solve_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--strong", action="store_true", help="also print the distance to the end, in plies"
    )
    _add_solver_options(parser)


@contextlib.contextmanager
def _open(
    asked: Asked, *, distances: bool = False, says_why: bool = True
) -> Iterator[tuple[Oracle, Position]]:
    """Whom to ask, and the position; without one it is where the table or the game starts."""
    given = asked.given()
    with contextlib.ExitStack() as stack:
        if asked.file is None:
            board = asked.board(given)
            position = asked.on(board, given) or asked.root(board) or board.start()
            oracle = stack.enter_context(open_oracle(asked, board, says_why=says_why))
        else:
            oracle = stack.enter_context(open_oracle(asked))
            position = asked.on(oracle.board, given) or oracle.tables[0].root
        searches = distances and says_why and not position.is_over()
        if searches and oracle.covers(position) and not oracle.covers(position, distances=True):
            oracle.before_search = lambda: say("searching: the table knows values, not distances")
        yield oracle, position


def _require_live(position: Position) -> None:
    if position.is_over():
        raise GameOverError(f"{position.over_message()}; there is no move to rate")


def probe_command(asked: Asked) -> int:
    with _open(asked) as (oracle, position):
        _require_live(position)
        found = oracle.probe(position)
    if asked.options.json:
        show.print_json(found.to_dict())
    else:
        show.print_probe(found)
    return 0


def line_command(asked: Asked) -> int:
    with _open(asked, distances=True) as (oracle, position):
        _require_live(position)
        line = oracle.best_line(position)
    if asked.options.json:
        show.print_json(line.to_dict())
    else:
        show.print_line(line)
    return 0


def analyse_command(asked: Asked) -> int:
    if asked.options.lines is not None:
        return lines_command(asked, is_analysis=True)
    with _open(asked, says_why=False) as (oracle, position):
        _require_live(position)
        clock = Deadline(oracle.time_limit)  # one for both
        found = oracle.analyse(position, clock=clock)
        if not asked.options.json:
            show.print_moves(found.moves)  # known at once, where the line takes a search
        line = oracle.best_line(position, clock=clock)
    if asked.options.json:
        show.print_json(answers.analysis_json(found, line))
    else:
        print(f"line: {' '.join(move.move for move in line.moves)}")
    return 0


def solve_command(asked: Asked) -> int:
    if asked.options.lines is not None:
        return lines_command(asked, is_analysis=False)
    given = asked.given()
    board = asked.board(given)
    classes = board.game.classes
    if classes and given is None and classes.option not in given_options(asked.options):
        return _solve_class(asked, board)
    position = asked.on(board, given) or board.start()
    outcome = position.outcome()
    if outcome is not None:
        found = Solution(outcome, 0, 0, "rules")
        say(f"{VALUE_NAMES[outcome]} for the side to move: {position.over_message()}")
    else:
        with open_oracle(asked, board, says_why=False) as oracle:
            found = oracle.solve(position, strong=asked.options.strong)
        by = show.source_text(found.source)
        say(f"{VALUE_NAMES[found.value]} for the side to move, by {by}, {found.nodes:,} nodes")
    if asked.options.json:
        show.print_json(answers.solution_json(position, found))
    else:
        plies = f" {found.plies}" if asked.options.strong else ""
        print(f"{VALUE_NAMES[found.value]}{plies}")
    return 0


def _solve_class(asked: Asked, board: Board) -> int:
    """Print the class of a board, by solving every start within one time limit."""
    classes = board.game.classes
    assert classes is not None
    clock = Deadline(asked.options.time_limit)  # one for all starts
    found: dict[str, Solution] = {}
    for name, started in classes.starts(board).items():
        since = time.monotonic()
        strong = asked.options.strong
        with open_oracle(asked, started, says_why=False) as oracle:
            one = found[name] = oracle.solve(started.start(), strong, clock=clock)
        took = time.monotonic() - since
        word = f"{VALUE_NAMES[one.value]} for {name}{show.end_text(one.plies)}"
        say(f"{name} starts: {word}, {one.nodes:,} nodes, {took:.1f} s")
    letter = classes.letter({name: one.value for name, one in found.items()})
    say(f"{board.size_text} ({board.game.size_order}): {letter}, {classes.meanings[letter]}")
    if asked.options.json:
        show.print_json(answers.class_json(board, letter, found))
    else:
        plies = [str(one.plies) for one in found.values()] if asked.options.strong else []
        print(" ".join([letter, *plies]))
    return 0


COMMANDS = (
    Command(
        "probe",
        HELP["probe"],
        probe_command,
        _add_table_options,
        takes_file=True,
        takes_position=True,
        is_one_question=True,
    ),
    Command(
        "line",
        HELP["line"],
        line_command,
        _add_table_options,
        takes_file=True,
        takes_position=True,
        is_one_question=True,
    ),
    Command(
        "solve",
        HELP["solve"],
        solve_command,
        _add_solve_options,
        board="usual",
        takes_position=True,
        is_one_question=True,
    ),
    Command(
        "analyse",
        HELP["analyse"],
        analyse_command,
        _add_solver_options,
        board="usual",
        takes_position=True,
        is_one_question=True,
        aliases=ALIASES["analyse"],
    ),
)
