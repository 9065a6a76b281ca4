"""The check of every stored position finds each kind of fault, wherever it is planted."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from retro.errors import VerificationError
from retro.games.kernels import canonical_of
from retro.index.keys.keys import Keys
from tablebase.building.build import build
from tablebase.checks import verify
from tablebase.keys import check, check_kernels
from tablebase.keys.file import KeysFile
from tablebase.keys.store import Page
from tablebase.tables import Table

TABLES = {"one word": "mnk 3x3", "two words": "quarto 2x2 attributes=2"}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("check")
    for label, board in TABLES.items():
        build(board, folder / f"{label}.h5")
    build("mnk 3x3", folder / "rooted.h5", root="b2 a1")
    return folder


def open_file(path: Path) -> KeysFile:
    return KeysFile(path, cache_bytes=1_000_000)


def check_every_position(table: KeysFile) -> int:
    return check.check_every_position(table, lambda *_: None)


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest, shelf: Path) -> Iterator[KeysFile]:
    with open_file(shelf / f"{request.param}.h5") as opened:
        yield opened


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Callable[[KeysFile, int, Page], None]:
    """Let a table hold another layer."""

    def plant(table: KeysFile, ply: int, layer: Page) -> None:
        truth = type(table).stored
        monkeypatch.setattr(
            table, "stored", lambda asked: layer if asked == ply else truth(table, asked)
        )

    return plant


def fault_of(table: KeysFile, layer: Page, after: Page) -> check_kernels.Fault | None:
    return check_kernels.find_fault(
        table.board.rules, layer, after, np.zeros(after.keys.size, np.bool_)
    )


def neighbours(table: KeysFile) -> Iterator[tuple[int, Page, Page]]:
    """(ply, its layer, the layer after it)."""
    for ply in table.plies[:-1]:
        yield ply, table.stored(ply), table.stored(ply + 1)


def taken(layer: Page, places: list[int]) -> Page:
    """The layer of some places, in that order."""
    keys = layer.keys
    return Page(Keys(keys.a[places], keys.b[places] if len(keys.b) else keys.b),
                layer.values[places])  # fmt: skip


def with_value(layer: Page, place: int, value: int) -> Page:
    values = layer.values.copy()
    values[place] = value
    return Page(layer.keys, values)


def test_a_sound_table(table: KeysFile, shelf: Path) -> None:
    assert check_every_position(table) == sum(record.keys for record in table.records)
    with open_file(shelf / "rooted.h5") as rooted:
        assert check_every_position(rooted) == sum(record.keys for record in rooted.records)


def test_every_wrong_value(table: KeysFile, plant: Callable[..., None]) -> None:
    for _, layer, after in neighbours(table):
        for place in range(layer.keys.size):
            truth = int(layer.values[place])
            for wrong in {-1, 0, 1, 2} - {truth}:
                fault = fault_of(table, with_value(layer, place, wrong), after)
                assert fault == (check_kernels.WRONG_VALUE, place, truth)
    for ply, layer, _ in list(neighbours(table)):
        plant(table, ply, with_value(layer, 0, 2 if ply % 2 else -layer.values[0] or 1))
        with pytest.raises(VerificationError, match=f"ply {ply} holds .* its successors say"):
            check_every_position(table)


def test_every_missing_key(table: KeysFile, plant: Callable[..., None]) -> None:
    """Some position before it has a successor that is not there."""
    for _, layer, after in neighbours(table):
        for place in range(after.keys.size):
            left = taken(after, [i for i in range(after.keys.size) if i != place])
            fault = fault_of(table, layer, left)
            assert fault is not None
            assert fault.kind == check_kernels.NOT_CLOSED
    for ply, _, after in list(neighbours(table))[:-1]:
        plant(table, ply + 1, taken(after, list(range(1, after.keys.size))))
        with pytest.raises(VerificationError, match=r"that ply \d lacks|no move leads to"):
            check_every_position(table)


def test_keys_out_of_order_and_twice(table: KeysFile, plant: Callable[..., None]) -> None:
    for ply, layer, after in list(neighbours(table)):
        for place in range(layer.keys.size - 1):
            swapped = list(range(layer.keys.size))
            swapped[place : place + 2] = [place + 1, place]
            twice = sorted([*range(layer.keys.size), place])
            for order in (swapped, twice):
                fault = fault_of(table, taken(layer, order), after)
                assert fault == (check_kernels.ORDER, place + 1, 0)
        if layer.keys.size > 1:
            plant(table, ply, taken(layer, [0, *range(layer.keys.size)]))
            with pytest.raises(VerificationError, match="out of order at place 1"):
                check_every_position(table)


def test_a_key_too_many(shelf: Path, plant: Callable[..., None]) -> None:
    """Positions of the whole board, sound by themselves, in a table of what follows a root."""
    with (
        open_file(shelf / "one word.h5") as whole,
        open_file(shelf / "rooted.h5") as rooted,
    ):
        every, own = whole.stored(8), rooted.stored(8)
        strange = np.setdiff1d(every.keys.a, own.keys.a)
        assert len(strange) > 3
        for key in strange[:4]:
            many = np.isin(every.keys.a, own.keys.a) | (every.keys.a == key)
            plant(rooted, 8, taken(every, list(np.flatnonzero(many))))
            with pytest.raises(VerificationError, match="no move leads to"):
                check_every_position(rooted)


def test_a_key_that_is_not_canonical(shelf: Path) -> None:
    """The last key of a layer, turned into a larger image of itself: the order stays."""
    with open_file(shelf / "one word.h5") as table:
        tried = 0
        for ply in table.plies[1:-1]:
            layer, after = table.stored(ply), table.stored(ply + 1)
            last = table.board.unpack(int(layer.keys.a[-1]), 0)
            image = max(last.turned(turn)._state[0] for turn in range(8))
            if image > int(layer.keys.a[-1]):
                layer.keys.a[-1] = image
                fault = fault_of(table, layer, after)
                assert fault == (check_kernels.NOT_CANONICAL, layer.keys.size - 1, 0)
                tried += 1
        assert tried > 3


def test_a_finished_game(shelf: Path) -> None:
    with open_file(shelf / "one word.h5") as table:
        over = table.board.position("a1 a2 b1 b2 c1")
        a, _ = canonical_of(table.board.rules, *(np.uint64(word) for word in over._state))
        layer = Page(
            Keys(np.array([a], np.uint64), np.empty(0, np.uint64)), np.array([-1], np.int8)
        )
        fault = fault_of(table, layer, table.stored(6))
        assert fault == (check_kernels.NOT_LIVE, 0, 0)


def test_another_root(shelf: Path, plant: Callable[..., None]) -> None:
    with open_file(shelf / "rooted.h5") as rooted:
        with open_file(shelf / "one word.h5") as whole:
            other = whole.stored(2)
        strange = list(np.flatnonzero(other.keys.a != rooted.stored(2).keys.a[0]))
        for places in (strange[:1], list(range(other.keys.size)), []):
            plant(rooted, 2, taken(other, places))
            with pytest.raises(VerificationError, match="the root alone"):
                check_every_position(rooted)


def test_many_stretches(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Order is seen across the borders of stretches, and the first fault is the one reported."""
    monkeypatch.setattr(check_kernels, "STRETCH", 5)
    with open_file(shelf / "one word.h5") as table:
        assert check_every_position(table) == 627
        layer, after = table.stored(6), table.stored(7)
        for place in range(layer.keys.size - 1):
            order = list(range(layer.keys.size))
            order[place : place + 2] = [place + 1, place]
            fault = fault_of(table, taken(layer, order), after)
            assert fault == (check_kernels.ORDER, place + 1, 0)


def test_the_plain_rules_judge_the_jitted_ones(
    shelf: Path, plant: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were the jitted check blind, the plain one would still see."""
    monkeypatch.setattr(check, "check_every_position", lambda *_: 0)
    with open_file(shelf / "one word.h5") as table:
        layer = table.stored(5)
        plant(table, 5, with_value(layer, 3, 1 if layer.values[3] < 1 else -1))
        with pytest.raises(VerificationError, match="its successors say"):
            verify(Table(table), "full")


def test_progress_is_reported(shelf: Path) -> None:
    seen: list[tuple[str, int]] = []
    with open_file(shelf / "one word.h5") as table:
        verify(Table(table), "full", report=lambda what, ply, *_: seen.append((what, ply)))
    assert [what for what, _ in dict.fromkeys(seen)] == ["full"] * 10 + ["sample"] * 10 + [
        "quick"
    ] * 10
