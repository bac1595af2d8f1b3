"""How long the rows of a published dataset are.

Post-processing: everything here follows from noisy answers.
"""

from itertools import pairwise

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate import NoisyHistogram
from veilset.methods.planned.histogram_laws import CLASSES, NUMBERS
from veilset.methods.planned.overlap import Overlap

LENGTHS_ABOVE_NOISE = 2.0
"""2 scales of its noise or more, a number of rows of one length is taken as it is."""


def row_lengths(overlap: Overlap, fine: NoisyHistogram, *, rows: int) -> Int64Array:
    """The length of each row, ascending: classes of lengths as modelled, within a class as the fine histogram says."""
    numbers = overlap.transactions.copy()
    seen = np.zeros(numbers.size)
    seen[: fine.values.size - 2] = fine.values[1:-1]  # the last is for that length or more
    is_plain = seen > LENGTHS_ABOVE_NOISE * float(fine.mechanism.scale)
    within = np.where(is_plain, seen, np.clip(np.minimum(seen, numbers), 0.0, None))
    for start, end in pairwise(CLASSES[1:]):
        some = slice(start - 1, end - 1)
        if end <= fine.values.size and within[some].sum() > 0:
            numbers[some] = within[some] * (numbers[some].sum() / within[some].sum())
    numbers *= min(1.0, rows / max(float(numbers.sum()), 1e-9))
    ends = np.rint(np.append(rows - numbers.sum(), numbers).cumsum()).astype(np.int64)
    return np.repeat(np.append(0, NUMBERS), np.diff(ends, prepend=0))
