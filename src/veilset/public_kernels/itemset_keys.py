"""Itemsets of up to 120 items as keys that are ordered as they are: by their items, one that begins another before it.

The bits of an itemset, item 0 uppermost, with all bits below the lowest of them set: the more that is, the earlier the
itemset comes, and only itemsets that end in a row of consecutive items share it, the shorter ones of which come before
the others. So a key has two words of 64 bits: the complement of these 120 bits, then 8 bits for the number of items.
"""

from typing import NamedTuple

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint64Array
from veilset.public_kernels import inlined, inner, kernel, popcount
from veilset.public_kernels.bit_rows import turned

_ONE, _NONE, _SIZE = np.uint64(1), np.uint64(0), np.uint64(0xFF)


class KeyedRows(NamedTuple):
    """Different itemsets by ascending keys, the words `upper` and `lower`; and how many rows hold exactly each."""

    upper: Uint64Array
    lower: Uint64Array
    copies: Int64Array


@kernel
def keyed_rows(bitmaps: Uint64Array, first: int, last: int) -> KeyedRows:
    """The rows of the words from `first` up to, not including, `last`; those that hold nothing are left out.

    See `bit_rows` for bitmaps; bits beyond the last row must be 0.
    """
    room = 64 * (last - first)
    one = KeyedRows(np.empty(room, np.uint64), np.empty(room, np.uint64), np.ones(room, np.int64))
    rows = np.empty((64, 2), np.uint64)
    number = 0
    for word in range(first, last):
        turned(bitmaps, word, rows)
        for r in range(64):
            if (rows[r, 0] | rows[r, 1]) != _NONE:
                one.upper[number], one.lower[number] = _key(rows[r, 0], rows[r, 1])
                number += 1
    other = KeyedRows(np.empty_like(one.upper), np.empty_like(one.lower), np.empty_like(one.copies))
    bounds = np.arange(number + 1)
    while bounds.size > 2:
        bounds = _merge_runs(one, other, bounds)
        one, other = other, one
    end = bounds[-1]
    return KeyedRows(one.upper[:end].copy(), one.lower[:end].copy(), one.copies[:end].copy())


@inner
def _merge_runs(source: KeyedRows, target: KeyedRows, bounds: Int64Array) -> Int64Array:
    """Merge runs two by two; run i is that from `bounds[i]` to `bounds[i + 1]`. The bounds of what they become."""
    new_bounds = np.zeros(bounds.size // 2 + 1, np.int64)
    for pair in range(new_bounds.size - 1):
        middle, last = bounds[2 * pair + 1], bounds[min(2 * pair + 2, bounds.size - 1)]
        new_bounds[pair + 1] = _merge(
            source, bounds[2 * pair], middle, source, middle, last, target, new_bounds[pair]
        )
    return new_bounds


@kernel
def merged_rows(one: KeyedRows, other: KeyedRows) -> KeyedRows:
    """The rows of both."""
    room = one.copies.size + other.copies.size
    both = KeyedRows(np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.int64))
    end = _merge(one, 0, one.copies.size, other, 0, other.copies.size, both, 0)
    return KeyedRows(both.upper[:end], both.lower[:end], both.copies[:end])


@inner
def _merge(
    one: KeyedRows, i: int, i_end: int, other: KeyedRows, j: int, j_end: int, both: KeyedRows, end: int
) -> int:
    """Merge two runs to one that starts at `end`, in which each itemset comes once; where it ends."""
    while i < i_end and j < j_end:
        upper, lower = one.upper[i], one.lower[i]
        other_upper, other_lower = other.upper[j], other.lower[j]
        is_upper_same = upper == other_upper
        is_same = is_upper_same and lower == other_lower
        is_less = upper < other_upper or (is_upper_same and lower < other_lower)
        both.upper[end] = upper if is_less else other_upper
        both.lower[end] = lower if is_less else other_lower
        copies = one.copies[i] if is_less else other.copies[j]
        both.copies[end] = copies + (one.copies[i] if is_same else 0)
        i += is_less or is_same
        j += not is_less
        end += 1
    while i < i_end:
        both.upper[end], both.lower[end], both.copies[end] = one.upper[i], one.lower[i], one.copies[i]
        i += 1
        end += 1
    while j < j_end:
        both.upper[end], both.lower[end], both.copies[end] = other.upper[j], other.lower[j], other.copies[j]
        j += 1
        end += 1
    return end


@inlined
def _key(upper: np.uint64, lower: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The key of an itemset that holds any item, from its bits; the last 8 are 0."""
    size = np.uint64(popcount(upper) + popcount(lower))
    filled_lower = lower | (lower - _ONE)  # of a word of 0, all bits
    filled_upper = upper if lower != _NONE else upper | (upper - _ONE)
    return ~filled_upper, (~filled_lower & ~_SIZE) | size


@kernel
def key_sizes(lower: Uint64Array) -> Int64Array:
    """The number of items of each itemset, from the lower words of their keys."""
    return (lower & _SIZE).astype(np.int64)


@kernel
def write_items(
    upper: Uint64Array, lower: Uint64Array, codes: Int32Array, offsets: Int64Array, items: Int32Array
) -> None:
    """Write itemset i of these keys to `items[offsets[i]:offsets[i + 1]]`: `codes[a]` for item a."""
    for i in range(upper.size):
        words = (~upper[i], ~lower[i] | _SIZE)
        end = offsets[i + 1]
        below = popcount(words[0]) + popcount(words[1]) - (end - offsets[i])
        for half in (1, 0):
            word = _without_lowest(words[half], below - 64 * (1 - half))
            while word != _NONE:
                bit = word & (~word + _ONE)
                word ^= bit
                end -= 1
                items[end] = codes[64 * half + 63 - popcount(bit - _ONE)]


@inlined
def _without_lowest(word: np.uint64, number: int | np.int64) -> np.uint64:
    """A word whose lowest bits are set to 0: that many, of which there may be none, or more than 64."""
    kept = _NONE
    if number <= 0:
        kept = word
    elif number < 64:
        kept = word >> np.uint64(number) << np.uint64(number)
    return kept
