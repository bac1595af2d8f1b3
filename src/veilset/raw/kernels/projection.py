"""Rows of only the items that still matter, end to end in one array."""

from typing import NamedTuple

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint32Array
from veilset.raw.kernels import inlined, inner, kernel

END = np.uint32(0xFFFFFFFF)
"""Stands after the last item of a row; as a code it says that the item is dropped."""


SHORT = 16
"""Up to how many pairs an item rows count as short; measured, but a factor of two makes little difference."""


class Projection(NamedTuple):
    """Rows of at least two items; shorter ones cannot hold a pair, and single items are counted before.

    `flat` holds one row after the other, each followed by END. `pairs` is the number of pairs of items in the
    same row, which is what it costs to count them.
    """

    flat: Uint32Array
    n_rows: int
    longest: int
    pairs: int


class Occurrences(NamedTuple):
    """Where the items stand: item i at `places[starts[i]:starts[i + 1]]` of a projection's `flat`."""

    starts: Int64Array
    places: Int64Array


@inlined
def _close_row(
    flat: Uint32Array, begin: int, end: int, n_rows: int, longest: int, pairs: int
) -> tuple[int, int, int, int]:
    """End the row that was written from `begin` to `end`, or take it back if it holds no pair.

    Returns where the next row begins, and what a projection tells of its rows, with this one.
    """
    length = end - begin
    if length < 2:
        return begin, n_rows, longest, pairs
    flat[end] = END
    return end + 1, n_rows + 1, max(longest, length), pairs + length * (length - 1) // 2


@kernel
def project_rows(offsets: Int64Array, items: Int32Array, codes: Uint32Array, room: int) -> Projection:
    """The given rows under new codes; their items stay in the order in which they stand.

    `room` is enough for all items that are kept and an END for each row.
    """
    flat = np.empty(room, np.uint32)
    end, n_rows, longest, pairs = 0, 0, 0, 0
    for row in range(offsets.size - 1):
        begin = end
        for place in range(offsets[row], offsets[row + 1]):
            code = codes[items[place]]
            flat[end] = code
            end += code != END
        end, n_rows, longest, pairs = _close_row(flat, begin, end, n_rows, longest, pairs)
    return Projection(flat[:end], n_rows, longest, pairs)


@kernel
def project_tails(flat: Uint32Array, places: Int64Array, codes: Uint32Array, room: int) -> Projection:
    """What follows the given places in their rows, under new codes.

    `room` is enough for all items that follow and an END for each place.
    """
    tails = np.empty(room, np.uint32)
    end, n_rows, longest, pairs = 0, 0, 0, 0
    for start in places:
        begin = end
        place = start + 1
        while flat[place] != END:
            code = codes[flat[place]]
            tails[end] = code
            end += code != END
            place += 1
        end, n_rows, longest, pairs = _close_row(tails, begin, end, n_rows, longest, pairs)
    return Projection(tails[:end], n_rows, longest, pairs)


@inner
def occurrences_of(rows: Projection, n_items: int) -> Occurrences:
    """Where each item stands."""
    flat = rows.flat
    starts = np.zeros(n_items + 1, np.int64)
    for item in flat:
        if item != END:
            starts[item + 1] += 1
    for item in range(n_items):
        starts[item + 1] += starts[item]
    cursor = starts.copy()
    places = np.empty(flat.size - rows.n_rows, np.int64)
    for place in range(flat.size):
        item = flat[place]
        if item != END:
            places[cursor[item]] = place
            cursor[item] += 1
    return Occurrences(starts, places)


@kernel
def row_ends(rows: Projection) -> Int64Array:
    """Where the END of each row stands, after a -1 for the first row to begin behind."""
    ends = np.empty(rows.n_rows + 1, np.int64)
    ends[0] = -1
    row = 0
    for place in range(rows.flat.size):
        if rows.flat[place] == END:
            row += 1
            ends[row] = place
    return ends


@kernel
def count_pairs(rows: Projection, n_items: int) -> Int32Array:
    """How many rows hold each two items: `[i, j]` of i and a larger j; all else is 0."""
    flat = rows.flat
    counts = np.zeros((n_items, n_items), np.int32)
    begin = 0
    for place in range(flat.size):
        item = flat[place]
        if item == END:
            begin = place + 1
            continue
        for other in range(begin, place):
            counts[min(flat[other], item), max(flat[other], item)] += 1
    return counts


@kernel
def most_paired(pairs: Int32Array) -> Int64Array:
    """How many rows hold each item and the one that it stands with most often."""
    n_items = pairs.shape[0]
    most = np.zeros(n_items, np.int64)
    for i in range(n_items):
        of_item = most[i]
        for j in range(i + 1, n_items):
            most[j] = max(most[j], pairs[i, j])
            of_item = max(of_item, pairs[i, j])
        most[i] = of_item
    return most


@kernel
def sort_rows(rows: Projection, n_items: int) -> None:
    """Sort the items within each row; long rows all together: insertion takes their squared length."""
    if rows.pairs > SHORT * rows.flat.size:
        sort_long_rows(rows, n_items)
        return
    flat = rows.flat
    begin = 0
    for place in range(flat.size):
        item = flat[place]
        if item == END:
            begin = place + 1
            continue
        free = place
        while free > begin and flat[free - 1] > item:
            flat[free] = flat[free - 1]
            free -= 1
        flat[free] = item


@inner
def sort_long_rows(rows: Projection, n_items: int) -> None:
    """Sort the items within each row by writing them anew, all rows' smallest items first."""
    flat = rows.flat
    where = occurrences_of(rows, n_items)
    row_of = np.empty(flat.size, np.int64)
    cursor = np.zeros(rows.n_rows + 1, np.int64)
    row = 0
    for place in range(flat.size):
        row_of[place] = row
        if flat[place] == END:
            row += 1
            cursor[row] = place + 1
    for item in range(n_items):
        for at in range(where.starts[item], where.starts[item + 1]):
            row = row_of[where.places[at]]
            flat[cursor[row]] = item
            cursor[row] += 1
