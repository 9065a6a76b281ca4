"""The file format: one HDF5 file holds one table. This docstring is its specification.

Root attributes (64-bit integers, or fixed-length ASCII strings)
----------------------------------------------------------------
    format          "retro-tablebase"
    format_version  2, or 3 if the table has distances
    generator       name and version of the program that wrote it; for people
    game            "connect": connect-k with gravity
    width, height   columns and rows of the board
    connect         stones in a winning line
    root            moves that lead to the position the table starts from; "" is the empty board
    index           "two-halves": the ranking described below
    left_columns    where the index cuts the board, see below
    mirror          1 if only one profile of each mirror pair is stored, else 0
    first_ply, last_ply   the layers whose values are in the file
    metric          "wdl": win/draw/loss for the side to move
    counts          0 if positions were not counted: then all counts below are 0 but those of the
                    root's ply. Left out, and left out of `digest`, if they were (it is 1)
    distances       1 if the file says how many plies the game lasts, see below. Left out, and
                    left out of `digest`, if it does not (it is 0)
    value           +1, 0, -1: the value of `root` for its side to move
    digest          SHA-256 (hex) over all other root attributes but `generator` and `finished`,
                    and over the attributes of every ply; see `table_digest`
    finished        1, written last of all; a file without it is not a table

Groups `ply-00`, `ply-01`, ... one per layer, from that of the root to the full board
--------------------------------------------------------------------------------------
    positions       number of legal positions of this ply, finished games and mirror images
                    included (for a rooted table: of positions that can arise from the root)
    win, draw, loss of these, for the side to move; a completed line counts as a loss, a full
                    board without one as a draw
    terminal        positions with a completed line
    distances       with distances only: an array of integers, [d] how many of the positions above
                    are decided in exactly d plies: won if d is odd, lost if it is even, at d = 0
                    those with a completed line. Draws all last to the full board
    sha256          hex digest of the planes (`plane_digest`), or "" if the ply has none
    datasets        win, loss, and with distances number-0, number-1, ... as many as the ply has
                    (see below), for the plies from first_ply to last_ply: unsigned 64-bit
                    little-endian words, one dimension, the same length; chunks of at most 32,768
                    words; filter zstd (HDF5 filter 32015, read with `import hdf5plugin`), each
                    chunk one zstd frame with its checksum (which that filter does not look at,
                    but this program does). A chunk of zeros is left out.
                    digests, if the ply has more than one chunk: the SHA-256 (32 bytes) of every
                    chunk, of which `sha256` is the digest: so that one chunk can be checked alone

How to read a value
-------------------
First look at the board. If the side to move can complete a line with one stone, it wins. If not,
but the other side could complete one, were it to move: in two or more cells, the game is lost; in
one, that cell must be filled, and the value is minus the value of the position after it. Such
positions are *blank*, all bits 0; only on `last_ply`, if that is not the full board's, no
position is blank.

For any other position bit r % 64 (counted from the least significant) of word r // 64 of `win` is
set if the position with rank r is a win for the side to move, of `loss` if it is a loss; neither
is a draw. A position in which a line is complete has no value here, whatever its bits say.

How to read a distance
----------------------
The plies to the end of the game if the winner hurries and the loser delays. The look at the
board gives them, too: 1 if the side to move completes a line; 2 if it is lost because of two
cells; and one more than after a forced move. A draw lasts as many plies as there are empty cells.
For any other position the bits at its rank in `number-0`, `number-1`, ... are the binary digits
of a number h, the lowest first: it is won in 2h + 1 plies, or lost in 2h. A ply with e empty
cells has as many of these planes as e // 2 has binary digits (0 has none).

The rank, for a position with n stones of which f = ceil(n / 2) are the first player's:

1.  If `mirror` is 1 and the profile (column heights) is not canonical, mirror the position. A
    profile is canonical if its left floor(width / 2) columns hold more stones than its right
    ones; or as many, and of the outermost pair of columns (c, width - 1 - c) that differ the left
    one is higher, or none differs.
2.  A half is the left `left_columns` columns, or the rest. Its profile number counts the stones
    above those of the root, b[c] in column c, in mixed radix: the sum over its columns c, counted
    from 0 at its left, of (height[c] - b[c]) times the product of (board height + 1 - b[d]) over
    the columns d before c.
3.  A colouring of a half is the integer with bit c * (board height + 1) + row set for every stone
    of the first player. List the colourings of a half with a given profile and q first-player
    stones in increasing order, leaving out those that differ from the root on a cell that the
    root occupies, and those in which either player has a complete line inside the half:
    C(half, profile, q).
4.  A layer is a sequence of rectangles: for every left profile in increasing order, every right
    profile in increasing order such that the stones add up to n (and the whole is canonical, if
    `mirror` is 1), and every q in increasing order with q first-player stones on the right and
    f - q on the left. A rectangle has |C(right, profile, q)| rows of
    ceil(|C(left, profile, f - q)| / 64) words each.
5.  The rank is 64 * (words of all rectangles before + row * words per row) + column, where row and
    column are the places of the two halves' colourings in their lists, counted from 0.

Padding bits are 0. `retro.index.halves.plain` is this text in a page of Python.

Why so: 6x5 takes 131 MB as version 1, 65 MB with one of each mirror pair, and 35 MB without the
blank positions; zstd at level 9 would give 32 MB at a sixth of the speed, level 1 with chunks four
times as long 34 MB, as large but slower to read one value from.

Version history
---------------
1   (0.1.0) first version: every profile, every position, plies from the empty to the full board.
2   (0.2.0) one profile of each mirror pair; blank positions; tables of some plies and from a
    root; digests by chunk, so that threads can share the work. Version 1 is refused by name:
    building again takes less time than reading it would be worth.
    (0.3.0) the attribute `counts` may be there; files without it are as before. So may the
    data set `digests` of a ply: where it is not, one chunk alone has its zstd checksum only.
3   (0.3.0) tables with distances: the attributes `distances` of the file and of every ply, and the
    planes of numbers. All else is as in version 2, which tables without distances still have,
    byte for byte.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.games.connect4.text import read_moves
from retro.walk.task import Planes
from tablebase.files.seal import FORMAT, LEFT_OUT, METRIC

if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION, WITH_DISTANCES = 2, 3
GAME = "connect"
INDEX = "two-halves"
PLANES = ("win", "loss")
CHUNK_WORDS = 32_768
DIGESTS = "digests"
DIGEST_BYTES = 32


@dataclass(frozen=True)
class Header:
    """What a file says about itself before any ply: the root attributes."""

    width: int
    height: int
    connect: int
    left_columns: int
    mirror: int
    first_ply: int
    last_ply: int
    format: str = FORMAT
    format_version: int = VERSION
    game: str = GAME
    root: str = ""
    index: str = INDEX
    metric: str = METRIC
    counts: int = field(default=1, metadata=LEFT_OUT)
    distances: int = field(default=0, metadata=LEFT_OUT)

    @cached_property
    def board(self) -> Connect4Board:
        return Connect4Board(self.width, self.height, self.connect)

    @cached_property
    def root_position(self) -> Connect4Position:
        """The position that the table starts from."""
        return read_moves(self.board, self.root)

    @cached_property
    def cut(self) -> tuple[Connect4Board, int, Connect4Position]:
        """What the ranks depend on."""
        return self.board, self.left_columns, self.root_position

    @property
    def name(self) -> str:
        """What the table is of: `connect4-5x4`, or `connect4-7x6-from-4444`."""
        return f"{self.board.name}-from-{self.root}" if self.root else self.board.name

    @property
    def plies(self) -> range:
        """The plies whose values are in the file."""
        return range(self.first_ply, self.last_ply + 1)

    @cached_property
    def counted_plies(self) -> range:
        """The plies that have counts: all from that of the root."""
        return range(len(self.root), self.board.cells + 1)

    @property
    def last_is_whole(self) -> bool:
        """Whether the last ply has no blank positions: forced moves would lead out of the file."""
        return self.last_ply < self.board.cells

    def planes(self, ply: int) -> tuple[str, ...]:
        """The names of a ply's planes."""
        if not self.distances:
            return PLANES
        numbers = Planes(self.board.cells, distances=True).numbers(ply)
        return (*PLANES, *(f"number-{bit}" for bit in range(numbers)))


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
    distances: tuple[int, ...] = field(default=(), metadata=LEFT_OUT)


def plane_digest(chunk_digests: Iterable[bytes]) -> str:
    """The digest of a ply's planes from those of its chunks.

    A chunk's digest is the SHA-256 of its words of `win` followed by those of
    `loss` and of the numbers' planes, little-endian, without padding; the ply's is the
    SHA-256 (hex) of these digests one after another.
    """
    sha = hashlib.sha256()
    for digest in chunk_digests:
        sha.update(digest)
    return sha.hexdigest()
