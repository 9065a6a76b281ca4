"""The file format of tables with sorted keys. This docstring is its specification.

The games that `retro.games.catalogue` lists, but for Connect Four, whose files `format` describes;
the two are one family, told apart by the root attribute `index`.

Root attributes (64-bit integers, or fixed-length ASCII strings)
----------------------------------------------------------------
    format          "retro-tablebase"
    format_version  1: the version of this index, see the history
    generator       name and version of the program that wrote it; for people
    game            name in the catalogue: "mnk", "quarto", ...
    board           size as text, WIDTHxHEIGHT
    options         the other parameters as JSON: {"connect": "4"}
    root            the position the table starts from, as the game writes it; "" is the empty board
    index           "sorted-keys"
    words           64-bit words of a key, 1 or 2
    first_ply, last_ply   the layers that are in the file; the last holds no unfinished position
    metric          "wdl": win/draw/loss for the side to move
    value           +1, 0, -1: the value of `root` for its side to move
    digest          SHA-256 (hex) over all other root attributes but `generator` and `finished`,
                    and over the attributes of every ply; see `format.table_digest`
    finished        1, written last of all; a file without it is not a table

Groups `ply-00`, `ply-01`, ... one per layer
--------------------------------------------
    datasets        a, and b when words = 2: the keys, unsigned 64-bit little-endian, sorted by a,
                    then by b, no key twice; one key for every class of symmetric unfinished
                    positions that play from the root can reach
                    values: four values a byte, the first in the lowest two bits; 0 loss, 1 draw,
                    2 win for the side to move
    filters         chunks of at most 32,768 keys; zstd (HDF5 filter 32015, read with
                    `import hdf5plugin`), before it byte shuffle for keys; fletcher32
    keys            number of keys
    positions       all positions of the classes met on this ply, finished games included
    win, draw, loss of these, for the side to move
    terminal        of these, decided by the rules alone
    canonical_...   the same five counts with one position for every class
    sha256          hex digest of the bytes of a, b and values

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
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tablebase.format import FORMAT, METRIC

if TYPE_CHECKING:
    from retro.games.catalogue import PlacementGame
    from retro.walk.keyed import LayerCounts

VERSION = 1
INDEX = "sorted-keys"
CHUNK_KEYS = 32_768


@dataclass(frozen=True)
class KeyedHeader:
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


def header_for(game: PlacementGame, root: Any, words: int) -> KeyedHeader:
    """The header of the table of everything that can follow a position."""
    board, options = game.describe(root.board)
    text, details = game.root_text(root), json.dumps(options, sort_keys=True)
    return KeyedHeader(game.name, board, details, text, words, root.ply)


@dataclass(frozen=True)
class KeyedRecord:
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


def record_of(counts: LayerCounts, keys: int, sha256: str) -> KeyedRecord:
    """A ply's attributes from its counts."""
    return KeyedRecord(counts.ply, keys, *counts.every, *counts.canonical, sha256)
