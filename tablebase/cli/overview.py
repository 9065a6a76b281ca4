"""What the commands are called and what they do: all that `tablebase --help` has to know.

It loads neither numpy nor any command, and takes 0.06 s.
"""

from __future__ import annotations

from argparse import SUPPRESS, RawDescriptionHelpFormatter

from retro.games.catalogue import NAMES
from tablebase.cli.guard import Parser
from tablebase.cli.options import add_version

BUILD = "build-tablebase"
# In the order of the help. A module is imported when one of its commands is asked for.
HOMES = {
    "build": ("build",),
    "ask": ("probe", "line", "solve", "analyse", "analyze"),
    "tables": ("stats", "list", "verify", "strategy"),
    "export": ("export",),
    "play": ("play",),
    "match": ("match",),
    "tournament": ("tournament",),
    "serve": ("serve",),
    "draw": ("draw",),
    "think": ("trace", "study"),
}
GROUPS = {
    "Ask": {
        "probe": "Show the value of a position and of every move.",
        "line": "Show one line of best play to the end.",
        "solve": "Print the value of any position: WIN, DRAW or LOSS.",
        "analyse": "Show the value and distance of every move, and the main line.",
        "draw": "Draw a position as an SVG or PNG picture.",
    },
    "Play": {
        "play": "Play a game at the terminal against a computer of the level you choose.",
        "match": "Play games between two players and show the score.",
        "tournament": "Play all players against each other; show a cross table and Elo numbers.",
        "serve": "Start the web page to play and analyse, and the JSON service.",
    },
    "Tables": {
        "build": "Solve every position of a board and write the table. Run again, it resumes.",
        "list": "List the tables in the folder.",
        "stats": "Count legal positions, wins, draws and losses per ply.",
        "verify": "Check a table; the exit code is 0 if it is sound.",
        "export": "Write the positions of a table, with their values, to a file for programs.",
    },
    "Look inside": {
        "strategy": "Count the positions that a perfect player must know.",
        "trace": "Show how a search thinks: the tree it visits, its windows and cuts.",
        "study": "Compare minimax with alpha-beta: nodes and time, depth by depth.",
    },
}
HELP = {name: text for group in GROUPS.values() for name, text in group.items()}
ALIASES = {"analyse": ("analyze",)}
# Two of each command, shown at the end of its help.
EXAMPLES = {
    "probe": ("tablebase probe 5x4 443", 'tablebase probe mnk 3x3 "b2 a1"'),
    "line": ("tablebase line 5x4 443", "tablebase line tictactoe"),
    "solve": ("tablebase solve 4453", "tablebase solve quarto 4x4 --strong --time-limit 60"),
    "analyse": ("tablebase analyse 4453", "tablebase analyse 7x6 44 --json"),
    "draw": ("tablebase draw 5x4 443 --svg board.svg", "tablebase draw 7x6 44 --rated --svg -"),
    "play": ("tablebase play 7x6 --second hard", "tablebase play quarto"),
    "match": (
        "tablebase match 7x6 --first easy --second medium --games 20",
        "tablebase match tictactoe --first random --second perfect",
    ),
    "tournament": (
        "tablebase tournament 7x6 random beginner easy --games 4",
        "tablebase tournament notakto 3x3 easy medium hard --json",
    ),
    "serve": ("tablebase serve --open", "tablebase serve --port 9000 --workers 2"),
    "build": ("build-tablebase 5x4", "build-tablebase mnk 4x4 --connect 4 --memory 2G --plan"),
    "list": ("tablebase list", "tablebase list mnk 3x3"),
    "stats": ("tablebase stats 5x4", "tablebase stats 7x6 --json"),
    "verify": ("tablebase verify 5x4", "tablebase verify 5x4 --level full --solver"),
    "export": (
        "tablebase export 5x4 --out 5x4.parquet --moves",
        "tablebase export mnk 3x3 --out sample.csv --sample 100 --seed 1",
    ),
    "strategy": ("tablebase strategy 5x4", "tablebase strategy mnk 3x3 --json"),
    "trace": ("tablebase trace 4x4 12 --depth 3", "tablebase trace 7x6 4444 --rules"),
    "study": ("tablebase study 5x4", "tablebase study quarto 4x4 --svg study.svg"),
}


def show_examples(command: str) -> str:
    """The examples of a command, as the end of its help."""
    name = "build" if command == BUILD else command
    return "\n".join(["examples:", *(f"  {example}" for example in EXAMPLES[name])])


def make_overview() -> Parser:
    """The parser behind `tablebase --help`, which knows the commands' names only."""
    lines = []
    for title, group in GROUPS.items():
        lines += [f"{title}:", *(f"  {name:<12}{text}" for name, text in group.items()), ""]
    starts = ("tablebase solve 4453", "tablebase play 7x6 --second easy", "build-tablebase 5x4")
    lines += ["examples:", *(f"  {line}" for line in starts), ""]
    lines += [
        f"Games: {', '.join(NAMES)}.",
        "`tablebase help COMMAND` says more about one command.",
    ]
    parser = Parser(
        prog="tablebase",
        usage="tablebase COMMAND [GAME] BOARD [POSITION] [options]",
        description="Ask exact tables, or search. Values are for the side to move.",
        epilog="\n".join(lines),
        formatter_class=RawDescriptionHelpFormatter,
    )
    add_version(parser)
    choices = parser.add_subparsers(required=True, metavar="COMMAND", dest="command", help=SUPPRESS)
    for name in HELP:
        choices.add_parser(name, aliases=ALIASES.get(name, ()), add_help=False)
    return parser
