"""What all commands share: options, exit codes, one line for every error."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from retro.errors import (
    EXIT_INTERRUPTED,
    BadTextError,
    MissingTableError,
    StorageError,
    TablebaseError,
)
from retro.games.connect import DEFAULT_CONNECT, Board
from retro.version import VERSION
from tablebase.places import SUFFIX, build_command, keyed_path, keyed_rooted_paths, table_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from retro.games.catalogue import PlacementGame
    from tablebase.keyed_probe import KeyedTable
    from tablebase.oracle import Oracle
    from tablebase.probe import Tablebase
    from tablebase.store import TableFile

LEVELS = ("quick", "sample", "full")  # of checks
LONGEST_NAME = 100  # of what was typed, shown in full
Read = TypeVar("Read")


def run(command: Callable[[Sequence[str] | None], int], arguments: Sequence[str] | None) -> int:
    """Run a command; errors become one line on stderr and the exit code of their cause."""
    try:
        return command(arguments)
    except TablebaseError as error:
        say(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        say("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has enough; keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a path that is too long, say, or a folder that is not ours
        where = f": {shorten(str(error.filename))}" if error.filename else ""
        say(f"error: {error.strerror or error}{where}")
        return StorageError.exit_code


def say(text: str) -> None:
    """Chatter goes to stderr."""
    print(text, file=sys.stderr, flush=True)


def shorten(text: str) -> str:
    """Text that fits into a line; a long one loses its middle.

    >>> shorten("1" * 300) == "1" * 40 + "..." + "1" * 40
    True
    """
    return text if len(text) <= LONGEST_NAME else f"{text[:40]}...{text[-40:]}"


def add_version(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--version", action="version", version=f"retro-tablebase {VERSION}")


def add_connect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--connect",
        type=line_length,
        default=DEFAULT_CONNECT,
        metavar="K",
        help="stones in a winning line (default 4)",
    )


def add_table(parser: argparse.ArgumentParser) -> None:
    """The options that say which table is asked."""
    parser.add_argument("table", metavar="TABLE", help="a board such as 5x4, or a table file")
    add_connect(parser)
    add_folder(parser)
    add_json(parser)


def add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dir", type=Path, metavar="DIR", help="folder of tables (TABLEBASE_DIR, else tables)"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def add_search(parser: argparse.ArgumentParser, memory_mb: int = 1024) -> None:
    """The limits of a search, for questions that no table answers."""
    parser.add_argument(
        "--memory",
        type=megabytes,
        default=memory_mb,
        metavar="MB",
        help=f"megabytes, or 4G; default: {memory_mb}",
    )
    parser.add_argument("--time-limit", type=seconds, metavar="S", help="give up after S seconds")


def line_length(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted a whole number of at least 2")
    return int(text)


def seconds(text: str) -> float:
    """A span of time that ends.

    >>> seconds("2.5")
    2.5
    """
    with contextlib.suppress(ValueError):
        if 0 <= float(text) < math.inf:
            return float(text)
    raise argparse.ArgumentTypeError(f"found {text!r}, wanted seconds such as 10 or 0.5")


def thread_count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted a whole number of at least 1")
    return int(text)


def ply_range(text: str) -> range:
    """Plies from text: `3..20`, or one, `7`.

    >>> ply_range("3..20")
    range(3, 21)
    """
    match = re.fullmatch(r"([0-9]{1,3})(?:\.\.([0-9]{1,3}))?", text, re.ASCII)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted plies such as 0..20")
    return range(int(match[1]), int(match[2] or match[1]) + 1)


def file_to_write(text: str) -> Path:
    """The path of a file that is to be written; it has a name."""
    if not Path(text).name:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted the path of a file")
    return Path(text)


def memory_size(text: str) -> int:
    """Bytes from text: `4G`, `500M`, or a plain number.

    >>> memory_size("1.5G")
    1500000000
    """
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,3})?)([kKMGT]?)B?", text, re.ASCII)
    if match is None:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted a size such as 4G or 500M")
    return int(float(match[1]) * 1000 ** " KMGT".index(match[2].upper() or " "))


def megabytes(text: str) -> int:
    """Megabytes from text: a plain number of them, or a size such as `4G`.

    >>> megabytes("512"), megabytes("512M"), megabytes("4G")
    (512, 512, 4000)
    """
    if re.fullmatch(r"-?[0-9]{1,30}", text, re.ASCII):
        return int(text)
    try:
        return memory_size(text) // 1_000_000
    except argparse.ArgumentTypeError:
        message = f"found {text!r}, wanted megabytes such as 512, or a size such as 4G"
        raise argparse.ArgumentTypeError(message) from None


def table_file(options: argparse.Namespace) -> Path:
    """The file that TABLE, --connect and --dir name; it exists."""
    board = asked_board(options)
    if board is None:
        path, hint = Path(options.table), ""
    else:
        path = table_path(board, options.dir)
        hint = f"; build it with: {build_command(board, options.dir)}"
    if not path.exists():
        raise MissingTableError(f"no table at {path}{hint}")
    return path


def asked_board(options: argparse.Namespace) -> Board | None:
    """The board that TABLE names; None of a file, which says itself what it holds."""
    is_file = options.table.endswith(SUFFIX)
    return None if is_file else Board.parse(options.table, options.connect)


def open_table_file(options: argparse.Namespace) -> TableFile:
    """The file that the options name; it holds the board that they name."""
    from tablebase.store import TableFile

    return TableFile(table_file(options), asked_board(options))


def open_table(options: argparse.Namespace) -> Tablebase:
    """Open the table that the options name."""
    from tablebase.probe import Tablebase

    return Tablebase(open_table_file(options))


@contextlib.contextmanager
def open_oracle(options: argparse.Namespace) -> Iterator[Oracle]:
    """The table that the options name, and the solver for what it does not cover."""
    from tablebase.cli.progress import SearchProgress
    from tablebase.oracle import Oracle

    check_memory(options.memory)
    with contextlib.ExitStack() as stack:
        why = "no table covers this position"
        try:
            tables = [stack.enter_context(open_table(options))]
            board = tables[0].board
        except MissingTableError as error:
            asked = asked_board(options)
            if asked is None:
                raise  # a file does not say which board it would have held
            board, tables = asked, open_tables(asked, options.dir, stack)
            why = why if tables else str(error)
        yield Oracle(
            board,
            tables,
            memory_mb=options.memory,
            time_limit=options.time_limit,
            before_search=lambda: say(f"searching: {why}"),
            report=SearchProgress().report,
        )


def open_tables(board: Board, folder: Path | None, stack: contextlib.ExitStack) -> list[Tablebase]:
    """Open the table of a board, else those from a root, until `stack` is closed."""
    from tablebase.places import rooted_paths
    from tablebase.probe import Tablebase
    from tablebase.store import TableFile

    whole = table_path(board, folder)
    paths = [whole] if whole.exists() else rooted_paths(board, folder)
    return [stack.enter_context(Tablebase(TableFile(path, board))) for path in paths]


def open_keyed_tables(
    game: PlacementGame, board: Any, folder: Path | None, stack: contextlib.ExitStack
) -> list[KeyedTable]:
    """The same of another game."""
    from tablebase.keyed_probe import open_keyed_file, open_rooted

    start = game.start(board)
    if keyed_path(game, start, folder).exists():
        return [stack.enter_context(open_rooted(game, start, folder))]
    paths = keyed_rooted_paths(game, board, folder)
    return [stack.enter_context(open_keyed_file(path)) for path in paths]


def check_memory(megabytes: int) -> None:
    if megabytes < 1:
        raise BadTextError(f"found --memory {megabytes}, wanted at least 1 MB")


def say_search(board: Any, why: str = "") -> None:
    """Before a search: say why, and that it will be slow where no kernel takes the board."""
    from retro.search.plain_solver import MOST_CELLS, needs_plain_search

    if needs_plain_search(board):
        size = f"{board.cols}x{board.rows}"
        say(f"{size} has more than {MOST_CELLS} cells: by the plain search, which is slow")
    elif why:
        say(f"searching: {why}")


def is_file(text: str) -> bool:
    """Whether what was typed is the path of a file; text too long for a path is none."""
    try:
        return bool(text) and Path(text).is_file()
    except OSError:
        return False


def read_text(path: Path) -> str:
    """The text of a grid file."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadTextError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadTextError(f"{path} is not a text file") from None


def read_file(path: Path, read: Callable[[str], Read]) -> Read:
    """What `read` makes of the text of a file; should it refuse, the error names the file."""
    text = read_text(path)
    try:
        return read(text)
    except TablebaseError as error:
        raise type(error)(f"{path}: {error}") from None


def read_position(game: PlacementGame, board: Any, text: str) -> Any:
    """The position that moves lead to, or that a file holds if the text is its path."""
    if not is_file(text):
        return game.read_position(board, text)
    return read_file(Path(text), lambda grid: game.read_position(board, grid))
