"""Arrays as one zstd frame: whole again, whatever their lengths, or refused."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retro.errors import ChecksumError
from tablebase.keys import frames
from tablebase.keys.frames import PieceReader, pack_pieces

WORDS = st.lists(st.integers(0, (1 << 64) - 1), max_size=40)


def packed(arrays: list[list[int]]) -> bytes:
    file = io.BytesIO()
    pack_pieces(file, [np.array(words, np.uint64) for words in arrays])
    return file.getvalue()


def unpacked(content: bytes, lengths: list[int]) -> list[list[int]]:
    reader = PieceReader(io.BytesIO(content), "a piece")
    found = [np.empty(length, np.uint64) for length in lengths]
    for words in found:
        reader.fill(words)
    reader.end()
    return [words.tolist() for words in found]


@given(st.lists(WORDS, max_size=4), st.integers(1, 50))
def test_there_and_back_in_stretches_of_any_length(arrays: list[list[int]], at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "AT_ONCE", at_once)
        assert unpacked(packed(arrays), list(map(len, arrays))) == arrays


def test_other_lengths_and_damage_are_named() -> None:
    arrays = [[1, 2, 3], list(range(1000, 3000))]
    content = packed(arrays)
    for lengths in ([3, 1999], [3, 2001], [3, 2000, 1]):
        with pytest.raises(ChecksumError, match="another length"):
            unpacked(content, lengths)
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 0x10
        with pytest.raises(ChecksumError):
            unpacked(bytes(damaged), [3, 2000])
    with pytest.raises(ChecksumError):
        unpacked(content[:-5], [3, 2000])
