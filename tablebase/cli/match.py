"""`tablebase match`: games between two players who change sides, and the score."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from retro.errors import BadTextError
from retro.search.players import read_spec, referee
from tablebase.cli.common import add_json, say
from tablebase.cli.games import asked_game
from tablebase.cli.seats import PLAYERS, Contestant, Quit, Seats, add_seats
from tablebase.units import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from retro.games.catalogue import PlacementGame
    from retro.search.players import GameRecord, Spec

ROLES = ("first", "second")
COLUMNS = ("games", "won", "drawn", "lost")


def add_match_options(parser: argparse.ArgumentParser) -> None:
    add_seats(parser)
    parser.add_argument("--first", required=True, metavar="P", help=PLAYERS)
    parser.add_argument("--second", required=True, metavar="P", help="they change sides each game")
    parser.add_argument("--games", type=int, default=10, metavar="N", help="default: 10")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="default: 0")
    add_json(parser)


def match_command(options: argparse.Namespace) -> int:
    from tablebase.cli import show

    game, board = asked_game(options)
    specs = read_spec(options.first), read_spec(options.second)
    if options.games < 1:
        raise BadTextError(f"found {options.games} games, wanted at least 1")
    records: list[GameRecord] = []
    try:
        for record in _games(options, game, board, specs):
            records.append(record)
            say(f"game {len(records)}: {_story(record)}")
    except Quit:
        say(f"the match ends after {len(records)} of {counted(options.games, 'game', 'games')}")
    scores = [score(records, number) for number in (0, 1)]
    size, details = game.describe(board)
    if options.json:
        content = {"game": game.name, "board": size, "options": details, "seed": options.seed}
        rows = [
            {"player": str(spec), **{role: dict(by_role[role]) for role in by_role}}
            for spec, by_role in zip(specs, scores, strict=True)
        ]
        games = [{**r._asdict(), "plies": len(r.moves)} for r in records]
        show.print_json({**content, "players": rows, "games": games})
        return 0
    games_played = counted(len(records), "game", "games")
    print(f"{game.name} {size}: {games_played}, sides change each game, seed {options.seed}")
    print_scores(specs, scores)
    return 0


def _games(
    options: argparse.Namespace, game: PlacementGame, board: Any, specs: tuple[Spec, Spec]
) -> Iterator[GameRecord]:
    """Game after game; `Quit` when a human has had enough."""
    with Seats(options, game, board, human=Contestant) as seats:
        for number in range(options.games):
            players = seats.seat_both(specs, f"{options.seed} {number}")
            first, second = players if number % 2 == 0 else players[::-1]
            yield referee(game, game.start(board), first, second)


def _story(record: GameRecord) -> str:
    verb = {"first": "beats", "second": "loses to", None: "draws with"}[record.winner]
    plies = counted(len(record.moves), "ply", "plies")
    return f"{record.first} (first) {verb} {record.second} in {plies}"


def score(records: Sequence[GameRecord], player: int) -> dict[str, Counter[str]]:
    """{role: {games, won, drawn, lost}} of player 0 or 1; 0 is first in the first game."""
    found = {role: Counter(dict.fromkeys(COLUMNS, 0)) for role in ROLES}
    for number, record in enumerate(records):
        role = ROLES[(number + player) % 2]
        result = "drawn" if record.winner is None else "won" if record.winner == role else "lost"
        found[role].update(["games", result])
    return found


def print_scores(specs: Sequence[Spec], scores: Sequence[dict[str, Counter[str]]]) -> None:
    """A row per player and role, and the points: one for a win, a half for a draw."""
    width = max(len(str(spec)) for spec in specs)
    print(f"{'player':<{width}}  role    games    won  drawn   lost  points")
    for spec, by_role in zip(specs, scores, strict=True):
        whole = by_role["first"] + by_role["second"]
        for role, found in (*by_role.items(), ("both", whole)):
            cells = "".join(f"{found[name]:>7}" for name in COLUMNS)
            print(f"{spec!s:<{width}}  {role:<6}{cells}{found['won'] + found['drawn'] / 2:>8.1f}")
