"""Kernels that walk groups of keys (`retro.index.keys.groups`), forward and back.

Everything about a group is small and near: the groups that it reads, one after another, lie in the
caches of a core, and so does the table of what was found. For a family, walking forward:

    for every family that leads here       keys in a row, in memory order
        images of the key, once            four or eight words
        for every move that leads here     flip the move's bits in every image, take the least:
                                           the canonical successor, without making it
            look in a small hash table     most successors have been met: five of six
    sort what is new, set finished games aside

Walking back a successor is looked for among the keys of its group, which is known from the
move, by a hash table of two slots for each key. What is not there has ended, and only then
the rules are asked who has won. The best value so far is kept in an array, so that
groups which do not fit side by side can be read in turns. With distances values are scores
(`scores`), and a win ends the search for a better move only if it is one at once.

Games whose symmetries do more than move bits about (`symmetries` is 0) make every
successor and its canonical form in full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import popcount
from retro.games.kernels import (
    UNDECIDED,
    canonical,
    change,
    images,
    move_limit,
    open_moves,
    orbit,
    outcome,
    play,
    symmetries,
)
from retro.index.keys.groups import share_of
from retro.jit import entry, inner
from retro.walk.keys.scores import DECIDED, NOTHING

if TYPE_CHECKING:
    from numpy.typing import NDArray

SOUND = -1
TOO_MANY = -1
ABSENT = -1  # where a group begins that is not at hand
HASH = np.uint64(0x9E3779B97F4A7C15)
U0, U1, BYTE = np.uint64(0), np.uint64(1), np.uint64(255)
FOLD = np.uint64(32)
FEW = 40  # keys that are sorted by insertion


class Moves(NamedTuple):
    """What the moves of one ply do."""

    a: NDArray[np.uint64]  # [move, symmetry] the bits that a move flips in an image
    b: NDArray[np.uint64]
    step: NDArray[np.int64]  # [move] what it adds to the number of the family
    steps: NDArray[np.int64]  # the different ones
    sets: NDArray[np.uint64]  # the moves of each step, as bits; of games that know symmetries
    order: NDArray[np.int64]  # all moves, those of the same step together
    cuts: NDArray[np.int64]  # where in `order` the moves of each step begin, and the end


class View(NamedTuple):
    """Some groups of a layer, one after another."""

    a: NDArray[np.uint64]
    b: NDArray[np.uint64]
    values: NDArray[np.int8]  # none while walking forward
    begins: NDArray[np.int64]  # [group]
    ends: NDArray[np.int64]
    slots: NDArray[np.int32]  # two for each key, in which it is found by its hash


@entry
def fill_changes(rules, a, b, found_a, found_b):
    """Fill in what every move flips in every image; [move, symmetry]."""
    for move in range(found_a.shape[0]):
        bits_a, bits_b = change(rules, a, b, move)
        images(rules, bits_a, bits_b, found_a[move], found_b[move])


@entry
def count_symmetries(rules):
    return symmetries(rules)


@inner
def _insert(rules, grouping, moves, view, where, slots, out, count):
    """Put the successors of a view in one family into the table; (table, how many).

    `where` is (family, first group, group after the last). The table holds places in `out`, of
    which `count` are taken. Returns TOO_MANY if there is no room for them.
    """
    family, first, last = where
    out_a, out_b = out
    shares = grouping.shares
    is_part = first > family * shares or last < (family + 1) * shares
    many, limit = symmetries(rules), move_limit(rules)
    legal, next_a, next_b = True, U0, U0
    images_a, images_b = np.empty(max(many, 1), np.uint64), np.empty(max(many, 1), np.uint64)
    two = len(view.b) > 0  # `out` may have no room left
    mask = np.uint64(len(slots) - 1)
    keys_a, keys_b, begins, ends = view.a, view.b, view.begins, view.ends
    order, of_a, of_b = moves.order, moves.a, moves.b
    for k in range(len(moves.steps)):
        source = family - moves.steps[k]
        if source < 0 or source * shares >= len(begins):
            continue
        for group in range(source * shares, (source + 1) * shares):
            for i in range(begins[group], ends[group]):
                a, b = keys_a[i], keys_b[i] if two else U0
                todo, p = U0, moves.cuts[k]
                if many > 0:
                    todo = open_moves(rules, a, b) & moves.sets[k]
                    if todo == U0:
                        continue
                    images(rules, a, b, images_a, images_b)
                if count + limit > len(out_a):
                    return slots, TOO_MANY
                if 2 * (count + limit) > len(slots):
                    slots = _doubled(slots, out_a, out_b, count)
                    mask = np.uint64(len(slots) - 1)
                while True:
                    if many == 0:
                        if p == moves.cuts[k + 1]:
                            break
                        legal, next_a, next_b = play(rules, a, b, order[p])
                        p += 1
                        if not legal:
                            continue
                        next_a, next_b = canonical(rules, next_a, next_b)
                    else:
                        if todo == U0:
                            break
                        m = popcount(~todo & (todo - U1))
                        todo &= todo - U1
                        next_a, next_b = images_a[0] ^ of_a[m, 0], images_b[0] ^ of_b[m, 0]
                        if two:
                            for s in range(1, many):
                                x, y = images_a[s] ^ of_a[m, s], images_b[s] ^ of_b[m, s]
                                if x < next_a or (x == next_a and y < next_b):
                                    next_a, next_b = x, y
                        else:
                            for s in range(1, many):
                                next_a = min(next_a, images_a[s] ^ of_a[m, s])
                    if is_part:
                        own = family * shares + share_of(shares, next_a, next_b)
                        if own < first or own >= last:
                            continue
                    slot = _slot(next_a, next_b, mask)
                    seen = slots[slot]
                    while seen >= 0 and (out_a[seen] != next_a or (two and out_b[seen] != next_b)):
                        slot = (slot + np.uint64(1)) & mask
                        seen = slots[slot]
                    if seen < 0:
                        slots[slot] = count
                        out_a[count] = next_a
                        if two:
                            out_b[count] = next_b
                        count += 1
    return slots, count


@inner
def _slot(a, b, mask):
    mixed = (a ^ (b * HASH)) * HASH
    return (mixed ^ (mixed >> FOLD)) & mask


@inner
def _doubled(slots, out_a, out_b, count):
    """A table with twice the slots."""
    more = np.full(2 * len(slots), -1, np.int32)
    mask = np.uint64(len(more) - 1)
    for place in range(count):
        b = out_b[place] if len(out_b) > 0 else U0
        slot = _slot(out_a[place], b, mask)
        while more[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        more[slot] = place
    return more


@entry
def expand(rules, grouping, moves, view, span, out, sizes, counts):
    """Write the live successors of a view that lie in groups `span` to `out`; how many there are.

    They are in the order of families, in each in no order (`arrange`); `sizes` gets how many there
    are of every family from the first on, `counts` the finished games: [0] symmetry classes,
    [1] all states, by value. TOO_MANY if `out` has no room.
    """
    first, last = span
    shares = grouping.shares
    total = np.int64(0)
    for number in range(len(sizes)):
        family = first // shares + number
        sources = 0
        for step in moves.steps:
            source = family - step
            if source >= 0 and source * shares < len(view.begins):
                for group in range(source * shares, (source + 1) * shares):
                    sources += view.ends[group] - view.begins[group]
        if sources > 0:
            size = 64
            while size < sources:
                size *= 2
            slots = np.full(size, -1, np.int32)
            where = (family, first, last)
            count = np.int64(0)  # not a literal, which would be a type of its own
            free = (out[0][total:], out[1][total:])
            _, count = _insert(rules, grouping, moves, view, where, slots, free, count)
            if count < 0:
                return TOO_MANY
            sizes[number] = _set_aside(rules, out, total, count, counts)
            total += sizes[number]
    return total


@entry
def arrange(shares, keys_a, keys_b, families, sizes):
    """Sort keys in the order of families by share and key, in place.

    `families` are their numbers; `sizes` gets the number of keys of every share, [family, share].
    """
    spare_a, spare_b = np.empty(FEW, np.uint64), np.empty(FEW if len(keys_b) > 0 else 0, np.uint64)
    begin = np.int64(0)
    for number in range(len(families)):
        count = families[number]
        if count > len(spare_a):
            spare_a = np.empty(2 * count, np.uint64)
            spare_b = np.empty(2 * count if len(keys_b) > 0 else 0, np.uint64)
        _sort(keys_a, keys_b, begin, count, spare_a, spare_b)
        if shares == 1:
            sizes[number, 0] = count
        elif count > 0:
            _by_share(shares, (keys_a, keys_b, begin, count), spare_a, spare_b, sizes[number])
        begin += count


@entry
def insert(rules, grouping, moves, view, span, table, out, count):
    """Add the successors of a view in groups `span` to a table of all; (table, how many)."""
    first, last = span
    slots = table
    for family in range(first // grouping.shares, (last - 1) // grouping.shares + 1):
        where = (family, first, last)
        slots, count = _insert(rules, grouping, moves, view, where, slots, out, count)
        if count < 0:
            break
    return slots, count


@entry
def set_aside(rules, out, count, counts):
    """Move the live ones of the first states of `out` to the front; how many? Counts the others."""
    return _set_aside(rules, out, np.int64(0), count, counts)


@inner
def _set_aside(rules, out, begin, count, counts):
    out_a, out_b = out
    kept = begin
    for i in range(begin, begin + count):
        a, b = out_a[i], out_b[i] if len(out_b) > 0 else U0
        value = outcome(rules, a, b)
        if value == UNDECIDED:
            out_a[kept] = a
            if len(out_b) > 0:
                out_b[kept] = b
            kept += 1
        else:
            counts[0, value + 1] += 1
            counts[1, value + 1] += orbit(rules, a, b)
    return kept - begin


@inner
def _sort(a, b, begin, count, spare_a, spare_b):
    """Sort some keys, in place."""
    two = len(b) > 0
    if count <= FEW:
        for i in range(begin + 1, begin + count):
            x, y = a[i], b[i] if two else U0
            j = i
            while j > begin and (a[j - 1] > x or (two and a[j - 1] == x and b[j - 1] > y)):
                a[j] = a[j - 1]
                if two:
                    b[j] = b[j - 1]
                j -= 1
            a[j] = x
            if two:
                b[j] = y
        return
    differ_a, differ_b = U0, U0
    for i in range(begin, begin + count):
        differ_a |= a[i] ^ a[begin]
        if two:
            differ_b |= b[i] ^ b[begin]
    ends = np.empty(257, np.int64)
    is_spare, zero = False, np.int64(0)
    for digit in range(0 if two else 8, 16):
        shift = np.uint64(8 * (digit % 8))
        differ = differ_b if digit < 8 else differ_a
        if (differ >> shift) & BYTE == U0:
            continue
        if is_spare:
            _scatter(digit < 8, shift, (spare_a, spare_b, zero), (a, b, begin), count, ends)
        else:
            _scatter(digit < 8, shift, (a, b, begin), (spare_a, spare_b, zero), count, ends)
        is_spare = not is_spare
    if is_spare:  # item by item: numba takes seconds to compile an assignment of slices
        for i in range(count):
            a[begin + i] = spare_a[i]
            if two:
                b[begin + i] = spare_b[i]


@inner
def _scatter(by_b, shift, source, target, count, ends):
    """One pass of a radix sort, by one byte."""
    a, b, begin = source
    to_a, to_b, to = target
    by = b if by_b else a
    for digit in range(257):
        ends[digit] = 0
    for i in range(begin, begin + count):
        ends[((by[i] >> shift) & BYTE) + np.uint64(1)] += 1
    ends[0] = to
    for digit in range(256):
        ends[digit + 1] += ends[digit]
    for i in range(begin, begin + count):
        digit = (by[i] >> shift) & BYTE
        to_a[ends[digit]] = a[i]
        if len(b) > 0:
            to_b[ends[digit]] = b[i]
        ends[digit] += 1


@inner
def _by_share(shares, keys, spare_a, spare_b, sizes):
    """Put sorted keys of a family into the order of their shares, in place; fills `sizes`."""
    a, b, begin, count = keys
    two = len(b) > 0
    ends = np.zeros(shares + 1, np.int64)
    for i in range(count):
        spare_a[i] = a[begin + i]
        if two:
            spare_b[i] = b[begin + i]
        ends[share_of(shares, spare_a[i], spare_b[i] if two else U0) + 1] += 1
    for share in range(shares):
        sizes[share] = ends[share + 1]
        ends[share + 1] += ends[share]
    for i in range(count):
        share = share_of(shares, spare_a[i], spare_b[i] if two else U0)
        a[begin + ends[share]] = spare_a[i]
        if two:
            b[begin + ends[share]] = spare_b[i]
        ends[share] += 1


@inner
def _seat(a, b, count):
    """Which of the slots of a group with so many keys comes first for a key."""
    mixed = (a ^ (b * HASH)) * HASH
    return np.int64(((mixed >> FOLD) * np.uint64(2 * count)) >> FOLD)


@entry
def seat(keys_a, keys_b, begins, ends, slots):
    """Fill the slots of all groups, in place; they hold places within the group, or -1."""
    for slot in range(len(slots)):
        slots[slot] = -1
    for group in range(len(begins)):
        begin, count = begins[group], ends[group] - begins[group]
        for i in range(count):
            b = keys_b[begin + i] if len(keys_b) > 0 else U0
            slot = _seat(keys_a[begin + i], b, count)
            while slots[2 * begin + slot] >= 0:
                slot = slot + 1 if slot + 1 < 2 * count else 0
            slots[2 * begin + slot] = i


@inner
def _find(keys_a, keys_b, slots, begin, count, a, b):
    """The place of a key in a group that begins there, or -1. A third of a binary search's time."""
    if count == 0:
        return -1
    slot = _seat(a, b, count)
    seen = slots[2 * begin + slot]
    while seen >= 0:
        place = begin + seen
        if keys_a[place] == a and (len(keys_b) == 0 or keys_b[place] == b):
            return place
        slot = slot + 1 if slot + 1 < 2 * count else 0
        seen = slots[2 * begin + slot]
    return -1


@entry
def evaluate(rules, grouping, moves, own, view, best, counts, distances):
    """Raise the best values of some keys by their successors in a view, in place.

    `own` is (a, b, group of the first key, ends of the groups); `counts` is empty unless this is
    the last view: then it gets [0] the keys and [1] the states of their symmetry classes by
    value, and by plies to the end if there are `distances`: then values are scores. Returns the
    place of a key that contradicts the rules, or SOUND.
    """
    keys_a, keys_b, first, own_ends = own
    shares = grouping.shares
    many, limit = symmetries(rules), move_limit(rules)
    # Of a game that is won, of a move that wins it, and what a ply more takes away from a win.
    won, step = (DECIDED, 1) if distances else (1, 0)
    most = won - step
    legal, x, y = True, U0, U0
    images_a, images_b = np.empty(max(many, 1), np.uint64), np.empty(max(many, 1), np.uint64)
    two = len(keys_b) > 0
    after_a, after_b, after_values = view.a, view.b, view.values
    begins, ends, slots = view.begins, view.ends, view.slots
    of_a, of_b, steps = moves.a, moves.b, moves.step
    end = 0
    for number in range(len(own_ends)):
        family = (first + number) // shares
        begin, end = end, own_ends[number]
        for i in range(begin, end):
            found = np.int64(best[i])
            if found == most and len(counts) == 0:
                continue
            a, b = keys_a[i], keys_b[i] if two else U0
            todo, m = U0, -1
            if many > 0:
                todo = open_moves(rules, a, b)
                images(rules, a, b, images_a, images_b)
            while found != most:
                if many == 0:
                    m += 1
                    if m == limit:
                        break
                    legal, x, y = play(rules, a, b, m)
                    if not legal:
                        continue
                    x, y = canonical(rules, x, y)
                else:
                    if todo == U0:
                        break
                    m = popcount(~todo & (todo - U1))
                    todo &= todo - U1
                    x, y = images_a[0] ^ of_a[m, 0], images_b[0] ^ of_b[m, 0]
                    if two:
                        for s in range(1, many):
                            q, r = images_a[s] ^ of_a[m, s], images_b[s] ^ of_b[m, s]
                            if q < x or (q == x and r < y):
                                x, y = q, r
                    else:
                        for s in range(1, many):
                            x = min(x, images_a[s] ^ of_a[m, s])
                group = (family + steps[m]) * shares + share_of(shares, x, y)
                low = begins[group]
                if low == ABSENT:
                    continue
                place = _find(after_a, after_b, slots, low, ends[group] - low, x, y)
                if place >= 0:
                    value = -np.int64(after_values[place])
                else:
                    value = -outcome(rules, x, y)
                    if value == -UNDECIDED:
                        return i
                    value *= won
                found = max(found, value - step * ((value > 0) - (value < 0)))
            best[i] = found
            if len(counts) > 0:
                if found == NOTHING:
                    return i
                kind = 1 + (found > 0) - (found < 0)
                plies = DECIDED - abs(found) if distances and found != 0 else 0
                counts[0, kind, plies] += 1
                if many == 0:
                    counts[1, kind, plies] += orbit(rules, a, b)
                else:
                    kept = 0
                    for s in range(many):
                        kept += np.int64(images_a[s] == a and images_b[s] == b)
                    counts[1, kind, plies] += many // kept
    return SOUND
