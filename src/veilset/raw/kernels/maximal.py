"""Which itemsets of a complete list have no superset in it."""

import numpy as np

from veilset.arrays import BoolArray, Int32Array, Int64Array, Uint64Array
from veilset.raw.kernels import inner, kernel

NO_ITEMSET = -1
"""No itemset is looked up in this slot."""


@inner
def is_less_one(offsets: Int64Array, items: Int32Array, smaller: int, larger: int, dropped: int) -> bool:
    """Whether an itemset is a larger one without the item at the place `dropped`."""
    place = offsets[larger]
    if offsets[smaller + 1] - offsets[smaller] != offsets[larger + 1] - place - 1:
        return False
    for at in range(offsets[smaller], offsets[smaller + 1]):
        if place == dropped:
            place += 1
        if items[at] != items[place]:
            return False
        place += 1
    return True


@kernel
def mark_maximal(offsets: Int64Array, items: Int32Array, words: Uint64Array) -> BoolArray:
    """Mark the itemsets that no other itemset contains.

    The list has all subsets of its itemsets, down to a smallest size, so it is enough to look up what each
    itemset leaves when it loses one item. `words` has well mixed bits for each item: those of an itemset,
    combined by exclusive or, say where to look. At most half of the slots are full.
    """
    number = offsets.size - 1
    n_slots = 2
    while n_slots < 2 * number:
        n_slots *= 2
    last_slot = np.uint64(n_slots - 1)
    slots = np.full(n_slots, NO_ITEMSET, np.int64)
    hashes = np.zeros(number, np.uint64)
    for i in range(number):
        for place in range(offsets[i], offsets[i + 1]):
            hashes[i] ^= words[items[place]]
        slot = hashes[i] & last_slot
        while slots[slot] != NO_ITEMSET:
            slot = (slot + np.uint64(1)) & last_slot
        slots[slot] = i
    is_maximal = np.ones(number, np.bool_)
    for i in range(number):
        for dropped in range(offsets[i], offsets[i + 1]):
            rest = hashes[i] ^ words[items[dropped]]
            slot = rest & last_slot
            while slots[slot] != NO_ITEMSET:
                other = slots[slot]
                if hashes[other] == rest and is_less_one(offsets, items, other, i, dropped):
                    is_maximal[other] = False
                    break
                slot = (slot + np.uint64(1)) & last_slot
    return is_maximal
