"""Extract and deposit: three versions of one meaning, and who chooses between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from retro.bits import (
    Native,
    Portable,
    bit_instructions,
    deposit,
    extract,
    has_bmi2,
    pext_nanoseconds,
)
from retro.errors import BadTextError

ALL = 2**64 - 1
EDGE_WORDS = [0, 1, ALL, 1 << 63, ALL >> 1, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA, 0xFFFFFFFF]
words = st.integers(0, ALL) | st.sampled_from(EDGE_WORDS)

KINDS = [
    Portable(),
    pytest.param(Native(), marks=pytest.mark.skipif(not has_bmi2(), reason="no PEXT and PDEP")),
]


@njit
def jitted(bits, word, mask):
    return extract(bits, word, mask), deposit(bits, word, mask)


def by_text(word, mask):
    """Extract and deposit on strings of binary digits, lowest digit first."""
    places = [i for i in range(64) if mask >> i & 1]
    digits = f"{word:064b}"[::-1]
    gathered = "".join(digits[place] for place in places)
    scattered = ["0"] * 64
    for digit, place in zip(digits, places, strict=False):
        scattered[place] = digit
    return int("0" + gathered[::-1], 2), int("".join(scattered)[::-1], 2)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
@given(word=words, mask=words)
def test_the_jitted_versions_mean_what_the_text_says(kind, word, mask):
    found = jitted(kind, np.uint64(word), np.uint64(mask))
    assert tuple(map(int, found)) == by_text(word, mask)


@given(word=words, mask=words)
def test_the_plain_twins_mean_what_the_text_says(word, mask):
    plain = extract(Portable(), word, mask), deposit(Portable(), word, mask)
    assert tuple(map(int, plain)) == by_text(word, mask)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_every_pair_of_edge_words_is_right(kind):
    for word in EDGE_WORDS:
        for mask in [*EDGE_WORDS, *(1 << i for i in range(64)), *(ALL >> i for i in range(64))]:
            found = jitted(kind, np.uint64(word), np.uint64(mask))
            assert tuple(map(int, found)) == by_text(word, mask)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
@given(word=words, mask=words)
def test_depositing_what_was_extracted_restores_it(kind, word, mask):
    gathered, _ = jitted(kind, np.uint64(word), np.uint64(mask))
    _, restored = jitted(kind, np.uint64(gathered), np.uint64(mask))
    assert int(restored) == word & mask


def test_the_environment_can_ask_for_the_portable_version(monkeypatch):
    monkeypatch.setenv("RETRO_BITS", "portable")
    assert type(bit_instructions()) is Portable


@pytest.mark.parametrize("wanted", [None, "auto"])
@pytest.mark.parametrize(("cpu_has_it", "expected"), [(True, Native), (False, Portable)])
def test_left_to_itself_the_choice_follows_the_cpu(monkeypatch, wanted, cpu_has_it, expected):
    monkeypatch.delenv("RETRO_BITS", raising=False)
    if wanted:
        monkeypatch.setenv("RETRO_BITS", wanted)
    monkeypatch.setattr("retro.bits.has_bmi2", lambda: cpu_has_it)
    monkeypatch.setattr("retro.bits.pext_nanoseconds", lambda: 1.0)
    assert type(bit_instructions()) is expected


def test_microcode_is_not_used_unless_asked_for(monkeypatch):
    monkeypatch.setattr("retro.bits.has_bmi2", lambda: True)
    monkeypatch.setattr("retro.bits.pext_nanoseconds", lambda: 40.0)
    monkeypatch.delenv("RETRO_BITS", raising=False)
    assert type(bit_instructions()) is Portable
    monkeypatch.setenv("RETRO_BITS", "native")
    assert type(bit_instructions()) is Native


@pytest.mark.skipif(not has_bmi2(), reason="no PEXT and PDEP")
def test_the_time_of_a_pext_is_one(monkeypatch):
    """Not of an empty loop, nor of a loop that was optimized away."""
    monkeypatch.setattr("retro.bits.CHAIN_LENGTH", 200_000)
    assert 0.1 < pext_nanoseconds.__wrapped__() < 1_000


def test_native_is_refused_where_the_cpu_cannot(monkeypatch):
    monkeypatch.setenv("RETRO_BITS", "native")
    monkeypatch.setattr("retro.bits.has_bmi2", lambda: False)
    with pytest.raises(BadTextError, match="no PEXT and PDEP"):
        bit_instructions()


def test_nonsense_in_the_environment_is_refused(monkeypatch):
    monkeypatch.setenv("RETRO_BITS", "quickly")
    with pytest.raises(BadTextError, match="RETRO_BITS=quickly, wanted auto, native or portable"):
        bit_instructions()
