"""`tablebase tournament`: all against all, on all cores, a cross table and Elo numbers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from retro.errors import BadTextError
from retro.play.contest import Tally, run
from retro.play.elo import elo
from retro.play.players import read_spec
from tablebase.cli.contests import (
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
from tablebase.cli.options import add_folder, add_search, add_threads
from tablebase.cli.overview import HELP
from tablebase.cli.play import asked_means
from tablebase.cli.seats import HUMAN
from tablebase.cli.show import print_columns, print_json
from tablebase.players import Arena, Players
from tablebase.units import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from retro.play.contest import Bout, Value
    from retro.play.record import GameRecord
    from tablebase.cli.grammar import Asked


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_contest_options(parser)
    add_threads(parser)
    add_folder(parser)
    add_search(parser, memory="64M")


def tournament_command(asked: Asked) -> int:
    options, board = asked.options, asked.board()
    names = _asked_names(asked)
    bouts = asked_bouts(options, board, names)
    shelf = Shelf(options.save, board, bouts, options.seed)
    arena = Arena(asked_means(options))
    with Players(board, arena.means) as players:
        for name in names:  # complains before anybody has moved
            players.make(name, bouts[0].rngs()[0])
        played = _play(bouts, shelf, arena, options.threads or os.cpu_count() or 1)
        tally = count(names, bouts, played, table_value(players))
    if len(played) < len(bouts):
        more = "; the same command goes on from there" if options.save else ""
        say(f"interrupted after {len(played)} of {len(bouts)} games{more}")
    if options.json:
        print_json(contest_json(board, options.seed, tally, list(played.values())))
        return 0
    games = counted(len(played), "game", "games")
    print(f"{board.game_name} {board.size_text}: {games}, seed {options.seed}")
    print_cross_table(tally)
    print_costs(tally)
    print_faults(tally)
    return 0


def _asked_names(asked: Asked) -> list[str]:
    specs = [read_spec(text) for text in asked.players]
    if len(specs) < 2:
        raise BadTextError(f"found {counted(len(specs), 'player', 'players')}, wanted at least 2")
    if any(spec.kind == HUMAN for spec in specs):
        raise BadTextError("a human plays in a match, not in a tournament")
    return [str(spec) for spec in specs]


def _play(bouts: Sequence[Bout], shelf: Shelf, arena: Arena, cores: int) -> dict[int, GameRecord]:
    """The games by number, those that were kept among them; fewer if Ctrl-C ends it."""
    found = shelf.kept(bouts)
    if found:
        say(f"{counted(len(found), 'game was', 'games were')} played before")
    waiting = [bout for bout in bouts if bout.number not in found]
    try:
        for bout, record in run(waiting, arena, cores):
            found[bout.number] = record
            shelf.keep(bout, record)
            say_progress(len(found), len(bouts), bout, record)
    except KeyboardInterrupt:
        pass
    return dict(sorted(found.items()))


def count(
    names: Sequence[str],
    bouts: Sequence[Bout],
    played: dict[int, GameRecord],
    value: Value | None,
) -> Tally:
    """What came out, counted in the order of the schedule."""
    tally = Tally(names)
    for bout in bouts:
        if bout.number in played:
            tally.add(bout, played[bout.number], value)
    return tally


def print_cross_table(tally: Tally) -> None:
    """Who scored what against whom, the strongest first; Elo with its 95 % interval."""
    ratings = elo(tally.points)
    order = sorted(range(len(ratings)), key=lambda i: -ratings[i].elo)
    rows: list[tuple[str, ...]] = [
        ("", "player", "Elo", "+-", "points", "games", *(str(n + 1) for n in range(len(order))))
    ]
    for place, i in enumerate(order, start=1):
        score, rating = tally.scores[tally.players[i]], ratings[i]
        cells = ("" if i == j else f"{tally.points[i, j]:g}" for j in order)
        numbers = (f"{rating.elo:.0f}", f"{rating.bar:.0f}", f"{score.points:g}", f"{score.played}")
        rows.append((str(place), tally.players[i], *numbers, *cells))
    print_columns(rows)


COMMANDS = (
    Command(
        "tournament",
        HELP["tournament"],
        tournament_command,
        _add_options,
        board="usual",
        takes_players=True,
    ),
)
