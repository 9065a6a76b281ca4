"""Counting what play can reach, ply by ply, without walking there: the closed form.

A live position can arise exactly if it can be taken apart in turns (`classes`). So a row of a
layer, the right colouring of one class over all left colourings of a profile, is known at once:

    live row     alt[class of the row] & ~(left parts of lines that the row completes)

A position has *just ended* if the mover's stone on top of some column c lies on all its lines,
of which there is at least one, and what is left without that stone is line-free and alt. Lines in
both halves at once cannot be, for no stone lies on both. So, with M the complete lines across
the cut of the mover, O those of the other, D(c) the positions that are alt without the top of c:

    across   both halves are line-free   OR_c  D(c) & some of M through c & ~(M not through c) & ~O
    right    the right half has ended    OR_c  D(c) & ~(M not through c) & ~O,  c ended that half
    left     the left half has ended     the same, over just ended left colourings (`ended`)

Each is one bit of one row, however many stones may have come last, so it counts once. A layer's
counts need nothing of any other layer: any ply, any part of it, in any order.

    D(c), c on the right   alt[class of the row without its top stone], as it stands
    D(c), c on the left    alt[class of the row], of left colourings without their top stone

Rows of equal classes and lines have as many positions that have ended: they are counted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.bits import U0, U1, popcount
from retro.jit import entry, inner
from retro.walk.halves.count_planes import (
    fill_down,
    fill_ended,
    fill_live,
    find_full,
    first_bit,
)
from retro.walk.halves.distances import count_word
from retro.walk.halves.planes import ALL
from retro.walk.halves.plans import LOSS, WIN, rows_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALIVE, TERMINAL, WON, LOST = 0, 1, 2, 3  # what is counted
# Fields of Scratch.rects: the right profile, rows, the place of the first among the values, what a
# position counts, just ended rows that go with these.
RIGHT, LOW, HIGH, PLACE, WEIGHT, ENDED, ENDED_END = range(7)
COLUMNS = np.uint64(0xFFFFFFFF)


class Sums(NamedTuple):
    """What is counted, added up in place."""

    found: NDArray[np.int64]  # [ALIVE, TERMINAL, WON, LOST]
    distances: NDArray[np.int64]  # [plies] odd ones won, even ones lost; or none


@entry
def count_group(known, scratch, ply, own, group, weights, sums):
    """Count the positions of some blocks, or of some rows of one, in place.

    `own` is (values, origin): planes whose first word is the layer's word `origin`; without any
    words nothing is known of won and lost. A position counts as often as its block's weight says.
    """
    first = 0
    while first < len(group.left):
        last = first + 1
        while last < len(group.left) and group.left[last] == group.left[first]:
            last += 1
        run = (group.left[first], group.right[first:last], weights[first:last])
        strip = (group.begin, group.end)
        _count_run(known, scratch, ply, own, run, strip, sums)
        first = last


@entry
def fill_live_rows(shape, plan, classes, scratch, ply, group, plane):
    """Mark the live positions of whole blocks of one left profile, in place.

    The plane's first word is the group's.
    """
    lines = classes.lines
    pl, total = group.left[0], (ply + 1) // 2
    n = ply - shape.left_stones[pl]
    find_full(shape, plan, classes.least, scratch, pl, n)
    for q in range(max(0, total - shape.left_stones[pl]), min(total, n) + 1):
        words = shape.row_words[pl, total - q]
        if words == 0 or classes.number[n, q] == 0:
            continue
        fill_live(shape, plan, classes, scratch, pl, total - q, n)
        for pr in group.right:
            at = shape.offset[pl, pr, q] - group.begin
            for i in range(shape.right_start[pr, q], shape.right_start[pr, q + 1]):
                k = np.int64(classes.right[i])
                if k > 0:
                    row = plane[at : at + words]
                    _live_row(scratch.alt, scratch.part, scratch.full, lines, i, k, words, row)
                at += words


@inner
def _count_run(known, scratch, ply, own, run, strip, sums):
    """Count the blocks of one left profile."""
    shape, plan, classes, endings = known.shape, known.plan, known.classes, known.endings
    found = sums.found
    pl, lines, rects = run[0], classes.lines, scratch.rects
    total, mover = (ply + 1) // 2, (ply - 1) & 1
    n = ply - shape.left_stones[pl]
    has_values = own[0].shape[1] > 0
    find_full(shape, plan, classes.least, scratch, pl, n)
    for q in range(max(0, total - shape.left_stones[pl]), min(total, n) + 1):
        q_left = total - q
        words = shape.row_words[pl, q_left]
        if words == 0 and (classes.number[n, q] == 0 or endings.left.words[pl, q_left] == 0):
            continue
        number = _list_rectangles(
            shape, endings.start, rects, run, (q, q_left, mover), strip, own[1]
        )
        if number == 0:
            continue
        where = (pl, q_left)
        several = fill_ended(known, scratch, where, n, mover)
        groups = 0
        if several >= 0 or not has_values:
            groups = _group_live(scratch, endings.below, lines, number)
        if several >= 0:
            some = (groups, endings.left.words[pl, q_left], several, mover)
            found[TERMINAL] += _count_ended_left(shape, plan, classes.right, scratch, where, some)
        if words > 0:
            fill_live(shape, plan, classes, scratch, pl, q_left, n)
            fill_down(shape, plan, classes, scratch, where, n, mover)
            if has_values:
                _count_values(classes.right, lines, scratch, own[0], (number, words), sums)
            else:
                found[ALIVE] += _count_live(classes.right, scratch, groups, words)
            tops, some = endings.right_tops, (number, words, mover)
            ended = _count_ended_rows(shape, scratch, endings.below, lines, tops, some, True)
            of, its = endings.right, endings.right_lines
            ended += _count_ended_rows(shape, scratch, of, its, tops, some, False)
            found[TERMINAL] += ended


@inner
def _list_rectangles(shape, ended_start, rects, run, which, strip, origin):
    """List the rows of the rectangles of a left profile and (q, q_left, mover) that are counted.

    Fills `rects` in place, see its fields; returns how many there are.
    """
    pl, rights, weights = run
    q, q_left, mover = which
    number, last_q = 0, shape.offset.shape[2] - 1
    for b in range(len(rights)):
        pr = rights[b]
        low, high = shape.right_start[pr, q], shape.right_start[pr, q + 1]
        first, last = 0, high - low
        begin, end = shape.offset[pl, pr, 0], shape.offset[pl, pr, last_q]
        if strip[0] > begin or end > strip[1]:
            first, last = rows_within(shape, (pl, pr, q), q_left, strip)
        at = (mover * shape.right_start.shape[0] + pr) * shape.right_start.shape[1] + q
        ended, ended_end = ended_start[at], ended_start[at + 1]
        if not (first == 0 and (last > 0 or last == high - low)):
            ended = ended_end  # they go with the first row
        if first < last or ended < ended_end:
            rects[number, RIGHT] = pr
            rects[number, LOW], rects[number, HIGH] = low + first, low + max(first, last)
            words = shape.row_words[pl, q_left]
            rects[number, PLACE] = shape.offset[pl, pr, q] + first * words - origin
            rects[number, WEIGHT] = weights[b]
            rects[number, ENDED], rects[number, ENDED_END] = ended, ended_end
            number += 1
    return number


# From here on the loops run once per row, or per group of rows.


@inner
def _live_row(alt, part, full, lines, i, k, words, row):
    """A live row of class k, in place."""
    for w in range(words):
        row[w] = alt[k - 1, w]
    for player in range(2):
        for b in range(len(full)):
            some = lines[player, i, b] & full[b]
            while some != U0:
                line = 64 * b + first_bit(some)
                some &= some - U1
                for w in range(words):
                    row[w] &= ~part[player, line, w]


@inner
def _count_values(right, lines, scratch, values, some, sums):
    """Count the live positions of rectangles, and how many of them are won and lost; in place."""
    row, alt, part, full, rects = (
        scratch.row[0], scratch.alt, scratch.part, scratch.full, scratch.rects,
    )  # fmt: skip
    number, words = some
    found, distances = sums.found, sums.distances
    for r in range(number):
        alive = won = lost = 0
        at, weight = rects[r, PLACE], rects[r, WEIGHT]
        for i in range(rects[r, LOW], rects[r, HIGH]):
            k = np.int64(right[i])
            if k > 0:
                _live_row(alt, part, full, lines, i, k, words, row)
                for w in range(words):
                    alive += popcount(row[w])
                    won += popcount(row[w] & values[WIN, at + w])
                    lost += popcount(row[w] & values[LOSS, at + w])
                if len(distances) > 0:
                    for w in range(words):
                        for value in (WIN, LOSS):
                            decided = row[w] & values[value, at + w]
                            if decided != U0:
                                count_word(values, at + w, (decided, weight), distances, 1 - value)
            at += words
        found[ALIVE] += weight * alive
        found[WON] += weight * won
        found[LOST] += weight * lost


@inner
def _clear(scratch, rows):
    """Make the hash table of groups empty, for so many rows at most; the mask of its places."""
    size = 16
    while size < 2 * rows:
        size *= 2
    scratch.slots[:size] = 0
    return np.uint64(size - 1)


@inner
def _group_live(scratch, of, lines, number):
    """Group the rows of rectangles by class and lines; returns how many groups there are."""
    rects, rows = scratch.rects, 0
    for r in range(number):
        rows += rects[r, HIGH] - rects[r, LOW]
    groups, mask = 0, _clear(scratch, rows)
    for r in range(number):
        for i in range(rects[r, LOW], rects[r, HIGH]):
            if of[0, i] > 0:
                groups = _add_row(scratch, groups, mask, of, lines, i, U1, rects[r, WEIGHT])
    return groups


@inner
def _add_row(scratch, groups, mask, of, lines, i, columns, weight):
    """Add a row to its group: those with equal lines, and classes `of` some columns (a bit each).

    In the upper half of `columns` is what rows of a group have in common besides. A group keeps
    its first row, to compare with. Returns how many groups there are.
    """
    slots, keys, first, times, full = (
        scratch.slots, scratch.keys, scratch.first, scratch.times, scratch.full,
    )  # fmt: skip
    bits = len(full)
    mixed = columns
    for b in range(bits):
        for player in range(2):
            key = lines[player, i, b] & full[b]
            keys[groups, player * bits + b] = key
            mixed = (mixed ^ key) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
    keys[groups, 2 * bits] = columns
    some = columns & COLUMNS
    while some != U0:
        c = first_bit(some)
        some &= some - U1
        mixed = (mixed ^ np.uint64(of[c, i])) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(31)
    place = (mixed * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(32) & mask
    while slots[place] > 0:
        g = slots[place] - 1
        place = (place + U1) & mask
        is_same = True
        for b in range(2 * bits + 1):
            is_same &= keys[g, b] == keys[groups, b]
        some = columns & COLUMNS if is_same else U0
        while some != U0:
            c = first_bit(some)
            some &= some - U1
            is_same &= of[c, i] == of[c, first[g]]
        if is_same:
            times[g] += weight
            return groups
    first[groups], times[groups] = i, weight
    slots[place] = groups + 1
    return groups + 1


@inner
def _leave_out(part, player, keys, bits, without, words, row):
    """Take the positions with one of a player's lines out of a row, but for some; in place."""
    for b in range(bits):
        some = keys[player * bits + b] & ~without[b]
        while some != U0:
            line = 64 * b + first_bit(some)
            some &= some - U1
            for w in range(words):
                row[w] &= ~part[player, line, w]


@inner
def _count_live(right, scratch, groups, words):
    """Live positions of groups of rows."""
    row, none = scratch.row[0], scratch.none
    alive = 0
    for g in range(groups):
        k = np.int64(right[scratch.first[g]])
        for w in range(words):
            row[w] = scratch.alt[k - 1, w]
        for player in range(2):
            _leave_out(scratch.part, player, scratch.keys[g], len(none), none, words, row)
        number = 0
        for w in range(words):
            number += popcount(row[w])
        alive += scratch.times[g] * number
    return alive


@inner
def _count_ended_left(shape, plan, right, scratch, where, some):
    """Positions whose left half has just ended, of groups of rows; `several` as fill_ended says."""
    groups, words, several, mover = some
    row, good, none, keys = scratch.row[0], scratch.row[1], scratch.none, scratch.keys
    pl, q_left = where
    total = 0
    for g in range(groups):
        k = np.int64(right[scratch.first[g]])
        for w in range(words):
            row[w] = scratch.one[k - 1, w]
        for player in range(2):
            _leave_out(scratch.ended_part, player, keys[g], len(none), none, words, row)
        number = 0
        for w in range(words):
            number += popcount(row[w])
        more = (several + 63) >> 6
        for w in range(more):
            row[w] = U0
        for c in range(shape.left_columns if several > 0 else 0):
            lane, before = mover * shape.left_columns + c, pl - shape.left_radix[c]
            is_there = shape.left_heights[pl, c] > shape.left_base[c]
            if not is_there or plan.gone[lane, before, q_left - 1 + mover] == 0:
                continue
            for w in range(more):
                good[w] = scratch.many[c, k - 1, w]
            for player in range(2):
                _leave_out(
                    scratch.many_part, player, keys[g], len(none), scratch.tops[c], more, good
                )
            for w in range(more):
                row[w] |= good[w]
        for w in range(more):
            number += popcount(row[w])
        total += scratch.times[g] * number
    return total


@inner
def _count_ended_rows(shape, scratch, of, lines, right_tops, some, is_across):
    """Just ended positions of rectangles: across the cut, or with a line inside the right half.

    `of` are the classes of the rows, and those without the top stone of every right column.
    """
    number, words, mover = some
    tops, full, keys, first, rects = (
        scratch.tops, scratch.full, scratch.keys, scratch.first, scratch.rects,
    )  # fmt: skip
    row, good, none, part = scratch.row[0], scratch.row[1], scratch.none, scratch.part
    left_columns, bits = shape.left_columns, len(full)
    begin = 0 if is_across else left_columns
    low, high = (LOW, HIGH) if is_across else (ENDED, ENDED_END)
    rows = 0
    for r in range(number):
        rows += rects[r, high] - rects[r, low]
    groups, mask = 0, _clear(scratch, rows)
    for r in range(number):
        pr = rects[r, RIGHT]
        for i in range(rects[r, low], rects[r, high]):
            columns = U0
            for b in range(bits):
                mine = lines[mover, i, b] & full[b]
                for c in range(begin if mine != U0 or not is_across else shape.width, shape.width):
                    through = (
                        tops[c, b] if c < left_columns else right_tops[pr, c - left_columns, b]
                    )
                    slot = max(0, 1 + c - left_columns)
                    if of[slot, i] > 0 and (mine & through != U0 or not is_across):
                        columns |= U1 << np.uint64(slot)
            if columns != U0:
                columns |= np.uint64(r) << np.uint64(32)
                weight = rects[r, WEIGHT]
                groups = _add_row(scratch, groups, mask, of, lines, i, columns, weight)
    ended = 0
    for g in range(groups):
        pr = rects[np.int64(keys[g, 2 * bits] >> np.uint64(32)), RIGHT]
        for w in range(words):
            row[w] = U0
        for c in range(begin, shape.width):
            k = np.int64(of[max(0, 1 + c - left_columns), first[g]])
            if k == 0:
                continue
            through = tops[c] if c < left_columns else right_tops[pr, c - left_columns]
            for w in range(words):
                good[w] = U0 if is_across else ALL
            is_one = not is_across
            for b in range(bits if is_across else 0):
                here = keys[g, mover * bits + b] & through[b]
                while here != U0:
                    line = 64 * b + first_bit(here)
                    here &= here - U1
                    is_one = True
                    for w in range(words):
                        good[w] |= part[mover, line, w]
            if is_one:
                _leave_out(part, mover, keys[g], bits, through, words, good)
                if c < left_columns:
                    for w in range(words):
                        row[w] |= good[w] & scratch.down[c, k - 1, w]
                else:
                    for w in range(words):
                        row[w] |= good[w] & scratch.alt_before[k - 1, w]
        _leave_out(part, 1 - mover, keys[g], bits, none, words, row)
        alone = 0
        for w in range(words):
            alone += popcount(row[w])
        ended += scratch.times[g] * alone
    return ended
