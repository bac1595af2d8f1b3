"""Which items of each row the smart cut keeps (see `raw.smart_cut`).

Rows, marks and keys as in `cuts`. Callers number the items that stand in candidates 0, 1, ..., chosen - 1 and
hand in `numbers`: `numbers[code]` is the number of an item, and `chosen` for all others; the last entry stands
for all codes from there on. What lands at `chosen` is thrown away, as in `vertical`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from veilset.raw.kernels import inlined, kernel
from veilset.raw.kernels.cuts import Int32Array, Int64Array, Marks, Uint32Array
from veilset.raw.kernels.popcount import popcount

Bitmap = npt.NDArray[np.uint64]
"""Item i is bit `i & 63` of word `i >> 6`."""

LOWEST = np.iinfo(np.int64).min


class Candidates(NamedTuple):
    """Itemsets of one size, two items or more, in blocks that a row compares in one step.

    Candidate c is `itemsets[c]`, numbers ascending; candidates stand in lexicographic order. Those of a block
    differ in the last item alone, and their last items share a word of a bitmap: block b has a candidate for
    each bit of `bits[b]` in word `words[b]`, from candidate `firsts[b]` on. Blocks `starts[i]` to
    `starts[i + 1]` have i as first item.
    """

    itemsets: Int32Array
    scores: Int64Array
    starts: Int64Array
    firsts: Int64Array
    words: Int64Array
    bits: Bitmap


class Basket(NamedTuple):
    """The row at hand: its numbered items, those that stand in a candidate that it holds, those to keep."""

    items: Int32Array
    held: Bitmap
    useful: Bitmap
    is_kept: Marks
    keys: Uint32Array


class Found(NamedTuple):
    """The candidates that the row at hand holds, their items column by column, and how many are kept."""

    columns: Int32Array
    scores: Int64Array
    overlaps: Int64Array


@kernel
def mark_heaviest(
    offsets: Int64Array,
    items: Int32Array,
    keys: Uint32Array,
    numbers: Int32Array,
    candidates: Candidates,
    limit: int,
) -> Marks:
    """Mark the items of the heaviest candidates, up to `limit`, in every longer row, and all in the others.

    Only longer rows use up keys: one for each of their items, in order.
    """
    first, chosen = offsets[0], candidates.starts.size - 1
    keep = np.ones(offsets[-1] - first, np.bool_)
    basket = _new_basket(chosen)
    found = _new_found(candidates)
    used = np.int64(0)
    for row in range(offsets.size - 1):
        start, end = offsets[row], offsets[row + 1]
        if end - start <= limit:
            continue
        size = 0
        for i in range(start, end):
            number = _number(items[i], numbers)
            basket.items[size] = number
            size += number < chosen
        for i in range(size):
            basket.held[basket.items[i] >> 6] |= _bit(basket.items[i])

        _mark_useful(basket, size, candidates)
        if _count(basket.useful) <= limit:  # then the heaviest do not crowd out the others
            for i in range(size):
                basket.is_kept[basket.items[i]] = _has(basket.useful, basket.items[i])
        else:
            last, room = _keep_heaviest(basket, found, _find(basket, size, candidates, found), limit)
            if room > 0:
                for i in range(start, end):
                    basket.keys[_number(items[i], numbers)] = keys[used + i - start]
                for _ in range(room):
                    basket.is_kept[_smallest_key(basket, found, last)] = True

        for i in range(start, end):
            keep[i - first] = basket.is_kept[_number(items[i], numbers)]
        for i in range(size):
            basket.is_kept[basket.items[i]] = False
            basket.held[basket.items[i] >> 6] = 0
            basket.useful[basket.items[i] >> 6] = 0
        used += end - start
    return keep


@inlined
def _new_basket(chosen: int) -> Basket:
    """Room for any row, and one place more for the items without a number."""
    words = (chosen >> 6) + 1
    return Basket(
        np.empty(chosen + 1, np.int32),
        np.zeros(words, np.uint64),
        np.zeros(words, np.uint64),
        np.zeros(chosen + 1, np.bool_),
        np.empty(chosen + 1, np.uint32),
    )


@inlined
def _new_found(candidates: Candidates) -> Found:
    """Room for all candidates, should a row hold them all."""
    number, size = candidates.itemsets.shape
    return Found(
        np.empty((size, number), np.int32),
        np.empty(number, np.int64),
        np.empty(number, np.int64),
    )


@inlined
def _number(item: np.int32, numbers: Int32Array) -> np.int32:
    """The number of an item."""
    return numbers[min(item, numbers.size - 1)]


@inlined
def _bit(item: np.int32) -> np.uint64:
    """The bit of an item in its word."""
    return np.uint64(1) << np.uint64(item & 63)


@inlined
def _has(bitmap: Bitmap, item: np.int32) -> np.uint64:
    """1 if the bit of an item is set, or 0."""
    return bitmap[item >> 6] >> np.uint64(item & 63) & np.uint64(1)


@inlined
def _count(bitmap: Bitmap) -> int:
    """How many bits are set."""
    count = 0
    for word in range(bitmap.size):
        count += popcount(bitmap[word])
    return count


@inlined
def _hits(basket: Basket, candidates: Candidates, block: int) -> np.uint64:
    """The bits of those candidates of a block that the row holds; it is known to hold the first item."""
    hits = candidates.bits[block] & basket.held[candidates.words[block]]
    for j in range(1, candidates.itemsets.shape[1] - 1):
        hits *= _has(basket.held, candidates.itemsets[candidates.firsts[block], j])
    return hits


@inlined
def _mark_useful(basket: Basket, size: int, candidates: Candidates) -> None:
    """Set the bits of all items that stand in a candidate that the row holds."""
    for i in range(size):
        item = basket.items[i]
        is_useful = False
        for block in range(candidates.starts[item], candidates.starts[item + 1]):
            hits = _hits(basket, candidates, block)
            is_useful |= hits != 0
            basket.useful[candidates.words[block]] |= hits
            for j in range(1, candidates.itemsets.shape[1] - 1):
                other = candidates.itemsets[candidates.firsts[block], j]
                basket.useful[other >> 6] |= _bit(other) * np.uint64(hits != 0)
        basket.useful[item >> 6] |= _bit(item) * np.uint64(is_useful)


@inlined
def _find(basket: Basket, size: int, candidates: Candidates, found: Found) -> int:
    """Write down the candidates that the row holds, with none of their items kept; returns how many."""
    number = 0
    for i in range(size):
        item = basket.items[i]
        for block in range(candidates.starts[item], candidates.starts[item + 1]):
            hits = _hits(basket, candidates, block)
            while hits:
                before = (hits & -hits) - np.uint64(1)
                found.overlaps[number] = candidates.firsts[block] + popcount(candidates.bits[block] & before)
                number += 1
                hits &= hits - np.uint64(1)
    for i in range(number):
        candidate = found.overlaps[i]
        found.scores[i] = candidates.scores[candidate]
        found.overlaps[i] = 0
        for j in range(candidates.itemsets.shape[1]):
            found.columns[j, i] = candidates.itemsets[candidate, j]
    return number


@inlined
def _keep_heaviest(basket: Basket, found: Found, number: int, limit: int) -> tuple[int, int]:
    """Keep all items of the heaviest candidate, then of the next, as long as they fit.

    Returns the first candidate that does not fit, and the room that is left for some of its items. There is
    always a next one: the caller knows that all candidates together have more than `limit` items.
    """
    size = found.columns.shape[0]
    room, heaviest = limit, 0
    while room > 0:
        heaviest = _heaviest(found, number)
        missing = size - found.overlaps[heaviest]
        if missing > room:
            break
        room -= missing
        for j in range(size):
            item = found.columns[j, heaviest]
            if not basket.is_kept[item]:
                basket.is_kept[item] = True
                if room > 0:
                    _add_overlaps(found, number, item)
    return heaviest, room


@inlined
def _heaviest(found: Found, number: int) -> int:
    """The candidate of largest weight among those that miss an item.

    A weight is a score, plus score / size for every item that is kept; here it is multiplied by the size.
    """
    size = found.columns.shape[0]
    heaviest, largest = 0, LOWEST
    for i in range(number):
        weight = found.scores[i] * (size + found.overlaps[i])
        if weight > largest and found.overlaps[i] < size:
            heaviest, largest = i, weight
    return heaviest


@inlined
def _add_overlaps(found: Found, number: int, item: np.int32) -> None:
    """Add 1 to the overlap of the candidates that hold an item: column by column, eight at a time."""
    for j in range(found.columns.shape[0]):
        for i in range(number):
            found.overlaps[i] += found.columns[j, i] == item


@inlined
def _smallest_key(basket: Basket, found: Found, candidate: int) -> np.int32:
    """The item of smallest key of those that a candidate misses; of equal keys, the first item."""
    smallest = np.int32(-1)
    for j in range(found.columns.shape[0]):
        item = found.columns[j, candidate]
        if not basket.is_kept[item] and (smallest < 0 or basket.keys[item] < basket.keys[smallest]):
            smallest = item
    return smallest
