"""`tablebase match`: games between two players who change sides, and the score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.play.contest import Tally
from retro.play.players import read_spec
from tablebase.cli.console import Quit
from tablebase.cli.contests import (
    OUTCOMES,
    ROLES,
    Shelf,
    add_contest_options,
    asked_bouts,
    contest_json,
    print_costs,
    print_faults,
    say_progress,
    table_value,
)
from tablebase.cli.grammar import Command
from tablebase.cli.guard import say
from tablebase.cli.human import Contestant
from tablebase.cli.options import add_folder, add_search
from tablebase.cli.overview import HELP
from tablebase.cli.play import NAMES, asked_means
from tablebase.cli.seats import HUMAN
from tablebase.cli.show import print_json
from tablebase.players import Arena, Players
from tablebase.units import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from random import Random

    from retro.play.contest import Bout
    from retro.play.player import Player
    from retro.play.record import GameRecord
    from tablebase.cli.grammar import Asked
    from tablebase.players import Means


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--first", required=True, metavar="P", help=f"name the first player: {NAMES}"
    )
    parser.add_argument(
        "--second",
        required=True,
        metavar="P",
        help="name the second player (see --first); sides alternate from game to game",
    )
    add_contest_options(parser)
    add_folder(parser)
    add_search(parser, memory="64M")


def match_command(asked: Asked) -> int:
    options, board = asked.options, asked.board()
    names = [str(read_spec(text)) for text in (options.first, options.second)]
    twins = names[0] == names[1]
    seats = [names[0], f"{names[1]} (2)"] if twins else names
    bouts = asked_bouts(options, board, seats)
    means = asked_means(options)
    shelf = Shelf(options.save, board, bouts, options.seed)
    records: list[GameRecord] = []
    with Players(board, means) as players:
        tally, value = Tally(seats), table_value(players)
        try:
            for bout, record in _games(bouts, shelf, means):
                records.append(record)
                tally.add(bout, record, value)
                say_progress(len(records), len(bouts), bout, record)
        except Quit:
            say(f"the match ends after {len(records)} of {counted(len(bouts), 'game', 'games')}")
    if options.json:
        print_json(contest_json(board, options.seed, tally, records))
        return 0
    played = counted(len(records), "game", "games")
    name = f"{board.game_name} {board.size_text}"
    print(f"{name}: {played}, sides change each game, seed {options.seed}")
    print_scores(tally)
    print_costs(tally)
    print_faults(tally)
    return 0


def _games(bouts: Sequence[Bout], shelf: Shelf, means: Means) -> Iterator[tuple[Bout, GameRecord]]:
    """Game after game, those that were kept among them; `Quit` when a human has had enough."""
    kept = shelf.kept(bouts)
    for bout in bouts:
        record = kept.get(bout.number)
        if record is None:
            record = Arena(means).play(bout, _seat)
            shelf.keep(bout, record)
        yield bout, record


def _seat(players: Players, name: str, rng: Random) -> Player:
    spec = read_spec(name.removesuffix(" (2)"))
    return Contestant() if spec.kind == HUMAN else players.make(spec, rng)


def print_scores(tally: Tally) -> None:
    """A row per player and role, and the points: one for a win, a half for a draw."""
    width = max(len(name) for name in tally.players)
    print(f"{'player':<{width}}  role    games    won  drawn   lost  points")
    for name in tally.players:
        games = tally.scores[name].games
        by_role = {role: [games[f"{role} {outcome}"] for outcome in OUTCOMES] for role in ROLES}
        both = [sum(pair) for pair in zip(*by_role.values(), strict=True)]
        for role, counts in (*by_role.items(), ("both", both)):
            cells = "".join(f"{number:>7}" for number in (sum(counts), *counts))
            print(f"{name:<{width}}  {role:<6}{cells}{counts[0] + counts[1] / 2:>8.1f}")


COMMANDS = (
    Command(
        "match",
        HELP["match"],
        match_command,
        _add_options,
        board="usual",
    ),
)
