"""Rows as bits: which rows hold an item, a bitmap for each item. Bit r % 64 of word r // 64 is row r."""

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint64Array
from veilset.public_kernels import inlined, inner, kernel

_ONE, _ALL = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
_LAST_BIT = np.uint64(63)


@kernel
def put_records(bitmaps: Uint64Array, offsets: Int64Array, places: Int64Array, copies: Int64Array) -> None:
    """Put records into rows from the first row on, each as often as it has copies.

    Record i is `places[offsets[i]:offsets[i + 1]]`: it goes into the bitmaps of these numbers.
    """
    start = 0
    for record in range(copies.size):
        end = start + copies[record]
        for i in range(offsets[record], offsets[record + 1]):
            _put_range(bitmaps, places[i], start, end)
        start = end


@inlined
def _put_range(bitmaps: Uint64Array, item: int, start: int, end: int) -> None:
    """Put an item into the rows from `start` up to, not including, `end`."""
    row = start
    while row < end:
        word = row // 64
        bits = _ALL << np.uint64(row % 64)
        if end < (word + 1) * 64:
            bits &= (_ONE << np.uint64(end % 64)) - _ONE
        bitmaps[item, word] |= bits
        row = (word + 1) * 64


@kernel
def tail_shuffled(swaps: Int64Array, things: Int32Array, number: int) -> Uint64Array:
    """Which of `number` things a shuffle from the last to the first leaves at the end, as a bitmap.

    The thing at place number - 1 - i changes places with the one at `swaps[i]`, for each i (Fisher and Yates): as many
    are left at the end as there are swaps. `things[i]` is i before and after, for as many things or more.
    """
    chosen = np.zeros((number + 63) // 64, np.uint64)
    for i in range(swaps.size):
        thing = np.int64(things[swaps[i]])
        things[swaps[i]] = things[number - 1 - i]
        chosen[thing // 64] |= _ONE << np.uint64(thing % 64)
    for swap in swaps:
        things[swap] = swap
    return chosen


@kernel
def put_into_lacking(bitmap: Uint64Array, chosen: Uint64Array, rows: int) -> None:
    """Put an item into rows that lack it: bit i of `chosen` tells whether the i-th of them gets it."""
    lacking = 0
    for row in range(rows):
        bit = _ONE << np.uint64(row % 64)
        if bitmap[row // 64] & bit == 0:
            is_chosen = (chosen[lacking // 64] >> np.uint64(lacking % 64)) & _ONE
            bitmap[row // 64] |= is_chosen << np.uint64(row % 64)
            lacking += 1


@inner
def turned(bitmaps: Uint64Array, word: int, rows: Uint64Array) -> None:
    """What the 64 rows of a word hold: `rows[r, w]` has items 64 w, 64 w + 1, ... in its bits, the first uppermost."""
    for half in range(rows.shape[1]):
        for line in range(64):
            item = 64 * half + 63 - line
            rows[line, half] = bitmaps[item, word] if item < bitmaps.shape[0] else np.uint64(0)
        _transpose(rows, half)


@inlined
def _transpose(square: Uint64Array, half: int) -> None:
    """Turn 64 words of 64 bits: bit c of word r becomes bit r of word c (blocks of 32, 16, ..., 1 change places)."""
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width > 0:
        shift = np.uint64(width)
        r = 0
        while r < 64:
            moved = ((square[r, half] >> shift) ^ square[r + width, half]) & mask
            square[r, half] ^= moved << shift
            square[r + width, half] ^= moved
            r = (r + width + 1) & ~width
        width //= 2
        mask ^= mask << np.uint64(width)
