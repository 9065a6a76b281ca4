"""The file format: one HDF5 file holds one table. This docstring is its specification.

Root attributes (64-bit integers, or fixed-length ASCII strings)
----------------------------------------------------------------
    format          "retro-tablebase"
    format_version  1
    generator       name and version of the program that wrote it; for people
    game            "connect": connect-k with gravity
    width, height   columns and rows of the board
    connect         stones in a winning line
    root            move string of the position the table starts from; "" is the empty board
    index           "two-halves": the ranking described below
    left_columns    where the index cuts the board, see below
    first_ply, last_ply   the layers that are in the file
    metric          "wdl": win/draw/loss for the side to move
    value           +1, 0, -1: the value of `root` for its side to move
    digest          SHA-256 (hex) over all other root attributes but `generator` and `finished`,
                    and over the attributes of every ply; see `table_digest`
    finished        1, written last of all; a file without it is not a table

Groups `ply-00`, `ply-01`, ... one per layer
--------------------------------------------
    datasets        win, loss: unsigned 64-bit little-endian words, one dimension, the same
                    length; chunks of at most 32,768 words; filters zstd (HDF5 filter 32015,
                    read with `import hdf5plugin`) and fletcher32
    positions       number of legal positions of this ply, finished games included
    win, draw, loss of these, for the side to move; a completed line counts as a loss, a full
                    board without one as a draw
    terminal        positions with a completed line
    sha256          hex digest of the bytes of `win` followed by those of `loss`

How to read a value
-------------------
Bit r % 64 (counted from the least significant) of word r // 64 of `win` is set if the position
with rank r is a win for the side to move, of `loss` if it is a loss; neither is a draw. A position
in which a line is complete has no value here, whatever its bits say.

The rank, for a position with n stones of which f = ceil(n / 2) are the first player's:

1.  A half is the left `left_columns` columns, or the rest. The profile number of a half is the sum
    of height[c] * (board height + 1) ** c over its columns c, counted from 0 at its left.
2.  A colouring of a half is the integer with bit c * (board height + 1) + row set for every stone
    of the first player. List the colourings of a half with a given profile and q first-player
    stones in increasing order, leaving out those in which either player has a complete line
    inside the half: C(half, profile, q).
3.  A layer is a sequence of rectangles: for every left profile in increasing order, every right
    profile in increasing order such that the stones add up to n, and every q in increasing order
    with q first-player stones on the right and f - q on the left. A rectangle has
    |C(right, profile, q)| rows of ceil(|C(left, profile, f - q)| / 64) words each.
4.  The rank is 64 * (words of all rectangles before + row * words per row) + column, where row and
    column are the places of the two halves' colourings in their lists, counted from 0.

Padding bits are 0. `retro.index.plain` is this text in forty lines of Python.

Version history
---------------
1   (0.1.0) first version.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from retro.games.connect import Board

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMAT = "retro-tablebase"
VERSION = 1
GAME = "connect"
INDEX = "two-halves"
METRIC = "wdl"
CHUNK_WORDS = 32_768
COUNT_NAMES = ("positions", "win", "draw", "loss", "terminal")
PLANES = ("win", "loss")


@dataclass(frozen=True)
class Header:
    """What a file says about itself before any ply: the root attributes."""

    width: int
    height: int
    connect: int
    left_columns: int
    first_ply: int
    last_ply: int
    format: str = FORMAT
    format_version: int = VERSION
    game: str = GAME
    root: str = ""
    index: str = INDEX
    metric: str = METRIC

    @property
    def board(self) -> Board:
        return Board(self.width, self.height, self.connect)

    @property
    def plies(self) -> range:
        return range(self.first_ply, self.last_ply + 1)


def header_for(board: Board, left_columns: int) -> Header:
    """The header of a table of the whole board."""
    return Header(board.width, board.height, board.connect, left_columns, 0, board.cells)


@dataclass(frozen=True)
class PlyRecord:
    """The attributes of one ply."""

    ply: int
    positions: int
    win: int
    draw: int
    loss: int
    terminal: int
    sha256: str


def ply_name(ply: int) -> str:
    """The group of a ply.

    >>> ply_name(7)
    'ply-07'
    """
    return f"ply-{ply:02d}"


def table_digest(header: Header, value: int, records: Iterable[PlyRecord]) -> str:
    """SHA-256 over the JSON text of header, value and plies: sorted keys, no spaces."""
    content = {
        "header": asdict(header),
        "value": value,
        "plies": [asdict(record) for record in records],
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
