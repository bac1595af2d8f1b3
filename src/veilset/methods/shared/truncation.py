"""Truncation to a length limit: which limit leaves a share of the transactions whole, and what it keeps of a support.

Works on noisy histograms of lengths that were paid for; no data.
"""

import math
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import NoisyHistogram

LONGEST_LENGTH = 64
"""Transactions of 64 items and longer are one class of a histogram of lengths."""


def length_up_to(histogram: NoisyHistogram, share: Fraction) -> int:
    """The smallest length up to which there is that share of the transactions that hold anything (Z1).

    Sums of the noisy histogram itself, because clamping each class first would add up to a long tail of noise.
    """
    reached = np.cumsum(histogram.values[1:])
    enough = np.flatnonzero(reached >= math.ceil(share * max(int(reached[-1]), 1)))
    return 1 + int(enough[0]) if enough.size else histogram.values.size - 1


def lengths_above_noise(histogram: NoisyHistogram) -> Int64Array:
    """The classes of more than two scales of noise; the others may be nothing but noise, and count as 0."""
    return np.where(histogram.values > 2 * float(histogram.mechanism.scale), histogram.values, 0)


def holders_by_length(lengths: Int64Array, size: int) -> FloatArray:
    """How many transactions of each length hold an itemset of that size, up to a factor.

    The longer a transaction, the likelier: of l items, C(l, size) itemsets. The papers take all lengths alike.
    """
    holders: FloatArray = lengths * np.array(
        [float(math.comb(length, size)) for length in range(lengths.size)]
    )
    return holders


def kept_share(lengths: FloatArray | Int64Array, *, size: int, limit: int) -> float:
    """The share of an itemset's support that random truncation is expected to keep; exp_ratio in (7) of DiffFIM, Z9.

    Truncated from h to `limit` items, a transaction keeps an itemset with probability C(h - size, limit - size)
    / C(h, limit), which is the product of (limit - j) / (h - j) over j < size. Negative counts count as 0.
    The last length may stand for longer transactions too; all are taken to have just that length, which
    makes the share too large rather than too small. Where no transaction is long enough to hold the itemset,
    nothing tells of a loss, and the share is 1.

    >>> kept_share(np.array([0, 0, 10, 0, 10]), size=2, limit=3)  # half of them keep all, the others 2 of 4
    0.75
    """
    if size > limit:
        return 0.0
    holders = np.maximum(lengths[size:], 0)
    if not holders.any():
        return 1.0
    taken = np.arange(size)
    long_enough = np.arange(size, len(lengths))[:, None]
    kept = np.minimum((limit - taken) / (long_enough - taken), 1.0).prod(axis=1)
    return float(np.average(kept, weights=holders))
