"""The rank of one position, without kernels: for a process that has a single question.

Importing numba and listing all halves for kernels takes a second, on 7x6 five. One rank needs
less: how many colourings each half-profile has (to know the words of the rectangles before),
and the place of the position's own two halves among theirs. Both are counted, not listed. All
columns of a half but the last are tried in every way, with numpy; what they leave to the last
one is known from two sets of its cells, *barred* for either player since a stone there would
complete a line:

    columns before   barred for the first    for the second      strings of the last column
    X . .            . X .                   . . .               ... that keep off both:
    X X .            the cell in row 1       none                counted once per pair of sets

Four columns of six rows have 49 million colourings, three of them a million, and these leave
a few hundred pairs of sets. Early in the game both halves hold few stones, so those who ask for a
position of up to `FEW_STONES` count only as far as these go: a ninth of it.

`layout` says what a rank is, `ranking` has the jitted twin, `counting` that of the counts,
`plain` the definition.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from retro.games.connect4.rules import Connect4Board, Connect4Position

    Ints = NDArray[np.signedinteger]

MOST_COLOURINGS = 2_100_000  # of a half but its last column, lines included: tenths of a second
MOST_PROFILES = 300_000  # of a board: some hundredths of a second
FEW_STONES = 12
WORD_BITS = 64


class Strings(NamedTuple):
    """What may stand in one column: stones from the bottom, none of them in a line."""

    height: Ints  # stones, those of the root included
    first: Ints  # bit r: a stone of the first player in row r
    second: Ints


class Columns(NamedTuple):
    """All ways to fill some columns without a line, and what they bar in the next one."""

    heights: Ints  # in mixed radix: the profile's number
    ones: Ints  # stones of the first player
    value: Ints  # of the colouring; as the format has it, so that it sorts as there
    barred: Ints  # cells of the next column, first player's in the upper half of the number


class Half(NamedTuple):
    """Some columns of a board: the strings of each, and how many colourings there are.

    Counts of profiles with more stones than were asked for are too small.
    """

    strings: tuple[Strings, ...]
    connect: int
    stride: int
    counts: Ints  # [profile, first-player stones]
    heights: Ints  # [profile, column]


def is_small(board: Connect4Board, left_columns: int, root: Connect4Position) -> bool:
    """Whether the halves of what follows a root are counted at once.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> small, large = Connect4Board(7, 6), Connect4Board(8, 7)
    >>> is_small(small, 4, small.start()), is_small(large, 4, large.start())
    (True, False)
    >>> is_small(large, 4, large.start()._play_all([0, 4] * 3))
    True
    """
    ways = _colourings(board, root)
    before = prod(ways[: max(left_columns - 1, 0)]), prod(ways[left_columns:-1])
    return max(before) <= MOST_COLOURINGS


def has_few_profiles(board: Connect4Board, left_columns: int, root: Connect4Position) -> bool:
    """Whether the words of all its layers are counted at once, too."""
    few = prod(cells + 1 for cells in _free(board, root)) <= MOST_PROFILES
    return few and is_small(board, left_columns, root)


def _free(board: Connect4Board, root: Connect4Position) -> list[int]:
    """The empty cells of every column."""
    return [board.height - root.height(column) for column in range(board.width)]


def _colourings(board: Connect4Board, root: Connect4Position) -> list[int]:
    """In how many ways every column may go on, lines included."""
    return [2 ** (cells + 1) - 1 for cells in _free(board, root)]


def rank(
    board: Connect4Board, left_columns: int, root: Connect4Position, position: Connect4Position
) -> int | None:
    """The rank of a position in its layer; None if a half has a line or the root does not fit.

    >>> from retro.games.connect4.rules import Connect4Board, Connect4Position
    >>> board = Connect4Board(5, 4)
    >>> rank(board, 3, Connect4Position(board), Connect4Position(board, board.bit(0, 0)))
    0
    """
    heights = [position.height(column) for column in range(board.width)]
    is_mirrored = _is_mirrored(board, left_columns, root)
    if is_mirrored and not _is_canonical(np.array([heights]))[0]:
        position = position.mirror()
        heights.reverse()
    cut = left_columns * board.stride
    low = (1 << cut) - 1
    left, right = _halves(board, left_columns, root, position.ply)
    place_left = _place(left, heights[:left_columns], position.first & low)
    place_right = _place(right, heights[left_columns:], position.first >> cut)
    if place_left is None or place_right is None:
        return None
    layer = _layer(board, left_columns, root, position.ply)
    on_right = (position.first >> cut).bit_count()
    before, row_words = _words_before(layer, heights, on_right)
    return WORD_BITS * (before + place_right * row_words) + place_left


def listed_bytes(board: Connect4Board, left_columns: int, root: Connect4Position) -> int:
    """Bytes of the lists that kernels need to find ranks, at most: exact, however large.

    >>> from retro.games.connect4.rules import Connect4Board, Connect4Position
    >>> listed_bytes(Connect4Board(9, 6), 5, Connect4Position(Connect4Board(9, 6)))
    274781662640
    """
    ways, profiles = _colourings(board, root), prod(cells + 1 for cells in _free(board, root))
    listed = prod(ways[:left_columns]) + prod(ways[left_columns:])
    offsets = profiles * ((board.width - left_columns) * board.height + 2)
    return 8 * (listed + offsets)


def stored_words(
    board: Connect4Board, left_columns: int, root: Connect4Position
) -> NDArray[np.int64]:
    """[ply] the words of the planes of every layer, of boards that are small."""
    plies = range(root.ply, board.cells + 1)
    words = [layer_words(board, left_columns, root, ply) for ply in plies]
    return np.array([0] * root.ply + words, np.int64)


def layer_words(board: Connect4Board, left_columns: int, root: Connect4Position, ply: int) -> int:
    """The words of the planes of one layer, of boards that are small."""
    return int(_layer(board, left_columns, root, ply).words.sum())


def _halves(
    board: Connect4Board, left_columns: int, root: Connect4Position, ply: int
) -> tuple[Half, Half]:
    """Both halves, counted for positions of a ply."""
    cut = left_columns * board.stride
    low = (1 << cut) - 1
    sizes = (board.height, board.connect, FEW_STONES if ply <= FEW_STONES else board.cells)
    left = _half(left_columns, *sizes, root.first & low, root.second & low)
    right = _half(board.width - left_columns, *sizes, root.first >> cut, root.second >> cut)
    return left, right


class _Layer(NamedTuple):
    """The profiles of a ply that are stored, in their order."""

    heights: Ints  # [profile, column]
    words: Ints  # [profile, first stones on the right] of the rectangle
    row_words: Ints  # [profile, first stones on the right] of a row of it


@lru_cache(4)
def _layer(board: Connect4Board, left_columns: int, root: Connect4Position, ply: int) -> _Layer:
    left, right = _halves(board, left_columns, root, ply)
    stones = left.heights.sum(axis=1)[:, None] + right.heights.sum(axis=1)
    pairs = np.argwhere(stones == ply)  # by left profile, then by right
    whole = np.hstack([left.heights[pairs[:, 0]], right.heights[pairs[:, 1]]])
    if _is_mirrored(board, left_columns, root):
        kept = _is_canonical(whole)
        pairs, whole = pairs[kept], whole[kept]
    return _Layer(whole, *_rectangles(left, right, pairs, (ply + 1) // 2))


def _is_mirrored(board: Connect4Board, left_columns: int, root: Connect4Position) -> bool:
    """Whether only one profile of each mirror pair is stored."""
    return 2 * left_columns >= board.width and not root.ply


def _place(half: Half, heights: list[int], first: int) -> int | None:
    """The place of a colouring among those of its profile with as many first stones.

    The last column is the most significant: all colourings with a smaller string there come
    before, then those with this string and a smaller rest.
    """
    if not heights:
        return 0
    of_profile = [
        Strings(*(part[strings.height == height] for part in strings))
        for strings, height in zip(half.strings, heights, strict=True)
    ]
    before = _fill(of_profile[:-1], half.connect, half.stride, sum(heights))
    cut = (len(heights) - 1) * half.stride
    own, rest, ones = first >> cut, first & ((1 << cut) - 1), first.bit_count()
    place = 0
    for string, other in zip(of_profile[-1].first, of_profile[-1].second, strict=True):
        if string > own:
            continue
        fits = before.ones == ones - int(string).bit_count()
        fits &= before.barred & (string << half.stride | other) == 0
        if string < own:
            place += int(fits.sum())
        else:
            here = before.value[fits]
            return place + int((here < rest).sum()) if (here == rest).any() else None
    return None


def _words_before(layer: _Layer, heights: list[int], on_right: int) -> tuple[int, int]:
    """The words of the layer before a rectangle, and those of a row of it."""
    own = int(np.flatnonzero((layer.heights == heights).all(axis=1))[0])
    before = layer.words[:own].sum() + layer.words[own, :on_right].sum()
    return int(before), int(layer.row_words[own, on_right])


def _rectangles(
    left: Half, right: Half, pairs: NDArray[np.int64], ones: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """[pair, first stones on the right] words of the rectangles of pairs of profiles; of a row."""
    on_right = np.arange(ones + 1)
    rows = _padded(right.counts, ones)[pairs[:, 1]][:, on_right]
    columns = _padded(left.counts, ones)[pairs[:, 0]][:, ones - on_right]
    row_words = -(-columns // WORD_BITS)
    return rows * row_words, row_words


def _padded(counts: NDArray[np.int64], ones: int) -> NDArray[np.int64]:
    """Counts for every number of stones up to `ones`; more than fit: none."""
    return np.pad(counts, ((0, 0), (0, max(0, ones + 1 - counts.shape[1]))))


def _is_canonical(heights: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which profiles, not their mirror images, are stored: the left columns hold more stones."""
    leans = (heights - heights[:, ::-1])[:, : heights.shape[1] // 2]
    surplus = leans.sum(axis=1)
    first = np.zeros(len(heights), np.int64)
    for lean in leans.T[::-1]:
        first = np.where(lean != 0, lean, first)
    kept: NDArray[np.bool_] = np.where(surplus != 0, surplus, first) >= 0
    return kept


@lru_cache(8)
def _half(columns: int, height: int, connect: int, most: int, first: int, second: int) -> Half:
    """Some columns that hold the root's stones, and the number of their line-free colourings.

    Counted are those of `most` stones, the root's included.
    """
    stride = height + 1
    low = (1 << stride) - 1
    roots = [((first >> c * stride) & low, (second >> c * stride) & low) for c in range(columns)]
    bases = [(ours | theirs).bit_count() for ours, theirs in roots]
    strings = tuple(_strings(height, connect, *root) for root in roots)
    counts = (
        _count(strings, bases, (connect, height, most)) if columns else np.ones((1, 1), np.int64)
    )
    return Half(strings, connect, stride, counts, _heights(bases, height))


def count_colourings(
    columns: int, height: int, connect: int, first: int = 0, second: int = 0
) -> NDArray[np.int64]:
    """[profile, first-player stones] line-free colourings: the plain twin of `count_half`.

    >>> int(count_colourings(4, 6, 4).sum())
    49041161
    """
    return _half(columns, height, connect, columns * height, first, second).counts


def _strings(height: int, connect: int, first: int, second: int) -> Strings:
    """Every string of a column that begins with the root's stones, in increasing order."""
    base = (first | second).bit_count()
    found = []
    for top in range(base, height + 1):
        ours = np.arange(1 << top, dtype=np.int64)
        theirs = ours ^ ((1 << top) - 1)
        keeps = (ours & first == first) & (theirs & second == second)
        keeps &= ~(_has_run(ours, connect) | _has_run(theirs, connect))
        found.append(Strings(np.full(keeps.sum(), top), ours[keeps], theirs[keeps]))
    return Strings(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _has_run(stones: Ints, connect: int) -> NDArray[np.bool_]:
    """Where so many bits in a row are set."""
    runs = stones
    for _ in range(connect - 1):
        runs = runs & (runs >> 1)
    return np.asarray(runs != 0)


def _fill(columns: Sequence[Strings], connect: int, stride: int, most: int) -> Columns:
    """Fill columns one after the other, with so many stones, keeping off what those before bar.

    The last one makes a million rows of ten thousand, and most of the time goes into memory: so
    numbers are narrow, and what is the same in all of a row's pairs with strings is found before.
    """
    profile = ones = stones = np.zeros(1, np.int32)
    value = np.zeros(1, _narrow(len(columns) * stride))
    barred = np.zeros(1, _narrow(2 * stride))
    last: list[Ints] = []  # both players' stones in the last columns, as `barred` has them
    radix = 1
    for number, strings in enumerate(columns):
        both = (strings.first << stride | strings.second).astype(barred.dtype)
        height, first = strings.height.astype(np.int32), strings.first.astype(value.dtype)
        base, top = (int(height.min()), int(height.max())) if len(height) else (0, 0)
        fits = ((barred[:, None] & both) == 0) & (stones[:, None] + height <= most)
        profile = _joined(profile[:, None] + radix * (height - base), fits)
        ones = _joined(ones[:, None] + np.bitwise_count(first), fits)
        value = _joined(value[:, None] | first << number * stride, fits)
        barred = _joined(_barred(last, both, connect, stride, len(fits)), fits)
        radix *= top - base + 1
        if number + 1 < len(columns):
            stones = _joined(stones[:, None] + height, fits)
            whole = [*(part[:, None] for part in last), both][-max(connect - 2, 1) :]
            last = [_joined(np.broadcast_to(part, fits.shape), fits) for part in whole]
    return Columns(profile, ones, value, barred)


def _narrow(bits: int) -> type[np.signedinteger]:
    """The narrowest of some types that holds numbers of so many bits."""
    return np.int16 if bits < 16 else np.int32 if bits < 32 else np.int64


def _joined(made: Ints, fits: NDArray[np.bool_]) -> Ints:
    """What was made of every row and string, [row, string], where they fit, in one row."""
    return made.ravel() if fits.all() else made[fits]


def _barred(last: list[Ints], both: Ints, connect: int, stride: int, size: int) -> Ints:
    """[row, string] the cells of the next column that would complete a line with those before."""
    if len(last) < connect - 2:
        return np.zeros((size, len(both)), both.dtype)
    on_board = (1 << stride - 1) - 1
    level = rising = falling = np.full(size, on_board << stride | on_board, both.dtype)
    for back, stones in enumerate(reversed(last), start=2):
        if back < connect:
            level = level & stones
            rising = rising & _shifted(stones, back, stride)
            falling = falling & _shifted(stones, -back, stride)
    found = level[:, None] & both
    found |= rising[:, None] & _shifted(both, 1, stride)
    found |= falling[:, None] & _shifted(both, -1, stride)
    return found


def _shifted(both: Ints, rows: int, stride: int) -> Ints:
    """Both players' stones so many rows up, or down; what leaves the column is gone."""
    height = stride - 1
    stay = (1 << max(height - abs(rows), 0)) - 1
    if rows < 0:
        stay <<= min(-rows, height)
    kept = both & (stay << stride | stay)
    return kept << rows if rows > 0 else kept >> -rows


def _count(strings: Sequence[Strings], bases: list[int], sizes: tuple[int, int, int]) -> Ints:
    """[profile, first-player stones] the number of line-free colourings.

    The sizes are the length of a line, the height, and the most stones.
    """
    connect, height, most = sizes
    before = _fill(strings[:-1], connect, height + 1, most)
    last, spans = strings[-1], [height + 1 - base for base in bases]
    radix, stones = prod(spans[:-1]), len(spans) * height + 1
    some = len(bases[1:]) * height + 1  # stones of the columns before, and one
    # On 7x6 a million ways to fill them differ in 73,000 ways only, and leave 839 to the last one.
    cells = 2 * (height + 1)
    width = _narrow((radix * some).bit_length() + cells)
    places = before.heights.astype(width) * some + before.ones << cells | before.barred
    places, number = np.unique(places, return_counts=True)
    fits, kinds = _kinds(places & ((1 << cells) - 1), last.first << height + 1 | last.second)
    there, rows = np.unique(places >> cells, return_inverse=True)
    numbers = np.bincount(rows * len(fits) + kinds, number, len(there) * len(fits))
    # Of the last column's strings: how many are as high, with as many first stones; [string, this].
    kind_of = (last.height - bases[-1]) * (height + 1) + np.bitwise_count(last.first)
    alike = np.eye(spans[-1] * (height + 1))[kind_of]
    # Products of floats are quick; all are whole numbers below 2**53, so they are exact.
    ways = np.zeros((radix * some, alike.shape[1]))
    ways[there] = numbers.reshape(len(there), len(fits)) @ (fits.astype(np.float64) @ alike)
    by_top = ways.reshape(radix, some, spans[-1], height + 1)
    found = np.zeros((spans[-1], radix, stones))
    for ones in range(height + 1):
        found[:, :, ones : ones + some] += by_top[..., ones].transpose(2, 0, 1)
    return found.astype(np.int64).reshape(-1, stones)


def _kinds(barred: Ints, strings: Ints) -> tuple[NDArray[np.bool_], Ints]:
    """[kind, string] which strings keep off sets of cells, and [set] the kind of each."""
    seen, numbers = np.unique(barred, return_inverse=True)
    packed = np.packbits((seen[:, None] & strings) == 0, axis=1)
    packed, kinds = np.unique(packed, axis=0, return_inverse=True)
    fits = np.unpackbits(packed, axis=1, count=len(strings)).astype(np.bool_)
    return fits, kinds[numbers]


def _heights(bases: list[int], height: int) -> NDArray[np.int64]:
    """[profile, column] the heights of every profile, first column least significant."""
    found = np.zeros((1, 0), np.int64)
    for base in bases:
        tops = np.arange(base, height + 1)
        found = np.hstack([np.tile(found, (len(tops), 1)), np.repeat(tops, len(found))[:, None]])
    return found
