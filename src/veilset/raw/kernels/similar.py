"""Which items a truncation by similarity keeps: those that a row shares with the target most like it, then the best."""

import numpy as np

from veilset.arrays import BoolArray, Int32Array, Int64Array, Uint64Array
from veilset.raw.kernels import inner, kernel
from veilset.raw.kernels.popcount import popcount


@kernel
def mark_similar(
    offsets: Int64Array, items: Int32Array, rank: Int64Array, targets: Uint64Array, limit: int
) -> BoolArray:
    """Mark the items to keep; those without a rank, or with one below 0, never are.

    A target has bit r set where it holds the item of rank r; so have rows here, and their lowest bits are their best
    items. Of equally similar targets the first counts.
    """
    first = offsets[0]
    keep = np.zeros(offsets[-1] - first, np.bool_)
    held = np.zeros(targets.shape[1], np.uint64)
    kept = np.zeros(targets.shape[1], np.uint64)
    one = np.uint64(1)
    for row in range(offsets.size - 1):
        held[:] = 0
        length = 0
        for i in range(offsets[row], offsets[row + 1]):
            place = rank[items[i]] if items[i] < rank.size else -1
            if place >= 0:
                held[place >> 6] |= one << np.uint64(place & 63)
                length += 1
        kept[:] = 0
        left = length
        if length <= limit:
            kept[:] = held
        else:
            best, most = 0, np.int64(-1)
            for target in range(targets.shape[0]):
                common = np.int64(0)
                for word in range(held.size):
                    common += popcount(held[word] & targets[target, word])
                if common > most:
                    best, most = target, common
            left = limit
            if most > 0:
                left = _move_lowest(held, targets[best], kept, left)
            _move_lowest(held, held, kept, left)
        for i in range(offsets[row], offsets[row + 1]):
            place = rank[items[i]] if items[i] < rank.size else -1
            keep[i - first] = place >= 0 and (kept[place >> 6] >> np.uint64(place & 63)) & one == one
    return keep


@inner
def _move_lowest(held: Uint64Array, among: Uint64Array, kept: Uint64Array, number: int) -> int:
    """Move up to `number` of the lowest bits of `held` that are set in `among` to `kept`; how many more may go."""
    one = np.uint64(1)
    for word in range(held.size):
        bits = held[word] & among[word]
        while bits != 0 and number > 0:
            lowest = bits & (~bits + one)
            kept[word] |= lowest
            held[word] ^= lowest
            bits ^= lowest
            number -= 1
    return number
