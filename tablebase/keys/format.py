"""The file format of tables with sorted keys. This docstring is its specification.

The games that `retro.games.catalogue` lists, but for Connect Four, whose files `format` describes;
the two are one family, told apart by the root attribute `index`.

Root attributes (64-bit integers, or fixed-length ASCII strings)
----------------------------------------------------------------
    format          "retro-tablebase"
    format_version  1; 2 if the table has distances; 3 if it keeps some plies only, with or without
                    distances: the version of this index, see the history
    generator       name and version of the program that wrote it; for people
    game            name in the catalogue: "mnk", "quarto", ...
    board           size as text, WIDTHxHEIGHT
    options         the other parameters as JSON: {"connect": "4"}
    root            the position the table starts from, as the game writes it; "" is the empty board
    index           "sorted-keys"
    words           64-bit words of a key, 1 or 2
    first_ply, last_ply   the layers from that of the root on; the last holds no unfinished position
    first_kept, last_kept   the layers whose keys and values are in the file, if not all of them
                    are; `last_kept` may lie behind `last_ply`. Left out, and left out of `digest`,
                    if all are
    metric          "wdl": win/draw/loss for the side to move
    distances       1 if the file says how many plies the game lasts. Left out, and left out of
                    `digest`, if it does not (it is 0)
    value           +1, 0, -1: the value of `root` for its side to move
    digest          SHA-256 (hex) over all other root attributes but `generator` and `finished`,
                    and over the attributes of every ply; see `files.seal.table_digest`
    finished        1, written last of all; a file without it is not a table

Groups `ply-00`, `ply-01`, ... one per layer, kept or not
---------------------------------------------------------
    datasets        none if the layer is not kept; else
                    a, and b when words = 2: the keys, unsigned 64-bit little-endian, sorted by a,
                    then by b, no key twice; one key for every class of symmetric unfinished
                    positions that play from the root can reach
                    values: four values a byte, the first in the lowest two bits; 0 loss, 1 draw,
                    2 win for the side to move
                    plies: with distances only, one byte a key: in how many plies the game ends if
                    the winner hurries and the loser delays; 0 for draws, which all last until
                    nothing can be added, on the last ply of the game
                    digests, if the ply has more than one chunk of keys: 32 bytes for each of them,
                    the SHA-256 of "HEADER PLY NUMBER PAGE": the header as JSON (sorted keys, no
                    spaces), the number of the chunk, and the SHA-256 (hex) of its bytes of a, b
                    and values: so that one chunk can be checked alone
    filters         chunks of at most 32,768 keys; zstd (HDF5 filter 32015, read with
                    `import hdf5plugin`), before it byte shuffle for keys; fletcher32
    win_in, draw_in, loss_in   with distances only: arrays of integers, [n] how many of the
                    positions counted below end in exactly n plies so; finished games in 0
    keys            number of keys: of classes of unfinished positions, also if they are not kept
    positions       all positions of the classes met on this ply, finished games included
    win, draw, loss of these, for the side to move
    terminal        of these, decided by the rules alone
    canonical_...   the same five counts with one position for every class
    sha256          hex digest of the bytes of a, b, values and plies; "" if they are not kept

How to read a value
-------------------
The state of a position is one or two words, its key the canonical state of its symmetry class: the
module of each game draws its words and says which state is canonical. Binary search finds the key's
place among the keys of its ply. Finished games are not kept: the rules alone decide them.

Sorted keys as they are, shuffled, take 0.26 to 0.30 bytes each of 4x4 four-in-a-row; differences of
neighbours, shuffled or not, take no less.

Version history
---------------
1   (0.2.0) first version.
    (0.3.0) the data set `digests` of a ply may be there; files without it are as before.
2   (0.3.0) tables with distances: the attribute `distances`, the data set plies and three counts of
    every ply. All else is as in version 1, which tables without distances still have, byte for
    byte.
3   (0.3.0) tables of some plies: the attributes `first_kept` and `last_kept`; a layer that is not
    kept has counts, but no data sets. All else is as in version 1, or 2 with distances.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tablebase.files.seal import FORMAT, LEFT_OUT, METRIC

if TYPE_CHECKING:
    from retro.games.game import Position
    from retro.walk.keys.layers import Distances, LayerCounts

VERSION, WITH_DISTANCES, OF_SOME_PLIES = 1, 2, 3
ALL = -1  # of `first_kept` and `last_kept`: every ply is kept
INDEX = "sorted-keys"
CHUNK_KEYS = 32_768
DIGESTS = "digests"
DIGEST_BYTES = 32


@dataclass(frozen=True)
class Header:
    """What a file says about itself before any ply."""

    game: str
    board: str
    options: str
    root: str
    words: int
    first_ply: int
    format: str = FORMAT
    format_version: int = VERSION
    index: str = INDEX
    metric: str = METRIC
    distances: int = field(default=0, metadata=LEFT_OUT)
    first_kept: int = field(default=ALL, metadata=LEFT_OUT)
    last_kept: int = field(default=ALL, metadata=LEFT_OUT)

    @property
    def right_version(self) -> int:
        """The version of tables that have what this one has."""
        if (self.first_kept, self.last_kept) != (ALL, ALL):
            return OF_SOME_PLIES
        return WITH_DISTANCES if self.distances else VERSION

    def keeps(self, ply: int) -> bool:
        """Whether the keys and values of a ply are in the file."""
        return self.last_kept == ALL or self.first_kept <= ply <= self.last_kept

    def kept(self, last_ply: int) -> range:
        """The plies of which they are, if play ends on `last_ply`."""
        if self.last_kept == ALL:
            return range(self.first_ply, last_ply + 1)
        return range(self.first_kept, min(self.last_kept, last_ply) + 1)


def header_for(root: Position, plies: range | None = None, *, distances: bool = False) -> Header:
    """The header of the table of everything that can follow a position, or of some plies of it.

    >>> from retro.games.catalogue import make_board
    >>> start = make_board("mnk", "3x3").start()
    >>> [header_for(start, plies).format_version for plies in (None, range(10), range(9))]
    [1, 1, 3]
    """
    board = root.board
    details = json.dumps(board.options, sort_keys=True)
    words = board.rules.words
    kept = (ALL, ALL)
    if plies is not None and plies != range(root.ply, board.last_ply + 1):
        kept = (plies[0], plies[-1])
    header = Header(
        board.game_name, board.size_text, details, root.root_text, words, root.ply,
        distances=int(distances), first_kept=kept[0], last_kept=kept[1],
    )  # fmt: skip
    return replace(header, format_version=header.right_version)


@dataclass(frozen=True)
class PlyRecord:
    """The attributes of one ply."""

    ply: int
    keys: int
    positions: int
    win: int
    draw: int
    loss: int
    terminal: int
    canonical_positions: int
    canonical_win: int
    canonical_draw: int
    canonical_loss: int
    canonical_terminal: int
    sha256: str
    win_in: tuple[int, ...] = field(default=(), metadata=LEFT_OUT)
    draw_in: tuple[int, ...] = field(default=(), metadata=LEFT_OUT)
    loss_in: tuple[int, ...] = field(default=(), metadata=LEFT_OUT)


def record_of(
    counts: LayerCounts, keys: int, sha256: str, distances: Distances | None = None
) -> PlyRecord:
    """A ply's attributes from its counts."""
    ends = distances or ()
    return PlyRecord(counts.ply, keys, *counts.every, *counts.canonical, sha256, *ends)
