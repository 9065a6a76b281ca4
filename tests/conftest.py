"""Tables that many tests read, built once; hypothesis with fixed seeds and without a clock."""

import signal

import naive
import pytest
from hypothesis import settings

from retro.games.connect import Board
from tablebase.build import build_tablebase

# A shell that runs the tests in the background has them, and all that they start, ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The first example may compile a kernel, so a deadline would measure numba.
settings.register_profile("retro", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("retro")


def pytest_make_parametrize_id(val):
    """Call boards in the names of tests as tables are called."""
    if isinstance(val, naive.Game):
        val = Board(*val)
    return val.name if isinstance(val, Board) else None


@pytest.fixture(scope="session")
def table_folder(tmp_path_factory):
    """A folder of tables, as TABLEBASE_DIR would name it."""
    return tmp_path_factory.mktemp("tables")


def _build(table_folder, board):
    return build_tablebase(board, table_folder / f"{board.name}.h5")


@pytest.fixture(scope="session")
def built_4x4(table_folder):
    return _build(table_folder, Board(4, 4))


@pytest.fixture(scope="session")
def built_5x4(table_folder):
    return _build(table_folder, Board(5, 4))


@pytest.fixture(scope="session")
def built_5x5(table_folder):
    return _build(table_folder, Board(5, 5))
