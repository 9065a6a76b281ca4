"""A small table of Connect Four whose file is looked at, or damaged."""

from builds import header_of
from plain import connect4 as naive

from retro.games.connect4.rules import Connect4Board
from retro.index.halves import one
from tablebase.halves.store import TableFile

BOARD = Connect4Board(4, 3, 3)
GAME = naive.Game(4, 3, 3)
HEADER = header_of(BOARD)
WORDS = one.stored_words(*HEADER.cut)  # of every ply


def read_everything(path):
    """All that a file says, or a named error."""
    with TableFile(path) as table:
        planes = [table.read_checked(ply).tobytes() for ply in table.header.plies]
        return table.header, table.value, table.digest, table.records, planes


def flip(path, offset, bits=0x01):
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ bits]))
