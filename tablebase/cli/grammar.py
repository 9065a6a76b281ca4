"""One grammar of commands, for every game:

    tablebase COMMAND [GAME] BOARD [POSITION] [options]
    build-tablebase   [GAME] BOARD            [options]

A command says which of these it takes and which options it has; the games say which options
they have. The factory makes one parser from both. Options may stand anywhere; what is left are
words, read from left to right:

    tablebase solve --strong quarto 4x4 --memory 1G 9..2/d5.c/.b.6/.0.3,a
                             GAME   BOARD           POSITION
    tablebase solve 4453             a word that is no game and no size: the position
    tablebase stats tables/x.h5      a table file in the place of BOARD says what it is
    tablebase probe mnk 3x3 b2 a1    moves may be several words
"""

from __future__ import annotations

import argparse
import contextlib
import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from retro.errors import BadTextError, WrongBoardError
from retro.games.catalogue import ALIASES, ALL_NAMES, DEFAULT_GAME, NAMES, find_game, unknown_game
from tablebase.cli.guard import Parser, UsageError
from tablebase.cli.input import Given, is_path, read_file, read_position
from tablebase.cli.options import add_game_options, add_json, add_version, given_options
from tablebase.cli.overview import BUILD, show_examples
from tablebase.files.places import SUFFIX
from tablebase.files.remote import is_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from retro.games.game import AnyGame, Board, Position

_SIZE = re.compile(r"[0-9]+[xX][0-9]+", re.ASCII)


@dataclass(frozen=True)
class Command:
    """What a command is called, what it takes and what it does."""

    name: str
    help: str
    run: Callable[[Asked], int]
    add_options: Callable[[argparse.ArgumentParser], None]
    # usual: the game's, unless it is named; any: those that fit what is named
    board: Literal["needed", "usual", "any", "none"] = "needed"
    takes_file: bool = False  # in the place of BOARD
    takes_position: bool = False
    takes_players: bool = False
    has_json: bool = True
    is_one_question: bool = False  # so that --time-limit is for the whole command
    aliases: tuple[str, ...] = ()

    @property
    def prog(self) -> str:
        return self.name if self.name == BUILD else f"tablebase {self.name}"

    @property
    def usage(self) -> str:
        board = {"needed": " [GAME] BOARD", "none": ""}.get(self.board, " [GAME] [BOARD]")
        more = " [POSITION]" if self.takes_position else " P Q ..." if self.takes_players else ""
        return f"{self.prog}{board}{more} [options]"


@dataclass(frozen=True)
class Asked:
    """What a command line asks about."""

    options: argparse.Namespace
    game: AnyGame | None  # None if it was not named
    size: str  # of the board; "" if it was not named
    file: Path | str | None  # a table, or the URL of one, in the place of a board
    position: str | None
    players: tuple[str, ...] = ()

    def given(self) -> Given | None:
        """The text of the position, if one was named."""
        grid = getattr(self.options, "grid", None)
        if grid is not None and self.position is not None:
            raise BadTextError("found both a position and --grid, wanted one of them")
        if grid is not None:
            return read_file(grid)
        return None if self.position is None else read_position(self.position)

    def on(self, board: Board, given: Given | None) -> Position | None:
        """The position that a text names on a board; None if no position was named."""
        if self.options.any_counts and board.game_name != DEFAULT_GAME:
            raise BadTextError("--any-counts is for grids of Connect Four")
        if self.options.any_counts and self.file is not None:
            raise BadTextError("with --any-counts the solver answers: wanted a board, not a table")
        return None if given is None else given.on(board, any_counts=self.options.any_counts)

    def board(self, given: Given | None = None) -> Board:
        """The board; a grid tells its size if nothing else does."""
        return self._make(self.game or find_game(DEFAULT_GAME), self.size or (given and given.size))

    def is_about(self, board: Board) -> bool:
        """Whether a board fits what was named: game, size, options; all do if nothing was."""
        given = given_options(self.options)
        if not (self.game or self.size or given):
            return True
        wanted = self.board()
        return (
            board.game_name == wanted.game_name
            and (not self.size or board.size_text == wanted.size_text)
            and all(board.options[name] == wanted.options[name] for name in given)
        )

    def root(self, board: Board) -> Position | None:
        """The position that `--from` names."""
        text = getattr(self.options, "root", None)
        return None if text is None else read_position(text).on(board)

    def require(self, board: Board, path: Path | str) -> None:
        """A table file says itself what it holds; what was said besides must be true."""
        asked = self._make(self.game or board.game, board.size_text)
        is_silent = self.game is None and not given_options(self.options)
        if not is_silent and asked != board:
            raise WrongBoardError(f"{path} holds {board}, wanted {asked}")

    def _make(self, game: AnyGame, size: str | None) -> Board:
        board: Board = game.make(size or "", **given_options(self.options))
        return board


def make_parser(command: Command, games: Iterable[str] = NAMES) -> Parser:
    """The parser of a command: its own options, those of the games, and the words."""
    parser = Parser(
        prog=command.prog,
        usage=command.usage,
        description=f"{command.help}\n\n{_explain(command, games)}",
        epilog=show_examples(command.name),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if command.name != BUILD:
        parser.add_argument("command", help=argparse.SUPPRESS)
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    command.add_options(parser)
    if command.has_json:
        add_json(parser)
    add_version(parser)
    if command.board != "none":
        add_game_options(parser, games)
    return parser


def _explain(command: Command, games: Iterable[str]) -> str:
    """What the words of a command are."""
    if command.board == "none":
        return ""
    usual = find_game(DEFAULT_GAME).size_order
    others = [game for game in map(find_game, games) if game.size_order != usual]
    except_for = "".join(f"; {game.name}: {game.size_order}" for game in others)
    size = f"its size, {usual} such as 5x4{except_for}"
    size += "; or a table file" if command.takes_file else ""
    if command.board == "usual":
        size += "\n            default: what the game is known for, 7x6 of Connect Four"
    default = "all, with a board" if command.board == "any" else ""
    default += f" {DEFAULT_GAME}"
    lines = [f"  GAME      {', '.join(NAMES)}; default: {default.strip()}", f"  BOARD     {size}"]
    if command.takes_position:
        moves = 'moves such as 443 or "b2 a1", the path of a grid, or - for standard input'
        lines.append(f"  POSITION  {moves}")
    if command.takes_players:
        from retro.play.players import KINDS

        lines.append(f"  P Q ...   players: {', '.join(KINDS)}")
    return "\n".join(lines)


def find_command(words: Sequence[str], commands: Sequence[Command]) -> Command | None:
    """The command among the words, wherever it stands; None if there are options only.

    Which words are values of options the command's own parser knows.
    """
    names = {name: command for command in commands for name in (command.name, *command.aliases)}
    if words and words[0] in names:
        return names[words[0]]
    wrong: UsageError | None = None
    for word in words:
        if word in names:
            try:
                found, _ = make_parser(names[word]).parse_known_intermixed_args(list(words))
            except UsageError as error:
                wrong = wrong or error
            else:
                if found.command == word:
                    return names[word]
    if wrong is not None:
        raise wrong
    others = [word for word in words if not word.startswith("-")]
    if others:
        raise _unknown_command(others[0], names)
    return None


def _unknown_command(word: str, names: Iterable[str]) -> UsageError:
    """What to say of a word that is no command, with the command that it looks like."""
    near = get_close_matches(word.lower(), names, 1)
    hint = f"Did you mean '{near[0]}'?" if near else "`tablebase help` lists the commands."
    return UsageError(f"no command is called {word!r}. {hint}")


def _parse(command: Command, words: Sequence[str]) -> argparse.Namespace:
    """The options and the words; of the games only those that may be meant are imported."""
    if not any(word == "-h" or word.startswith("--h") for word in words):
        names = {name: ALIASES[name].game if name in ALIASES else name for name in ALL_NAMES}
        named = [names[name] for name in names if any(word.endswith(name) for word in words)]
        with contextlib.suppress(UsageError):
            few = make_parser(command, dict.fromkeys([DEFAULT_GAME, *named]))
            return few.parse_intermixed_args(list(words))
    return make_parser(command).parse_intermixed_args(list(words))


def read_words(command: Command, words: Sequence[str]) -> Asked:
    """What a command line asks about."""
    options = _parse(command, words)
    rest: list[str] = options.words
    game, size, file = None, "", None
    if command.board != "none":
        game = options.game or (rest.pop(0) if _begins_with_game(command, rest) else None)
        size = options.board or (rest.pop(0) if _begins_with_board(command, rest, game) else "")
        if command.takes_file and _is_table(size):
            file, size = size if is_url(size) else Path(size), ""
        if command.board == "needed" and not size and file is None and game not in ALIASES:
            raise UsageError(f"wanted a board such as 5x4: {command.usage}")
    if rest and not (command.takes_position or command.takes_players):
        raise UsageError(f"found {' '.join(rest)!r}, wanted {command.usage}")
    found = find_game(game) if game else None
    if command.takes_players:
        return Asked(options, found, size, file, None, tuple(rest))
    return Asked(options, found, size, file, " ".join(rest) if rest else None)


def _begins_with_game(command: Command, rest: Sequence[str]) -> bool:
    """Whether the next word names a game; refuse one that can be nothing else, but names none.

    Two letters begin no board, no move and no grid. Files and players may be called anything.
    """
    if not rest or rest[0] in ALL_NAMES:
        return bool(rest)
    may_be_other = command.takes_players and not any(map(_SIZE.fullmatch, rest[1:2]))
    is_word = re.fullmatch(r"[A-Za-z]{2}[A-Za-z0-9-]*", rest[0], re.ASCII)
    if is_word and not may_be_other and not is_path(rest[0]):
        raise unknown_game(rest[0])
    return False


def _begins_with_board(command: Command, rest: Sequence[str], game: str | None) -> bool:
    """Whether the next word is a board: whatever it is, unless it may be a position as well."""
    may_be_other = command.takes_position or command.takes_players
    must_be = not may_be_other or (command.board == "needed" and game not in ALIASES)
    return bool(rest) and (must_be or _SIZE.fullmatch(rest[0]) is not None)


def _is_table(word: str) -> bool:
    """Whether a word in the place of a board is the path of a table."""
    return not _SIZE.fullmatch(word) and (is_url(word) or word.endswith(SUFFIX) or is_path(word))
