"""What several tests of tables start from."""

import shutil

import pytest
from build_cases import SMALL_GROUPS
from builds import build_tablebase
from clusters import machines
from store_cases import BOARD


@pytest.fixture
def in_files(monkeypatch):
    """Builds keep their groups in files, as those of large boards do."""
    monkeypatch.setattr("tablebase.building.halves.plan.IN_MEMORY_BITS", 0)
    monkeypatch.setattr("tablebase.building.keys.plan.MOST_IN_MEMORY", 0)


@pytest.fixture
def in_small_groups(monkeypatch):
    monkeypatch.setattr("retro.walk.halves.layer.GROUP_WORDS", SMALL_GROUPS)


@pytest.fixture(scope="session")
def sound(tmp_path_factory):
    """An undamaged table."""
    return build_tablebase(BOARD, tmp_path_factory.mktemp("sound") / "table.h5").path


@pytest.fixture(scope="module")  # idle ones are not for nothing: 4 s of CPU time a minute
def cluster(tmp_path_factory):
    """A scheduler and two workers that nobody harms."""
    with machines(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture
def path(sound, tmp_path):
    """A table to damage."""
    return shutil.copy(sound, tmp_path / "table.h5")
