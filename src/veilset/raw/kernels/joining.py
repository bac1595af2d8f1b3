"""Candidates of the next size: itemsets whose subsets are all there."""

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import inner, kernel


@kernel
def join(itemsets: Int32Array, supports: Int64Array, most: int) -> tuple[Int32Array, Int64Array]:
    """The itemsets of one more item whose subsets are all among these, in order, and the least support of a subset.

    The itemsets are rows of ascending items, in lexicographic order. One more than `most` candidates are never
    listed: whoever gets them knows that there are too many.
    """
    number, size = itemsets.shape
    candidates = np.empty((most + 1, size + 1), np.int32)
    bounds = np.empty(most + 1, np.int64)
    found = 0
    for first in range(number):
        second = first + 1
        while second < number and _share(itemsets, first, second, size - 1):
            candidate = candidates[found]
            for place in range(size):
                candidate[place] = itemsets[first, place]
            candidate[size] = itemsets[second, size - 1]
            bound = min(supports[first], supports[second])
            for left_out in range(size - 1):
                if bound >= 0:
                    place = _find(itemsets, candidate, left_out)
                    bound = min(bound, supports[place]) if place >= 0 else np.int64(-1)
            bounds[found] = bound
            found += bound >= 0
            if found > most:
                return candidates, bounds
            second += 1
    return candidates[:found], bounds[:found]


@inner
def _share(itemsets: Int32Array, one: int, other: int, length: int) -> bool:
    """Whether two itemsets begin with the same items."""
    place = 0
    while place < length and itemsets[one, place] == itemsets[other, place]:
        place += 1
    return place == length


@inner
def _find(itemsets: Int32Array, candidate: Int32Array, left_out: int) -> int:
    """Where a candidate without one of its items stands, or -1."""
    low, high = 0, itemsets.shape[0]
    while low < high:
        middle = (low + high) // 2
        if _is_before(itemsets[middle], candidate, left_out):
            low = middle + 1
        else:
            high = middle
    if low == itemsets.shape[0]:
        return -1
    for place in range(itemsets.shape[1]):
        if itemsets[low, place] != candidate[place + (place >= left_out)]:
            return -1
    return low


@inner
def _is_before(itemset: Int32Array, candidate: Int32Array, left_out: int) -> bool:
    """Whether an itemset comes before a candidate without one of its items."""
    for place in range(itemset.size):
        other = candidate[place + (place >= left_out)]
        if itemset[place] != other:
            return bool(itemset[place] < other)
    return False
