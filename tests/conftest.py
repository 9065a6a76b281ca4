"""Tables that many tests read, built once; hypothesis with fixed seeds and without a clock."""

import pytest
from hypothesis import settings
from retro.games.connect import Board
from tablebase.build import build_tablebase

# The first example may compile a kernel, so a deadline would measure numba.
settings.register_profile("retro", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("retro")


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """A folder of tables, as TABLEBASE_DIR would name it."""
    return tmp_path_factory.mktemp("tables")


def _build(tables, board):
    return build_tablebase(board, tables / f"{board.name}.h5")


@pytest.fixture(scope="session")
def built_4x4(tables):
    return _build(tables, Board(4, 4))


@pytest.fixture(scope="session")
def built_5x4(tables):
    return _build(tables, Board(5, 4))


@pytest.fixture(scope="session")
def built_5x5(tables):
    return _build(tables, Board(5, 5))
