"""What an interrupted build makes of what is there: it goes on, it mends, it starts over.

Whatever was done to the files of a build that was stopped, one run of the same call makes the
same table, and says which of the three it did.
"""

import os
import random
import re
import shutil
from pathlib import Path

import pytest
from builds import run_plan, with_task_memory

import tablebase as tb
from retro.errors import ChecksumError
from tablebase.building.partial import Resume

STOPS = {
    "4x3 connect=3": [("backward", 6)],
    "mnk 3x3": [("forward", 5), ("backward", 4)],
    "quarto 2x2 attributes=3": [("backward", 2)],
}
CASES = [(board, *stop) for board, stops in STOPS.items() for stop in stops]


class Stopped(Exception):
    pass


@pytest.fixture(scope="module")
def digests(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return {
        board: digest(tb.build(board, folder / f"{i}.h5").path) for i, board in enumerate(STOPS)
    }


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]} {case[1]}")
def stopped(request, tmp_path_factory):
    """The folder of a build that was stopped, and its board."""
    board, phase, ply = request.param
    folder = tmp_path_factory.mktemp("stopped")
    (folder / "table.h5.partial").mkdir()  # with parts, short as it is

    def stop(progress):
        if (progress.phase, progress.ply) == (phase, ply):
            raise Stopped

    with pytest.raises(Stopped):
        tb.build(board, folder / "table.h5", threads=1, report=stop)
    return folder, board


def digest(path):
    with tb.open_tablebase(path) as table:
        return table.digest


def finish(folder, board):
    """Run the same build once more: what it says after its plan, the digest of the table."""
    said = []
    path = tb.build(board, folder / "table.h5", threads=1, announce=said.append).path
    assert list(folder.iterdir()) == [path]
    return said[1:], digest(path)


@pytest.fixture
def again(stopped, tmp_path, digests):
    """A copy of the parts, and what looks at how the build ends."""
    folder, board = stopped
    shutil.copytree(folder, tmp_path / "again")

    def ends(*beginnings):
        said, found = finish(tmp_path / "again", board)
        assert found == digests[board]
        assert [line.split(":")[0] for line in said] == list(beginnings), said

    return tmp_path / "again" / "table.h5.partial", ends


def test_a_whole_one_goes_on(again):
    _, ends = again
    ends("resuming")


@pytest.mark.parametrize("kind", ["alive", "walk"])
def test_all_files_of_a_walk_that_a_power_cut_has_emptied_are_mended_by_one_run(again, kind):
    parts, ends = again
    kinds = {p.suffix for p in parts.iterdir()}
    groups = list(parts.glob(f"{kind}-*{'.group' if '.group' in kinds else '.part'}"))
    for path in groups:
        path.write_bytes(b"")
    ends("resuming", *(["rebuilding", "rebuilt"] if groups else []))


@pytest.mark.parametrize("content", [b"", b"\xff\xfe" * 50, b"shares 99999999999999999999\n"])
def test_parts_that_do_not_say_of_which_table_are_not_used(again, content):
    parts, ends = again
    (parts / "table.txt").write_bytes(content)
    ends("starting over")


def test_parts_without_a_mark_are_not_used(again):
    parts, ends = again
    (parts / "table.txt").unlink()
    ends("starting over")


@pytest.mark.parametrize("seed", range(4))
def test_exchanged_parts_are_noticed(stopped, tmp_path, digests, seed):
    """Each knows its name: it is made again, or all is; the table is the same."""
    folder, board = stopped
    names = sorted(path.name for path in (folder / "table.h5.partial").iterdir())
    names.remove("table.txt")
    one, other = random.Random(seed).sample(names, 2)
    shutil.copytree(folder, tmp_path / "again")
    parts = tmp_path / "again" / "table.h5.partial"
    (parts / one).rename(parts / "aside")
    (parts / other).rename(parts / one)
    (parts / "aside").rename(parts / other)
    said, found = finish(tmp_path / "again", board)
    assert found == digests[board], (one, other, said)


@pytest.mark.parametrize("seed", range(2))
def test_a_damaged_part_is_noticed(stopped, tmp_path, digests, seed):
    folder, board = stopped
    shutil.copytree(folder, tmp_path / "again")
    rng = random.Random(seed)
    path = rng.choice(sorted((tmp_path / "again" / "table.h5.partial").iterdir()))
    path.write_bytes(rng.randbytes(rng.randrange(300)))
    said, found = finish(tmp_path / "again", board)
    assert found == digests[board], (path, said)
    assert said[0].split(":")[0] in ("resuming", "starting over")


def test_a_short_build_that_was_killed_begins_again(tmp_path, digests):
    (tmp_path / "table.h5.lock").touch()  # all that a kill leaves of a build in memory
    (tmp_path / "table.h5.tmp").write_bytes(b"half a table")
    said, found = finish(tmp_path, "4x3 connect=3")
    assert found == digests["4x3 connect=3"]
    assert said == ["starting over: an earlier run was stopped and has kept nothing"]


def build_in_files(board, path):
    """Build with so little memory that every task reads from files."""
    position = tb.board(board).start()
    if position.board.game.index == "two-halves":
        run_plan(with_task_memory(tb.plan(position.board), 30_000), path)
    else:
        tb.build(board, path, threads=1, memory=tb.plan(board).least_memory)


WALKS = [(board, "walk") for board in STOPS]
WALKS += [(board, "alive") for board in STOPS if tb.board(board).game.index != "two-halves"]


@pytest.mark.parametrize(("board", "walk"), WALKS)
@pytest.mark.parametrize("times", [3, 4])
def test_a_file_that_is_always_lost_is_made_again_three_times(
    tmp_path, monkeypatch, digests, board, walk, times
):
    """It is gone as soon as it is written, so many times; the first time is no repair."""
    written, replace = [], os.replace
    kind = "group" if board.startswith("4x3") else "part"

    def lose(source, target):
        replace(source, target)
        name = Path(target).name
        if re.fullmatch(rf"{walk}-03-.*\.{kind}", name) and name in [*written, name][:1]:
            written.append(name)
            if len(written) <= times:
                Path(target).unlink()

    monkeypatch.setattr("os.replace", lose)
    monkeypatch.setattr("tablebase.building.halves.plan.IN_MEMORY_BITS", 0)
    monkeypatch.setattr("tablebase.building.keys.plan.MOST_IN_MEMORY", 0)
    path = tmp_path / "table.h5"
    if times == 3:
        build_in_files(board, path)
        assert digest(path) == digests[board]
    else:
        with pytest.raises(ChecksumError, match="made again 3 times"):
            build_in_files(board, path)
    assert len(written) == 4


def test_what_is_said_of_rebuilding():
    said: list[str] = []
    resume = Resume(said.append)
    resume.rebuilds("a is damaged")
    resume.rebuilds("b is damaged")
    resume.end()
    assert said == [
        "rebuilding: a is damaged",
        "rebuilt: 2 files that were damaged or missing",
    ]


def test_a_first_build_says_nothing_of_it(tmp_path):
    for board in STOPS:
        said: list[str] = []
        tb.build(board, Path(tmp_path, board), announce=said.append)
        assert len(said) == 1
