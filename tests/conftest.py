"""Tables that many tests read, built once; hypothesis with fixed seeds and without a clock."""

import os
import shutil
import signal
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from catalogue_cases import build_small
from hypothesis import settings
from plain import connect4 as naive

import tablebase as tb
from retro.games.catalogue import NAMES
from retro.games.connect4.rules import Connect4Board
from retro.games.game import Board

# Containers like to forbid bytecode. The interpreters that tests start would then compile all
# sources anew, a hundred times over; so it is kept aside.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[1] / "build" / "pycache")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

# Thousands of small files that nobody keeps: in memory where there is such a place, and room.
SHARED_MEMORY = Path("/dev/shm")
ROOM = 2_000_000_000
if (
    "TMPDIR" not in os.environ  # nobody has chosen a place
    and SHARED_MEMORY.is_dir()
    and shutil.disk_usage(SHARED_MEMORY).free > ROOM
):
    # Here `tempfile` has made up its mind already; what tests start has not.
    os.environ["PYTEST_DEBUG_TEMPROOT"] = os.environ["TMPDIR"] = str(SHARED_MEMORY)

# A shell that runs the tests in the background has them, and all that they start, ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The first example may compile a kernel, so a deadline would measure numba.
settings.register_profile("retro", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("retro")


SLOW_SECONDS = 2 * 3600  # the time limit of one test that takes minutes, on a busy machine


def pytest_collection_modifyitems(items):
    """Slow tests have a time limit of their own; h5py alone needs a filter to read tables."""
    has_filter = find_spec("hdf5plugin") is not None
    if has_filter:
        import_module("hdf5plugin")  # registers zstd
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS))
        if item.get_closest_marker("hdf5") and not has_filter:
            item.add_marker(pytest.mark.skip(reason="needs the extra `hdf5`"))


def pytest_make_parametrize_id(val):
    """Call boards in the names of tests as tables are called."""
    if isinstance(val, naive.Game):
        val = Connect4Board(*val)
    return val.name if isinstance(val, Board) else None


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    """Small tables are sampled less: 200 positions of a ply are more than some of them have."""
    monkeypatch.setattr("tablebase.halves.check.SAMPLES_PER_PLY", 50)


@pytest.fixture(scope="session")
def table_folder(tmp_path_factory):
    """A folder of tables, as TABLEBASE_DIR would name it."""
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="session")
def built_4x4(table_folder):
    return tb.build("4x4", folder=table_folder)


@pytest.fixture(scope="session")
def built_5x4(table_folder):
    return tb.build("5x4", folder=table_folder)


@pytest.fixture(scope="session")
def built_5x5(table_folder):
    return tb.build("5x5", folder=table_folder)


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory):
    """A folder that gets the table of a game's small board when it is first asked for."""
    return tmp_path_factory.mktemp("small")


@pytest.fixture(scope="session", params=NAMES)
def small(request, small_folder):
    """The small board of every game, its table built in `small_folder`."""
    return build_small(request.param, small_folder)


@pytest.fixture
def small_table(small, small_folder):
    """The open table of the small board of every game."""
    with tb.open_tablebase(small, folder=small_folder) as table:
        yield table
