"""The pieces that long rows are split into (see `raw.cuts.split`).

Row r is `items[offsets[r]:offsets[r + 1]]`. The items that stand in patterns are numbered 0, 1, ..., the heaviest
first. Within the row at hand an item goes by its place, its rank among the items held: sets of places are bitmaps,
place i being bit `i & 63` of word `i >> 6`, which for most rows is one word. So the heaviest item left is the lowest
bit, and only patterns of two items or more, of which most rows hold few, have to be searched.
"""

from typing import NamedTuple

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint64Array
from veilset.raw.kernels import inlined, inner, kernel
from veilset.raw.kernels.popcount import popcount

NONE = -1

MOST_INSERTED = 32
"""Up to 32 itemsets are sorted by insertion: without a call, that is faster."""


class WeightedPatterns(NamedTuple):
    """Items with weights, and itemsets of two of them or more with weights.

    `codes[i]` is the code of item number i, `numbers[code]` the number of a code, NONE for an item without weight;
    codes beyond have none either. `weights[i]` is the weight of an item. Itemset p is
    `items[bounds[p]:bounds[p + 1]]`, numbers; the heaviest is the first. `shares[p]` is its weight divided by its
    size; weights and shares are multiplied by one factor that makes them whole. Itemsets
    `filed[starts[i]:starts[i + 1]]` hold item number i, and each is filed under one of its items alone.
    """

    codes: Int32Array
    numbers: Int32Array
    weights: Int64Array
    bounds: Int64Array
    items: Int64Array
    shares: Int64Array
    starts: Int64Array
    filed: Int64Array


class RowToSplit(NamedTuple):
    """The row at hand: numbers of its items by code and by place, places by code and by number, and sets of places."""

    items: Int64Array
    by_place: Int64Array
    places: Int64Array
    place_of: Int64Array
    left: Uint64Array
    piece: Uint64Array


class HeldPatterns(NamedTuple):
    """The itemsets that the row holds, heaviest first: which, as sets of places, with sizes and shares."""

    itemsets: Int64Array
    sets: Uint64Array
    sizes: Int64Array
    shares: Int64Array


@kernel
def split_rows(
    offsets: Int64Array, items: Int32Array, patterns: WeightedPatterns, limit: int
) -> tuple[Int64Array, Int32Array]:
    """What rows hold of the items with weights: whole up to `limit` of them, longer rows in pieces of `limit`.

    A row of n such items becomes n / limit pieces, rounded up; their offsets start at 0.
    """
    total, rows = offsets[-1] - offsets[0], offsets.size - 1
    ends = np.zeros(rows + total // limit + 1, np.int64)
    placed = np.empty(total, np.int32)
    row = _new_row(patterns)
    held = _new_held(patterns)
    pieces = used = 0
    for r in range(rows):
        length = _hold(row, offsets[r], offsets[r + 1], items, patterns)
        if length > limit:
            _rank(row, length)
            number = _collect(row, length, patterns, held)
            left = length
            while left > 0:
                left -= _fill_piece(row, length, min(limit, left), number, patterns, held)
                used = _write_piece(row, length, patterns, placed, used)
                pieces += 1
                ends[pieces] = used
                number = _still_whole(row, length, number, held)
        elif length > 0:
            for i in range(length):
                placed[used + i] = patterns.codes[row.items[i]]
            used += length
            pieces += 1
            ends[pieces] = used
    return ends[: pieces + 1].copy(), placed[:used].copy()


@inlined
def _new_row(patterns: WeightedPatterns) -> RowToSplit:
    number = patterns.codes.size
    width = (number + 63) >> 6
    return RowToSplit(
        items=np.empty(number + 1, np.int64),
        by_place=np.empty(number, np.int64),
        places=np.empty(number, np.int64),
        place_of=np.full(number, NONE),
        left=np.zeros(width, np.uint64),
        piece=np.zeros(width, np.uint64),
    )


@inlined
def _new_held(patterns: WeightedPatterns) -> HeldPatterns:
    number, width = patterns.shares.size, (patterns.codes.size + 63) >> 6
    return HeldPatterns(
        itemsets=np.empty(number + 1, np.int64),
        sets=np.empty((number, width), np.uint64),
        sizes=np.empty(number, np.int64),
        shares=np.empty(number, np.int64),
    )


@inlined
def _hold(row: RowToSplit, start: int, end: int, items: Int32Array, patterns: WeightedPatterns) -> int:
    """Note the items of a row that have weights, in the order of their codes; how many they are."""
    length = 0
    for i in range(start, end):
        code = items[i]
        number = patterns.numbers[code] if code < patterns.numbers.size else np.int32(NONE)
        row.items[length] = number  # stays only where `length` moves on: no branch to mispredict
        length += number != NONE
    return length


@inlined
def _rank(row: RowToSplit, length: int) -> None:
    """Give every item its place; all are left."""
    for i in range(length):
        number = row.items[i]
        place = 0
        for j in range(length):
            place += row.items[j] < number
        row.places[i] = place
        row.place_of[number] = place
        row.by_place[place] = number
    for word in range((length + 63) >> 6):
        row.left[word] = 0
    for i in range(length):
        row.left[i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@inlined
def _collect(row: RowToSplit, length: int, patterns: WeightedPatterns, held: HeldPatterns) -> int:
    """Find the itemsets that the row holds, heaviest first; how many. Forgets the places by number."""
    found = 0
    for i in range(length):
        number = row.items[i]
        for at in range(patterns.starts[number], patterns.starts[number + 1]):
            itemset = patterns.filed[at]
            misses = False
            for j in range(patterns.bounds[itemset], patterns.bounds[itemset + 1]):
                misses |= row.place_of[patterns.items[j]] == NONE
            held.itemsets[found] = itemset  # stays only where `found` moves on
            found += not misses
    if found > MOST_INSERTED:
        _sort(held.itemsets, found)
    else:
        for at in range(1, found):
            itemset, before = held.itemsets[at], at
            while before > 0 and held.itemsets[before - 1] > itemset:
                held.itemsets[before] = held.itemsets[before - 1]
                before -= 1
            held.itemsets[before] = itemset
    for at in range(found):
        itemset = held.itemsets[at]
        held.sizes[at] = patterns.bounds[itemset + 1] - patterns.bounds[itemset]
        held.shares[at] = patterns.shares[itemset]
        for word in range((length + 63) >> 6):
            held.sets[at, word] = 0
        for j in range(patterns.bounds[itemset], patterns.bounds[itemset + 1]):
            place = row.place_of[patterns.items[j]]
            held.sets[at, place >> 6] |= np.uint64(1) << np.uint64(place & 63)
    for i in range(length):
        row.place_of[row.items[i]] = NONE
    return found


@inner
def _sort(values: Int64Array, number: int) -> None:
    """Sort the first values; a call of its own, because a slice within the loop over rows slows all of it down."""
    values[:number].sort()


@inlined
def _fill_piece(
    row: RowToSplit, length: int, room: int, number: int, patterns: WeightedPatterns, held: HeldPatterns
) -> int:
    """Move as many items from those left into a new piece as it has room for; how many that were.

    The heaviest item goes first, unless an itemset that adds to the piece, and fits, is heavier. Overlap with the
    piece less than doubles a weight, so the search ends where twice a weight is not enough.
    """
    width = (length + 63) >> 6
    for word in range(width):
        row.piece[word] = 0
    moved = 0
    while moved < room:
        lowest = 0
        while row.left[lowest] == 0:
            lowest += 1
        bit = row.left[lowest] & (~row.left[lowest] + np.uint64(1))
        best = NONE
        best_weight = patterns.weights[row.by_place[(lowest << 6) + popcount(bit - np.uint64(1))]]
        for at in range(number):
            size, share = held.sizes[at], held.shares[at]
            if 2 * size * share <= best_weight:
                break
            new = 0
            for word in range(width):
                new += popcount(held.sets[at, word] & row.left[word])
            weight = share * (2 * size - new)
            if weight > best_weight and 0 < new <= room - moved:
                best, best_weight = at, weight
        if best == NONE:
            row.piece[lowest] |= bit
            row.left[lowest] ^= bit
            moved += 1
        else:
            for word in range(width):
                added = held.sets[best, word] & row.left[word]
                row.piece[word] |= added
                row.left[word] ^= added
                moved += popcount(added)
    return moved


@inlined
def _still_whole(row: RowToSplit, length: int, number: int, held: HeldPatterns) -> int:
    """Keep the itemsets none of whose items is in a finished piece; how many they are."""
    kept = 0
    for at in range(number):
        gone = np.uint64(0)
        for word in range((length + 63) >> 6):
            gone |= held.sets[at, word] & ~row.left[word]
            held.sets[kept, word] = held.sets[at, word]
        held.sizes[kept], held.shares[kept] = held.sizes[at], held.shares[at]
        kept += gone == 0
    return kept


@inlined
def _write_piece(
    row: RowToSplit, length: int, patterns: WeightedPatterns, placed: Int32Array, used: int
) -> int:
    """Append the items of the piece in the order of their codes; where the next piece begins."""
    for i in range(length):
        place = row.places[i]
        if row.piece[place >> 6] >> np.uint64(place & 63) & np.uint64(1):
            placed[used] = patterns.codes[row.items[i]]
            used += 1
    return used
