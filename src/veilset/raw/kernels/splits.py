"""The pieces that long rows are split into (see `raw.split`).

Row r is `items[offsets[r]:offsets[r + 1]]`. The items that stand in patterns are numbered 0, 1, ..., chosen - 1 in
the order of their codes; a bitmap has item number i as bit `i & 63` of word `i >> 6`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from veilset.raw.kernels import inlined, kernel
from veilset.raw.kernels.cuts import Int32Array, Int64Array
from veilset.raw.kernels.popcount import popcount

Bitmap = npt.NDArray[np.uint64]
Bitmaps = npt.NDArray[np.uint64]


class Patterns(NamedTuple):
    """Itemsets with weights, the heaviest first; every item that stands in one is one by itself, too.

    `codes[i]` is the code of item number i, `numbers[code]` the number of a code, -1 for an item in no pattern;
    codes beyond are in none. Pattern p has the bitmap `words[p]` and `sizes[p]` items; `shares[p]` is its weight
    divided by its size, all times one factor that makes them whole. Patterns `filed[starts[i]:starts[i + 1]]`
    hold item number i, and each pattern is filed under one of its items alone.
    """

    codes: Int32Array
    numbers: Int32Array
    words: Bitmaps
    sizes: Int64Array
    shares: Int64Array
    starts: Int64Array
    filed: Int64Array


class Row(NamedTuple):
    """The long row at hand: its items by number, and as bitmaps those not yet placed and those of the piece."""

    items: Int64Array
    left: Bitmap
    piece: Bitmap


@kernel
def split_rows(
    offsets: Int64Array, items: Int32Array, patterns: Patterns, limit: int
) -> tuple[Int64Array, Int32Array]:
    """What rows hold of the items in patterns: whole up to `limit` of them, longer rows in pieces of `limit`.

    A row of n such items becomes n / limit pieces, rounded up; their offsets start at 0.
    """
    total, rows = offsets[-1] - offsets[0], offsets.size - 1
    ends = np.zeros(rows + total // limit + 1, np.int64)
    placed = np.empty(total, np.int32)
    row = _new_row(patterns)
    contained = np.empty(patterns.sizes.size, np.int64)
    pieces = used = 0
    for place in range(rows):
        held = 0
        for i in range(offsets[place], offsets[place + 1]):
            code = items[i]
            number = patterns.numbers[code] if code < patterns.numbers.size else np.int32(-1)
            if number >= 0:
                row.items[held] = number
                held += 1
        if held > limit:
            found = _contained(row, held, patterns, contained)
            left = held
            while left > 0:
                left -= _fill_piece(row, left, found, patterns, contained, limit)
                used = _write_piece(row, held, patterns, placed, used)
                pieces += 1
                ends[pieces] = used
        elif held > 0:
            for i in range(held):
                placed[used + i] = patterns.codes[row.items[i]]
            used += held
            pieces += 1
            ends[pieces] = used
    return ends[: pieces + 1].copy(), placed[:used].copy()


@inlined
def _new_row(patterns: Patterns) -> Row:
    width = patterns.words.shape[1]
    return Row(
        np.empty(patterns.codes.size, np.int64), np.zeros(width, np.uint64), np.zeros(width, np.uint64)
    )


@kernel
def _contained(row: Row, held: int, patterns: Patterns, contained: Int64Array) -> int:
    """Collect the patterns that the row holds, heaviest first; all its items are left to be placed."""
    for word in range(row.left.size):
        row.left[word] = 0
    for i in range(held):
        number = row.items[i]
        row.left[number >> 6] |= np.uint64(1) << np.uint64(number & 63)
    found = 0
    for i in range(held):
        number = row.items[i]
        for at in range(patterns.starts[number], patterns.starts[number + 1]):
            pattern = patterns.filed[at]
            outside = np.uint64(0)
            for word in range(row.left.size):
                outside |= patterns.words[pattern, word] & ~row.left[word]
            contained[found] = pattern
            found += outside == 0
    contained[:found].sort()
    return found


@kernel
def _fill_piece(
    row: Row, left: int, found: int, patterns: Patterns, contained: Int64Array, limit: int
) -> int:
    """Move items from those left into a piece until it is full or none is left; how many were moved."""
    for word in range(row.piece.size):
        row.piece[word] = 0
    room = min(limit, left)
    moved = 0
    while moved < room:
        pattern = _heaviest(row, room - moved, found, patterns, contained)
        for word in range(row.piece.size):
            new = patterns.words[pattern, word] & row.left[word]
            moved += popcount(new)
            row.piece[word] |= new
            row.left[word] &= ~new
    return moved


@kernel
def _heaviest(row: Row, room: int, found: int, patterns: Patterns, contained: Int64Array) -> int:
    """The pattern of largest weight that adds to the piece, fits, and lost no item to an earlier piece.

    Overlap with the piece less than doubles a weight, so the search ends where twice a weight is not enough.
    """
    best, best_weight = -1, np.int64(-1)
    for at in range(found):
        pattern = contained[at]
        size, share = patterns.sizes[pattern], patterns.shares[pattern]
        if 2 * size * share <= best_weight:
            break
        inside = new = 0
        for word in range(row.piece.size):
            inside += popcount(patterns.words[pattern, word] & row.piece[word])
            new += popcount(patterns.words[pattern, word] & row.left[word])
        weight = share * (size + inside)
        if weight > best_weight and 0 < new <= room and inside + new == size:
            best, best_weight = pattern, weight
    return best


@kernel
def _write_piece(row: Row, held: int, patterns: Patterns, placed: Int32Array, used: int) -> int:
    """Append the items of the piece in the order of their codes; where the next piece begins."""
    for i in range(held):
        number = row.items[i]
        if row.piece[number >> 6] >> np.uint64(number & 63) & np.uint64(1):
            placed[used] = patterns.codes[number]
            used += 1
    return used
