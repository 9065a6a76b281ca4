"""Builds of Connect Four 5x4 and 4x4 that are stopped, damaged and compared."""

from functools import cache
from pathlib import Path

import pytest
from builds import build_tablebase, result_of, tasks_of

from retro.games.connect4.rules import Connect4Board
from tablebase.halves.store import TableFile

BOARD = Connect4Board(5, 4)
SMALL = Connect4Board(4, 4)
ROOT = Path(__file__).parents[1]
SMALL_GROUPS = (64, 1024)  # words: thousands of groups


class Stop(Exception):
    """Stops a build from its progress report."""


def stop_at(phase, ply):
    def report(progress):
        if (progress.phase, progress.ply) == (phase, ply):
            raise Stop

    return report


def stopped(path, phase, ply, board=BOARD):
    """The parts that a build leaves behind which was stopped there."""
    with pytest.raises(Stop):
        build_tablebase(board, path, report=stop_at(phase, ply))
    return tasks_of(path, board)


def flip_a_byte(path):
    """Damage a file in its middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def content(path):
    with TableFile(path) as table:
        return table.digest, [table.read_checked(ply).tobytes() for ply in table.header.plies]


_sound_content = cache(content)  # of tables that nobody changes


def assert_same_table(path, undisturbed):
    """Equal digest, counts and values; and nothing but the table is left in the folder."""
    with TableFile(path) as table:
        assert table.records == result_of(undisturbed.path).records
    assert content(path) == _sound_content(undisturbed.path)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
