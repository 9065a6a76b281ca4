"""No test and no doctest sees what is the user's: tables, configuration, settings.

The whole run, and every process that it starts, has a home of its own, which is empty; no
`TABLEBASE_*` of the user's, and a folder of tables in which there is nothing and in which nothing
may be left. Only the cache of compiled kernels stays where it was: its names are digests of all
sources, so nobody can tell a kernel that was there from one that was just compiled.

It stands at the root, so that pytest reads it before it collects anything, the doctests of the
packages too.
"""

import os
import shutil
import site
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from numba.core import config as numba_config

from retro.kernel_cache import cache_folder

# Its doctests need the extra `cluster`.
collect_ignore = [] if find_spec("dask") else ["tablebase/building/cluster.py"]
# What would lead past the new home.
USERS_FOLDERS = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")


def isolate(home: Path) -> None:
    """Give this process and all that it starts an empty home."""
    kernels = cache_folder()
    if kernels is not None:
        os.environ["NUMBA_CACHE_DIR"] = str(kernels.parent)
        numba_config.reload_config()
    os.environ["PYTHONUSERBASE"] = site.getuserbase()  # packages may be installed there
    for name in [name for name in os.environ if name.startswith("TABLEBASE_")]:
        del os.environ[name]
    for name in USERS_FOLDERS:
        os.environ.pop(name, None)
    os.environ["HOME"] = str(home)


def pytest_configure(config: pytest.Config) -> None:
    """One home for the run; the workers of pytest-xdist inherit it, each with its own tables."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if not worker:
        home = Path(tempfile.mkdtemp(prefix="home-of-tests-"))
        config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
        isolate(home)
    os.environ["TABLEBASE_DIR"] = str(Path.home() / f"tables{worker}")


@pytest.fixture(autouse=True)
def no_tables_left() -> Iterator[None]:
    """A table that a test leaves in the usual folder could answer for the next test."""
    usual = Path(os.environ["TABLEBASE_DIR"])
    yield
    assert not usual.exists()
