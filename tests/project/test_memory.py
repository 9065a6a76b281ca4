"""One way to say how much memory: the same text means the same bytes at every door."""

import pytest

import tablebase as tb
from retro.errors import BadTextError
from retro.memory import memory_bytes


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        ("1G", 10**9), ("1g", 10**9), ("1GB", 10**9), ("2.5M", 2_500_000), (" 4k ", 4_000),
        ("1T", 10**12), (4, 4), (0, 0), (1 << 30, 1 << 30),
    ],
)  # fmt: skip
def test_sizes(memory, expected) -> None:
    assert memory_bytes(memory) == expected


@pytest.mark.parametrize("text", ["4", "0", "1024", " 16 "])
def test_a_number_without_a_unit_is_refused_as_text_everywhere(text, tmp_path) -> None:
    word = text.strip()
    said = f"memory '{word}' has no unit: write {word}M for megabytes or {word}G for gigabytes"
    for ask in (
        lambda: tb.solver("4x4", memory=text),
        lambda: tb.oracle("4x4", memory=text),
        lambda: tb.Oracle(tb.board("4x4"), memory=text),
        lambda: tb.plan("4x4", memory=text),
        lambda: tb.plan("4x4", task_memory=text),
        lambda: tb.build("4x4", tmp_path / "t.h5", memory=text),
    ):
        with pytest.raises(BadTextError, match=said):
            ask()


@pytest.mark.parametrize("thing", ["", "lots", "4B", "-4M", "4 M", "4GiB", "9" * 400, 1e9, None])
def test_what_is_no_size(thing) -> None:
    with pytest.raises(BadTextError, match="is not a size: write one such as 4M or 4G") as raised:
        tb.solver("4x4", memory=thing)
    assert len(str(raised.value)) < 100


def test_a_search_takes_what_a_build_would() -> None:
    assert "1,000,000,000 bytes" in repr(tb.solver("4x4", memory="1G"))
    assert "1,000,000,000 bytes" in repr(tb.solver("4x4"))
    assert "64,000,000 bytes" in repr(tb.solver("4x4", memory_mb=64))
    assert "4,096 bytes" in repr(tb.solver("4x4", memory=4096))
