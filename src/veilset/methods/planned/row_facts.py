"""How long rows are, and how frequent items are that are too rare to be measured one by one.

Post-processing: everything here follows from noisy answers.
"""

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import NoisyHistogram
from veilset.methods.planned.overlap import CLASSES, NUMBERS, Overlap

ABOVE_NOISE = 2.0
"""2 scales of its noise or more, a number of rows of one length is taken as it is."""
VALUES = 60
"""60 supports between a fraction of the noise and the largest are what an item may have."""
STEPS_OF_FIT = 40
"""40 steps towards the law of supports that explains the noisy ones best."""


def row_lengths(overlap: Overlap, fine: NoisyHistogram, *, rows: int) -> Int64Array:
    """The length of each row, ascending: classes of lengths as modelled, within a class as the fine histogram says."""
    numbers = overlap.transactions.copy()
    seen = np.zeros(numbers.size)
    seen[: fine.values.size - 2] = fine.values[1:-1]  # the last is for that length or more
    is_plain = seen > ABOVE_NOISE * float(fine.mechanism.scale)
    within = np.where(is_plain, seen, np.clip(np.minimum(seen, numbers), 0.0, None))
    for start, end in zip(CLASSES[1:], CLASSES[2:], strict=False):
        some = slice(start - 1, end - 1)
        if end <= fine.values.size and within[some].sum() > 0:
            numbers[some] = within[some] * (numbers[some].sum() / within[some].sum())
    numbers *= min(1.0, rows / max(float(numbers.sum()), 1e-9))
    ends = np.rint(np.append(rows - numbers.sum(), numbers).cumsum()).astype(np.int64)
    return np.repeat(np.append(0, NUMBERS), np.diff(ends, prepend=0))


def shrunken(supports: FloatArray, *, scale: float, most: float) -> FloatArray:
    """What noisy supports are on average, where the law of true ones is the one that explains them best.

    Most items of a large alphabet are rarer than their noise: taken as they are, those with a lucky draw would seem
    frequent. The law is fitted to all noisy supports together (empirical Bayes; Laplace noise of a scale).
    """
    values = np.append(0.0, np.geomspace(min(1.0, scale), max(most, 2.0), VALUES))
    likelihoods = np.exp(-np.abs(supports[:, None] - values) / max(scale, 1e-3))
    likelihoods = np.maximum(likelihoods, 1e-12)
    law = np.full(values.size, 1 / values.size)
    for _ in range(STEPS_OF_FIT):
        chances = law * likelihoods
        law = (chances / chances.sum(axis=1, keepdims=True)).mean(axis=0)
    chances = law * likelihoods
    means: FloatArray = (chances * values).sum(axis=1) / chances.sum(axis=1)
    return means
