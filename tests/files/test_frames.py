"""Arrays as frames, and files of them: whole again, whatever their lengths, or refused."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablebase.files import frames
from tablebase.files.frames import (
    BUILT,
    NUMBERS,
    SHUFFLED,
    VALUES,
    FrameReader,
    FrameWriter,
    Packing,
    pack,
    unpack,
)

PACKINGS = [VALUES, NUMBERS, BUILT, SHUFFLED, Packing(3, shuffle=True, fletcher=True)]
WORDS = st.lists(st.integers(0, (1 << 64) - 1), max_size=40)
CODES = st.lists(st.integers(0, 255), max_size=40)


def written(arrays, packing=SHUFFLED, name="a", extra=()):
    """A file of arrays and of frames that are packed already."""
    file = io.BytesIO()
    writer = FrameWriter(file, name)
    for items in arrays:
        writer.add(items, packing)
        writer.add_frames(extra)
    writer.finish({"said": [1, "x"]})
    return file.getvalue()


def read(content, lengths, packing=SHUFFLED, name="a"):
    reader = FrameReader(io.BytesIO(content), name)
    assert reader.said == {"said": [1, "x"]}
    return [
        reader.fill(number, np.empty(n, dtype), packing).tolist()
        for number, (n, dtype) in enumerate(lengths)
    ]


@pytest.mark.parametrize("packing", PACKINGS)
@given(items=WORDS)
def test_there_and_back(packing, items):
    frame = pack(np.array(items, "<u8"), packing)
    assert unpack(frame, np.empty(len(items), "<u8"), packing).tolist() == items
    with pytest.raises(ValueError, match="bytes"):
        unpack(frame, np.empty(len(items) + 1, "<u8"), packing)


@pytest.mark.parametrize("packing", [VALUES, NUMBERS, PACKINGS[-1]])
def test_a_frame_of_a_table_that_is_damaged_cut_or_too_long_is_refused(packing):
    frame = pack(np.arange(1000, dtype="<u8") // 7, packing)
    to = np.empty(1000, "<u8")
    for place in range(0, len(frame), 3):
        damaged = bytearray(frame)
        damaged[place] ^= 0x10
        try:
            unpack(bytes(damaged), to, packing)
        except ValueError:
            continue
        assert to.tolist() == (np.arange(1000) // 7).tolist()  # a bit that says nothing
    for wrong in (frame[:-1], frame[:-4], frame[: len(frame) // 2], frame + b"x", frame * 2, b""):
        with pytest.raises(ValueError, match=r"."):
            unpack(wrong, to, packing)


@given(st.lists(st.one_of(WORDS, CODES), max_size=4), st.integers(1, 6), st.booleans())
def test_files_of_arrays_in_frames_of_any_length(arrays, eights, shuffled):
    kinds = ["<u8" if any(n > 255 for n in items) else "u1" for items in arrays]
    packing = SHUFFLED if shuffled else BUILT
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "FRAME_BYTES", 8 * eights)
        made = [np.array(i, kind) for i, kind in zip(arrays, kinds, strict=True)]
        content = written(made, packing, extra=[b"packed"])
        lengths = [(len(i), kind) for i, kind in zip(arrays, kinds, strict=True)]
        assert read(content, lengths, packing) == arrays
        reader = FrameReader(io.BytesIO(content), "a")
        assert [reader.frame(number) for number in range(len(arrays))] == [b"packed"] * len(arrays)
        for number, (kind, items) in enumerate(zip(kinds, arrays, strict=True)):
            assert reader.array(number, kind, packing).tolist() == items


def test_stretches_of_an_array_are_read_without_the_rest(monkeypatch):
    monkeypatch.setattr(frames, "FRAME_BYTES", 8 * 64)
    words = np.random.default_rng(1).integers(0, 1 << 60, 1000).astype("<u8")
    words[200:500] = 0
    reader = FrameReader(io.BytesIO(written([words])), "a")
    wanted = [(0, 1, 5), (100, 300, 10), (990, 1000, 400)]
    found = reader.fill_some(0, wanted, np.zeros(500, "<u8"), SHUFFLED)
    expected = np.zeros(500, "<u8")
    for begin, end, place in wanted:
        expected[place : place + end - begin] = words[begin:end]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("packing", [BUILT, SHUFFLED])
def test_other_lengths_names_and_damage_are_refused(packing):
    arrays = [np.array([1, 2, 3], "<u8"), np.arange(1000, 3000, dtype="<u8")]
    content = written(arrays, packing)
    right = [(3, "<u8"), (2000, "<u8")]
    assert read(content, right, packing) == [items.tolist() for items in arrays]
    for lengths in ([(3, "<u8"), (1999, "<u8")], [(4, "<u8")]):
        with pytest.raises(ValueError, match="another length"):
            read(content, lengths, packing)
    with pytest.raises(ValueError, match="another file"):
        read(content, right, packing, name="b")
    for place in range(0, len(content), 3):
        damaged = bytearray(content)
        damaged[place] ^= 0x10
        with pytest.raises(ValueError, match=r"."):
            read(bytes(damaged), right, packing)
    rng = np.random.default_rng(2)
    for cut in rng.integers(0, len(content), 50).tolist():  # as a power cut tears a file
        for torn in (content[:cut], content[:cut] + bytes(len(content) - cut), content + b"\0"):
            if torn != content:
                with pytest.raises(ValueError, match=r"."):
                    read(torn, right, packing)


def test_a_writer_reads_what_it_has_written():
    file = io.BytesIO()
    writer = FrameWriter(file, "a")
    writer.add_frames([b"one", b""])
    writer.add(np.arange(9))
    writer.add_frames([b"three"])
    assert [writer.frame(number) for number in range(3)] == [b"one", b"", b"three"]
    writer.finish({})
    reader = FrameReader(io.BytesIO(file.getvalue()), "a")
    assert [reader.frame(number) for number in range(3)] == [b"one", b"", b"three"]
    assert reader.array(0, "<i8").tolist() == list(range(9))
