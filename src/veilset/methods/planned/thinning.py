"""How a part of all items overlaps, by how all of them do.

Post-processing: everything here follows from noisy answers, or from a model of them.
"""

import math

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.methods.planned.histogram_laws import NUMBERS
from veilset.methods.planned.overlap import Overlap

HARDLY_ANY_OF_THEM = 1e-6
"""Of the transactions that contain any, less than a millionth contain a number that is left out."""


def thinned(overlap: Overlap, share: float) -> Overlap:
    """The same for a part of the itemsets, each of which has that share of being in it; for all, if it is 1 or more."""
    if share >= 1:
        return overlap
    is_any = overlap.transactions > HARDLY_ANY_OF_THEM * overlap.transactions.sum()
    numbers, transactions = NUMBERS[is_any], overlap.transactions[is_any]
    return Overlap.known(transactions @ _binomial(numbers, share), overlap.settings)


def _binomial(numbers: Int64Array, share: float) -> FloatArray:
    """For each number in a row, the probability that 1, 2, ..., MOST of as many are in a part."""
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(NUMBERS))])
    n, kept = numbers[:, None], NUMBERS[None, :]
    left = np.maximum(n - kept, 0)
    logs = log_factorials[n] - log_factorials[kept] - log_factorials[left]
    logs += kept * math.log(max(share, 1e-12)) + left * math.log1p(-share)
    return np.where(kept <= n, np.exp(np.where(kept <= n, logs, 0.0)), 0.0)
