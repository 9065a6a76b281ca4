"""Which positions play can reach, in closed form: classes of halves.

A part of a position without a line has no line. So a live position can arise in play exactly if
its stones can be taken off the tops of the columns, in turns of colours, down to the root:

    . . . .        O's turn was last: an O comes off a top, then an X, then an O ...
    O . X .        c1 O, c3 X, c1 - stuck? then c4 O first ...
    X . O O

Call that `alt`. No line has to be looked for on the way, so of a half only the colours of every
column count, and of these only what the other half can tell apart. With left half L, right half
R, the last mover m, and X - c for X without the top stone of column c,

    alt(L, R) = OR over columns c of L with m on top of alt(L - c, R),  OR the same of R

Halves of equal rows (columns) of this table are of one *class*; 0 is the class of those that no
half on the other side goes with. Classes are numbered within a *group*: all halves of so many
stones, so many of them the first player's. 7x6 has 49 million left colourings in 2,423 classes,
1.1 million right ones in 2,029, at most 79 in a group. They are found in four steps:

    right labels    colourings with the same columns, in any order
    left lists      for every left colouring the classes and colours that its tops leave
    left classes    lists with equal rows of the table, one column a right label
    right classes   right labels with equal columns of the table, one row a left class

Lists of n stones are made of classes of n - 1 stones, so no left colouring is looked at twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from retro.bits import U0, U1
from retro.jit import entry, inner
from retro.walk.halves.planes import ALL, COLOUR, STAY, WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from retro.index.halves.colourings import Half
    from retro.index.halves.layout import Layout
    from retro.walk.halves.plans import Plan

    Row = TypeVar("Row", bound=np.generic)
    Group = tuple[int, int]  # stones, those of the first player

MOST_CLASSES = (1 << 15) - 1  # of a group: twice that and a colour are 16 bits
ENTRY = np.uint64(16)
ENTRIES = 4  # of a word


class Classes(NamedTuple):
    """The classes of both halves, and which of them go together; for kernels."""

    left: NDArray[np.uint8]  # [left colouring]; 16 bits if a group has more classes than that
    right: NDArray[np.uint16]  # [right colouring]
    begin: NDArray[np.int64]  # [stones, q] the row of class 0 of a left group in `table`
    number: NDArray[np.int64]  # [stones, q] classes of a right group, but for class 0
    table: NDArray[np.uint64]  # [right stones, word, left class] a bit for every right class
    lines: NDArray[np.uint64]  # [player, right colouring, word] lines across the cut: whose part?
    least: NDArray[np.int64]  # [line] the fewest right stones that its right part takes


class Labels(NamedTuple):
    """Right labels: what their groups are, and how they follow one another."""

    of: NDArray[np.int64]  # [right colouring] its label, counted within its group
    number: NDArray[np.int64]  # [stones, q]
    start: NDArray[np.int64]  # [stones, q, colour] where `pairs` with such a top stone begin
    pairs: NDArray[np.int64]  # (label without the stone, label), each within its own group


def make_classes(layout: Layout, plan: Plan) -> Classes:
    """Find the classes of a board, or of what extends a root.

    >>> from retro.games.connect4.rules import Connect4Board
    >>> from retro.index.halves.layout import make_layout
    >>> from retro.walk.halves.plans import make_plan
    >>> layout = make_layout(Connect4Board(6, 4))
    >>> classes = make_classes(layout, make_plan(layout))
    >>> len(layout.right.colourings), int(classes.number.sum())
    (841, 158)
    """
    labels = _right_labels(layout.right)
    left, at, rows = _left_classes(layout, plan, labels)
    right, number, kept = _right_classes(layout, labels, at, rows)
    table = _small_table(layout, number, kept, at, rows)
    profile, _, _ = group_of(layout.right)
    occupied, colourings = layout.right.occupied[profile], layout.right.colourings
    lines = line_bits(occupied, colourings, plan.cross_right)
    return Classes(left, right, *table, lines, _least(layout.right, plan.cross_right))


def group_of(half: Half) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For every colouring its profile, its stones, and those of the first player."""
    counts = half.counts()
    cells = np.repeat(np.arange(counts.size), counts.ravel())
    profile, q = np.divmod(cells, counts.shape[1])
    return profile, half.stones[profile], q


def line_bits(
    occupied: NDArray[np.uint64], colourings: NDArray[np.uint64], cells: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """[player, colouring, word], a bit for every part of a line: whose it is, if it is one's."""
    found = np.zeros((2, len(colourings), max(1, -(-len(cells) // 64))), np.uint64)
    for line, some in enumerate(cells):
        for player, mine in enumerate((colourings, occupied & ~colourings)):
            is_his = ((mine & some) == some).astype(np.uint64)
            found[player, :, line // 64] |= is_his << np.uint64(line % 64)
    return found


def _least(half: Half, cells: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many stones a half has at least if all of these cells are taken, [line]."""
    is_under = ((half.occupied & cells[:, None]) == cells[:, None]) if len(cells) else None
    stones = np.where(is_under, half.stones, 64) if is_under is not None else None
    return np.zeros(0, np.int64) if stones is None else stones.min(axis=1)


def _right_labels(half: Half) -> Labels:
    """Number the sorted columns of every right colouring, and their parts without a top stone."""
    width, height = half.geometry.width, half.geometry.height
    profile, stones, q = group_of(half)
    columns = np.zeros((len(profile), width), np.uint64)  # a one above the stones that were played
    for c in range(width):
        up = (half.heights[profile, c] - half.base[c]).astype(np.uint64)
        played = half.colourings >> np.uint64(c * (height + 1) + half.base[c])
        columns[:, c] = (U1 << up) | (played & ((U1 << up) - U1))
    shift = np.arange(width, dtype=np.uint64) * np.uint64(height + 1)
    columns.sort(axis=1)
    words = (columns << shift).sum(axis=1, dtype=np.uint64)
    shape = int(half.stones.max()) + 1, half.start.shape[1]
    number, start = np.zeros(shape, np.int64), np.zeros((*shape, 3), np.int64)
    of, pairs, used = np.zeros(len(words), np.int64), [np.zeros((0, 2), np.int64)], 0
    before: dict[Group, NDArray[np.uint64]] = {}
    order = np.lexsort((words, q, stones))
    group = stones[order] * shape[1] + q[order]
    for some in np.split(order, np.flatnonzero(np.diff(group)) + 1):
        n, qs = int(stones[some[0]]), int(q[some[0]])
        here, first, of[some] = np.unique(words[some], return_index=True, return_inverse=True)
        before[n, qs], number[n, qs] = here, len(here)
        parts = columns[some[first]]
        for colour in range(2):
            start[n, qs, colour] = used
            there = before.get((n - 1, qs - 1 + colour), np.zeros(0, np.uint64))
            for c in range(width if len(there) else 0):
                found = _without_top(parts, c, colour, shift)
                labels = np.flatnonzero(found)
                pairs.append(np.stack((np.searchsorted(there, found[labels]), labels), axis=1))
                used += len(labels)
        start[n, qs, 2] = used
    return Labels(of, number, start, np.concatenate(pairs))


def _without_top(
    columns: NDArray[np.uint64], c: int, colour: int, shift: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """The words of labels whose c-th column loses its top stone, of this colour; 0: it has none."""
    column = columns[:, c]
    top = np.frexp(column.astype(np.float64))[1].astype(np.int64) - 1  # stones in the column
    below = np.maximum(top - 1, 0).astype(np.uint64)
    is_first = (column >> below) & U1
    less = columns.copy()
    less[:, c] = (column & ((U1 << below) - U1)) | (U1 << below)
    less.sort(axis=1)
    words = (less << shift).sum(axis=1, dtype=np.uint64)
    words[(top == 0) | (is_first == colour)] = 0  # the first player's stones are ones
    return words


def _levels(half: Half) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """The groups of a half that are not empty, with their profiles, the least stones first."""
    counts = half.counts()
    for n in np.unique(half.stones).tolist():
        profiles = np.flatnonzero(half.stones == n)
        for q in np.flatnonzero(counts[profiles].any(axis=0)).tolist():
            yield n, q, profiles


def _left_classes(
    layout: Layout, plan: Plan, labels: Labels
) -> tuple[NDArray[np.uint8], NDArray[np.int64], dict[Group, NDArray[np.uint64]]]:
    """The class of every left colouring, and rows of the table: bits of right labels.

    A row has a stretch of words for every number n of right stones, which begins at
    `at[stones, q, n]`: those of the one right group that goes with the left one.
    """
    half, counts = layout.left, layout.left.counts()
    at = _stretches(half, labels.number)
    found: NDArray[np.uint8] = np.zeros(int(half.start[-1, -1]), np.uint8)
    longest, width = int(counts.max()), half.geometry.width
    without, line = np.zeros((2, longest + 1), np.uint16), np.zeros(longest, np.uint16)
    rows: dict[Group, NDArray[np.uint64]] = {}
    for n, q, profiles in _levels(half):
        names = np.zeros(int(counts[profiles, q].sum()), np.uint32)
        scratch = (without, line, np.zeros((longest, -(-width // ENTRIES) or 1), np.uint64))
        lists = _lists(layout, plan, (profiles, q), found, scratch, names)
        keys, key_of = _numbered(_as_sets(lists))
        here = np.zeros((1 + len(keys), int(at[n, q, -1])), np.uint64)
        none = np.zeros((1, int(at.max())), np.uint64)
        places = np.stack((at[n - 1, q - 1], at[n - 1, q], at[n, q])) if n else at[[0, 0, 0], 0]
        before = rows.get((n - 1, q - 1), none), rows.get((n - 1, q), none)
        _fill_rows(layout.first_ply, n, q, keys, before, places, labels, here)
        rows[n, q], class_of = _numbered(here)
        place = class_of[1:][key_of]
        if len(rows[n, q]) > 256:
            found = found.astype(np.uint16)
        begin = 0
        for p in profiles:
            end = begin + int(counts[p, q])
            found[half.start[p, q] : half.start[p, q + 1]] = place[names[begin:end]]
            begin = end
    return found, at, rows


def _stretches(left: Half, number: NDArray[np.int64]) -> NDArray[np.int64]:
    """[left stones, q, right stones] where a stretch begins; one more at the end."""
    words = (number + 63) // 64
    a, q_left, n = np.ogrid[: int(left.stones.max()) + 1, : left.start.shape[1], : len(number)]
    q = (a + n + 1) // 2 - q_left
    is_any = (q >= 0) & (q < number.shape[1])
    of = np.where(is_any, words[n, np.where(is_any, q, 0)], 0)
    at: NDArray[np.int64] = np.zeros((*of.shape[:2], len(number) + 1), np.int64)
    np.cumsum(of, axis=2, out=at[:, :, 1:])
    return at


def _lists(
    layout: Layout,
    plan: Plan,
    group: tuple[NDArray[np.int64], int],
    classes: NDArray[np.uint8],
    scratch: tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint64]],
    names: NDArray[np.uint32],
) -> NDArray[np.uint64]:
    """The lists of a left group, each once; fills `names` with the one of every colouring."""
    room = 2 * len(scratch[2])
    while True:
        size = 1 << (2 * room).bit_length()
        table, lists = np.zeros(size, np.int32), np.empty((room, scratch[2].shape[1]), np.uint64)
        used = _name_lists(layout.shape, plan, group, classes, scratch, (table, lists), names)
        if used >= 0:
            return lists[:used].copy()
        room *= 2


@inner
def fill_below(shape, plan, classes, where, column, without, line):
    """For every left colouring of a profile what it is without the top stone of a column.

    Fills `line` in place: 2 * class + colour of that stone, 0 the first player's; 0 if no half
    goes with it. `where` is (profile, q); `without` are two rows to work with. Colourings with
    a stone of one colour on top are, in order, those before that `stay`.
    """
    p, q = where
    start, at = shape.left_start, plan.at
    number, under = start[p, q + 1] - start[p, q], -1
    for c in range(column + 1):
        under += shape.left_heights[p, c]
    before = p - shape.left_radix[column]
    for colour in range(2):
        q_before, n = q - 1 + colour, 0
        if q_before >= 0:
            stay_at = at[before, q_before, STAY + colour * shape.left_columns + column]
            begin = start[before, q_before]
            stays = U0
            for i in range(start[before, q_before + 1] - begin):
                if i & 63 == 0:
                    stays = plan.stay[stay_at + (i >> 6)]
                without[colour, n] = classes[begin + i]
                n += np.int64(stays & U1)
                stays >>= U1
    top = at[p, q, COLOUR] + under * at[p, q, WORDS]
    first, colours = 0, U0
    for i in range(number):
        if i & 63 == 0:
            colours = plan.colour[top + (i >> 6)]
        mine = np.int64(colours & U1)
        colours >>= U1
        his, other = np.int64(without[0, first]), np.int64(without[1, i - first])
        k = other ^ ((his ^ other) & -mine)  # no branch to mispredict
        line[i] = (2 * k + 1 - mine) & -np.int64(k > 0)
        first += mine


@inner
def fill_below_his(shape, plan, classes, where, lane, without, line):
    """Fill `line` in place with the classes alone, where the top stone is one player's; else 0.

    `lane` is (column, player); `without` is a row to work with.
    """
    p, q = where
    column, player = lane
    start, at = shape.left_start, plan.at
    before, q_before, under, n = p - shape.left_radix[column], q - 1 + player, -1, 0
    for c in range(column + 1):
        under += shape.left_heights[p, c]
    stay_at = at[before, q_before, STAY + player * shape.left_columns + column]
    begin = start[before, q_before]
    stays = U0
    for i in range(start[before, q_before + 1] - begin):
        if i & 63 == 0:
            stays = plan.stay[stay_at + (i >> 6)]
        without[n] = classes[begin + i]
        n += np.int64(stays & U1)
        stays >>= U1
    without[n] = 0
    top, his = at[p, q, COLOUR] + under * at[p, q, WORDS], U0
    flip, n = U0 if player == 0 else ALL, 0
    for i in range(start[p, q + 1] - start[p, q]):
        if i & 63 == 0:
            his = plan.colour[top + (i >> 6)] ^ flip
        one = np.int64(his & U1)
        his >>= U1
        line[i] = np.int64(without[n]) & -one
        n += one


@entry
def _name_lists(shape, plan, group, classes, scratch, known, names):
    """Number the different lists of a group in the order in which they are met; in place.

    Returns how many there are, or -1 if there is no room for more.
    """
    profiles, q = group
    without, line, entries = scratch
    table, lists = known
    words, mask = entries.shape[1], np.uint64(len(table) - 1)
    used, named = 0, 0
    for p in profiles:
        number = shape.left_start[p, q + 1] - shape.left_start[p, q]
        if used + number > len(lists):
            return -1
        entries[:number] = U0
        for c in range(shape.left_columns if number > 0 else 0):
            if shape.left_heights[p, c] > shape.left_base[c]:
                fill_below(shape, plan, classes, (p, q), c, without, line)
                word, shift = c // ENTRIES, ENTRY * np.uint64(c % ENTRIES)
                for i in range(number):
                    entries[i, word] |= np.uint64(line[i]) << shift
        for i in range(number):
            mixed = U0
            for k in range(words):
                mixed = (mixed ^ entries[i, k]) * np.uint64(0x9E3779B97F4A7C15)
                mixed ^= mixed >> np.uint64(29)
            place = (mixed * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(32) & mask
            while True:
                known_as = table[place] - 1
                if known_as < 0:
                    for k in range(words):
                        lists[used, k] = entries[i, k]
                    used += 1
                    table[place] = used
                    known_as = used - 1
                    break
                is_same = True
                for k in range(words):
                    is_same &= lists[known_as, k] == entries[i, k]
                if is_same:
                    break
                place = (place + U1) & mask
            names[named + i] = known_as
        named += number
    return used


@entry
def _fill_rows(first_ply, stones, q_left, keys, before, places, labels, rows):
    """Fill the rows of some left lists behind row 0, in place.

    `before` are the rows of the left groups with a stone less, of the first player or of the
    second; `places` are where the stretches of both and of these rows begin.
    """
    top = places.shape[1] - 1
    for k in range(len(keys)):
        row = rows[1 + k]
        for n in range(top):
            q = (stones + n + 1) // 2 - q_left
            here = places[2, n]
            words = places[2, n + 1] - here
            if words == 0:
                continue
            if stones + n == first_ply:
                row[here] = U1
                continue
            mover = (stones + n - 1) & 1
            for entry_ in keys[k]:
                if entry_ > 1 and (entry_ & 1) == mover:
                    there = places[mover, n]
                    for w in range(words):
                        row[here + w] |= before[mover][entry_ >> 1, there + w]
            if n > 0:
                there = places[2, n - 1]
                for i in range(labels.start[n, q, mover], labels.start[n, q, mover + 1]):
                    at, to = labels.pairs[i, 0], labels.pairs[i, 1]
                    bit = (row[there + (at >> 6)] >> np.uint64(at & 63)) & U1
                    row[here + (to >> 6)] |= bit << np.uint64(to & 63)


def _right_classes(
    layout: Layout, labels: Labels, at: NDArray[np.int64], rows: dict[Group, NDArray[np.uint64]]
) -> tuple[NDArray[np.uint16], NDArray[np.int64], dict[Group, NDArray[np.int64]]]:
    """The class of every right colouring, how many there are, and a label of each class."""
    _, stones, q = group_of(layout.right)
    found, number = np.zeros(len(stones), np.uint16), np.zeros_like(labels.number)
    kept: dict[Group, NDArray[np.int64]] = {}
    for n, qs in np.argwhere(labels.number).tolist():
        those = [
            of[1:, at[a, ql, n] : at[a, ql, n + 1]]
            for (a, ql), of in rows.items()
            if ql + qs == (a + n + 1) // 2
        ]
        bits = _bits(
            np.concatenate([np.zeros((1, -(-labels.number[n, qs] // 64)), np.uint64), *those])
        )
        columns = np.packbits(bits[:, : labels.number[n, qs]].T, axis=1)
        _, class_of = _numbered(np.concatenate((np.zeros_like(columns[:1]), columns)))
        first = np.unique(class_of, return_index=True)[1]
        number[n, qs], kept[n, qs] = len(first) - 1, first[1:] - 1
        here = (stones == n) & (q == qs)
        found[here] = class_of[1:][labels.of[here]]
    return found, number, kept


def _as_sets(lists: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Lists in order, each entry once."""
    entries = np.sort(lists.view(np.uint16), axis=1)
    entries[:, 1:][entries[:, 1:] == entries[:, :-1]] = 0
    entries.sort(axis=1)
    return entries


def _numbered(rows: NDArray[Row]) -> tuple[NDArray[Row], NDArray[np.uint16]]:
    """The different rows in the order in which they are met, and which one each row is."""
    known: dict[bytes, int] = {}
    of = [known.setdefault(row.tobytes(), len(known)) for row in rows]
    if len(known) > MOST_CLASSES:
        raise OverflowError("there are more classes of half a board than counting can name")
    _, first = np.unique(of, return_index=True)
    return rows[first], np.array(of, np.uint16)


def _bits(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The bits of words in the last axis, the lowest first."""
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1, bitorder="little")


def _small_table(
    layout: Layout,
    number: NDArray[np.int64],
    kept: dict[Group, NDArray[np.int64]],
    at: NDArray[np.int64],
    rows: dict[Group, NDArray[np.uint64]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
    """Where left groups begin, the numbers of right classes, and the table of both."""
    begin = np.zeros((int(layout.left.stones.max()) + 1, layout.left.start.shape[1]), np.int64)
    words = max(1, -(-int(number.max()) // 64))
    total = sum(map(len, rows.values()))
    table, used = np.zeros((len(number), words, total), np.uint64), 0
    for (a, ql), of in rows.items():
        begin[a, ql] = used
        for n in range(len(number)):
            q = (a + n + 1) // 2 - ql
            if 0 <= q < number.shape[1] and number[n, q]:
                bits = _bits(of[:, at[a, ql, n] : at[a, ql, n + 1]])
                chosen = np.zeros((len(of), 64 * words), np.uint8)
                chosen[:, : number[n, q]] = bits[:, kept[n, q]]
                packed = np.packbits(chosen, axis=1, bitorder="little").view(np.uint64)
                table[n, :, used : used + len(of)] = packed.T
        used += len(of)
    return begin, number, table
