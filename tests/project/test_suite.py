"""The suite itself: nothing that is the user's reaches a test or doctest; none hangs the run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from retro.kernel_cache import cache_folder
from tablebase.files.places import tables_folder

ROOT = Path(__file__).parents[2]
SEES_TABLES = "tablebase/perfect.py::tablebase.perfect.PerfectPlayer"  # says who answered


def run_pytest(test: str, *options: str, folder: Path, **environment: str) -> tuple[int, str]:
    """Run one test in a process and a current folder of its own: the exit code, all it said."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"),
         "-p", "no:cacheprovider", *options, str(ROOT / test)],
        cwd=folder, env=kept | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def must_pass(test: str, folder: Path, workers: int, **environment: str) -> None:
    status, said = run_pytest(test, "-n", str(workers), folder=folder, **environment)
    assert (status, " 1 passed" in said) == (0, True), said


@pytest.mark.parametrize("workers", [0, 1])
def test_no_doctest_is_answered_by_the_users_tables(built_5x4, tmp_path, workers) -> None:
    tables = tmp_path / "tables"
    tables.symlink_to(built_5x4.path.parent)
    must_pass(SEES_TABLES, tmp_path, workers)
    must_pass(SEES_TABLES, ROOT, workers, TABLEBASE_DIR=str(tables))


@pytest.mark.parametrize("workers", [0, 1])
def test_a_user_with_settings_of_all_kinds(tmp_path, workers) -> None:
    users = {
        "HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_CONFIG_HOME": str(tmp_path / "configuration"),
        "TABLEBASE_DIR": str(tmp_path / "tables"),
        "TABLEBASE_LATER": "a setting that is yet to come",
        "NUMBA_CACHE_DIR": "",
        "USERS_KERNELS": str(tmp_path / "cache" / "retro-tablebase"),
    }
    test = "tests/project/test_suite.py::test_what_every_test_sees"
    must_pass(test, tmp_path, workers, **users)


def test_what_every_test_sees() -> None:
    home = Path.home()
    assert [name for name in os.environ if name.startswith("TABLEBASE_")] == ["TABLEBASE_DIR"]
    assert [name for name in os.environ if name.startswith("XDG_") and "_HOME" in name] == []
    assert home.name.startswith("home-of-tests-")
    assert tables_folder().parent == home
    assert not tables_folder().exists()
    kernels = cache_folder()
    assert kernels is not None
    assert not kernels.is_relative_to(home)
    assert str(kernels) == os.environ.get("USERS_KERNELS", str(kernels))


@pytest.mark.parametrize("workers", [0, 1])
def test_a_test_that_hangs_ends_and_is_named(tmp_path, pytestconfig, workers) -> None:
    assert 0 < float(pytestconfig.getini("timeout")) <= 600
    hanging = tmp_path / "test_it.py"
    hanging.write_text("import time\n\ndef test_for_ever():\n    while True: time.sleep(1)\n")
    options = ("-n", str(workers), "-o", "timeout=1")
    status, said = run_pytest(str(hanging), *options, folder=tmp_path)
    assert status == 1
    assert "test_for_ever" in said
