"""Hash tables of keys, and how not to wait for memory.

Two tables, both of places in an array of keys, both with open addressing:

    found   grows while a walk forward finds keys: at most half of its slots are taken
    seats   two slots for each key of a group, made at once, for the walk back

A large family does not fit into the caches: two of three instructions of the forward walk of 5x5
three-in-a-row were waiting, for a slot and then for the key that it names. So a successor is not
looked up when it is made, but some successors later, and what it needs is sent for before:

    made     ... 20  21  22  23 |          send for the slot of 23,
    sent     ...     15 | 16 ...           look into that of 15, send for the key it names,
    put      ...  7 | 8 ...                look up 7, with all of it in the cache

They are put in the order in which they were made, so what is found is the same in the same order.
"""

from __future__ import annotations

import numpy as np

from retro.jit import entry, inlined, inner

HASH = np.uint64(0x9E3779B97F4A7C15)
FOLD = np.uint64(32)
U0, U1 = np.uint64(0), np.uint64(1)
WAITING = 16  # successors that are made and not yet put
SENT = 8  # so many of them have their slots sent for, but not yet their keys
NEAR = 1 << 17  # slots of a table that is in the cache anyway


@inlined
def slot_of(a, b, mask):
    """Where a key is looked for first in a table of mask + 1 slots."""
    mixed = (a ^ (b * HASH)) * HASH
    return (mixed ^ (mixed >> FOLD)) & mask


@inner
def put_all(slots, out, waiting, count):
    """Add keys that wait to `out`, of which `count` places are taken; how many are then?

    `waiting` is (ring of a, of b, of first slots, number of the first that waits, of the last).
    """
    out_a, out_b = out
    wait_a, wait_b, wait_at, gone, came = waiting
    two, mask = len(out_b) > 0, np.uint64(len(slots) - 1)
    for number in range(gone, came):
        q = number & (WAITING - 1)
        a, b, slot = wait_a[q], wait_b[q], wait_at[q]
        seen = slots[slot]
        while seen >= 0 and (out_a[seen] != a or (two and out_b[seen] != b)):
            slot = (slot + U1) & mask
            seen = slots[slot]
        if seen < 0:
            slots[slot] = count
            out_a[count] = a
            if two:
                out_b[count] = b
            count += 1
    return count


@inner
def doubled(slots, out_a, out_b, count):
    """A table with twice the slots."""
    more = np.full(2 * len(slots), -1, np.int32)
    mask = np.uint64(len(more) - 1)
    for place in range(count):
        b = out_b[place] if len(out_b) > 0 else U0
        slot = slot_of(out_a[place], b, mask)
        while more[slot] >= 0:
            slot = (slot + U1) & mask
        more[slot] = place
    return more


@inlined
def seat_of(a, b, count):
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
            slot = seat_of(keys_a[begin + i], b, count)
            while slots[2 * begin + slot] >= 0:
                slot = slot + 1 if slot + 1 < 2 * count else 0
            slots[2 * begin + slot] = i
