"""Files of every format and index, as versions before this one wrote them, stay readable.

`data/golden` holds tiny tables; none of them is ever written again. A new version of a format
adds its own. `golden.csv` says what each holds, and the digest over all its values and counts.
"""

import csv
from pathlib import Path

import h5py
import pytest
from plain.recursion import every_position

import tablebase as tb
from tablebase.files.places import table_path
from tablebase.halves import format as halves
from tablebase.keys import format as keys

FOLDER = Path(__file__).parents[1] / "data" / "golden"
with (FOLDER / "golden.csv").open() as _file:
    GOLDEN = {row["file"]: row for row in csv.DictReader(_file)}
SMALL_ENOUGH = 240_000  # bytes, all together: they are in the repository for ever


def golden_path(name):
    return FOLDER / f"{name}.h5"


def has_distances(row):
    return row["file"].endswith("distances")


def kept_plies(row):
    """Those that were asked for when it was built; None: all."""
    plies = range(int(row["first_ply"]), int(row["last_ply"]) + 1)
    return plies if "-plies" in row["file"] else None


@pytest.fixture(params=GOLDEN)
def row(request):
    return GOLDEN[request.param]


def test_there_is_one_of_every_format_and_index():
    kinds = set()
    for name in GOLDEN:
        with h5py.File(golden_path(name)) as file:
            kinds.add((bytes(file.attrs["index"]).decode(), int(file.attrs["format_version"])))
    readable = {
        (index.INDEX, version)
        for index in (halves, keys)
        for version in (index.VERSION, index.WITH_DISTANCES)
    } | {(keys.INDEX, keys.OF_SOME_PLIES)}
    assert kinds >= readable
    assert {path.stem for path in FOLDER.glob("*.h5")} == set(GOLDEN)
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < SMALL_ENOUGH


@pytest.mark.smoke
def test_it_opens_and_says_what_it_holds(row):
    board = tb.board(row["board"])
    with tb.open_tablebase(golden_path(row["file"])) as table:
        assert (table.board, table.root) == (board, board.position(row["root"]))
        assert table.plies == range(int(row["first_ply"]), int(row["last_ply"]) + 1)
        assert (table.value, table.digest) == (int(row["value"]), row["digest"])
        assert table.has_distances == has_distances(row)


def test_it_has_the_values_of_the_rules(row):
    """Every position that follows the root, finished games included."""
    with tb.open_tablebase(golden_path(row["file"])) as table:
        known = every_position(table.root).items()
        held = [(state, this) for state, this in known if this.position.ply in table.plies]
        assert len(held) > 10
        words = [[state[i] for state, _ in held] for i in (0, 1)]
        found = table.probe_many(*words).tolist()
        assert found == [this.value for _, this in held]


def test_it_is_sound(row):
    path = golden_path(row["file"])
    assert tb.verify(path, "full").level == "full"
    assert tb.verify(path, "sample").level == "sample"
    assert tb.verify(path, solver=True).solver > 0


def test_building_it_anew_gives_the_same_digest(row, tmp_path):
    board = tb.board(row["board"])
    root = board.position(row["root"])
    kept = {"plies": kept_plies(row), "distances": has_distances(row)}
    built = tb.build(board, folder=tmp_path, root=root, **kept)
    assert built.path == table_path(root, tmp_path)
    with tb.open_tablebase(built.path) as table, tb.open_tablebase(golden_path(row["file"])) as old:
        assert table.digest == row["digest"]
        assert table.counts == old.counts


def test_it_is_found_in_the_way_of_a_build(row):
    """An old file is the table that was asked for: nothing is built again."""
    board, path = tb.board(row["board"]), golden_path(row["file"])
    kept = {"plies": kept_plies(row), "distances": has_distances(row)}
    built = tb.build(board, path, root=board.position(row["root"]), **kept)
    assert built.was_there
