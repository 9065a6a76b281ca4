"""`tablebase play`: a game at the terminal, by default against the perfect player."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retro.search.players import read_spec
from tablebase.cli.common import say
from tablebase.cli.games import asked_game
from tablebase.cli.seats import HUMAN, PLAYERS, GoTo, Quit, Seats, add_seats, default_opponent

if TYPE_CHECKING:
    import argparse

    from retro.games.catalogue import PlacementGame
    from retro.search.players import Player, Spec


def add_play_options(parser: argparse.ArgumentParser) -> None:
    add_seats(parser)
    parser.add_argument("--first", default="human", metavar="P", help=PLAYERS)
    parser.add_argument("--second", metavar="P", help="default: human, against the human perfect")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of players that draw lots"
    )


def play_command(options: argparse.Namespace) -> int:
    game, board = asked_game(options)
    specs = asked_players(options, default_opponent(game, board))
    with Seats(options, game, board) as seats:
        players = seats.seat_both(specs, options.seed)
        try:
            final = play(game, game.start(board), *players)
        except Quit:
            return 0
    print(final.over_message())
    return 0


def asked_players(options: argparse.Namespace, opponent: str) -> tuple[Spec, Spec]:
    """Both players; who is not named is the human, or `opponent` against the human."""
    first = read_spec(options.first)
    if options.second is not None:
        return first, read_spec(options.second)
    if first.kind != HUMAN:
        return first, read_spec(HUMAN)
    if opponent != "perfect":
        say(f"perfect play is out of reach on so large a board: {opponent} plays against you")
    return first, read_spec(opponent)


def play(game: PlacementGame, position: Any, first: Player, second: Player) -> Any:
    """Let two players play and show it; returns the finished position."""
    while not position.is_over():
        is_first = position.side_to_move == "first"
        mover, other = (first, second) if is_first else (second, first)
        if mover.name == HUMAN or other.name != HUMAN:  # who has just moved knows the board
            print(game.draw(position))
        try:
            move = mover.choose(position)
        except GoTo as wish:
            position = wish.position
            continue
        sign = game.players[0 if is_first else 1]
        print(f"{sign} ({mover.name}) plays {game.write_move(position, move)}")
        for player in (first, second):
            player.told(position, move)
        position = position.play(move)
    print(game.draw(position))
    return position
