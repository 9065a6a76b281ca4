"""What hypothesis draws: boards of every shape, legal games on them, and published facts."""

import csv
from pathlib import Path

from hypothesis import strategies as st

import tablebase
from retro.games.connect4.rules import Connect4Board, Connect4Position

DATA = Path(__file__).parent / "data"

# As wide, as high and as large as 64 bits allow.
EXTREME_SHAPES = [(1, 63), (32, 1), (8, 7), (2, 31), (16, 3), (7, 8), (21, 2), (1, 1)]


def published(name):
    """The rows of a file of published numbers, digits as integers."""
    shipped = Path(tablebase.__file__).parent / "data" / name
    with (shipped if shipped.exists() else DATA / name).open() as file:
        return [
            {key: int(text) if text.isdigit() else text for key, text in row.items()}
            for row in csv.DictReader(file)
        ]


def shapes():
    """(width, height) of every board that fits 64 bits."""
    fitting = [(w, h) for w in range(1, 33) for h in range(1, 64) if w * (h + 1) <= 64]
    return st.sampled_from(EXTREME_SHAPES) | st.sampled_from(fitting)


def boards():
    """Any board, with lines from 2 stones up to longer than the board."""
    return st.builds(
        lambda shape, k: Connect4Board(*shape, k), shapes(), st.integers(2, 6) | st.just(40)
    )


@st.composite
def games(draw, board, unfinished=False):
    """A position that a random legal game reaches; its history tells how."""
    position = Connect4Position(board)
    for _ in range(draw(st.integers(0, board.cells))):
        columns = position._numbers()
        if not columns:
            break
        after = position._play(draw(st.sampled_from(columns)))
        if unfinished and after.is_over():
            break
        position = after
    return position


@st.composite
def board_games(draw):
    """A legal game on any board."""
    return draw(games(draw(boards())))
