"""`tablebase draw`: a position as a picture, SVG or PNG."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from retro.errors import BadTextError, StorageError
from retro.games.picture import Layout, chip_text, draw
from retro.games.scene import scene_of
from tablebase.cli.grammar import Command
from tablebase.cli.open import open_oracle
from tablebase.cli.options import add_folder, add_grid, add_search, file_to_write
from tablebase.cli.overview import HELP

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from retro.games.game import Position
    from tablebase.cli.grammar import Asked


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--svg", type=file_to_write, metavar="FILE", help="write SVG to this file (- for stdout)"
    )
    parser.add_argument(
        "--png",
        type=file_to_write,
        metavar="FILE",
        help="write PNG to this file (needs the extra `picture`)",
    )
    parser.add_argument("--rated", action="store_true", help="show the value of every move")
    parser.add_argument("--flip", action="store_true", help="exchange left and right")
    add_grid(parser)
    add_folder(parser)
    add_search(parser)


def draw_command(asked: Asked) -> int:
    options = asked.options
    if options.svg is None and options.png is None:
        raise BadTextError("wanted --svg FILE or --png FILE")
    given = asked.given()
    board = asked.board(given)
    position = asked.on(board, given) or board.start()
    title = f"{board}: {position._text_or_none() or 'a set-up position'}"
    chips = _chips(asked, position) if options.rated else {}
    picture = draw(Layout(scene_of(position), options.flip), chips, title)
    if options.svg is not None:
        _write(options.svg, picture.encode())
    if options.png is not None:
        _write(options.png, to_png(picture))
    return 0


def _chips(asked: Asked, position: Position) -> dict[str, str]:
    if position.is_over():
        return {}
    with open_oracle(asked, position.board) as oracle:
        moves = oracle.probe(position).moves
    return {move.move: chip_text(move.value, move.plies) for move in moves}


def to_png(svg: str) -> bytes:
    """A picture as PNG: the one thing that needs a library that the plain install does not have."""
    try:
        import cairosvg
    except ImportError:
        raise BadTextError(
            "PNG needs cairosvg: pip install 'retro-tablebase[picture]'; --svg needs nothing"
        ) from None
    found: bytes = cairosvg.svg2png(bytestring=svg.encode(), background_color="#ffffff")
    return found


def _write(path: Path, content: bytes) -> None:
    """Write a picture and say where it is; `-` is standard output."""
    if str(path) == "-":
        sys.stdout.buffer.write(content)
        return
    try:
        path.write_bytes(content)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from None
    print(path)


COMMANDS = (
    Command(
        "draw",
        HELP["draw"],
        draw_command,
        _add_options,
        takes_position=True,
        has_json=False,
    ),
)
