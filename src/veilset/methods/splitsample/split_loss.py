"""What splitting leaves of a support, and back: Theorem 1 of SplitSample (Liang et al. 2020), repaired (S6).

Symbols of the paper: i = `size`, l_opt = `limit`, l = the length of a transaction, f_l = `lengths[l]`, R_m = the
remaining information rate. Everything here works on noisy answers that were paid for; no data.

A transaction of l > l_opt items becomes floor(l / l_opt) pieces of l_opt items and one of the a = l - l_opt floor(l /
l_opt) items left over. Split at random, a piece of n items holds all of X with probability C(l - i, n - i) / C(l, n),
which is 0 for n < i, and no two pieces hold X, so the probabilities add up. Printed are a = l - floor(l / l_opt), the
rest counted where it is too short, and C(l - i, a) for it. Also, (5) divides by all transactions; those of less than i
items cannot hold X, and are left out here.
"""

import numpy as np

from veilset.arrays import FloatArray, Int64Array


def left_of_one(length: int, *, size: int, limit: int) -> float:
    """Pr_split: the chance that an itemset in a transaction of that length lies within one of its random pieces.

    >>> left_of_one(4, size=2, limit=2), left_of_one(5, size=2, limit=3), left_of_one(3, size=2, limit=3)
    (0.3333333333333333, 0.4, 1.0)
    """
    if length <= limit:
        return 1.0
    full, rest = divmod(length, limit)
    return full * _chance_within(limit, length, size) + _chance_within(rest, length, size)


def _chance_within(piece: int, length: int, size: int) -> float:
    """C(length - size, piece - size) / C(length, piece) as a product that is 0 where the piece is too short."""
    taken = np.arange(size)
    return float(np.prod(np.maximum(piece - taken, 0) / (length - taken)))


def left_of_support(lengths: FloatArray | Int64Array, *, size: int, limit: int) -> float:
    """R_m: the share of an itemset's support that is left, on average over transactions that can hold it.

    Negative counts count as 0. The last length may stand for longer transactions too; all are taken to have just
    that length. Where no transaction is long enough to hold the itemset, nothing tells of a loss: 1.

    >>> left_of_support(np.array([0, 9, 10, 0, 10]), size=2, limit=2)
    0.6666666666666666
    """
    holders = np.maximum(lengths[size:], 0)
    if not holders.any():
        return 1.0
    left = [left_of_one(length, size=size, limit=limit) for length in range(size, len(lengths))]
    return float(np.average(left, weights=holders))
