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

from retro.bits import popcount, prefetch
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
from retro.walk.keys.hashing import NEAR, SENT, WAITING, doubled, put_all, seat_of, slot_of
from retro.walk.keys.scores import DECIDED, NOTHING

if TYPE_CHECKING:
    from numpy.typing import NDArray

SOUND = -1
TOO_MANY = -1
ABSENT = -1  # where a group begins that is not at hand
U0, U1 = np.uint64(0), np.uint64(1)
LAST = WAITING - 1


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
    mask, most_waiting = np.uint64(len(slots) - 1), WAITING if len(slots) > NEAR else 1
    wait_a, wait_b = np.empty(WAITING, np.uint64), np.empty(WAITING, np.uint64)
    wait_at, came, gone = np.zeros(WAITING, np.uint64), 0, 0  # [came & LAST]: the next to come
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
                room = count + came - gone + limit
                if room > len(out_a) or 2 * room > len(slots):
                    # Room is counted in keys, not in what waits to be one.
                    waiting = (wait_a, wait_b, wait_at, gone, came)
                    count, gone = put_all(slots, out, waiting, count), came
                    if count + limit > len(out_a):
                        return slots, TOO_MANY
                    if 2 * (count + limit) > len(slots):
                        slots = doubled(slots, out_a, out_b, count)
                        mask = np.uint64(len(slots) - 1)
                        most_waiting = WAITING if len(slots) > NEAR else 1
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
                    slot = slot_of(next_a, next_b, mask)
                    q = came & LAST
                    wait_a[q], wait_b[q], wait_at[q] = next_a, next_b, slot
                    came += 1
                    if most_waiting > 1:
                        prefetch(slots, slot)
                        seen = slots[wait_at[(came - SENT) & LAST]]
                        if seen >= 0:
                            prefetch(out_a, np.uint64(seen))
                            if two:
                                prefetch(out_b, np.uint64(seen))
                        if came - gone < most_waiting:
                            continue
                    q = gone & LAST
                    gone += 1
                    # As `put_all`, written out: a call with arrays takes half as long again.
                    next_a, next_b, slot = wait_a[q], wait_b[q], wait_at[q]
                    seen = slots[slot]
                    while seen >= 0 and (out_a[seen] != next_a or (two and out_b[seen] != next_b)):
                        slot = (slot + U1) & mask
                        seen = slots[slot]
                    if seen < 0:
                        slots[slot] = count
                        out_a[count] = next_a
                        if two:
                            out_b[count] = next_b
                        count += 1
    count = put_all(slots, out, (wait_a, wait_b, wait_at, gone, came), count)
    return slots, count


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
    # Successors that are looked up together: all, unless the view is in the cache anyway.
    at_once = limit if len(view.slots) > NEAR else 1
    next_a, next_b = np.empty(at_once, np.uint64), np.empty(at_once, np.uint64)
    lows, sizes, at = (
        np.empty(at_once, np.int64),
        np.empty(at_once, np.int64),
        np.empty(at_once, np.int64),
    )
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
            more = True
            while more and found != most:
                made = 0
                while made < at_once:
                    if many == 0:
                        m += 1
                        if m == limit:
                            more = False
                            break
                        legal, x, y = play(rules, a, b, m)
                        if not legal:
                            continue
                        x, y = canonical(rules, x, y)
                    else:
                        if todo == U0:
                            more = False
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
                    size = ends[group] - low
                    slot = 2 * low + seat_of(x, y, size)
                    next_a[made], next_b[made] = x, y
                    lows[made], sizes[made], at[made] = low, size, slot
                    if at_once > 1 and size > 0:
                        prefetch(slots, np.uint64(slot))
                    made += 1
                if at_once > 1:  # slots are coming: send for the keys that they name
                    for k in range(made):
                        seen = slots[at[k]] if sizes[k] > 0 else -1
                        if seen >= 0:
                            prefetch(after_a, np.uint64(lows[k] + seen))
                            prefetch(after_values, np.uint64(lows[k] + seen))
                for k in range(made):
                    x, y, low, size, slot = next_a[k], next_b[k], lows[k], sizes[k], at[k]
                    seen = slots[slot] if size > 0 else -1
                    while seen >= 0 and (
                        after_a[low + seen] != x or (two and after_b[low + seen] != y)
                    ):
                        slot = slot + 1 if slot + 1 < 2 * (low + size) else 2 * low
                        seen = slots[slot]
                    if seen >= 0:
                        value = -np.int64(after_values[low + seen])
                    else:
                        value = -outcome(rules, x, y)
                        if value == -UNDECIDED:
                            return i
                        value *= won
                    found = max(found, value - step * ((value > 0) - (value < 0)))
                    if found == most:
                        break
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
