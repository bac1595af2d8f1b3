"""What noisy joint patterns of some items say about the supports of all itemsets of them.

Post-processing: everything here follows from noisy answers and the (noisy) number of transactions.

The support of an itemset is the sum of all patterns that hold it. Added up as they are, 2^(g - size) patterns of g
items bring as much noise each, though most of them are held by nobody. So patterns are told apart: those well above the
noise are taken as they are. All others share the transactions that remain, a number that is known well. How many of
those hold an itemset is a mix, by inverse variance, of two estimates: their noisy sum, and what is to be expected if
the remaining transactions differ from those seen by some items, each flipped with a small probability. How far the
second is off is learned from how the two differ (empirical Bayes). Where little remains, almost all noise is gone;
where much remains, the sums are left as they are.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from veilset.arrays import BoolArray, FloatArray, Int64Array
from veilset.gate import NoisyCount, NoisyHistogram
from veilset.itemsets import Itemset
from veilset.methods.shared.bases import Basis

Number = TypeVar("Number", np.int64, np.float64)

FLIPPED = 0.05
"""The probability that a transaction of a rare pattern differs in an item from a frequent one."""
GROWTH = 0.8
"""One item more multiplies the variance of supports by 2 to this power: patterns that nobody holds add little."""
MISFITS = np.geomspace(0.03, 1.0, 20)
"""How far the expected share of the remaining transactions may be off: its variance, as a part of the largest."""
MOST_TO_LEARN_FROM, INDEPENDENT = 200, 10
"""So many of the most frequent itemsets are looked at to learn that; they tell as much as so many independent ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Supports:
    """The support of each set of items, in the order of its bits, and the variance of its error."""

    means: FloatArray
    variances: FloatArray


class Measured(NamedTuple):
    """What marginals say of a support: its mean and standard deviation."""

    mean: float
    deviation: float


def supports_of(patterns: Int64Array, *, number: NoisyCount, scale: float, flip: float = FLIPPED) -> Supports:
    """The supports that noisy patterns of `number` transactions stand for; Laplace noise of a scale in each."""
    noise = 2 * scale * scale
    total, variance_of_total = _total(patterns, number, noise)
    is_seen = patterns > scale * (math.log(patterns.size) - 1)
    seen = np.where(is_seen, patterns, 0).astype(np.float64)
    remaining = max(total - float(seen.sum()), 0.0)
    by_sum = supersets_added_up(np.where(is_seen, 0.0, patterns))
    variance_of_sum = noise * supersets_added_up((~is_seen).astype(np.float64))
    share = _expected_share(seen, is_seen, flip)
    expected, largest = remaining * share, np.maximum(share * (1 - share), 1e-4) * remaining**2
    frequent = np.argsort(-(supersets_added_up(seen) + expected), kind="stable")[1 : MOST_TO_LEARN_FROM + 1]
    misfit = _misfit((by_sum - expected)[frequent], variance_of_sum[frequent], largest[frequent])
    variance_of_expected = misfit * largest + remaining + noise
    weight = variance_of_expected / (variance_of_sum + variance_of_expected)
    rest = np.clip(weight * by_sum + (1 - weight) * expected, 0.0, None)
    variances = weight * variance_of_sum + noise * supersets_added_up(is_seen.astype(np.float64))
    # All itemsets err alike by what the total errs, so it decides no rank: it has no say in the weights.
    variances += ((1 - weight) * share) ** 2 * variance_of_total
    return Supports(supersets_added_up(seen) + rest, variances)


def _total(patterns: Int64Array, number: NoisyCount, noise: float) -> tuple[float, float]:
    """The number of transactions, as it was answered and as patterns add up, by inverse variance; and its variance."""
    if number.mechanism is None:
        return float(number.value), 0.0
    of_number, of_sum = 2 * float(number.mechanism.scale) ** 2, noise * patterns.size
    total = (number.value * of_sum + float(patterns.sum()) * of_number) / (of_number + of_sum)
    return total, of_number * of_sum / (of_number + of_sum)


def noise_of_marginal(items: int, size: int, *, growth: float = GROWTH) -> float:
    """The error to expect of an itemset of a size from joint patterns of so many items, in scales of their noise.

    >>> round(noise_of_marginal(3, 3), 2), round(noise_of_marginal(13, 3), 1)
    (1.41, 22.6)
    """
    return math.sqrt(2 * 2.0 ** (growth * (items - size)))


def averaged(
    bases: Sequence[Basis],
    patterns: Sequence[NoisyHistogram],
    *,
    number: NoisyCount,
    max_size: int,
    flip: float = FLIPPED,
) -> dict[Itemset, Measured]:
    """What the patterns of all bases say: `over_bases` of `supports_of`."""
    told = [
        supports_of(answer.values, number=number, scale=float(answer.mechanism.scale), flip=flip)
        for answer in patterns
    ]
    return over_bases(bases, told, max_size=max_size)


def over_bases(bases: Sequence[Basis], told: Sequence[Supports], *, max_size: int) -> dict[Itemset, Measured]:
    """Every itemset within a basis, its support and the standard deviation of that: by inverse variance over bases."""
    sums: dict[Itemset, tuple[float, float]] = {}
    for basis, supports in zip(bases, told, strict=True):
        for size in range(1, min(len(basis), max_size) + 1):
            for places in combinations(range(len(basis)), size):
                itemset = tuple(basis[place] for place in places)
                pattern = sum(1 << place for place in places)
                weight = 1 / max(float(supports.variances[pattern]), 1e-9)
                weighted, precision = sums.get(itemset, (0.0, 0.0))
                sums[itemset] = (weighted + weight * float(supports.means[pattern]), precision + weight)
    return {
        itemset: Measured(weighted / precision, 1 / math.sqrt(precision))
        for itemset, (weighted, precision) in sums.items()
    }


def plain_supports_in_marginal(patterns: Int64Array, *, scale: float) -> Supports:
    """Patterns added up as they are: no bias, and the noise of all of them."""
    variances = 2 * scale * scale * supersets_added_up(np.ones(patterns.size))
    return Supports(supersets_added_up(patterns).astype(np.float64), variances)


def _expected_share(seen: FloatArray, is_seen: BoolArray, flip: float) -> FloatArray:
    """The part of the remaining transactions that is expected to hold each set of items."""
    near = np.where(is_seen, 0.0, flipped(np.maximum(seen, 1e-9), flip))
    total = float(near.sum())
    return supersets_added_up(near / total) if total > 0 else np.zeros(seen.size)


def _misfit(differences: FloatArray, variances: FloatArray, largest: FloatArray) -> float:
    """The average of MISFITS, weighted by how well they explain that two estimates differ, with normal errors.

    Itemsets share transactions, so together they tell no more than INDEPENDENT ones.
    """
    spread = variances + MISFITS[:, None] * largest + 1.0
    log_chances = -(np.log(spread) + differences**2 / spread).mean(axis=1) * INDEPENDENT / 2
    chances = np.exp(log_chances - log_chances.max())
    return float(MISFITS @ chances / chances.sum())


def flipped(values: FloatArray, chance: float) -> FloatArray:
    """Where the transactions of each pattern go if each item is gained or lost with a probability.

    >>> flipped(np.array([0.0, 0.0, 0.0, 100.0]), 0.1).round(9).tolist()
    [1.0, 9.0, 9.0, 81.0]
    """
    moved, half = values.copy(), 1
    while half < moved.size:
        halves = moved.reshape(-1, 2, half)
        halves[:] = (1 - chance) * halves + chance * halves[:, ::-1]
        half *= 2
    return moved


def supersets_added_up(patterns: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """From "holds exactly these" to "holds at least these": add every pattern to all its subsets.

    >>> supersets_added_up(np.array([1, 2, 4, 8])).tolist()
    [15, 10, 12, 8]
    """
    sums, half = patterns.copy(), 1
    while half < sums.size:
        halves = sums.reshape(-1, 2, half)
        halves[:, 0] += halves[:, 1]
        half *= 2
    return sums
