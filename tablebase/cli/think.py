"""`tablebase trace` and `study`: how a search thinks.

tablebase trace 5x4 443 --depth 3                  the tree that alpha-beta visits
tablebase trace --tree exercise.txt                the same of a tree of MAX and MIN nodes
tablebase trace --tree exercise.txt --exercise     leaf values that cut what is marked
tablebase trace 7x6 4444 --rules                   what Allis' rules see, without a search
tablebase study mnk 3x3                            minimax against alpha-beta, depth by depth
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.errors import BadTextError, StorageError
from tablebase.cli import show
from tablebase.cli.grammar import Command
from tablebase.cli.input import read_file
from tablebase.cli.options import MOST_PLIES, add_grid, at_most, count, file_to_write
from tablebase.cli.overview import HELP

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    from retro.games.game import Position
    from retro.play.tree import Tree
    from tablebase.answers import Json
    from tablebase.cli.grammar import Asked

MOST_SHOWN = 300
DEPTH = 3


def _add_trace_options(parser: argparse.ArgumentParser) -> None:
    from retro.play.trace import ALGORITHMS

    parser.add_argument(
        "--depth",
        type=at_most(MOST_PLIES),
        default=DEPTH,
        metavar="N",
        help="search N plies deep (default: 3)",
    )
    parser.add_argument(
        "--algorithm",
        choices=ALGORITHMS,
        default="alpha-beta",
        help="choose the algorithm (default: alpha-beta)",
    )
    parser.add_argument(
        "--evaluation",
        default="",
        metavar="NAME",
        help="choose how leaves are rated (default: the game's first)",
    )
    parser.add_argument("--ordered", action="store_true", help="try promising moves first")
    parser.add_argument(
        "--tree",
        metavar="FILE",
        help="search the tree of MAX and MIN nodes in this file, not a game",
    )
    parser.add_argument(
        "--exercise",
        action="store_true",
        help="with --tree: find leaf values so that alpha-beta cuts exactly the marked branches",
    )
    parser.add_argument(
        "--rules",
        action="store_true",
        help="show Allis' rules for Connect Four and what they prove",
    )
    parser.add_argument(
        "--most", type=count, default=MOST_SHOWN, metavar="N", help="show at most N nodes"
    )
    _add_picture(parser)
    add_grid(parser)


def _add_study_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--evaluation",
        default="",
        metavar="NAME",
        help="choose how leaves are rated (default: the game's first)",
    )
    parser.add_argument(
        "--nodes",
        type=count,
        metavar="N",
        help="stop a depth at which minimax visits more than N nodes",
    )
    _add_picture(parser)
    add_grid(parser)


def _add_picture(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--svg", type=file_to_write, metavar="FILE", help="also write a picture to this file"
    )


def _position(asked: Asked) -> Position:
    given = asked.given()
    board = asked.board(given)
    return asked.on(board, given) or board.start()


def trace_command(asked: Asked) -> int:
    from retro.play.evaluations import find_evaluation
    from retro.play.trace import Look, trace_position, trace_tree
    from retro.play.trace_svg import trace_svg
    from retro.play.trace_text import trace_text

    options = asked.options
    about: Json = {}
    if options.exercise and options.tree is None:
        raise BadTextError("--exercise wants a tree: --tree FILE")
    if options.rules:
        return _rules(asked)
    if options.tree is not None:
        tree = _read_tree(options.tree)
        if options.exercise:
            return _exercise(asked, tree)
        trace = trace_tree(tree, options.algorithm, options.most)
    else:
        position = _position(asked)
        evaluate = find_evaluation(position.board.game_name, options.evaluation)
        look = Look(options.depth, evaluate, options.algorithm, options.ordered)
        trace = trace_position(position, look, options.most)
        about = position.to_dict()
    _write(options.svg, lambda: trace_svg(trace))
    if options.json:
        show.print_json({**about, "trace": trace.as_dict()})
    else:
        print(trace_text(trace))
    return 0


def _rules(asked: Asked) -> int:
    from retro.play.allis_shown import rules_json, rules_text

    if asked.options.tree is not None or asked.options.svg is not None:
        raise BadTextError("--rules wants a position, and draws no picture")
    position = _position(asked)
    if asked.options.json:
        show.print_json({**position.to_dict(), "rules": rules_json(position)})
    else:
        print(rules_text(position))
    return 0


def _read_tree(path: str) -> Tree:
    from retro.play.tree import read_tree

    given = read_file(path)
    try:
        return read_tree(given.text)
    except BadTextError as error:
        raise BadTextError(f"{given.where}: {error}") from None


def _exercise(asked: Asked, tree: Tree) -> int:
    from retro.play.exercise import solve_exercise
    from retro.play.trace import trace_tree
    from retro.play.trace_svg import trace_svg
    from retro.play.tree import write_tree

    solved = solve_exercise(tree)
    if solved.tree is None and asked.options.svg is not None:
        raise BadTextError(f"there is no tree to draw; impossible: {solved.why}")
    if solved.tree is not None:
        trace = trace_tree(solved.tree, asked.options.algorithm, asked.options.most)
        _write(asked.options.svg, lambda: trace_svg(trace))
    text = None if solved.tree is None else write_tree(solved.tree)
    if asked.options.json:
        show.print_json(
            {"exercise": {"possible": text is not None, "tree": text, "why": solved.why}}
        )
    else:
        print(text if text is not None else f"impossible: {solved.why}")
    return 0


def study_command(asked: Asked) -> int:
    from retro.play.evaluations import find_evaluation
    from retro.play.study import MOST_NODES, study_position, study_svg, study_text

    options, position = asked.options, _position(asked)
    evaluate = find_evaluation(position.board.game_name, options.evaluation)
    study = study_position(position, evaluate, options.nodes or MOST_NODES)
    _write(options.svg, lambda: study_svg(study))
    if options.json:
        show.print_json({**position.to_dict(), "study": study.as_dict()})
    else:
        print(study_text(study))
    return 0


def _write(path: Path | None, draw: Callable[[], str]) -> None:
    if path is None:
        return
    try:
        path.write_text(draw(), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from None


COMMANDS = (
    Command(
        "trace",
        HELP["trace"],
        trace_command,
        _add_trace_options,
        board="usual",
        takes_position=True,
    ),
    Command(
        "study",
        HELP["study"],
        study_command,
        _add_study_options,
        board="usual",
        takes_position=True,
    ),
)
