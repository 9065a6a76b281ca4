"""What the commands are called and what they do: all that `tablebase --help` has to know.

It loads neither numpy nor any command, and takes 0.06 s.
"""

from __future__ import annotations

from retro.games.catalogue import NAMES
from tablebase.cli.guard import Parser
from tablebase.cli.options import add_version

BUILD = "build-tablebase"
# In the order of the help. A module is imported when one of its commands is asked for.
HOMES = {
    "build": ("build",),
    "ask": ("probe", "line", "solve", "analyse", "analyze"),
    "tables": ("stats", "list", "verify", "strategy"),
    "play": ("play",),
    "match": ("match",),
    "tournament": ("tournament",),
    "serve": ("serve",),
    "draw": ("draw",),
    "think": ("trace", "study"),
}
HELP = {
    "build": "Solve every position of a board and write the table.",
    "probe": "Show the value of a position and of every move.",
    "line": "Show one line of best play to the end.",
    "solve": "Print the value of any position: WIN, DRAW or LOSS.",
    "analyse": "Show the value and distance of every move, and the main line.",
    "stats": "Count legal positions, wins, draws and losses per ply.",
    "list": "List the tables in the folder.",
    "verify": "Check a table; the exit code is 0 if it is sound.",
    "strategy": "Count the positions that a perfect player must know.",
    "play": "Play a game at the terminal against a computer of the level you choose.",
    "match": "Play games between two players and show the score.",
    "tournament": "Play all players against each other; show a cross table and Elo numbers.",
    "serve": "Start the web page to play and analyse, and the JSON service.",
    "draw": "Draw a position as an SVG or PNG picture.",
    "trace": "Show how a search thinks: the tree it visits, its windows and cuts.",
    "study": "Compare minimax with alpha-beta: nodes and time, depth by depth.",
}
ALIASES = {"analyse": ("analyze",)}


def make_overview() -> Parser:
    """The parser behind `tablebase --help`, which knows the commands' names only."""
    parser = Parser(
        prog="tablebase",
        usage="tablebase COMMAND [GAME] BOARD [POSITION] [options]",
        description="Ask exact tables, or search. Values are for the side to move.",
        epilog=f"Games: {', '.join(NAMES)}. `tablebase help COMMAND` says more. "
        f"{BUILD} is `tablebase build`.",
    )
    add_version(parser)
    choices = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for name, text in HELP.items():
        choices.add_parser(name, aliases=ALIASES.get(name, ()), help=text, add_help=False)
    return parser
