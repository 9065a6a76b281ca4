"""Kernels compiled ahead by a helper: a true record, types read back, nobody waits in vain."""

import subprocess
import sys
from pathlib import Path

import pytest

from retro import ahead, kernel_cache

ROOT = Path(__file__).parents[2]
RECORDS = sorted(path.stem for path in ahead.SIGNATURES.glob("*.txt"))


def test_there_is_a_record() -> None:
    assert "two-halves" in RECORDS
    assert ahead.signatures("no such index") == []


@pytest.mark.parametrize("name", RECORDS)
def test_types_are_read_as_they_were_written(name: str) -> None:
    wanted = ahead.signatures(name)
    assert len(wanted) >= ahead.WORTH_A_PROCESS
    for one in wanted:
        # The bit instructions are those of this machine, whatever the record says.
        spelled = [kernel_cache.spell(kind) for kind in one.arguments]
        assert [text for text in spelled if "retro.bits" not in text] == [
            text for text in one.types if "retro.bits" not in text
        ]
        assert one.file.startswith(f"{one.module}.{one.function}-")


def test_the_record_is_what_a_build_calls() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "record_kernels.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["two-halves", "two-halves-in-tasks"])
def test_the_helper_begins_with_one_of_the_middle_and_goes_on_from_the_end(name: str) -> None:
    record = ahead.signatures(name)
    first, *rest = ahead.helper_order(record)
    assert (first.function, first in record[1:-1]) == (ahead.RELIEF, True)
    assert rest == [wanted for wanted in reversed(record) if wanted != first]


@pytest.mark.parametrize("text", ["", "array(uint64, 1d, C) x", "tuple(int64"])
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises((ValueError, AttributeError)):
        ahead.read_type(text)


class Shelf:
    """Has a kernel after it was looked for some times."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def has(self, _: str) -> bool:
        self.looks -= 1
        return self.looks < 0


class Process:
    """Ends after it was looked at some times."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def poll(self) -> int | None:
        self.looks -= 1
        return None if self.looks >= 0 else 1


def test_a_kernel_is_compiled_by_who_claims_it_first(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(ahead, "POLL_SECONDS", 0)
    shelf = Shelf(5)
    partner = ahead.Partner(Process(100), tmp_path)
    assert not partner.waits_for(shelf, "mine")  # claimed now
    assert not ahead.claim(tmp_path, "mine")
    assert ahead.claim(tmp_path, "theirs")
    assert partner.waits_for(shelf, "theirs")
    assert shelf.looks < 0  # it waited until the kernel was there
    gone = ahead.Partner(Process(3), tmp_path)
    assert gone.waits_for(Shelf(10**9), "theirs")  # the helper ended without it: ours to do


def test_a_build_with_a_limit_leaves_all_to_the_helper(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(ahead, "POLL_SECONDS", 0)
    partner = ahead.Partner(Process(100), tmp_path, alone=True)
    shelf = Shelf(5)
    assert partner.waits_for(shelf, "any")
    assert shelf.looks < 0
    assert ahead.claim(tmp_path, "any")  # nobody else had


def test_the_record_of_builds_with_a_limit_has_all_that_others_call() -> None:
    short, tasks = (set(ahead.signatures(f"two-halves{more}")) for more in ("", ahead.IN_TASKS))
    assert short < tasks
    names = {one.function for one in tasks - short}
    assert names >= {"_cut", "_rows_after"}
