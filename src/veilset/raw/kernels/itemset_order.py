"""From a tree of itemsets to a sorted list of them."""

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import kernel
from veilset.raw.kernels.search_state import FoundItemsets

DIGIT_BITS = 16
LARGEST_DIGIT = (1 << DIGIT_BITS) - 1
"""Numbers are sorted by digits of 16 bits."""


@kernel
def sizes_of(parents: Int64Array, number: int) -> Int64Array:
    """How many items each of the first `number` itemsets has."""
    sizes = np.ones(number, np.int64)
    for n in range(number):
        if parents[n] >= 0:
            sizes[n] += sizes[parents[n]]
    return sizes


@kernel
def unfold(found: FoundItemsets, offsets: Int64Array) -> Int32Array:
    """The items of each itemset, ascending; those of itemset n begin at offsets[n]."""
    items = np.empty(offsets[-1], np.int32)
    for n in range(offsets.size - 1):
        item = found.items[n]
        begin, place = offsets[n], offsets[n + 1] - 1
        source = offsets[found.parents[n] + 1] - 1
        while place > begin and items[source] > item:
            items[place] = items[source]
            place -= 1
            source -= 1
        items[place] = item
        while place > begin:
            place -= 1
            items[place] = items[source]
            source -= 1
    return items


@kernel
def sort_by(order: Int64Array, keys: Int64Array) -> Int64Array:
    """Sort numbers by their keys, which are not negative; what ties stays as it was."""
    largest = 0
    for i in order:
        largest = max(largest, keys[i])
    shift = 0
    while shift == 0 or largest >> shift > 0:
        ends = np.zeros(min(largest >> shift, LARGEST_DIGIT) + 2, np.int64)
        for i in order:
            ends[((keys[i] >> shift) & LARGEST_DIGIT) + 1] += 1
        for digit in range(ends.size - 1):
            ends[digit + 1] += ends[digit]
        moved = np.empty_like(order)
        for i in order:
            digit = (keys[i] >> shift) & LARGEST_DIGIT
            moved[ends[digit]] = i
            ends[digit] += 1
        order = moved
        shift += DIGIT_BITS
    return order


@kernel
def sort_by_items(same_size: Int64Array, offsets: Int64Array, items: Int32Array) -> Int64Array:
    """Itemsets of one size by their first item, then their second, ...: a digit of as many items as fit at a time."""
    size = offsets[same_size[0] + 1] - offsets[same_size[0]]
    bits = bits_of_items(same_size, offsets, items)
    in_a_digit = max(1, DIGIT_BITS // bits)
    order = np.arange(same_size.size)
    keys = np.empty(same_size.size, np.int64)
    for end in range(size, 0, -in_a_digit):
        for i in range(same_size.size):
            start = offsets[same_size[i]]
            key = np.int64(0)
            for place in range(start + max(0, end - in_a_digit), start + end):
                key = key << bits | items[place]
            keys[i] = key
        order = sort_by(order, keys)
    for i in range(order.size):
        keys[i] = same_size[order[i]]
    return keys


@kernel
def bits_of_items(itemsets: Int64Array, offsets: Int64Array, items: Int32Array) -> int:
    """How many bits the largest of all codes needs: the last one of some itemset."""
    largest = 1
    for itemset in itemsets:
        largest = max(largest, items[offsets[itemset + 1] - 1])
    bits = 1
    while largest >> bits > 0:
        bits += 1
    return bits


@kernel
def take(
    offsets: Int64Array, items: Int32Array, chosen: Int64Array, chosen_offsets: Int64Array, taken: Int32Array
) -> None:
    """Write the items of the chosen itemsets: those of chosen[i] from chosen_offsets[i] on."""
    for i in range(chosen.size):
        start = offsets[chosen[i]]
        for place in range(chosen_offsets[i], chosen_offsets[i + 1]):
            taken[place] = items[start + place - chosen_offsets[i]]
