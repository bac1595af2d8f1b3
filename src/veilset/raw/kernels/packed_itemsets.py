"""Itemsets as numbers, which can be sorted.

The codes that occur are ranked, a rank takes as few bits as there are codes, and as many ranks as fit stand in one
word: the first of an itemset's ascending items in the highest bits. So of two itemsets of one size, the one with the
smaller first word comes first. Most itemsets are one word.
"""

from typing import NamedTuple

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import inlined, inner, kernel
from veilset.raw.kernels.search_state import FoundItemsets

WORD_BITS = 63
"""Bits of a word that hold ranks: the sign stays free."""


class PackedItemsets(NamedTuple):
    """Itemsets as words: those of itemset n begin at `offsets[n]`, a rank in each `bits` bits of them.

    Rank r stands for the item `codes[r]`; itemset n has `sizes[n]` items.
    """

    sizes: Int64Array
    offsets: Int64Array
    words: Int64Array
    codes: Int32Array
    bits: int


@kernel
def write_sizes(parents: Int64Array, sizes: Int64Array) -> None:
    """Write how many items each itemset has, as far as there are sizes to write."""
    for n in range(sizes.size):
        sizes[n] = 1 + sizes[parents[n]] if parents[n] >= 0 else 1


@kernel
def codes_in(items: Int32Array) -> Int32Array:
    """The codes that occur, ascending."""
    largest = -1
    for item in items:
        largest = max(largest, item)
    occurs = np.zeros(largest + 1, np.bool_)
    number = 0
    for item in items:
        number += not occurs[item]
        occurs[item] = True
    codes = np.empty(number, np.int32)  # `np.flatnonzero` would take as long to compile as all the rest
    place = 0
    for code in range(largest + 1):
        if occurs[code]:
            codes[place] = code
            place += 1
    return codes


@inner
def ranks_of(codes: Int32Array) -> Int64Array:
    """The rank of each code, by code; 0 for those that do not occur."""
    ranks = np.zeros(codes[-1] + 1 if codes.size else 0, np.int64)
    for rank in range(codes.size):
        ranks[codes[rank]] = rank
    return ranks


@kernel
def bits_of_ranks(codes: Int32Array) -> int:
    """How many bits each rank of these codes needs."""
    bits = 1
    while codes.size - 1 >> bits > 0:
        bits += 1
    return bits


@kernel
def write_word_offsets(sizes: Int64Array, bits: int, offsets: Int64Array) -> None:
    """Write where the words of itemsets of these sizes begin, and where the last one ends."""
    in_a_word = WORD_BITS // bits
    offsets[0] = 0
    for n in range(sizes.size):
        offsets[n + 1] = offsets[n] + (
            1 if sizes[n] <= in_a_word else (sizes[n] + in_a_word - 1) // in_a_word
        )


@kernel
def pack_found(found: FoundItemsets, packed: PackedItemsets) -> None:
    """Write the words of a tree of itemsets: each is its parent and one item more.

    The item goes into the first word whose last rank is larger, and pushes that rank into the next word.
    """
    offsets, words, bits = packed.offsets, packed.words, packed.bits
    in_a_word, mask = WORD_BITS // bits, (1 << bits) - 1
    ranks = ranks_of(packed.codes)
    for n in range(packed.sizes.size):
        rank, place, left = ranks[found.items[n]], offsets[n], packed.sizes[n] - 1
        source = offsets[found.parents[n]] if left > 0 else 0
        while left >= in_a_word:
            word = words[source]
            last = word & mask
            if rank < last:
                word = inserted(word >> bits, in_a_word - 1, rank, bits)
                rank = last
            words[place] = word
            place, source, left = place + 1, source + 1, left - in_a_word
        words[place] = inserted(words[source], left, rank, bits) if left > 0 else rank


@inlined
def inserted(word: int, size: int, rank: int, bits: int) -> int:
    """A word of `size` ascending ranks, with one more between them."""
    shift = 0
    while shift < size * bits and (word >> shift) & ((1 << bits) - 1) > rank:
        shift += bits
    after = word & ((1 << shift) - 1)
    return ((word >> shift) << bits | rank) << shift | after


@kernel
def pack_rows(offsets: Int64Array, items: Int32Array, packed: PackedItemsets) -> None:
    """Write the words of itemsets that stand one after the other, each with its items ascending."""
    ranks = ranks_of(packed.codes)
    longest = 0
    for size in packed.sizes:
        longest = max(longest, size)
    row = np.empty(longest, np.int64)
    for n in range(packed.sizes.size):
        for place in range(packed.sizes[n]):
            row[place] = ranks[items[offsets[n] + place]]
        write_words(packed, n, row)


@inner
def write_words(packed: PackedItemsets, itemset: int, ranks: Int64Array) -> None:
    """Write the words of one itemset of the given ranks."""
    in_a_word = WORD_BITS // packed.bits
    for at in range(packed.offsets[itemset], packed.offsets[itemset + 1]):
        first = (at - packed.offsets[itemset]) * in_a_word
        word = np.int64(0)
        for place in range(first, min(first + in_a_word, packed.sizes[itemset])):
            word = word << packed.bits | ranks[place]
        packed.words[at] = word


@kernel
def unpack_in_order(
    packed: PackedItemsets,
    order: Int64Array,
    first_words: Int64Array,
    offsets: Int64Array,
    items: Int32Array,
) -> None:
    """Write the items of itemsets in this order: those of order[i] from offsets[i] on.

    The first word of each stands beside the order: most itemsets have no other, and need not be looked up.
    """
    in_a_word, mask = WORD_BITS // packed.bits, (1 << packed.bits) - 1
    for i in range(order.size):
        begin, end = offsets[i], offsets[i + 1]
        word = first_words[i]
        for place in range(min(end, begin + in_a_word) - 1, begin - 1, -1):
            items[place] = packed.codes[word & mask]
            word >>= packed.bits
        at = packed.offsets[order[i]] if end - begin > in_a_word else 0
        for first in range(begin + in_a_word, end, in_a_word):
            at += 1
            word = packed.words[at]
            for place in range(min(end, first + in_a_word) - 1, first - 1, -1):
                items[place] = packed.codes[word & mask]
                word >>= packed.bits
