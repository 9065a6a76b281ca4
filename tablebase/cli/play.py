"""`tablebase play`: a game at the terminal, by default against a computer that can be beaten."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from retro.play.levels import DEFAULT_LEVEL, LEVELS
from retro.play.players import KINDS, read_spec
from retro.play.record import GameRecord
from tablebase.cli.console import Quit, is_terminal
from tablebase.cli.grammar import Command
from tablebase.cli.guard import say
from tablebase.cli.options import add_folder, add_search, given_options
from tablebase.cli.overview import HELP
from tablebase.cli.replay import replay
from tablebase.cli.saves import load_record
from tablebase.cli.seats import HUMAN, recorded_seats
from tablebase.cli.session import Session
from tablebase.players import Means

if TYPE_CHECKING:
    import argparse

    from retro.play.players import Spec
    from tablebase.cli.grammar import Asked

NAMES = ", ".join(KINDS)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--first", metavar="P", help=f"name the first player (default: human): {NAMES}"
    )
    parser.add_argument(
        "--second", metavar="P", help=f"name the second player (default: {DEFAULT_LEVEL})"
    )
    parser.add_argument("--load", metavar="FILE", help="continue a saved game")
    parser.add_argument("--replay", metavar="FILE", help="show a saved game, then exit")
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="S",
        help="set the seed of players that use randomness",
    )
    add_folder(parser)
    add_search(parser, memory="64M")


def asked_means(options: argparse.Namespace) -> Means:
    """What the players of a command line may use."""
    move_time = getattr(options, "move_time", None)
    return Means(options.dir, options.memory, options.time_limit, move_time=move_time)


def play_command(asked: Asked) -> int:
    options = asked.options
    if options.replay is not None:
        with contextlib.suppress(Quit):
            replay(_load(asked, options.replay), None if is_terminal() else 0)
        return 0
    saved = options.load
    record = GameRecord.begin(asked.board()) if saved is None else _load(asked, saved)
    seats = asked_players(options, record)
    for spec in seats:
        if spec.kind in LEVELS and HUMAN in (seats[0].kind, seats[1].kind):
            say(LEVELS[spec.kind].about(record.board))
    preset = record.board.game.preset_for(record.board)
    if preset is not None:
        words = [f"--{name} {text}" for name, text in preset.options.items()]
        command = " ".join(["tablebase play", record.board.game_name, preset.size, *words])
        say(f"{preset.why}. For a longer game: {command}")
    Session(record, seats, asked_means(options), options.seed).run()
    return 0


def _load(asked: Asked, name: str) -> GameRecord:
    """A saved game; it says itself what board it is on, unless the command line does."""
    is_named = asked.game is not None or asked.size or given_options(asked.options)
    return load_record(name, asked.board() if is_named else None)


def asked_players(options: argparse.Namespace, record: GameRecord) -> tuple[Spec, Spec]:
    """Both players. Who is not named is who sat there, or the human, or a level against her."""
    if options.first is None and options.second is None:
        kept = recorded_seats(record)
        if kept is not None:
            return kept
    first = read_spec(options.first or HUMAN)
    if options.second is not None:
        return first, read_spec(options.second)
    return first, read_spec(HUMAN if first.kind != HUMAN else DEFAULT_LEVEL)


COMMANDS = [
    Command(
        "play",
        HELP["play"],
        play_command,
        _add_options,
        board="usual",
        has_json=False,
    )
]
